/* See lifetime.h. */
#include "worker/lifetime.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"

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
           tpi_signal_init(life, &life->changed) && tpi_signal_init(life, &life->pause) &&
           tpi_signal_init(life, &life->empty);
}

void tpi_lifetime_free(struct tpi_lifetime *life) {
    for (struct tpi_signal *signal = life->signals; signal; signal = signal->next)
        pthread_cond_destroy(&signal->cond);
    pthread_mutex_destroy(&life->lock);
    sem_destroy(&life->stop_semaphore);
}

/* ---- Signals ------------------------------------------------------------------------------------------- */

/* The waits measure with the monotonic clock, so a clock set back cannot stretch them. */
bool tpi_signal_init(struct tpi_lifetime *life, struct tpi_signal *signal) {
    pthread_condattr_t attr;
    if (pthread_condattr_init(&attr) != 0) return false;
    bool ok = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
              pthread_cond_init(&signal->cond, &attr) == 0;
    pthread_condattr_destroy(&attr);
    if (!ok) return false;
    signal->next = life->signals;
    life->signals = signal;
    return true;
}

void tpi_signal_wait(struct tpi_lifetime *life, struct tpi_signal *signal, int64_t until_ms) {
    struct timespec until = {.tv_sec = (time_t)(until_ms / 1000),
                             .tv_nsec = (long)(until_ms % 1000) * 1000000};
    if (until_ms == INT64_MAX)
        pthread_cond_wait(&signal->cond, &life->lock);
    else
        pthread_cond_timedwait(&signal->cond, &life->lock, &until);
}

void tpi_signal_one(struct tpi_signal *signal) {
    pthread_cond_signal(&signal->cond);
}

void tpi_signal_all(struct tpi_signal *signal) {
    pthread_cond_broadcast(&signal->cond);
}

void tpi_lifetime_wake_all(struct tpi_lifetime *life) {
    for (struct tpi_signal *signal = life->signals; signal; signal = signal->next)
        tpi_signal_all(signal);
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
        tpi_signal_wait(life, &life->pause, until);
    pthread_mutex_unlock(&life->lock);
}

bool tpi_lifetime_grace_over(struct tpi_lifetime *life, int64_t since) {
    pthread_mutex_lock(&life->lock);
    int64_t from = life->stopped_at > since ? life->stopped_at : since;
    pthread_mutex_unlock(&life->lock);
    return tpi_clock_mono_ms() - from >= TPI_STOP_GRACE_MS;
}

bool tpi_lifetime_past_deadline(struct tpi_lifetime *life) {
    pthread_mutex_lock(&life->lock);
    bool past = life->stop_ms && life->stopped_at && tpi_clock_mono_ms() >= life->stopped_at + life->stop_ms;
    pthread_mutex_unlock(&life->lock);
    return past;
}

/* ---- Jobs in progress ---------------------------------------------------------------------------------- */

void tpi_lifetime_add_job(struct tpi_lifetime *life) {
    life->in_progress++;
}

void tpi_lifetime_remove_job(struct tpi_lifetime *life) {
    if (--life->in_progress > 0) return;
    if (life->claims_ended)
        tpi_lifetime_wake_all(life);
    else
        tpi_signal_one(&life->empty);
}

void tpi_lifetime_end_claims(struct tpi_lifetime *life) {
    pthread_mutex_lock(&life->lock);
    life->claims_ended = true;
    tpi_lifetime_wake_all(life);
    pthread_mutex_unlock(&life->lock);
}

bool tpi_lifetime_over(const struct tpi_lifetime *life) {
    return life->claims_ended && life->in_progress == 0;
}

bool tpi_lifetime_wait_empty(struct tpi_lifetime *life, int64_t ms) {
    int64_t until = tpi_clock_mono_ms() + ms;
    pthread_mutex_lock(&life->lock);
    while (life->in_progress && !tpi_lifetime_stopping(life) && tpi_clock_mono_ms() < until)
        tpi_signal_wait(life, &life->empty, until);
    bool empty = life->in_progress == 0 && !tpi_lifetime_stopping(life);
    pthread_mutex_unlock(&life->lock);
    return empty;
}
