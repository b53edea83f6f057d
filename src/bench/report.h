/* Prints the figures: tables of medians for people, or one JSON document with every round. Must not measure.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench.h"

void bench_report(const struct bench *bench);
/* What --clean took out. */
void bench_report_clean(const struct bench *bench);
/* A line on a terminal's standard error. */
void bench_progress(const struct bench *bench, enum bench_measure measure, const char *plan);

#endif
