/* How long a task waits for its handler. */
#ifndef BENCH_LATENCY_H
#define BENCH_LATENCY_H

#include "bench.h"

enum cli_exit bench_latency(struct bench *bench, const char *plan, bool same_process);

#endif
