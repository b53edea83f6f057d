/* What became of tasks, counted and sent as events; see record.c. */
#ifndef TPI_WORKER_RECORD_H
#define TPI_WORKER_RECORD_H

#include "worker/alerter.h"
#include "worker/job.h"
#include "worker/notify.h"
#include "worker/tally.h"

struct tpi_counts {
    atomic_uint_fast64_t claimed, done, failed, skipped, released, lost, unstored;
};

struct tpi_record {
    struct tpi_counts counts;
    struct tpi_notify *notify;
    struct tpi_alerter *alerter;
    struct tpi_tally *tally;
};

/* An event without a change of a task's state; task and text may be NULL. */
void tpi_record_error(struct tpi_record *record, const tp_task *task, const char *text);
/* How many were claimed. */
void tpi_record_claimed(struct tpi_record *record, size_t count);
/* It was put back as it was claimed. */
void tpi_record_put_back(struct tpi_record *record, const tp_task *task, const char *why);
/* It was settled so; status is the settle's answer. */
void tpi_record_settled(struct tpi_record *record, const struct tpi_job *job,
                        const struct tpi_outcome *outcome, tp_status status);
/* The settle found the claim lost. Nothing, if that is known. */
void tpi_record_lost_settle(struct tpi_record *record, struct tpi_job *job);
/* It is marked as lost, for this cause. task: the job's, by this claim or the next. */
void tpi_record_lost(struct tpi_record *record, const struct tpi_job *job, const tp_task *task,
                     const char *text);
/* It was claimed, not begun, and is another's by now. */
void tpi_record_lost_unstarted(struct tpi_record *record, const tp_task *task);
/* What became of it could not be stored. words: whether it is done, for who might cancel it. */
void tpi_record_unstored(struct tpi_record *record, const tp_task *task, const char *words, const char *text);
/* Nobody knows whether its transaction was stored. */
void tpi_record_unknown(struct tpi_record *record, const tp_task *task, const char *text);
/* The outcome of a job is given up. */
void tpi_record_dropped(struct tpi_record *record, const struct tpi_job *job, const char *text);

#endif
