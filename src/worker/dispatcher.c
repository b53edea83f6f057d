/* The claiming thread: how many to claim and when, and what is done with what has no room. A claim that got
 * no answer keeps its token and its arguments, so that asking again brings what the first try took. */
#include "worker/dispatcher.h"

#include <string.h>

#include "base/clock.h"
#include "base/trace.h"
#include "worker/verdict.h"

struct claimer {
    struct tpi_dispatcher *part;
    struct tpi_session session;
    struct tpi_session run_session; /* for the tasks that it handles itself */
    struct tpi_pace pace;
    struct tpi_claiming claiming;
    struct tpi_maintenance maintenance;
    bool rested; /* since a claim that left nothing due */
};

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
static void put_back(const struct tpi_dispatcher *part, struct tpi_session *session, const tp_task *task,
                     int64_t delay_ms, const char *why) {
    struct putting_back back = {task, delay_ms};
    tp_status status = tpi_session_ask(session, TPI_UNTIL_GRACE, ask_release, &back);
    if (status == TP_OK)
        tpi_record_put_back(part->record, task, why);
    else
        tpi_record_error(part->record, task, tp_last_error()->text);
}

/* The owner hears of each task before any other word about it. */
static void take_in(const struct tpi_dispatcher *part, struct tpi_session *session, const tp_batch *batch,
                    size_t i, int64_t asked_ms) {
    const tp_worker_options *options = part->options;
    const tp_task *task = tp_batch_task(batch, i);
    struct tpi_job *job = NULL;
    tpi_notify_send(part->notify, TP_EVENT_CLAIMED, task, NULL);
    tp_status status = tpi_job_new(part->jobs, batch, i, asked_ms, &job);
    if (status == TP_EXISTS) {
        put_back(part, session, task, options->lease_ms / 3, "it is still being handled in this process");
    } else if (status != TP_OK) {
        put_back(part, session, task, options->poll_ms, "out of memory");
    } else if (job && job->done) {
        tpi_completer_submit(part->completer, job, TP_RUN_DONE, NULL, 0, false);
    } else if (job) {
        enum tpi_push push = tpi_queue_push(part->queue, job);
        if (push == TPI_PUSH_NO_ROOM)
            tpi_completer_submit(part->completer, job, TP_RUN_LATER, "there is no room for it here",
                                 options->poll_ms, false);
        /* One that the system does not give is made up for by those that are there. */
        if (push == TPI_PUSHED_ADD_EXECUTOR) (void)tpi_executors_add(part->executors);
    }
}

/* Until the last is taken in, those that have ended already are not alone: the completer waits for the
 * others.
 */
static void take_in_all(const struct tpi_dispatcher *part, struct tpi_session *session, const tp_batch *batch,
                        int64_t asked_ms) {
    size_t count = tp_batch_count(batch);
    pthread_mutex_lock(&part->life->lock);
    tpi_lifetime_add_job(part->life);
    pthread_mutex_unlock(&part->life->lock);
    for (size_t i = 0; i < count; i++)
        take_in(part, session, batch, i, asked_ms);
    pthread_mutex_lock(&part->life->lock);
    tpi_lifetime_remove_job(part->life);
    tpi_completer_wake(part->completer);
    pthread_mutex_unlock(&part->life->lock);
}

static tp_status ask_claim(tp_conn *conn, void *arg) {
    struct tpi_claiming *claiming = arg;
    return tp_claim(conn, &claiming->request, &claiming->batch);
}

tp_status tpi_dispatcher_claim(struct tpi_dispatcher *part, struct tpi_claiming *claiming,
                               struct tpi_session *session, size_t room) {
    bool again = claiming->request.token[0] != '\0';
    int64_t asked_ms = tpi_clock_mono_ms();
    char token[TP_ID_SIZE];
    memcpy(token, claiming->request.token, sizeof token);
    if (!again) {
        claiming->request.limit = room;
        claiming->asked_ms = asked_ms;
    }
    claiming->more = false;
    claiming->batch = NULL;
    tp_status status = tpi_session_try(session, ask_claim, claiming);
    if (status != TP_OK) return status;
    size_t count = tp_batch_count(claiming->batch);
    /* Under another token it is not what the earlier try took: the leases began now. */
    if (strcmp(tp_batch_task(claiming->batch, 0)->owner, token) != 0) claiming->asked_ms = asked_ms;
    tpi_trace(TPI_TRACE_WORKER, "claimed %zu of %zu", count, claiming->request.limit);
    tpi_record_claimed(part->record, count);
    /* What an earlier try took, or what was known, says nothing about what else has become due. */
    claiming->more = again || claiming->request.known_handler || count == claiming->request.limit;
    take_in_all(part, session, claiming->batch, claiming->asked_ms);
    tp_batch_free(claiming->batch);
    return TP_OK;
}

/* ---- Between claims ---------------------------------------------------------------------------------- */

static tp_status ask_open(tp_conn *conn, void *arg) {
    const struct tpi_claiming *claiming = arg;
    return tp_any_open(conn, &claiming->request);
}

/* Tasks that are not due, and those that other workers hold, are open too: they may come back. */
static bool drained(struct claimer *claimer) {
    return tpi_session_try(&claimer->session, ask_open, &claimer->claiming) == TP_NONE;
}

static void rest_draining(struct claimer *claimer) {
    struct tpi_dispatcher *part = claimer->part;
    int64_t poll_ms = part->options->poll_ms;
    int64_t drain_ms = tpi_pace_drain(&claimer->pace, tpi_clock_mono_ms());
    if (!tpi_lifetime_wait_empty(part->life, poll_ms)) return;
    if (drained(claimer))
        (void)tpi_lifetime_stop(part->life);
    else
        tpi_lifetime_pause(part->life, poll_ms < drain_ms ? poll_ms : drain_ms, false);
}

/* Until the time, the stop, or an enqueue in this process. */
static void wait_until(struct tpi_dispatcher *part, int64_t until) {
    pthread_mutex_lock(&part->life->lock);
    while (!part->wakeup->woken && !tpi_lifetime_stopping(part->life) && tpi_clock_mono_ms() < until)
        tpi_signal_wait(part->life, &part->queue->room, until);
    pthread_mutex_unlock(&part->life->lock);
}

static bool is_woken(struct tpi_dispatcher *part) {
    pthread_mutex_lock(&part->life->lock);
    bool woken = part->wakeup->woken || tpi_lifetime_stopping(part->life);
    pthread_mutex_unlock(&part->life->lock);
    return woken;
}

/* What came is claimed alone only when all that was due before it has been claimed: that may be more urgent.
 */
static bool take_wake(struct claimer *claimer) {
    struct tpi_arrival arrival;
    pthread_mutex_lock(&claimer->part->life->lock);
    bool woken = tpi_wakeup_take(claimer->part->wakeup, &arrival);
    pthread_mutex_unlock(&claimer->part->life->lock);
    if (!claimer->rested) arrival.handler = NULL;
    tpi_claiming_know(&claimer->claiming, &arrival);
    claimer->rested = false;
    return woken;
}

static void maintain_until(struct claimer *claimer, int64_t until) {
    for (int64_t now = tpi_clock_mono_ms(); now < until; now = tpi_clock_mono_ms()) {
        int64_t due_at = tpi_maintenance_next(&claimer->maintenance);
        wait_until(claimer->part, due_at > now && due_at < until ? due_at : until);
        if (claimer->part->options->drain || is_woken(claimer->part)) return;
        tpi_maintenance_do(&claimer->maintenance);
    }
}

static void rest(struct claimer *claimer, int64_t began, bool found) {
    int random = (int)tpi_session_random(&claimer->session, 100);
    claimer->pace.statements = claimer->session.statements;
    claimer->rested = true;
    int64_t until = tpi_pace_next(&claimer->pace, began, tpi_clock_mono_ms(), found, random);
    if (claimer->part->options->drain)
        rest_draining(claimer);
    else
        maintain_until(claimer, until);
}

/* The queue is full: instead of waiting, it handles the next task itself. */
static void stand_in(struct claimer *claimer) {
    struct tpi_dispatcher *part = claimer->part;
    struct tpi_job *job = NULL;
    if (part->options->when_full == TP_FULL_CALLER_RUNS) job = tpi_queue_try_pop(part->queue);
    if (job)
        tpi_verdict_run(part->runs, &claimer->run_session, job);
    else
        tpi_queue_wait_room(part->queue, tpi_clock_mono_ms() + part->options->poll_ms);
}

/* A task that kills this process must not do so before anybody knows of the process. */
static void send_before_holding(struct claimer *claimer) {
    while (!tpi_lifetime_stopping(claimer->part->life)) {
        tp_status status = tpi_heartbeat_send(claimer->part->heartbeat, &claimer->session);
        if (!tpi_session_may_retry(&claimer->session, status)) return;
        tpi_session_pause(&claimer->session, TPI_UNTIL_STOP);
    }
}

/* The handler threads claim by themselves; what is left is maintenance and the end of a drain. */
static void watch_holders(struct claimer *claimer) {
    struct tpi_dispatcher *part = claimer->part;
    if (part->options->drain) {
        rest_draining(claimer);
        return;
    }
    int64_t until = tpi_maintenance_next(&claimer->maintenance), now = tpi_clock_mono_ms();
    if (until <= now) until = now + part->options->poll_ms; /* offline: it waits */
    tpi_lifetime_pause(part->life, until - now, false);
}

/* ---- The thread -------------------------------------------------------------------------------------- */

static void claim_until_stop(struct claimer *claimer) {
    struct tpi_dispatcher *part = claimer->part;
    while (!tpi_lifetime_stopping(part->life)) {
        tpi_maintenance_do(&claimer->maintenance);
        if (tpi_queue_is_held(part->queue)) {
            watch_holders(claimer);
            continue;
        }
        size_t room = tpi_queue_room(part->queue);
        if (room == 0) {
            stand_in(claimer);
            continue;
        }
        int64_t began = tpi_clock_mono_ms();
        if (take_wake(claimer)) tpi_pace_warm(&claimer->pace, began);
        tp_status status = tpi_dispatcher_claim(claimer->part, &claimer->claiming, &claimer->session, room);
        if (status < 0)
            tpi_session_recover(&claimer->session, TPI_UNTIL_STOP, status);
        else if (claimer->claiming.more)
            tpi_pace_warm(&claimer->pace, began);
        else
            rest(claimer, began, status == TP_OK);
    }
}

/* A claim that the stop left without an answer may have taken tasks. One more try brings them here to be
 * released, rather than to wait for their lease and be counted as crashed. */
static void ask_once_more(struct claimer *claimer) {
    if (claimer->claiming.request.token[0] == '\0' || !claimer->session.broken) return;
    tp_status status = tpi_dispatcher_claim(claimer->part, &claimer->claiming, &claimer->session, 0);
    if (status < 0) tpi_record_error(claimer->part->record, NULL, tp_last_error()->text);
}

void tpi_dispatcher_ended(struct tpi_dispatcher *part) {
    tpi_completer_release_queue(part->completer);
    pthread_mutex_lock(&part->life->lock);
    part->life->claims_ended = true;
    tpi_lifetime_wake_all(part->life);
    pthread_mutex_unlock(&part->life->lock);
}

/* While handlers run on, however long, the pool hears that the worker is there and stops. */
static void await_end(struct claimer *claimer) {
    struct tpi_dispatcher *part = claimer->part;
    pthread_mutex_lock(&part->life->lock);
    while (!tpi_lifetime_over(part->life)) {
        int64_t next = tpi_heartbeat_next(part->heartbeat);
        if (tpi_clock_mono_ms() < next) {
            tpi_signal_wait(part->life, &part->queue->room, next);
            continue;
        }
        pthread_mutex_unlock(&part->life->lock);
        (void)tpi_heartbeat_send(claimer->part->heartbeat, &claimer->session);
        pthread_mutex_lock(&part->life->lock);
    }
    pthread_mutex_unlock(&part->life->lock);
}

void *tpi_dispatcher_main(void *arg) {
    struct tpi_dispatcher *part = arg;
    struct claimer claimer = {.part = part};
    tpi_claiming_init(&claimer.claiming, part->claims);
    tpi_session_init(&claimer.session, part->sessions, "claimer");
    tpi_session_init(&claimer.run_session, part->sessions, "claimer as runner");
    tpi_session_take(&claimer.session, part->first);
    part->first = NULL;
    tpi_maintenance_init(&claimer.maintenance, part->heartbeat, part->wakeup, &claimer.session,
                         part->options->schedules);
    wait_until(part, tpi_clock_mono_ms() + part->options->initial_delay_ms);
    if (part->claims->hold_wanted) send_before_holding(&claimer);
    tpi_pace_init(&claimer.pace, part->options, tpi_clock_mono_ms());
    claim_until_stop(&claimer);
    ask_once_more(&claimer);
    tpi_session_close(&claimer.run_session);
    tpi_dispatcher_ended(part);
    await_end(&claimer);
    if (!claimer.session.broken) (void)tpi_heartbeat_end(part->heartbeat, &claimer.session);
    tpi_session_close(&claimer.session);
    return NULL;
}
