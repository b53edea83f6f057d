/* The calls of a program with one connection: enqueue, claim and settle, each of them a measure, and the
 * tasks that the other measures put in. Must not know workers. */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include "bench.h"
#include "results.h"

enum cli_exit bench_enqueue_one(struct bench *bench);
enum cli_exit bench_enqueue_many(struct bench *bench);
enum cli_exit bench_claim_and_settle(struct bench *bench, const char *plan);

/* A task of the bench, as it is put in now. */
void bench_task_init(const struct bench *bench, tp_new_task *task);
/* Puts in count tasks, at most --put at a time. cost may be NULL. */
enum cli_exit bench_put(struct bench *bench, int64_t count, struct bench_cost *cost);
/* Reports the failure of an enqueue. Where no answer came the server may still be at it: the tasks are sent
 * again, with the same ids, so that none arrives after everything was taken out. */
enum cli_exit bench_put_failed(struct bench *bench, tp_new_task *tasks, size_t count, tp_status status);
/* Opens the connection again after a failure, and waits a while for a lost database. */
tp_status bench_reopen(struct bench *bench);

#endif
