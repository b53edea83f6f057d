/* What a settle writes; see outcome.c. */
#ifndef TPI_WORKER_OUTCOME_H
#define TPI_WORKER_OUTCOME_H

#include "worker/job.h"
#include "worker/session.h"

/* Replaces the job's outcome; the reason is copied. */
void tpi_outcome_set(struct tpi_job *job, tp_verdict verdict, const char *reason);
/* Of a failure: calls the delay of the job's policy, if it has one, so that the settle need not wait for it.
 */
void tpi_outcome_ask_delay(struct tpi_job *job);
/* The one settle that writes it. */
TP_CHECKED tp_status tpi_outcome_write(tp_conn *conn, const struct tpi_job *job,
                                       const struct tpi_outcome *outcome);

/* OPEN: nothing was stored, and it may be tried again. REFUSED: nothing was, and the next try would fail too.
 */
enum tpi_fate { TPI_FATE_STORED, TPI_FATE_LOST, TPI_FATE_OPEN, TPI_FATE_REFUSED, TPI_FATE_UNKNOWN };
/* After a commit, or something before it in the task's transaction, that failed so: asks the database what
 * became of the task. held: its claim was made in that transaction too, so that it is gone unless all was
 * stored. */
enum tpi_fate tpi_outcome_find(struct tpi_session *session, const tp_task *task, bool held,
                               tp_status failure);

/* When a settle was answered that the claim is not the one it names: whose the row is under. TP_OK: a claim
 * of this process. TP_NONE: of another, or none. */
TP_CHECKED tp_status tpi_outcome_ask_owner(struct tpi_session *session, const tp_task *task);

#endif
