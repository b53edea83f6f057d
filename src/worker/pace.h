/* When a worker polls next; see pace.c. */
#ifndef TPI_WORKER_PACE_H
#define TPI_WORKER_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "taskpool.h"

enum {
    TPI_PACE_COOLING = 16,   /* as tasks come: the pause is this part of the time since the last */
    TPI_DRAIN_POLL_MS = 100, /* a draining worker polls this often for tasks that come due ... */
    TPI_DRAIN_REST_MS = 500, /* ... or after a 16th of the time since the last came, up to this */
};

struct tpi_pace {
    bool rate;
    int64_t hot_ms, poll_ms, idle_ms; /* hot_ms 0: not as tasks come, but fixed */
    int64_t tick, warm_at;            /* rate: the last planned time; when tasks last came, or were said to */
    unsigned empty;                   /* claims in a row that found nothing */
    int64_t statements;               /* of the last poll; 0: not known */
};

void tpi_pace_init(struct tpi_pace *pace, const tp_worker_options *options, int64_t now);
/* Tasks came, or somebody said so. */
void tpi_pace_warm(struct tpi_pace *pace, int64_t now);
/* When to claim next, by the monotonic clock, after a claim that began and ended now. random: 0 to 99. */
int64_t tpi_pace_next(struct tpi_pace *pace, int64_t began, int64_t now, bool found, int random);
/* How long a worker that drains waits at most before it looks what is left; in ms. */
int64_t tpi_pace_drain(const struct tpi_pace *pace, int64_t now);

#endif
