/* One run of a job: its handler is called, and it is settled or given to the completer; see run.c. */
#ifndef TPI_WORKER_RUN_H
#define TPI_WORKER_RUN_H

#include "base/texts.h"
#include "worker/completer.h"
#include "worker/progress_writer.h"

/* What is common to all runs of a worker. */
struct tpi_runs {
    struct tpi_lifetime *life;
    struct tpi_record *record;
    struct tpi_completer *completer;
    struct tpi_progress_writer *progress;
    pthread_mutex_t reader_lock;
    struct tpi_signal reader_free;
    bool reading;              /* under reader_lock: a thread has the reader */
    struct tpi_session reader; /* of that thread: reads long parameters for all handlers */
    atomic_size_t running;     /* handlers being called */
    const tp_hook *hooks;      /* the owner's, checked; of the size of the first */
    size_t hook_count;
};

struct tp_run {
    struct tpi_runs *runs;
    struct tpi_session *session;
    struct tpi_job *job;
    bool in_transaction;
    bool held;         /* the task is locked by that transaction */
    bool asked;        /* and the handler was given it */
    int calls;         /* of the handler so far */
    tp_status trouble; /* what kept the worker from giving the handler what it asked for */
    bool doomed;       /* that was inside the transaction: it can only be rolled back */
    bool no_retry;
    int64_t delay_ms;
    const char *params;            /* NULL: not read yet */
    struct tpi_result *result;     /* what this call gave back; NULL: nothing */
    struct tpi_progress *progress; /* what it told of that; NULL: nothing */
    struct tpi_texts results;      /* of its steps */
    size_t steps;                  /* that this call of the handler asked for */
    bool in_step;
    tp_status step_fault;    /* what the step did that it must not do, or could not keep */
    const char *step_result; /* what it returns; NULL: nothing */
    bool reason_noted;       /* the reason begins with why the task is not wanted any more */
    char reason[TP_REASON_MAX + 1];
    char why[TPI_TEXT_SIZE]; /* the text of the failure being handled */
};

/* Of a task whose lease had lapsed: does the delay of its policy, which the claim left to this thread, say
 * that there are no more retries? */
bool tpi_run_is_exhausted(struct tpi_runs *runs, const struct tpi_job *job);
/* Calls the handler once. */
tp_verdict tpi_run_call(struct tp_run *run);
/* Hands over what the call gave back. */
struct tpi_result *tpi_run_take_result(struct tp_run *run);
/* Runs one job to its settle, or to the completer. */
void tpi_run_job(struct tpi_runs *runs, struct tpi_session *session, struct tpi_job *job);
/* Keeps the text of the thread's last error, which is gone with its next call. */
void tpi_run_remember(struct tp_run *run);
/* What the handler wrote in the transaction failed: is the transaction to blame? Rolls back. */
bool tpi_run_failed_with_transaction(struct tp_run *run);
/* Inside the task's transaction, when the handler has failed: is it lost, through no fault of the handler? */
bool tpi_run_tx_lost(struct tpi_session *session);

#endif
