/* What a worker does with its tasks when nothing goes wrong with the database. Lost connections are in
 * test_worker_outages.c, other failures in test_worker_failures.c, its life in test_worker_life.c. */
#include "ops/for_workers.h"
#include "worker/rig.h"

TEST(test_worker__runs_every_task_once_on_several_threads) {
    rig_run(60, rig_done);
    rig_expect(0, 60, 0, .runs = 60, .done = 60);
}

TEST(test_transaction__effect_and_settle_commit_together) {
    rig_run(30, rig_pay);
    rig_expect_paid(30);
}

HANDLER(pay_at_the_third_try) {
    tp_verdict verdict = rig_effect(run, tp_run_task(run)->failures < 2 ? TP_RUN_FAILED : TP_RUN_DONE);
    if (verdict == TP_RUN_FAILED) tp_run_reason(run, "bank closed");
    return verdict;
}

TEST(test_fail__takes_the_effect_back_and_retries_by_the_ladder) {
    rig_run_with(3, pay_at_the_third_try, .retry = RIG_DELAYS(1, 5, 20));
    rig_expect(0, 3, 0, .failures = 6, .effects = 3, .retried = 6);
    assert_string_equal(rig.watch.texts[TP_EVENT_RETRY], "bank closed");
}

TEST(test_fail__gives_up_after_the_ladder_and_tells) {
    rig_run_with(2, rig_fail, .retry = RIG_DELAYS(1, 5, 20));
    rig_expect(0, 0, 2, .failures = 8, .gave_up = 2);
    assert_string_equal(rig.watch.texts[TP_EVENT_GAVE_UP], "no money");
}

HANDLER(fail_at_length) {
    char reason[2001];
    reason[0] = 'a'; /* so that the limit falls inside a character */
    for (size_t i = 1; i + 1 < sizeof reason; i += 2)
        memcpy(reason + i, "\xc3\xa9", 2);
    reason[sizeof reason - 2] = '\0';
    tp_run_reason(run, reason);
    return TP_RUN_FAILED;
}

TEST(test_fail__cuts_an_oversized_reason_between_characters) {
    tp_list_request request = TP_LIST_INIT;
    tp_batch *batch = NULL;
    rig_run_with(1, fail_at_length, .retry = &rig_no_retries);
    request.pool = "failed";
    request.handler = pool.handler;
    must(tp_list(pool.eye, &request, &batch));
    const char *reason = tp_batch_task(batch, 0)->reason;
    expect_number(strlen(reason), TP_REASON_MAX - 1);
    assert_string_equal(reason + TP_REASON_MAX - 3, "\xc3\xa9");
    tp_batch_free(batch);
}

HANDLER(answer_nonsense) {
    return (tp_verdict)9;
}

TEST(test_verdict__that_is_none_is_a_failure_and_says_so) {
    rig_run_with(1, answer_nonsense, .retry = &rig_no_retries);
    rig_expect(0, 0, 1);
    rig_expect_told(TP_EVENT_GAVE_UP, "returned 9");
}

HANDLER(skip_after_effect) {
    tp_run_reason(run, "left the company");
    return rig_effect(run, TP_RUN_SKIPPED);
}

TEST(test_skip__finishes_with_its_reason_and_its_effect) {
    rig_run(2, skip_after_effect);
    rig_expect(0, 2, 0, .effects = 2, .skipped = 2);
    expect_number(rig_count_state("finished", "skipped"), 2);
    assert_string_equal(rig.watch.texts[TP_EVENT_SKIPPED], "left the company");
}

/* How many of the three were refused. */
static int end_the_transaction(tp_run *run) {
    tp_conn *conn = NULL;
    if (tp_run_conn(run, &conn) != TP_OK) return 0;
    return (tp_commit(conn) == TP_MISUSE) + (tp_rollback(conn) == TP_MISUSE) +
           (tp_conn_reopen(conn) == TP_MISUSE);
}

/* The first time it fails, when it has paid and tried to commit that. */
HANDLER(pay_and_commit) {
    tp_verdict verdict = rig_effect(run, TP_RUN_DONE);
    if (end_the_transaction(run) != 3) tp_run_reason(run, "it could end the transaction");
    return atomic_fetch_add(&rig.runs, 1) ? verdict : TP_RUN_FAILED;
}

TEST(test_transaction__is_not_the_handlers_to_end) {
    rig_run(1, pay_and_commit);
    rig_expect(0, 1, 0, .failures = 1, .effects = 1);
    expect_number(rig_count_where("history", "reason = 'it could end the transaction'"), 0);
    if (!pool_plan_possible("hold")) return;
    atomic_store(&rig.runs, 0);
    rig_run_with(1, pay_and_commit, .plan = "hold", .threads = 1);
    rig_expect(0, 2, 0, .failures = 2, .effects = 2);
}

HANDLER(later_then_done) {
    tp_run_delay(run, 5);
    return rig_effect(run, atomic_fetch_add(&rig.runs, 1) ? TP_RUN_DONE : TP_RUN_LATER);
}

TEST(test_later__puts_back_without_a_failure_and_without_the_effect) {
    rig_run(1, later_then_done);
    rig_expect_paid(1, .released = 1);
}

HANDLER(check_params) {
    const char *params = NULL;
    size_t length = 0;
    if (tp_run_params(run, &params, &length) != TP_OK) return TP_RUN_FAILED;
    int whole = length == TP_PARAMS_MAX && strspn(params, "y") == length;
    return whole ? rig_effect(run, TP_RUN_DONE) : TP_RUN_FAILED;
}

TEST(test_params__of_one_mebibyte_reach_the_handler) {
    char *params = malloc(TP_PARAMS_MAX + 1);
    assert_non_null(params);
    memset(params, 'y', TP_PARAMS_MAX);
    params[TP_PARAMS_MAX] = '\0';
    for (int i = 0; i < 4; i++)
        rig_put(1, params);
    free(params);
    rig_run(0, check_params);
    rig_expect_paid(4);
}

HANDLER(stop_the_worker) {
    tp_worker_stop(rig.watch.stop_at);
    return tp_run_should_stop(run) ? TP_RUN_DONE : TP_RUN_FAILED;
}

TEST(test_stop__from_a_handler_settles_that_handlers_task) {
    rig_run_until(TP_EVENT_ERROR, 3, stop_the_worker, .threads = 1);
    rig_expect(2, 1, 0, .failures = 0);
}

TEST(test_stop__releases_queued_tasks_without_a_failure) {
    tp_worker *worker = rig_start_with(6, rig_wait, .threads = 2);
    rig_await_arrived(2);
    tp_worker_stop(worker);
    rig_await(TP_EVENT_RELEASED, 4);
    rig_let_finish(worker);
    rig_expect(4, 2, 0, .failures = 0);
    rig_run_with(0, rig_wait, .threads = 2); /* and they are claimable at once */
    rig_expect(0, 6, 0);
}

HANDLER(wait_and_pay) {
    gate_pass(&rig.gate);
    return rig_effect(run, TP_RUN_DONE);
}

static int64_t first_lapse(void) {
    return sql_number(pool.eye, "SELECT MIN(due_at) FROM tp_pending WHERE handler = '%s'", pool.handler);
}

/* Of each task, since the test asked last. A minute is the lease. */
static void await_extensions(void) {
    int64_t now = 0;
    must(tp_now(pool.a, &now));
    for (int i = 0; first_lapse() < now + 55000 && i < 30000; i++)
        rig_pause_10_ms();
    assert_true(first_lapse() >= now + 55000);
}

/* Another worker takes what lapses. */
TEST(test_lease__is_extended_while_a_handler_outlasts_it) {
    rig_extend_often();
    tp_worker *one = rig_start_with(2, wait_and_pay, .drain = 1);
    rig_await_arrived(2);
    tp_worker *other = rig_start_with(0, wait_and_pay, .drain = 1);
    for (int i = 0; i < 4; i++) {
        must(rig_advance(pool.b, 30000));
        await_extensions();
    }
    gate_open(&rig.gate);
    rig_finish(one);
    rig_finish(other);
    rig_expect_paid(2, .lost = 0);
}

HANDLER(be_robbed) {
    return rig_steal(tp_run_task(run)) ? rig_effect(run, TP_RUN_DONE) : TP_RUN_FAILED;
}

TEST(test_lost__claim_takes_the_effect_with_it) {
    tp_worker *worker = rig_start(1, be_robbed);
    rig_await(TP_EVENT_LOST, 1);
    rig_stop(worker);
    rig_expect(1, 0, 0, .effects = 0, .done = 0, .lost = 1);
}

/* A transaction would keep the thief out of a database with one writer, so it begins after the theft. */
HANDLER(notice_the_theft) {
    if (!rig_steal(tp_run_task(run))) return TP_RUN_FAILED;
    bool told = watch_wait(&rig.watch, TP_EVENT_LOST, 1) && tp_run_should_stop(run);
    return told ? rig_effect(run, TP_RUN_DONE) : TP_RUN_FAILED;
}

TEST(test_lease_renewer__tells_a_handler_that_its_claim_is_lost) {
    rig_extend_often();
    tp_worker *worker = rig_start(1, notice_the_theft);
    rig_await(TP_EVENT_LOST, 1);
    rig_stop(worker);
    rig_expect(.effects = 0, .done = 0, .retried = 0, .lost = 1);
}

TEST(test_events__are_told_one_at_a_time_and_claimed_first) {
    rig_run_with(300, rig_done, .threads = 8, .batch = 50);
    rig_expect(.claimed = 300, .done = 300);
    expect_number(rig.watch.known_count, 300);
    expect_number(rig.watch.early, 0);
    expect_number(atomic_load(&rig.watch.overlaps), 0);
}

TEST(test_drain__ends_at_once_when_nothing_is_there) {
    rig_run(0, rig_done);
    rig_expect(.claimed = 0, .errors = 0);
}

TEST(test_drain__waits_for_tasks_that_are_not_due_yet) {
    rig_run_with(2, rig_fail, .retry = RIG_DELAYS(300));
    rig_expect(0, 0, 2, .failures = 4, .retried = 2, .gave_up = 2);
}

TEST(test_drain__waits_for_tasks_that_another_worker_holds) {
    tp_worker *holder = rig_start(2, rig_wait);
    rig_await_arrived(2);
    size_t polls = faults_count("claim_lanes");
    tp_worker *drainer = rig_start_with(0, rig_done, .drain = 1);
    rig_await_seen(polls, 6);
    rig_expect(2, 0, 0);
    rig_let_finish(drainer);
    rig_expect(0, 2, 0, .runs = 2 /* none by the one that drained */);
    rig_stop(holder);
}

TEST(test_drain__does_not_wait_for_tasks_of_other_handlers) {
    const char first = pool.handler[0];
    rig_put(2, "x");
    pool.handler[0] = 'z'; /* another name */
    rig_run(2, rig_done);
    rig_expect(0, 2, 0);
    pool.handler[0] = first;
    rig_expect(2, 0, 0);
}

MEANS(is_statement) {
    return strcmp(function, "SQLExecute") == 0 || strcmp(function, "SQLExecDirect") == 0;
}

TEST(test_counters__are_of_all_connections_of_the_worker_lost_ones_too) {
    size_t statements = faults_at(.fits = is_statement);
    size_t settles = faults_refuse("commit", FAULTS_DEAD, 3, 1);
    tp_counters counters = TP_COUNTERS_INIT;
    /* Its claims that find nothing end in a commit after the last answer. */
    const char *plan = tpi_plan_check(pool.a, "hold") == TP_OK ? "hold" : NULL;
    tp_worker *worker = rig_start_with(30, rig_pay, .drain = 1, .plan = plan);
    must(tp_worker_join(worker));
    must(tp_worker_counters(worker, &counters));
    rig_finish(worker);
    rig_expect_paid(30);
    expect_number(faults_hits(settles), 1);
    expect_number((int)counters.statements, faults_seen(statements));
    if (counters.commits < 30) fail_msg("%d commits of 30 tasks, each its own", (int)counters.commits);
}
