/* How often the database is asked the same: what takes long more rarely, so that it is a three-hundredth of
 * the time at most, as long as that means once in 15 seconds or more often. The pages ask some ten things:
 * together they take a processor of the database's a few hundredths of its time, however many people look. */
#ifndef CONSOLE_POLLING_INTERVAL_H
#define CONSOLE_POLLING_INTERVAL_H

#include <stdint.h>

enum { POLLING_SHARE = 299, POLLING_MAX_MS = 15000 };

/* The pause after an answer that took so long; at least least_ms. */
static inline int64_t polling_interval_ms(int64_t took_ms, int64_t least_ms) {
    int64_t pause = took_ms * POLLING_SHARE;

    if (pause > POLLING_MAX_MS) pause = POLLING_MAX_MS;
    return pause > least_ms ? pause : least_ms;
}

#endif
