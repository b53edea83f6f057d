/* A worker as its owner sees it before and after its life: handlers, open, close, and a look at it. What it
 * does while it lives begins in life.c. */
#include "worker/dispatcher.h"

#include <stdlib.h>
#include <string.h>

#include "core/retry.h"
#include "core/sized.h"

enum { THREADS_ALWAYS = 7 };

static bool init_signals(struct tp_worker *worker) {
    struct tpi_signal *const all[] = {&worker->life_changed, &worker->work,   &worker->poller, &worker->claim,
                                      &worker->renew,        &worker->settle, &worker->alert,  &worker->beat};
    bool ok = true;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        ok = ok && tpi_signal_init(&worker->life, all[i]);
    return ok;
}

static bool init_sync(struct tp_worker *worker) {
    const tp_worker_options *options = &worker->options;
    worker->watchdog = (struct tpi_watchdog){.life = &worker->life, .notify = &worker->notify};
    worker->sessions.worker = worker;
    return tpi_lifetime_init(&worker->life, options->stop_ms) && init_signals(worker) &&
           tpi_notify_init(&worker->notify, &worker->life, options->on_event, options->event_arg) &&
           tpi_sessions_init(&worker->sessions, worker->env, &worker->life, &worker->notify) &&
           pthread_mutex_init(&worker->reader_lock, NULL) == 0 && tpi_heartbeat_init(&worker->heartbeat);
}

static void free_worker(struct tp_worker *worker) {
    tp_conn_close(worker->first);
    free(worker->slots);
    free(worker->threads);
    free(worker);
}

static void end_sync(struct tp_worker *worker) {
    tpi_heartbeat_free(&worker->heartbeat);
    pthread_mutex_destroy(&worker->reader_lock);
    tpi_sessions_free(&worker->sessions);
    tpi_notify_free(&worker->notify);
    tpi_lifetime_free(&worker->life);
}

/* ---- An enqueue in this process ---------------------------------------------------------------------- */

/* The worker's own text, which lives as long as it; NULL: not one of its handlers. */
static const char *own_name(const struct tp_worker *worker, const char *handler) {
    for (size_t i = 0; handler && i < worker->handler_count; i++)
        if (strcmp(worker->handlers[i].name, handler) == 0) return worker->handlers[i].name;
    return NULL;
}

static bool wants(const struct tpi_arrival *arrival, void *arg) {
    return !arrival->handler || own_name(arg, arrival->handler);
}

static void wake(const struct tpi_arrival *arrival, void *arg) {
    struct tp_worker *worker = arg;
    const char *handler = own_name(worker, arrival->handler);
    pthread_mutex_lock(&worker->life.lock);
    bool first = !worker->woken;
    bool same = handler == worker->arrival.handler && arrival->priority == worker->arrival.priority;
    worker->arrival = (struct tpi_arrival){first || same ? handler : NULL, arrival->priority};
    worker->woken = true;
    tpi_signal_one(&worker->claim);
    tpi_signal_one(&worker->poller);
    pthread_mutex_unlock(&worker->life.lock);
}

void tpi_worker_wake(struct tp_worker *worker) {
    wake(&(struct tpi_arrival){NULL, 0}, worker);
}

bool tpi_worker_take_wake(struct tp_worker *worker, struct tpi_arrival *arrival) {
    bool woken = worker->woken;
    *arrival = woken ? worker->arrival : (struct tpi_arrival){NULL, 0};
    worker->woken = false;
    return woken;
}

/* ---- Open and close ---------------------------------------------------------------------------------- */

tp_status tp_worker_open(tp_env *env, const tp_worker_options *options, tp_worker **out) {
    if (!env || !out) return tpi_error(TP_MISUSE, "tp_worker_open: env and worker must not be NULL");
    tp_worker_options filled;
    tp_status status = tpi_options_read(options, &filled);
    if (status != TP_OK) return status;
    struct tp_worker *worker = calloc(1, sizeof *worker);
    if (!worker) return tpi_error(TP_NOMEM, "tp_worker_open: out of memory");
    worker->env = env;
    worker->options = filled;
    worker->wake = (struct tpi_wake){.wants = wants, .wake = wake, .arg = worker};
    worker->slots = calloc((size_t)filled.threads_max, sizeof *worker->slots);
    worker->threads = calloc(THREADS_ALWAYS, sizeof *worker->threads);
    tpi_session_init(&worker->reader, &worker->sessions, "reader");
    if (!worker->slots || !worker->threads || !init_sync(worker)) {
        free_worker(worker);
        return tpi_error(TP_NOMEM, "tp_worker_open: out of memory or of the system's locks");
    }
    *out = worker;
    return TP_OK;
}

void tp_worker_close(tp_worker *worker) {
    if (!worker) return;
    tp_worker_stop(worker);
    /* From a handler or an event it can only be a stop: the thread cannot wait for itself. */
    if (tpi_lifetime_here() == &worker->life) return;
    if (tpi_worker_join(worker, true) != TP_OK) return;
    tpi_step_end(worker);
    tpi_session_close(&worker->reader);
    end_sync(worker);
    free_worker(worker);
}

static bool name_is_legal(const char *name) {
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-");
    return length > 0 && length <= TP_HANDLER_MAX && name[length] == '\0';
}

/* Under the lock. */
static tp_status add_handler(struct tp_worker *worker, const struct tpi_handler *handler) {
    if (worker->state != TPI_LIFE_OPEN)
        return tpi_error(TP_MISUSE, "tp_worker_handle: the worker was started; register handlers before");
    for (size_t i = 0; i < worker->handler_count; i++)
        if (strcmp(worker->handlers[i].name, handler->name) == 0)
            return tpi_error(TP_MISUSE, "tp_worker_handle: '%s' has a handler already", handler->name);
    if (worker->handler_count == TP_CLAIM_HANDLERS_MAX)
        return tpi_error(TP_MISUSE, "tp_worker_handle: a worker takes at most %d handlers",
                         TP_CLAIM_HANDLERS_MAX);
    worker->handlers[worker->handler_count++] = *handler;
    return TP_OK;
}

/* A claim that waited for the owner would hold up all others. */
static int64_t leave_delay(const tp_task *task, int32_t failures, const char *reason, void *arg) {
    (void)task;
    (void)failures;
    (void)reason;
    (void)arg;
    return 0;
}

tp_status tp_worker_handle_with(tp_worker *worker, const char *name, tp_handler_fn fn, void *arg,
                                const tp_retry *retry) {
    if (!worker || !name || !fn)
        return tpi_error(TP_MISUSE, "tp_worker_handle: worker, handler and fn must not be NULL");
    if (!name_is_legal(name))
        return tpi_error(TP_MISUSE,
                         "tp_worker_handle: a handler's name is 1 to %d of letters, digits and . _ : -",
                         TP_HANDLER_MAX);
    tp_status status = tpi_options_check_retry(retry);
    if (status != TP_OK) return status;
    struct tpi_handler handler = {.fn = fn, .arg = arg, .retry = retry ? retry : worker->options.retry};
    memcpy(handler.name, name, strlen(name) + 1);
    handler.in_claims = tpi_retry_read(handler.retry);
    if (handler.in_claims.delay) handler.in_claims.delay = leave_delay;
    pthread_mutex_lock(&worker->life.lock);
    status = add_handler(worker, &handler);
    pthread_mutex_unlock(&worker->life.lock);
    return status;
}

tp_status tp_worker_handle(tp_worker *worker, const char *handler, tp_handler_fn fn, void *arg) {
    return tp_worker_handle_with(worker, handler, fn, arg, NULL);
}

/* ---- A look ------------------------------------------------------------------------------------------ */

/* Under the lock. */
static const char *state_of(const struct tp_worker *worker) {
    static const char *const names[] = {
        [TPI_LIFE_OPEN] = "open",       [TPI_LIFE_STEPPING] = "open",   [TPI_LIFE_STARTING] = "open",
        [TPI_LIFE_RUNNING] = "running", [TPI_LIFE_JOINING] = "running", [TPI_LIFE_ENDED] = "ended",
    };
    bool lives = worker->state == TPI_LIFE_RUNNING || worker->state == TPI_LIFE_JOINING;
    if (!lives) return names[worker->state];
    if (worker->live_threads == 0) return "ended";
    if (tpi_lifetime_stopping(&worker->life)) return "stopping";
    return atomic_load(&worker->sessions.offline) ? "offline" : "running";
}

static tp_worker_info info_of(struct tp_worker *worker) {
    pthread_mutex_lock(&worker->life.lock);
    tp_worker_info info = {.state = state_of(worker),
                           .threads = (int)worker->executors,
                           .connections = atomic_load(&worker->sessions.connections),
                           .queued = worker->queue.count,
                           .running = worker->running};
    pthread_mutex_unlock(&worker->life.lock);
    info.claimed = atomic_load(&worker->counts.claimed);
    info.done = atomic_load(&worker->counts.done);
    info.failed = atomic_load(&worker->counts.failed);
    info.skipped = atomic_load(&worker->counts.skipped);
    info.released = atomic_load(&worker->counts.released);
    info.lost = atomic_load(&worker->counts.lost);
    info.events_dropped = tpi_notify_dropped(&worker->notify);
    return info;
}

tp_status tp_worker_look(tp_worker *worker, tp_worker_info *info) {
    if (!worker || !info) return tpi_error(TP_MISUSE, "tp_worker_look: an argument is NULL");
    const char *fault = tpi_sized_fault(TPI_SIZED_worker_info, info);
    if (fault) return tpi_error(TP_MISUSE, "%s", fault);
    tp_worker_info ours = info_of(worker);
    tpi_sized_write(TPI_SIZED_worker_info, &ours, info);
    return TP_OK;
}

tp_status tp_worker_counters(tp_worker *worker, tp_counters *counters) {
    if (!worker || !counters) return tpi_error(TP_MISUSE, "tp_worker_counters: an argument is NULL");
    const char *fault = tpi_sized_fault(TPI_SIZED_counters, counters);
    if (fault) return tpi_error(TP_MISUSE, "%s", fault);
    struct tpi_work *sum = &worker->sessions.work_done;
    tp_counters ours = {.odbc_calls = atomic_load(&sum->odbc_calls),
                        .statements = atomic_load(&sum->statements),
                        .round_trips = atomic_load(&sum->round_trips),
                        .commits = atomic_load(&sum->commits),
                        .rollbacks = atomic_load(&sum->rollbacks),
                        .errors = atomic_load(&sum->errors)};
    tpi_sized_write(TPI_SIZED_counters, &ours, counters);
    return TP_OK;
}
