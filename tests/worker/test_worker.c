/* The worker against a real database, named by TASKPOOL_TEST_DSN. What needs a database that fails at a
 * chosen moment is in test_worker_outages.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after the four above */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pool_db.h"
#include "watch.h"

enum { SKIPPED_EXIT = 77 };

static const int64_t quick_delays[] = {1, 5, 20};
static const tp_retry quick = {sizeof(tp_retry), quick_delays, 3};

static struct watch watch;
static struct gate gate;
static char handler[TP_HANDLER_MAX + 1]; /* each test has its own, so none sees another's rows */

static int set_up(void **state) {
    static int number;
    (void)state;
    watch_open(&watch);
    gate_init(&gate);
    snprintf(handler, sizeof handler, "t%d", ++number);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    watch_close(&watch);
    return 0;
}

static tp_worker_options options(void) {
    tp_worker_options o = TP_WORKER_INIT;
    o.batch = 20;
    o.poll_ms = 50;
    o.retry = &quick;
    o.drain = 1;
    o.on_event = watch_event;
    o.event_arg = &watch;
    return o;
}

static tp_worker *open_worker(const tp_worker_options *o, tp_handler_fn fn) {
    tp_worker *worker = NULL;
    assert_int_equal(tp_worker_open(db_env(), o, &worker), TP_OK);
    assert_int_equal(tp_worker_handle(worker, handler, fn, NULL), TP_OK);
    return worker;
}

static tp_worker *start(const tp_worker_options *o, tp_handler_fn fn) {
    tp_worker *worker = open_worker(o, fn);
    assert_int_equal(tp_worker_start(worker), TP_OK);
    return worker;
}

static void finish(tp_worker *worker) {
    assert_int_equal(tp_worker_join(worker), TP_OK);
    tp_worker_close(worker);
}

static void run_all(tp_handler_fn fn) {
    tp_worker_options o = options();
    finish(start(&o, fn));
}

static void assert_pools(int pending, int finished, int failed) {
    assert_int_equal(db_count("pending", handler), pending);
    assert_int_equal(db_count("finished", handler), finished);
    assert_int_equal(db_count("failed", handler), failed);
}

static tp_verdict plain(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    return TP_RUN_DONE;
}

static tp_verdict write_effect(tp_run *run, tp_verdict verdict) {
    tp_conn *conn = NULL;
    if (tp_run_conn(run, &conn) == TP_OK && db_effect(conn, tp_run_task(run))) return verdict;
    tp_run_reason(run, "the effect cannot be written");
    return TP_RUN_FAILED;
}

static tp_verdict pay(tp_run *run, void *arg) {
    (void)arg;
    return write_effect(run, TP_RUN_DONE);
}

static void test_worker__runs_every_task_once_on_several_threads(void **state) {
    (void)state;
    db_put(handler, 60, "x");
    run_all(plain);
    assert_pools(0, 60, 0);
    assert_int_equal(watch_count(&watch, TP_EVENT_CLAIMED), 60);
    assert_int_equal(watch_count(&watch, TP_EVENT_DONE), 60);
}

static void test_transaction__effect_and_settle_commit_together(void **state) {
    (void)state;
    db_put(handler, 30, "x");
    run_all(pay);
    assert_pools(0, 30, 0);
    assert_int_equal(db_effects(handler), 30);
    assert_int_equal(db_effect_tasks(handler), 30);
}

static tp_verdict pay_at_the_third_try(tp_run *run, void *arg) {
    (void)arg;
    tp_verdict verdict = write_effect(run, tp_run_task(run)->failures < 2 ? TP_RUN_FAILED : TP_RUN_DONE);
    if (verdict == TP_RUN_FAILED) tp_run_reason(run, "bank closed");
    return verdict;
}

static void test_fail__takes_the_effect_back_and_retries_by_the_ladder(void **state) {
    (void)state;
    db_put(handler, 3, "x");
    run_all(pay_at_the_third_try);
    assert_pools(0, 3, 0);
    assert_int_equal(db_effects(handler), 3);
    assert_int_equal(db_failures("finished", handler), 6);
    assert_int_equal(watch_count(&watch, TP_EVENT_RETRY), 6);
    assert_string_equal(watch.texts[TP_EVENT_RETRY], "bank closed");
}

static tp_verdict always_fail(tp_run *run, void *arg) {
    (void)arg;
    tp_run_reason(run, "no such account");
    return TP_RUN_FAILED;
}

static void test_fail__gives_up_after_the_ladder_and_tells(void **state) {
    (void)state;
    db_put(handler, 2, "x");
    run_all(always_fail);
    assert_pools(0, 0, 2);
    assert_int_equal(db_failures("failed", handler), 8);
    assert_int_equal(watch_count(&watch, TP_EVENT_GAVE_UP), 2);
    assert_string_equal(watch.texts[TP_EVENT_GAVE_UP], "no such account");
}

static tp_verdict skip_after_effect(tp_run *run, void *arg) {
    (void)arg;
    tp_run_reason(run, "left the company");
    return write_effect(run, TP_RUN_SKIPPED);
}

static void test_skip__finishes_with_its_reason_and_its_effect(void **state) {
    (void)state;
    db_put(handler, 2, "x");
    run_all(skip_after_effect);
    assert_pools(0, 2, 0);
    assert_int_equal(db_effects(handler), 2);
    assert_int_equal(watch_count(&watch, TP_EVENT_SKIPPED), 2);
    assert_string_equal(watch.texts[TP_EVENT_SKIPPED], "left the company");
}

static tp_verdict later_then_done(tp_run *run, void *arg) {
    int *calls = arg;
    tp_run_delay(run, 5);
    return write_effect(run, (*calls)++ ? TP_RUN_DONE : TP_RUN_LATER);
}

static void test_later__puts_back_without_a_failure_and_without_the_effect(void **state) {
    (void)state;
    int calls = 0;
    tp_worker_options o = options();
    tp_worker *worker = NULL;
    db_put(handler, 1, "x");
    assert_int_equal(tp_worker_open(db_env(), &o, &worker), TP_OK);
    assert_int_equal(tp_worker_handle(worker, handler, later_then_done, &calls), TP_OK);
    assert_int_equal(tp_worker_start(worker), TP_OK);
    finish(worker);
    assert_pools(0, 1, 0);
    assert_int_equal(db_effects(handler), 1);
    assert_int_equal(db_failures("finished", handler), 0);
    assert_int_equal(watch_count(&watch, TP_EVENT_RELEASED), 1);
}

static tp_verdict check_params(tp_run *run, void *arg) {
    const char *params = NULL;
    size_t length = 0;
    (void)arg;
    if (tp_run_params(run, &params, &length) != TP_OK) return TP_RUN_FAILED;
    int whole = length == TP_PARAMS_MAX && strspn(params, "y") == length;
    return whole ? write_effect(run, TP_RUN_DONE) : TP_RUN_FAILED;
}

static void test_params__of_one_mebibyte_reach_the_handler(void **state) {
    (void)state;
    char *params = malloc(TP_PARAMS_MAX + 1);
    assert_non_null(params);
    memset(params, 'y', TP_PARAMS_MAX);
    params[TP_PARAMS_MAX] = '\0';
    db_put(handler, 4, params);
    free(params);
    run_all(check_params);
    assert_pools(0, 4, 0);
    assert_int_equal(db_failures("finished", handler), 0);
    assert_int_equal(db_effects(handler), 4);
}

static void test_stop__before_the_start_ends_it_before_it_begins(void **state) {
    (void)state;
    tp_worker_options o = options();
    tp_worker *worker = open_worker(&o, plain);
    db_put(handler, 1, "x");
    tp_worker_stop(worker);
    assert_int_equal(tp_worker_join(worker), TP_OK);
    assert_int_equal(tp_worker_start(worker), TP_OK);
    finish(worker);
    assert_pools(1, 0, 0);
}

static void test_stop__twice_is_once(void **state) {
    (void)state;
    tp_worker_options o = options();
    o.drain = 0;
    tp_worker *worker = start(&o, plain);
    tp_worker_stop(worker);
    tp_worker_stop(worker);
    assert_int_equal(tp_worker_join(worker), TP_OK);
    assert_int_equal(tp_worker_join(worker), TP_OK);
    finish(worker);
}

static tp_verdict stop_the_worker(tp_run *run, void *arg) {
    (void)arg;
    tp_worker_stop(watch.stop_at);
    return tp_run_should_stop(run) ? TP_RUN_DONE : TP_RUN_FAILED;
}

static void test_stop__from_a_handler_settles_that_handlers_task(void **state) {
    (void)state;
    tp_worker_options o = options();
    o.drain = 0;
    o.threads = 1;
    db_put(handler, 3, "x");
    tp_worker *worker = open_worker(&o, stop_the_worker);
    watch.stop_at = worker;
    watch.stop_on = TP_EVENT_ERROR;
    assert_int_equal(tp_worker_start(worker), TP_OK);
    finish(worker);
    assert_pools(2, 1, 0);
    assert_int_equal(db_failures("pending", handler), 0);
}

static tp_verdict wait_at_gate(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    gate_pass(&gate);
    return TP_RUN_DONE;
}

static void test_stop__releases_queued_tasks_without_a_failure(void **state) {
    (void)state;
    tp_worker_options o = options();
    o.drain = 0;
    o.threads = 2;
    db_put(handler, 6, "x");
    tp_worker *worker = start(&o, wait_at_gate);
    assert_true(gate_wait_arrived(&gate, 2));
    tp_worker_stop(worker);
    assert_true(watch_wait(&watch, TP_EVENT_RELEASED, 4));
    gate_open(&gate);
    finish(worker);
    assert_pools(4, 2, 0);
    assert_int_equal(db_failures("pending", handler), 0);
    o.drain = 1;
    finish(start(&o, wait_at_gate)); /* and they are claimable at once */
    assert_pools(0, 6, 0);
}

/* Longer than three leases: what is shown is that time passes and nothing happens. */
static tp_verdict take_a_second(tp_run *run, void *arg) {
    struct timespec second = {.tv_sec = 1};
    (void)arg;
    nanosleep(&second, NULL);
    return write_effect(run, TP_RUN_DONE);
}

static void test_lease__is_extended_while_a_handler_outlasts_it(void **state) {
    (void)state;
    tp_worker_options o = options();
    o.lease_ms = 300;
    o.threads = 1;
    db_put(handler, 2, "x");
    tp_worker *one = start(&o, take_a_second);
    tp_worker *other = start(&o, take_a_second); /* takes what lapses */
    finish(one);
    finish(other);
    assert_pools(0, 2, 0);
    assert_int_equal(db_effects(handler), 2);
    assert_int_equal(db_failures("finished", handler), 0);
    assert_int_equal(watch_count(&watch, TP_EVENT_LOST), 0);
}

static tp_verdict be_robbed(tp_run *run, void *arg) {
    (void)arg;
    db_steal(tp_run_task(run));
    return write_effect(run, TP_RUN_DONE);
}

static void test_lost__claim_takes_the_effect_with_it(void **state) {
    (void)state;
    tp_worker_options o = options();
    o.drain = 0;
    db_put(handler, 1, "x");
    tp_worker *worker = start(&o, be_robbed);
    assert_true(watch_wait(&watch, TP_EVENT_LOST, 1));
    tp_worker_stop(worker);
    finish(worker);
    assert_pools(1, 0, 0);
    assert_int_equal(db_effects(handler), 0);
    assert_int_equal(watch_count(&watch, TP_EVENT_LOST), 1);
    assert_int_equal(watch_count(&watch, TP_EVENT_DONE), 0);
}

static void test_drain__ends_at_once_when_nothing_is_there(void **state) {
    (void)state;
    run_all(plain);
    assert_int_equal(watch_count(&watch, TP_EVENT_CLAIMED), 0);
    assert_int_equal(watch_count(&watch, TP_EVENT_ERROR), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_worker__runs_every_task_once_on_several_threads),
        TEST(test_transaction__effect_and_settle_commit_together),
        TEST(test_fail__takes_the_effect_back_and_retries_by_the_ladder),
        TEST(test_fail__gives_up_after_the_ladder_and_tells),
        TEST(test_skip__finishes_with_its_reason_and_its_effect),
        TEST(test_later__puts_back_without_a_failure_and_without_the_effect),
        TEST(test_params__of_one_mebibyte_reach_the_handler),
        TEST(test_stop__before_the_start_ends_it_before_it_begins),
        TEST(test_stop__twice_is_once),
        TEST(test_stop__from_a_handler_settles_that_handlers_task),
        TEST(test_stop__releases_queued_tasks_without_a_failure),
        TEST(test_lease__is_extended_while_a_handler_outlasts_it),
        TEST(test_lost__claim_takes_the_effect_with_it),
        TEST(test_drain__ends_at_once_when_nothing_is_there),
    };
    if (!db_open()) {
        fprintf(stderr, "SKIPPED: TASKPOOL_TEST_DSN names no database\n");
        return SKIPPED_EXIT;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    db_close();
    return failed;
}
