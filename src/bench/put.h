/* Tasks that go in, and the connection that a failure left. */
#ifndef BENCH_PUT_H
#define BENCH_PUT_H

#include "bench.h"
#include "results.h"

/* A task of the bench, as it is put in now. */
void bench_task_init(const struct bench *bench, tp_new_task *task);
/* Puts in count tasks, at most --put at a time. cost may be NULL. */
enum cli_exit bench_put(struct bench *bench, int64_t count, struct bench_cost *cost);
/* Tells it. Where no answer came the server may still be at it: they are asked for again, with the same ids,
 * so that none comes after everything was taken out. */
enum cli_exit bench_put_failed(struct bench *bench, tp_new_task *tasks, size_t count, tp_status status);
/* A connection that a failure left in whatever state is made anew; a lost database is waited for. */
tp_status bench_reopen(struct bench *bench);

#endif
