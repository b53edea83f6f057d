/* See history.h. It is read by people, and by settles that ask what their first try did. */
#include "ops/history.h"

#include <string.h>

#include "base/error.h"
#include "ops/refused.h"
#include "store/cursor.h"

void tpi_history_args(struct tpi_history_event *event, struct tpi_args *args) {
    if (!*event->id) tpi_uuid_ordered(event->id);
    tpi_process_name(event->writer);
    tpi_args_text(args, TPI_P_history_id, event->id);
    tpi_args_text(args, TPI_P_id, event->task_id);
    tpi_args_text(args, TPI_P_handler, event->handler);
    tpi_args_text(args, TPI_P_event, event->event);
    tpi_args_text(args, TPI_P_token, event->owner);
    tpi_args_text(args, TPI_P_who, event->who && *event->who ? event->who : event->writer);
    tpi_args_text(args, TPI_P_reason, event->reason);
    if (event->attempt) tpi_args_number(args, TPI_P_attempt, event->attempt);
    if (event->alert) tpi_args_number(args, TPI_P_alert_ms, 0); /* due at once */
}

tp_status tpi_history_add(tp_conn *conn, struct tpi_history_event *event) {
    struct tpi_args args = {0};
    tpi_history_args(event, &args);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_history_add, &args);
    return status == TP_NONE ? tpi_refused_silently(&conn->store, "stored no row", "history") : status;
}

tp_status tpi_history_note(tp_conn *conn, struct tpi_history_event *event, int64_t at) {
    struct tpi_args args = {0};
    int64_t rows = 0;
    tpi_history_args(event, &args);
    tpi_args_number(&args, TPI_P_at, at);
    tp_status status = tpi_store_change_rows(&conn->store, TPI_S_operate_note, &args, 1, &rows);
    return status == TP_OK && rows != 1 ? tpi_refused_silently(&conn->store, "stored no row", "history")
                                        : status;
}

tp_status tpi_history_failed(tp_conn *conn, const char *task_id, const char *token, bool *last) {
    enum { EVENT_SIZE = 9 };
    static const struct tpi_column only[] = {{TPI_READ_CHARS, 0, EVENT_SIZE}, TPI_COLUMN_END};
    struct tpi_args args = {0};
    char event[EVENT_SIZE];
    tpi_args_text(&args, TPI_P_id, task_id);
    tpi_args_text(&args, TPI_P_token, token);
    tp_status status = tpi_store_read(&conn->store, TPI_S_history_failed, &args, only, NULL, event);
    if (status != TP_OK) return status;
    *last = strcmp(event, TPI_HISTORY_GAVE_UP) == 0;
    conn->store.link.tx_state.seen = true;
    return TP_OK;
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

static const struct tpi_column columns[] = {
    TPI_COLUMN(UUID, tp_history, task_id),
    TPI_COLUMN(TEXT, tp_history, handler),
    TPI_COLUMN(TEXT, tp_history, event),
    TPI_COLUMN(UUID, tp_history, owner),
    TPI_COLUMN(TEXT, tp_history, who),
    TPI_COLUMN(TEXT, tp_history, reason),
    TPI_COLUMN(INT, tp_history, attempt),
    TPI_COLUMN(NUMBER, tp_history, at),
    TPI_COLUMN_END,
};

/* With a task's id all its events, else the last of all. TP_NONE: there was none. */
tp_status tp_history_each(tp_conn *conn, const char *task_id, size_t limit, tp_history_fn see, void *arg) {
    enum { DEFAULT_LIMIT = 100 };
    char id[TPI_UUID_SIZE];
    struct tpi_args args = {0};
    struct tpi_cursor cursor;
    tp_history event;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see) return tpi_error(TP_MISUSE, "tp_history_each: see is NULL");
    if (limit > INT32_MAX) return tpi_error(TP_TOOBIG, "a limit of %zu; at most %d", limit, INT32_MAX);
    if (task_id) {
        status = tpi_check_uuid("the task's id", task_id, id);
        if (status != TP_OK) return status;
        tpi_args_text(&args, TPI_P_id, id);
        limit = SIZE_MAX;
    } else {
        if (limit == 0) limit = DEFAULT_LIMIT;
        tpi_args_number(&args, TPI_P_limit, (int64_t)limit);
    }
    tpi_cursor_open(&cursor, &conn->store, task_id ? TPI_S_history_task : TPI_S_history_last, &args, columns,
                    limit);
    while (tpi_cursor_next(&cursor, &event))
        see(&event, arg);
    return tpi_cursor_close(&cursor);
}
