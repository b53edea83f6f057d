/* From a handler's verdict to its settle; see verdict.c. */
#ifndef TPI_WORKER_VERDICT_H
#define TPI_WORKER_VERDICT_H

#include "worker/handler_run.h"

/* Runs one job to its settle, or to the completer. */
void tpi_verdict_run(struct tpi_runs *runs, struct tpi_session *session, struct tpi_job *job);
/* Inside the task's transaction, when the handler has failed: is it lost, through no fault of the handler? */
bool tpi_verdict_tx_lost(struct tpi_session *session);

#endif
