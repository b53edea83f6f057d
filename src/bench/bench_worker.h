/* One worker, in this process: whole lives of tasks, tasks whose begin is timed, and nothing at all. */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

#include "bench.h"

/* Makes a worker and starts it. What it says that is no routine is told as bench_worker_trouble. */
enum cli_exit bench_worker_start(struct bench *bench, tp_env *env, const char *plan, tp_handler_fn fn,
                                 void *arg, tp_worker **worker);
/* The worker lost its connection: told, with *code. */
bool bench_worker_trouble(enum cli_exit *code);
/* The handler that tells when it was called; arg is the bench. */
tp_verdict bench_pickup(tp_run *run, void *arg);

/* What one process did of a life. */
struct bench_share {
    enum cli_exit code;
    double begin, end, cpu_us;
    tp_counters work;
};
/* Works until all processes together have done the tasks. */
void bench_live(struct bench *bench, tp_env *env, const char *plan, struct bench_share *share);
enum cli_exit bench_idle(struct bench *bench, const char *plan);

#endif
