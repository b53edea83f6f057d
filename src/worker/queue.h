/* The jobs that wait for an executor; see queue.c. */
#ifndef TPI_WORKER_QUEUE_H
#define TPI_WORKER_QUEUE_H

#include "worker/job.h"

/* All under the lock. */
struct tpi_queue {
    struct tpi_lifetime *life;
    const tp_worker_options *options;
    struct tpi_list list;
    struct tpi_signal work; /* it has a job; held: another executor may poll */
    struct tpi_signal room; /* the dispatcher's: there may be room, or tasks came */
    size_t executors;       /* handler threads that are there */
    size_t idle;            /* of these, waiting for a job */
    size_t unsettled;       /* outcomes that the completer has not written yet */
    bool unanswered;        /* its last call found no database that can be written: start no more */
    bool held;              /* plan hold is in use: executors claim for themselves */
};

enum tpi_push { TPI_PUSH_NO_ROOM, TPI_PUSHED, TPI_PUSHED_ADD_EXECUTOR };

/* Under the lock: how many handler threads could be added, and that one came or did not. */
size_t tpi_queue_spare(const struct tpi_queue *queue);
void tpi_queue_count_executor(struct tpi_queue *queue, int change);
/* How many tasks to claim now; 0: none, there is too little room. */
size_t tpi_queue_room(struct tpi_queue *queue);
/* Under the lock, as the dispatcher: waits until there may be room, or tasks came, or the worker ends. */
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

/* Under the lock: how many outcomes the completer has not written yet. */
void tpi_queue_set_unsettled(struct tpi_queue *queue, size_t count);
/* Under the lock: the completer took some to write, so there is room for as many claims again. */
void tpi_queue_free_room(struct tpi_queue *queue);
/* Under the lock: did the completer find a database that can be written? */
void tpi_queue_set_unanswered(struct tpi_queue *queue, bool unanswered);
/* Under the lock, for plan hold: nothing is to be begun, because of what is done and cannot be stored. */
bool tpi_queue_is_stuck(const struct tpi_queue *queue);

/* Plan hold: whether executors claim for themselves from now on, or take what was claimed by leases. */
void tpi_queue_hold(struct tpi_queue *queue, bool held);
bool tpi_queue_is_held(struct tpi_queue *queue);
/* Under the lock, as all below: is it held, and not to stop? */
bool tpi_queue_holds(const struct tpi_queue *queue);
bool tpi_queue_is_empty(const struct tpi_queue *queue);
/* An executor is idle without waiting for a job, or not any more. */
void tpi_queue_count_idle(struct tpi_queue *queue, int change);
/* Waits for a job, or until another executor may poll. */
void tpi_queue_wait_work(struct tpi_queue *queue);
/* Another executor may poll. */
void tpi_queue_wake_executor(struct tpi_queue *queue);

#endif
