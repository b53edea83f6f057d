/* Plan hold: claim to commit in a handler thread (transaction.c), and whose turn it is (poller.c). */
#ifndef TPI_WORKER_TRANSACTION_H
#define TPI_WORKER_TRANSACTION_H

#include "worker/worker.h"

/* Before the start, with worker->first. */
void tpi_poller_choose(struct tp_worker *worker);
bool tpi_poller_wanted(const struct tp_worker *worker);
/* Whether to hold from now on, or to claim by leases. */
void tpi_poller_hold(struct tp_worker *worker, bool holding);
/* Claims, runs and settles in one transaction. TP_NONE: nothing was due. */
TP_CHECKED tp_status tpi_transaction_once(struct tpi_session *session, size_t *ran);
/* The same as a handler thread, when it is its turn. False: the worker does not hold now. */
bool tpi_poller_cycle(struct tpi_session *session);
/* Nothing is claimed next: what the last commit began is not left open. */
void tpi_transaction_leave(struct tpi_session *session);
/* A thread's look is over; the poller lets another look. */
void tpi_poller_pass(struct tpi_session *session, bool found);

#endif
