/* What the worker's files share. Who does what:
 *   worker.c       handlers, open and close         options.c      what the owner chose
 *   life.c         start, stop, join                threads.c      the threads, and how many
 *   dispatcher.c   claims and feeds the queue       pace.c         when it claims next
 *   queue.c        the jobs that wait               executor.c     the threads that call handlers
 *   handler_run.c  what a handler may ask           transaction.c  plan hold: claim to commit
 *   poller.c       plan hold: who polls             lease_renewer.c  extends leases
 *   verdict.c      from a verdict to its settle     completer.c    settles in groups
 *   job.c          a task from claim to settle      in_flight.c    none twice at a time in a process
 *   session.c      one thread's connection          lifetime.c     the lock, the stop, jobs in progress
 *   maintenance.c  what is done now and then        heartbeat.c    what the pool hears of this worker
 *   watchdog.c     who waits for an answer too long alerter.c      who gave up, to on_alert
 *   notify.c       events, to on_event              owner.c        whose claim the row is under
 *   step.c         all of it once, without threads
 * The worker is a client of taskpool.h: it knows no SQL, and the database decides what it holds.
 *
 * Locks: life.lock guards everything here that is not marked otherwise. event_lock (session.h) is never taken
 * together with it. No lock is held while a function of the owner's runs, but in tp_worker_step, which has
 * one thread. reader_lock and the heartbeat's are the only ones held over a database call, and are taken
 * before life.lock and event_lock. The locks of in_flight.c and base/wake.c are taken before life.lock. */
#ifndef TPI_WORKER_WORKER_H
#define TPI_WORKER_WORKER_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/trace.h"
#include "base/wake.h"
#include "taskpool.h"
#include "worker/heartbeat.h"
#include "worker/lifetime.h"
#include "worker/notify.h"
#include "worker/session.h"
#include "worker/watchdog.h"

enum {
    TPI_RUNS_MAX = 3,               /* calls of a handler for one claim when its transaction is rolled back */
    TPI_DRAIN_POLL_MS = 100,        /* a draining worker looks this often for tasks that come due ... */
    TPI_DRAIN_REST_MS = 500,        /* ... or after a 16th of the time since the last came, up to this */
    TPI_BACKOFF_REFUSED_MS = 30000, /* ... up to this for a settle that is refused in every form */
    TPI_REMIND_EVERY = 20,          /* tries of such a settle, about ten minutes */
    TPI_REFUSALS_MAX = 5,      /* of one settle, by a rule of the database, before it is written otherwise */
    TPI_EXTEND_MAX = 1000,     /* leases extended in one call */
    TPI_ALERT_EVERY_MS = 5000, /* how often alerts that nobody gave are looked for */
};

struct tpi_handler {
    char name[TP_HANDLER_MAX + 1];
    tp_handler_fn fn;
    void *arg;
    const tp_retry *retry; /* NULL: the default ladder */
    tp_retry in_claims;    /* the same, but its delay is left to the thread that would run the handler */
};

/* What a settle is to write. */
struct tpi_outcome {
    tp_verdict verdict;
    bool no_retry;
    int64_t delay_ms;
    char *reason; /* NULL: none. Belongs to the job */
    bool asked;   /* of a failure: the policy's delay was called, and answered retry_ms */
    int64_t retry_ms;
};

/* One claimed task on its way through this process. */
struct tpi_job {
    struct tp_worker *worker;
    tp_batch *batch; /* of this task alone */
    const tp_task *task;
    const struct tpi_handler *handler; /* NULL: the database gave a task of a handler that is not ours */
    size_t refs;                       /* its way through the worker, and whoever looks at it meanwhile */
    bool ended;                        /* its way is over: what is heard about it is of no interest */
    struct tpi_job *next;              /* in the queue or in the completer's list */
    struct tpi_job *in_flight_next;    /* under in_flight.c's lock */

    struct tpi_job *lease_prev, *lease_next; /* neighbours in the lease renewer's list */
    int64_t extend_at;                       /* monotonic; when the lease renewer extends the lease next */
    bool leased;                             /* in the lease renewer's list */
    bool settling;                           /* the settle's answer decides now, not the lease renewer's */
    bool unheard;              /* a settle got no answer: only the next says what became of it */
    atomic_bool passed_on;     /* meanwhile this process has claimed the task anew */
    bool running;              /* its handler is being called */
    struct tpi_job *successor; /* the next claim of this process, under which the call goes on */
    bool done;                 /* its handler has ended well, outside a transaction; not stored yet */
    int64_t leased_until;      /* boot clock; from then on another may have the claim */
    atomic_bool started;       /* its handler was called */
    atomic_bool lost;          /* another has the claim; its event is told */

    /* For the completer, and only it looks once the job is in its list. */
    struct tpi_outcome outcome;
    int64_t submitted_at, not_before; /* monotonic */
    unsigned tries, refusals, waits;
    bool exhausted;   /* plan hold: the settle was the last failure */
    size_t hold_at;   /* plan hold: where it is in its claim */
    bool counted;     /* the claim counted the failure that the outcome tells of */
    bool last_resort; /* the outcome is a failure to write the outcome */
};

/* First in, first out. */
struct tpi_list {
    struct tpi_job *first, *last;
    size_t count;
};

enum tpi_state {
    TPI_LIFE_OPEN,
    TPI_LIFE_STEPPING,
    TPI_LIFE_STARTING,
    TPI_LIFE_RUNNING,
    TPI_LIFE_JOINING,
    TPI_LIFE_ENDED
};

enum tpi_slot_state { TPI_SLOT_FREE, TPI_SLOT_TAKEN, TPI_SLOT_LEFT };

/* One handler thread's place. */
struct tpi_slot {
    enum tpi_slot_state state;
    pthread_t thread; /* unless FREE; to be joined */
};

struct tpi_pace {
    bool rate;
    int64_t hot_ms, poll_ms, idle_ms; /* hot_ms 0: not as tasks come, but fixed */
    int64_t tick, warm_at;            /* rate: the last planned time; when tasks last came, or were said to */
    unsigned empty;                   /* claims in a row that found nothing */
    int64_t statements;               /* of the last look; 0: not known */
};

struct tpi_counts {
    atomic_uint_fast64_t claimed, done, failed, skipped, released, lost;
};

struct tp_worker {
    struct tpi_lifetime life;
    struct tpi_notify notify;
    struct tpi_watchdog watchdog;
    struct tpi_sessions sessions;

    tp_env *env;
    tp_worker_options options;                          /* defaults filled in; not changed after open */
    struct tpi_handler handlers[TP_CLAIM_HANDLERS_MAX]; /* not changed after start */
    size_t handler_count;
    struct tpi_wake wake;
    struct tpi_counts counts;

    struct tpi_signal life_changed; /* state, live_threads */
    struct tpi_signal work;         /* the queue has a task; plan hold: another may look for tasks */
    struct tpi_signal poller;       /* plan hold: of the one that looks, woken */
    struct tpi_signal claim;        /* the dispatcher's: the queue has room, woken */
    struct tpi_signal renew;        /* the lease renewer's list or its end */
    struct tpi_signal settle;       /* the completer's list or its end */
    struct tpi_signal alert;        /* the alerter's, see alert_wanted */
    struct tpi_signal beat;         /* of who sends late heartbeats: its end */
    enum tpi_state state;
    bool woken;                 /* an enqueue in this process ... */
    struct tpi_arrival arrival; /* ... of these tasks */
    bool alert_wanted;          /* a task gave up here */
    tp_conn *first;             /* opened by start, taken over by the dispatcher */

    pthread_t *threads; /* those that are always there */
    size_t thread_count;
    size_t live_threads;    /* of both kinds, that have not come to their end */
    struct tpi_slot *slots; /* options.threads_max */
    size_t executors;       /* handler threads that are there */
    size_t idle;            /* of these, waiting for a task */
    size_t running;         /* handlers being called */

    bool hold_wanted;          /* plan hold was chosen; not changed after start */
    const char *leased_plan;   /* then: the plan to fall back to */
    bool holding;              /* and is in use, see poller.c */
    bool polling;              /* one of the handler threads looks for tasks to hold */
    struct tpi_pace hold_pace; /* of the one that does */
    struct tpi_step *step;     /* of tp_worker_step; used by the caller's thread only */

    struct tpi_list queue; /* waits for an executor */
    struct tpi_list settle_list;
    bool unanswered; /* the completer's last call found no database that can be written: start no more */
    struct tpi_job *leased; /* the lease renewer's list, in no order */
    int64_t renew_at;       /* when the lease renewer looks at it next, by itself */

    pthread_mutex_t reader_lock;
    struct tpi_session reader; /* under reader_lock: reads long parameters for all handlers */

    struct tpi_heartbeat heartbeat;
};

struct tp_run {
    struct tp_worker *worker;
    struct tpi_session *session;
    struct tpi_job *job;
    bool in_transaction;
    bool held;         /* the task is locked by that transaction */
    bool asked;        /* and the handler was given it */
    int runs;          /* calls of the handler so far */
    tp_status trouble; /* what kept the worker from giving the handler what it asked for */
    bool doomed;       /* that was inside the transaction: it can only be rolled back */
    bool no_retry;
    int64_t delay_ms;
    const char *params; /* NULL: not read yet */
    char reason[TP_REASON_MAX + 1];
    char why[TPI_TEXT_SIZE]; /* the text of the failure being handled */
};

/* ---- options.c --------------------------------------------------------------------------------------- */

/* Checks what was given and fills in the defaults. */
TP_CHECKED tp_status tpi_options_read(const tp_worker_options *given, tp_worker_options *out);
TP_CHECKED tp_status tpi_options_check_retry(const tp_retry *retry);

/* ---- life.c ------------------------------------------------------------------------------------------ */

/* As an enqueue in this process does. */
void tpi_worker_wake(struct tp_worker *worker);
/* Under the lock. Was it woken since the last call, and by what? */
bool tpi_worker_take_wake(struct tp_worker *worker, struct tpi_arrival *arrival);
/* tp_worker_join; patient: however long it takes. */
TP_CHECKED tp_status tpi_worker_join(struct tp_worker *worker, bool patient);
/* In the caller's thread, so that a wrong set-up is a status and not an event. */
TP_CHECKED tp_status tpi_worker_connect(struct tp_worker *worker);

/* ---- threads.c --------------------------------------------------------------------------------------- */

/* Thread functions; arg is the worker. */
void *tpi_dispatcher_main(void *arg);
void *tpi_lease_renewer_main(void *arg);
void *tpi_completer_main(void *arg);
void *tpi_alerter_main(void *arg);
void *tpi_executor_main(void *arg);

/* Starts one that is always there. */
TP_CHECKED tp_status tpi_threads_start(struct tp_worker *worker, void *(*main)(void *), void *arg);
/* Starts one more handler thread, if there may be more. False: there may not, or the system gives none. */
bool tpi_threads_add_executor(struct tp_worker *worker);
/* Under the lock: how many handler threads could be added. */
size_t tpi_threads_spare(const struct tp_worker *worker);
void tpi_threads_join(struct tp_worker *worker);

/* ---- job.c ------------------------------------------------------------------------------------------- */

/* Takes task i of the claim over, with one reference. taken_ms: when its lease began. NULL: its handler is
 * being called under an earlier claim, and that call goes on under this one. TP_EXISTS: the task is in
 * progress here otherwise; that one is told that it lost its claim. With done set its handler has ended well
 * in this process under an earlier claim, which could not be settled: it is not to be called again. */
TP_CHECKED tp_status tpi_job_new(struct tp_worker *worker, const tp_batch *batch, size_t i, int64_t taken_ms,
                                 struct tpi_job **out);
/* A task of plan hold, which belongs to its claim, without a lease. TP_EXISTS: it is in progress here
 * already. */
TP_CHECKED tp_status tpi_job_hold(struct tp_worker *worker, const tp_batch *batch, size_t i,
                                  struct tpi_job **out);
/* Before its handler is called. False: its lease is over, as far as is known here. */
bool tpi_job_start(struct tpi_job *job);
/* Around a call of its handler. The second gives the job under whose claim it goes on, with its way: the
 * same, or the last with which this process claimed the task meanwhile. done: it is done, and only that is
 * left to be stored. */
void tpi_job_run(struct tpi_job *job);
struct tpi_job *tpi_job_ran(struct tpi_job *job, bool done);
/* During the call: under whose claim it is by now. */
const struct tpi_job *tpi_job_newest(const struct tpi_job *job);
/* From here on the settle decides. False: the claim was lost before. */
bool tpi_job_settle(struct tpi_job *job);
/* Back from settling: the lease renewer minds it again. unheard: the settle may have been done, so that the
 * lease renewer can extend the lease, but cannot say that the claim is lost. */
void tpi_job_resume(struct tpi_job *job, bool unheard);
/* Its way is over: gives back the reference that tpi_job_new gave. */
void tpi_job_end(struct tpi_job *job);
/* Under the lock; its end is tpi_job_unref. */
void tpi_job_ref(struct tpi_job *job);
void tpi_job_unref(struct tpi_job *job);
/* The database, or a second claim, said that the claim is gone. Tells the owner, unless it is known. */
void tpi_job_lose(struct tpi_job *job, const char *text);
/* Waits for jobs whose leases are to be extended, and takes a reference to each of at most TPI_EXTEND_MAX;
 * 0: nothing can come any more. */
size_t tpi_lease_next(struct tp_worker *worker, struct tpi_job **jobs);
/* The lease renewer's look at it is over: again at extend_at. */
void tpi_lease_again(struct tpi_job *job, int64_t extend_at);
/* It was extended, by a call that began at asked_ms. */
void tpi_lease_extended(struct tpi_job *job, int64_t asked_ms);

/* Under the lock of whoever owns the list. */
void tpi_list_push(struct tpi_list *list, struct tpi_job *job);
struct tpi_job *tpi_list_pop(struct tpi_list *list);

/* ---- queue.c ----------------------------------------------------------------------------------------- */

/* How many tasks to claim now; 0: none, there is too little room. */
size_t tpi_queue_room(struct tp_worker *worker);
/* Waits until there may be room, at most until the monotonic time. */
void tpi_queue_wait_room(struct tp_worker *worker, int64_t until_ms);
/* False: there is no place. */
bool tpi_queue_push(struct tp_worker *worker, struct tpi_job *job);
/* Waits for a task, as an idle handler thread. NULL: *ended, because the worker is to stop or the thread is
 * not needed any more; or the worker holds now. */
struct tpi_job *tpi_queue_pop(struct tp_worker *worker, bool *ended);
/* The same without waiting. NULL: nothing, or the worker is to stop. */
struct tpi_job *tpi_queue_try_pop(struct tp_worker *worker);
/* Under the lock, for plan hold: nothing is to be begun, because of what is done and cannot be stored. */
bool tpi_queue_is_stuck(const struct tp_worker *worker);
/* For the stop: hands what never started to the completer, to be released. */
void tpi_queue_release(struct tp_worker *worker);

/* ---- executor.c, handler_run.c ----------------------------------------------------------------------- */

void tpi_executor_count(struct tp_worker *worker, int change);
/* Of a task whose lease had lapsed: does the delay of its policy, which the claim left to this thread, say
 * that there are no more retries? */
bool tpi_executor_is_exhausted(const struct tpi_job *job);
/* Calls the handler once. */
tp_verdict tpi_executor_call(struct tp_run *run);
/* Runs one task to its settle, or to the completer. */
void tpi_executor_run(struct tpi_session *session, struct tpi_job *job);
/* Keeps the text of the thread's last error, which is gone with its next call. */
void tpi_run_remember(struct tp_run *run);

/* ---- verdict.c, completer.c -------------------------------------------------------------------------- */

/* Inside the task's transaction, when the handler has failed: is it lost, through no fault of the handler? */
bool tpi_verdict_tx_lost(struct tpi_session *session);
/* What became of a handler's call. RUN_ENDED: the task's way is over; RUN_SUBMITTED: the completer has it. */
enum tpi_next { TPI_RUN_AGAIN, TPI_RUN_ENDED, TPI_RUN_SUBMITTED };
enum tpi_next tpi_verdict_settle(struct tp_run *run, tp_verdict verdict);
/* owner.c: the claim under which the row is: TP_OK: one of this process. TP_NONE: of another, or none. */
TP_CHECKED tp_status tpi_owner_ask(struct tpi_session *session, const struct tpi_job *job);
/* Tells the owner, and counts, that the task was settled so. */
void tpi_record_settled(struct tpi_job *job, const struct tpi_outcome *outcome, tp_status status);
void tpi_record_lost_settle(struct tpi_job *job);
/* The same for one that is marked as lost, with its cause. */
void tpi_record_lost(struct tpi_job *job, const char *text);
/* Its outcome is given up. */
void tpi_record_dropped(const struct tpi_job *job, const char *text);
/* The one settle that writes it. */
TP_CHECKED tp_status tpi_verdict_write(tp_conn *conn, const struct tpi_job *job,
                                       const struct tpi_outcome *outcome);

/* Replaces the outcome; the reason is copied. */
void tpi_outcome_set(struct tpi_job *job, tp_verdict verdict, const char *reason);
/* Hands a job over; the reason is copied. Calls the delay of its policy, if it has one, so that the completer
 * need not wait for it. */
void tpi_completer_submit(struct tpi_job *job, tp_verdict verdict, const char *reason, int64_t delay_ms,
                          bool no_retry);
/* Under the lock, for the stop: what waits for its next try need not wait. */
void tpi_completer_hurry(struct tp_worker *worker);
/* Settles what is in the list, in the calling thread, until it is empty. */
void tpi_completer_run_down(struct tpi_session *session);

#endif
