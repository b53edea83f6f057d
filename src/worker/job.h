/* A task in progress, from its claim to its settle; see job.c. */
#ifndef TPI_WORKER_JOB_H
#define TPI_WORKER_JOB_H

#include "worker/claims.h"
#include "worker/lifetime.h"
#include "worker/result.h"

enum { TPI_EXTEND_MAX = 1000 }; /* leases extended in one call */
extern int64_t tpi_lease_parts; /* a lease is extended when one of these is over */

struct tpi_job;
struct tpi_record;

/* What is common to all jobs of a worker. */
struct tpi_jobs {
    struct tpi_lifetime *life;
    struct tpi_record *record;
    const tp_env *env;
    const tp_worker_options *options;
    const struct tpi_handler_table *handlers;
    pthread_mutex_t lock;
    struct tpi_signal leases;        /* the list of leases, or its end */
    struct tpi_job *leased;          /* under the lock: the leases to extend, in no order */
    struct tpi_job *oldest, *newest; /* under the lock: all in progress, in their order */
    uint64_t last_number;            /* under the lock: of a job that was made */
    int64_t renew_at;                /* under the lock: when the lease renewer wakes next, by itself */
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

/* The task is not wanted any more; not changed once the job has it. */
struct tpi_stop_notice {
    tp_stop cause;
    char who[128 + 1], why[TP_REASON_MAX + 1]; /* who "": nobody asked */
    char reason[TP_REASON_MAX + 1];            /* for people */
};

/* Under the jobs' lock. */
struct tpi_lease {
    struct tpi_job *prev, *next; /* neighbours in the list */
    bool listed;
    int64_t extend_at; /* monotonic */
    int64_t until;     /* boot clock; from then on another may have the claim */
};

/* For the completer, and only it looks once the job is in its list. */
struct tpi_settle {
    struct tpi_outcome outcome;
    int64_t submitted_at, not_before; /* monotonic */
    unsigned tries, refusals, waits;
    bool counted;     /* the claim counted the failure that is in the outcome */
    bool last_resort; /* the outcome is a failure to write the outcome */
};

struct tpi_job {
    struct tpi_jobs *jobs;
    tp_batch *batch; /* of this task alone. NULL: plan hold, it belongs to its claim */
    const tp_task *task;
    const struct tpi_handler *handler; /* NULL: the database gave a task of a handler that is not ours */
    struct tpi_job *next;              /* in the queue or in the completer's list */
    struct tpi_job *in_flight_next;    /* under in_flight.c's lock */
    struct tpi_settle settle;
    struct tpi_result *result;     /* what its handler gave back when it ended well; NULL: nothing */
    int64_t claimed_ms;            /* monotonic: when the database's clock said how long it had waited ... */
    int64_t waited_ms;             /* ... which was so long */
    atomic_int_least64_t began_ms; /* monotonic: the call of its handler began; 0: it is not called */
    atomic_bool overtime;          /* that lasts longer than it may, and it was told */

    _Atomic(const struct tpi_stop_notice *)
        stop_notice; /* written under the jobs' lock, once; NULL: it is wanted */

    struct tpi_lease lease; /* under the jobs' lock, as all below */
    struct tpi_job *older, *newer;
    uint64_t number;           /* in that order */
    size_t refs;               /* its way through the worker, and whoever looks at it meanwhile */
    bool ended;                /* its way is over: what is heard about it is of no interest */
    bool settling;             /* the settle's answer decides now, not the lease renewer's */
    bool unheard;              /* a settle got no answer: only the next says what became of it */
    bool running;              /* its handler is being called */
    bool unrenewed;            /* for so long that its lease is not extended any more */
    bool done;                 /* its handler has ended well, outside a transaction; not stored yet */
    struct tpi_job *successor; /* the next claim of this process, under which the call goes on */
    atomic_bool passed_on;     /* meanwhile this process has claimed the task anew */
    atomic_bool started;       /* its handler was called */
    atomic_bool lost;          /* another has the claim; its event is sent */

    bool exhausted; /* plan hold: the settle was the last failure */
    size_t hold_at; /* plan hold: where it is in its claim */
};

/* First in, first out. */
struct tpi_list {
    struct tpi_job *first, *last;
    size_t count;
};

/* Under the lock of whoever owns the list. */
void tpi_list_push(struct tpi_list *list, struct tpi_job *job);
struct tpi_job *tpi_list_pop(struct tpi_list *list);

/* Takes task i of the claim over, with one reference. taken_ms: when its lease began, by
 * tpi_clock_boot_ms. NULL: its handler is
 * being called under an earlier claim, and that call goes on under this one. TP_EXISTS: the task is in
 * progress here otherwise; that one is marked as having lost its claim. With done set its handler has ended
 * well in this process under an earlier claim, which could not be settled: it is not to be called again. */
TP_CHECKED tp_status tpi_job_new(struct tpi_jobs *jobs, const tp_batch *batch, size_t i, int64_t taken_ms,
                                 struct tpi_job **out);
/* A task of plan hold, without a lease. TP_EXISTS: it is in progress here already. */
TP_CHECKED tp_status tpi_job_hold(struct tpi_jobs *jobs, const tp_batch *batch, size_t i,
                                  struct tpi_job **out);
/* Before its handler is called, which is called then. False: its lease is over, as far as is known here. */
bool tpi_job_start(struct tpi_job *job);
/* Around a call of its handler. The second gives the job under whose claim it goes on, with its way: the
 * same, or the last with which this process claimed the task meanwhile. done: it is done, and only that is
 * left to be stored. Takes the reference to what the handler gave back (NULL: nothing). */
void tpi_job_run(struct tpi_job *job);
struct tpi_job *tpi_job_ran(struct tpi_job *job, bool done, struct tpi_result *result);
/* Its handler has ended well, outside a transaction. */
void tpi_job_mark_done(struct tpi_job *job);
/* During the call: under whose claim it is by now. */
const struct tpi_job *tpi_job_newest(const struct tpi_job *job);
/* From here on the settle decides. False: the claim was lost before. */
bool tpi_job_settle(struct tpi_job *job);
/* Back from settling: the lease is extended again. unheard: the settle may have been done, so that the
 * lease renewer can extend the lease, but cannot say that the claim is lost. */
void tpi_job_resume(struct tpi_job *job, bool unheard);
/* Its way is over: gives back the reference that tpi_job_new gave. */
void tpi_job_end(struct tpi_job *job);
void tpi_job_unref(struct tpi_job *job);
/* The database, or a second claim, said that the claim is gone. Records it, unless it is known. */
void tpi_job_lose(struct tpi_job *job, const char *text);

/* Those that were claimed before the monotonic time, the oldest first, behind the one of that number, with a
 * reference to each, and the ids of their tasks, which may be gone before the reference is. *after gets the
 * last one's number. */
size_t tpi_jobs_older(struct tpi_jobs *jobs, int64_t before, uint64_t *after, struct tpi_job **all,
                      char (*ids)[TP_ID_SIZE], size_t most);
/* The oldest, with a reference to each. */
size_t tpi_jobs_oldest(struct tpi_jobs *jobs, struct tpi_job **all, size_t most);
/* Around a call of its handler: when it began; 0: it has ended. */
void tpi_job_called(struct tpi_job *job, int64_t began_ms);
/* Its lease, and that of the claim under which the call goes on, is extended no more. False: so it is
 * already, or the call has ended. */
bool tpi_job_stop_renewal(struct tpi_job *job);
/* Its task is not wanted any more; for who and why see tpi_cancel_fn. Nothing, if that is known. */
void tpi_job_notify_stop(struct tpi_job *job, const char *who, const char *why);

/* Waits for jobs whose leases are to be extended, and takes a reference to each of at most TPI_EXTEND_MAX;
 * 0: nothing can come any more. */
size_t tpi_lease_next(struct tpi_jobs *jobs, struct tpi_job **due);
/* Its lease could not be extended: again at extend_at. */
void tpi_lease_again(struct tpi_job *job, int64_t extend_at);
/* It was extended, by a call that began at asked_ms, by tpi_clock_boot_ms. */
void tpi_lease_extended(struct tpi_job *job, int64_t asked_ms);

#endif
