/* The history is written by whoever does what it tells of, in the same transaction, and read by people and by
 * settles that ask what their first try did. It decides nothing else. Read next: settle.c. */
#include "ops/history.h"

#include <string.h>

#include "base/error.h"
#include "ops/batch.h"
#include "ops/refused.h"

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
    struct tpi_stmt *stmt = NULL;
    struct tpi_buf event = {0};
    bool is_null = false;
    tpi_args_text(&args, TPI_P_id, task_id);
    tpi_args_text(&args, TPI_P_token, token);
    tp_status status = tpi_store_query(&conn->store, TPI_S_history_failed, &args, &stmt);
    if (status != TP_OK) return status;
    status = tpi_stmt_fetch(stmt);
    if (status == TP_OK) status = tpi_stmt_column(stmt, 1, &event, &is_null);
    tpi_stmt_close(stmt);
    if (status == TP_OK) {
        *last = strcmp(tpi_buf_str(&event), TPI_TOLD_GAVE_UP) == 0;
        conn->store.link.seen = true;
    }
    tpi_buf_free(&event);
    return status;
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

enum { TASK_ID = 0, OWNER = 3, TEXTS = 6, DEFAULT_LIMIT = 100 };

/* Columns: task_id handler event owner who reason attempt created_at. */
struct reading {
    struct tpi_buf text[TEXTS];
    tp_history event;
};

static tp_status read_event(struct tpi_stmt *stmt, struct reading *reading) {
    tp_history *event = &reading->event;
    const char **texts[TEXTS] = {&event->task_id, &event->handler, &event->event,
                                 &event->owner,   &event->who,     &event->reason};
    int64_t attempt = 0;
    tp_status status = tpi_stmt_fetch(stmt);
    for (size_t i = 0; i < TEXTS && status == TP_OK; i++) {
        bool is_null = false;
        tpi_buf_clear(&reading->text[i]);
        status = tpi_stmt_column(stmt, i + 1, &reading->text[i], &is_null);
        if (i == TASK_ID || i == OWNER) tpi_buf_lower(&reading->text[i]);
        *texts[i] = tpi_buf_str(&reading->text[i]);
    }
    if (status == TP_OK) status = tpi_batch_number(stmt, TEXTS + 1, &attempt);
    if (status == TP_OK) status = tpi_batch_number(stmt, TEXTS + 2, &event->at);
    event->attempt = (int32_t)attempt;
    return status;
}

/* TP_NONE: there was none. */
static tp_status see_all(struct tpi_stmt *stmt, size_t limit, tp_history_fn see, void *arg) {
    struct reading reading = {0};
    tp_status status = TP_OK;
    size_t seen = 0;
    while ((limit == 0 || seen < limit) && (status = read_event(stmt, &reading)) == TP_OK) {
        see(&reading.event, arg);
        seen++;
    }
    tpi_stmt_close(stmt);
    for (size_t i = 0; i < TEXTS; i++)
        tpi_buf_free(&reading.text[i]);
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
