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

/* How often it looks, for tasks that have been in hand for so long. Only tests change it. */
extern int64_t tpi_canceller_every_ms;

/* The thread; arg is the canceller. */
void *tpi_canceller_main(void *arg);

#endif
