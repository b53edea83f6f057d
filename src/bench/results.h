/* Counts what work costs (time, processor time, statements), and makes figures of it. Must not know what the
 * work is. */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include "bench.h"

/* A new result of this round, with all figures missing; to be filled before the next is asked for. */
struct bench_result *bench_result_new(struct bench *bench, enum bench_measure measure, const char *plan);
void bench_figure(struct bench_result *result, enum bench_figure figure, double value);

/* Smallest first. */
void bench_sort(double *values, size_t count);

/* What work cost so far. */
struct bench_cost {
    double seconds, cpu_us;
    tp_counters work;
};
/* Monotonic, the same in all processes of this machine. */
double bench_now(void);
/* Of this process, user and system. */
double bench_cpu_us(void);
void bench_cost_begin(struct bench_cost *cost, const tp_conn *conn);
void bench_cost_end(struct bench_cost *cost, const tp_conn *conn);
/* Fills the figures of a measure of tasks. */
void bench_cost_figures(struct bench_result *result, int64_t tasks, const struct bench_cost *cost);
/* Adds, or takes away, what b counts. */
void bench_work_add(tp_counters *a, const tp_counters *b, bool less);

#endif
