/* Counts and medians of the measures. See results.h. */
#include "results.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* ---- Results ----------------------------------------------------------------------------------------- */

struct bench_result *bench_result_new(struct bench *bench, enum bench_measure measure, const char *plan) {
    struct bench_result *result;

    bench->results = cli_must(realloc(bench->results, (bench->count + 1) * sizeof *bench->results));
    result = &bench->results[bench->count++];
    memset(result, 0, sizeof *result);
    result->measure = measure;
    result->round = bench->round;
    result->plan = plan;
    return result;
}

void bench_figure(struct bench_result *result, enum bench_figure figure, double value) {
    result->has[figure] = true;
    result->figure[figure] = value;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

void bench_sort(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare);
}

/* ---- What it costs ----------------------------------------------------------------------------------- */

double bench_now(void) {
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double bench_cpu_us(void) {
    struct rusage used;

    (void)getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

void bench_work_add(tp_counters *a, const tp_counters *b, bool less) {
    uint64_t sign = less ? UINT64_MAX : 1;

    a->statements += sign * b->statements;
    a->round_trips += sign * b->round_trips;
    a->commits += sign * b->commits;
}

void bench_cost_begin(struct bench_cost *cost, const tp_conn *conn) {
    bench_work_add(&cost->work, tp_conn_counters(conn), true);
    cost->cpu_us -= bench_cpu_us();
    cost->seconds -= bench_now();
}

void bench_cost_end(struct bench_cost *cost, const tp_conn *conn) {
    cost->seconds += bench_now();
    cost->cpu_us += bench_cpu_us();
    bench_work_add(&cost->work, tp_conn_counters(conn), false);
}

void bench_cost_figures(struct bench_result *result, int64_t tasks, const struct bench_cost *cost) {
    double count = (double)tasks;

    result->tasks = tasks;
    bench_figure(result, FIGURE_SECONDS, cost->seconds);
    bench_figure(result, FIGURE_RATE, cost->seconds > 0 ? count / cost->seconds : 0);
    bench_figure(result, FIGURE_STATEMENTS, (double)cost->work.statements / count);
    bench_figure(result, FIGURE_TRIPS, (double)cost->work.round_trips / count);
    bench_figure(result, FIGURE_COMMITS, (double)cost->work.commits / count);
    bench_figure(result, FIGURE_CPU, cost->cpu_us / count);
}
