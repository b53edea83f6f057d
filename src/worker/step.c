/* All that a worker does, once, in the calling thread: for tests under a clock of their own, and for programs
 * with a loop of their own. Leases are not extended meanwhile. */
#include "worker/worker.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "worker/verdict.h"

struct tpi_step {
    struct tpi_session session, run_session;
    struct tpi_hold hold; /* over run_session */
    struct tpi_claiming claiming;
    struct tpi_maintenance maintenance;
};

static tp_status begin(struct tp_worker *worker) {
    tp_status status = tpi_worker_connect(worker);
    if (status != TP_OK) return status;
    struct tpi_step *step = calloc(1, sizeof *step);
    if (!step) return tpi_error(TP_NOMEM, "tp_worker_step: out of memory");
    tpi_session_init(&step->session, &worker->sessions, "step");
    tpi_session_init(&step->run_session, &worker->sessions, "step as runner");
    tpi_session_take(&step->session, worker->dispatcher.first);
    worker->dispatcher.first = NULL;
    step->hold.session = &step->run_session;
    tpi_claiming_init(&step->claiming, &worker->claims);
    tpi_maintenance_init(&step->maintenance, &worker->heartbeat, &worker->wakeup, &step->session,
                         worker->options.schedules);
    worker->step = step;
    if (worker->claims.hold_wanted) (void)tpi_heartbeat_send(&worker->heartbeat, &step->session);
    return TP_OK;
}

void tpi_step_end(struct tp_worker *worker) {
    struct tpi_step *step = worker->step;
    if (!step) return;
    if (worker->claims.hold_wanted && !step->session.broken)
        (void)tpi_heartbeat_end(&worker->heartbeat, &step->session);
    tpi_session_close(&step->run_session);
    tpi_session_close(&step->session);
    free(step);
    worker->step = NULL;
}

static tp_status check(struct tp_worker *worker) {
    tp_status status = TP_OK;
    pthread_mutex_lock(&worker->life.lock);
    if (worker->state != TPI_STATE_OPEN && worker->state != TPI_STATE_STEPPING)
        status = tpi_error(TP_MISUSE, "tp_worker_step: the worker was started, and works by itself");
    else if (worker->handlers.count == 0)
        status = tpi_error(TP_MISUSE, "tp_worker_step: no handler; register one with tp_worker_handle");
    if (status == TP_OK) worker->state = TPI_STATE_STEPPING;
    if (status == TP_OK) worker->life.stepping = true;
    pthread_mutex_unlock(&worker->life.lock);
    return status;
}

static size_t run_queue(struct tp_worker *worker) {
    struct tpi_job *job;
    size_t count = 0;
    for (; (job = tpi_queue_try_pop(&worker->queue)) != NULL; count++)
        tpi_verdict_run(&worker->runs, &worker->step->run_session, job);
    return count;
}

static tp_status claim_and_run(struct tp_worker *worker, size_t *count) {
    struct tpi_step *step = worker->step;
    if (worker->queue.held) {
        tp_status status = TP_OK;
        size_t some = 1;
        for (; status == TP_OK && some && *count < worker->options.batch; *count += some)
            status = tpi_transaction_once(&worker->transactions, &step->hold, &some);
        tpi_transaction_leave(&step->run_session);
        tpi_completer_run_down(&worker->completer, &step->session);
        return status == TP_NONE ? TP_OK : status;
    }
    tp_status status = tpi_dispatcher_claim(&worker->dispatcher, &step->claiming, &step->session,
                                            tpi_queue_room(&worker->queue));
    if (status < 0) return status;
    *count = run_queue(worker);
    tpi_completer_release_queue(&worker->completer); /* what a stop left */
    tpi_completer_run_down(&worker->completer, &step->session);
    return TP_OK;
}

/* With plan hold, workers that are not heard of keep the others from holding. */
static void send_in_time(struct tp_worker *worker) {
    if (tpi_clock_mono_ms() >= tpi_heartbeat_next(&worker->heartbeat))
        (void)tpi_heartbeat_send(&worker->heartbeat, &worker->step->session);
}

tp_status tp_worker_step(tp_worker *worker, size_t *handled) {
    size_t count = 0;
    if (!worker) return tpi_error(TP_MISUSE, "tp_worker_step: worker must not be NULL");
    if (tpi_lifetime_here() == &worker->life)
        return tpi_error(TP_MISUSE, "tp_worker_step: not in a handler or an event");
    tp_status status = check(worker);
    if (status == TP_OK && !worker->step) status = begin(worker);
    if (status != TP_OK) return status;
    if (tpi_lifetime_stopping(&worker->life)) return TP_NONE;
    struct tpi_lifetime *before = tpi_lifetime_here();
    tpi_lifetime_set_here(&worker->life);
    if (worker->options.schedules) tpi_maintenance_fire(&worker->step->maintenance);
    if (worker->claims.hold_wanted) send_in_time(worker);
    status = claim_and_run(worker, &count);
    if (status >= 0 && worker->options.on_alert)
        status = tpi_alerter_deliver(&worker->alerter, &worker->step->session);
    tpi_lifetime_set_here(before);
    if (handled) *handled = count;
    if (status < 0) return status;
    return count ? TP_OK : TP_NONE;
}
