/* The thread that claims and feeds the queue; see dispatcher.c. */
#ifndef TPI_WORKER_DISPATCHER_H
#define TPI_WORKER_DISPATCHER_H

#include "worker/executor.h"
#include "worker/maintenance.h"

struct tpi_dispatcher {
    struct tpi_lifetime *life;
    struct tpi_notify *notify;
    struct tpi_record *record;
    struct tpi_sessions *sessions;
    struct tpi_jobs *jobs;
    struct tpi_queue *queue;
    struct tpi_completer *completer;
    struct tpi_executors *executors;
    struct tpi_heartbeat *heartbeat;
    const struct tpi_claims *claims;
    const tp_worker_options *options;
    tp_conn *first; /* opened before the start; the thread takes it over */

    /* Of its thread, or of tp_worker_step's. */
    struct tpi_session session;
    struct tpi_pace pace;
    struct tpi_claiming claiming;
    struct tpi_maintenance maintenance;
    bool rested; /* since a claim that left nothing due */
};

/* The thread; arg is the dispatcher. */
void *tpi_dispatcher_main(void *arg);
/* After the last claim. One that the stop left without tasks, for its answer was lost or a part of it was
 * refused, may have taken some. One more try brings them here to be released, rather than to wait for their
 * lease and be counted as crashed. */
void tpi_dispatcher_ask_once_more(struct tpi_dispatcher *dispatcher);
/* No more is claimed, so who waits for work ends. */
void tpi_dispatcher_ended(struct tpi_dispatcher *dispatcher);
/* In the thread, before its first claim; who names its session. */
void tpi_dispatcher_begin(struct tpi_dispatcher *dispatcher, const char *who);
/* Claims up to room tasks, or what an earlier try took, and feeds them to the queue. */
TP_CHECKED tp_status tpi_dispatcher_claim(struct tpi_dispatcher *dispatcher, size_t room);

#endif
