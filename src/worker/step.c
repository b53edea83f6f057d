/* All that a worker does, once, in the calling thread: for tests under a clock of their own, and for programs
 * with a loop of their own. Leases are not extended meanwhile. */
#include "worker/claimer.h"

#include <stdlib.h>

#include "base/clock.h"

struct tpi_step {
    struct tpi_line line, hands;
    struct tpi_claiming claiming;
    struct tpi_house house;
};

static tp_status begin(struct tp_worker *worker) {
    tp_status status = tpi_worker_connect(worker);
    if (status != TP_OK) return status;
    struct tpi_step *step = calloc(1, sizeof *step);
    if (!step) return tpi_error(TP_NOMEM, "tp_worker_step: out of memory");
    tpi_line_init(&step->line, worker, "step");
    tpi_line_init(&step->hands, worker, "step as runner");
    tpi_line_adopt(&step->line, worker->first);
    worker->first = NULL;
    tpi_claiming_init(&step->claiming, worker);
    tpi_house_init(&step->house, worker, &step->line);
    worker->step = step;
    if (tpi_hold_wanted(worker)) (void)tpi_heartbeat_send(&step->line);
    return TP_OK;
}

void tpi_step_end(struct tp_worker *worker) {
    struct tpi_step *step = worker->step;
    if (!step) return;
    if (tpi_hold_wanted(worker) && !step->line.broken) (void)tpi_heartbeat_end(&step->line);
    tpi_line_close(&step->hands);
    tpi_line_close(&step->line);
    free(step);
    worker->step = NULL;
}

static tp_status check(struct tp_worker *worker) {
    tp_status status = TP_OK;
    pthread_mutex_lock(&worker->lock);
    if (worker->life != TPI_LIFE_OPEN && worker->life != TPI_LIFE_STEPPING)
        status = tpi_error(TP_MISUSE, "tp_worker_step: the worker was started, and works by itself");
    else if (worker->handler_count == 0)
        status = tpi_error(TP_MISUSE, "tp_worker_step: no handler; register one with tp_worker_handle");
    else
        worker->life = TPI_LIFE_STEPPING;
    pthread_mutex_unlock(&worker->lock);
    return status;
}

static size_t run_queue(struct tp_worker *worker) {
    struct tpi_item *item;
    size_t count = 0;
    for (; (item = tpi_queue_try_pop(worker)) != NULL; count++)
        tpi_runner_run(&worker->step->hands, item);
    return count;
}

static tp_status claim_and_run(struct tp_worker *worker, size_t *count) {
    struct tpi_step *step = worker->step;
    if (worker->holding) {
        tp_status status = TP_OK;
        size_t some = 1;
        for (; status == TP_OK && some && *count < worker->options.batch; *count += some)
            status = tpi_hold_once(&step->hands, &some);
        tpi_hold_leave(&step->hands);
        tpi_settler_run_down(&step->line);
        return status == TP_NONE ? TP_OK : status;
    }
    tp_status status = tpi_claiming_ask(&step->claiming, &step->line, tpi_queue_room(worker));
    if (status < 0) return status;
    *count = run_queue(worker);
    tpi_queue_release(worker); /* what a stop left */
    tpi_settler_run_down(&step->line);
    return TP_OK;
}

/* With plan hold, workers that are not heard of keep the others from holding. */
static void tell_in_time(struct tpi_line *line) {
    if (tpi_clock_mono_ms() >= tpi_heartbeat_next(line->worker)) (void)tpi_heartbeat_send(line);
}

tp_status tp_worker_step(tp_worker *worker, size_t *handled) {
    size_t count = 0;
    if (!worker) return tpi_error(TP_MISUSE, "tp_worker_step: worker must not be NULL");
    if (tpi_worker_here() == worker)
        return tpi_error(TP_MISUSE, "tp_worker_step: not in a handler or an event");
    tp_status status = check(worker);
    if (status == TP_OK && !worker->step) status = begin(worker);
    if (status != TP_OK) return status;
    if (tpi_worker_stopping(worker)) return TP_NONE;
    struct tp_worker *before = tpi_worker_here();
    tpi_worker_set_here(worker);
    if (worker->options.schedules) tpi_house_fire(&worker->step->house);
    if (tpi_hold_wanted(worker)) tell_in_time(&worker->step->line);
    status = claim_and_run(worker, &count);
    if (status >= 0 && worker->options.on_alert) status = tpi_alerter_tell(&worker->step->line);
    tpi_worker_set_here(before);
    if (handled) *handled = count;
    if (status < 0) return status;
    return count ? TP_OK : TP_NONE;
}
