/* What the processes of a bench know of each other, through memory that all share: tasks done, the time at
 * which one was picked up, and that all are to stop. */
#ifndef BENCH_SHARED_H
#define BENCH_SHARED_H

#include "bench.h"

enum cli_exit bench_shared_open(struct bench_shared **shared);
/* NULL is accepted. */
void bench_shared_close(struct bench_shared *shared);
/* This process has been started by the first, and is that of a slot; orders: where it hears the first one,
 * and that it went away. */
void bench_shared_join(struct bench_shared *shared, size_t slot, int orders);

/* All others are to stop. */
void bench_shared_stop(struct bench_shared *shared);
/* Waits so long for an order. True: one is there. This process stops when it is told to, or is alone. */
bool bench_shared_hear(struct bench_shared *shared, int ms);
/* Waits a millisecond, and hears, in whatever process. */
void bench_shared_rest(struct bench_shared *shared);

/* Counts of tasks done: this process sets its own, and reads the sum of all. */
void bench_shared_reset(struct bench_shared *shared);
void bench_shared_set_done(struct bench_shared *shared, int64_t done);
int64_t bench_shared_done(const struct bench_shared *shared);

/* A task was picked up, in whatever process; and the wait for that. */
void bench_shared_picked(struct bench_shared *shared);
/* Of tasks that were put in before, and run a second time. */
void bench_shared_forget_picks(struct bench_shared *shared);
/* 0: not within ms. */
double bench_shared_await_pick(struct bench_shared *shared, int ms);

#endif
