/* The worker's row in the table of workers; see heartbeat.c. */
#ifndef TPI_WORKER_HEARTBEAT_H
#define TPI_WORKER_HEARTBEAT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ops/for_workers.h"
#include "taskpool.h"
#include "worker/claims.h"
#include "worker/queue.h"
#include "worker/session.h"
#include "worker/tally.h"

struct tpi_heartbeat {
    struct tpi_lifetime *life;
    struct tpi_sessions *sessions;
    struct tpi_queue *queue;
    const struct tpi_claims *claims;
    const tp_worker_options *options;
    tp_status (*look)(tp_worker *worker, tp_worker_info *info); /* what the row is to say */
    tp_worker *worker;
    struct tpi_tally *tally;
    struct tpi_notify *notify;

    pthread_mutex_t lock; /* held over the database call: never two at a time, and none after the last */
    char id[TP_ID_SIZE], who[128], host[128], handlers[513]; /* not changed after the start */
    atomic_int_least64_t due;                                /* monotonic */
    bool ended;                                              /* under lock, as all below */
    bool failed;                                             /* and it was said */
    bool drained;                                            /* it was asked to end, and that was said */
    struct tpi_worker_news news;
};

/* Between two of them. Only tests change it. */
extern int64_t tpi_heartbeat_every_ms;

/* Before the worker's first thread; may be called again. The first is due now. */
void tpi_heartbeat_begin(struct tpi_heartbeat *beat);
/* The next is due now. */
void tpi_heartbeat_hurry(struct tpi_heartbeat *beat);
/* When the next is due, by the monotonic clock. */
int64_t tpi_heartbeat_next(const struct tpi_heartbeat *beat);
/* Says that the worker is running, or stopping. With plan hold it also reads who died, and chooses between
 * holding and leases. */
tp_status tpi_heartbeat_send(struct tpi_heartbeat *beat, struct tpi_session *session);
/* A thread, arg is the heartbeat: sends those for which the dispatcher has no time, because its claim, or one
 * of its duties, waits for the database. Over a session of its own, so that whatever a heartbeat waits for
 * holds up no lease. */
void *tpi_heartbeat_main(void *arg);
/* The last one: it has ended. */
tp_status tpi_heartbeat_end(struct tpi_heartbeat *beat, struct tpi_session *session);

#endif
