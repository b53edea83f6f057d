/* Gates and what people do to them by hand: rows that are deleted, purges, skips, times, rules of the
 * owner's. What is broken is found, said and mended, and nothing is stuck. */
#include "conformance/gates_given.h"
#include "conformance/rules.h"
#include "ops/for_workers.h"
#include "support/engine.h"

THEME(gates_by_hand, ONCE);

/* ---- Rows that were deleted ---------------------------------------------------------------------------- */

struct found {
    const char *name;
    int64_t count;
};

static void see_finding(const tp_finding *finding, void *arg) {
    struct found *found = arg;
    if (strcmp(finding->name, found->name) == 0) found->count = finding->ok ? 0 : finding->count;
}

static void see_note(const tp_finding *finding, void *arg) {
    struct found *found = arg;
    if (strcmp(finding->name, found->name) == 0) found->count = finding->count;
}

static void expect_found(const char *name, int64_t count) {
    struct found found = {name, -1};
    int bad = 0;
    must(tp_check(pool.a, see_finding, &found, &bad));
    expect_number(found.count, count);
}

static void drop_place(const char *id) {
    expect_number(sql_run(pool.eye, "DELETE FROM tp_gate_task WHERE task_id = '%s'", id), 1);
}

TEST(test_gates__a_place_deleted_by_hand_is_found_and_its_key_goes_on) {
    char ids[3][ID];
    put_behind(NULL, "k", 3, ids);
    expect_found("gates", 0);
    expect_found("places", 0);
    drop_place(ids[0]);
    expect_found("gates", 1);
    expect_found("places", 1);
    must(tpi_gates_mend(pool.a));
    expect_found("places", 0);
    expect_number(through("=k"), 1);
    must(tp_complete(pool.a, take_this(pool.a, ids[0])));
    expect_found("gates", 0);
    must(tp_complete(pool.a, take_this(pool.a, ids[1])));
    must(tp_complete(pool.a, take_this(pool.a, ids[2])));
    expect_number(count_of("tp_gate_task"), 0);
}

TEST(test_gates__a_task_whose_place_was_deleted_by_hand_is_found) {
    char ids[3][ID];
    put_behind(NULL, "k", 3, ids);
    drop_place(ids[2]);
    expect_found("gates", 1);
    expect_found("places", 0);
}

static void expect_noted(const char *name, int64_t count) {
    struct found found = {name, -1};
    must(tp_check(pool.a, see_note, &found, NULL));
    expect_number(found.count, count);
}

TEST(test_gates__that_stand_still_behind_a_failed_task_are_found) {
    char ids[4][ID];
    must(tp_gate_set(pool.a, "bank", 2, TP_GATE_BLOCK, "ann"));
    put_behind("bank", NULL, 4, ids);
    fail_for_good(ids[0]);
    sql_run(pool.eye, "UPDATE tp_failed SET settled_at = %" PRId64, (int64_t)LONG_AGO);
    expect_noted("blocked gates", 0); /* the other goes on */
    fail_for_good(ids[1]);
    expect_noted("blocked gates", 1);
    sql_run(pool.eye, "UPDATE tp_failed SET settled_at = %" PRId64, TP_TIME_MAX);
    expect_noted("blocked gates", 0); /* not for long */
    sql_run(pool.eye, "UPDATE tp_failed SET settled_at = %" PRId64, (int64_t)LONG_AGO);
    operate(TP_ACTION_SKIP, "pending");
    expect_noted("blocked gates", 0); /* nobody waits */
}

/* Nobody waits, and nothing is left of it. */
TEST(test_gates__the_gate_of_a_key_whose_places_were_all_deleted_goes) {
    char ids[1][ID];
    put_behind(NULL, "k", 1, ids);
    drop_place(ids[0]);
    must(tpi_gates_mend(pool.a));
    expect_number(count_of("tp_gate WHERE name = '=k'"), 0);
}

/* ---- Purges -------------------------------------------------------------------------------------------- */

static void purge_failed(void) {
    operate(TP_ACTION_PURGE, "failed");
}

static void purge_given(void) {
    char id[ID];
    const char *ids[] = {id};
    snprintf(id, sizeof id, "%s", first_text("SELECT id FROM tp_failed"));
    tp_selection selection = {
        .size = sizeof selection, .pool = "failed", .who = "tester@desk", .ids = ids, .id_count = 1};
    must(tp_operate(pool.a, TP_ACTION_PURGE, &selection, NULL));
}

static void erase_it(void) {
    must(tp_erase(pool.a, "order 7", "tester@desk", "asked to", 0, NULL));
}

/* A failed task blocks its key and goes: the next comes at once, and the first can be put in again. */
static void take_away(void (*take)(void)) {
    empty_pool();
    tp_new_task first = task_with(.order_key = "k", .biz_key = "order 7"), next = task_with(.order_key = "k");
    must(tp_enqueue(pool.a, &first));
    must(tp_enqueue(pool.a, &next));
    fail_for_good(first.id);
    expect_waits(next.id);
    take();
    expect_through("=k", 1);
    must(tp_enqueue(pool.a, &first));
    must(tp_complete(pool.a, take_this(pool.a, next.id)));
    must(tp_complete(pool.a, take_this(pool.a, first.id)));
    expect_number(count_of("tp_gate_task"), 0);
}

TEST(test_gates__who_deletes_a_failed_task_takes_its_place_away) {
    take_away(purge_failed);
    take_away(purge_given);
    take_away(erase_it);
}

static void delete_it(void) {
    sql_run(pool.eye, "DELETE FROM tp_failed");
}

TEST(test_gates__one_deleted_by_plain_sql_keeps_its_place_until_it_is_mended) {
    tp_new_task first = task_with(.order_key = "k"), next = task_with(.order_key = "k");
    must(tp_enqueue(pool.a, &first));
    must(tp_enqueue(pool.a, &next));
    fail_for_good(first.id);
    delete_it();
    expect(TP_CONFLICT, tp_enqueue(pool.a, &first));
    expect_text("still has its place at gate =k");
    must(tpi_gates_mend(pool.a));
    must(tp_enqueue(pool.a, &first));
    expect_waits(first.id);
    take_this(pool.a, next.id);
}

/* ---- Times --------------------------------------------------------------------------------------------- */

TEST(test_gates__the_end_of_time_is_no_time_behind_a_gate) {
    tp_new_task task = task_with(.order_key = "k", .due_at = TP_TIME_MAX);
    tp_edit_request edit = TP_EDIT_INIT;
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    expect_text("9999");
    task = task_with(.order_key = "k", .dedup_key = "d", .due_at = TP_TIME_MAX - 1);
    must(tp_enqueue(pool.a, &task));
    edit.fields = TP_EDIT_DUE_AT;
    edit.due_at = TP_TIME_MAX;
    expect(TP_MISUSE, tp_edit(pool.a, task.id, &edit, "tester", NULL));
    expect_text("9999");
    tp_new_task pushes =
        task_with(.dedup_key = "d", .due_at = TP_TIME_MAX, .on_duplicate = TP_DUPLICATE_PUSH_BACK);
    must(tp_enqueue(pool.a, &pushes));
    expect_number(row_of(task.id).due_at, TP_TIME_MAX - 1);
    expect_through("=k", 1);
}

TEST(test_gates__one_that_is_skipped_while_it_waits_says_when_it_wanted_to_be_due) {
    tp_new_task first = task_with(.order_key = "k"), waits = task_with(.order_key = "k", .due_at = LONG_AGO);
    must(tp_enqueue(pool.a, &first));
    must(tp_enqueue(pool.a, &waits));
    operate(TP_ACTION_SKIP, "pending");
    expect_row(waits.id, "finished", "skipped", 0);
    expect_number(row_of(waits.id).due_at, LONG_AGO);
}

/* ---- Retries ------------------------------------------------------------------------------------------- */

TEST(test_gates__a_retry_passes_over_tasks_whose_gate_was_removed) {
    tp_selection selection = selection_with(.pool = "failed"),
                 dry = selection_with(.pool = "failed", .dry_run = 1);
    tp_operated result = TP_OPERATED_INIT;
    char bank[2][ID], key[1][ID], plain[ID];
    must(tp_gate_set(pool.a, "bank", 2, TP_GATE_PASS, NULL));
    put_behind("bank", NULL, 2, bank);
    put_behind(NULL, "k", 1, key);
    fail_for_good(bank[0]);
    fail_for_good(bank[1]);
    fail_for_good(key[0]);
    snprintf(plain, sizeof plain, "%s", put_one());
    fail_for_good(plain);
    must(tp_gate_remove(pool.a, "bank", NULL));
    for (int i = 0; i < 2; i++) {
        result = (tp_operated)TP_OPERATED_INIT;
        must(tp_operate(pool.a, TP_ACTION_RETRY, i ? &selection : &dry, &result));
        expect_number(result.done, 2);
        expect_number(result.passed, 2);
    }
    expect_row(bank[0], "failed", "failed", 1);
    expect_row(plain, "pending", "pending", 0);
    must(tp_gate_set(pool.a, "bank", 2, TP_GATE_PASS, NULL));
    operate(TP_ACTION_RETRY, "failed");
    expect_through("bank", 2);
}

/* ---- Locks --------------------------------------------------------------------------------------------- */

static tp_status skip_call(tp_conn *conn, void *result) {
    tp_selection selection = selection_with(.pool = "pending");
    return tp_operate(conn, TP_ACTION_SKIP, &selection, result);
}

/* One settles, and has the next that waits locked after the gate; the other skips tasks that wait and one
 * that was let through. Both stand before the gate. */
TEST(test_gates__a_skip_of_tasks_that_wait_gets_in_nobodys_way) {
    struct aside settle, skip;
    tp_operated result = TP_OPERATED_INIT;
    char ids[4][ID];
    if (pool_on_sqlite()) return; /* one writer */
    must(tp_gate_set(pool.a, "bank", 2, TP_GATE_BLOCK, NULL));
    put_behind("bank", NULL, 4, ids);
    const tp_task *task = take_this(pool.a, ids[0]);
    (void)engine_limit_waits(pool.a, 60000); /* until each is seen to wait */
    (void)engine_limit_waits(pool.b, 60000);
    uint64_t errors = tp_conn_counters(pool.a)->errors + tp_conn_counters(pool.b)->errors;
    must(tp_begin(pool.eye));
    sql_run(pool.eye, "UPDATE tp_gate SET let_through = let_through WHERE name = 'bank'");
    start_blocked(&settle, pool.a, complete_call, (void *)(uintptr_t)task);
    start_blocked(&skip, pool.b, skip_call, &result);
    must(tp_commit(pool.eye));
    must(aside_end(&settle));
    must(aside_end(&skip));
    expect_number(tp_conn_counters(pool.a)->errors + tp_conn_counters(pool.b)->errors, errors);
    expect_number(result.done, 3);
    expect_number(result.passed, 0);
    expect_number(count_of("tp_gate_task"), 0);
    must(tp_conn_reopen(pool.a));
    must(tp_conn_reopen(pool.b));
}

/* ---- Rules of the application's own, and sessions that only read -----------------------------------------
 */

static void set_against(const struct rule *rule) {
    tp_new_task task = task_with(.order_key = "k");
    if (rule->seeded) return;
    rule_make_over(rule, "gate", "changed_by", "refused");
    for (int i = 0; i < 2; i++)
        expect_refused(tp_gate_set(pool.a, "bank", 1, TP_GATE_BLOCK, "refused"));
    for (int i = 0; i < 2 && rule->refuses_all; i++)
        expect_refused(tp_enqueue(pool.a, &task));
    rule_lift();
    must(tp_gate_set(pool.a, "bank", 1, TP_GATE_BLOCK, "refused"));
    must(tp_enqueue(pool.a, &task));
    expect_through("=k", 1);
}

static void lock_against(const struct rule *rule) {
    tp_new_task task = behind("bank"), next = behind("bank");
    must(tp_gate_set(pool.a, "bank", 1, TP_GATE_BLOCK, "refused"));
    must(tp_enqueue(pool.a, &task));
    const tp_task *taken = take_this(pool.a, task.id);
    rule_make_over(rule, "gate", "changed_by", "refused");
    for (int i = 0; i < 2; i++) {
        expect_refused(tp_enqueue(pool.a, &next));
        expect_refused(tp_complete(pool.a, taken));
    }
    expect_number(count_of("tp_pending"), 1);
    rule_lift();
    must(tp_enqueue(pool.a, &next));
    must(tp_complete(pool.a, taken));
    take_this(pool.a, next.id);
    expect_through("bank", 1);
}

TEST(test_gates__what_a_rule_of_the_owners_refuses_is_an_error_and_changes_nothing) {
    rule_for_each(&rules_on_insert, set_against);
    rule_for_each(&rules_on_update, lock_against);
}

/* One that cannot be mended is said, and the others are. */
static void mend_against(const struct rule *rule) {
    char bank[2][ID], other[2][ID];
    must(tp_gate_set(pool.a, "bank", 1, TP_GATE_BLOCK, "refused"));
    must(tp_gate_set(pool.a, "other", 1, TP_GATE_BLOCK, "fine"));
    put_behind("bank", NULL, 2, bank);
    put_behind("other", NULL, 2, other);
    sql_run(pool.eye, "UPDATE tp_gate SET width = 2 WHERE name <> '='");
    rule_make_over(rule, "gate", "changed_by", "refused");
    expect_refused(tpi_gates_mend(pool.a));
    expect_through("other", 2);
    expect_through("bank", 1);
    rule_lift();
    must(tpi_gates_mend(pool.a));
    expect_through("bank", 2);
}

TEST(test_gates__one_that_cannot_be_mended_holds_up_no_other) {
    rule_for_each(&rules_on_update, mend_against);
}

TEST(test_gates__on_a_session_that_only_reads_nothing_is_let_through) {
    char ids[2][ID];
    if (!engine->read_only) not_tried("a session that becomes read-only");
    if (!engine->read_only) return;
    put_behind(NULL, "k", 2, ids);
    const tp_task *task = take_this(pool.a, ids[0]);
    tp_conn *guest = guest_session();
    (void)sql_raw(guest->store.link.dbc, "%s", engine->read_only);
    expect_may_retry(tp_complete(guest, task));
    expect_may_retry(tp_gate_set(guest, "bank", 1, TP_GATE_BLOCK, NULL));
    expect_through("=k", 1);
    must(tp_conn_reopen(guest));
    must(tp_complete(guest, task));
    take_this(pool.a, ids[1]);
}
