/* The thread that claims: how many tasks and when, and what happens to tasks for which the queue has no
 * room. A claim that got no answer keeps its token and its arguments, so that asking again returns what the
 * first try took. Read next: queue.c. */
#include "worker/dispatcher.h"
#include "ops/for_workers.h"
#include "worker/in_flight.h"

#include <string.h>

#include "base/clock.h"
#include "base/trace.h"

/* ---- One claim --------------------------------------------------------------------------------------- */

struct putting_back {
    const tp_task *task;
    int64_t delay_ms;
};

static tp_status ask_release(tp_conn *conn, void *arg) {
    const struct putting_back *back = arg;
    return tp_release(conn, back->task, back->delay_ms);
}

/* Without a failure, when nothing of the worker's own machinery can or should have it. */
static void put_back(struct tpi_dispatcher *dispatcher, const tp_task *task, int64_t delay_ms,
                     const char *why) {
    struct putting_back back = {task, delay_ms};
    tp_status status = tpi_session_ask(&dispatcher->session, TPI_UNTIL_GRACE, ask_release, &back);
    if (status == TP_OK)
        tpi_record_put_back(dispatcher->record, task, why);
    else if (status == TP_LOST)
        tpi_record_lost_unstarted(dispatcher->record, task);
    else
        tpi_record_unstored(dispatcher->record, task,
                            "it was not begun by this claim, and could not be put back",
                            tp_last_error()->text);
}

/* The owner hears of each task before any other word about it. */
static void take_in(struct tpi_dispatcher *dispatcher, const tp_batch *batch, size_t i) {
    const tp_worker_options *options = dispatcher->options;
    const tp_task *task = tp_batch_task(batch, i);
    struct tpi_job *job = NULL;
    tpi_notify_send(dispatcher->notify, TP_EVENT_CLAIMED, task, NULL);
    tp_status status = tpi_job_new(dispatcher->jobs, batch, i, dispatcher->claiming.asked_ms, &job);
    if (status == TP_EXISTS) {
        put_back(dispatcher, task, options->lease_ms / 3, "it is still being handled in this process");
    } else if (status != TP_OK) {
        put_back(dispatcher, task, options->poll_ms, "out of memory");
    } else if (job && job->done) {
        tpi_completer_submit(dispatcher->completer, job, TP_RUN_DONE, NULL, 0, false);
    } else if (job) {
        enum tpi_push push = tpi_queue_push(dispatcher->queue, job);
        if (push == TPI_PUSH_NO_ROOM)
            tpi_completer_submit(dispatcher->completer, job, TP_RUN_LATER, "there is no room for it here",
                                 options->poll_ms, false);
        /* One that the system does not give is made up for by those that are there. */
        if (push == TPI_PUSHED_ADD_EXECUTOR) (void)tpi_executors_add(dispatcher->executors);
    }
}

static tp_status ask_claim(tp_conn *conn, void *arg) {
    struct tpi_claiming *claiming = arg;
    if (claiming->last)
        return tpi_claim_taken(conn, &claiming->request, tpi_in_flight_known, &claiming->batch);
    return tpi_claim_known(conn, &claiming->request, &claiming->known, tpi_in_flight_known, &claiming->batch);
}

tp_status tpi_dispatcher_claim(struct tpi_dispatcher *dispatcher, size_t room) {
    struct tpi_claiming *claiming = &dispatcher->claiming;
    bool again = claiming->request.token[0] != '\0';
    int64_t asked_ms = tpi_clock_boot_ms();
    char token[TP_ID_SIZE];
    memcpy(token, claiming->request.token, sizeof token);
    if (!again) {
        claiming->request.limit = room;
        claiming->asked_ms = asked_ms;
    }
    claiming->more = false;
    claiming->batch = NULL;
    tp_status status = tpi_session_try(&dispatcher->session, ask_claim, claiming);
    if (status != TP_OK) return status;
    size_t count = tp_batch_count(claiming->batch);
    /* Under another token it is not what the earlier try took: the leases began now. */
    if (strcmp(tp_batch_task(claiming->batch, 0)->owner, token) != 0) claiming->asked_ms = asked_ms;
    tpi_trace(TPI_TRACE_WORKER, "claimed %zu of %zu", count, claiming->request.limit);
    tpi_record_claimed(dispatcher->record, count);
    /* What an earlier try took, or what was known, says nothing about what else has become due. */
    claiming->more = again || claiming->known.handler || count == claiming->request.limit;
    /* Until the last is taken in, those that have ended already are not alone: the completer waits for the
     * others. */
    tpi_lifetime_add_job(dispatcher->life);
    for (size_t i = 0; i < count; i++)
        take_in(dispatcher, claiming->batch, i);
    tpi_lifetime_remove_job(dispatcher->life);
    tpi_completer_wake(dispatcher->completer);
    tp_batch_free(claiming->batch);
    return TP_OK;
}

/* ---- Between claims ---------------------------------------------------------------------------------- */

static tp_status ask_open(tp_conn *conn, void *arg) {
    const struct tpi_claiming *claiming = arg;
    return tpi_any_open(conn, &claiming->request);
}

/* Tasks that are not due, and those that other workers hold, are open too: they may come back. */
static void rest_draining(struct tpi_dispatcher *dispatcher) {
    int64_t poll_ms = dispatcher->options->poll_ms;
    int64_t drain_ms = tpi_pace_drain(&dispatcher->pace, tpi_clock_mono_ms());
    if (!tpi_lifetime_wait_empty(dispatcher->life, poll_ms)) return;
    if (tpi_session_try(&dispatcher->session, ask_open, &dispatcher->claiming) == TP_NONE)
        (void)tpi_lifetime_stop(dispatcher->life);
    else
        tpi_lifetime_pause(dispatcher->life, poll_ms < drain_ms ? poll_ms : drain_ms, false);
}

/* What came is claimed alone only when all that was due before it has been claimed: that may be more urgent.
 */
static bool take_wake(struct tpi_dispatcher *dispatcher) {
    struct tpi_arrival arrival;
    pthread_mutex_lock(&dispatcher->queue->lock);
    bool woken = tpi_queue_take_wake(dispatcher->queue, &arrival);
    pthread_mutex_unlock(&dispatcher->queue->lock);
    if (!dispatcher->rested) arrival.handler = NULL;
    dispatcher->claiming.known = arrival;
    dispatcher->rested = false;
    return woken;
}

static void maintain_until(struct tpi_dispatcher *dispatcher, int64_t until) {
    for (int64_t now = tpi_clock_mono_ms(); now < until; now = tpi_clock_mono_ms()) {
        int64_t due_at = tpi_maintenance_next(&dispatcher->maintenance);
        if (tpi_queue_wait_wake(dispatcher->queue, due_at > now && due_at < until ? due_at : until)) return;
        tpi_maintenance_do(&dispatcher->maintenance);
    }
}

static void rest(struct tpi_dispatcher *dispatcher, int64_t began, bool found) {
    int random = (int)tpi_session_random(&dispatcher->session, 100);
    dispatcher->pace.statements = dispatcher->session.statements;
    dispatcher->rested = true;
    int64_t until = tpi_pace_next(&dispatcher->pace, began, tpi_clock_mono_ms(), found, random);
    if (dispatcher->options->drain)
        rest_draining(dispatcher);
    else
        maintain_until(dispatcher, until);
}

enum { LOOK_MS = 1000 };

/* When it is to look for maintenance while it claims nothing. */
static int64_t next_look(const struct tpi_dispatcher *dispatcher) {
    int64_t until = tpi_maintenance_next(&dispatcher->maintenance), now = tpi_clock_mono_ms();
    if (until <= now) until = now + dispatcher->options->poll_ms; /* offline: it waits */
    return until > now + LOOK_MS ? now + LOOK_MS : until; /* a thread may have met a gate with tokens */
}

/* A task that kills this process must not do so before anybody knows of the process. */
static void send_before_holding(struct tpi_dispatcher *dispatcher) {
    while (!tpi_lifetime_stopping(dispatcher->life)) {
        tp_status status = tpi_heartbeat_send(dispatcher->heartbeat, &dispatcher->session);
        if (!tpi_session_may_retry(&dispatcher->session, status)) return;
        tpi_session_pause(&dispatcher->session, TPI_UNTIL_STOP);
    }
}

/* The handler threads claim by themselves; what is left is maintenance and the end of a drain. */
static void watch_holders(struct tpi_dispatcher *dispatcher) {
    if (dispatcher->options->drain) {
        rest_draining(dispatcher);
        return;
    }
    tpi_lifetime_pause(dispatcher->life, next_look(dispatcher) - tpi_clock_mono_ms(), false);
}

/* ---- The thread -------------------------------------------------------------------------------------- */

static void claim_until_stop(struct tpi_dispatcher *dispatcher) {
    while (!tpi_lifetime_stopping(dispatcher->life)) {
        tpi_maintenance_do(&dispatcher->maintenance);
        if (tpi_queue_is_held(dispatcher->queue)) {
            watch_holders(dispatcher);
            continue;
        }
        size_t room = tpi_queue_room(dispatcher->queue);
        if (room == 0) {
            tpi_queue_wait_room(dispatcher->queue, next_look(dispatcher));
            continue;
        }
        int64_t began = tpi_clock_mono_ms();
        if (take_wake(dispatcher)) tpi_pace_warm(&dispatcher->pace, began);
        tp_status status = tpi_dispatcher_claim(dispatcher, room);
        if (status < 0)
            tpi_session_recover(&dispatcher->session, TPI_UNTIL_STOP, status);
        else if (dispatcher->claiming.more)
            tpi_pace_warm(&dispatcher->pace, began);
        else
            rest(dispatcher, began, status == TP_OK);
    }
}

void tpi_dispatcher_ask_once_more(struct tpi_dispatcher *dispatcher) {
    if (dispatcher->claiming.request.token[0] == '\0') return;
    dispatcher->claiming.last = true;
    tp_status status = tpi_dispatcher_claim(dispatcher, 0);
    if (status < 0) tpi_record_error(dispatcher->record, NULL, tp_last_error()->text);
}

void tpi_dispatcher_ended(struct tpi_dispatcher *dispatcher) {
    tpi_completer_release_queue(dispatcher->completer);
    tpi_lifetime_end_claims(dispatcher->life);
}

/* While handlers run on, however long, the pool hears that the worker is there and stops. */
static void await_end(struct tpi_dispatcher *dispatcher) {
    pthread_mutex_lock(&dispatcher->life->lock);
    while (!tpi_lifetime_over(dispatcher->life)) {
        int64_t next = tpi_heartbeat_next(dispatcher->heartbeat);
        if (tpi_clock_mono_ms() < next) {
            tpi_signal_wait(&dispatcher->life->changed, next);
            continue;
        }
        pthread_mutex_unlock(&dispatcher->life->lock);
        (void)tpi_heartbeat_send(dispatcher->heartbeat, &dispatcher->session);
        pthread_mutex_lock(&dispatcher->life->lock);
    }
    pthread_mutex_unlock(&dispatcher->life->lock);
}

void tpi_dispatcher_begin(struct tpi_dispatcher *dispatcher, const char *who) {
    tpi_claiming_init(&dispatcher->claiming, dispatcher->claims);
    tpi_session_init(&dispatcher->session, dispatcher->sessions, who);
    tpi_session_take(&dispatcher->session, dispatcher->first);
    dispatcher->first = NULL;
    tpi_maintenance_init(&dispatcher->maintenance, dispatcher->heartbeat, dispatcher->queue,
                         &dispatcher->session, dispatcher->options->schedules);
}

void *tpi_dispatcher_main(void *arg) {
    struct tpi_dispatcher *dispatcher = arg;
    tpi_dispatcher_begin(dispatcher, "dispatcher");
    (void)tpi_queue_wait_wake(dispatcher->queue, tpi_clock_mono_ms() + dispatcher->options->initial_delay_ms);
    if (dispatcher->claims->hold_wanted) send_before_holding(dispatcher);
    tpi_pace_init(&dispatcher->pace, dispatcher->options, tpi_clock_mono_ms());
    claim_until_stop(dispatcher);
    tpi_dispatcher_ask_once_more(dispatcher);
    tpi_dispatcher_ended(dispatcher);
    await_end(dispatcher);
    if (!dispatcher->session.broken) (void)tpi_heartbeat_end(dispatcher->heartbeat, &dispatcher->session);
    tpi_session_close(&dispatcher->session);
    return NULL;
}
