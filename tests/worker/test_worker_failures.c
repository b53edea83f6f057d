/* A worker whose statements fail while the connection lives: deadlocks and locks, which pass when the
 * transaction is done again, and failures that never pass, which must be told and must not lose a task. */
#include "ops/for_workers.h"
#include "worker/rig.h"

#include "base/clock.h"

static void pay_past(const char *statement, enum faults_kind kind) {
    faults_refuse(statement, kind, 1, 2);
    rig_run(3, rig_pay);
    rig_expect_paid(3, .runs = 5, .done = 3, .offline = 0, .errors = 0, .hits = 2);
}

TEST_AS(test_transaction__is_run_again_after_a_deadlock, pay_past("move_finished", FAULTS_CONFLICT))
TEST_AS(test_transaction__is_run_again_when_a_lock_does_not_come, pay_past("move_finished", FAULTS_LOCKED))

TEST(test_commit__that_fails_on_a_conflict_runs_the_handler_again) {
    struct faults_aim commit = rig_aim_at_settle("move_finished");
    commit.statement = "commit";
    if (!commit.after) commit.after = "move_finished";
    faults_refuse_at(commit, FAULTS_CONFLICT, 1, 2);
    rig_run(3, rig_pay);
    rig_expect_paid(3, .runs = 5, .hits = 2);
}

static void give_up_after_three(enum faults_kind kind) {
    faults_refuse("move_finished", kind, 0, 1000);
    rig_run_with(1, rig_pay, .retry = &rig_no_retries);
    rig_expect(0, 0, 1, .failures = 1, .effects = 0, .runs = 3, .gave_up = 1, .hits = 3);
}

/* ODBC has one state for all that takes too long. */
static void expect_locked(const char *text) {
    assert_true(strstr(text, "locked") || strstr(text, "no answer in time"));
}

TEST(test_transaction__that_always_deadlocks_is_a_failure_after_three_runs) {
    give_up_after_three(FAULTS_CONFLICT);
    rig_expect_told(TP_EVENT_GAVE_UP, "got in the way");
}

TEST(test_transaction__whose_lock_never_comes_is_a_failure_after_three_runs) {
    give_up_after_three(FAULTS_LOCKED);
    expect_locked(rig.watch.texts[TP_EVENT_GAVE_UP]);
}

TEST(test_settle__waits_for_a_lock_without_running_the_handler_again) {
    faults_refuse("move_finished", FAULTS_LOCKED, 0, 4);
    rig_run_with(3, rig_done, .settle_count = 1);
    rig_expect(0, 3, 0, .failures = 0, .runs = 3, .hits = 4);
}

TEST(test_claim__tells_of_locks_that_do_not_go_away_and_tries_on) {
    faults_refuse(rig_claim_statement(), FAULTS_LOCKED, 0, 5);
    rig_run(3, rig_pay);
    rig_expect_paid(3, .errors = 1, .hits = 5);
    expect_locked(rig.watch.texts[TP_EVENT_ERROR]);
}

/* Written as the task's failure it would be done twice. */
TEST(test_settle__waits_for_room_on_a_full_disk) {
    if (strcmp(pool_driver()->name, "any") == 0) skip(); /* ODBC has no state for it */
    faults_refuse("move_finished", FAULTS_FULL, 0, 6);
    rig_run(1, rig_done);
    rig_expect(0, 1, 0, .failures = 0, .runs = 1, .retried = 0, .errors = 1 /* not for each try */,
               .hits = 6);
}

TEST(test_settle__failure_that_is_not_retryable_takes_the_effect_of_its_transaction_with_it) {
    faults_refuse("move_finished", FAULTS_PERMANENT, 0, 1);
    rig_run(1, rig_pay);
    rig_expect(0, 1, 0, .failures = 1, .effects = 1, .retried = 1, .errors = 1);
}

TEST(test_claim__failure_that_is_not_retryable_is_told_each_time_and_tried_on) {
    faults_refuse(rig_claim_statement(), FAULTS_NO_TABLE, 0, 3);
    rig_run(3, rig_pay);
    rig_expect_paid(3, .offline = 0, .errors = 3, .hits = 3);
}

/* With pauses of a second at most, as for what passes, it would take 4.5 s at most. */
TEST(test_claim__failure_that_is_not_retryable_is_tried_at_ever_longer_pauses) {
    faults_refuse(rig_claim_statement(), FAULTS_PERMANENT, 0, 7);
    int64_t since = tpi_clock_mono_ms();
    rig_run(1, rig_pay);
    int64_t took = tpi_clock_mono_ms() - since;
    rig_expect_paid(1, .errors = 7, .hits = 7);
    if (took < 5600) fail_msg("tried 7 times in %d ms", (int)took);
}

HANDLER(await_extension) {
    const size_t *extensions = arg;
    return faults_wait_seen(*extensions, 3) ? TP_RUN_DONE : TP_RUN_FAILED;
}

TEST(test_lease_renewer__tells_of_an_extension_that_fails_and_tries_on) {
    size_t aim = faults_refuse("settle_extend", FAULTS_PERMANENT, 0, 1);
    rig.arg = &aim;
    rig_extend_often();
    rig_run(1, await_extension);
    expect_number(faults_hits(aim), 1);
    rig_expect(0, 1, 0, .failures = 0, .errors = 1);
}

struct extensions {
    size_t many, single; /* aims */
    int alone;           /* how many were extended alone while all were held */
};

/* One thread, so that the others wait in the queue. */
HANDLER(await_all_extended) {
    struct extensions *extensions = arg;
    if (extensions->alone >= 0) return TP_RUN_DONE;
    bool seen = faults_wait_seen(extensions->many, 3);
    extensions->alone = faults_seen(extensions->single);
    return seen ? TP_RUN_DONE : TP_RUN_FAILED;
}

static int extended_alone(void) {
    struct extensions extensions = {.many = faults_refuse("settle_extend_many", FAULTS_LOCKED, 0, 1),
                                    .alone = -1};
    extensions.single = faults_count("settle_extend");
    rig.arg = &extensions;
    rig_extend_often();
    rig_run_with(40, await_all_extended, .threads = 1, .batch = 40);
    expect_number(faults_hits(extensions.many), 1);
    faults_clear();
    return extensions.alone;
}

TEST(test_lease_renewer__extends_many_in_smaller_calls_when_one_call_does_not_get_through) {
    enum { TRIES = 10 };
    int alone = 1, tries = 0;
    /* On a busy machine a task's extension may fall due alone, but not each time. */
    while (alone && tries++ < TRIES) {
        alone = extended_alone();
        rig_expect(0, 40 * tries, 0, .failures = 0);
    }
    expect_number(alone, 0);
}

/* Of many tasks some are always settled while the others are extended. */
TEST(test_extend_many__is_written_once_though_one_of_them_was_settled_meanwhile) {
    enum { TASKS = 520 };
    tp_conn *conn = NULL;
    const tp_task *tasks[TASKS];
    tp_status answers[TASKS];
    rig_put(TASKS, "x");
    must(rig_advance(pool.a, 2000)); /* clocks of whole seconds differ */
    must(tp_conn_open(pool.env, &conn));
    tp_batch *batch = rig_claim(conn, TASKS);
    assert_int_equal(tp_batch_count(batch), TASKS);
    for (size_t i = 0; i < TASKS; i++)
        tasks[i] = tp_batch_task(batch, i);
    must(tp_complete(conn, tasks[7]));
    size_t many = faults_count("settle_extend_many");
    size_t one = faults_count("settle_extend");
    assert_int_equal(tpi_extend_many(conn, tasks, TASKS, 60000, answers), TP_LOST);
    for (size_t i = 0; i < TASKS; i++)
        expect_number(answers[i], i == 7 ? TP_LOST : TP_OK);
    expect_number(faults_seen(many), 2);
    expect_number(faults_seen(one), 0);
    tp_batch_free(batch);
    tp_conn_close(conn);
}

/* Once the lease is extended, nobody gets a connection any more for a while. */
HANDLER(refuse_completer) {
    const size_t *extensions = arg;
    if (!faults_wait_seen(*extensions, 1)) return TP_RUN_FAILED;
    if (atomic_fetch_add(&rig.runs, 1) == 0)
        faults_at(.function = "SQLDriverConnect", .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_REFUSED,
                  .times = 5);
    return TP_RUN_DONE;
}

TEST(test_settle__that_gets_no_connection_keeps_the_lease_until_it_does) {
    size_t extensions = faults_count("settle_extend");
    rig.arg = &extensions;
    rig_look_for_no_cancels();
    rig_extend_often();
    rig_run(1, refuse_completer);
    rig_expect(0, 1, 0, .failures = 0, .runs = 1, .lost = 0, .offline = 1);
}

/* More than are looked at one by one: the others go together again. */
TEST(test_settle__of_a_group_that_a_lock_holds_up_stays_a_group) {
    size_t many = faults_refuse("move_finished_many", FAULTS_LOCKED, 0, 1);
    size_t single = faults_refuse("move_finished", FAULTS_LOCKED, 0, 3);
    tp_worker *worker =
        rig_start_with(40, rig_wait, .drain = 1, .threads = 1, .batch = 40, .settle_ms = 20000);
    rig_await_arrived(1);
    rig_await(TP_EVENT_CLAIMED, 40);
    rig_let_finish(worker);
    expect_number(faults_hits(many), 1);
    expect_number(faults_hits(single), 3);
    if (faults_seen(single) > 8) fail_msg("%d were settled alone", faults_seen(single));
    rig_expect(0, 40, 0, .failures = 0, .runs = 40);
}
