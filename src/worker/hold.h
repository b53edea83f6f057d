/* Plan hold: claim to commit in a handler thread (hold.c), and whose turn it is (scout.c). */
#ifndef TPI_WORKER_HOLD_H
#define TPI_WORKER_HOLD_H

#include "worker/worker.h"

/* Before the start, with worker->first. */
void tpi_hold_choose(struct tp_worker *worker);
bool tpi_hold_wanted(const struct tp_worker *worker);
/* Whether to hold from now on, or to claim by leases. */
void tpi_hold_set(struct tp_worker *worker, bool holding);
/* Claims, runs and settles in one transaction. TP_NONE: nothing was due. */
TP_CHECKED tp_status tpi_hold_once(struct tpi_line *line, size_t *ran);
/* The same as a handler thread, when it is its turn. False: the worker does not hold now. */
bool tpi_hold_turn(struct tpi_line *line);
/* Nothing is claimed next: what the last commit began is not left open. */
void tpi_hold_leave(struct tpi_line *line);
/* A thread's look is over; the scout lets another look. */
void tpi_hold_pass(struct tpi_line *line, bool found);

#endif
