/* What a worker does when the database answers late, never, or with a failure: every promise that cannot be
 * provoked on demand in a real database, over fake_pool. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after the four above */
#include <cmocka.h>

#include <string.h>

#include "bench.h"

static void assert_all_paid_once(int count) {
    assert_int_equal(fake_count(FAKE_DONE), count);
    assert_int_equal(fake_effects_other_than(1), 0);
}

static void test_settle__is_asked_again_when_its_answer_is_lost(void **state) {
    (void)state;
    fake_put("pay", 5);
    fake_script(FAKE_COMPLETE, 1, 2, TP_DISCONNECTED, true);
    bench_run(bench_done);
    assert_int_equal(fake_count(FAKE_DONE), 5);
    assert_int_equal(watch_count(&bench.watch, TP_EVENT_DONE), 5);
    assert_int_equal(watch_count(&bench.watch, TP_EVENT_LOST), 0);
    assert_int_equal(fake_failures(), 0);
}

static void test_fail__counts_once_when_its_answer_is_lost(void **state) {
    (void)state;
    tp_retry none = {sizeof(tp_retry), NULL, 0};
    tp_worker_options o = bench_options();
    o.retry = &none;
    fake_put("pay", 1);
    fake_script(FAKE_FAIL, 0, 1, TP_DISCONNECTED, true);
    bench_finish(bench_start(&o, bench_fail));
    assert_int_equal(fake_failures(), 1);
    assert_int_equal(watch_count(&bench.watch, TP_EVENT_GAVE_UP), 1);
    assert_string_equal(bench.watch.texts[TP_EVENT_GAVE_UP], "no money");
}

static void test_commit__that_happened_unheard_is_not_done_twice(void **state) {
    (void)state;
    fake_put("pay", 5);
    fake_script(FAKE_COMMIT, 2, 1, TP_DISCONNECTED, true);
    bench_run(bench_pay);
    assert_all_paid_once(5);
    assert_int_equal(fake_calls(FAKE_SETTLED), 1);
    assert_int_equal(fake_calls(FAKE_COMMIT), 5);
}

static void test_commit__that_did_not_happen_runs_the_handler_again(void **state) {
    (void)state;
    fake_put("pay", 5);
    fake_script(FAKE_COMMIT, 2, 1, TP_DISCONNECTED, false);
    bench_run(bench_pay);
    assert_all_paid_once(5);
    assert_int_equal(fake_calls(FAKE_COMMIT), 6);
    assert_int_equal(fake_failures(), 0);
}

static void test_commit__conflict_rolls_back_and_runs_the_handler_again(void **state) {
    (void)state;
    fake_put("pay", 3);
    fake_script(FAKE_COMPLETE, 0, 2, TP_CONFLICT, false);
    bench_run(bench_pay);
    assert_all_paid_once(3);
    assert_int_equal(fake_failures(), 0);
    assert_int_equal(fake_calls(FAKE_ROLLBACK), 2);
}

static void test_commit__conflict_for_ever_is_a_failure_in_the_end(void **state) {
    (void)state;
    tp_retry none = {sizeof(tp_retry), NULL, 0};
    tp_worker_options o = bench_options();
    o.retry = &none;
    fake_put("pay", 1);
    fake_script(FAKE_COMMIT, 0, 1000, TP_CONFLICT, false);
    bench_finish(bench_start(&o, bench_pay));
    assert_int_equal(fake_calls(FAKE_COMMIT), 3);
    assert_int_equal(fake_count(FAKE_FAILED), 1);
    assert_int_equal(fake_effects_other_than(0), 0);
    assert_non_null(strstr(bench.watch.texts[TP_EVENT_GAVE_UP], "conflict"));
}

static void test_settle__failure_without_hope_is_told_and_written_as_the_reason(void **state) {
    (void)state;
    fake_put("pay", 1);
    fake_script(FAKE_COMPLETE, 0, 1, TP_DB, false);
    bench_run(bench_done);
    assert_int_equal(watch_count(&bench.watch, TP_EVENT_ERROR), 1);
    assert_int_equal(watch_count(&bench.watch, TP_EVENT_RETRY), 1);
    assert_int_equal(fake_count(FAKE_DONE), 1);
    assert_int_equal(fake_failures(), 1);
}

static void test_settle__failure_without_hope_in_the_transaction_takes_the_effect_with_it(void **state) {
    (void)state;
    fake_put("pay", 1);
    fake_script(FAKE_COMPLETE, 0, 1, TP_DB, false);
    bench_run(bench_pay);
    assert_all_paid_once(1);
    assert_int_equal(watch_count(&bench.watch, TP_EVENT_ERROR), 1);
    assert_int_equal(fake_failures(), 1);
}

static void test_settle__that_cannot_be_written_at_all_is_left_to_the_lease(void **state) {
    (void)state;
    tp_worker_options o = bench_options();
    o.lease_ms = 200;
    fake_put("pay", 1);
    fake_script(FAKE_COMPLETE, 0, 1, TP_DB, false);
    fake_script(FAKE_FAIL, 0, 1, TP_DB, false);
    bench_finish(bench_start(&o, bench_done));
    assert_int_equal(fake_lapses(), 1);
    assert_int_equal(fake_count(FAKE_DONE), 1);
    assert_int_equal(watch_count(&bench.watch, TP_EVENT_ERROR), 2);
}

static void test_claim__is_asked_again_under_its_token(void **state) {
    (void)state;
    fake_put("pay", 25);
    fake_script(FAKE_CLAIM, 1, 1, TP_DISCONNECTED, true);
    bench_run(bench_pay);
    assert_all_paid_once(25);
    assert_int_equal(fake_lapses(), 0);
    assert_int_equal(fake_failures(), 0);
}

static void test_claim__failure_without_hope_is_told_and_tried_on(void **state) {
    (void)state;
    fake_put("pay", 3);
    fake_script(FAKE_CLAIM, 0, 3, TP_SCHEMA, false);
    bench_run(bench_pay);
    assert_all_paid_once(3);
    assert_int_equal(watch_count(&bench.watch, TP_EVENT_ERROR), 3);
}

static void test_outage__is_told_once_and_its_end_too(void **state) {
    (void)state;
    tp_worker_options o = bench_options();
    o.drain = 0;
    fake_put("pay", 3);
    tp_worker *worker = bench_start(&o, bench_wait);
    assert_true(gate_wait_arrived(&bench.gate, 3));
    fake_down(true);
    gate_open(&bench.gate);
    assert_true(watch_wait(&bench.watch, TP_EVENT_OFFLINE, 1));
    fake_down(false);
    assert_true(watch_wait(&bench.watch, TP_EVENT_DONE, 3));
    tp_worker_stop(worker);
    bench_finish(worker);
    assert_int_equal(watch_count(&bench.watch, TP_EVENT_OFFLINE), 1);
    assert_int_equal(watch_count(&bench.watch, TP_EVENT_ONLINE), 1);
    assert_int_equal(fake_count(FAKE_DONE), 3);
}

static void test_run_conn__waits_for_the_database_to_come_back(void **state) {
    (void)state;
    fake_put("pay", 4);
    fake_script(FAKE_BEGIN, 0, 6, TP_DISCONNECTED, false);
    bench_run(bench_pay);
    assert_all_paid_once(4);
    assert_int_equal(fake_failures(), 0);
}

static tp_verdict read_params_then_pay(tp_run *run, void *arg) {
    const char *params;
    size_t length;
    tp_conn *conn;
    (void)arg;
    if (tp_run_conn(run, &conn) != TP_OK) return TP_RUN_FAILED;
    fake_effect(conn, tp_run_task(run));
    if (tp_run_params(run, &params, &length) != TP_OK) return TP_RUN_FAILED;
    return length == strlen(tp_run_task(run)->id) ? TP_RUN_DONE : TP_RUN_FAILED;
}

static void test_run_params__lost_inside_the_transaction_is_no_failure_of_the_task(void **state) {
    (void)state;
    fake_put("pay", 4);
    fake_script(FAKE_PARAMS, 1, 2, TP_DISCONNECTED, false);
    bench_run(read_params_then_pay);
    assert_all_paid_once(4);
    assert_int_equal(fake_failures(), 0);
}

static tp_verdict lose_the_claim(tp_run *run, void *arg) {
    tp_conn *conn;
    (void)arg;
    if (tp_run_conn(run, &conn) != TP_OK) return TP_RUN_FAILED;
    fake_effect(conn, tp_run_task(run));
    fake_steal(tp_run_task(run)->id);
    if (!watch_wait(&bench.watch, TP_EVENT_LOST, 1)) return TP_RUN_FAILED;
    return tp_run_should_stop(run) ? TP_RUN_DONE : TP_RUN_FAILED;
}

static void test_keeper__tells_a_handler_that_its_claim_is_lost(void **state) {
    (void)state;
    tp_worker_options o = bench_options();
    o.drain = 0;
    o.lease_ms = 300;
    bench.watch.stop_on = TP_EVENT_LOST;
    fake_put("pay", 1);
    tp_worker *worker = bench_start(&o, lose_the_claim);
    assert_true(watch_wait(&bench.watch, TP_EVENT_LOST, 1));
    tp_worker_stop(worker);
    bench_finish(worker);
    assert_int_equal(watch_count(&bench.watch, TP_EVENT_LOST), 1);
    assert_int_equal(watch_count(&bench.watch, TP_EVENT_DONE), 0);
    assert_int_equal(fake_effects_other_than(0), 0);
}

static tp_verdict outlast_the_lease(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    fake_wait_calls(FAKE_EXTEND, fake_calls(FAKE_EXTEND) + 5);
    return TP_RUN_DONE;
}

static void test_keeper__extends_running_and_queued_tasks_past_failures(void **state) {
    (void)state;
    tp_worker_options o = bench_options();
    o.threads = 1;
    o.lease_ms = 300;
    fake_put("pay", 3);
    fake_script(FAKE_EXTEND, 1, 1, TP_TIMEOUT, false);
    bench_finish(bench_start(&o, outlast_the_lease));
    assert_int_equal(fake_count(FAKE_DONE), 3);
    assert_int_equal(fake_lapses(), 0);
    assert_int_equal(watch_count(&bench.watch, TP_EVENT_LOST), 0);
}

static void test_worker__pays_each_once_over_a_line_that_breaks_all_the_time(void **state) {
    (void)state;
    tp_worker_options o = bench_options();
    o.threads = 8;
    o.batch = 50;
    fake_put("pay", 600);
    tp_worker *worker = bench_start(&o, read_params_then_pay);
    fake_noise(40);
    bench_finish(worker);
    assert_int_equal(fake_count(FAKE_DONE) + fake_count(FAKE_FAILED), 600);
    assert_int_equal(fake_effects_other_than(1), fake_count(FAKE_FAILED));
    assert_int_equal(fake_lapses(), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_settle__is_asked_again_when_its_answer_is_lost),
        TEST(test_fail__counts_once_when_its_answer_is_lost),
        TEST(test_commit__that_happened_unheard_is_not_done_twice),
        TEST(test_commit__that_did_not_happen_runs_the_handler_again),
        TEST(test_commit__conflict_rolls_back_and_runs_the_handler_again),
        TEST(test_commit__conflict_for_ever_is_a_failure_in_the_end),
        TEST(test_settle__failure_without_hope_is_told_and_written_as_the_reason),
        TEST(test_settle__failure_without_hope_in_the_transaction_takes_the_effect_with_it),
        TEST(test_settle__that_cannot_be_written_at_all_is_left_to_the_lease),
        TEST(test_claim__is_asked_again_under_its_token),
        TEST(test_claim__failure_without_hope_is_told_and_tried_on),
        TEST(test_outage__is_told_once_and_its_end_too),
        TEST(test_run_conn__waits_for_the_database_to_come_back),
        TEST(test_run_params__lost_inside_the_transaction_is_no_failure_of_the_task),
        TEST(test_keeper__tells_a_handler_that_its_claim_is_lost),
        TEST(test_keeper__extends_running_and_queued_tasks_past_failures),
        TEST(test_worker__pays_each_once_over_a_line_that_breaks_all_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
