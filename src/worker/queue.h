/* The jobs that wait for an executor; see queue.c. */
#ifndef TPI_WORKER_QUEUE_H
#define TPI_WORKER_QUEUE_H

#include "base/wake.h"
#include "worker/job.h"

/* Its lock is that of the executors who poll too: an idle one waits for a job or until it may poll, and
 * who claims waits for room or for tasks to come. */
struct tpi_queue {
    struct tpi_lifetime *life;
    const tp_worker_options *options;
    const struct tpi_handler_table *handlers;
    pthread_mutex_t lock;   /* held while the lifetime's is taken */
    struct tpi_signal work; /* executors': it has a job; held: another executor may poll */
    struct tpi_signal room; /* the dispatcher's, and the one's that polls: there may be room, or tasks came */
    struct tpi_list list;   /* under the lock, as all below */
    size_t executors;       /* handler threads that are there */
    size_t idle;            /* of these, waiting for a job */
    size_t unsettled;       /* outcomes that the completer has not written yet */
    bool unanswered;        /* its last call found no database that can be written: start no more */
    bool held;              /* plan hold is in use: executors claim for themselves */
    bool woken;             /* an enqueue in this process ... */
    struct tpi_arrival arrival; /* ... of these tasks */
    struct tpi_wake wake;       /* how it comes to know of one; not changed after open */
};

enum tpi_push { TPI_PUSH_NO_ROOM, TPI_PUSHED, TPI_PUSHED_ADD_EXECUTOR };

/* Before the worker's start: what wakes it. */
void tpi_queue_init_wake(struct tpi_queue *queue);

/* Before a handler thread is started. False: there may be no more, now. */
bool tpi_queue_add_executor(struct tpi_queue *queue);
/* It could not be started. */
void tpi_queue_remove_executor(struct tpi_queue *queue);
/* How many tasks to claim now; 0: none, there is too little room. */
size_t tpi_queue_room(struct tpi_queue *queue);
/* With the lock held, as who claims: waits until there may be room, or tasks came, or the worker ends. */
void tpi_queue_wait_change(struct tpi_queue *queue, int64_t until_ms);
/* Waits until there may be room, at most until the monotonic time. */
void tpi_queue_wait_room(struct tpi_queue *queue, int64_t until_ms);
/* ADD_EXECUTOR: those that are there have enough to do, and there may be more. */
enum tpi_push tpi_queue_push(struct tpi_queue *queue, struct tpi_job *job);
/* Waits for a job, as an idle executor. NULL: *ended, because the worker is to stop or the thread is not
 * needed any more, and is not counted any more; or the worker holds now. */
struct tpi_job *tpi_queue_pop(struct tpi_queue *queue, bool *ended);
/* The same without waiting. NULL: nothing, or the worker is to stop. */
struct tpi_job *tpi_queue_try_pop(struct tpi_queue *queue);
/* For the stop: what never started; NULL: nothing is left. */
struct tpi_job *tpi_queue_take_unstarted(struct tpi_queue *queue);

/* How many outcomes the completer has not written yet: fewer leave room for as many claims. */
void tpi_queue_set_unsettled(struct tpi_queue *queue, size_t count);
/* Did the completer find a database that can be written? */
void tpi_queue_set_unanswered(struct tpi_queue *queue, bool unanswered);
/* With the lock held, for plan hold: nothing is to be begun, because of what is done and cannot be stored. */
bool tpi_queue_is_stuck(const struct tpi_queue *queue);

/* As an enqueue in this process does. */
void tpi_queue_wake(struct tpi_queue *queue);
/* Waits for that, for the stop, or until the monotonic time. False: only the time has come. */
bool tpi_queue_wait_wake(struct tpi_queue *queue, int64_t until_ms);
/* With the lock held. Was it woken since tpi_queue_take_wake was called last, and by what? */
bool tpi_queue_is_woken(const struct tpi_queue *queue);
bool tpi_queue_take_wake(struct tpi_queue *queue, struct tpi_arrival *arrival);

/* Plan hold: whether executors claim for themselves from now on, or take what was claimed by leases. */
void tpi_queue_hold(struct tpi_queue *queue, bool held);
bool tpi_queue_is_held(struct tpi_queue *queue);
/* With the lock held, as all below: is it held, and not to stop? */
bool tpi_queue_holds(const struct tpi_queue *queue);
bool tpi_queue_is_empty(const struct tpi_queue *queue);
/* An executor is idle without waiting for a job, or not any more. */
void tpi_queue_count_idle(struct tpi_queue *queue, int change);
/* Waits for a job, or until another executor may poll. */
void tpi_queue_wait_work(struct tpi_queue *queue);
/* Whether there is one executor more than threads_max: it helps while more than half of the queue is taken,
 * and does not poll. */
bool tpi_queue_has_one_more(const struct tpi_queue *queue);
/* Another executor may poll. */
void tpi_queue_wake_executor(struct tpi_queue *queue);

#endif
