/* The thread that extends leases, queued tasks' and running ones', when a third of the lease is over; many in
 * one call. It never ends a task: on TP_LOST it tells the owner and marks the task, and whoever has it lets
 * go. Once the stop's deadline has passed it extends no more. */
#include "worker/worker.h"

#include "base/clock.h"

enum { CHUNK = 32 };

struct keeper {
    struct tpi_line line;
    struct tpi_item *items[TPI_EXTEND_MAX];
    const tp_task *tasks[TPI_EXTEND_MAX];
    tp_status answers[TPI_EXTEND_MAX];
    size_t first, count; /* of items, asked for now */
    unsigned misses;     /* calls in a row without an answer */
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
            tpi_keep_extended(item, asked_ms);
    }
}

/* The trouble is one task's: told when it will not pass, and tried again after the others. */
static void try_later(struct keeper *keeper, size_t at, tp_status status) {
    struct tpi_item *item = keeper->items[at];
    int64_t third = keeper->line.worker->options.lease_ms / 3;
    bool hope = tpi_line_hope(&keeper->line, status);
    if (!hope) tpi_notify_send(keeper->line.worker, TP_EVENT_ERROR, item->task, tp_last_error()->text);
    tpi_keep_again(item, tpi_clock_mono_ms() + (hope ? third / 2 : third));
}

/* The trouble is nobody's in particular. */
static void put_off(struct keeper *keeper, size_t first, size_t count) {
    int64_t soon = tpi_clock_mono_ms() + keeper->line.worker->options.lease_ms / 24;
    for (size_t i = first; i < first + count; i++)
        tpi_keep_again(keeper->items[i], soon);
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

static bool has_no_more_patience(const struct keeper *keeper) {
    return keeper->misses > TPI_MISSES_MAX;
}

/* What keeps one task from being extended, perhaps somebody's lock on it, must not keep the others from it: a
 * call that fails is made again in smaller ones, first of CHUNK, then of one. Each that fails may have waited
 * for a lock as long as the session lets it, and other leases run out meanwhile: so not by halves, and after
 * several failures in a row the rest has to wait. Only an outage makes the thread pause. */
static void extend_range(struct keeper *keeper, size_t first, size_t count) {
    if (has_no_more_patience(keeper)) {
        put_off(keeper, first, count);
        return;
    }
    tp_status status = extend(keeper, first, count);
    bool answered = status >= 0 || status == TP_LOST;
    keeper->misses = answered ? 0 : keeper->line.broken ? TPI_MISSES_MAX + 1 : keeper->misses + 1;
    if (answered) return;
    if (count == 1 && !keeper->line.broken) {
        try_later(keeper, first, status);
        return;
    }
    size_t step = count > CHUNK ? CHUNK : 1, end = first + count;
    for (; first < end && !has_no_more_patience(keeper); first += step)
        extend_range(keeper, first, end - first < step ? end - first : step);
    if (first < end) put_off(keeper, first, end - first);
}

static void extend_all(struct keeper *keeper, size_t count) {
    keeper->misses = 0;
    extend_range(keeper, 0, count);
    if (keeper->line.broken) tpi_line_pause(&keeper->line, TPI_UNTIL_GRACE);
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
