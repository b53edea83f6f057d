/* What the tests over fake_pool share: one watched worker at a time, and the usual handlers. Handlers are
 * registered under "pay". */
#ifndef TESTS_WORKER_BENCH_H
#define TESTS_WORKER_BENCH_H

#include "fake_pool.h"
#include "watch.h"

struct bench {
    tp_env *env;
    struct watch watch;
    struct gate gate;
};
extern struct bench bench;

int bench_set_up(void **state);
/* Fails when a connection or a batch was left open. */
int bench_tear_down(void **state);

/* Draining, three threads, small batches, a ladder of milliseconds. */
tp_worker_options bench_options(void);
tp_worker *bench_start(const tp_worker_options *o, tp_handler_fn fn);
/* Joins and closes. */
void bench_finish(tp_worker *worker);
/* A worker with bench_options, from start to end. */
void bench_run(tp_handler_fn fn);

tp_verdict bench_done(tp_run *run, void *arg);
/* Writes an effect in the task's transaction. */
tp_verdict bench_pay(tp_run *run, void *arg);
tp_verdict bench_fail(tp_run *run, void *arg);
/* Waits at the gate. */
tp_verdict bench_wait(tp_run *run, void *arg);

#endif
