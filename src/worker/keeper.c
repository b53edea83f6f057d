/* The thread that extends leases, queued tasks' and running ones', when a third of the lease is over; many in
 * one call. It never ends a task: on TP_LOST it tells the owner and marks the task, and whoever has it lets
 * go. Once the stop's deadline has passed it extends no more. */
#include "worker/worker.h"

#include "base/clock.h"

struct keeper {
    struct tpi_line line;
    struct tpi_item *items[TPI_EXTEND_MAX];
    const tp_task *tasks[TPI_EXTEND_MAX];
    tp_status answers[TPI_EXTEND_MAX];
    size_t first, count; /* of items, asked for now */
};

static tp_status ask_extend(tp_conn *conn, void *arg) {
    struct keeper *keeper = arg;
    int64_t lease_ms = keeper->line.worker->options.lease_ms;
    for (size_t i = 0; i < keeper->count; i++) {
        keeper->tasks[i] = keeper->items[keeper->first + i]->task;
        keeper->answers[i] = TP_OK;
    }
    if (keeper->count > 1)
        return tp_extend_many(conn, keeper->tasks, keeper->count, lease_ms, keeper->answers);
    keeper->answers[0] = tp_extend(conn, keeper->tasks[0], lease_ms);
    return keeper->answers[0];
}

static void heard(struct keeper *keeper, int64_t asked_ms) {
    for (size_t i = 0; i < keeper->count; i++) {
        struct tpi_item *item = keeper->items[keeper->first + i];
        if (keeper->answers[i] == TP_LOST)
            tpi_item_lose(item, "the lease had lapsed and the claim is gone");
        else
            tpi_keep_again(item, asked_ms + keeper->line.worker->options.lease_ms / 3);
    }
}

static void try_later(struct keeper *keeper, tp_status status) {
    int64_t third = keeper->line.worker->options.lease_ms / 3;
    bool hope = tpi_line_hope(&keeper->line, status);
    if (!hope)
        tpi_notice_send(keeper->line.worker, TP_EVENT_ERROR,
                        keeper->count == 1 ? keeper->items[keeper->first]->task : NULL,
                        tp_last_error()->text);
    for (size_t i = 0; i < keeper->count; i++)
        tpi_keep_again(keeper->items[keeper->first + i], tpi_clock_mono_ms() + (hope ? third / 4 : third));
}

static tp_status extend(struct keeper *keeper, size_t first, size_t count) {
    int64_t asked_ms = tpi_clock_mono_ms();
    keeper->first = first;
    keeper->count = count;
    tp_status status = tpi_line_try(&keeper->line, ask_extend, keeper);
    tpi_trace(TPI_TRACE_WORKER, "extend %zu: %s", count, tp_status_name(status));
    if (status >= 0 || status == TP_LOST) heard(keeper, asked_ms);
    return status;
}

/* What keeps one task from being extended, perhaps somebody's lock on it, must not keep the others from it.
 * Only an outage makes the thread pause. */
static void extend_all(struct keeper *keeper, size_t count) {
    tp_status status = extend(keeper, 0, count);
    if (status >= 0 || status == TP_LOST) return;
    if (count == 1 || keeper->line.broken) {
        try_later(keeper, status);
        if (keeper->line.broken) tpi_line_pause(&keeper->line, TPI_UNTIL_GRACE);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        status = extend(keeper, i, 1);
        if (status < 0 && status != TP_LOST) try_later(keeper, status);
    }
}

void *tpi_keeper_main(void *arg) {
    static const struct keeper none;
    struct keeper keeper = none;
    size_t count;
    tpi_line_init(&keeper.line, arg, "keeper");
    while ((count = tpi_keep_next(arg, keeper.items)) > 0) {
        extend_all(&keeper, count);
        for (size_t i = 0; i < count; i++)
            tpi_item_unref(keeper.items[i]);
    }
    tpi_line_close(&keeper.line);
    return NULL;
}
