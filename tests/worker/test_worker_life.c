/* A worker's life: open, start, stop, join, close, asked in every order, with a database that answers
 * and without. */
#include "worker/rig.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

/* As worker.h has it: how long a settle is asked again after the stop. */
enum { GRACE_MS = 10000 };

/* ---- Open and handle ---------------------------------------------------------------------------------- */

static tp_status open_with(const tp_worker_options *o) {
    tp_worker *worker = NULL;
    tp_status status = tp_worker_open(pool.env, o, &worker);
    assert_true((worker != NULL) == (status == TP_OK));
    tp_worker_close(worker);
    return status;
}

static void refuse_options(tp_worker_options o, const char *words) {
    expect(TP_MISUSE, open_with(&o));
    expect_text(words);
}

static void test_open__refuses_options_that_cannot_work(void **state) {
    (void)state;
    const tp_retry negative = {.size = sizeof(tp_retry), .delays_ms = (const int64_t[]){1, -1}, .count = 2};
    const tp_retry empty = {.size = sizeof(tp_retry), .delays_ms = NULL, .count = 2};
    const tp_retry unsized = {.size = 0, .delays_ms = NULL, .count = 0};
    const size_t size = sizeof(tp_worker_options);
    tp_worker_options plain = TP_WORKER_INIT;
    tp_worker *worker = NULL;
    must(open_with(NULL));
    must(open_with(&plain));
    plain.size = offsetof(tp_worker_options, lease_ms); /* by an older header */
    must(open_with(&plain));
    refuse_options((tp_worker_options){.size = 0}, "TP_WORKER_INIT");
    refuse_options((tp_worker_options){.size = size, .threads = -1}, "threads is -1");
    refuse_options((tp_worker_options){.size = size, .threads = 1001}, "threads is 1001");
    refuse_options((tp_worker_options){.size = size, .batch = TP_CLAIM_MAX + 1}, "batch is 1001");
    refuse_options((tp_worker_options){.size = size, .lease_ms = 99}, "lease_ms is 99");
    refuse_options((tp_worker_options){.size = size, .lease_ms = -1}, "lease_ms is -1");
    refuse_options((tp_worker_options){.size = size, .poll_ms = -1}, "poll_ms");
    refuse_options((tp_worker_options){.size = size, .retry = &negative},
                   "a delay of the ladder is negative");
    refuse_options((tp_worker_options){.size = size, .retry = &empty}, "delays_ms");
    refuse_options((tp_worker_options){.size = size, .retry = &unsized}, "sizeof(tp_retry)");
    expect(TP_MISUSE, tp_worker_open(NULL, NULL, &worker));
    expect(TP_MISUSE, tp_worker_open(pool.env, NULL, NULL));
}

static void test_handle__refuses_names_that_no_task_can_have(void **state) {
    static const char *const bad[] = {"", "a b", "a/b", "gr\xc3\xb6n", "a\n"};
    char name[TP_HANDLER_MAX + 2];
    tp_worker *worker = NULL;
    (void)state;
    must(tp_worker_open(pool.env, NULL, &worker));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect(TP_MISUSE, tp_worker_handle(worker, bad[i], rig_done, NULL));
    memset(name, 'n', sizeof name);
    name[TP_HANDLER_MAX + 1] = '\0';
    expect(TP_MISUSE, tp_worker_handle(worker, name, rig_done, NULL));
    expect_text("1 to 64");
    name[TP_HANDLER_MAX] = '\0';
    must(tp_worker_handle(worker, name, rig_done, NULL));
    expect(TP_MISUSE, tp_worker_handle(worker, name, rig_done, NULL));
    expect(TP_MISUSE, tp_worker_handle(worker, NULL, rig_done, NULL));
    expect(TP_MISUSE, tp_worker_handle(worker, "pay", NULL, NULL));
    expect(TP_MISUSE, tp_worker_handle(NULL, "pay", rig_done, NULL));
    tp_worker_close(worker);
}

static void test_handle__takes_as_many_handlers_as_a_claim(void **state) {
    char name[16];
    tp_worker_options o = rig_options();
    (void)state;
    tp_worker *worker = rig_open(&o, rig_done, NULL);
    for (int i = 1; i < TP_CLAIM_HANDLERS_MAX; i++) {
        snprintf(name, sizeof name, "other%d", i);
        must(tp_worker_handle(worker, name, rig_done, NULL));
    }
    expect(TP_MISUSE, tp_worker_handle(worker, "one.more", rig_done, NULL));
    rig_put(3, "x");
    must(tp_worker_start(worker));
    rig_finish(worker);
    rig_expect(0, 3, 0);
}

/* ---- Start -------------------------------------------------------------------------------------------- */

static void refuse_plan(const char *plan, tp_status status, const char *words) {
    tp_worker_options o = rig_options();
    tp_worker *worker = NULL;
    o.plan = plan;
    must(tp_worker_open(pool.env, &o, &worker));
    must(tp_worker_handle(worker, pool.handler, rig_done, NULL));
    expect(status, tp_worker_start(worker));
    expect_text(words);
    tp_worker_close(worker);
}

static void test_start__refuses_a_plan_that_cannot_run_here(void **state) {
    (void)state;
    refuse_plan("fast", TP_MISUSE, "one of row, batch, skip, hold, cas");
    for (size_t i = 0; i < PLANS; i++)
        if (!pool_plan_possible(pool_plans[i]))
            refuse_plan(pool_plans[i], TP_UNSUPPORTED, "cannot run with dialect");
}

static void test_start__reports_a_wrong_setup_and_may_be_asked_again(void **state) {
    (void)state;
    tp_worker_options o = rig_options();
    tp_worker *worker = NULL;
    must(tp_worker_open(pool.env, &o, &worker));
    expect(TP_MISUSE, tp_worker_start(worker));
    expect_text("no handler");
    must(tp_worker_handle(worker, pool.handler, rig_done, NULL));
    faults_down(true);
    expect(TP_DISCONNECTED, tp_worker_start(worker));
    expect_text("cannot connect");
    faults_down(false);
    faults_add((struct faults_aim){
        .statement = "meta_version", .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_NO_TABLE, .times = 1});
    expect(TP_SCHEMA, tp_worker_start(worker));
    must(tp_worker_start(worker));
    expect(TP_MISUSE, tp_worker_start(worker));
    expect(TP_MISUSE, tp_worker_handle(worker, "late", rig_done, NULL));
    must(tp_worker_join(worker));
    expect(TP_MISUSE, tp_worker_start(worker));
    tp_worker_close(worker);
    expect(TP_MISUSE, tp_worker_start(NULL));
}

static void *start_aside(void *arg) {
    static tp_status status;
    status = tp_worker_start(arg);
    return &status;
}

static void *join_aside(void *arg) {
    static tp_status status;
    status = tp_worker_join(arg);
    return &status;
}

static tp_status end_aside(pthread_t thread) {
    void *status = NULL;
    pthread_join(thread, &status);
    return *(tp_status *)status;
}

static void hold(struct tpi_link *link, void *arg) {
    (void)link;
    gate_pass(arg);
}

static void test_stop__during_the_start_ends_it_before_it_begins(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    pthread_t starter, joiner;
    rig_put(2, "x");
    tp_worker *worker = rig_open(&o, rig_done, NULL);
    faults_add((struct faults_aim){.statement = "meta_version", .times = 1, .meet = hold, .arg = &rig.gate});
    pthread_create(&starter, NULL, start_aside, worker);
    assert_true(gate_wait_arrived(&rig.gate, 1));
    expect(TP_MISUSE, tp_worker_start(worker));
    pthread_create(&joiner, NULL, join_aside, worker);
    tp_worker_stop(worker);
    gate_open(&rig.gate);
    must(end_aside(starter));
    must(end_aside(joiner));
    rig_finish(worker);
    rig_expect(2, 0, 0);
    expect_number(rig_count_state("pending", "pending"), 2);
}

/* ---- Stop --------------------------------------------------------------------------------------------- */

static void test_stop__before_the_start_ends_it_before_it_begins(void **state) {
    (void)state;
    tp_worker_options o = rig_options();
    rig_put(1, "x");
    tp_worker *worker = rig_open(&o, rig_done, NULL);
    tp_worker_stop(worker);
    must(tp_worker_join(worker));
    must(tp_worker_start(worker));
    rig_finish(worker);
    rig_expect(1, 0, 0);
}

static void test_stop__twice_is_once(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    tp_worker *worker = rig_start(&o, rig_done);
    tp_worker_stop(worker);
    tp_worker_stop(worker);
    must(tp_worker_join(worker));
    must(tp_worker_join(worker));
    tp_worker_stop(worker);
    rig_finish(worker);
    tp_worker_stop(NULL);
}

static tp_worker *signalled;

static void stop_by_signal(int number) {
    (void)number;
    tp_worker_stop(signalled);
}

static void test_stop__may_be_called_in_a_signal_handler(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    struct sigaction action = {.sa_handler = stop_by_signal};
    struct sigaction before;
    rig_put(3, "x");
    signalled = rig_start(&o, rig_done);
    sigaction(SIGUSR1, &action, &before);
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 3));
    raise(SIGUSR1);
    raise(SIGUSR1);
    rig_finish(signalled);
    sigaction(SIGUSR1, &before, NULL);
    rig_expect(0, 3, 0);
}

static void test_stop__from_an_event_ends_the_worker(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    o.threads = 1;
    rig_put(8, "x");
    tp_worker *worker = rig_open(&o, rig_done, NULL);
    rig.watch.stop_at = worker;
    rig.watch.stop_on = TP_EVENT_DONE;
    must(tp_worker_start(worker));
    rig_finish(worker);
    expect_number(rig_count("pending") + rig_count("finished"), 8);
    expect_number(rig_count_state("pending", "handling"), 0);
    if (rig_told(TP_EVENT_DONE) < 1) fail_msg("no task was done");
}

static void stop_it(struct tpi_link *link, void *arg) {
    tp_worker *worker = arg;
    (void)link;
    tp_worker_stop(worker);
}

static void test_stop__finds_what_an_unanswered_claim_took_and_releases_it(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    tp_worker *worker = rig_open(&o, rig_done, NULL);
    struct faults_aim claim = rig_aim_at_claim();
    claim.fault = TPI_FAULT_ANSWER_LOST;
    claim.kind = FAULTS_DEAD;
    claim.times = 1;
    claim.meet = stop_it;
    claim.arg = worker;
    rig_put(4, "x");
    size_t aim = faults_add(claim);
    must(tp_worker_start(worker));
    rig_finish(worker);
    expect_number(faults_hits(aim), 1);
    rig_expect(4, 0, 0);
    expect_number(rig_count_state("pending", "pending"), 4);
    expect_number(rig_failures("pending"), 0);
}

static int64_t stop_and_join(tp_worker *worker) {
    int64_t began_ms = tpi_clock_mono_ms();
    tp_worker_stop(worker);
    must(tp_worker_join(worker));
    return tpi_clock_mono_ms() - began_ms;
}

static int64_t stop_offline(void) {
    tp_worker_options o = rig_undrained();
    tp_worker *worker = rig_start(&o, rig_done);
    size_t tries = faults_add((struct faults_aim){.function = "SQLDriverConnect"});
    faults_down(true);
    assert_true(faults_wait_seen(tries, 5)); /* so that the pauses have grown */
    int64_t took_ms = stop_and_join(worker);
    rig_finish(worker);
    faults_down(false);
    faults_clear();
    return took_ms;
}

/* A busy machine is late, but not each time. */
static void test_stop__while_offline_and_idle_ends_at_once(void **state) {
    int64_t took_ms = INT64_MAX;
    (void)state;
    for (int tries = 0; tries < 10 && took_ms > 1000; tries++)
        took_ms = stop_offline();
    if (took_ms > 1000) fail_msg("the stop took %d ms", (int)took_ms);
}

static void
test_stop__while_offline_gives_up_within_its_grace_and_leaves_the_rest_to_the_lease(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    rig_put(8, "x");
    tp_worker *worker = rig_start(&o, rig_wait);
    assert_true(gate_wait_arrived(&rig.gate, 3));
    faults_down(true);
    gate_open(&rig.gate);
    assert_true(watch_wait(&rig.watch, TP_EVENT_OFFLINE, 1));
    int64_t took_ms = stop_and_join(worker);
    rig_finish(worker);
    faults_down(false);
    if (took_ms < GRACE_MS || took_ms > 10 * GRACE_MS) /* the longest that a busy machine is late */
        fail_msg("the stop took %d ms", (int)took_ms);
    rig_expect(8, 0, 0);
    expect_number(rig_count_state("pending", "handling"), 8);
    expect_number(rig_told(TP_EVENT_OFFLINE), 1);
    expect_number(rig_told(TP_EVENT_DONE) + rig_told(TP_EVENT_RELEASED), 0);
    if (rig_told(TP_EVENT_ERROR) < 3) fail_msg("the tasks that could not be settled were not told");
}

/* ---- Join and close ----------------------------------------------------------------------------------- */

static tp_verdict join_and_close_itself(tp_run *run, void *arg) {
    tp_worker **worker = arg;
    tp_verdict verdict = tp_worker_join(*worker) == TP_MISUSE ? TP_RUN_DONE : TP_RUN_FAILED;
    tp_worker_close(*worker);
    return tp_run_should_stop(run) ? verdict : TP_RUN_FAILED;
}

static void test_join__in_a_handler_is_refused_and_close_there_is_a_stop(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    tp_worker *worker = NULL;
    rig_put(1, "x");
    worker = rig_open(&o, join_and_close_itself, &worker);
    must(tp_worker_start(worker));
    rig_finish(worker);
    rig_expect(0, 1, 0);
    expect_number(rig_failures("finished"), 0);
}

static void test_join__by_two_threads_ends_for_both(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    pthread_t joiner;
    tp_worker *worker = rig_start(&o, rig_done);
    pthread_create(&joiner, NULL, join_aside, worker);
    tp_worker_stop(worker);
    must(tp_worker_join(worker));
    must(end_aside(joiner));
    rig_finish(worker);
}

static void test_join__of_a_worker_that_was_not_started_is_refused(void **state) {
    (void)state;
    tp_worker_options o = rig_options();
    tp_worker *worker = rig_open(&o, rig_done, NULL);
    expect(TP_MISUSE, tp_worker_join(worker));
    expect(TP_MISUSE, tp_worker_join(NULL));
    tp_worker_stop(worker);
    rig_finish(worker);
    tp_worker_close(NULL);
}

static void test_close__stops_and_joins_a_running_worker(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    tp_worker *worker = NULL;
    rig_put(5, "x");
    must(tp_worker_open(pool.env, &o, &worker));
    must(tp_worker_handle(worker, pool.handler, rig_done, NULL));
    must(tp_worker_start(worker));
    assert_true(watch_wait(&rig.watch, TP_EVENT_CLAIMED, 5));
    tp_worker_close(worker);
    expect_number(rig_count_state("pending", "handling"), 0);
    expect_number(rig_count("pending") + rig_count("finished"), 5);
    expect_number(rig_failures("pending") + rig_failures("finished"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RIG_TEST(test_open__refuses_options_that_cannot_work),
        RIG_TEST(test_handle__refuses_names_that_no_task_can_have),
        RIG_TEST(test_handle__takes_as_many_handlers_as_a_claim),
        RIG_TEST(test_start__refuses_a_plan_that_cannot_run_here),
        RIG_TEST(test_start__reports_a_wrong_setup_and_may_be_asked_again),
        RIG_TEST(test_stop__during_the_start_ends_it_before_it_begins),
        RIG_TEST(test_stop__before_the_start_ends_it_before_it_begins),
        RIG_TEST(test_stop__twice_is_once),
        RIG_TEST(test_stop__may_be_called_in_a_signal_handler),
        RIG_TEST(test_stop__from_an_event_ends_the_worker),
        RIG_TEST(test_stop__finds_what_an_unanswered_claim_took_and_releases_it),
        RIG_TEST(test_stop__while_offline_and_idle_ends_at_once),
        RIG_TEST(test_stop__while_offline_gives_up_within_its_grace_and_leaves_the_rest_to_the_lease),
        RIG_TEST(test_join__in_a_handler_is_refused_and_close_there_is_a_stop),
        RIG_TEST(test_join__by_two_threads_ends_for_both),
        RIG_TEST(test_join__of_a_worker_that_was_not_started_is_refused),
        RIG_TEST(test_close__stops_and_joins_a_running_worker),
    };
    rig_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rig_end();
    return failed;
}
