/* The measures that need one worker in this process: whole lives of tasks, and a worker with nothing to do.
 * Must not know the other processes. Read next: worker_processes.h. */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

#include "bench.h"

/* Makes a worker and starts it. Its errors are printed; a lost connection is what bench_worker_trouble
 * reports. */
enum cli_exit bench_worker_start(struct bench *bench, tp_env *env, const char *plan, tp_handler_fn fn,
                                 void *arg, tp_worker **worker);
/* True: the worker lost its connection, which is reported, with *code. */
bool bench_worker_trouble(enum cli_exit *code);
/* A handler that records when it was called; arg is the bench. */
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
