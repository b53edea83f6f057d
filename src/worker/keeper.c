/* The thread that extends leases, queued tasks' and running ones', when a third of the lease is over. It
 * never ends a task: on TP_LOST it tells the owner and marks the task, and whoever has it lets go. */
#include "worker/worker.h"

#include "base/clock.h"

static void tell_lost(struct tp_worker *worker, struct tpi_item *item) {
    if (tpi_keep_lost(worker, item))
        tpi_notice_send(worker, TP_EVENT_LOST, item->task, "the lease had lapsed and the claim is gone");
    tpi_hand_unref(worker, item->hand);
}

static tp_status ask_extend(struct tpi_line *line, struct tpi_item *item) {
    tp_status status = tpi_line_ready(line);
    if (status != TP_OK) return status;
    status = tp_extend(line->conn, item->task, line->worker->options.lease_ms);
    tpi_line_note(line, status);
    return status;
}

/* Somebody's lock on this one task must not keep the others waiting, so only an outage makes the thread
 * pause. */
static void try_later(struct tpi_line *line, struct tpi_item *item, tp_status status, int64_t third) {
    bool hope = tpi_line_hope(line, status);
    if (!hope) tpi_notice_send(line->worker, TP_EVENT_ERROR, item->task, tp_last_error()->text);
    if (line->broken) tpi_line_pause(line, TPI_UNTIL_GRACE);
    tpi_keep_again(line->worker, item, tpi_clock_mono_ms() + (hope ? third / 4 : third));
}

static void extend(struct tpi_line *line, struct tpi_item *item) {
    int64_t third = line->worker->options.lease_ms / 3;
    int64_t asked_ms = tpi_clock_mono_ms();
    tp_status status = ask_extend(line, item);
    tpi_trace(TPI_TRACE_WORKER, "extend task=%s: %s", item->task->id, tp_status_name(status));
    if (status >= 0)
        tpi_keep_again(line->worker, item, asked_ms + third);
    else if (status == TP_LOST)
        tell_lost(line->worker, item);
    else
        try_later(line, item, status, third);
}

void *tpi_keeper_main(void *arg) {
    struct tpi_line line;
    struct tpi_item *item;
    tpi_line_init(&line, arg, "keeper");
    while ((item = tpi_keep_next(arg)) != NULL)
        extend(&line, item);
    tpi_line_close(&line);
    return NULL;
}
