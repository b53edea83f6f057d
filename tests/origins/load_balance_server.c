/* Design E, the server: 10 to 50 threads, a queue of 1000, what happens when it is full, and tasks that are
 * in hand longer than a scan. */
#include <string.h>

#include "base/clock.h"
#include "origins/load_balance.h"
#include "origins/origins.h"

enum { QUEUE = 1000, THREADS = 50 };

static const int32_t numbers[] = {1, 2, 3, 4, 5};

static int mail_somebody(const tp_task *task, const char *text, void *arg) {
    (void)task;
    (void)text;
    (void)arg;
    return 0;
}

static tp_worker_options server_options(void) {
    tp_worker_options options = worker_options();
    options.batch = 1000;
    options.shards = numbers;
    options.shard_count = 5;
    options.threads = 10;
    options.threads_max = 50;
    options.queue = 1000;
    options.keep_alive_ms = 300000;
    options.when_full = TP_FULL_ABORT;
    options.pace = TP_PACE_RATE;
    options.poll_ms = 60000;
    options.initial_delay_ms = 10000;
    options.on_alert = mail_somebody;
    return options;
}

static tp_verdict wait_at_gate(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    gate_pass(&scene.gate);
    return TP_RUN_DONE;
}

static tp_verdict done(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    return TP_RUN_DONE;
}

static tp_worker_info look(tp_worker *worker) {
    tp_worker_info info;
    tp_worker_look(worker, &info);
    return info;
}

/* 1,200 tasks that wait at the gate, and a server that polls without pauses. */
static tp_worker *start_server(tp_full when_full) {
    tp_worker_options options = server_options();
    put_spread("mail", 1200, TP_SPREAD_TURN, 5);
    options.when_full = when_full;
    options.initial_delay_ms = 0;
    options.poll_ms = 20;
    options.drain = 1;
    tp_worker *worker = worker_open(&options);
    must(tp_worker_handle(worker, "mail", wait_at_gate, NULL));
    must(tp_worker_start(worker));
    return worker;
}

static void finish_server(tp_worker *worker) {
    gate_open(&scene.gate);
    must(tp_worker_join(worker));
    expect_number(count_where("finished", "state = 'done' AND failures = 0"), 1200);
}

void test_server__fifty_threads_and_a_full_queue_and_the_caller_runs(void **state) {
    (void)state;
    tp_worker *worker = start_server(TP_FULL_CALLER_RUNS);
    assert_true(gate_wait_arrived(&scene.gate, THREADS + 1));
    tp_worker_info info = look(worker);
    expect_number(info.threads, THREADS);
    expect_number(info.queued, QUEUE);
    expect_number(info.running, THREADS + 1);
    expect_number(count_where("pending", "state = 'handling'"), QUEUE + THREADS + 1);
    finish_server(worker);
}

void test_server__what_a_full_queue_refuses_goes_back_without_a_failure(void **state) {
    (void)state;
    tp_worker *worker = start_server(TP_FULL_ABORT);
    assert_true(gate_wait_arrived(&scene.gate, THREADS));
    await(look(worker).queued == QUEUE);
    await(count_where("pending", "state = 'pending'") == 1200 - QUEUE - THREADS);
    expect_number(look(worker).running, THREADS);
    expect_number(count_where("pending", "failures > 0"), 0);
    finish_server(worker);
}

void test_server__takes_its_handlers_and_numbers_only(void **state) {
    tp_worker_options options = server_options();
    (void)state;
    put_spread("mail", 20, TP_SPREAD_TURN, 10);
    put_spread("fax", 20, TP_SPREAD_TURN, 10);
    tp_worker *worker = worker_open(&options);
    must(tp_worker_handle(worker, "mail", done, NULL));
    expect_number(step_all(worker), 10);
    expect_number(count_where("finished", "handler = 'mail' AND shard <= 5"), 10);
    expect_number(count_where("pending", "handler = 'mail' AND shard > 5"), 10);
    expect_number(count_where("pending", "handler = 'fax'"), 20);
}

/* The mail server runs on while tasks of a new kind come and find their own server. */
void test_server__a_new_handler_needs_no_restart_of_others(void **state) {
    tp_worker_options options = worker_options();
    (void)state;
    tp_worker *mail = worker_open(&options), *fax = worker_open(&options);
    must(tp_worker_handle(mail, "mail", done, NULL));
    must(tp_worker_start(mail));
    put_tasks("fax", 3, NULL);
    put_tasks("mail", 2, NULL);
    assert_true(watch_wait(&scene.watch, TP_EVENT_DONE, 2));
    expect_number(rows_in("pending", "fax"), 3);
    must(tp_worker_handle(fax, "fax", done, NULL));
    expect_number(step_all(fax), 3);
    put_tasks("mail", 2, NULL);
    assert_true(watch_wait(&scene.watch, TP_EVENT_DONE, 7));
    expect_number(rows_in("finished", "mail"), 4);
    expect_number(rows_in("finished", "fax"), 3);
    assert_string_equal(look(mail).state, "running");
}

/* Its lease lapses by the database's clock, and scans go on; it is in hand all the same. */
void test_server__a_slow_task_is_not_dispatched_again(void **state) {
    tp_worker_options options = worker_options();
    (void)state;
    options.threads = 3;
    tp_worker *worker = worker_open(&options);
    must(tp_worker_handle(worker, "slow", wait_at_gate, NULL));
    must(tp_worker_handle(worker, "mail", done, NULL));
    must(tp_worker_start(worker));
    put_tasks("slow", 1, NULL);
    assert_true(gate_wait_arrived(&scene.gate, 1));
    for (int scan = 1; scan <= 3; scan++) {
        advance(61000);
        put_tasks("mail", 1, NULL);
        assert_true(watch_wait(&scene.watch, TP_EVENT_DONE, scan));
    }
    expect_number(scene.gate.arrived, 1);
    gate_open(&scene.gate);
    await(count_where("finished", "handler = 'slow' AND state = 'done'") == 1);
    expect_number(scene.gate.arrived, 1);
}

void test_server__begins_after_its_initial_delay(void **state) {
    enum { INITIAL_MS = 150 };
    tp_worker_options options = worker_options();
    (void)state;
    put_tasks("mail", 1, NULL);
    options.initial_delay_ms = INITIAL_MS;
    tp_worker *worker = worker_open(&options);
    must(tp_worker_handle(worker, "mail", done, NULL));
    int64_t began = tpi_clock_mono_ms();
    must(tp_worker_start(worker));
    assert_true(watch_wait(&scene.watch, TP_EVENT_DONE, 1));
    assert_true(tpi_clock_mono_ms() - began >= INITIAL_MS);
}
