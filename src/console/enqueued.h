/* How many tasks were put in, minute by minute, as the console saw it: no table has that, and to count it
 * anew would read history. Pure; kept in memory, a week of it. Read next: reader.h. */
#ifndef CONSOLE_ENQUEUED_H
#define CONSOLE_ENQUEUED_H

#include <stdint.h>

enum { ENQUEUED_MINUTES = 7 * 24 * 60 };

/* Start from {0}. */
struct enqueued {
    int32_t minutes[ENQUEUED_MINUTES]; /* since 1970, each in its place; 0: none */
    int32_t counts[ENQUEUED_MINUTES];
};

/* In the minute before now (milliseconds of the database's clock) so many were put in. Of a minute the first
 * count after its end is kept. */
void enqueued_note(struct enqueued *enqueued, int64_t now, int64_t count);
/* All of [since, until); -1: of none of it is anything known. */
int64_t enqueued_sum(const struct enqueued *enqueued, int64_t since, int64_t until);

#endif
