/* What operators do: the changes are those of the state table, each is recorded, what others hold is passed
 * over, and asking again does nothing twice. */
#include <strings.h>

#include "base/uuid.h"
#include "conformance/places.h"
#include "suite.h"
#include "support/faults.h"

THEME(operate, ONCE);

#define HOLDER "01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e"

/* ---- Short ways ---------------------------------------------------------------------------------------- */

#define expect_operated(conn, action, selection, done, passed)                                               \
    check_operated((conn), (action), (selection), (done), (passed), __FILE__, __LINE__)
static void check_operated(tp_conn *conn, tp_action action, const tp_selection *selection, size_t done,
                           size_t passed, const char *file, int line) {
    tp_operated result = {sizeof result, 77, 77, "", 77, 77};
    check_status(TP_OK, tp_operate(conn, action, selection, &result), "tp_operate", file, line);
    check_number((int64_t)result.done, (int64_t)done, "done", file, line);
    check_number((int64_t)result.passed, (int64_t)passed, "passed", file, line);
}

/* A row as no call of the library makes it so quickly. */
static void put_in(enum tpi_pool in, enum tpi_state state, int failures, const char *dedup_key, char id[ID]) {
    tpi_uuid_ordered(id);
    put_row(pool.eye, .in = tpi_pool_name(in), .id = id, .dedup_key = dedup_key, .shard = 3,
            .state = tpi_state_name(state), .failures = failures, .reason = "card refused 50%",
            .owner = HOLDER, .due_at = LONG_AGO * 2);
}

static void put_failed(size_t count, char (*ids)[ID]) {
    for (size_t i = 0; i < count; i++)
        put_in(TPI_POOL_FAILED, TPI_STATE_FAILED, 4, NULL, ids[i]);
}

static void point(char (*ids)[ID], size_t count, const char **out) {
    for (size_t i = 0; i < count; i++)
        out[i] = ids[i];
}

/* ---- The state table ----------------------------------------------------------------------------------- */

static const struct {
    tp_action action;
    enum tpi_event event;
    const char *word;
} actions[] = {{TP_ACTION_RETRY, TPI_EVENT_RETRY, "retried"},
               {TP_ACTION_SKIP, TPI_EVENT_DROP, "skipped"},
               {TP_ACTION_RELEASE, TPI_EVENT_FREE, "released"}};

static bool due_as_decided(const struct tpi_change *change, const struct row *before, const struct row *now) {
    if (change->due == TPI_DUE_KEEP) return now->due_at == before->due_at;
    return change->due == TPI_DUE_NOW && now->due_at == now->modified_at && now->due_at > LONG_AGO &&
           now->due_at < LONG_AGO * 2;
}

/* What the task's reason is, once somebody did it because of "because". */
static const char *reason_after(enum tpi_event event) {
    if (event == TPI_EVENT_RETRY) return "card refused 50%";
    return event == TPI_EVENT_FREE ? "released by operator tester@desk: because" : "because";
}

static bool as_decided(enum tpi_event event, const struct tpi_change *change, const struct row *before,
                       const char *id) {
    struct row now = row_of(id);
    if (!change->written) return memcmp(&now, before, sizeof now) == 0;
    bool pending = change->pool == TPI_POOL_PENDING;
    return now.copies == 1 && strcmp(now.pool, tpi_pool_name(change->pool)) == 0 &&
           strcmp(now.state, tpi_state_name(change->state)) == 0 && now.failures == change->failures &&
           strcmp(now.owner, pending ? "" : HOLDER) == 0 && due_as_decided(change, before, &now) &&
           strcmp(now.reason, reason_after(event)) == 0;
}

static bool try_case(size_t a, enum tpi_pool in, enum tpi_state from, int failures) {
    struct tpi_facts facts = {.failures = failures, .max_failures = 3};
    tp_operated result = TP_OPERATED_INIT;
    char id[ID];
    const char *ids[] = {id};
    put_in(in, from, failures, NULL, id);
    struct row before = row_of(id);
    struct tpi_change change = tpi_fsm_decide(in, from, actions[a].event, &facts);
    tp_selection selection = selection_with(.ids = ids, .id_count = 1, .why = "because");
    must(tp_operate(pool.a, actions[a].action, &selection, &result));
    bool good = result.done == change.written && result.passed == 0 &&
                as_decided(actions[a].event, &change, &before, id) &&
                events_of(id, actions[a].word) == change.written;
    if (!good) {
        struct row now = row_of(id);
        print_error(
            "%s on %s %s with %d: done %zu; the table says %s %s with %d, the row is %s %s with %d, '%s'\n",
            actions[a].word, tpi_pool_name(in), tpi_state_name(from), failures, result.done,
            tpi_pool_name(change.pool), tpi_state_name(change.state), change.failures, now.pool, now.state,
            now.failures, now.reason);
    }
    return good;
}

TEST(test_operate__does_what_the_state_table_says) {
    int wrong = 0;
    for (size_t a = 0; a < 3; a++)
        for (size_t p = 0; p < PLACES; p++)
            for (int failures = 0; failures < 4; failures += 3)
                wrong += !try_case(a, places[p].pool, places[p].state, failures);
    expect_number(wrong, 0);
}

/* ---- What becomes of claims ---------------------------------------------------------------------------- */

TEST(test_operate__a_released_task_is_lost_to_whoever_held_it) {
    for (int i = 0; i < SETTLES; i++) {
        const tp_task *task = put_and_claim(pool.a);
        tp_selection selection = selection_with(.ids = &task->id, .id_count = 1);
        expect_operated(pool.b, TP_ACTION_RELEASE, &selection, 1, 0);
        struct row before = row_of(task->id);
        expect(TP_LOST, settles[i].call(pool.a, task));
        expect_same(task->id, &before);
        const char *recorded =
            text_of("owner FROM tp_history WHERE task_id = '%s' AND event = 'released'", task->id);
        assert_int_equal(strcasecmp(recorded, task->owner), 0);
        tp_batch *again = claim(pool.b, 1);
        assert_string_equal(tp_batch_task(again, 0)->id, task->id);
        must(tp_complete(pool.b, tp_batch_task(again, 0)));
    }
}

/* The lease that lapsed was of a claim before. */
TEST(test_operate__a_released_task_says_who_released_it) {
    tp_selection selection = selection_with(.limit = 0);
    const tp_task *task = put_and_claim(pool.a);
    row_make_due(task->id);
    const tp_task *again = claim_this(pool.b, task->id);
    assert_memory_equal(row_of(task->id).reason, "lease lapsed, held by ", 22);
    expect_operated(pool.a, TP_ACTION_RELEASE, &selection, 1, 0);
    assert_string_equal(row_of(task->id).reason, "released by operator tester@desk");
    assert_string_equal(
        text_of("reason FROM tp_history WHERE task_id = '%s' AND event = 'released'", task->id),
        "released by operator tester@desk");
    row_make_due(task->id);
    again = claim_this(pool.b, task->id);
    assert_string_equal(again->reason, "released by operator tester@desk");
    must(tp_complete(pool.b, again));
}

TEST(test_operate__a_long_why_of_a_release_is_cut_on_a_character_boundary) {
    char why[3 * TP_REASON_MAX + 1] = "";
    for (size_t i = 0; i < TP_REASON_MAX; i++)
        memcpy(why + 3 * i, "钱", 4);
    const tp_task *task = put_and_claim(pool.a);
    tp_selection selection = selection_with(.why = why);
    expect_operated(pool.b, TP_ACTION_RELEASE, &selection, 1, 0);
    struct row row = row_of(task->id);
    size_t length = strlen(row.reason);
    assert_true(length > TP_REASON_MAX - 3 && length <= TP_REASON_MAX);
    assert_memory_equal(row.reason, "released by operator tester@desk: 钱", 37);
    assert_memory_equal(row.reason + length - 3, "钱", 4);
}

TEST(test_operate__a_retried_task_runs_again_and_counts_from_zero) {
    tp_selection selection = selection_with(.limit = 0);
    const tp_task *task = put_and_claim(pool.a);
    expect(TP_EXHAUSTED, tp_fail(pool.a, task, "card refused", &never));
    expect_nothing(pool.b);
    expect_operated(pool.b, TP_ACTION_RETRY, &selection, 1, 0);
    const tp_task *again = claim_this(pool.b, task->id);
    expect_number(again->failures, 0);
    assert_string_equal(again->params, "x");
    must(tp_complete(pool.b, again));
    expect_row(task->id, "finished", "done", 0);
}

static void expect_unstored(tp_action action, const tp_selection *selection, size_t done, size_t unstored) {
    tp_operated result = TP_OPERATED_INIT;
    must(tp_operate(pool.a, action, selection, &result));
    expect_number(result.done, done);
    expect_number(result.unstored, unstored);
}

TEST(test_operate__a_retry_says_how_many_are_done_and_only_not_stored) {
    const char *const reasons[] = {TP_REASON_DONE "check 7", "not " TP_REASON_DONE, NULL, TP_REASON_DONE};
    for (size_t i = 0; i < 4; i++) {
        char id[ID];
        tpi_uuid_ordered(id);
        put_row(pool.eye, .in = "failed", .id = id, .state = "failed", .failures = 1, .reason = reasons[i]);
    }
    tp_selection selection = selection_with(.dry_run = 1);
    expect_unstored(TP_ACTION_SKIP, &selection, 4, 0);
    expect_unstored(TP_ACTION_RETRY, &selection, 4, 2);
    selection.dry_run = 0;
    expect_unstored(TP_ACTION_RETRY, &selection, 4, 2);
    expect_unstored(TP_ACTION_RETRY, &selection, 0, 0);
}

/* So that what is retried, and done meanwhile, but not stored, is not retried again. */
TEST(test_operate__a_retry_begins_with_the_failed_ones) {
    char waiting[ID], failed[ID];
    put_in(TPI_POOL_PENDING, TPI_STATE_FAILED, 1, NULL, waiting);
    put_in(TPI_POOL_FAILED, TPI_STATE_FAILED, 1, NULL, failed);
    tp_selection selection = selection_with(.limit = 1);
    expect_operated(pool.a, TP_ACTION_RETRY, &selection, 1, 0);
    expect_row(failed, "pending", "pending", 0);
    expect_number(row_of(waiting).failures, 1);
}

/* ---- Many ---------------------------------------------------------------------------------------------- */

TEST(test_operate__takes_more_than_one_transaction_full) {
    enum { TASKS = 1103, GIVEN = 601 };
    static char ids[TASKS][ID];
    static const char *given[GIVEN];
    task_put_many(TASKS, ids);
    tp_selection selection = selection_with(.dry_run = 1);
    expect_operated(pool.a, TP_ACTION_SKIP, &selection, TASKS, 0);
    expect_number(rows_in("pending", pool.handler), TASKS);
    selection.dry_run = 0;
    selection.limit = 7;
    expect_operated(pool.a, TP_ACTION_SKIP, &selection, 7, 0);
    selection.limit = 0;
    point(ids, GIVEN, given);
    selection.ids = given;
    selection.id_count = GIVEN;
    expect_operated(pool.a, TP_ACTION_SKIP, &selection, GIVEN - 7, 0);
    selection.id_count = 0;
    expect_operated(pool.a, TP_ACTION_SKIP, &selection, TASKS - GIVEN, 0);
    expect_number(rows_in("pending", pool.handler), 0);
    expect_number(rows_in("finished", pool.handler), TASKS);
    expect_number(sql_number(pool.eye,
                             "SELECT COUNT(DISTINCT task_id) FROM tp_history WHERE handler = '%s' AND event "
                             "= 'skipped' AND who = 'tester@desk'",
                             pool.handler),
                  TASKS);
    expect_number(count_of("tp_history WHERE handler = '%s'", pool.handler), TASKS);
}

TEST(test_operate__all_that_is_given_must_hold) {
    char failed[3][ID], waiting[ID], fresh[ID];
    put_failed(3, failed);
    put_in(TPI_POOL_PENDING, TPI_STATE_FAILED, 1, NULL, waiting);
    put_in(TPI_POOL_PENDING, TPI_STATE_PENDING, 0, NULL, fresh);
    sql_run(pool.eye, "UPDATE tp_failed SET reason = 'no_such account' WHERE id = '%s'", failed[1]);
    sql_run(pool.eye, "UPDATE tp_failed SET reason = NULL WHERE id = '%s'", failed[2]);
    tp_selection selection = selection_with(.dry_run = 1);
    expect_operated(pool.a, TP_ACTION_RETRY, &selection, 4, 0);
    expect_operated(pool.a, TP_ACTION_SKIP, &selection, 5, 0);
    selection.pool = "failed";
    expect_operated(pool.a, TP_ACTION_RETRY, &selection, 3, 0);
    selection.reason = "refused 50%";
    expect_operated(pool.a, TP_ACTION_RETRY, &selection, 1, 0);
    selection.reason = "no_such";
    expect_operated(pool.a, TP_ACTION_RETRY, &selection, 1, 0);
    selection.reason = "o_s%c";
    expect_operated(pool.a, TP_ACTION_RETRY, &selection, 0, 0);
    selection.reason = NULL;
    selection.pool = NULL;
    selection.state = "pending";
    expect_operated(pool.a, TP_ACTION_SKIP, &selection, 1, 0);
    selection.state = NULL;
    selection.handler = "somebody.elses";
    expect_operated(pool.a, TP_ACTION_SKIP, &selection, 0, 0);
}

TEST(test_operate__age_is_counted_by_the_databases_clock) {
    const char *id = put_one();
    tp_selection selection = selection_with(.older_ms = 3600000);
    expect_operated(pool.a, TP_ACTION_SKIP, &selection, 0, 0);
    sql_run(pool.eye, "UPDATE tp_pending SET modified_at = modified_at - 3610000 WHERE id = '%s'", id);
    expect_operated(pool.a, TP_ACTION_SKIP, &selection, 1, 0);
    expect_row(id, "finished", "skipped", 0);
}

/* ---- In the way ---------------------------------------------------------------------------------------- */

static void hold_row(const char *table, const char *id) {
    must(tp_begin(pool.b));
    expect_number(sql_run(pool.b, "UPDATE tp_%s SET shard = 4 WHERE id = '%s'", table, id), 1);
}

TEST(test_operate__passes_over_rows_another_session_holds) {
    static const char *const tables[] = {"pending", "failed"};
    for (int t = 0; t < 2; t++) {
        char ids[3][ID];
        const char *given[3];
        tp_operated result = TP_OPERATED_INIT;
        tp_conn *guest = guest_session();
        /* With 0 its COMMIT fails after a SKIP LOCKED that skipped; see pool.c. */
        if (pool_on_mariadb() && !pool_on_generic()) (void)engine_limit_waits(guest, 1000);
        for (int i = 0; i < 3; i++)
            put_in(t ? TPI_POOL_FAILED : TPI_POOL_PENDING, TPI_STATE_FAILED, 2, NULL, ids[i]);
        point(ids, 3, given);
        tp_selection selection = selection_with(.ids = given, .id_count = 3);
        hold_row(tables[t], ids[1]);
        if (pool_on_sqlite()) { /* which has one writer */
            expect(TP_TIMEOUT, tp_operate(guest, TP_ACTION_RETRY, &selection, &result));
            must(tp_rollback(pool.b));
        } else {
            uint64_t rollbacks = tp_conn_counters(guest)->rollbacks;
            expect_operated(guest, TP_ACTION_RETRY, &selection, 2, 1);
            if (!pool_on_generic()) /* it is not even waited for */
                expect_number((int64_t)(tp_conn_counters(guest)->rollbacks - rollbacks), 0);
            expect_row(ids[1], tables[t], "failed", 2);
            must(tp_rollback(pool.b));
            expect_number(events_of(ids[1], "retried"), 0);
            expect_operated(guest, TP_ACTION_RETRY, &selection, 1, 0);
        }
        if (pool_on_sqlite()) expect_operated(pool.a, TP_ACTION_RETRY, &selection, 3, 0);
        for (int i = 0; i < 3; i++)
            expect_row(ids[i], "pending", "pending", 0);
    }
}

TEST(test_operate__passes_over_tasks_whose_dedup_key_is_open) {
    char key[40], other[40], open[ID], blocked[ID], free_one[ID], twins[2][ID];
    snprintf(key, sizeof key, "k-%.20s", pool.handler);
    snprintf(other, sizeof other, "o-%.20s", pool.handler);
    put_in(TPI_POOL_PENDING, TPI_STATE_PENDING, 0, key, open);
    put_in(TPI_POOL_FAILED, TPI_STATE_FAILED, 2, key, blocked);
    put_in(TPI_POOL_FAILED, TPI_STATE_FAILED, 2, NULL, free_one);
    put_in(TPI_POOL_FAILED, TPI_STATE_FAILED, 2, other, twins[0]);
    put_in(TPI_POOL_FAILED, TPI_STATE_FAILED, 2, other, twins[1]);
    tp_selection selection = selection_with(.dry_run = 1);
    expect_operated(pool.a, TP_ACTION_RETRY, &selection, 3, 1); /* it does not see that the twins collide */
    selection.dry_run = 0;
    expect_operated(pool.a, TP_ACTION_RETRY, &selection, 2, 2);
    expect_row(blocked, "failed", "failed", 2);
    expect_row(free_one, "pending", "pending", 0);
    expect_row(twins[0], "pending", "pending", 0);
    expect_row(twins[1], "failed", "failed", 2);
    expect_operated(pool.a, TP_ACTION_SKIP, &selection, 5, 0);
}

/* Of six that are given the first two cannot be retried. */
TEST(test_operate__a_limit_is_of_what_is_done_not_of_what_is_passed_over) {
    char key[40], open[ID], ids[6][ID];
    const char *given[6];
    snprintf(key, sizeof key, "k-%.20s", pool.handler);
    put_in(TPI_POOL_PENDING, TPI_STATE_PENDING, 0, key, open);
    for (int i = 0; i < 2; i++)
        put_in(TPI_POOL_FAILED, TPI_STATE_FAILED, 4, key, ids[i]);
    put_failed(4, ids + 2);
    point(ids, 6, given);
    tp_selection selection = selection_with(.ids = given, .id_count = 6, .limit = 3, .dry_run = 1);
    expect_operated(pool.a, TP_ACTION_RETRY, &selection, 3, 2);
    selection.dry_run = 0;
    expect_operated(pool.a, TP_ACTION_RETRY, &selection, 3, 2);
    for (int i = 2; i < 5; i++)
        expect_row(ids[i], "pending", "pending", 0);
    expect_row(ids[5], "failed", "failed", 4);
}

/* Of 503 the first 501 have a reason that fits the statement's pattern, and is another; ids come in any
 * order. */
TEST(test_operate__a_limit_is_of_tasks_with_the_reason_that_was_meant) {
    enum { TASKS = 503, OTHERS = 501 };
    static char ids[TASKS][ID];
    static const char *given[TASKS];
    put_failed(TASKS, ids);
    for (int i = 0; i < TASKS; i++)
        given[i] = ids[TASKS - 1 - i];
    sql_run(pool.eye,
            "UPDATE tp_failed SET reason = 'card refused by all 50%%' WHERE handler = '%s' AND id <= '%s'",
            pool.handler, ids[OTHERS - 1]);
    tp_selection selection = selection_with(.reason_like = "card refused 7%", .limit = 1);
    uint64_t statements = tp_conn_counters(pool.a)->statements;
    expect_operated(pool.a, TP_ACTION_RETRY, &selection, 1, 0);
    assert_true(tp_conn_counters(pool.a)->statements - statements < 100); /* they are not read one by one */
    expect_row(ids[OTHERS], "pending", "pending", 0);
    selection.ids = given;
    selection.id_count = TASKS;
    expect_operated(pool.a, TP_ACTION_SKIP, &selection, 1, 0);
    expect_row(ids[OTHERS], "finished", "skipped", 0);
    expect_operated(pool.a, TP_ACTION_SKIP, &selection, 1, 0);
    expect_row(ids[OTHERS + 1], "finished", "skipped", 4);
    expect_operated(pool.a, TP_ACTION_SKIP, &selection, 0, 0);
}

/* ---- Asked again --------------------------------------------------------------------------------------- */

/* False: no call was left to lose. */
static bool try_losing(tp_action action, const tp_selection *selection, int at, bool made) {
    tp_operated result = TP_OPERATED_INIT;
    lose_nth_call(at, made);
    tp_status status = tp_operate(pool.a, action, selection, &result);
    if (!lost_nth_call()) {
        must(status);
        return false;
    }
    if (status < TP_OK) {
        must(tp_conn_reopen(pool.a));
        do /* until the server has noticed the end of the old session, which holds the rows */
            must(tp_operate(pool.a, action, selection, &result));
        while (result.passed);
    }
    return true;
}

TEST(test_operate__asked_again_after_a_lost_answer_does_each_once) {
    bool more = true;
    for (int at = 0; more && at < 200; at++) {
        char ids[12][ID];
        const char *given[12];
        put_failed(12, ids);
        point(ids, 12, given);
        tp_selection selection = selection_with(.ids = given, .id_count = 12);
        more = try_losing(TP_ACTION_RETRY, &selection, at / 2, at % 2);
        for (int i = 0; i < 12; i++) {
            expect_row(ids[i], "pending", "pending", 0);
            expect_number(events_of(ids[i], "retried"), 1);
        }
    }
    assert_false(more);
}

/* The first transaction is committed, the second is lost. */
TEST(test_operate__a_failure_says_how_many_were_done_before) {
    enum { FIRST = 500, ALL = FIRST + 2 };
    static tp_new_task tasks[ALL];
    tp_operated result = TP_OPERATED_INIT;
    fill(tasks, ALL);
    must(tp_enqueue_many(pool.a, tasks, ALL, NULL));
    tp_selection selection = selection_with(.limit = FIRST + 1);
    faults_open();
    faults_clear();
    (void)faults_lose((struct faults_aim){.statement = "audit_add"}, TPI_FAULT_NOT_SENT, 1, 1);
    expect(TP_DISCONNECTED, tp_operate(pool.a, TP_ACTION_SKIP, &selection, &result));
    expect_number(result.done, FIRST);
    must(tp_conn_reopen(pool.a));
    selection.limit -= result.done;
    result.done = 0;
    for (int tries = 0; tries < 6000 && !result.done; tries++) {
        if (tries) nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        must(tp_operate(pool.a, TP_ACTION_SKIP, &selection, &result));
        /* The server may not have noticed the end of the old session yet, which holds one of the two: that is
         * passed over, and leaves room for the other. */
        assert_in_range(result.passed, 1 - result.done, 1);
    }
    expect_number(result.done, 1);
    expect_number(rows_in("pending", pool.handler), ALL - FIRST - 1);
}

TEST(test_operate__asked_again_does_nothing) {
    char ids[2][ID];
    tp_selection selection = selection_with(.limit = 0);
    put_failed(2, ids);
    expect_operated(pool.a, TP_ACTION_RETRY, &selection, 2, 0);
    struct row before = row_of(ids[0]);
    expect_operated(pool.a, TP_ACTION_RETRY, &selection, 0, 0);
    expect_same(ids[0], &before);
    expect_number(events_of(ids[0], "retried"), 1);
}

/* ---- Refused ------------------------------------------------------------------------------------------- */

static tp_status skip_all(const tp_selection *selection) {
    return tp_operate(pool.a, TP_ACTION_SKIP, selection, NULL);
}

TEST(test_operate__refuses_what_makes_no_sense) {
    static const struct {
        tp_action action;
        const char *pool, *text;
    } wrong[] = {{TP_ACTION_RETRY, "finished", "pending or failed"},
                 {TP_ACTION_SKIP, "once", "pending or failed"},
                 {TP_ACTION_RELEASE, "failed", "pending"},
                 {TP_ACTION_PURGE, "pending", "finished, failed, once or history"}};
    tp_selection selection = selection_with(.limit = 0);
    const char *bad_id = "17";
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        selection.pool = wrong[i].pool;
        expect(TP_MISUSE, tp_operate(pool.a, wrong[i].action, &selection, NULL));
        expect_text(wrong[i].text);
    }
    tp_selection good = selection_with(.limit = 0);
#define refuses(field, value) with(good, field, value, expect(TP_MISUSE, skip_all(&given)))
    refuses(who, "");
    expect_text("who is required");
    refuses(reason, "");
    expect_text("part of a reason is empty");
    refuses(state, "handling");
    expect_text("changes no task in state 'handling'");
    refuses(state, "tired");
    selection = selection_with(.ids = &bad_id, .id_count = 1);
    expect(TP_MISUSE, skip_all(&selection));
    must(tp_begin(pool.a));
    expect(TP_MISUSE, skip_all(&good));
    must(tp_rollback(pool.a));
}
