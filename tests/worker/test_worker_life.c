/* A worker's life: open, start, stop, join, close, asked in every order, with a database that answers
 * and without. */
#include "worker/rig.h"

#include <pthread.h>
#include <signal.h>

#include "base/clock.h"

/* As worker.h has it: how long a settle is asked again after the stop. */
enum { GRACE_MS = 10000 };

static tp_status try_to_open(const tp_worker_options *o) {
    tp_worker *worker = NULL;
    tp_status status = tp_worker_open(pool.env, o, &worker);
    assert_true((worker != NULL) == (status == TP_OK));
    tp_worker_close(worker);
    return status;
}

#define refuses(words, ...)                                                                                  \
    do {                                                                                                     \
        expect(TP_MISUSE,                                                                                    \
               try_to_open(&(tp_worker_options){.size = sizeof(tp_worker_options), __VA_ARGS__}));           \
        expect_text(words);                                                                                  \
    } while (0)

TEST(test_open__refuses_options_that_cannot_work) {
    tp_worker_options plain = TP_WORKER_INIT;
    tp_worker *worker = NULL;
    must(try_to_open(NULL));
    must(try_to_open(&plain));
    plain.size = offsetof(tp_worker_options, lease_ms); /* by an older header */
    must(try_to_open(&plain));
    refuses("TP_WORKER_INIT", .size = 0);
    refuses("threads is -1", .threads = -1);
    refuses("threads is 1001", .threads = 1001);
    refuses("batch is 1001", .batch = TP_CLAIM_MAX + 1);
    refuses("lease_ms is 99", .lease_ms = 99);
    refuses("lease_ms is -1", .lease_ms = -1);
    refuses("poll_ms", .poll_ms = -1);
    refuses("a delay of the ladder is negative", .retry = RIG_DELAYS(1, -1));
    refuses("delays_ms", .retry = &(tp_retry){.size = sizeof(tp_retry), .count = 2});
    refuses("sizeof(tp_retry)", .retry = &(tp_retry){.size = 0});
    expect(TP_MISUSE, tp_worker_open(NULL, NULL, &worker));
    expect(TP_MISUSE, tp_worker_open(pool.env, NULL, NULL));
}

TEST(test_handle__refuses_names_that_no_task_can_have) {
    static const char *const bad[] = {"", "a b", "a/b", "gr\xc3\xb6n", "a\n"};
    char name[TP_HANDLER_MAX + 2];
    tp_worker *worker = NULL;
    must(tp_worker_open(pool.env, NULL, &worker));
    for (size_t i = 0; i < COUNT(bad); i++)
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

TEST(test_handle__takes_as_many_handlers_as_a_claim) {
    char name[16];
    tp_worker *worker = rig_open_with(rig_done, .drain = 1);
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

static void refuse_plan(const char *plan, tp_status status, const char *words) {
    tp_worker *worker = rig_open_with(rig_done, .plan = plan);
    expect(status, tp_worker_start(worker));
    expect_text(words);
    rig_close(worker);
}

TEST(test_start__refuses_a_plan_that_cannot_run_here) {
    refuse_plan("fast", TP_MISUSE, "one of row, batch, skip, hold, cas");
    for (size_t i = 0; i < PLANS; i++)
        if (!pool_plan_possible(pool_plans[i]))
            refuse_plan(pool_plans[i], TP_UNSUPPORTED, "cannot run with dialect");
}

TEST(test_start__reports_a_wrong_setup_and_may_be_asked_again) {
    tp_worker *worker = NULL;
    must(tp_worker_open(pool.env, &RIG_OPTIONS(.drain = 1), &worker));
    expect(TP_MISUSE, tp_worker_start(worker));
    expect_text("no handler");
    must(tp_worker_handle(worker, pool.handler, rig_done, NULL));
    faults_down(true);
    expect(TP_DISCONNECTED, tp_worker_start(worker));
    expect_text("cannot connect");
    faults_down(false);
    faults_refuse("meta_version", FAULTS_NO_TABLE, 0, 1);
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

MEET(hold) {
    gate_pass(arg);
}

TEST(test_stop__during_the_start_ends_it_before_it_begins) {
    pthread_t starter, joiner;
    rig_put(2, "x");
    tp_worker *worker = rig_open(rig_done);
    faults_at(.statement = "meta_version", .times = 1, .meet = hold, .arg = &rig.gate);
    pthread_create(&starter, NULL, start_aside, worker);
    rig_await_arrived(1);
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

TEST(test_stop__before_the_start_ends_it_before_it_begins) {
    rig_put(1, "x");
    tp_worker *worker = rig_open_with(rig_done, .drain = 1);
    tp_worker_stop(worker);
    must(tp_worker_join(worker));
    must(tp_worker_start(worker));
    rig_finish(worker);
    rig_expect(1, 0, 0);
}

TEST(test_stop__twice_is_once) {
    tp_worker *worker = rig_start(0, rig_done);
    tp_worker_stop(worker);
    tp_worker_stop(worker);
    must(tp_worker_join(worker));
    must(tp_worker_join(worker));
    rig_stop(worker);
    tp_worker_stop(NULL);
}

static tp_worker *signalled;

static void stop_by_signal(int number) {
    (void)number;
    tp_worker_stop(signalled);
}

TEST(test_stop__may_be_called_in_a_signal_handler) {
    struct sigaction action = {.sa_handler = stop_by_signal}, before;
    signalled = rig_start(3, rig_done);
    sigaction(SIGUSR1, &action, &before);
    rig_await(TP_EVENT_DONE, 3);
    raise(SIGUSR1);
    raise(SIGUSR1);
    rig_finish(signalled);
    sigaction(SIGUSR1, &before, NULL);
    rig_expect(0, 3, 0);
}

TEST(test_stop__from_an_event_ends_the_worker) {
    rig_run_until(TP_EVENT_DONE, 8, rig_done, .threads = 1);
    expect_number(rig_count("pending") + rig_count("finished"), 8);
    expect_number(rig_count_state("pending", "handling"), 0);
    if (rig_told(TP_EVENT_DONE) < 1) fail_msg("no task was done");
}

MEET(stop_it) {
    tp_worker *worker = arg;
    tp_worker_stop(worker);
}

TEST(test_stop__finds_what_an_unanswered_claim_took_and_releases_it) {
    tp_worker *worker = rig_open(rig_done);
    struct faults_aim claim = rig_aim_at_claim();
    claim.meet = stop_it;
    claim.arg = worker;
    rig_put(4, "x");
    faults_lose(claim, TPI_FAULT_ANSWER_LOST, 0, 1);
    must(tp_worker_start(worker));
    rig_finish(worker);
    rig_expect(4, 0, 0, .failures = 0, .hits = 1);
    expect_number(rig_count_state("pending", "pending"), 4);
}

static int64_t stop_and_join(tp_worker *worker) {
    int64_t began_ms = tpi_clock_mono_ms();
    tp_worker_stop(worker);
    must(tp_worker_join(worker));
    return tpi_clock_mono_ms() - began_ms;
}

static int64_t stop_offline(void) {
    tp_worker *worker = rig_start(0, rig_done);
    size_t tries = faults_at(.function = "SQLDriverConnect");
    faults_down(true);
    rig_await_seen(tries, 5); /* so that the pauses have grown */
    int64_t took_ms = stop_and_join(worker);
    rig_finish(worker);
    faults_down(false);
    faults_clear();
    return took_ms;
}

/* A busy machine is late, but not each time. */
TEST(test_stop__while_offline_and_idle_ends_at_once) {
    int64_t took_ms = INT64_MAX;
    for (int tries = 0; tries < 10 && took_ms > 1000; tries++)
        took_ms = stop_offline();
    if (took_ms > 1000) fail_msg("the stop took %d ms", (int)took_ms);
}

/* Nobody is to cancel it for fear that it is done twice. */
TEST(test_stop__of_what_was_not_begun_and_cannot_be_put_back_is_said_that_it_was_not_begun) {
    tp_worker *worker = rig_start_with(2, rig_wait, .threads = 1);
    rig_await_arrived(1);
    rig_await_queued(worker, 1);
    size_t aim = faults_refuse("settle_release", FAULTS_LOCKED, 0, 1000000);
    tp_worker_stop(worker);
    rig_await_seen(aim, 1);
    gate_open(&rig.gate);
    must(tp_worker_join(worker));
    expect_number(rig_info(worker).unstored, 1);
    rig_finish(worker);
    rig_expect_told(TP_EVENT_ERROR, "it was not begun here, and could not be put back");
    rig_expect(1, 1, 0, .runs = 1);
    rig_delete_pending();
}

TEST(test_stop__while_offline_gives_up_within_its_grace_and_leaves_the_rest_to_the_lease) {
    tp_worker *worker = rig_start(8, rig_wait);
    rig_await_arrived(3);
    faults_down(true);
    gate_open(&rig.gate);
    rig_await(TP_EVENT_OFFLINE, 1);
    int64_t took_ms = stop_and_join(worker);
    expect_number(rig_info(worker).unstored, 8);
    rig_finish(worker);
    faults_down(false);
    if (took_ms < GRACE_MS || took_ms > 10 * GRACE_MS) /* the longest that a busy machine is late */
        fail_msg("the stop took %d ms", (int)took_ms);
    rig_expect(8, 0, 0, .done = 0, .released = 0, .offline = 1);
    expect_number(rig_count_state("pending", "handling"), 8);
    if (rig_told(TP_EVENT_ERROR) < 3) fail_msg("the tasks that could not be settled were not told");
}

HANDLER(join_and_close_itself) {
    tp_worker **worker = arg;
    tp_verdict verdict = tp_worker_join(*worker) == TP_MISUSE ? TP_RUN_DONE : TP_RUN_FAILED;
    tp_worker_close(*worker);
    return tp_run_should_stop(run) ? verdict : TP_RUN_FAILED;
}

TEST(test_join__in_a_handler_is_refused_and_close_there_is_a_stop) {
    tp_worker *worker = NULL;
    rig_put(1, "x");
    rig.arg = &worker;
    worker = rig_open(join_and_close_itself);
    must(tp_worker_start(worker));
    rig_finish(worker);
    rig_expect(0, 1, 0, .failures = 0);
}

TEST(test_join__by_two_threads_ends_for_both) {
    pthread_t joiner;
    tp_worker *worker = rig_start(0, rig_done);
    pthread_create(&joiner, NULL, join_aside, worker);
    tp_worker_stop(worker);
    must(tp_worker_join(worker));
    must(end_aside(joiner));
    rig_finish(worker);
}

TEST(test_join__of_a_worker_that_was_not_started_is_refused) {
    tp_worker *worker = rig_open_with(rig_done, .drain = 1);
    expect(TP_MISUSE, tp_worker_join(worker));
    expect(TP_MISUSE, tp_worker_join(NULL));
    rig_stop(worker);
    tp_worker_close(NULL);
}

TEST(test_close__stops_and_joins_a_running_worker) {
    tp_worker *worker = rig_start(5, rig_done);
    rig_await(TP_EVENT_CLAIMED, 5);
    rig_close(worker);
    expect_number(rig_count_state("pending", "handling"), 0);
    expect_number(rig_count("pending") + rig_count("finished"), 5);
    rig_expect(.failed = 0, .failures = 0);
}
