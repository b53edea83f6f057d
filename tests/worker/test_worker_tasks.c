/* What a worker does with its tasks when nothing goes wrong with the database. Lost connections are in
 * test_worker_outages.c, other failures in test_worker_failures.c, its life in test_worker_life.c. */
#include "ops/for_workers.h"
#include "worker/rig.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int64_t three_delays[] = {1, 5, 20};
static const tp_retry three = {.size = sizeof(tp_retry), .delays_ms = three_delays, .count = 3};

static void run_with_three(tp_handler_fn fn) {
    tp_worker_options o = rig_options();
    o.retry = &three;
    rig_finish(rig_start(&o, fn));
}

static void test_worker__runs_every_task_once_on_several_threads(void **state) {
    (void)state;
    rig_put(60, "x");
    rig_run(rig_done);
    rig_expect(0, 60, 0);
    expect_number(atomic_load(&rig.runs), 60);
    expect_number(rig_told(TP_EVENT_DONE), 60);
}

static void test_transaction__effect_and_settle_commit_together(void **state) {
    (void)state;
    rig_put(30, "x");
    rig_run(rig_pay);
    rig_expect_paid(30);
}

static tp_verdict pay_at_the_third_try(tp_run *run, void *arg) {
    (void)arg;
    tp_verdict verdict = rig_effect(run, tp_run_task(run)->failures < 2 ? TP_RUN_FAILED : TP_RUN_DONE);
    if (verdict == TP_RUN_FAILED) tp_run_reason(run, "bank closed");
    return verdict;
}

static void test_fail__takes_the_effect_back_and_retries_by_the_ladder(void **state) {
    (void)state;
    rig_put(3, "x");
    run_with_three(pay_at_the_third_try);
    rig_expect(0, 3, 0);
    expect_number(rig_effects(), 3);
    expect_number(rig_failures("finished"), 6);
    expect_number(rig_told(TP_EVENT_RETRY), 6);
    assert_string_equal(rig.watch.texts[TP_EVENT_RETRY], "bank closed");
}

static void test_fail__gives_up_after_the_ladder_and_tells(void **state) {
    (void)state;
    rig_put(2, "x");
    run_with_three(rig_fail);
    rig_expect(0, 0, 2);
    expect_number(rig_failures("failed"), 8);
    expect_number(rig_told(TP_EVENT_GAVE_UP), 2);
    assert_string_equal(rig.watch.texts[TP_EVENT_GAVE_UP], "no money");
}

static tp_verdict fail_at_length(tp_run *run, void *arg) {
    char reason[2001];
    (void)arg;
    reason[0] = 'a'; /* so that the limit falls inside a character */
    for (size_t i = 1; i + 1 < sizeof reason; i += 2)
        memcpy(reason + i, "\xc3\xa9", 2);
    reason[sizeof reason - 2] = '\0';
    tp_run_reason(run, reason);
    return TP_RUN_FAILED;
}

static void test_fail__cuts_an_oversized_reason_between_characters(void **state) {
    (void)state;
    const tp_retry none = {.size = sizeof(tp_retry), .delays_ms = NULL, .count = 0};
    tp_worker_options o = rig_options();
    tp_list_request request = TP_LIST_INIT;
    tp_batch *batch = NULL;
    o.retry = &none;
    rig_put(1, "x");
    rig_finish(rig_start(&o, fail_at_length));
    request.pool = "failed";
    request.handler = pool.handler;
    must(tp_list(pool.eye, &request, &batch));
    const char *reason = tp_batch_task(batch, 0)->reason;
    expect_number(strlen(reason), TP_REASON_MAX - 1);
    assert_string_equal(reason + TP_REASON_MAX - 3, "\xc3\xa9");
    tp_batch_free(batch);
}

static tp_verdict answer_nonsense(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    return (tp_verdict)9;
}

static void test_verdict__that_is_none_is_a_failure_and_says_so(void **state) {
    (void)state;
    const tp_retry none = {.size = sizeof(tp_retry), .delays_ms = NULL, .count = 0};
    tp_worker_options o = rig_options();
    o.retry = &none;
    rig_put(1, "x");
    rig_finish(rig_start(&o, answer_nonsense));
    rig_expect(0, 0, 1);
    assert_non_null(strstr(rig.watch.texts[TP_EVENT_GAVE_UP], "returned 9"));
}

static tp_verdict skip_after_effect(tp_run *run, void *arg) {
    (void)arg;
    tp_run_reason(run, "left the company");
    return rig_effect(run, TP_RUN_SKIPPED);
}

static void test_skip__finishes_with_its_reason_and_its_effect(void **state) {
    (void)state;
    rig_put(2, "x");
    rig_run(skip_after_effect);
    rig_expect(0, 2, 0);
    expect_number(rig_count_state("finished", "skipped"), 2);
    expect_number(rig_effects(), 2);
    expect_number(rig_told(TP_EVENT_SKIPPED), 2);
    assert_string_equal(rig.watch.texts[TP_EVENT_SKIPPED], "left the company");
}

static tp_verdict later_then_done(tp_run *run, void *arg) {
    (void)arg;
    tp_run_delay(run, 5);
    return rig_effect(run, atomic_fetch_add(&rig.runs, 1) ? TP_RUN_DONE : TP_RUN_LATER);
}

static void test_later__puts_back_without_a_failure_and_without_the_effect(void **state) {
    (void)state;
    rig_put(1, "x");
    rig_run(later_then_done);
    rig_expect_paid(1);
    expect_number(rig_told(TP_EVENT_RELEASED), 1);
}

static tp_verdict check_params(tp_run *run, void *arg) {
    const char *params = NULL;
    size_t length = 0;
    (void)arg;
    if (tp_run_params(run, &params, &length) != TP_OK) return TP_RUN_FAILED;
    int whole = length == TP_PARAMS_MAX && strspn(params, "y") == length;
    return whole ? rig_effect(run, TP_RUN_DONE) : TP_RUN_FAILED;
}

static void test_params__of_one_mebibyte_reach_the_handler(void **state) {
    (void)state;
    char *params = malloc(TP_PARAMS_MAX + 1);
    assert_non_null(params);
    memset(params, 'y', TP_PARAMS_MAX);
    params[TP_PARAMS_MAX] = '\0';
    for (int i = 0; i < 4; i++)
        rig_put(1, params);
    free(params);
    rig_run(check_params);
    rig_expect_paid(4);
}

static tp_verdict stop_the_worker(tp_run *run, void *arg) {
    (void)arg;
    tp_worker_stop(rig.watch.stop_at);
    return tp_run_should_stop(run) ? TP_RUN_DONE : TP_RUN_FAILED;
}

static void test_stop__from_a_handler_settles_that_handlers_task(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    o.threads = 1;
    rig_put(3, "x");
    tp_worker *worker = rig_open(&o, stop_the_worker, NULL);
    rig.watch.stop_at = worker;
    rig.watch.stop_on = TP_EVENT_ERROR;
    must(tp_worker_start(worker));
    rig_finish(worker);
    rig_expect(2, 1, 0);
    expect_number(rig_failures("pending"), 0);
}

static void test_stop__releases_queued_tasks_without_a_failure(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    o.threads = 2;
    rig_put(6, "x");
    tp_worker *worker = rig_start(&o, rig_wait);
    assert_true(gate_wait_arrived(&rig.gate, 2));
    tp_worker_stop(worker);
    assert_true(watch_wait(&rig.watch, TP_EVENT_RELEASED, 4));
    gate_open(&rig.gate);
    rig_finish(worker);
    rig_expect(4, 2, 0);
    expect_number(rig_failures("pending"), 0);
    o.drain = 1;
    rig_finish(rig_start(&o, rig_wait)); /* and they are claimable at once */
    rig_expect(0, 6, 0);
}

/* Longer than two leases: what is shown is that time passes and nothing happens. */
static tp_verdict outlast_two_leases(tp_run *run, void *arg) {
    struct timespec pause = {.tv_sec = 7};
    (void)arg;
    nanosleep(&pause, NULL);
    return rig_effect(run, TP_RUN_DONE);
}

static void test_lease__is_extended_while_a_handler_outlasts_it(void **state) {
    (void)state;
    tp_worker_options o = rig_options();
    o.lease_ms = 3000;
    rig_put(2, "x");
    tp_worker *one = rig_start(&o, outlast_two_leases);
    tp_worker *other = rig_start(&o, outlast_two_leases); /* takes what lapses */
    rig_finish(one);
    rig_finish(other);
    expect_number(rig_told(TP_EVENT_LOST), 0);
    rig_expect_paid(2);
}

static tp_verdict be_robbed(tp_run *run, void *arg) {
    (void)arg;
    return rig_steal(tp_run_task(run)) ? rig_effect(run, TP_RUN_DONE) : TP_RUN_FAILED;
}

static void test_lost__claim_takes_the_effect_with_it(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    rig_put(1, "x");
    tp_worker *worker = rig_start(&o, be_robbed);
    assert_true(watch_wait(&rig.watch, TP_EVENT_LOST, 1));
    tp_worker_stop(worker);
    rig_finish(worker);
    rig_expect(1, 0, 0);
    expect_number(rig_effects(), 0);
    expect_number(rig_told(TP_EVENT_LOST), 1);
    expect_number(rig_told(TP_EVENT_DONE), 0);
}

/* A transaction would keep the thief out of a database with one writer, so it begins after the theft. */
static tp_verdict notice_the_theft(tp_run *run, void *arg) {
    (void)arg;
    if (!rig_steal(tp_run_task(run))) return TP_RUN_FAILED;
    bool told = watch_wait(&rig.watch, TP_EVENT_LOST, 1) && tp_run_should_stop(run);
    return told ? rig_effect(run, TP_RUN_DONE) : TP_RUN_FAILED;
}

static void test_keeper__tells_a_handler_that_its_claim_is_lost(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    o.lease_ms = 3000;
    rig_put(1, "x");
    tp_worker *worker = rig_start(&o, notice_the_theft);
    assert_true(watch_wait(&rig.watch, TP_EVENT_LOST, 1));
    tp_worker_stop(worker);
    rig_finish(worker);
    expect_number(rig_told(TP_EVENT_LOST), 1);
    expect_number(rig_told(TP_EVENT_DONE) + rig_told(TP_EVENT_RETRY), 0);
    expect_number(rig_effects(), 0);
}

static void test_events__are_told_one_at_a_time_and_claimed_first(void **state) {
    (void)state;
    tp_worker_options o = rig_options();
    o.threads = 8;
    o.batch = 50;
    rig_put(300, "x");
    rig_finish(rig_start(&o, rig_done));
    expect_number(rig_told(TP_EVENT_CLAIMED), 300);
    expect_number(rig_told(TP_EVENT_DONE), 300);
    expect_number(rig.watch.known_count, 300);
    expect_number(rig.watch.early, 0);
    expect_number(atomic_load(&rig.watch.overlaps), 0);
}

static void test_drain__ends_at_once_when_nothing_is_there(void **state) {
    (void)state;
    rig_run(rig_done);
    expect_number(rig_told(TP_EVENT_CLAIMED), 0);
    expect_number(rig_told(TP_EVENT_ERROR), 0);
}

static void test_drain__waits_for_tasks_that_are_not_due_yet(void **state) {
    (void)state;
    const tp_retry one = {.size = sizeof(tp_retry), .delays_ms = (const int64_t[]){300}, .count = 1};
    tp_worker_options o = rig_options();
    o.retry = &one;
    rig_put(2, "x");
    rig_finish(rig_start(&o, rig_fail));
    rig_expect(0, 0, 2);
    expect_number(rig_failures("failed"), 4);
    expect_number(rig_told(TP_EVENT_RETRY), 2);
    expect_number(rig_told(TP_EVENT_GAVE_UP), 2);
}

static void test_drain__waits_for_tasks_that_another_worker_holds(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    rig_put(2, "x");
    tp_worker *holder = rig_start(&o, rig_wait);
    assert_true(gate_wait_arrived(&rig.gate, 2));
    size_t looks = faults_add((struct faults_aim){.statement = "claim_lanes"});
    o.drain = 1;
    tp_worker *drainer = rig_start(&o, rig_done);
    assert_true(faults_wait_seen(looks, 6));
    rig_expect(2, 0, 0);
    gate_open(&rig.gate);
    rig_finish(drainer);
    rig_expect(0, 2, 0);
    expect_number(atomic_load(&rig.runs), 2); /* none by the one that drained */
    tp_worker_stop(holder);
    rig_finish(holder);
}

static void test_drain__does_not_wait_for_tasks_of_other_handlers(void **state) {
    (void)state;
    const char first = pool.handler[0];
    rig_put(2, "x");
    pool.handler[0] = 'z'; /* another name */
    rig_put(2, "x");
    rig_run(rig_done);
    rig_expect(0, 2, 0);
    pool.handler[0] = first;
    rig_expect(2, 0, 0);
}

/* ---- Counters ------------------------------------------------------------------------------------------ */

static bool is_statement(const struct tpi_link *link, const char *function) {
    (void)link;
    return strcmp(function, "SQLExecute") == 0 || strcmp(function, "SQLExecDirect") == 0;
}

static void test_counters__are_of_all_connections_of_the_worker_lost_ones_too(void **state) {
    (void)state;
    size_t statements = faults_add((struct faults_aim){.fits = is_statement});
    size_t settles = faults_add((struct faults_aim){
        .statement = "commit", .skip = 3, .times = 1, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_DEAD});
    tp_worker_options o = rig_options();
    tp_counters counters = TP_COUNTERS_INIT;
    /* Its claims that find nothing end in a commit after the last answer. */
    if (tpi_plan_check(pool.a, "hold") == TP_OK) o.plan = "hold";
    rig_put(30, "x");
    tp_worker *worker = rig_start(&o, rig_pay);
    must(tp_worker_join(worker));
    must(tp_worker_counters(worker, &counters));
    rig_finish(worker);
    rig_expect_paid(30);
    expect_number(faults_hits(settles), 1);
    expect_number((int)counters.statements, faults_seen(statements));
    if (counters.commits < 30) fail_msg("%d commits of 30 tasks, each its own", (int)counters.commits);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RIG_TEST(test_worker__runs_every_task_once_on_several_threads),
        RIG_TEST(test_transaction__effect_and_settle_commit_together),
        RIG_TEST(test_fail__takes_the_effect_back_and_retries_by_the_ladder),
        RIG_TEST(test_fail__gives_up_after_the_ladder_and_tells),
        RIG_TEST(test_fail__cuts_an_oversized_reason_between_characters),
        RIG_TEST(test_verdict__that_is_none_is_a_failure_and_says_so),
        RIG_TEST(test_skip__finishes_with_its_reason_and_its_effect),
        RIG_TEST(test_later__puts_back_without_a_failure_and_without_the_effect),
        RIG_TEST(test_params__of_one_mebibyte_reach_the_handler),
        RIG_TEST(test_stop__from_a_handler_settles_that_handlers_task),
        RIG_TEST(test_stop__releases_queued_tasks_without_a_failure),
        RIG_TEST(test_lease__is_extended_while_a_handler_outlasts_it),
        RIG_TEST(test_lost__claim_takes_the_effect_with_it),
        RIG_TEST(test_keeper__tells_a_handler_that_its_claim_is_lost),
        RIG_TEST(test_events__are_told_one_at_a_time_and_claimed_first),
        RIG_TEST(test_drain__ends_at_once_when_nothing_is_there),
        RIG_TEST(test_drain__waits_for_tasks_that_are_not_due_yet),
        RIG_TEST(test_drain__waits_for_tasks_that_another_worker_holds),
        RIG_TEST(test_drain__does_not_wait_for_tasks_of_other_handlers),
        RIG_TEST(test_counters__are_of_all_connections_of_the_worker_lost_ones_too),
    };
    rig_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rig_end();
    return failed;
}
