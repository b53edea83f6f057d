/* What a settle writes; see outcome.c. */
#ifndef TPI_WORKER_OUTCOME_H
#define TPI_WORKER_OUTCOME_H

#include "worker/job.h"

/* Replaces the job's outcome; the reason is copied. */
void tpi_outcome_set(struct tpi_job *job, tp_verdict verdict, const char *reason);
/* Of a failure: calls the delay of the job's policy, if it has one, so that the settle need not wait for it.
 */
void tpi_outcome_ask_delay(struct tpi_job *job);
/* The one settle that writes it. */
TP_CHECKED tp_status tpi_outcome_write(tp_conn *conn, const struct tpi_job *job,
                                       const struct tpi_outcome *outcome);

#endif
