/* A thread that takes tasks from the queue and calls their handlers. What the verdict leads to is in
 * settle.c. */
#include "worker/worker.h"

#include <stdio.h>

/* Clears what a call that is to be made again left behind. */
static void reset(struct tp_run *run) {
    run->trouble = TP_OK;
    run->doomed = false;
    run->delay_ms = 0;
    run->reason[0] = '\0';
    run->why[0] = '\0';
}

static tp_verdict call_handler(struct tp_run *run) {
    const struct tpi_handler *handler = run->item->handler;
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

static void run_task(struct tpi_line *line, struct tpi_item *item) {
    struct tp_run run = {.worker = line->worker, .line = line, .item = item};
    tp_verdict verdict;
    do {
        reset(&run);
        tpi_trace(TPI_TRACE_WORKER, "run task=%s handler=%s", item->task->id, item->task->handler);
        verdict = call_handler(&run);
    } while (tpi_settle_run(&run, verdict));
}

void *tpi_runner_main(void *arg) {
    struct tpi_line line;
    struct tpi_item *item;
    tpi_line_init(&line, arg, "runner");
    while ((item = tpi_queue_pop(arg)) != NULL) {
        if (!atomic_load(&item->lost)) run_task(&line, item);
        tpi_item_end(arg, item);
    }
    tpi_line_close(&line);
    return NULL;
}
