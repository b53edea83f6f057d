/* The thread that calls on_alert or on_alert_group; see alerter.c. */
#ifndef TPI_WORKER_ALERTER_H
#define TPI_WORKER_ALERTER_H

#include "worker/claims.h"
#include "worker/session.h"

struct tpi_alerter {
    struct tpi_lifetime *life;
    struct tpi_sessions *sessions;
    const tp_worker_options *options;
    const struct tpi_handler_table *handlers;
    pthread_mutex_t lock;
    struct tpi_signal signal; /* wanted, and the end */
    bool wanted;              /* under the lock: a task gave up here */
    int64_t next_ms;          /* the thread's: a group that waits is to be given in; 0, -1: none is known */
};

/* The thread; arg is the alerter. */
void *tpi_alerter_main(void *arg);
/* A task gave up here. */
void tpi_alerter_wake(struct tpi_alerter *alerter);
/* Does the owner want alerts? */
bool tpi_alerter_wanted(const struct tpi_alerter *alerter);
/* Delivers all that is due; at_once: also a group that is still to wait for others. */
TP_CHECKED tp_status tpi_alerter_deliver(struct tpi_alerter *alerter, struct tpi_session *session,
                                         bool at_once);

#endif
