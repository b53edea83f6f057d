/* A thread that takes tasks from the queue and calls their handlers. What the verdict leads to is in
 * verdict.c. */
#include "worker/worker.h"

#include <stdio.h>

/* Clears what a call that is to be made again left behind. */
static void reset(struct tp_run *run) {
    run->trouble = TP_OK;
    run->doomed = false;
    run->no_retry = false;
    run->delay_ms = 0;
    run->reason[0] = '\0';
    run->why[0] = '\0';
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
    if (!atomic_load(&item->lost)) {
        do {
            tpi_runner_count(line->worker, 1);
            tp_verdict verdict = tpi_runner_call(&run);
            tpi_runner_count(line->worker, -1);
            tp_task_params_free(item->task);
            run.params = NULL;
            next = tpi_verdict_settle(&run, verdict);
        } while (next == TPI_RUN_AGAIN);
    }
    if (next == TPI_RUN_ENDED) tpi_item_end(item);
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
