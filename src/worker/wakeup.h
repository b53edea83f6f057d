/* That tasks came by an enqueue in this process; see wakeup.c. */
#ifndef TPI_WORKER_WAKEUP_H
#define TPI_WORKER_WAKEUP_H

#include "base/wake.h"
#include "worker/queue.h"

struct tpi_wakeup {
    struct tpi_queue *queue;
    const struct tpi_handler_table *handlers;
    struct tpi_wake wake;
    bool woken;                 /* under the queue's lock: an enqueue in this process ... */
    struct tpi_arrival arrival; /* ... of these tasks */
};

void tpi_wakeup_init(struct tpi_wakeup *wakeup);
/* As an enqueue in this process does. */
void tpi_wakeup_now(struct tpi_wakeup *wakeup);
/* With the queue's lock held. Was it woken since tpi_wakeup_take was called last, and by what? */
bool tpi_wakeup_is_set(const struct tpi_wakeup *wakeup);
bool tpi_wakeup_take(struct tpi_wakeup *wakeup, struct tpi_arrival *arrival);

#endif
