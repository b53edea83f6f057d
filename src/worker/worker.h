/* A worker: its parts, and its state. worker.c wires the parts, start_stop.c starts and ends them, step.c
 * does what they do once in the caller's thread. A part knows those below it, and no other; it tells one
 * above it by what its functions return, or by a function that worker.c sets in its struct. From below:
 *
 *   lifetime  the lock, the stop, jobs in progress  claims         what is claimed, by which plan
 *   notify    events, to on_event                   transaction    plan hold: claim to commit
 *   watchdog  who waits for an answer too long      poller         plan hold: who polls, and when
 *   session   one thread's connection               threads        begin and end of threads
 *   alerter   who gave up, to on_alert              executor       the handler threads
 *   record    what became of tasks                  heartbeat      what the pool hears of this worker
 *   job       a task from claim to settle           maintenance    a table of duties
 *   queue     the jobs that wait                    dispatcher     claims and feeds the queue
 *   completer settles in groups                     lease_renewer  extends leases
 *   handler_run, verdict: one call of a handler, and its settle
 *
 * The worker is a client of taskpool.h: it knows no SQL, and the database decides what it holds.
 *
 * Locks: "under the lock" means the part's own. No lock is held while a function of the owner's runs, but in
 * tp_worker_step, which has one thread. docs/worker.md has the table of locks and their order. */
#ifndef TPI_WORKER_WORKER_H
#define TPI_WORKER_WORKER_H

#include "worker/dispatcher.h"
#include "worker/lease_renewer.h"

struct tp_worker {
    tp_worker_options options; /* defaults filled in; not changed after open */
    struct tpi_lifetime life;
    struct tpi_notify notify;
    struct tpi_sessions sessions;
    struct tpi_alerter alerter;
    struct tpi_record record;
    struct tpi_jobs jobs;
    struct tpi_lease_renewer lease_renewer;
    struct tpi_queue queue;
    struct tpi_completer completer;
    struct tpi_runs runs;
    struct tpi_claims claims;
    struct tpi_wakeup wakeup;
    struct tpi_transactions transactions;
    struct tpi_poller poller;
    struct tpi_watchdog watchdog;
    struct tpi_threads threads;
    struct tpi_executors executors;
    struct tpi_heartbeat heartbeat;
    struct tpi_dispatcher dispatcher;

    struct tpi_hold step; /* of tp_worker_step, by the caller's thread only; its session NULL: not begun */
};

/* tp_worker_join; patient: however long it takes. */
TP_CHECKED tp_status tpi_worker_join(struct tp_worker *worker, bool patient);
/* In the caller's thread, so that a wrong set-up is a status and not an event. */
TP_CHECKED tp_status tpi_worker_connect(struct tp_worker *worker);
void tpi_step_end(struct tp_worker *worker);

#endif
