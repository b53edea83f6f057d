/* What the parts of a worker share: the stop, how many jobs are in progress, and how threads wait. The lowest
 * of the parts: it knows none of the others. */
#ifndef TPI_WORKER_LIFETIME_H
#define TPI_WORKER_LIFETIME_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TPI_STOP_GRACE_MS = 10000 }; /* how long a settle is asked again once the worker is to stop */

enum tpi_worker_state {
    TPI_STATE_OPEN,
    TPI_STATE_STEPPING,
    TPI_STATE_STARTING,
    TPI_STATE_RUNNING,
    TPI_STATE_JOINING,
    TPI_STATE_ENDED
};

/* A condition under a part's lock. */
struct tpi_signal {
    pthread_cond_t cond;
    pthread_mutex_t *lock;
    struct tpi_signal *next;
};

/* What is atomic here is written before tpi_lifetime_wake_all, or with the lock held, and may be part of what
 * any part's thread waits for. */
struct tpi_lifetime {
    pthread_mutex_t lock;       /* no other lock is taken while it is held */
    struct tpi_signal *signals; /* of all parts; not changed after open */
    struct tpi_signal changed;  /* the stop, the state, the threads, the end of the last job after the stop */
    struct tpi_signal empty;    /* nothing is in progress, before the stop */
    enum tpi_worker_state state;     /* under the lock */
    int64_t stop_ms;                 /* how long the stop waits for handlers; 0: for ever */
    atomic_bool stop_asked;          /* set by tpi_lifetime_stop, which takes no lock */
    sem_t stop_semaphore;            /* posted once: sem_post may be called in a signal handler */
    atomic_int_least64_t stopped_at; /* monotonic; 0: the stop was not seen yet */
    atomic_bool abandoned;           /* stop_ms has passed: leases are not extended any more */
    atomic_bool claims_ended;        /* no more is claimed */
    bool stepping; /* tp_worker_step: the caller's thread is the only one. Not changed once it is set */
    atomic_size_t in_progress; /* jobs not freed: queued, running, settling */
};

/* False: no memory for its lock. */
bool tpi_lifetime_init(struct tpi_lifetime *life, int64_t stop_ms);
/* With all signals. */
void tpi_lifetime_free(struct tpi_lifetime *life);

/* False: no memory. */
bool tpi_signal_init(struct tpi_lifetime *life, struct tpi_signal *signal, pthread_mutex_t *lock);
/* Called with its lock held; waits until woken or until the monotonic time; until_ms INT64_MAX: for ever. */
void tpi_signal_wait(struct tpi_signal *signal, int64_t until_ms);
/* Called with its lock held: wake one, or all, who wait for it. */
void tpi_signal_one(struct tpi_signal *signal);
void tpi_signal_all(struct tpi_signal *signal);
/* Called with no lock held: wakes all who wait for anything, after a change of what all wait for. */
void tpi_lifetime_wake_all(struct tpi_lifetime *life);

/* The life of the worker whose thread this is, or NULL. */
struct tpi_lifetime *tpi_lifetime_here(void);
void tpi_lifetime_set_here(struct tpi_lifetime *life);

/* May be called in a signal handler. True: the first. */
bool tpi_lifetime_stop(struct tpi_lifetime *life);
bool tpi_lifetime_stopping(const struct tpi_lifetime *life);
/* Sleeps ms, or less when the stop comes meanwhile or the worker's last job has ended after it. */
void tpi_lifetime_pause(struct tpi_lifetime *life, int64_t ms, bool was_stopping);
/* 1 when something that was first tried at the monotonic time since should not be tried any more. */
bool tpi_lifetime_grace_over(const struct tpi_lifetime *life, int64_t since);
/* Has stop_ms passed since the stop? */
bool tpi_lifetime_past_deadline(const struct tpi_lifetime *life);

/* One job more, or less, in progress. More only by the dispatcher, or while another is. */
void tpi_lifetime_add_job(struct tpi_lifetime *life);
void tpi_lifetime_remove_job(struct tpi_lifetime *life);
/* The same for any thread, before it claims. False: the worker is to stop. */
bool tpi_lifetime_begin_claim(struct tpi_lifetime *life);
/* No more is claimed; after the stop. */
void tpi_lifetime_end_claims(struct tpi_lifetime *life);
/* True: no more is claimed, and every job has ended. Stays so. */
bool tpi_lifetime_over(const struct tpi_lifetime *life);
/* Waits until that, at most until the monotonic time. */
bool tpi_lifetime_wait_over(struct tpi_lifetime *life, int64_t until_ms);
/* Waits until nothing is in progress, at most ms. False: something still is, or the worker is to stop. */
bool tpi_lifetime_wait_empty(struct tpi_lifetime *life, int64_t ms);

#endif
