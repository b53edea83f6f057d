/* The claiming thread: how many to claim and when, and what is done with what has no room. A claim that got
 * no answer keeps its token and its arguments, so that asking again brings what the first try took. */
#include "worker/claimer.h"

#include <string.h>

#include "base/clock.h"

struct claimer {
    struct tp_worker *worker;
    struct tpi_line line;
    struct tpi_line hands; /* for the tasks that it handles itself */
    struct tpi_pace pace;
    struct tpi_claiming claiming;
    struct tpi_house house;
    bool rested; /* since a claim that left nothing due */
};

/* ---- One claim ----------------------------------------------------------------------------------------- */

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
static void put_back(struct tpi_line *line, const tp_task *task, int64_t delay_ms, const char *why) {
    struct putting_back back = {task, delay_ms};
    tp_status status = tpi_line_ask(line, TPI_UNTIL_GRACE, ask_release, &back);
    if (status == TP_OK) atomic_fetch_add(&line->worker->counts.released, 1);
    tpi_notify_send(line->worker, status == TP_OK ? TP_EVENT_RELEASED : TP_EVENT_ERROR, task,
                    status == TP_OK ? why : tp_last_error()->text);
}

/* The owner hears of each task before any other word about it. */
static void take_in(struct tpi_claiming *claiming, struct tpi_line *line, const tp_batch *batch, size_t i) {
    struct tp_worker *worker = claiming->worker;
    const tp_task *task = tp_batch_task(batch, i);
    struct tpi_item *item = NULL;
    tpi_notify_send(worker, TP_EVENT_CLAIMED, task, NULL);
    tp_status status = tpi_item_new(worker, batch, i, claiming->asked_ms, &item);
    if (status == TP_EXISTS)
        put_back(line, task, worker->options.lease_ms / 3, "it is still being handled in this process");
    else if (status != TP_OK)
        put_back(line, task, worker->options.poll_ms, "out of memory");
    else if (!item)
        return;
    else if (item->done)
        tpi_settler_hand(item, TP_RUN_DONE, NULL, 0, false);
    else if (!tpi_queue_push(worker, item))
        tpi_settler_hand(item, TP_RUN_LATER, "there is no room for it here", worker->options.poll_ms, false);
}

/* Until the last is taken in, those that have ended already are not alone: the settler waits for the others.
 */
static void take_in_all(struct tpi_claiming *claiming, struct tpi_line *line, const tp_batch *batch) {
    struct tp_worker *worker = claiming->worker;
    size_t count = tp_batch_count(batch);
    pthread_mutex_lock(&worker->lock);
    worker->in_hand++;
    pthread_mutex_unlock(&worker->lock);
    for (size_t i = 0; i < count; i++)
        take_in(claiming, line, batch, i);
    pthread_mutex_lock(&worker->lock);
    tpi_item_leave_hand(worker);
    pthread_cond_signal(&worker->settle);
    pthread_mutex_unlock(&worker->lock);
}

static tp_status ask_claim(tp_conn *conn, void *arg) {
    struct tpi_claiming *claiming = arg;
    return tp_claim(conn, &claiming->request, &claiming->batch);
}

tp_status tpi_claiming_ask(struct tpi_claiming *claiming, struct tpi_line *line, size_t room) {
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
    tp_status status = tpi_line_try(line, ask_claim, claiming);
    if (status != TP_OK) return status;
    size_t count = tp_batch_count(claiming->batch);
    /* Under another token it is not what the earlier try took: the leases began now. */
    if (strcmp(tp_batch_task(claiming->batch, 0)->owner, token) != 0) claiming->asked_ms = asked_ms;
    tpi_trace(TPI_TRACE_WORKER, "claimed %zu of %zu", count, claiming->request.limit);
    atomic_fetch_add(&claiming->worker->counts.claimed, count);
    /* What an earlier try took, or what was known, says nothing about what else has become due. */
    claiming->more = again || claiming->request.known_handler || count == claiming->request.limit;
    take_in_all(claiming, line, claiming->batch);
    tp_batch_free(claiming->batch);
    return TP_OK;
}

/* ---- Between claims ------------------------------------------------------------------------------------ */

static tp_status ask_open(tp_conn *conn, void *arg) {
    const struct tpi_claiming *claiming = arg;
    return tp_any_open(conn, &claiming->request);
}

/* Tasks that are not due, and those that other workers hold, are open too: they may come back. */
static bool drained(struct claimer *claimer) {
    return tpi_line_try(&claimer->line, ask_open, &claimer->claiming) == TP_NONE;
}

static void rest_draining(struct claimer *claimer) {
    struct tp_worker *worker = claimer->worker;
    int64_t poll_ms = worker->options.poll_ms;
    int64_t drain_ms = tpi_pace_drain(&claimer->pace, tpi_clock_mono_ms());
    if (!tpi_queue_wait_empty(worker, poll_ms)) return;
    if (drained(claimer))
        tp_worker_stop(worker);
    else
        tpi_worker_pause(worker, poll_ms < drain_ms ? poll_ms : drain_ms, false);
}

/* Until the time, the stop, or an enqueue in this process. */
static void wait_until(struct tp_worker *worker, int64_t until) {
    pthread_mutex_lock(&worker->lock);
    while (!worker->woken && !tpi_worker_stopping(worker) && tpi_clock_mono_ms() < until)
        tpi_worker_wait(worker, &worker->claim, until);
    pthread_mutex_unlock(&worker->lock);
}

static bool is_woken(struct tp_worker *worker) {
    pthread_mutex_lock(&worker->lock);
    bool woken = worker->woken || tpi_worker_stopping(worker);
    pthread_mutex_unlock(&worker->lock);
    return woken;
}

/* What came is claimed alone only when all that was due before it has been claimed: that may be more urgent.
 */
static bool take_wake(struct claimer *claimer) {
    struct tpi_arrival arrival;
    pthread_mutex_lock(&claimer->worker->lock);
    bool woken = tpi_worker_take_wake(claimer->worker, &arrival);
    pthread_mutex_unlock(&claimer->worker->lock);
    if (!claimer->rested) arrival.handler = NULL;
    tpi_claiming_know(&claimer->claiming, &arrival);
    claimer->rested = false;
    return woken;
}

static void keep_house_until(struct claimer *claimer, int64_t until) {
    for (int64_t now = tpi_clock_mono_ms(); now < until; now = tpi_clock_mono_ms()) {
        int64_t house_at = tpi_house_next(&claimer->house);
        wait_until(claimer->worker, house_at > now && house_at < until ? house_at : until);
        if (claimer->worker->options.drain || is_woken(claimer->worker)) return;
        tpi_house_do(&claimer->house);
    }
}

static void rest(struct claimer *claimer, int64_t began, bool found) {
    int random = (int)tpi_line_random(&claimer->line, 100);
    claimer->pace.statements = claimer->line.statements;
    claimer->rested = true;
    int64_t until = tpi_pace_next(&claimer->pace, began, tpi_clock_mono_ms(), found, random);
    if (claimer->worker->options.drain)
        rest_draining(claimer);
    else
        keep_house_until(claimer, until);
}

/* The queue is full: instead of waiting, it handles the next task itself. */
static void stand_in(struct claimer *claimer) {
    struct tp_worker *worker = claimer->worker;
    struct tpi_item *item = NULL;
    if (worker->options.when_full == TP_FULL_CALLER_RUNS) item = tpi_queue_try_pop(worker);
    if (item)
        tpi_runner_run(&claimer->hands, item);
    else
        tpi_queue_wait_room(worker, tpi_clock_mono_ms() + worker->options.poll_ms);
}

static bool is_holding(struct tp_worker *worker) {
    pthread_mutex_lock(&worker->lock);
    bool holding = worker->holding;
    pthread_mutex_unlock(&worker->lock);
    return holding;
}

/* A task that kills this process must not do so before anybody knows of the process. */
static void tell_before_holding(struct claimer *claimer) {
    while (!tpi_worker_stopping(claimer->worker)) {
        tp_status status = tpi_heartbeat_send(&claimer->line);
        if (!tpi_line_hope(&claimer->line, status)) return;
        tpi_line_pause(&claimer->line, TPI_UNTIL_STOP);
    }
}

/* The handler threads claim by themselves; what is left are the chores and the end of a drain. */
static void watch_holders(struct claimer *claimer) {
    struct tp_worker *worker = claimer->worker;
    if (worker->options.drain) {
        rest_draining(claimer);
        return;
    }
    int64_t until = tpi_house_next(&claimer->house), now = tpi_clock_mono_ms();
    if (until <= now) until = now + worker->options.poll_ms; /* offline: its chores wait */
    tpi_worker_pause(worker, until - now, false);
}

/* ---- The thread ---------------------------------------------------------------------------------------- */

static void claim_until_stop(struct claimer *claimer) {
    struct tp_worker *worker = claimer->worker;
    while (!tpi_worker_stopping(worker)) {
        tpi_house_do(&claimer->house);
        if (is_holding(worker)) {
            watch_holders(claimer);
            continue;
        }
        size_t room = tpi_queue_room(worker);
        if (room == 0) {
            stand_in(claimer);
            continue;
        }
        int64_t began = tpi_clock_mono_ms();
        if (take_wake(claimer)) tpi_pace_warm(&claimer->pace, began);
        tp_status status = tpi_claiming_ask(&claimer->claiming, &claimer->line, room);
        if (status < 0)
            tpi_line_recover(&claimer->line, TPI_UNTIL_STOP, status);
        else if (claimer->claiming.more)
            tpi_pace_warm(&claimer->pace, began);
        else
            rest(claimer, began, status == TP_OK);
    }
}

/* A claim that the stop left without an answer may have taken tasks. One more try brings them here to be
 * released, rather than to wait for their lease and be counted as crashed. */
static void ask_once_more(struct claimer *claimer) {
    if (claimer->claiming.request.token[0] == '\0' || !claimer->line.broken) return;
    tp_status status = tpi_claiming_ask(&claimer->claiming, &claimer->line, 0);
    if (status < 0) tpi_notify_send(claimer->worker, TP_EVENT_ERROR, NULL, tp_last_error()->text);
}

void tpi_claimer_ended(struct tp_worker *worker) {
    tpi_queue_release(worker);
    pthread_mutex_lock(&worker->lock);
    worker->claimer_ended = true;
    tpi_worker_wake_all(worker);
    pthread_mutex_unlock(&worker->lock);
}

/* While handlers run on, however long, the pool hears that the worker is there and stops. */
static void await_end(struct claimer *claimer) {
    struct tp_worker *worker = claimer->worker;
    pthread_mutex_lock(&worker->lock);
    while (!tpi_item_all_ended(worker)) {
        int64_t next = tpi_heartbeat_next(worker);
        if (tpi_clock_mono_ms() < next) {
            tpi_worker_wait(worker, &worker->claim, next);
            continue;
        }
        pthread_mutex_unlock(&worker->lock);
        (void)tpi_heartbeat_send(&claimer->line);
        pthread_mutex_lock(&worker->lock);
    }
    pthread_mutex_unlock(&worker->lock);
}

void *tpi_claimer_main(void *arg) {
    struct tp_worker *worker = arg;
    struct claimer claimer = {.worker = worker};
    tpi_claiming_init(&claimer.claiming, worker);
    tpi_line_init(&claimer.line, worker, "claimer");
    tpi_line_init(&claimer.hands, worker, "claimer as runner");
    tpi_line_adopt(&claimer.line, worker->first);
    worker->first = NULL;
    tpi_house_init(&claimer.house, worker, &claimer.line);
    wait_until(worker, tpi_clock_mono_ms() + worker->options.initial_delay_ms);
    if (tpi_hold_wanted(worker)) tell_before_holding(&claimer);
    tpi_pace_init(&claimer.pace, &worker->options, tpi_clock_mono_ms());
    claim_until_stop(&claimer);
    ask_once_more(&claimer);
    tpi_line_close(&claimer.hands);
    tpi_claimer_ended(worker);
    await_end(&claimer);
    if (!claimer.line.broken) (void)tpi_heartbeat_end(&claimer.line);
    tpi_line_close(&claimer.line);
    return NULL;
}
