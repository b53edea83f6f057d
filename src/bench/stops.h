/* How often the user, or the first process, asked this one to stop. */
#ifndef BENCH_STOPS_H
#define BENCH_STOPS_H

/* From now on Ctrl-C and its like count. */
void bench_catch_stops(void);
int bench_stops(void);
/* Counts one more; for processes that hear no signals. */
void bench_stop(void);

#endif
