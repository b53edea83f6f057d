/* The calls of a program that has one connection: enqueue, claim, settle. */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include "bench.h"

enum cli_exit bench_enqueue_one(struct bench *bench);
enum cli_exit bench_enqueue_many(struct bench *bench);
enum cli_exit bench_claim_and_settle(struct bench *bench, const char *plan);

#endif
