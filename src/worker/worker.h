/* What the worker's files share. Who does what:
 *   worker.c   options, handlers, open and close    life.c     start, stop, join, the threads
 *   claimer.c  the thread that claims and feeds     runner.c   the threads that call handlers
 *   keeper.c   the thread that extends leases       settle.c   from a verdict to the database's answer
 *   hand.c     the tasks in hand and the queue      line.c     one thread's line to the database
 *   run.c      what a handler may ask               notice.c   telling the owner
 * The worker is a client of taskpool.h: it knows no SQL, and the database decides what it holds.
 *
 * Locks: worker->lock guards everything here that is not marked otherwise; no taskpool call, handler or event
 * is made under it. event_lock is taken while the owner is told, and never together with lock. A hand's
 * params_lock is the only one held over a database call. */
#ifndef TPI_WORKER_WORKER_H
#define TPI_WORKER_WORKER_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/trace.h"
#include "taskpool.h"

enum {
    TPI_RUNS_MAX = 3,           /* calls of a handler for one claim when its transaction is rolled back */
    TPI_STOP_GRACE_MS = 10000,  /* how long a settle is asked again once the worker is to stop */
    TPI_DRAIN_POLL_MS = 100,    /* a draining worker looks this often for tasks that come due */
    TPI_BACKOFF_FIRST_MS = 100, /* doubled by each failure in a row ... */
    TPI_BACKOFF_LAST_MS = 5000, /* ... up to this while disconnected; the upper half is random */
    TPI_BACKOFF_BUSY_MS = 1000, /* ... up to this when others are in the way */
    TPI_COMPLAIN_AFTER = 5,     /* failures in a row that would pass by themselves, and did not */
    TPI_TEXT_SIZE = 600,        /* an error's text that is kept */
};

struct tpi_handler {
    char name[TP_HANDLER_MAX + 1];
    tp_handler_fn fn;
    void *arg;
};

/* One claimed task on its way through this process. */
struct tpi_item {
    const tp_task *task;
    struct tpi_hand *hand;
    const struct tpi_handler *handler; /* NULL: the database gave a task of a handler that is not ours */
    struct tpi_item *prev, *next;      /* neighbours in the keeper's list */
    int64_t extend_at;                 /* monotonic; when the keeper extends the lease next */
    bool kept;                         /* in the keeper's list */
    bool settling;                     /* the settle's answer decides now, not the keeper's */
    atomic_bool lost;                  /* by the keeper's word; its event is told */
};

/* The tasks of one claim. Freed with its batch when the last reference goes. */
struct tpi_hand {
    tp_batch *batch;
    pthread_mutex_t params_lock; /* tp_task_params writes into the batch */
    size_t refs; /* items not ended, the claimer while it feeds, the keeper while it extends */
    size_t count;
    struct tpi_item items[];
};

enum tpi_life { TPI_LIFE_OPEN, TPI_LIFE_STARTING, TPI_LIFE_RUNNING, TPI_LIFE_JOINING, TPI_LIFE_ENDED };

struct tp_worker {
    tp_env *env;
    tp_worker_options options;                          /* defaults filled in; not changed after open */
    struct tpi_handler handlers[TP_CLAIM_HANDLERS_MAX]; /* not changed after start */
    size_t handler_count;

    atomic_bool stop_asked; /* set by tp_worker_stop without the lock; the waits below look at it */
    sem_t bell;             /* rung once by tp_worker_stop: sem_post may be called in a signal handler */

    pthread_mutex_t lock;
    pthread_cond_t life_changed; /* life */
    pthread_cond_t work;         /* the queue has a task */
    pthread_cond_t room;         /* the queue has room, or nothing is in hand */
    pthread_cond_t keep;         /* the keeper's list or its end */
    pthread_cond_t pause;        /* the stop, and the end of the last task after it */
    enum tpi_life life;
    int64_t stopped_at; /* monotonic; 0: the bell was not heard yet */
    tp_conn *first;     /* opened by start, taken over by the claimer */
    pthread_t *threads;
    size_t thread_count;

    struct tpi_item **queue; /* a ring of options.batch places */
    size_t queue_head;
    size_t queue_count;
    size_t in_hand;        /* items not ended: queued, running, settling */
    struct tpi_item *kept; /* the keeper's list, in no order */
    bool claimer_ended;

    pthread_mutex_t event_lock;
    bool offline;    /* under event_lock */
    uint64_t outage; /* under event_lock: how many times OFFLINE was told */
};

/* One thread's connection. Used by that thread only. */
struct tpi_line {
    struct tp_worker *worker;
    const char *who;      /* for traces and texts: claimer, keeper, runner */
    tp_conn *conn;        /* NULL until first needed */
    bool broken;          /* must be reopened before it is used */
    unsigned tries;       /* failures in a row */
    uint64_t outage_seen; /* worker->outage when it was opened */
    uint64_t random;
};

struct tp_run {
    struct tp_worker *worker;
    struct tpi_line *line;
    struct tpi_item *item;
    bool in_transaction;
    int runs;          /* calls of the handler so far */
    tp_status trouble; /* what kept the worker from giving the handler what it asked for */
    bool doomed;       /* that was inside the transaction: it can only be rolled back */
    int64_t delay_ms;
    const char *params; /* NULL: not read yet */
    char reason[TP_REASON_MAX + 1];
    char why[TPI_TEXT_SIZE]; /* the text of the failure being handled */
};

/* ---- life.c ------------------------------------------------------------------------------------------- */

/* The worker whose thread this is, or NULL. */
struct tp_worker *tpi_worker_here(void);
bool tpi_worker_stopping(const struct tp_worker *worker);
/* Sleeps ms, or less when the stop comes meanwhile or the worker's last task has ended. */
void tpi_worker_pause(struct tp_worker *worker, int64_t ms, bool was);
/* 1 when something that was first tried at the monotonic time since should not be tried any more. */
bool tpi_worker_grace_over(struct tp_worker *worker, int64_t since);
/* Waits under worker->lock until woken or until the monotonic time. */
void tpi_worker_wait(struct tp_worker *worker, pthread_cond_t *cond, int64_t until_ms);

/* Thread functions; arg is the worker. */
void *tpi_claimer_main(void *arg);
void *tpi_keeper_main(void *arg);
void *tpi_runner_main(void *arg);

/* ---- hand.c ------------------------------------------------------------------------------------------- */

/* Room for count tasks, made before the claim so that nothing claimed can fail for want of memory. */
struct tpi_hand *tpi_hand_new(size_t count);
void tpi_hand_free(struct tpi_hand *hand);
/* Takes the batch over, with one reference for the caller. taken_ms: when its leases began. */
void tpi_hand_take(struct tp_worker *worker, struct tpi_hand *hand, tp_batch *batch, int64_t taken_ms);
void tpi_hand_unref(struct tp_worker *worker, struct tpi_hand *hand);
/* Under the lock. True: the claimer has ended and so has every task. */
bool tpi_hand_all_ended(const struct tp_worker *worker);
/* Waits until nothing is in hand, at most ms. False: something still is, or the worker is to stop. */
bool tpi_hand_wait_empty(struct tp_worker *worker, int64_t ms);

/* For the claimer's end. */
void tpi_hand_no_more(struct tp_worker *worker);

/* Waits until half of the queue is free; the free places. 0: the worker is to stop. */
size_t tpi_queue_room(struct tp_worker *worker);
void tpi_queue_push(struct tp_worker *worker, struct tpi_item *item);
/* Waits for a task. NULL: the worker is to stop. */
struct tpi_item *tpi_queue_pop(struct tp_worker *worker);
/* For the end: what is left in the queue, without waiting. NULL: nothing. */
struct tpi_item *tpi_queue_left(struct tp_worker *worker);

/* From here on the settle decides. False: the keeper lost it before. */
bool tpi_item_settle(struct tp_worker *worker, struct tpi_item *item);
/* Back from settling to running: the keeper minds it again. */
void tpi_item_resume(struct tp_worker *worker, struct tpi_item *item);
/* The item and perhaps its whole batch are gone after this. */
void tpi_item_end(struct tp_worker *worker, struct tpi_item *item);

/* Waits for an item whose lease is to be extended, and takes a reference to its hand. NULL: nothing can come
 * any more. */
struct tpi_item *tpi_keep_next(struct tp_worker *worker);
/* The keeper's look at it is over: again at extend_at, and the reference is given back. */
void tpi_keep_again(struct tp_worker *worker, struct tpi_item *item, int64_t extend_at);
/* The same when the database said TP_LOST. True: it was not known and not being settled, so tell the owner,
 * then give the reference back. */
bool tpi_keep_lost(struct tp_worker *worker, struct tpi_item *item);

/* ---- line.c ------------------------------------------------------------------------------------------- */

typedef tp_status (*tpi_ask_fn)(tp_conn *conn, void *arg);

/* UNTIL_STOP: a failure is final once the worker is to stop. UNTIL_GRACE: tried on for TPI_STOP_GRACE_MS. */
enum tpi_patience { TPI_UNTIL_STOP, TPI_UNTIL_GRACE };

void tpi_line_init(struct tpi_line *line, struct tp_worker *worker, const char *who);
void tpi_line_close(struct tpi_line *line);
/* Opens or reopens if need be, one try. */
tp_status tpi_line_ready(struct tpi_line *line);
/* What a call on the connection answered. */
void tpi_line_note(struct tpi_line *line, tp_status status);
/* True when the failure may pass: worth asking again after a pause. */
bool tpi_line_hope(const struct tpi_line *line, tp_status status);
/* Right after a failure: sleeps by the number of them in a row; the stop ends it early. */
void tpi_line_pause(struct tpi_line *line, enum tpi_patience patience);
/* Asks until there is an answer other than a failure that may pass; at least once. */
tp_status tpi_line_ask(struct tpi_line *line, enum tpi_patience patience, tpi_ask_fn ask, void *arg);

/* ---- notice.c ----------------------------------------------------------------------------------------- */

/* text may be NULL. */
void tpi_notice_send(struct tp_worker *worker, tp_event event, const tp_task *task, const char *text);
/* The connection failed a call, or could not be opened. Tells OFFLINE unless it is already known; a
 * connection from before the last outage that is only now found dead (fresh false) is no new one. */
void tpi_notice_offline(struct tpi_line *line, bool fresh, const char *text);
/* The connection was opened. Tells ONLINE if it was offline. */
void tpi_notice_online(struct tpi_line *line);

/* ---- run.c -------------------------------------------------------------------------------------------- */

/* Keeps the text of the thread's last error, which is gone with its next call. */
void tpi_run_remember(struct tp_run *run);

/* ---- settle.c ----------------------------------------------------------------------------------------- */

/* Ends the handler call with its verdict. True: nothing was settled, call the handler again. */
bool tpi_settle_run(struct tp_run *run, tp_verdict verdict);
/* Puts back a task that never started. False: the database does not answer, and the stop's grace is over. */
bool tpi_settle_release(struct tpi_line *line, struct tpi_item *item);

#endif
