/* A thread that takes tasks from the queue and calls their handlers. What the verdict leads to is in
 * verdict.c. */
#include "worker/hold.h"

#include <stdio.h>
#include <string.h>

#include "core/retry.h"

/* Clears what a call that is to be made again left behind. */
static void reset(struct tp_run *run) {
    run->trouble = TP_OK;
    run->doomed = false;
    run->no_retry = false;
    run->delay_ms = 0;
    run->reason[0] = '\0';
    run->why[0] = '\0';
}

bool tpi_runner_is_spent(const struct tpi_item *item) {
    const tp_task *task = item->task;
    if (!tpi_reason_holder(task->reason)) return false;
    const tp_retry retry = tpi_retry_read(item->handler ? item->handler->retry : NULL);
    if (!retry.delay || retry.on_lapse != TP_LAPSE_RETRY) return false;
    tpi_runner_count(item->worker, 1);
    bool spent = retry.delay(task, task->failures, task->reason, retry.arg) < 0;
    tpi_runner_count(item->worker, -1);
    return spent;
}

tp_verdict tpi_runner_call(struct tp_run *run) {
    const struct tpi_handler *handler = run->item->handler;
    reset(run);
    tpi_trace(TPI_TRACE_WORKER, "run task=%s handler=%s", run->item->task->id, run->item->task->handler);
    run->runs++;
    if (!handler) {
        tp_run_reason(run, "this worker has no handler of that name");
        return TP_RUN_FAILED;
    }
    tp_verdict verdict = handler->fn(run, handler->arg);
    if ((unsigned)verdict <= TP_RUN_LATER) return verdict;
    snprintf(run->reason, sizeof run->reason, "the handler returned %d, which is no tp_verdict",
             (int)verdict);
    return TP_RUN_FAILED;
}

void tpi_runner_count(struct tp_worker *worker, int change) {
    pthread_mutex_lock(&worker->lock);
    worker->running += (size_t)change;
    pthread_mutex_unlock(&worker->lock);
}

void tpi_runner_run(struct tpi_line *line, struct tpi_item *item) {
    struct tp_run run = {.worker = line->worker, .line = line, .item = item};
    enum tpi_next next = TPI_RUN_ENDED;
    bool lost = atomic_load(&item->lost);
    item->counted = !lost && tpi_runner_is_spent(item);
    if (item->counted) {
        tpi_settler_hand(item, TP_RUN_FAILED, item->task->reason, 0, true);
        return;
    }
    if (!lost && !tpi_item_start(item)) {
        tpi_settler_hand(item, TP_RUN_LATER, "its lease was over before its handler was called", 0, false);
        return;
    }
    if (!lost) {
        do {
            tpi_runner_count(line->worker, 1);
            tpi_item_run(run.item);
            tp_verdict verdict = tpi_runner_call(&run);
            run.item = tpi_item_ran(run.item, verdict == TP_RUN_DONE && !run.in_transaction);
            tpi_runner_count(line->worker, -1);
            tp_task_params_free(run.item->task);
            run.params = NULL;
            next = tpi_verdict_settle(&run, verdict);
        } while (next == TPI_RUN_AGAIN);
    }
    if (next == TPI_RUN_ENDED) tpi_item_end(run.item);
}

void *tpi_runner_main(void *arg) {
    struct tpi_line line;
    bool ended = false;
    tpi_line_init(&line, arg, "runner");
    while (!ended) {
        if (tpi_hold_turn(&line)) continue;
        struct tpi_item *item = tpi_queue_pop(arg, &ended);
        if (item) tpi_runner_run(&line, item);
        tpi_line_let_go(&line);
    }
    tpi_line_close(&line);
    return NULL;
}
