/* What the processes of a bench know of each other, through memory that all share: tasks done, the time at
 * which one was picked up, and that all are to stop. Must not know what is measured. */
#ifndef BENCH_SHARED_H
#define BENCH_SHARED_H

#include "bench.h"

enum cli_exit bench_shared_open(struct bench_shared **shared);
/* NULL is accepted. */
void bench_shared_close(struct bench_shared *shared);
/* This process was started by the first, and has that slot; orders: the file from which it reads what the
 * first one orders, and that it has gone. */
void bench_shared_join(struct bench_shared *shared, size_t slot, int orders);

/* How often the user, or the first process, asked this one to stop; signals count from bench_catch_stops on.
 */
void bench_catch_stops(void);
int bench_stops(void);
/* All others are to stop. */
void bench_shared_stop(struct bench_shared *shared);
/* Waits so long for an order. True: one is there. Where all are to stop, or the first process has gone, this
 * one stops. */
bool bench_shared_await_order(struct bench_shared *shared, int ms);
/* Waits a millisecond; with the same, where this process was started by the first. */
void bench_shared_rest(struct bench_shared *shared);

/* Counts of tasks done: this process sets its own, and reads the sum of all. */
void bench_shared_reset(struct bench_shared *shared);
void bench_shared_set_done(struct bench_shared *shared, int64_t done);
int64_t bench_shared_done(const struct bench_shared *shared);

/* A task was picked up, in whatever process; and the wait for that. */
void bench_shared_picked(struct bench_shared *shared);
/* Forgets tasks that were put in before and ran a second time. */
void bench_shared_forget_picks(struct bench_shared *shared);
/* 0: not within ms. */
double bench_shared_await_pick(struct bench_shared *shared, int ms);

#endif
