/* The options of taskpool bench. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "bench.h"

/* False: *code is how the command ends. clean: --clean, of that handler or, NULL, of all. */
bool bench_read_options(int argc, const char **argv, struct bench_settings *settings, bool *clean,
                        const char **handler, enum cli_exit *code);
const char *bench_measure_name(enum bench_measure measure);

#endif
