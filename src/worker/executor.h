/* The handler threads; see executor.c. */
#ifndef TPI_WORKER_EXECUTOR_H
#define TPI_WORKER_EXECUTOR_H

#include "worker/pace.h"
#include "worker/threads.h"
#include "worker/transaction.h"

struct tpi_executors {
    struct tpi_lifetime *life;
    struct tpi_sessions *sessions;
    struct tpi_threads *threads;
    struct tpi_queue *queue;
    struct tpi_transactions *transactions;
    struct tpi_runs *runs;
    const struct tpi_claims *claims;
    const tp_worker_options *options;
    bool polling;         /* plan hold, under the queue's lock: one of them polls for tasks */
    struct tpi_pace pace; /* under the queue's lock: of the one that does */
};

/* Starts one more, if there may be more. False: there may not, or the system gives none. */
bool tpi_executors_add(struct tpi_executors *executors);
/* For transactions: a thread has claimed, and another may poll. */
void tpi_executors_claimed(void *executors, struct tpi_hold *hold);

#endif
