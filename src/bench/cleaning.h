/* Takes out what a bench put in, with the calls that every operator has. Must not know what was measured. */
#ifndef BENCH_CLEANING_H
#define BENCH_CLEANING_H

#include "bench.h"

/* A name that nobody else has, which says when it was made. */
void bench_handler_name(struct bench *bench);
/* Completes what is open. */
enum cli_exit bench_drain(struct bench *bench);
/* Tries the deletes on nothing: may the user take out what the bench puts in? */
enum cli_exit bench_may_clean(struct bench *bench);
/* Takes out everything of the bench's handler. */
enum cli_exit bench_clean(struct bench *bench);
/* The same for a run that was killed: of one handler, or of all that are there. */
enum cli_exit bench_clean_left(struct bench *bench, const char *handler);

#endif
