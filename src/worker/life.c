/* A worker's life: start, stop, join. tp_worker_stop may run in a signal handler, so it only sets a flag and
 * rings a semaphore; a thread that does nothing else hears it, wakes all who wait, and lets what never
 * started be released. A drained worker ends the same way: its dispatcher asks for the stop. */
#include "worker/dispatcher.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "worker/watchdog.h"

static _Thread_local struct tp_worker *here;

struct tp_worker *tpi_worker_here(void) {
    return here;
}

void tpi_worker_set_here(struct tp_worker *worker) {
    here = worker;
}

bool tpi_worker_stopping(const struct tp_worker *worker) {
    return atomic_load(&worker->stop_asked);
}

void tpi_worker_wait(struct tp_worker *worker, pthread_cond_t *cond, int64_t until_ms) {
    struct timespec until = {.tv_sec = (time_t)(until_ms / 1000),
                             .tv_nsec = (long)(until_ms % 1000) * 1000000};
    if (until_ms == INT64_MAX)
        pthread_cond_wait(cond, &worker->lock);
    else
        pthread_cond_timedwait(cond, &worker->lock, &until);
}

void tpi_worker_pause(struct tp_worker *worker, int64_t ms, bool was) {
    int64_t until = tpi_clock_mono_ms() + ms;
    pthread_mutex_lock(&worker->lock);
    while (tpi_clock_mono_ms() < until && tpi_worker_stopping(worker) == was && !tpi_job_all_ended(worker))
        tpi_worker_wait(worker, &worker->pause, until);
    pthread_mutex_unlock(&worker->lock);
}

bool tpi_worker_grace_over(struct tp_worker *worker, int64_t since) {
    pthread_mutex_lock(&worker->lock);
    int64_t from = worker->stopped_at > since ? worker->stopped_at : since;
    pthread_mutex_unlock(&worker->lock);
    return tpi_clock_mono_ms() - from >= TPI_STOP_GRACE_MS;
}

bool tpi_worker_past_deadline(struct tp_worker *worker) {
    int64_t stop_ms = worker->options.stop_ms;
    pthread_mutex_lock(&worker->lock);
    bool past = stop_ms && worker->stopped_at && tpi_clock_mono_ms() >= worker->stopped_at + stop_ms;
    pthread_mutex_unlock(&worker->lock);
    return past;
}

void tpi_worker_wake_all(struct tp_worker *worker) {
    pthread_cond_broadcast(&worker->life_changed);
    pthread_cond_broadcast(&worker->work);
    pthread_cond_broadcast(&worker->poller);
    pthread_cond_broadcast(&worker->claim);
    pthread_cond_broadcast(&worker->renew);
    pthread_cond_broadcast(&worker->settle);
    pthread_cond_broadcast(&worker->alert);
    pthread_cond_broadcast(&worker->beat);
    pthread_cond_broadcast(&worker->pause);
}

/* ---- Stop -------------------------------------------------------------------------------------------- */

void tp_worker_stop(tp_worker *worker) {
    if (!worker || atomic_exchange(&worker->stop_asked, true)) return;
    int saved = errno; /* the code that a signal interrupted may be about to read it */
    sem_post(&worker->stop_semaphore);
    errno = saved;
}

/* Handlers that run on past the deadline lose their leases in time, so that others get their tasks. */
static void watch_deadline(struct tp_worker *worker) {
    if (!worker->options.stop_ms) return;
    pthread_mutex_lock(&worker->lock);
    int64_t deadline = worker->stopped_at + worker->options.stop_ms;
    while (!tpi_job_all_ended(worker) && tpi_clock_mono_ms() < deadline)
        tpi_worker_wait(worker, &worker->pause, deadline);
    worker->abandoned = !tpi_job_all_ended(worker);
    tpi_worker_wake_all(worker);
    pthread_mutex_unlock(&worker->lock);
}

static void *await_stop(void *arg) {
    struct tp_worker *worker = arg;
    while (sem_wait(&worker->stop_semaphore) == -1 && errno == EINTR)
        continue;
    tpi_trace(TPI_TRACE_WORKER, "stop");
    pthread_mutex_lock(&worker->lock);
    worker->stopped_at = tpi_clock_mono_ms();
    tpi_heartbeat_hurry(worker); /* the pool hears of the stop at once */
    tpi_completer_hurry(worker);
    tpi_worker_wake_all(worker);
    pthread_mutex_unlock(&worker->lock);
    tpi_queue_release(worker);
    watch_deadline(worker);
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

static tp_status start_each(struct tp_worker *worker) {
    tp_status status = tpi_notify_start(&worker->notify);
    if (status == TP_OK) status = tpi_threads_start(worker, await_stop);
    for (int i = 0; status == TP_OK && i < worker->options.threads; i++)
        if (!tpi_threads_add_executor(worker))
            status = tpi_error(TP_NOMEM, "tp_worker_start: the system gives no more threads");
    if (status == TP_OK) status = tpi_threads_start(worker, tpi_lease_renewer_main);
    if (status == TP_OK) status = tpi_threads_start(worker, tpi_completer_main);
    if (status == TP_OK) status = tpi_threads_start(worker, tpi_watchdog_main);
    if (status == TP_OK) status = tpi_threads_start(worker, tpi_heartbeat_main);
    if (status == TP_OK && worker->options.on_alert) status = tpi_threads_start(worker, tpi_alerter_main);
    /* The last: what it claims needs all the others. */
    if (status == TP_OK) status = tpi_threads_start(worker, tpi_dispatcher_main);
    return status;
}

/* Those that are there already end after the dispatcher, and none will come. */
static void end_without_claimer(struct tp_worker *worker) {
    tp_worker_stop(worker);
    tpi_dispatcher_ended(worker);
    tpi_threads_join(worker);
    (void)tpi_notify_end(&worker->notify, INT64_MAX);
}

static tp_status start_threads(struct tp_worker *worker) {
    sigset_t before;
    tpi_pace_init(&worker->hold_pace, &worker->options, tpi_clock_mono_ms());
    tpi_wake_add(&worker->wake);
    block_signals(&before);
    tp_status status = start_each(worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status == TP_OK) return TP_OK;
    end_without_claimer(worker);
    tpi_wake_remove(&worker->wake);
    return status;
}

tp_status tpi_worker_connect(struct tp_worker *worker) {
    tp_status status = TP_OK;
    if (worker->first) return TP_OK;
    status = tp_conn_open(worker->env, &worker->first);
    if (status == TP_OK) status = tp_plan_check(worker->first, worker->options.plan);
    if (status == TP_OK) status = tp_schema_check(worker->first);
    if (status == TP_OK) {
        tpi_poller_choose(worker);
        tpi_heartbeat_begin(worker);
        return TP_OK;
    }
    tp_conn_close(worker->first);
    worker->first = NULL;
    return status;
}

/* The life that follows: a start that failed to connect may be asked again. */
static enum tpi_life start_now(struct tp_worker *worker, tp_status *status) {
    if (tpi_worker_stopping(worker)) return TPI_LIFE_ENDED;
    *status = tpi_worker_connect(worker);
    if (*status != TP_OK) return TPI_LIFE_OPEN;
    if (tpi_worker_stopping(worker)) return TPI_LIFE_ENDED;
    *status = start_threads(worker);
    return *status == TP_OK ? TPI_LIFE_RUNNING : TPI_LIFE_ENDED;
}

/* Under the lock. */
static tp_status may_start(const struct tp_worker *worker) {
    if (worker->life != TPI_LIFE_OPEN)
        return tpi_error(TP_MISUSE, "tp_worker_start: a worker is started once; open another one");
    if (worker->handler_count == 0)
        return tpi_error(TP_MISUSE, "tp_worker_start: no handler; register one with tp_worker_handle");
    return TP_OK;
}

static void set_life(struct tp_worker *worker, enum tpi_life life) {
    pthread_mutex_lock(&worker->lock);
    worker->life = life;
    pthread_cond_broadcast(&worker->life_changed);
    pthread_mutex_unlock(&worker->lock);
}

tp_status tp_worker_start(tp_worker *worker) {
    if (!worker) return tpi_error(TP_MISUSE, "tp_worker_start: worker must not be NULL");
    pthread_mutex_lock(&worker->lock);
    tp_status status = may_start(worker);
    if (status == TP_OK) worker->life = TPI_LIFE_STARTING;
    pthread_mutex_unlock(&worker->lock);
    if (status != TP_OK) return status;
    set_life(worker, start_now(worker, &status));
    return status;
}

/* ---- Join -------------------------------------------------------------------------------------------- */

/* Waits out another thread's start or join. True: the caller is the one to join the threads. */
static bool take_join(struct tp_worker *worker, tp_status *status) {
    pthread_mutex_lock(&worker->lock);
    while (worker->life == TPI_LIFE_STARTING || worker->life == TPI_LIFE_JOINING)
        pthread_cond_wait(&worker->life_changed, &worker->lock);
    bool mine = worker->life == TPI_LIFE_RUNNING;
    if (mine) worker->life = TPI_LIFE_JOINING;
    bool waits = worker->life == TPI_LIFE_OPEN || worker->life == TPI_LIFE_STEPPING;
    if (waits && !tpi_worker_stopping(worker))
        *status = tpi_error(TP_MISUSE, "tp_worker_join: the worker was not started; it would wait for ever");
    pthread_mutex_unlock(&worker->lock);
    return mine;
}

/* Under the lock. A join after the deadline waits as long once more. */
static int64_t join_deadline(const struct tp_worker *worker, int64_t began) {
    int64_t stop_ms = worker->options.stop_ms;
    if (!stop_ms || !worker->stopped_at) return INT64_MAX;
    return (began >= worker->stopped_at + stop_ms ? began : worker->stopped_at) + stop_ms;
}

/* False: the deadline has passed before every thread has come to its end. */
static bool await_end(struct tp_worker *worker, bool patient, int64_t *deadline) {
    int64_t began = tpi_clock_mono_ms();
    bool in_time = true;
    pthread_mutex_lock(&worker->lock);
    while (worker->live_threads && in_time) {
        *deadline = patient ? INT64_MAX : join_deadline(worker, began);
        in_time = tpi_clock_mono_ms() < *deadline;
        if (in_time) tpi_worker_wait(worker, &worker->life_changed, *deadline);
    }
    in_time = worker->live_threads == 0;
    *deadline = patient ? INT64_MAX : join_deadline(worker, began);
    pthread_mutex_unlock(&worker->lock);
    return in_time;
}

tp_status tpi_worker_join(struct tp_worker *worker, bool patient) {
    tp_status status = TP_OK;
    int64_t deadline = INT64_MAX;
    if (!take_join(worker, &status)) return status;
    if (!await_end(worker, patient, &deadline)) {
        set_life(worker, TPI_LIFE_RUNNING);
        return tpi_error(TP_TIMEOUT,
                         "tp_worker_join: handlers, or on_alert, still run; leases are not extended "
                         "any more, and others will get the tasks");
    }
    tpi_threads_join(worker);
    tpi_session_close(&worker->reader);
    if (!tpi_notify_end(&worker->notify, deadline)) {
        set_life(worker, TPI_LIFE_RUNNING);
        return tpi_error(TP_TIMEOUT, "tp_worker_join: on_event has not returned; all tasks are settled");
    }
    tpi_wake_remove(&worker->wake);
    set_life(worker, TPI_LIFE_ENDED);
    return TP_OK;
}

tp_status tp_worker_join(tp_worker *worker) {
    if (!worker) return tpi_error(TP_MISUSE, "tp_worker_join: worker must not be NULL");
    if (here == worker)
        return tpi_error(TP_MISUSE, "tp_worker_join: not in a handler or an event: it would wait for itself");
    return tpi_worker_join(worker, false);
}
