/* A worker: its parts, and its state. worker.c wires the parts, start_stop.c starts and ends them, step.c
 * does what they do once in the caller's thread. A part knows those below it, and no other; it reports to
 * one above it by what its functions return, or by a function that worker.c sets in its struct. From below:
 *
 *   lifetime  the lock, the stop, jobs in progress  claims         what is claimed, by which plan
 *   notify    events, to on_event                   completer      settles in groups
 *   watchdog  who waits for an answer too long      run            calls a job's handler, and settles it
 *   session   one thread's connection               transaction    plan hold: claim to commit
 *   tally     what was done, by minute
 *   alerter   who gave up, to on_alert              threads        begin and end of threads
 *   record    what became of tasks                  executor       the handler threads
 *   job       a task from claim to settle           heartbeat      what the pool hears of this worker
 *   queue     the jobs that wait                    maintenance    a table of duties
 *   outcome   what a settle writes                  dispatcher     claims and feeds the queue
 *                                                   canceller      tells handlers what is not wanted any more
 *   progress  how far runs are
 *
 * The worker is a client of taskpool.h: it knows no SQL, and the database decides what it holds.
 *
 * Locks: "under the lock" means the part's own. No lock is held while a function of the owner's runs, but in
 * tp_worker_step, which has one thread. docs/worker.md has the table of locks and their order. */
#ifndef TPI_WORKER_WORKER_H
#define TPI_WORKER_WORKER_H

#include "worker/canceller.h"
#include "worker/dispatcher.h"
#include "worker/lease_renewer.h"
#include "worker/progress_writer.h"

struct tp_worker {
    tp_worker_options options; /* defaults filled in; not changed after open */
    struct tpi_lifetime life;
    struct tpi_notify notify;
    struct tpi_sessions sessions;
    struct tpi_alerter alerter;
    struct tpi_tally tally;
    struct tpi_record record;
    struct tpi_jobs jobs;
    struct tpi_lease_renewer lease_renewer;
    struct tpi_canceller canceller;
    struct tpi_queue queue;
    struct tpi_completer completer;
    struct tpi_progress_writer progress;
    struct tpi_runs runs;
    struct tpi_claims claims;
    struct tpi_transactions transactions;
    struct tpi_watchdog watchdog;
    struct tpi_threads threads;
    struct tpi_executors executors;
    struct tpi_heartbeat heartbeat;
    struct tpi_dispatcher dispatcher;

    struct tpi_hold step; /* of tp_worker_step, by the caller's thread only; its session NULL: not begun */
    struct tpi_session step_session; /* its handlers', as an executor's */
};

/* tp_worker_join; patient: however long it takes. */
TP_CHECKED tp_status tpi_worker_join(struct tp_worker *worker, bool patient);
/* In the caller's thread, so that a wrong set-up is a status and not an event. */
TP_CHECKED tp_status tpi_worker_connect(struct tp_worker *worker);
void tpi_step_end(struct tp_worker *worker);

#endif
