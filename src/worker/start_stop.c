/* A worker's life: start, stop, join. tp_worker_stop may run in a signal handler, so it only sets a flag and
 * posts a semaphore; a thread that does nothing else waits for it, wakes all who wait, and lets what never
 * started be released. A drained worker ends the same way: its dispatcher asks for the stop. */
#include "ops/for_workers.h"
#include "worker/worker.h"

#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/trace.h"

/* ---- Stop -------------------------------------------------------------------------------------------- */

void tp_worker_stop(tp_worker *worker) {
    if (worker) (void)tpi_lifetime_stop(&worker->life);
}

/* The one thread that wakes all others: at the stop, at its deadline, and at the end of the last job. */
static void *await_stop(void *arg) {
    struct tp_worker *worker = arg;
    struct tpi_lifetime *life = &worker->life;
    while (sem_wait(&life->stop_semaphore) == -1 && errno == EINTR)
        continue;
    tpi_trace(TPI_TRACE_WORKER, "stop");
    int64_t now = tpi_clock_mono_ms();
    atomic_store(&life->stopped_at, now);
    tpi_heartbeat_hurry(&worker->heartbeat); /* the pool hears of the stop at once */
    tpi_completer_hurry(&worker->completer);
    tpi_lifetime_wake_all(life);
    tpi_completer_release_queue(&worker->completer);
    /* Handlers that run on past the deadline lose their leases in time, so that others get their tasks. */
    if (life->stop_ms && !tpi_lifetime_wait_over(life, now + life->stop_ms)) {
        atomic_store(&life->abandoned, true);
        tpi_lifetime_wake_all(life);
    }
    (void)tpi_lifetime_wait_over(life, INT64_MAX);
    tpi_lifetime_wake_all(life);
    return NULL;
}

/* ---- Start ------------------------------------------------------------------------------------------- */

/* The application's signals go to the application's threads. Faults stay deliverable: blocked, they would
 * kill the process past its own crash handler. */
static void block_signals(sigset_t *before) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

/* The first wakes the others at their end; the last claims, and needs all others for that. */
static tp_status start_each(struct tp_worker *worker) {
    const struct {
        void *(*main)(void *);
        void *arg;
    } others[] = {
        {tpi_lease_renewer_main, &worker->lease_renewer},
        {tpi_canceller_main, &worker->canceller},
        {tpi_completer_main, &worker->completer},
        {tpi_watchdog_main, &worker->watchdog},
        {tpi_heartbeat_main, &worker->heartbeat},
        {tpi_progress_writer_main, &worker->progress},
        {tpi_alerter_wanted(&worker->alerter) ? tpi_alerter_main : NULL, &worker->alerter},
        {tpi_dispatcher_main, &worker->dispatcher},
    };
    tp_status status = tpi_notify_start(&worker->notify);
    if (status == TP_OK) status = tpi_threads_start(&worker->threads, await_stop, worker);
    for (int i = 0; status == TP_OK && i < worker->options.threads; i++)
        if (!tpi_executors_add(&worker->executors))
            status = tpi_error(TP_NOMEM, "tp_worker_start: the system gives no more threads");
    for (size_t i = 0; status == TP_OK && i < sizeof others / sizeof others[0]; i++)
        if (others[i].main) status = tpi_threads_start(&worker->threads, others[i].main, others[i].arg);
    return status;
}

static tp_status start_threads(struct tp_worker *worker) {
    sigset_t before;
    tpi_pace_init(&worker->executors.pace, &worker->options, tpi_clock_mono_ms());
    tpi_wake_add(&worker->queue.wake);
    block_signals(&before);
    tp_status status = start_each(worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status == TP_OK) return TP_OK;
    /* Those that are there already end as they do after the dispatcher, and none will come. */
    tp_worker_stop(worker);
    tpi_dispatcher_ended(&worker->dispatcher);
    tpi_threads_join(&worker->threads);
    (void)tpi_notify_end(&worker->notify, INT64_MAX);
    tpi_wake_remove(&worker->queue.wake);
    return status;
}

tp_status tpi_worker_connect(struct tp_worker *worker) {
    tp_conn **first = &worker->dispatcher.first;
    tp_status status = TP_OK;
    if (*first) return TP_OK;
    status = tp_conn_open(worker->sessions.env, first);
    if (status == TP_OK) status = tpi_plan_check(*first, worker->options.plan);
    if (status == TP_OK) status = tp_schema_check(*first);
    if (status == TP_OK) {
        tpi_claims_choose(&worker->claims, *first);
        tpi_heartbeat_begin(&worker->heartbeat);
        return TP_OK;
    }
    tp_conn_close(*first);
    *first = NULL;
    return status;
}

/* The state that follows: a start that failed to connect may be asked again. */
static enum tpi_worker_state start_now(struct tp_worker *worker, tp_status *status) {
    if (tpi_lifetime_stopping(&worker->life)) return TPI_STATE_ENDED;
    *status = tpi_worker_connect(worker);
    if (*status != TP_OK) return TPI_STATE_OPEN;
    if (tpi_lifetime_stopping(&worker->life)) return TPI_STATE_ENDED;
    *status = start_threads(worker);
    return *status == TP_OK ? TPI_STATE_RUNNING : TPI_STATE_ENDED;
}

static void set_state(struct tp_worker *worker, enum tpi_worker_state state) {
    pthread_mutex_lock(&worker->life.lock);
    worker->life.state = state;
    tpi_signal_all(&worker->life.changed);
    pthread_mutex_unlock(&worker->life.lock);
}

tp_status tp_worker_start(tp_worker *worker) {
    if (!worker) return tpi_error(TP_MISUSE, "tp_worker_start: worker must not be NULL");
    tp_status status = TP_OK;
    pthread_mutex_lock(&worker->life.lock);
    if (worker->life.state != TPI_STATE_OPEN)
        status = tpi_error(TP_MISUSE, "tp_worker_start: a worker is started once; open another one");
    else if (worker->claims.handlers.count == 0)
        status = tpi_error(TP_MISUSE, "tp_worker_start: no handler; register one with tp_worker_handle");
    else
        worker->life.state = TPI_STATE_STARTING;
    pthread_mutex_unlock(&worker->life.lock);
    if (status != TP_OK) return status;
    set_state(worker, start_now(worker, &status));
    return status;
}

/* ---- Join -------------------------------------------------------------------------------------------- */

/* Waits out another thread's start or join. True: the caller is the one to join the threads. */
static bool take_join(struct tp_worker *worker, tp_status *status) {
    pthread_mutex_lock(&worker->life.lock);
    while (worker->life.state == TPI_STATE_STARTING || worker->life.state == TPI_STATE_JOINING)
        tpi_signal_wait(&worker->life.changed, INT64_MAX);
    bool mine = worker->life.state == TPI_STATE_RUNNING;
    if (mine) worker->life.state = TPI_STATE_JOINING;
    bool waits = worker->life.state == TPI_STATE_OPEN || worker->life.state == TPI_STATE_STEPPING;
    if (waits && !tpi_lifetime_stopping(&worker->life))
        *status = tpi_error(TP_MISUSE, "tp_worker_join: the worker was not started; it would wait for ever");
    pthread_mutex_unlock(&worker->life.lock);
    return mine;
}

/* A join after the deadline waits as long once more. */
static int64_t join_deadline(const struct tp_worker *worker, int64_t began) {
    int64_t stop_ms = worker->life.stop_ms, stopped_at = atomic_load(&worker->life.stopped_at);
    if (!stop_ms || !stopped_at) return INT64_MAX;
    return (began >= stopped_at + stop_ms ? began : stopped_at) + stop_ms;
}

/* False: the deadline has passed before every thread has come to its end. */
static bool await_end(struct tp_worker *worker, bool patient, int64_t *deadline) {
    int64_t began = tpi_clock_mono_ms();
    bool in_time = true;
    pthread_mutex_lock(&worker->life.lock);
    while (worker->threads.live && in_time) {
        *deadline = patient ? INT64_MAX : join_deadline(worker, began);
        in_time = tpi_clock_mono_ms() < *deadline;
        if (in_time) tpi_signal_wait(&worker->life.changed, *deadline);
    }
    in_time = worker->threads.live == 0;
    *deadline = patient ? INT64_MAX : join_deadline(worker, began);
    pthread_mutex_unlock(&worker->life.lock);
    return in_time;
}

tp_status tpi_worker_join(struct tp_worker *worker, bool patient) {
    tp_status status = TP_OK;
    int64_t deadline = INT64_MAX;
    if (!take_join(worker, &status)) return status;
    if (!await_end(worker, patient, &deadline)) {
        set_state(worker, TPI_STATE_RUNNING);
        return tpi_error(TP_TIMEOUT,
                         "tp_worker_join: handlers, or on_alert, still run; leases are not extended "
                         "any more, and others will get the tasks");
    }
    tpi_threads_join(&worker->threads);
    tpi_session_close(&worker->runs.reader);
    if (!tpi_notify_end(&worker->notify, deadline)) {
        set_state(worker, TPI_STATE_RUNNING);
        return tpi_error(TP_TIMEOUT, "tp_worker_join: on_event has not returned; all tasks are settled");
    }
    tpi_wake_remove(&worker->queue.wake);
    set_state(worker, TPI_STATE_ENDED);
    return TP_OK;
}

tp_status tp_worker_join(tp_worker *worker) {
    if (!worker) return tpi_error(TP_MISUSE, "tp_worker_join: worker must not be NULL");
    if (tpi_lifetime_here() == &worker->life)
        return tpi_error(TP_MISUSE, "tp_worker_join: not in a handler or an event: it would wait for itself");
    return tpi_worker_join(worker, false);
}
