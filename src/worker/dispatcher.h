/* What goes with claiming: the request, the pace, the chores in between. For the thread that does it
 * (dispatcher.c), for handler threads under plan hold (transaction.c, poller.c), and for single steps
 * (step.c). */
#ifndef TPI_WORKER_DISPATCHER_H
#define TPI_WORKER_DISPATCHER_H

#include "worker/transaction.h"
#include "worker/worker.h"

/* ---- dispatcher.c, pace.c, maintenance.c ------------------------------------------------------------- */

/* Claims of one thread: the request, and what a claim that got no answer is asked again with. */
struct tpi_claiming {
    struct tp_worker *worker;
    tp_claim_request request;
    const char *names[TP_CLAIM_HANDLERS_MAX];
    const tp_retry *retries[TP_CLAIM_HANDLERS_MAX];
    tp_batch *batch;
    int64_t asked_ms; /* when the claim under this token was first asked */
    bool more;        /* the last claim got all it asked for, so there may be more */
};

void tpi_claiming_init(struct tpi_claiming *claiming, struct tp_worker *worker);
/* The next claim takes these tasks alone, if there are any. */
void tpi_claiming_know(struct tpi_claiming *claiming, const struct tpi_arrival *arrival);
/* No more is claimed, so who waits for work ends. */
void tpi_dispatcher_ended(struct tp_worker *worker);
/* Claims up to room tasks, or what an earlier try took, and feeds them to the queue. */
TP_CHECKED tp_status tpi_claiming_ask(struct tpi_claiming *claiming, struct tpi_session *session,
                                      size_t room);

/* As tasks come: the pause is this part of the time since the last. */
enum { TPI_PACE_COOLING = 16 };

void tpi_pace_init(struct tpi_pace *pace, const tp_worker_options *options, int64_t now);
/* Tasks came, or somebody said so. */
void tpi_pace_warm(struct tpi_pace *pace, int64_t now);
/* When to claim next, by the monotonic clock, after a claim that began and ended now. random: 0 to 99. */
int64_t tpi_pace_next(struct tpi_pace *pace, int64_t began, int64_t now, bool found, int random);
/* How long a worker that drains waits at most before it looks what is left; in ms. */
int64_t tpi_pace_drain(const struct tpi_pace *pace, int64_t now);

/* Now and then. */
struct tpi_maintenance {
    struct tp_worker *worker;
    struct tpi_session *session;
    int64_t schedule_at, clean_at; /* monotonic */
    size_t fired, deleted;
    int64_t wait_ms;
    bool fire_failed, clean_failed; /* and it was said */
};

void tpi_maintenance_init(struct tpi_maintenance *maintenance, struct tp_worker *worker,
                          struct tpi_session *session);
/* When there is something to do, by the monotonic clock. */
int64_t tpi_maintenance_next(const struct tpi_maintenance *maintenance);
void tpi_maintenance_do(struct tpi_maintenance *maintenance);
void tpi_maintenance_fire(struct tpi_maintenance *maintenance);

/* ---- alerter.c, step.c ------------------------------------------------------------------------------- */

/* A task gave up here. */
void tpi_alerter_wake(struct tp_worker *worker);
/* Tells all that is due. */
TP_CHECKED tp_status tpi_alerter_deliver(struct tpi_session *session);
void tpi_step_end(struct tp_worker *worker);

#endif
