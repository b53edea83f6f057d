/* When a worker is to stop, when it is over (no more claims, no job in progress), and how its threads wait
 * for that. A signal here is a condition variable, not one of the system. Must not know the parts of the
 * worker. See lifetime.h. */
#include "worker/lifetime.h"

#include <errno.h>

#include "base/clock.h"
#include "base/cond.h"

static _Thread_local struct tpi_lifetime *here;

struct tpi_lifetime *tpi_lifetime_here(void) {
    return here;
}

void tpi_lifetime_set_here(struct tpi_lifetime *life) {
    here = life;
}

bool tpi_lifetime_init(struct tpi_lifetime *life, int64_t stop_ms) {
    life->stop_ms = stop_ms;
    return sem_init(&life->stop_semaphore, 0, 0) == 0 && pthread_mutex_init(&life->lock, NULL) == 0 &&
           tpi_signal_init(life, &life->changed, &life->lock) &&
           tpi_signal_init(life, &life->empty, &life->lock);
}

void tpi_lifetime_free(struct tpi_lifetime *life) {
    for (struct tpi_signal *signal = life->signals; signal; signal = signal->next)
        pthread_cond_destroy(&signal->cond);
    pthread_mutex_destroy(&life->lock);
    sem_destroy(&life->stop_semaphore);
}

/* ---- Signals ------------------------------------------------------------------------------------------- */

bool tpi_signal_init(struct tpi_lifetime *life, struct tpi_signal *signal, pthread_mutex_t *lock) {
    if (!tpi_cond_init(&signal->cond)) return false;
    signal->lock = lock;
    signal->next = life->signals;
    life->signals = signal;
    return true;
}

void tpi_signal_wait(struct tpi_signal *signal, int64_t until_ms) {
    (void)tpi_cond_wait(&signal->cond, signal->lock, until_ms);
}

void tpi_signal_one(struct tpi_signal *signal) {
    pthread_cond_signal(&signal->cond);
}

void tpi_signal_all(struct tpi_signal *signal) {
    pthread_cond_broadcast(&signal->cond);
}

void tpi_lifetime_wake_all(struct tpi_lifetime *life) {
    for (struct tpi_signal *signal = life->signals; signal; signal = signal->next) {
        pthread_mutex_lock(signal->lock);
        tpi_signal_all(signal);
        pthread_mutex_unlock(signal->lock);
    }
}

/* ---- The stop ------------------------------------------------------------------------------------------ */

bool tpi_lifetime_stop(struct tpi_lifetime *life) {
    if (atomic_exchange(&life->stop_asked, true)) return false;
    int saved = errno; /* the code that a signal interrupted may be about to read it */
    sem_post(&life->stop_semaphore);
    errno = saved;
    return true;
}

bool tpi_lifetime_stopping(const struct tpi_lifetime *life) {
    return atomic_load(&life->stop_asked);
}

void tpi_lifetime_pause(struct tpi_lifetime *life, int64_t ms, bool was_stopping) {
    int64_t until = tpi_clock_mono_ms() + ms;
    pthread_mutex_lock(&life->lock);
    while (tpi_clock_mono_ms() < until && tpi_lifetime_stopping(life) == was_stopping &&
           !tpi_lifetime_over(life))
        tpi_signal_wait(&life->changed, until);
    pthread_mutex_unlock(&life->lock);
}

/* A stop that nobody has seen yet has just come, however long ago the first try was. During a step nobody
 * sees it. */
bool tpi_lifetime_grace_over(const struct tpi_lifetime *life, int64_t since) {
    int64_t stopped_at = atomic_load(&life->stopped_at);
    if (!stopped_at && !life->stepping) return false;
    return tpi_clock_mono_ms() - (stopped_at > since ? stopped_at : since) >= TPI_STOP_GRACE_MS;
}

bool tpi_lifetime_past_deadline(const struct tpi_lifetime *life) {
    int64_t stopped_at = atomic_load(&life->stopped_at);
    return life->stop_ms && stopped_at && tpi_clock_mono_ms() >= stopped_at + life->stop_ms;
}

/* ---- Jobs in progress ---------------------------------------------------------------------------------- */

void tpi_lifetime_add_job(struct tpi_lifetime *life) {
    atomic_fetch_add(&life->in_progress, 1);
}

/* With the lock held, so that whoever has seen the last one leave, and frees the worker, waits for the thread
 * that removed it, which may be another worker's. */
void tpi_lifetime_remove_job(struct tpi_lifetime *life) {
    pthread_mutex_lock(&life->lock);
    bool last = atomic_fetch_sub(&life->in_progress, 1) == 1;
    if (last && atomic_load(&life->claims_ended))
        tpi_signal_all(&life->changed);
    else if (last)
        tpi_signal_one(&life->empty);
    pthread_mutex_unlock(&life->lock);
}

/* The stop comes before the end of claims: one that does not see the stop is counted before that end. */
bool tpi_lifetime_begin_claim(struct tpi_lifetime *life) {
    pthread_mutex_lock(&life->lock);
    bool may = !tpi_lifetime_stopping(life);
    if (may) tpi_lifetime_add_job(life);
    pthread_mutex_unlock(&life->lock);
    return may;
}

void tpi_lifetime_end_claims(struct tpi_lifetime *life) {
    pthread_mutex_lock(&life->lock);
    atomic_store(&life->claims_ended, true);
    tpi_signal_all(&life->changed);
    pthread_mutex_unlock(&life->lock);
}

bool tpi_lifetime_over(const struct tpi_lifetime *life) {
    return atomic_load(&life->claims_ended) && atomic_load(&life->in_progress) == 0;
}

bool tpi_lifetime_wait_over(struct tpi_lifetime *life, int64_t until_ms) {
    pthread_mutex_lock(&life->lock);
    while (!tpi_lifetime_over(life) && tpi_clock_mono_ms() < until_ms)
        tpi_signal_wait(&life->changed, until_ms);
    pthread_mutex_unlock(&life->lock);
    return tpi_lifetime_over(life);
}

bool tpi_lifetime_wait_empty(struct tpi_lifetime *life, int64_t ms) {
    int64_t until = tpi_clock_mono_ms() + ms;
    pthread_mutex_lock(&life->lock);
    while (atomic_load(&life->in_progress) && !tpi_lifetime_stopping(life) && tpi_clock_mono_ms() < until)
        tpi_signal_wait(&life->empty, until);
    bool empty = atomic_load(&life->in_progress) == 0 && !tpi_lifetime_stopping(life);
    pthread_mutex_unlock(&life->lock);
    return empty;
}
