/* Writes how far runs are, for the handlers' threads, which do not wait for it; see progress_writer.c. */
#ifndef TPI_WORKER_PROGRESS_WRITER_H
#define TPI_WORKER_PROGRESS_WRITER_H

#include "worker/session.h"

/* What is known of one run's progress. NULL: it said nothing. */
struct tpi_progress;

struct tpi_progress_writer {
    struct tpi_lifetime *life;
    struct tpi_sessions *sessions;
    pthread_mutex_t lock;
    struct tpi_signal news;    /* something is to be written, or the end */
    struct tpi_progress *list; /* under the lock */
    bool failed;               /* and it was reported */
};

/* How long after a write the next of the same run may come. Only tests change it. */
extern int64_t tpi_progress_every_ms;

/* The thread; arg is the writer. */
void *tpi_progress_writer_main(void *arg);
/* The run of this claim (by now) says how far it is: the last that it says is written, once a second at most.
 * Without memory nothing is. */
void tpi_progress_tell(struct tpi_progress_writer *writer, struct tpi_progress **progress,
                       const tp_task *task, int percent, const char *message);
/* The run is over: what was written of it is removed. */
void tpi_progress_done(struct tpi_progress_writer *writer, struct tpi_progress **progress);
/* In tp_worker_step there is no thread: writes and removes what is due, over a session that is ready for it.
 */
void tpi_progress_step(struct tpi_progress_writer *writer, struct tpi_session *session);
/* When no run and no thread is left: what could not be removed. */
void tpi_progress_writer_free(struct tpi_progress_writer *writer);

#endif
