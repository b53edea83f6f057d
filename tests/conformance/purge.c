/* Purging by operators, and deleting what is past its time. */
#include "base/uuid.h"
#include "odbc/link.h"
#include "ops/conn.h"
#include "suite.h"

THEME(purge, ONCE);

/* A settled row, settled age ms ago by the database's clock. */
static void put_settled(const char *in, const char *state, int64_t age_ms, char id[ID]) {
    const tp_task *task = put_and_claim(pool.a);
    snprintf(id, ID, "%s", task->id);
    if (strcmp(in, "failed") == 0)
        expect(TP_EXHAUSTED, tp_fail(pool.a, task, state, &never));
    else if (strcmp(state, "skipped") == 0)
        must(tp_skip(pool.a, task, "no"));
    else
        must(tp_complete(pool.a, task));
    sql_run(pool.eye, "UPDATE tp_%s SET settled_at = settled_at - %" PRId64 " WHERE id = '%s'", in, age_ms,
            id);
}

static void put_many_settled(const char *in, size_t count, int64_t settled_at) {
    for (size_t i = 0; i < count; i += 20) {
        char text[20 * 260] = "";
        size_t length = 0, some = count - i < 20 ? count - i : 20;
        for (size_t k = 0; k < some; k++) {
            char id[ID];
            tpi_uuid_ordered(id);
            length += (size_t)snprintf(
                text + length, sizeof text - length, "%s('%s', '%s', 0, 0, '%s', 1, 1, 1, 1, %" PRId64 ")",
                k ? ", " : "", id, pool.handler, strcmp(in, "failed") ? "done" : "failed", settled_at);
        }
        sql_run(pool.eye,
                "INSERT INTO tp_%s (id, handler, shard, priority, state, failures, due_at, created_at, "
                "modified_at, settled_at) VALUES %s",
                in, text);
    }
}

#define expect_purged(selection, done) check_purged((selection), (done), __FILE__, __LINE__)
static void check_purged(const tp_selection *selection, size_t done, const char *file, int line) {
    tp_operated result = {sizeof result, 77, 77, "", 77, 77};
    check_status(TP_OK, tp_operate(pool.a, TP_ACTION_PURGE, selection, &result), "tp_operate", file, line);
    check_number((int64_t)result.done, (int64_t)done, "done", file, line);
    check_number((int64_t)result.passed, 0, "passed", file, line);
}

static int64_t purges(void) {
    return count_of(
        "tp_history WHERE handler = '%s' AND event = 'purged' AND task_id IS NULL AND who = 'tester@desk'",
        pool.handler);
}

TEST(test_purge__deletes_what_is_old_enough_and_records_it) {
    char old[ID], young[ID], skipped[ID];
    put_settled("finished", "done", 7200000, old);
    put_settled("finished", "done", 0, young);
    put_settled("finished", "skipped", 7200000, skipped);
    tp_selection selection = selection_with(.older_ms = 3600000, .why = "too old", .dry_run = 1);
    expect_purged(&selection, 2);
    expect_number(row_of(old).copies, 1);
    expect_number(purges(), 0);
    selection.dry_run = 0;
    selection.state = "done";
    expect_purged(&selection, 1);
    expect_number(row_of(old).copies, 0);
    expect_number(row_of(young).copies, 1);
    expect_number(row_of(skipped).copies, 1);
    expect_number(purges(), 1);
    assert_string_equal(
        text_of("reason FROM tp_history WHERE handler = '%s' AND event = 'purged'", pool.handler),
        "1 finished tasks: too old");
}

TEST(test_purge__takes_given_ids_if_they_are_selected) {
    char ids[3][ID];
    const char *given[] = {ids[0], ids[1], ids[2]};
    put_settled("failed", "card refused", 0, ids[0]);
    put_settled("failed", "no account", 0, ids[1]);
    put_settled("finished", "done", 0, ids[2]);
    tp_selection selection =
        selection_with(.pool = "failed", .ids = given, .id_count = 3, .reason = "account", .dry_run = 1);
    expect_purged(&selection, 1);
    selection.dry_run = 0;
    expect_purged(&selection, 1);
    expect_number(row_of(ids[0]).copies, 1);
    expect_number(row_of(ids[1]).copies, 0);
    expect_number(row_of(ids[2]).copies, 1);
    expect_purged(&selection, 0);
}

TEST(test_purge__goes_on_from_piece_to_piece) {
    enum { ROWS = 1020 };
    put_many_settled("finished", ROWS, LONG_AGO);
    tp_selection selection = selection_with(.pool = "finished", .limit = 10);
    expect_purged(&selection, 10);
    selection.limit = 0;
    expect_purged(&selection, ROWS - 10);
    expect_number(rows_in("finished", pool.handler), 0);
    expect_number(purges(), 4);
}

static int calls_before_rival;

/* Before the second statement, which is about to delete what the first one picked, a rival deletes as many.
 */
static enum tpi_fault purge_first(struct tpi_link *link, const char *function) {
    tp_operated result = TP_OPERATED_INIT;
    (void)link;
    if (strncmp(function, "SQLExec", 7) != 0 || calls_before_rival--) return TPI_FAULT_NONE;
    tpi_link_fault = NULL;
    tp_selection selection = selection_with(.pool = "finished", .limit = 500);
    must(tp_operate(pool.b, TP_ACTION_PURGE, &selection, &result));
    expect_number((int64_t)result.done, 500);
    return TPI_FAULT_NONE;
}

TEST(test_purge__goes_on_where_another_purge_was_quicker) {
    enum { ROWS = 1020 };
    tp_selection selection = selection_with(.pool = "finished");
    tp_operated result = TP_OPERATED_INIT;
    put_many_settled("finished", ROWS, LONG_AGO);
    calls_before_rival = 1;
    tpi_link_fault = purge_first;
    tp_status status = tp_operate(pool.a, TP_ACTION_PURGE, &selection, &result);
    tpi_link_fault = NULL;
    expect(TP_OK, status);
    expect_number((int64_t)result.done, ROWS - 500);
    expect_number(rows_in("finished", pool.handler), 0);
}

TEST(test_purge__removes_old_keys_of_the_ledger) {
    for (int i = 0; i < 3; i++)
        sql_run(pool.eye,
                "INSERT INTO tp_once (once_key, handler, owner, created_at) VALUES ('%s a%%%d', '%s', "
                "'01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e', %" PRId64 ")",
                pool.handler, i, pool.handler, i ? LONG_AGO : LONG_AGO * 9);
    tp_selection selection = selection_with(.pool = "once", .older_ms = 1000, .dry_run = 1);
    expect_purged(&selection, 2);
    selection.dry_run = 0;
    expect_purged(&selection, 2);
    expect_number(count_of("tp_once WHERE handler = '%s'", pool.handler), 1);
}

TEST(test_purge__leaves_events_whose_alert_is_still_to_be_told) {
    for (int i = 0; i < 2; i++) {
        char id[ID];
        tpi_uuid_ordered(id);
        sql_run(pool.eye,
                "INSERT INTO tp_history (id, handler, event, created_at, alert_at) VALUES ('%s', '%s', "
                "'gave-up', 1000, %s)",
                id, pool.handler, i ? "1000" : "NULL");
    }
    tp_selection selection = selection_with(.pool = "history", .older_ms = 1000);
    expect_purged(&selection, 1);
    expect_number(
        count_of("tp_history WHERE handler = '%s' AND event = 'gave-up' AND alert_at = 1000", pool.handler),
        1);
}

TEST(test_purge__refuses_what_a_ledger_does_not_have) {
    tp_selection selection = selection_with(.pool = "once", .reason = "x");
    expect(TP_MISUSE, tp_operate(pool.a, TP_ACTION_PURGE, &selection, NULL));
    expect_text("age, handler and limit");
}

static int64_t kept(const char *in) {
    int64_t retention_ms = -1;
    must(tp_retention_get(pool.b, in, &retention_ms));
    return retention_ms;
}

TEST(test_keep__says_how_long_and_is_recorded) {
    expect_number(kept("finished"), 0);
    must(tp_retention_set(pool.a, "finished", 7 * 86400000, "tester@desk"));
    must(tp_retention_set(pool.b, "failed", 1500, "tester@desk"));
    must(tp_retention_set(pool.a, "finished", 90 * INT64_C(86400000), "tester@desk"));
    expect_number(kept("finished"), 90 * INT64_C(86400000));
    expect_number(kept("failed"), 1500);
    must(tp_retention_set(pool.a, "finished", 0, "tester@desk"));
    must(tp_retention_set(pool.a, "failed", 0, "tester@desk"));
    expect_number(kept("finished"), 0);
    expect_number(count_of("tp_history WHERE event = 'kept' AND reason = 'finished tasks: 90d'"), 1);
    expect(TP_MISUSE, tp_retention_set(pool.a, "pending", 0, "tester@desk"));
    expect(TP_MISUSE, tp_retention_set(pool.a, "failed", -1, "tester@desk"));
    expect(TP_MISUSE, tp_retention_set(pool.a, "failed", 0, NULL));
}

TEST(test_keep__house_deletes_what_is_past_its_time_and_no_more_than_asked) {
    char young[ID], failed[ID];
    size_t deleted = 77;
    put_many_settled("finished", 60, LONG_AGO);
    put_settled("finished", "done", 0, young);
    put_settled("failed", "no", 7200000, failed);
    must(tp_retention_apply(pool.a, 1000, &deleted));
    expect_number(deleted, 0);
    must(tp_retention_set(pool.a, "finished", 3600000, "tester@desk"));
    must(tp_retention_apply(pool.a, 25, &deleted));
    expect_number(deleted, 25);
    must(tp_retention_apply(pool.a, 1000, &deleted));
    expect_number(deleted, 35);
    expect_number(row_of(young).copies, 1);
    expect_number(row_of(failed).copies, 1);
    must(tp_retention_set(pool.a, "failed", 3600000, "tester@desk"));
    must(tp_retention_apply(pool.a, 1000, &deleted));
    expect_number(deleted, 1);
    must(tp_retention_set(pool.a, "finished", 0, "tester@desk"));
    must(tp_retention_set(pool.a, "failed", 0, "tester@desk"));
}

/* As if the database's clock had gone ahead since retention last looked. */
static void let_clock_go_ahead(int64_t ms) {
    atomic_fetch_sub(&pool.a->env->clock_gap_ms, ms);
}

TEST(test_keep__nothing_is_deleted_while_the_databases_clock_is_a_day_ahead) {
    enum { HOUR = 3600000, HOURS_A_DAY = 24 };
    size_t deleted = 77;
    must(tp_retention_set(pool.a, "finished", HOUR, "tester@desk"));
    must(tp_retention_apply(pool.a, 1000, NULL));
    put_many_settled("finished", 20, LONG_AGO);
    let_clock_go_ahead(HOURS_A_DAY * (int64_t)HOUR + HOUR);
    for (int i = 0; i < 2; i++)
        expect(TP_DB, tp_retention_apply(pool.a, 1000, &deleted));
    expect_text("has moved ahead by 2");
    expect_text("do not restart it");
    expect_number(rows_in("finished", pool.handler), 20);
    let_clock_go_ahead(-2 * HOUR); /* less than a day is none of that */
    must(tp_retention_apply(pool.a, 10, &deleted));
    expect_number(deleted, 10);
    let_clock_go_ahead(48 * (int64_t)HOUR);
    expect(TP_DB, tp_retention_apply(pool.a, 1000, &deleted));
    atomic_fetch_sub(&pool.a->env->clock_boot_ms,
                     HOURS_A_DAY * (int64_t)HOUR + HOUR); /* nobody put it right */
    must(tp_retention_apply(pool.a, 1000, &deleted));
    expect_number(deleted, 10);
    must(tp_retention_set(pool.a, "finished", 0, "tester@desk"));
}

/* Failed task number i of these, the first settled first. */
static void fail_long_ago(const char *id, int i) {
    row_make_due(id);
    expect(TP_EXHAUSTED, tp_give_up(pool.a, claim_this(pool.a, id), "no account"));
    sql_run(pool.eye, "UPDATE tp_failed SET settled_at = %" PRId64 " WHERE id = '%s'", LONG_AGO + i, id);
}

static size_t deleted_now(size_t limit) {
    size_t deleted = 77;
    must(tp_retention_apply(pool.a, limit, &deleted));
    return deleted;
}

/* What they hold up would go on as if they were done. */
TEST(test_keep__a_failed_task_stays_while_it_holds_up_a_group_or_a_gate) {
    char held[3][ID], free_ones[3][ID], next[ID];
    size_t ended = 0;
    must(tp_group_open(pool.a, "closed", TP_GROUP_ALL_DONE, NULL));
    must(tp_group_open(pool.a, "open", TP_GROUP_ALL_ENDED, NULL));
    must(tp_group_open(pool.a, "over", TP_GROUP_ALL_ENDED, NULL));
    memcpy(held[0], enqueue(pool.a, .group = "closed").id, ID);
    memcpy(held[1], enqueue(pool.a, .group = "open").id, ID);
    memcpy(held[2], enqueue(pool.a, .order_key = "k").id, ID);
    memcpy(next, enqueue(pool.a, .order_key = "k").id, ID);
    memcpy(free_ones[0], enqueue(pool.a, .group = "over").id, ID);
    memcpy(free_ones[1], enqueue(pool.a, .max_failures = 0).id, ID);
    memcpy(free_ones[2], enqueue(pool.a, .max_failures = 0).id, ID);
    for (int i = 0; i < 3; i++)
        fail_long_ago(held[i], i);
    for (int i = 0; i < 3; i++)
        fail_long_ago(free_ones[i], 3 + i);
    must(tp_group_close(pool.a, "closed"));
    must(tp_group_close(pool.a, "over"));
    must(tp_groups_end(pool.a, &ended));
    expect_number(ended, 1);
    must(tp_retention_set(pool.a, "failed", 3600000, "tester@desk"));
    expect_number(deleted_now(2), 2);
    expect_number(deleted_now(1000), 1);
    expect_number(deleted_now(1000), 0);
    must(tp_retention_set(pool.a, "failed", 0, "tester@desk"));
    for (int i = 0; i < 3; i++) {
        expect_number(row_of(held[i]).copies, 1);
        expect_number(row_of(free_ones[i]).copies, 0);
    }
    expect_number(count_of("tp_group WHERE name = 'closed' AND state = 'closed'"), 1);
    expect_number(row_of(next).due_at, TP_TIME_MAX);
}

TEST(test_keep__a_setting_written_by_hand_deletes_nothing_unless_it_is_a_time) {
    static const char *const wrong[] = {"90d", "-5", "soon", "1e9", "99999999999999999999", "5 "};
    put_many_settled("finished", 20, LONG_AGO);
    must(tp_retention_set(pool.a, "finished", 3600000, "tester@desk"));
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        sql_run(pool.eye, "UPDATE tp_meta SET value = '%s' WHERE name = 'keep_finished'", wrong[i]);
        expect(TP_DB, tp_retention_apply(pool.a, 1000, NULL));
        expect_text("setting keep_finished is");
        expect_number(rows_in("finished", pool.handler), 20);
    }
    must(tp_retention_set(pool.a, "finished", 0, "tester@desk"));
    expect_number(kept("finished"), 0);
}
