/* A worker's life: start, stop, join. tp_worker_stop may run in a signal handler, so it only sets a flag and
 * rings a semaphore; a thread that does nothing else hears it and wakes all who wait. A drained worker ends
 * the same way: its claimer asks for the stop. */
#include "worker/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

static _Thread_local struct tp_worker *here;

struct tp_worker *tpi_worker_here(void) {
    return here;
}

bool tpi_worker_stopping(const struct tp_worker *worker) {
    return atomic_load(&worker->stop_asked);
}

void tpi_worker_wait(struct tp_worker *worker, pthread_cond_t *cond, int64_t until_ms) {
    struct timespec until = {.tv_sec = (time_t)(until_ms / 1000),
                             .tv_nsec = (long)(until_ms % 1000) * 1000000};
    pthread_cond_timedwait(cond, &worker->lock, &until);
}

void tpi_worker_pause(struct tp_worker *worker, int64_t ms, bool was) {
    int64_t until = tpi_clock_mono_ms() + ms;
    pthread_mutex_lock(&worker->lock);
    while (tpi_clock_mono_ms() < until && tpi_worker_stopping(worker) == was && !tpi_hand_all_ended(worker))
        tpi_worker_wait(worker, &worker->pause, until);
    pthread_mutex_unlock(&worker->lock);
}

bool tpi_worker_grace_over(struct tp_worker *worker, int64_t since) {
    pthread_mutex_lock(&worker->lock);
    int64_t from = worker->stopped_at > since ? worker->stopped_at : since;
    pthread_mutex_unlock(&worker->lock);
    return tpi_clock_mono_ms() - from >= TPI_STOP_GRACE_MS;
}

void tp_worker_stop(tp_worker *worker) {
    if (!worker || atomic_exchange(&worker->stop_asked, true)) return;
    int saved = errno; /* the code that a signal interrupted may be about to read it */
    sem_post(&worker->bell);
    errno = saved;
}

static void *hear_bell(void *arg) {
    struct tp_worker *worker = arg;
    while (sem_wait(&worker->bell) == -1 && errno == EINTR)
        continue;
    tpi_trace(TPI_TRACE_WORKER, "stop");
    pthread_mutex_lock(&worker->lock);
    worker->stopped_at = tpi_clock_mono_ms();
    pthread_cond_broadcast(&worker->work);
    pthread_cond_broadcast(&worker->room);
    pthread_cond_broadcast(&worker->keep);
    pthread_cond_broadcast(&worker->pause);
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

struct birth {
    struct tp_worker *worker;
    void *(*main)(void *);
};

static void *live(void *arg) {
    struct birth birth = *(struct birth *)arg;
    free(arg);
    here = birth.worker;
    return birth.main(birth.worker);
}

static tp_status start_thread(struct tp_worker *worker, void *(*main)(void *)) {
    struct birth *birth = malloc(sizeof *birth);
    if (!birth) return tpi_error(TP_NOMEM, "tp_worker_start: out of memory");
    *birth = (struct birth){worker, main};
    int code = pthread_create(&worker->threads[worker->thread_count], NULL, live, birth);
    if (code != 0) {
        free(birth);
        return tpi_error(TP_NOMEM, "tp_worker_start: the system gives no more threads (error %d)", code);
    }
    worker->thread_count++;
    return TP_OK;
}

static tp_status start_each(struct tp_worker *worker) {
    size_t runners = (size_t)worker->options.threads;
    worker->threads = calloc(runners + 3, sizeof *worker->threads);
    if (!worker->threads) return tpi_error(TP_NOMEM, "tp_worker_start: out of memory");
    tp_status status = start_thread(worker, hear_bell);
    for (size_t i = 0; status == TP_OK && i < runners; i++)
        status = start_thread(worker, tpi_runner_main);
    /* The keeper ends after the claimer, so it must not be there without one. */
    if (status == TP_OK) status = start_thread(worker, tpi_claimer_main);
    if (status == TP_OK) status = start_thread(worker, tpi_keeper_main);
    return status;
}

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

static void join_threads(struct tp_worker *worker) {
    for (size_t i = 0; i < worker->thread_count; i++)
        pthread_join(worker->threads[i], NULL);
    worker->thread_count = 0;
}

static tp_status start_threads(struct tp_worker *worker) {
    sigset_t before;
    block_signals(&before);
    tp_status status = start_each(worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status == TP_OK) return TP_OK;
    tp_worker_stop(worker);
    join_threads(worker);
    return status;
}

/* In the caller's thread, so that a wrong set-up is a status and not an event. */
static tp_status connect_first(struct tp_worker *worker) {
    tp_status status = TP_OK;
    if (!worker->first) status = tp_conn_open(worker->env, &worker->first);
    if (status == TP_OK) status = tp_schema_check(worker->first);
    if (status == TP_OK) return TP_OK;
    tp_conn_close(worker->first);
    worker->first = NULL;
    return status;
}

/* The life that follows: a start that failed to connect may be asked again. */
static enum tpi_life start_now(struct tp_worker *worker, tp_status *status) {
    if (tpi_worker_stopping(worker)) return TPI_LIFE_ENDED;
    *status = connect_first(worker);
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

/* Waits out another thread's start or join. True: the caller is the one to join the threads. */
static bool take_join(struct tp_worker *worker, tp_status *status) {
    pthread_mutex_lock(&worker->lock);
    while (worker->life == TPI_LIFE_STARTING || worker->life == TPI_LIFE_JOINING)
        pthread_cond_wait(&worker->life_changed, &worker->lock);
    bool mine = worker->life == TPI_LIFE_RUNNING;
    if (mine) worker->life = TPI_LIFE_JOINING;
    if (worker->life == TPI_LIFE_OPEN && !tpi_worker_stopping(worker))
        *status = tpi_error(TP_MISUSE, "tp_worker_join: the worker was not started; it would wait for ever");
    pthread_mutex_unlock(&worker->lock);
    return mine;
}

tp_status tp_worker_join(tp_worker *worker) {
    if (!worker) return tpi_error(TP_MISUSE, "tp_worker_join: worker must not be NULL");
    if (here == worker)
        return tpi_error(TP_MISUSE, "tp_worker_join: not in a handler or an event: it would wait for itself");
    tp_status status = TP_OK;
    if (!take_join(worker, &status)) return status;
    join_threads(worker);
    set_life(worker, TPI_LIFE_ENDED);
    return TP_OK;
}
