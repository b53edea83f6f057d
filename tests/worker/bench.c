/* See bench.h. */
#include "bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after the four above */
#include <cmocka.h>

static const int64_t quick_delays[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const tp_retry quick = {sizeof(tp_retry), quick_delays, 10};

struct bench bench;

int bench_set_up(void **state) {
    (void)state;
    fake_reset();
    watch_open(&bench.watch);
    gate_init(&bench.gate);
    return tp_env_open("fake", &bench.env);
}

int bench_tear_down(void **state) {
    (void)state;
    tp_env_close(bench.env);
    watch_close(&bench.watch);
    return fake_connections() || fake_batches();
}

tp_worker_options bench_options(void) {
    tp_worker_options o = TP_WORKER_INIT;
    o.threads = 3;
    o.batch = 10;
    o.poll_ms = 20;
    o.retry = &quick;
    o.drain = 1;
    o.on_event = watch_event;
    o.event_arg = &bench.watch;
    return o;
}

tp_worker *bench_start(const tp_worker_options *o, tp_handler_fn fn) {
    tp_worker *worker = NULL;
    assert_int_equal(tp_worker_open(bench.env, o, &worker), TP_OK);
    assert_int_equal(tp_worker_handle(worker, "pay", fn, NULL), TP_OK);
    assert_int_equal(tp_worker_start(worker), TP_OK);
    return worker;
}

void bench_finish(tp_worker *worker) {
    assert_int_equal(tp_worker_join(worker), TP_OK);
    tp_worker_close(worker);
}

void bench_run(tp_handler_fn fn) {
    tp_worker_options o = bench_options();
    bench_finish(bench_start(&o, fn));
}

tp_verdict bench_done(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    return TP_RUN_DONE;
}

tp_verdict bench_pay(tp_run *run, void *arg) {
    tp_conn *conn;
    (void)arg;
    if (tp_run_conn(run, &conn) != TP_OK) {
        tp_run_reason(run, "no connection");
        return TP_RUN_FAILED;
    }
    fake_effect(conn, tp_run_task(run));
    return TP_RUN_DONE;
}

tp_verdict bench_fail(tp_run *run, void *arg) {
    (void)arg;
    tp_run_reason(run, "no money");
    return TP_RUN_FAILED;
}

tp_verdict bench_wait(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    gate_pass(&bench.gate);
    return TP_RUN_DONE;
}
