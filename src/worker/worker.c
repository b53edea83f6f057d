/* A worker as its owner sees it before and after its life: open, handlers, close, tp_worker_about. Here its
 * parts are connected: each gets pointers to those below it. What it does while it lives begins in
 * start_stop.c. */
#include "worker/worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/sized.h"
#include "worker/options.h"

/* ---- The parts ----------------------------------------------------------------------------------------- */

static void wire_basis(struct tp_worker *w, tp_env *env) {
    const tp_worker_options *options = &w->options;
    w->sessions = (struct tpi_sessions){.env = env, .life = &w->life, .notify = &w->notify};
    w->alerter = (struct tpi_alerter){
        .life = &w->life, .sessions = &w->sessions, .options = options, .handlers = &w->claims.handlers};
    w->record = (struct tpi_record){.notify = &w->notify, .alerter = &w->alerter, .tally = &w->tally};
    w->tally.handlers = &w->claims.handlers;
    w->claims = (struct tpi_claims){.options = options};
    w->watchdog = (struct tpi_watchdog){.life = &w->life, .notify = &w->notify};
    w->threads = (struct tpi_threads){.life = &w->life, .watchdog = &w->watchdog};
}

static void wire_jobs(struct tp_worker *w) {
    const tp_worker_options *options = &w->options;
    w->jobs = (struct tpi_jobs){.life = &w->life,
                                .record = &w->record,
                                .env = w->sessions.env,
                                .options = options,
                                .handlers = &w->claims.handlers};
    w->lease_renewer = (struct tpi_lease_renewer){
        .sessions = &w->sessions, .jobs = &w->jobs, .record = &w->record, .lease_ms = options->lease_ms};
    w->canceller = (struct tpi_canceller){.life = &w->life, .sessions = &w->sessions, .jobs = &w->jobs};
    w->queue = (struct tpi_queue){.life = &w->life, .options = options, .handlers = &w->claims.handlers};
    w->completer = (struct tpi_completer){.life = &w->life,
                                          .sessions = &w->sessions,
                                          .queue = &w->queue,
                                          .record = &w->record,
                                          .options = options};
    w->progress = (struct tpi_progress_writer){.life = &w->life, .sessions = &w->sessions};
    w->runs = (struct tpi_runs){.life = &w->life,
                                .record = &w->record,
                                .completer = &w->completer,
                                .progress = &w->progress,
                                .hooks = options->hooks,
                                .hook_count = options->hook_count};
}

static void wire_threads(struct tp_worker *w) {
    const tp_worker_options *options = &w->options;
    w->transactions = (struct tpi_transactions){.life = &w->life,
                                                .notify = &w->notify,
                                                .record = &w->record,
                                                .jobs = &w->jobs,
                                                .completer = &w->completer,
                                                .runs = &w->runs,
                                                .claims = &w->claims,
                                                .options = options,
                                                .claimed = tpi_executors_claimed,
                                                .arg = &w->executors};
    w->executors = (struct tpi_executors){.life = &w->life,
                                          .sessions = &w->sessions,
                                          .threads = &w->threads,
                                          .queue = &w->queue,
                                          .transactions = &w->transactions,
                                          .runs = &w->runs,
                                          .claims = &w->claims,
                                          .options = options};
    w->heartbeat = (struct tpi_heartbeat){.life = &w->life,
                                          .sessions = &w->sessions,
                                          .queue = &w->queue,
                                          .claims = &w->claims,
                                          .options = options,
                                          .look = tp_worker_about,
                                          .worker = w,
                                          .tally = &w->tally,
                                          .notify = &w->notify};
    w->dispatcher = (struct tpi_dispatcher){.life = &w->life,
                                            .notify = &w->notify,
                                            .record = &w->record,
                                            .sessions = &w->sessions,
                                            .jobs = &w->jobs,
                                            .queue = &w->queue,
                                            .completer = &w->completer,
                                            .executors = &w->executors,
                                            .heartbeat = &w->heartbeat,
                                            .claims = &w->claims,
                                            .options = options};
}

enum { LOCKS = 9 };

static void list_locks(struct tp_worker *w, pthread_mutex_t *all[LOCKS]) {
    pthread_mutex_t *const locks[] = {&w->alerter.lock,        &w->jobs.lock,      &w->queue.lock,
                                      &w->completer.lock,      &w->watchdog.lock,  &w->runs.reader_lock,
                                      &w->sessions.event_lock, &w->heartbeat.lock, &w->progress.lock};
    memcpy(all, locks, sizeof locks);
}

static bool init_sync(struct tp_worker *w) {
    pthread_mutex_t *locks[LOCKS];
    bool ok = tpi_lifetime_init(&w->life, w->options.stop_ms) &&
              tpi_notify_init(&w->notify, &w->life, w->options.on_event, w->options.event_arg);
    list_locks(w, locks);
    for (size_t i = 0; i < LOCKS; i++)
        ok = ok && pthread_mutex_init(locks[i], NULL) == 0;
    return ok && tpi_signal_init(&w->life, &w->alerter.signal, &w->alerter.lock) &&
           tpi_signal_init(&w->life, &w->jobs.leases, &w->jobs.lock) &&
           tpi_signal_init(&w->life, &w->queue.work, &w->queue.lock) &&
           tpi_signal_init(&w->life, &w->queue.room, &w->queue.lock) &&
           tpi_signal_init(&w->life, &w->completer.submitted, &w->completer.lock) &&
           tpi_signal_init(&w->life, &w->runs.reader_free, &w->runs.reader_lock) &&
           tpi_signal_init(&w->life, &w->progress.news, &w->progress.lock);
}

static void end_sync(struct tp_worker *w) {
    pthread_mutex_t *locks[LOCKS];
    list_locks(w, locks);
    tpi_notify_free(&w->notify);
    tpi_lifetime_free(&w->life);
    for (size_t i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(locks[i]);
}

static void free_worker(struct tp_worker *worker) {
    tpi_progress_writer_free(&worker->progress);
    tp_conn_close(worker->dispatcher.first);
    tpi_threads_free(&worker->threads);
    free(worker);
}

/* ---- Open and close ------------------------------------------------------------------------------------ */

tp_status tp_worker_open(tp_env *env, const tp_worker_options *options, tp_worker **out) {
    if (!env || !out) return tpi_error(TP_MISUSE, "tp_worker_open: env and worker must not be NULL");
    tp_worker_options filled;
    tp_status status = tpi_options_read(options, &filled);
    if (status != TP_OK) return status;
    struct tp_worker *worker = calloc(1, sizeof *worker);
    if (!worker) return tpi_error(TP_NOMEM, "tp_worker_open: out of memory");
    worker->options = filled;
    wire_basis(worker, env);
    wire_jobs(worker);
    wire_threads(worker);
    tpi_queue_init_wake(&worker->queue);
    tpi_session_init(&worker->runs.reader, &worker->sessions, "reader");
    size_t threads = (size_t)worker->options.threads_max + TPI_THREADS_OTHER;
    if (!tpi_threads_init(&worker->threads, threads) || !init_sync(worker)) {
        free_worker(worker);
        return tpi_error(TP_NOMEM, "tp_worker_open: out of memory or of the system's locks");
    }
    *out = worker;
    return TP_OK;
}

/* A thread of another worker may still say of a job that a step has ended that it is lost. What a step had no
 * memory to settle is left. */
static void await_others(struct tp_worker *worker) {
    tpi_lifetime_end_claims(&worker->life);
    if (worker->completer.list.count == 0) (void)tpi_lifetime_wait_over(&worker->life, INT64_MAX);
}

void tp_worker_close(tp_worker *worker) {
    if (!worker) return;
    tp_worker_stop(worker);
    /* From a handler or an event it can only be a stop: the thread cannot wait for itself. */
    if (tpi_lifetime_here() == &worker->life) return;
    if (tpi_worker_join(worker, true) != TP_OK) return;
    tpi_step_end(worker);
    tpi_session_close(&worker->runs.reader);
    await_others(worker);
    end_sync(worker);
    free_worker(worker);
}

tp_status tp_worker_handle_by(tp_worker *worker, const char *name, tp_handler_fn fn, void *arg,
                              const tp_handler_options *given) {
    tp_handler_options options = TP_HANDLER_INIT;
    struct tpi_handler handler;
    if (!worker || !name || !fn)
        return tpi_error(TP_MISUSE, "tp_worker_handle: worker, handler and fn must not be NULL");
    const char *fault = given ? tpi_sized_read_fault(TPI_SIZED_handler_options, given) : NULL;
    if (fault) return tpi_error(TP_MISUSE, "%s", fault);
    if (given) tpi_sized_read(TPI_SIZED_handler_options, given, &options);
    if (!options.retry) options.retry = worker->options.retry;
    tp_status status = tpi_handler_read(name, fn, arg, &options, &handler);
    if (status != TP_OK) return status;
    pthread_mutex_lock(&worker->life.lock);
    if (worker->life.state == TPI_STATE_OPEN)
        status = tpi_handler_add(&worker->claims.handlers, &handler);
    else
        status = tpi_error(TP_MISUSE, "tp_worker_handle: the worker was started; register handlers before");
    pthread_mutex_unlock(&worker->life.lock);
    return status;
}

tp_status tp_worker_handle_with(tp_worker *worker, const char *handler, tp_handler_fn fn, void *arg,
                                const tp_retry *retry) {
    const tp_handler_options options = {.size = sizeof options, .retry = retry};
    return tp_worker_handle_by(worker, handler, fn, arg, &options);
}

tp_status tp_worker_handle(tp_worker *worker, const char *handler, tp_handler_fn fn, void *arg) {
    return tp_worker_handle_by(worker, handler, fn, arg, NULL);
}

/* ---- A look ------------------------------------------------------------------------------------------ */

/* Under the lifetime's lock. */
static const char *state_of(const struct tp_worker *worker) {
    static const char *const names[] = {
        [TPI_STATE_OPEN] = "open",       [TPI_STATE_STEPPING] = "open",   [TPI_STATE_STARTING] = "open",
        [TPI_STATE_RUNNING] = "running", [TPI_STATE_JOINING] = "running", [TPI_STATE_ENDED] = "ended",
    };
    bool lives = worker->life.state == TPI_STATE_RUNNING || worker->life.state == TPI_STATE_JOINING;
    if (!lives) return names[worker->life.state];
    if (worker->threads.live == 0) return "ended";
    if (tpi_lifetime_stopping(&worker->life)) return "stopping";
    return atomic_load(&worker->sessions.offline) ? "offline" : "running";
}

static tp_worker_info info_of(struct tp_worker *worker) {
    pthread_mutex_lock(&worker->life.lock);
    const char *state = state_of(worker);
    pthread_mutex_unlock(&worker->life.lock);
    pthread_mutex_lock(&worker->queue.lock);
    tp_worker_info info = {.state = state,
                           .threads = (int)worker->queue.executors,
                           .connections = atomic_load(&worker->sessions.connections),
                           .queued = worker->queue.list.count,
                           .running = atomic_load(&worker->runs.running)};
    pthread_mutex_unlock(&worker->queue.lock);
    info.claimed = atomic_load(&worker->record.counts.claimed);
    info.done = atomic_load(&worker->record.counts.done);
    info.failed = atomic_load(&worker->record.counts.failed);
    info.skipped = atomic_load(&worker->record.counts.skipped);
    info.released = atomic_load(&worker->record.counts.released);
    info.lost = atomic_load(&worker->record.counts.lost);
    info.unstored = atomic_load(&worker->record.counts.unstored);
    info.events_dropped = tpi_notify_dropped(&worker->notify);
    info.waiting_ms = tpi_watchdog_longest(&worker->watchdog);
    return info;
}

tp_status tp_worker_about(tp_worker *worker, tp_worker_info *info) {
    if (!worker || !info) return tpi_error(TP_MISUSE, "tp_worker_about: an argument is NULL");
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
