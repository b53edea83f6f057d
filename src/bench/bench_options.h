/* The options of taskpool bench. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "bench.h"

/* True: only --clean, of that handler or, NULL, of all. A mistake ends the program. */
bool bench_read_options(int argc, const char **argv, struct bench_settings *set, const char **handler);
const char *bench_measure_name(enum bench_measure measure);

#endif
