/* A worker's life over fake_pool: open, start, stop, drain, join, close, asked in every order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after the four above */
#include <cmocka.h>

#include <signal.h>
#include <string.h>

#include "bench.h"

static void test_stop__releases_what_never_started_without_a_failure(void **state) {
    (void)state;
    tp_worker_options o = bench_options();
    o.drain = 0;
    fake_put("pay", 8);
    tp_worker *worker = bench_start(&o, bench_wait);
    assert_true(gate_wait_arrived(&bench.gate, 3));
    tp_worker_stop(worker);
    assert_true(watch_wait(&bench.watch, TP_EVENT_RELEASED, 5));
    gate_open(&bench.gate);
    bench_finish(worker);
    assert_int_equal(fake_count(FAKE_DONE), 3);
    assert_int_equal(fake_count(FAKE_FREE), 5);
    assert_int_equal(fake_failures(), 0);
}

static void test_stop__finds_what_an_unanswered_claim_took_and_releases_it(void **state) {
    (void)state;
    tp_worker_options o = bench_options();
    o.drain = 0;
    tp_worker *worker = NULL;
    assert_int_equal(tp_worker_open(bench.env, &o, &worker), TP_OK);
    assert_int_equal(tp_worker_handle(worker, "pay", bench_done, NULL), TP_OK);
    bench.watch.stop_at = worker;
    bench.watch.stop_on = TP_EVENT_OFFLINE;
    fake_put("pay", 4);
    fake_script(FAKE_CLAIM, 0, 1, TP_DISCONNECTED, true);
    assert_int_equal(tp_worker_start(worker), TP_OK);
    bench_finish(worker);
    assert_int_equal(fake_count(FAKE_HANDLING), 0);
    assert_int_equal(fake_count(FAKE_FREE) + fake_count(FAKE_DONE), 4);
    assert_int_equal(fake_failures(), 0);
}

static tp_worker *signalled;

static void stop_by_signal(int number) {
    (void)number;
    tp_worker_stop(signalled);
}

static void test_stop__may_be_called_in_a_signal_handler(void **state) {
    (void)state;
    tp_worker_options o = bench_options();
    struct sigaction action = {.sa_handler = stop_by_signal};
    struct sigaction before;
    o.drain = 0;
    fake_put("pay", 3);
    signalled = bench_start(&o, bench_done);
    sigaction(SIGUSR1, &action, &before);
    assert_true(watch_wait(&bench.watch, TP_EVENT_DONE, 3));
    raise(SIGUSR1);
    raise(SIGUSR1);
    bench_finish(signalled);
    sigaction(SIGUSR1, &before, NULL);
    assert_int_equal(fake_count(FAKE_DONE), 3);
}

static void test_start__reports_a_wrong_setup_and_may_be_asked_again(void **state) {
    (void)state;
    tp_worker_options o = bench_options();
    tp_worker *worker = NULL;
    assert_int_equal(tp_worker_open(bench.env, &o, &worker), TP_OK);
    assert_int_equal(tp_worker_handle(worker, "pay", bench_done, NULL), TP_OK);
    fake_script(FAKE_OPEN, 0, 1, TP_DISCONNECTED, false);
    assert_int_equal(tp_worker_start(worker), TP_DISCONNECTED);
    fake_script(FAKE_SCHEMA, 0, 1, TP_SCHEMA, false);
    assert_int_equal(tp_worker_start(worker), TP_SCHEMA);
    assert_int_equal(tp_worker_start(worker), TP_OK);
    assert_int_equal(tp_worker_start(worker), TP_MISUSE);
    bench_finish(worker);
}

static tp_status open_with(const tp_worker_options *o) {
    tp_worker *worker = NULL;
    tp_status status = tp_worker_open(bench.env, o, &worker);
    assert_true((worker != NULL) == (status == TP_OK));
    tp_worker_close(worker);
    return status;
}

static void test_open__refuses_options_that_cannot_work(void **state) {
    (void)state;
    tp_worker_options o = TP_WORKER_INIT;
    tp_retry negative = {sizeof(tp_retry), (const int64_t[]){1, -1}, 2};
    assert_int_equal(open_with(NULL), TP_OK);
    assert_int_equal(open_with(&o), TP_OK);
    o.threads = -1;
    assert_int_equal(open_with(&o), TP_MISUSE);
    assert_non_null(strstr(tp_last_error()->text, "threads"));
    o = (tp_worker_options){.size = sizeof o, .batch = TP_CLAIM_MAX + 1};
    assert_int_equal(open_with(&o), TP_MISUSE);
    o = (tp_worker_options){.size = sizeof o, .lease_ms = 99};
    assert_int_equal(open_with(&o), TP_MISUSE);
    o = (tp_worker_options){.size = sizeof o, .retry = &negative};
    assert_int_equal(open_with(&o), TP_MISUSE);
    o = (tp_worker_options){.size = sizeof o + 8};
    assert_int_equal(open_with(&o), TP_MISUSE);
}

static void test_handle__refuses_bad_names_and_a_second_handler(void **state) {
    (void)state;
    tp_worker *worker = NULL;
    assert_int_equal(tp_worker_open(bench.env, NULL, &worker), TP_OK);
    assert_int_equal(tp_worker_start(worker), TP_MISUSE);
    assert_int_equal(tp_worker_join(worker), TP_MISUSE);
    assert_int_equal(tp_worker_handle(worker, "", bench_done, NULL), TP_MISUSE);
    assert_int_equal(tp_worker_handle(worker, "a b", bench_done, NULL), TP_MISUSE);
    assert_int_equal(tp_worker_handle(worker, "pay", NULL, NULL), TP_MISUSE);
    assert_int_equal(tp_worker_handle(worker, "pay", bench_done, NULL), TP_OK);
    assert_int_equal(tp_worker_handle(worker, "pay", bench_done, NULL), TP_MISUSE);
    tp_worker_close(worker);
}

static tp_verdict join_itself(tp_run *run, void *arg) {
    tp_worker **worker = arg;
    (void)run;
    return tp_worker_join(*worker) == TP_MISUSE ? TP_RUN_DONE : TP_RUN_FAILED;
}

static void test_join__in_a_handler_is_refused(void **state) {
    (void)state;
    tp_worker_options o = bench_options();
    tp_worker *worker = NULL;
    fake_put("pay", 1);
    assert_int_equal(tp_worker_open(bench.env, &o, &worker), TP_OK);
    assert_int_equal(tp_worker_handle(worker, "pay", join_itself, &worker), TP_OK);
    assert_int_equal(tp_worker_start(worker), TP_OK);
    bench_finish(worker);
    assert_int_equal(fake_count(FAKE_DONE), 1);
}

static void test_drain__waits_for_tasks_that_are_not_due_yet(void **state) {
    (void)state;
    tp_retry one = {sizeof(tp_retry), (const int64_t[]){150}, 1};
    tp_worker_options o = bench_options();
    o.retry = &one;
    fake_put("pay", 2);
    bench_finish(bench_start(&o, bench_fail));
    assert_int_equal(fake_count(FAKE_FAILED), 2);
    assert_int_equal(fake_failures(), 4);
    assert_int_equal(watch_count(&bench.watch, TP_EVENT_RETRY), 2);
    assert_int_equal(watch_count(&bench.watch, TP_EVENT_GAVE_UP), 2);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_stop__releases_what_never_started_without_a_failure),
        TEST(test_stop__finds_what_an_unanswered_claim_took_and_releases_it),
        TEST(test_stop__may_be_called_in_a_signal_handler),
        TEST(test_start__reports_a_wrong_setup_and_may_be_asked_again),
        TEST(test_open__refuses_options_that_cannot_work),
        TEST(test_handle__refuses_bad_names_and_a_second_handler),
        TEST(test_join__in_a_handler_is_refused),
        TEST(test_drain__waits_for_tasks_that_are_not_due_yet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
