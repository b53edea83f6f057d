/* The claiming thread: how many to claim and when, and what is done with what has no room. A claim that got
 * no answer keeps its token and its arguments, so that asking again brings what the first try took. */
#include "worker/dispatcher.h"

#include <string.h>

#include "base/clock.h"

struct dispatcher {
    struct tp_worker *worker;
    struct tpi_session session;
    struct tpi_session run_session; /* for the tasks that it handles itself */
    struct tpi_pace pace;
    struct tpi_claiming claiming;
    struct tpi_maintenance maintenance;
    bool rested; /* since a claim that left nothing due */
};

/* ---- One claim --------------------------------------------------------------------------------------- */

void tpi_claiming_init(struct tpi_claiming *claiming, struct tp_worker *worker) {
    *claiming = (struct tpi_claiming){.worker = worker, .request = TP_CLAIM_INIT};
    for (size_t i = 0; i < worker->handler_count; i++) {
        claiming->names[i] = worker->handlers[i].name;
        claiming->retries[i] = &worker->handlers[i].in_claims;
    }
    tp_claim_request *request = &claiming->request;
    request->handlers = claiming->names;
    request->handler_count = worker->handler_count;
    request->retries = claiming->retries;
    request->lease_ms = worker->options.lease_ms;
    request->plan = worker->hold_wanted ? worker->leased_plan : worker->options.plan;
    request->shards = worker->options.shards;
    request->shard_count = worker->options.shard_count;
    request->in_order = worker->options.in_order;
}

void tpi_claiming_know(struct tpi_claiming *claiming, const struct tpi_arrival *arrival) {
    claiming->request.known_handler = arrival->handler;
    claiming->request.known_priority = arrival->priority;
}

struct putting_back {
    const tp_task *task;
    int64_t delay_ms;
};

static tp_status ask_release(tp_conn *conn, void *arg) {
    const struct putting_back *back = arg;
    return tp_release(conn, back->task, back->delay_ms);
}

/* Without a failure, when nothing of the worker's own machinery can or should have it. */
static void put_back(struct tpi_session *session, const tp_task *task, int64_t delay_ms, const char *why) {
    struct putting_back back = {task, delay_ms};
    tp_status status = tpi_session_ask(session, TPI_UNTIL_GRACE, ask_release, &back);
    if (status == TP_OK) atomic_fetch_add(&session->sessions->worker->counts.released, 1);
    tpi_notify_send(&session->sessions->worker->notify, status == TP_OK ? TP_EVENT_RELEASED : TP_EVENT_ERROR,
                    task, status == TP_OK ? why : tp_last_error()->text);
}

/* The owner hears of each task before any other word about it. */
static void take_in(struct tpi_claiming *claiming, struct tpi_session *session, const tp_batch *batch,
                    size_t i) {
    struct tp_worker *worker = claiming->worker;
    const tp_task *task = tp_batch_task(batch, i);
    struct tpi_job *job = NULL;
    tpi_notify_send(&worker->notify, TP_EVENT_CLAIMED, task, NULL);
    tp_status status = tpi_job_new(worker, batch, i, claiming->asked_ms, &job);
    if (status == TP_EXISTS)
        put_back(session, task, worker->options.lease_ms / 3, "it is still being handled in this process");
    else if (status != TP_OK)
        put_back(session, task, worker->options.poll_ms, "out of memory");
    else if (!job)
        return;
    else if (job->done)
        tpi_completer_submit(job, TP_RUN_DONE, NULL, 0, false);
    else if (!tpi_queue_push(worker, job))
        tpi_completer_submit(job, TP_RUN_LATER, "there is no room for it here", worker->options.poll_ms,
                             false);
}

/* Until the last is taken in, those that have ended already are not alone: the completer waits for the
 * others.
 */
static void take_in_all(struct tpi_claiming *claiming, struct tpi_session *session, const tp_batch *batch) {
    struct tp_worker *worker = claiming->worker;
    size_t count = tp_batch_count(batch);
    pthread_mutex_lock(&worker->life.lock);
    tpi_lifetime_add_job(&worker->life);
    pthread_mutex_unlock(&worker->life.lock);
    for (size_t i = 0; i < count; i++)
        take_in(claiming, session, batch, i);
    pthread_mutex_lock(&worker->life.lock);
    tpi_lifetime_remove_job(&worker->life);
    tpi_signal_one(&worker->settle);
    pthread_mutex_unlock(&worker->life.lock);
}

static tp_status ask_claim(tp_conn *conn, void *arg) {
    struct tpi_claiming *claiming = arg;
    return tp_claim(conn, &claiming->request, &claiming->batch);
}

tp_status tpi_claiming_ask(struct tpi_claiming *claiming, struct tpi_session *session, size_t room) {
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
    atomic_fetch_add(&claiming->worker->counts.claimed, count);
    /* What an earlier try took, or what was known, says nothing about what else has become due. */
    claiming->more = again || claiming->request.known_handler || count == claiming->request.limit;
    take_in_all(claiming, session, claiming->batch);
    tp_batch_free(claiming->batch);
    return TP_OK;
}

/* ---- Between claims ---------------------------------------------------------------------------------- */

static tp_status ask_open(tp_conn *conn, void *arg) {
    const struct tpi_claiming *claiming = arg;
    return tp_any_open(conn, &claiming->request);
}

/* Tasks that are not due, and those that other workers hold, are open too: they may come back. */
static bool drained(struct dispatcher *dispatcher) {
    return tpi_session_try(&dispatcher->session, ask_open, &dispatcher->claiming) == TP_NONE;
}

static void rest_draining(struct dispatcher *dispatcher) {
    struct tp_worker *worker = dispatcher->worker;
    int64_t poll_ms = worker->options.poll_ms;
    int64_t drain_ms = tpi_pace_drain(&dispatcher->pace, tpi_clock_mono_ms());
    if (!tpi_lifetime_wait_empty(&worker->life, poll_ms)) return;
    if (drained(dispatcher))
        tp_worker_stop(worker);
    else
        tpi_lifetime_pause(&worker->life, poll_ms < drain_ms ? poll_ms : drain_ms, false);
}

/* Until the time, the stop, or an enqueue in this process. */
static void wait_until(struct tp_worker *worker, int64_t until) {
    pthread_mutex_lock(&worker->life.lock);
    while (!worker->woken && !tpi_lifetime_stopping(&worker->life) && tpi_clock_mono_ms() < until)
        tpi_signal_wait(&worker->life, &worker->claim, until);
    pthread_mutex_unlock(&worker->life.lock);
}

static bool is_woken(struct tp_worker *worker) {
    pthread_mutex_lock(&worker->life.lock);
    bool woken = worker->woken || tpi_lifetime_stopping(&worker->life);
    pthread_mutex_unlock(&worker->life.lock);
    return woken;
}

/* What came is claimed alone only when all that was due before it has been claimed: that may be more urgent.
 */
static bool take_wake(struct dispatcher *dispatcher) {
    struct tpi_arrival arrival;
    pthread_mutex_lock(&dispatcher->worker->life.lock);
    bool woken = tpi_worker_take_wake(dispatcher->worker, &arrival);
    pthread_mutex_unlock(&dispatcher->worker->life.lock);
    if (!dispatcher->rested) arrival.handler = NULL;
    tpi_claiming_know(&dispatcher->claiming, &arrival);
    dispatcher->rested = false;
    return woken;
}

static void maintain_until(struct dispatcher *dispatcher, int64_t until) {
    for (int64_t now = tpi_clock_mono_ms(); now < until; now = tpi_clock_mono_ms()) {
        int64_t due_at = tpi_maintenance_next(&dispatcher->maintenance);
        wait_until(dispatcher->worker, due_at > now && due_at < until ? due_at : until);
        if (dispatcher->worker->options.drain || is_woken(dispatcher->worker)) return;
        tpi_maintenance_do(&dispatcher->maintenance);
    }
}

static void rest(struct dispatcher *dispatcher, int64_t began, bool found) {
    int random = (int)tpi_session_random(&dispatcher->session, 100);
    dispatcher->pace.statements = dispatcher->session.statements;
    dispatcher->rested = true;
    int64_t until = tpi_pace_next(&dispatcher->pace, began, tpi_clock_mono_ms(), found, random);
    if (dispatcher->worker->options.drain)
        rest_draining(dispatcher);
    else
        maintain_until(dispatcher, until);
}

/* The queue is full: instead of waiting, it handles the next task itself. */
static void stand_in(struct dispatcher *dispatcher) {
    struct tp_worker *worker = dispatcher->worker;
    struct tpi_job *job = NULL;
    if (worker->options.when_full == TP_FULL_CALLER_RUNS) job = tpi_queue_try_pop(worker);
    if (job)
        tpi_executor_run(&dispatcher->run_session, job);
    else
        tpi_queue_wait_room(worker, tpi_clock_mono_ms() + worker->options.poll_ms);
}

static bool is_holding(struct tp_worker *worker) {
    pthread_mutex_lock(&worker->life.lock);
    bool holding = worker->holding;
    pthread_mutex_unlock(&worker->life.lock);
    return holding;
}

/* A task that kills this process must not do so before anybody knows of the process. */
static void send_before_holding(struct dispatcher *dispatcher) {
    while (!tpi_lifetime_stopping(&dispatcher->worker->life)) {
        tp_status status = tpi_heartbeat_send(&dispatcher->session);
        if (!tpi_session_may_retry(&dispatcher->session, status)) return;
        tpi_session_pause(&dispatcher->session, TPI_UNTIL_STOP);
    }
}

/* The handler threads claim by themselves; what is left are the chores and the end of a drain. */
static void watch_holders(struct dispatcher *dispatcher) {
    struct tp_worker *worker = dispatcher->worker;
    if (worker->options.drain) {
        rest_draining(dispatcher);
        return;
    }
    int64_t until = tpi_maintenance_next(&dispatcher->maintenance), now = tpi_clock_mono_ms();
    if (until <= now) until = now + worker->options.poll_ms; /* offline: its chores wait */
    tpi_lifetime_pause(&worker->life, until - now, false);
}

/* ---- The thread -------------------------------------------------------------------------------------- */

static void claim_until_stop(struct dispatcher *dispatcher) {
    struct tp_worker *worker = dispatcher->worker;
    while (!tpi_lifetime_stopping(&worker->life)) {
        tpi_maintenance_do(&dispatcher->maintenance);
        if (is_holding(worker)) {
            watch_holders(dispatcher);
            continue;
        }
        size_t room = tpi_queue_room(worker);
        if (room == 0) {
            stand_in(dispatcher);
            continue;
        }
        int64_t began = tpi_clock_mono_ms();
        if (take_wake(dispatcher)) tpi_pace_warm(&dispatcher->pace, began);
        tp_status status = tpi_claiming_ask(&dispatcher->claiming, &dispatcher->session, room);
        if (status < 0)
            tpi_session_recover(&dispatcher->session, TPI_UNTIL_STOP, status);
        else if (dispatcher->claiming.more)
            tpi_pace_warm(&dispatcher->pace, began);
        else
            rest(dispatcher, began, status == TP_OK);
    }
}

/* A claim that the stop left without an answer may have taken tasks. One more try brings them here to be
 * released, rather than to wait for their lease and be counted as crashed. */
static void ask_once_more(struct dispatcher *dispatcher) {
    if (dispatcher->claiming.request.token[0] == '\0' || !dispatcher->session.broken) return;
    tp_status status = tpi_claiming_ask(&dispatcher->claiming, &dispatcher->session, 0);
    if (status < 0) tpi_notify_send(&dispatcher->worker->notify, TP_EVENT_ERROR, NULL, tp_last_error()->text);
}

void tpi_dispatcher_ended(struct tp_worker *worker) {
    tpi_queue_release(worker);
    pthread_mutex_lock(&worker->life.lock);
    worker->life.claims_ended = true;
    tpi_lifetime_wake_all(&worker->life);
    pthread_mutex_unlock(&worker->life.lock);
}

/* While handlers run on, however long, the pool hears that the worker is there and stops. */
static void await_end(struct dispatcher *dispatcher) {
    struct tp_worker *worker = dispatcher->worker;
    pthread_mutex_lock(&worker->life.lock);
    while (!tpi_lifetime_over(&worker->life)) {
        int64_t next = tpi_heartbeat_next(worker);
        if (tpi_clock_mono_ms() < next) {
            tpi_signal_wait(&worker->life, &worker->claim, next);
            continue;
        }
        pthread_mutex_unlock(&worker->life.lock);
        (void)tpi_heartbeat_send(&dispatcher->session);
        pthread_mutex_lock(&worker->life.lock);
    }
    pthread_mutex_unlock(&worker->life.lock);
}

void *tpi_dispatcher_main(void *arg) {
    struct tp_worker *worker = arg;
    struct dispatcher dispatcher = {.worker = worker};
    tpi_claiming_init(&dispatcher.claiming, worker);
    tpi_session_init(&dispatcher.session, &worker->sessions, "claimer");
    tpi_session_init(&dispatcher.run_session, &worker->sessions, "claimer as runner");
    tpi_session_take(&dispatcher.session, worker->first);
    worker->first = NULL;
    tpi_maintenance_init(&dispatcher.maintenance, worker, &dispatcher.session);
    wait_until(worker, tpi_clock_mono_ms() + worker->options.initial_delay_ms);
    if (tpi_poller_wanted(worker)) send_before_holding(&dispatcher);
    tpi_pace_init(&dispatcher.pace, &worker->options, tpi_clock_mono_ms());
    claim_until_stop(&dispatcher);
    ask_once_more(&dispatcher);
    tpi_session_close(&dispatcher.run_session);
    tpi_dispatcher_ended(worker);
    await_end(&dispatcher);
    if (!dispatcher.session.broken) (void)tpi_heartbeat_end(&dispatcher.session);
    tpi_session_close(&dispatcher.session);
    return NULL;
}
