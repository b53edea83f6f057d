/* Settles what was not settled in its task's transaction; see completer.c. */
#ifndef TPI_WORKER_COMPLETER_H
#define TPI_WORKER_COMPLETER_H

#include "worker/queue.h"
#include "worker/record.h"
#include "worker/session.h"

struct tpi_completer {
    struct tpi_lifetime *life;
    struct tpi_sessions *sessions;
    struct tpi_queue *queue;
    struct tpi_record *record;
    const tp_worker_options *options;
    pthread_mutex_t lock;        /* held while the queue's is taken */
    struct tpi_signal submitted; /* the list, or its end */
    struct tpi_list list;        /* under the lock: jobs whose outcome is to be written */
};

/* The thread; arg is the completer. */
void *tpi_completer_main(void *arg);
/* Takes a job over; the reason is copied. Calls the delay of its policy, if it has one, so that the thread
 * need not wait for it. */
void tpi_completer_submit(struct tpi_completer *completer, struct tpi_job *job, tp_verdict verdict,
                          const char *reason, int64_t delay_ms, bool no_retry);
/* For the stop: takes over what never started, to be released. */
void tpi_completer_release_queue(struct tpi_completer *completer);
/* For the stop: what waits for its next try need not wait. */
void tpi_completer_hurry(struct tpi_completer *completer);
/* More may have ended than the thread knows. */
void tpi_completer_wake(struct tpi_completer *completer);
/* Settles what is in the list, in the calling thread, until it is empty. */
void tpi_completer_run_down(struct tpi_completer *completer, struct tpi_session *session);

#endif
