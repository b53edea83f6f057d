/* Other processes with a worker each, as other programs would be: each has an environment and connections of
 * its own. They do what the first process orders. Read next: shared.h. */
#ifndef BENCH_WORKER_PROCESSES_H
#define BENCH_WORKER_PROCESSES_H

#include "bench.h"
#include "bench_worker.h"

/* Starts as many as the measures need, by fork: before any connection or thread. */
enum cli_exit bench_processes_open(struct bench *bench);
/* They end. */
void bench_processes_close(struct bench *bench);

/* All processes live; gives what they did together. */
enum cli_exit bench_processes_live(struct bench *bench, const char *plan, struct bench_share *sum);
/* The first process runs a worker with bench_pickup, until it is ordered to end. */
enum cli_exit bench_processes_watch(struct bench *bench, const char *plan);
enum cli_exit bench_processes_watch_end(struct bench *bench);
/* True: it has ended before it was ordered to, which is reported, with *code. */
bool bench_processes_failed(struct bench *bench, enum cli_exit *code);

#endif
