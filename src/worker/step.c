/* tp_worker_step: one round of all that a worker's threads do, in the calling thread. For tests under a
 * clock of their own, and for programs with an event loop. Leases are not extended meanwhile. */
#include "worker/worker.h"

#include "base/clock.h"
#include "base/error.h"

static tp_status begin(struct tp_worker *worker) {
    tp_status status = tpi_worker_connect(worker);
    if (status != TP_OK) return status;
    tpi_dispatcher_begin(&worker->dispatcher, "step");
    tpi_session_init(&worker->step_session, &worker->sessions, "step as executor");
    worker->step = (struct tpi_hold){.session = &worker->step_session};
    (void)tpi_heartbeat_send(&worker->heartbeat, &worker->dispatcher.session);
    return TP_OK;
}

void tpi_step_end(struct tp_worker *worker) {
    struct tpi_dispatcher *dispatcher = &worker->dispatcher;
    if (!worker->step.session) return;
    tpi_dispatcher_ask_once_more(dispatcher);
    tpi_completer_release_queue(&worker->completer);
    tpi_completer_run_down(&worker->completer, &dispatcher->session);
    if (!dispatcher->session.broken) (void)tpi_heartbeat_end(&worker->heartbeat, &dispatcher->session);
    tpi_session_close(&worker->step_session);
    tpi_session_close(&dispatcher->session);
    worker->step.session = NULL;
}

static tp_status check(struct tp_worker *worker) {
    tp_status status = TP_OK;
    pthread_mutex_lock(&worker->life.lock);
    if (worker->life.state != TPI_STATE_OPEN && worker->life.state != TPI_STATE_STEPPING)
        status = tpi_error(TP_MISUSE, "tp_worker_step: the worker was started, and works by itself");
    else if (worker->claims.handlers.count == 0)
        status = tpi_error(TP_MISUSE, "tp_worker_step: no handler; register one with tp_worker_handle");
    else {
        worker->life.state = TPI_STATE_STEPPING;
        worker->life.stepping = true;
    }
    pthread_mutex_unlock(&worker->life.lock);
    return status;
}

static tp_status claim_and_run(struct tp_worker *worker, size_t *count) {
    struct tpi_session *session = &worker->dispatcher.session;
    if (tpi_queue_is_held(&worker->queue)) {
        tp_status status = TP_OK;
        size_t some = 1;
        for (; status == TP_OK && some && *count < worker->options.batch; *count += some)
            status = tpi_transaction_once(&worker->transactions, &worker->step, &some);
        tpi_transaction_leave(&worker->step_session);
        tpi_completer_run_down(&worker->completer, session);
        return status == TP_NONE ? TP_OK : status;
    }
    tp_status status = tpi_dispatcher_claim(&worker->dispatcher, tpi_queue_room(&worker->queue));
    if (status < 0) return status;
    for (struct tpi_job *job; (job = tpi_queue_try_pop(&worker->queue)) != NULL; ++*count)
        tpi_run_job(&worker->runs, &worker->step_session, job);
    tpi_completer_release_queue(&worker->completer); /* what a stop left */
    tpi_completer_run_down(&worker->completer, session);
    return TP_OK;
}

tp_status tp_worker_step(tp_worker *worker, size_t *handled) {
    size_t count = 0;
    if (!worker) return tpi_error(TP_MISUSE, "tp_worker_step: worker must not be NULL");
    if (tpi_lifetime_here() == &worker->life)
        return tpi_error(TP_MISUSE, "tp_worker_step: not in a handler or an event");
    tp_status status = check(worker);
    if (status == TP_OK && !worker->step.session) status = begin(worker);
    if (status != TP_OK) return status;
    if (tpi_lifetime_stopping(&worker->life)) return TP_NONE;
    struct tpi_lifetime *before = tpi_lifetime_here();
    tpi_lifetime_set_here(&worker->life);
    if (worker->options.schedules) tpi_maintenance_fire(&worker->dispatcher.maintenance);
    /* Workers that are not heard of keep the others from holding. */
    if (tpi_clock_mono_ms() >= tpi_heartbeat_next(&worker->heartbeat))
        (void)tpi_heartbeat_send(&worker->heartbeat, &worker->dispatcher.session);
    bool drained = tpi_lifetime_stopping(&worker->life);
    status = drained ? TP_NONE : claim_and_run(worker, &count);
    if (status >= 0 && tpi_alerter_wanted(&worker->alerter))
        status = tpi_alerter_deliver(&worker->alerter, &worker->dispatcher.session, false);
    tpi_progress_step(&worker->progress, &worker->runs.reader);
    tpi_session_drop(&worker->dispatcher.session); /* the other session may need what it had locked */
    tpi_lifetime_set_here(before);
    if (handled) *handled = count;
    if (status < 0) return status;
    return count ? TP_OK : TP_NONE;
}
