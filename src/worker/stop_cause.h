/* Why a handler should end soon, and what becomes of its verdict then; see stop_cause.c. */
#ifndef TPI_WORKER_STOP_CAUSE_H
#define TPI_WORKER_STOP_CAUSE_H

#include "worker/run.h"

/* Before its handler is called: is the task not wanted any more? Then the run's reason says why. */
bool tpi_run_is_unwanted(struct tp_run *run);
/* After it: true: the task is not wanted any more and was not done, so it ends as skipped, without what the
 * handler wrote. When the handler skipped it by itself: false, and the reason is completed. */
bool tpi_run_heeds(struct tp_run *run, tp_verdict verdict);

#endif
