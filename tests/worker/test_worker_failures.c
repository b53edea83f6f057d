/* A worker whose statements fail while the connection lives: deadlocks and locks, which pass when the
 * transaction is done again, and failures that never pass, which must be told and must not lose a task. */
#include "ops/for_workers.h"
#include "worker/rig.h"

#include <string.h>

#include "base/clock.h"

/* The statement is not run and fails, times times after the first skip. */
static size_t refuse(const char *statement, enum faults_kind kind, int skip, int times) {
    return faults_add((struct faults_aim){
        .statement = statement, .fault = TPI_FAULT_NOT_SENT, .kind = kind, .skip = skip, .times = times});
}

/* ---- What passes -------------------------------------------------------------------------------------- */

static void pay_past(const char *statement, enum faults_kind kind) {
    rig_put(3, "x");
    size_t aim = refuse(statement, kind, 1, 2);
    rig_run(rig_pay);
    expect_number(faults_hits(aim), 2);
    expect_number(atomic_load(&rig.runs), 5);
    rig_expect_paid(3);
    expect_number(rig_told(TP_EVENT_DONE), 3);
    expect_number(rig_told(TP_EVENT_OFFLINE) + rig_told(TP_EVENT_ERROR), 0);
}

static void test_transaction__is_run_again_after_a_deadlock(void **state) {
    (void)state;
    pay_past("move_finished", FAULTS_CONFLICT);
}

static void test_transaction__is_run_again_when_a_lock_does_not_come(void **state) {
    (void)state;
    pay_past("move_finished", FAULTS_LOCKED);
}

static void test_commit__that_fails_on_a_conflict_runs_the_handler_again(void **state) {
    (void)state;
    struct faults_aim commit = rig_aim_at_settle("move_finished");
    commit.statement = "commit";
    if (!commit.after) commit.after = "move_finished";
    commit.kind = FAULTS_CONFLICT;
    commit.fault = TPI_FAULT_NOT_SENT;
    commit.skip = 1;
    commit.times = 2;
    rig_put(3, "x");
    size_t aim = faults_add(commit);
    rig_run(rig_pay);
    expect_number(faults_hits(aim), 2);
    expect_number(atomic_load(&rig.runs), 5);
    rig_expect_paid(3);
}

static void give_up_after_three(enum faults_kind kind) {
    const tp_retry none = {.size = sizeof(tp_retry), .delays_ms = NULL, .count = 0};
    tp_worker_options o = rig_options();
    o.retry = &none;
    rig_put(1, "x");
    size_t aim = refuse("move_finished", kind, 0, 1000);
    rig_finish(rig_start(&o, rig_pay));
    expect_number(faults_hits(aim), 3);
    expect_number(atomic_load(&rig.runs), 3);
    rig_expect(0, 0, 1);
    expect_number(rig_failures("failed"), 1);
    expect_number(rig_effects(), 0);
    expect_number(rig_told(TP_EVENT_GAVE_UP), 1);
}

/* ODBC has one state for all that takes too long. */
static void expect_locked(const char *text) {
    assert_true(strstr(text, "locked") || strstr(text, "no answer in time"));
}

static void test_transaction__that_always_deadlocks_is_a_failure_after_three_runs(void **state) {
    (void)state;
    give_up_after_three(FAULTS_CONFLICT);
    assert_non_null(strstr(rig.watch.texts[TP_EVENT_GAVE_UP], "got in the way"));
}

static void test_transaction__whose_lock_never_comes_is_a_failure_after_three_runs(void **state) {
    (void)state;
    give_up_after_three(FAULTS_LOCKED);
    expect_locked(rig.watch.texts[TP_EVENT_GAVE_UP]);
}

static void test_settle__waits_for_a_lock_without_running_the_handler_again(void **state) {
    (void)state;
    rig_put(3, "x");
    size_t aim = refuse("move_finished", FAULTS_LOCKED, 0, 4);
    rig_run_singly(rig_done);
    expect_number(faults_hits(aim), 4);
    expect_number(atomic_load(&rig.runs), 3);
    rig_expect(0, 3, 0);
    expect_number(rig_failures("finished"), 0);
}

static void test_claim__tells_of_locks_that_do_not_go_away_and_tries_on(void **state) {
    (void)state;
    rig_put(3, "x");
    size_t aim = refuse(rig_claim_statement(), FAULTS_LOCKED, 0, 5);
    rig_run(rig_pay);
    expect_number(faults_hits(aim), 5);
    rig_expect_paid(3);
    expect_number(rig_told(TP_EVENT_ERROR), 1);
    expect_locked(rig.watch.texts[TP_EVENT_ERROR]);
}

/* Written as the task's failure it would be done twice. */
static void test_settle__waits_for_room_on_a_full_disk(void **state) {
    (void)state;
    if (strcmp(pool_driver()->name, "any") == 0) skip(); /* ODBC has no state for it */
    rig_put(1, "x");
    size_t aim = refuse("move_finished", FAULTS_FULL, 0, 6);
    rig_run(rig_done);
    expect_number(faults_hits(aim), 6);
    expect_number(atomic_load(&rig.runs), 1);
    expect_number(rig_told(TP_EVENT_ERROR), 1); /* not for each try */
    expect_number(rig_told(TP_EVENT_RETRY), 0);
    rig_expect(0, 1, 0);
    expect_number(rig_failures("finished"), 0);
}

/* ---- What does not ------------------------------------------------------------------------------------ */

static void test_settle__failure_without_hope_takes_the_effect_of_its_transaction_with_it(void **state) {
    (void)state;
    rig_put(1, "x");
    refuse("move_finished", FAULTS_PERMANENT, 0, 1);
    rig_run(rig_pay);
    rig_expect(0, 1, 0);
    expect_number(rig_effects(), 1);
    expect_number(rig_failures("finished"), 1);
    expect_number(rig_told(TP_EVENT_ERROR), 1);
    expect_number(rig_told(TP_EVENT_RETRY), 1);
}

static void test_claim__failure_without_hope_is_told_each_time_and_tried_on(void **state) {
    (void)state;
    rig_put(3, "x");
    size_t aim = refuse(rig_claim_statement(), FAULTS_NO_TABLE, 0, 3);
    rig_run(rig_pay);
    expect_number(faults_hits(aim), 3);
    rig_expect_paid(3);
    expect_number(rig_told(TP_EVENT_ERROR), 3);
    expect_number(rig_told(TP_EVENT_OFFLINE), 0);
}

/* With pauses of a second at most, as for what passes, it would take 4.5 s at most. */
static void test_claim__failure_without_hope_is_tried_at_ever_longer_pauses(void **state) {
    (void)state;
    rig_put(1, "x");
    size_t aim = refuse(rig_claim_statement(), FAULTS_PERMANENT, 0, 7);
    int64_t since = tpi_clock_mono_ms();
    rig_run(rig_pay);
    int64_t took = tpi_clock_mono_ms() - since;
    expect_number(faults_hits(aim), 7);
    expect_number(rig_told(TP_EVENT_ERROR), 7);
    rig_expect_paid(1);
    if (took < 5600) fail_msg("tried 7 times in %d ms", (int)took);
}

static tp_verdict await_extension(tp_run *run, void *arg) {
    const size_t *extensions = arg;
    (void)run;
    return faults_wait_seen(*extensions, 3) ? TP_RUN_DONE : TP_RUN_FAILED;
}

static void test_keeper__tells_of_an_extension_that_fails_and_tries_on(void **state) {
    (void)state;
    tp_worker_options o = rig_options();
    o.lease_ms = 3000;
    rig_put(1, "x");
    size_t aim = refuse("settle_extend", FAULTS_PERMANENT, 0, 1);
    tp_worker *worker = rig_open(&o, await_extension, &aim);
    must(tp_worker_start(worker));
    rig_finish(worker);
    expect_number(faults_hits(aim), 1);
    expect_number(rig_told(TP_EVENT_ERROR), 1);
    rig_expect(0, 1, 0);
    expect_number(rig_failures("finished"), 0);
}

struct extensions {
    size_t many, single; /* aims */
    int alone;           /* how many were extended alone while all were held */
};

/* One thread, so that the others wait in the queue. */
static tp_verdict await_all_extended(tp_run *run, void *arg) {
    struct extensions *extensions = arg;
    (void)run;
    if (extensions->alone >= 0) return TP_RUN_DONE;
    bool seen = faults_wait_seen(extensions->many, 3);
    extensions->alone = faults_seen(extensions->single);
    return seen ? TP_RUN_DONE : TP_RUN_FAILED;
}

static int extended_alone(void) {
    tp_worker_options o = rig_options();
    o.threads = 1;
    o.batch = 40;
    o.lease_ms = 3000;
    rig_put(40, "x");
    struct extensions extensions = {.many = refuse("settle_extend_many", FAULTS_LOCKED, 0, 1), .alone = -1};
    extensions.single = faults_add((struct faults_aim){.statement = "settle_extend"});
    tp_worker *worker = rig_open(&o, await_all_extended, &extensions);
    must(tp_worker_start(worker));
    rig_finish(worker);
    expect_number(faults_hits(extensions.many), 1);
    faults_clear();
    return extensions.alone;
}

static void test_keeper__extends_many_in_smaller_calls_when_one_call_does_not_get_through(void **state) {
    enum { TRIES = 10 };
    int alone = 1, tries = 0;
    (void)state;
    /* On a busy machine a task's extension may fall due alone, but not each time. */
    while (alone && tries++ < TRIES) {
        alone = extended_alone();
        rig_expect(0, 40 * tries, 0);
        expect_number(rig_failures("finished"), 0);
    }
    expect_number(alone, 0);
}

/* Of many tasks some are always settled while the others are extended. */
static void test_extend_many__is_written_once_though_one_of_them_was_settled_meanwhile(void **state) {
    (void)state;
    enum { TASKS = 520 };
    tp_conn *conn = NULL;
    tp_batch *batch = NULL;
    tp_claim_request request = TP_CLAIM_INIT;
    const char *handler = pool.handler;
    const tp_task *tasks[TASKS];
    tp_status answers[TASKS];
    rig_put(TASKS, "x");
    must(tp_test_advance(pool.a, 2000)); /* clocks of whole seconds differ */
    must(tp_conn_open(pool.env, &conn));
    request.handlers = &handler;
    request.handler_count = 1;
    request.limit = TASKS;
    request.lease_ms = 60000;
    must(tp_claim(conn, &request, &batch));
    assert_int_equal(tp_batch_count(batch), TASKS);
    for (size_t i = 0; i < TASKS; i++)
        tasks[i] = tp_batch_task(batch, i);
    must(tp_complete(conn, tasks[7]));
    size_t many = faults_add((struct faults_aim){.statement = "settle_extend_many"});
    size_t one = faults_add((struct faults_aim){.statement = "settle_extend"});
    assert_int_equal(tpi_extend_many(conn, tasks, TASKS, 60000, answers), TP_LOST);
    for (size_t i = 0; i < TASKS; i++)
        expect_number(answers[i], i == 7 ? TP_LOST : TP_OK);
    expect_number(faults_seen(many), 2);
    expect_number(faults_seen(one), 0);
    tp_batch_free(batch);
    tp_conn_close(conn);
}

/* Once the lease is extended, nobody gets a connection any more for a while. */
static tp_verdict refuse_settler(tp_run *run, void *arg) {
    const size_t *extensions = arg;
    (void)run;
    if (!faults_wait_seen(*extensions, 1)) return TP_RUN_FAILED;
    if (atomic_fetch_add(&rig.runs, 1) == 0)
        faults_add((struct faults_aim){
            .function = "SQLDriverConnect", .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_REFUSED, .times = 5});
    return TP_RUN_DONE;
}

static void test_settle__that_gets_no_connection_keeps_the_lease_until_it_does(void **state) {
    (void)state;
    tp_worker_options o = rig_options();
    o.lease_ms = 3000;
    rig_put(1, "x");
    size_t extensions = faults_add((struct faults_aim){.statement = "settle_extend"});
    tp_worker *worker = rig_open(&o, refuse_settler, &extensions);
    must(tp_worker_start(worker));
    rig_finish(worker);
    expect_number(atomic_load(&rig.runs), 1);
    expect_number(rig_told(TP_EVENT_OFFLINE), 1);
    expect_number(rig_told(TP_EVENT_LOST), 0);
    rig_expect(0, 1, 0);
    expect_number(rig_failures("finished"), 0);
}

/* More than are looked at one by one: the others go together again. */
static void test_settle__of_a_group_that_a_lock_holds_up_stays_a_group(void **state) {
    (void)state;
    tp_worker_options o = rig_options();
    o.threads = 1;
    o.batch = 40;
    o.settle_ms = 200;
    rig_put(40, "x");
    size_t many = refuse("move_finished_many", FAULTS_LOCKED, 0, 1);
    size_t single = refuse("move_finished", FAULTS_LOCKED, 0, 3);
    tp_worker *worker = rig_start(&o, rig_wait);
    assert_true(gate_wait_arrived(&rig.gate, 1));
    assert_true(watch_wait(&rig.watch, TP_EVENT_CLAIMED, 40));
    gate_open(&rig.gate);
    rig_finish(worker);
    expect_number(faults_hits(many), 1);
    expect_number(faults_hits(single), 3);
    if (faults_seen(single) > 8) fail_msg("%d were settled alone", faults_seen(single));
    expect_number(atomic_load(&rig.runs), 40);
    rig_expect(0, 40, 0);
    expect_number(rig_failures("finished"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RIG_TEST(test_transaction__is_run_again_after_a_deadlock),
        RIG_TEST(test_transaction__is_run_again_when_a_lock_does_not_come),
        RIG_TEST(test_commit__that_fails_on_a_conflict_runs_the_handler_again),
        RIG_TEST(test_transaction__that_always_deadlocks_is_a_failure_after_three_runs),
        RIG_TEST(test_transaction__whose_lock_never_comes_is_a_failure_after_three_runs),
        RIG_TEST(test_settle__waits_for_a_lock_without_running_the_handler_again),
        RIG_TEST(test_claim__tells_of_locks_that_do_not_go_away_and_tries_on),
        RIG_TEST(test_settle__waits_for_room_on_a_full_disk),
        RIG_TEST(test_settle__failure_without_hope_takes_the_effect_of_its_transaction_with_it),
        RIG_TEST(test_claim__failure_without_hope_is_told_each_time_and_tried_on),
        RIG_TEST(test_claim__failure_without_hope_is_tried_at_ever_longer_pauses),
        RIG_TEST(test_keeper__tells_of_an_extension_that_fails_and_tries_on),
        RIG_TEST(test_keeper__extends_many_in_smaller_calls_when_one_call_does_not_get_through),
        RIG_TEST(test_extend_many__is_written_once_though_one_of_them_was_settled_meanwhile),
        RIG_TEST(test_settle__that_gets_no_connection_keeps_the_lease_until_it_does),
        RIG_TEST(test_settle__of_a_group_that_a_lock_holds_up_stays_a_group),
    };
    rig_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rig_end();
    return failed;
}
