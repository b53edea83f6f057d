/* One call of a handler, and what it may ask; see handler_run.c. */
#ifndef TPI_WORKER_HANDLER_RUN_H
#define TPI_WORKER_HANDLER_RUN_H

#include "worker/completer.h"

/* What is common to all runs of a worker. */
struct tpi_runs {
    struct tpi_lifetime *life;
    struct tpi_record *record;
    struct tpi_completer *completer;
    pthread_mutex_t reader_lock; /* held over a database call */
    struct tpi_session reader;   /* under reader_lock: reads long parameters for all handlers */
    atomic_size_t running;       /* handlers being called */
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
    const char *params; /* NULL: not read yet */
    char reason[TP_REASON_MAX + 1];
    char why[TPI_TEXT_SIZE]; /* the text of the failure being handled */
};

/* Of a task whose lease had lapsed: does the delay of its policy, which the claim left to this thread, say
 * that there are no more retries? */
bool tpi_run_is_exhausted(struct tpi_runs *runs, const struct tpi_job *job);
/* Calls the handler once. */
tp_verdict tpi_run_call(struct tp_run *run);
/* Keeps the text of the thread's last error, which is gone with its next call. */
void tpi_run_remember(struct tp_run *run);

#endif
