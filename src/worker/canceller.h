/* The thread that tells handlers that their tasks are not wanted any more; see canceller.c. */
#ifndef TPI_WORKER_CANCELLER_H
#define TPI_WORKER_CANCELLER_H

#include "worker/job.h"
#include "worker/session.h"

struct tpi_canceller {
    struct tpi_lifetime *life;
    struct tpi_sessions *sessions;
    struct tpi_jobs *jobs;
};

/* How often it looks, for tasks that have been in hand for so long, and at how many with one statement, at
 * most as many as it has by itself. Only tests change them. */
extern int64_t tpi_canceller_every_ms;
extern size_t tpi_canceller_at_a_time;

/* The thread; arg is the canceller. */
void *tpi_canceller_main(void *arg);

#endif
