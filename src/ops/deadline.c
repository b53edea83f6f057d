/* See deadline.h. */
#include "ops/deadline.h"

#include "base/error.h"
#include "ops/cancel.h"
#include "ops/refused.h"
#include "store/record.h"

bool tpi_deadline_given(const tp_new_task *task) {
    return task->deadline_at || task->deadline_ms;
}

tp_status tpi_deadline_check(const tp_new_task *task) {
    if (!tpi_deadline_given(task)) return TP_OK;
    if (task->deadline_at < 0 || task->deadline_ms < 0)
        return tpi_error(TP_MISUSE, "deadline_at or deadline_ms is negative");
    if (task->deadline_at > TP_TIME_MAX || task->deadline_ms > TP_DURATION_MAX)
        return tpi_error(TP_MISUSE,
                         "deadline_at is later than the year 9999, or deadline_ms longer than 100 years");
    if (task->deadline_at && task->deadline_ms)
        return tpi_error(TP_MISUSE, "give deadline_at or deadline_ms, not both");
    if (task->deadline_at && task->deadline_at <= task->due_at)
        return tpi_error(TP_MISUSE, "the task is not due before its deadline: it would never be begun");
    return TP_OK;
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

static tp_status add(tp_conn *conn, int64_t deadline_at, int64_t deadline_ms, const char *const *ids,
                     size_t count) {
    struct tpi_args args = {0};
    int64_t rows = 0;
    tpi_args_number(&args, TPI_P_at, deadline_at);
    tpi_args_number(&args, TPI_P_delay_ms, deadline_ms);
    tpi_args_list(&args, ids, count);
    tp_status status = tpi_store_change(&conn->store, TPI_S_deadline_add, &args, &rows);
    if (status != TP_OK || rows == (int64_t)count) return status;
    return tpi_refused_silently(&conn->store, "stored no row", "cancel");
}

/* Of the tasks from *at on, those that have the deadline of the first; *at moves behind them. */
static tp_status set_some(tp_conn *conn, tp_new_task *const *tasks, size_t count, size_t *at, bool again) {
    const char *ids[TPI_LIST_MAX];
    const tp_new_task *first = tasks[*at];
    size_t some = 0;
    for (; *at < count && some < TPI_LIST_MAX; ++*at) {
        const tp_new_task *task = tasks[*at];
        if (task->deadline_at != first->deadline_at || task->deadline_ms != first->deadline_ms) break;
        ids[some++] = task->id;
    }
    if (!tpi_deadline_given(first)) return TP_OK;
    tp_status status = again ? tpi_cancel_forget(conn, ids, some) : TP_OK;
    return status == TP_OK ? add(conn, first->deadline_at, first->deadline_ms, ids, some) : status;
}

tp_status tpi_deadlines_set(tp_conn *conn, tp_new_task *const *tasks, size_t count, bool again) {
    tp_status status = TP_OK;
    for (size_t at = 0; at < count && status == TP_OK;)
        status = set_some(conn, tasks, count, &at, again);
    return status;
}

tp_status tpi_deadline_replace(tp_conn *conn, const char *id, int64_t deadline_at, bool had) {
    tp_status status = had ? tpi_cancel_forget(conn, &id, 1) : TP_OK;
    return status == TP_OK && deadline_at ? add(conn, deadline_at, 0, &id, 1) : status;
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

/* TP_NONE: there is none. */
static tp_status find(struct tpi_store *store, const char *id, int64_t *deadline_at) {
    static const struct tpi_column only[] = TPI_COLUMN_ONLY(NUMBER);
    struct tpi_args args = {0};
    *deadline_at = 0;
    tpi_args_text(&args, TPI_P_id, id);
    return tpi_store_read(store, TPI_S_deadline_find, &args, only, NULL, deadline_at);
}

tp_status tpi_deadline_read(struct tpi_store *store, const char *id, int64_t *deadline_at) {
    tp_status status = find(store, id, deadline_at);
    return status == TP_NONE ? TP_OK : status;
}

tp_status tpi_deadline_compare(struct tpi_store *store, const tp_new_task *task, const char **what) {
    int64_t there = 0;
    if (!task->deadline_at) return TP_OK;
    tp_status status = find(store, task->id, &there);
    if (status == TP_OK && there != task->deadline_at) *what = "deadline";
    return status == TP_NONE ? TP_OK : status;
}
