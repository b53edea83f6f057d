/* The history is written by whoever does what it tells of, in the same transaction, and read by people and by
 * settles that ask what their first try did. It decides nothing else. Read next: settle.c. */
#include "ops/history.h"

#include <string.h>

#include "base/error.h"
#include "ops/refused.h"
#include "store/record.h"

enum { EVENT_SIZE = 9 };

void tpi_told_args(struct tpi_told *told, struct tpi_args *args) {
    tpi_uuid_ordered(told->id);
    tpi_who(told->writer);
    tpi_args_text(args, TPI_P_history_id, told->id);
    tpi_args_text(args, TPI_P_id, told->task_id);
    tpi_args_text(args, TPI_P_handler, told->handler);
    tpi_args_text(args, TPI_P_event, told->event);
    tpi_args_text(args, TPI_P_token, told->owner);
    tpi_args_text(args, TPI_P_who, told->who && *told->who ? told->who : told->writer);
    tpi_args_text(args, TPI_P_reason, told->reason);
    if (told->attempt) tpi_args_number(args, TPI_P_attempt, told->attempt);
    if (told->alert) tpi_args_number(args, TPI_P_alert_ms, TPI_ALERT_MS);
}

tp_status tpi_history_add(tp_conn *conn, struct tpi_told *told) {
    struct tpi_args args = {0};
    tpi_told_args(told, &args);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_history_add, &args);
    return status == TP_NONE ? tpi_refused_silently(&conn->store, "stored no row", "history") : status;
}

tp_status tpi_history_failed(tp_conn *conn, const char *task_id, const char *token, bool *last) {
    struct tpi_args args = {0};
    static const struct tpi_column only[] = {{TPI_READ_CHARS, 0, EVENT_SIZE}, TPI_COLUMN_END};
    char event[EVENT_SIZE];
    tpi_args_text(&args, TPI_P_id, task_id);
    tpi_args_text(&args, TPI_P_token, token);
    tp_status status = tpi_store_read(&conn->store, TPI_S_history_failed, &args, only, NULL, event);
    if (status != TP_OK) return status;
    *last = strcmp(event, TPI_TOLD_GAVE_UP) == 0;
    conn->store.link.seen = true;
    return TP_OK;
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

enum { DEFAULT_LIMIT = 100 };

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

/* TP_NONE: there was none. */
static tp_status see_all(struct tpi_stmt *stmt, size_t limit, tp_history_fn see, void *arg) {
    struct tpi_texts texts = {0};
    tp_history event;
    tp_status status = TP_OK;
    size_t seen = 0;
    while ((limit == 0 || seen < limit) &&
           (status = tpi_record_next(stmt, columns, &texts, &event)) == TP_OK) {
        see(&event, arg);
        seen++;
        tpi_texts_clear(&texts);
    }
    tpi_stmt_close(stmt);
    tpi_texts_free(&texts);
    return status == TP_NONE && seen ? TP_OK : status;
}

tp_status tp_history_each(tp_conn *conn, const char *task_id, size_t limit, tp_history_fn see, void *arg) {
    char id[TPI_UUID_SIZE];
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see) return tpi_error(TP_MISUSE, "tp_history_each: see is NULL");
    if (limit > INT32_MAX) return tpi_error(TP_TOOBIG, "a limit of %zu; at most %d", limit, INT32_MAX);
    if (task_id) {
        status = tpi_check_uuid("the task's id", task_id, id);
        if (status != TP_OK) return status;
        tpi_args_text(&args, TPI_P_id, id);
        status = tpi_store_query(&conn->store, TPI_S_history_task, &args, &stmt);
        return status == TP_OK ? see_all(stmt, 0, see, arg) : status;
    }
    if (limit == 0) limit = DEFAULT_LIMIT;
    tpi_args_number(&args, TPI_P_limit, (int64_t)limit);
    status = tpi_store_query(&conn->store, TPI_S_history_last, &args, &stmt);
    return status == TP_OK ? see_all(stmt, limit, see, arg) : status;
}
