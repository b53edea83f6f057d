/* Plan hold: which of the executors polls for tasks; see poller.c. */
#ifndef TPI_WORKER_POLLER_H
#define TPI_WORKER_POLLER_H

#include "worker/pace.h"
#include "worker/queue.h"
#include "worker/transaction.h"
#include "worker/wakeup.h"

struct tpi_poller {
    struct tpi_lifetime *life;
    struct tpi_queue *queue;
    struct tpi_wakeup *wakeup;
    struct tpi_transactions *transactions;
    const struct tpi_claims *claims;
    const tp_worker_options *options;
    bool polling;         /* under the queue's lock: one of the executors polls */
    struct tpi_pace pace; /* under the queue's lock: of the one that does */
};

/* Claims, runs and settles as an executor, when it is its time. False: the worker does not hold now. */
bool tpi_poller_cycle(struct tpi_poller *poller, struct tpi_hold *hold);
/* For transactions: a thread has claimed, and another may poll. */
void tpi_poller_claimed(void *poller, struct tpi_hold *hold);

#endif
