/* How far the runs of tasks are: written for a run by its claim, beside the task's own row and transaction,
 * so that it is seen at once and locks no task. Each claim has a row of its own, so none writes over
 * another's. Must not know when a run tells of itself; read next: worker/progress_writer.c. */
#include "ops/task_progress.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/for_workers.h"
#include "ops/refused.h"
#include "ops/settle.h"
#include "store/cursor.h"

enum { FORGET_MS = 24 * 3600 * 1000 }; /* what was not written for so long, and holds no task */

/* ---- For the run --------------------------------------------------------------------------------------- */

static void key_args(const struct tpi_progress_row *row, struct tpi_args *args) {
    *args = (struct tpi_args){0};
    tpi_args_text(args, TPI_P_id, row->task_id);
    tpi_args_text(args, TPI_P_token, row->owner);
}

static tp_status set(struct tpi_store *store, void *args) {
    return tpi_store_change_one(store, TPI_S_progress_set, args);
}

tp_status tpi_progress_write(tp_conn *conn, const struct tpi_progress_row *row) {
    struct tpi_args args;
    tp_status status = tpi_conn_ready_alone(conn, "tpi_progress_write");
    if (status != TP_OK) return status;
    key_args(row, &args);
    tpi_args_number(&args, TPI_P_percent, row->percent);
    tpi_args_text(&args, TPI_P_message, row->message);
    status = set(&conn->store, &args);
    if (status != TP_NONE) return status;
    status = tpi_store_change_one(&conn->store, TPI_S_progress_add, &args);
    if (status == TP_NONE) return tpi_refused_silently(&conn->store, "stored no row", "progress");
    return tpi_refused_judge(&conn->store, status, "progress", set, &args);
}

tp_status tpi_progress_end(tp_conn *conn, const struct tpi_progress_row *row) {
    struct tpi_args args;
    int64_t rows = 0;
    tp_status status = tpi_conn_ready_alone(conn, "tpi_progress_end");
    if (status != TP_OK) return status;
    key_args(row, &args);
    return tpi_store_change(&conn->store, TPI_S_progress_end, &args, &rows);
}

tp_status tp_progress_set(tp_conn *conn, const tp_task *task, int percent, const char *message) {
    struct tpi_progress_row row = {.percent = percent < 0 ? -1 : percent > 100 ? 100 : percent};
    bool nothing = row.percent < 0 && !(message && *message);
    tp_status status = tpi_conn_ready_alone(conn, "tp_progress_set");
    if (status == TP_OK) status = tpi_settle_check(task);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    tpi_utf8_copy(task->id, row.task_id, sizeof row.task_id);
    tpi_utf8_copy(task->owner, row.owner, sizeof row.owner);
    tpi_utf8_copy(message ? message : "", row.message, sizeof row.message);
    return nothing ? tpi_progress_end(conn, &row) : tpi_progress_write(conn, &row);
}

bool tpi_conn_writes_alone(const tp_conn *conn) {
    return conn->store.caps & TPI_CAP_ONE_WRITER;
}

/* ---- What is left over --------------------------------------------------------------------------------- */

tp_status tpi_progress_forget(tp_conn *conn) {
    struct tpi_args args = {0};
    int64_t now = 0, rows = 0;
    tp_status status = tpi_conn_ready_alone(conn, "tpi_progress_forget");
    if (status == TP_OK) status = tpi_ask_now(conn, &now);
    if (status != TP_OK) return status;
    tpi_args_number(&args, TPI_P_before, now - FORGET_MS);
    return tpi_store_change(&conn->store, TPI_S_progress_forget, &args, &rows);
}

tp_status tpi_progress_erase(tp_conn *conn, const char *const *ids, size_t count) {
    struct tpi_args args = {0};
    int64_t rows = 0;
    tpi_args_list(&args, ids, count);
    return tpi_store_change(&conn->store, TPI_S_progress_purge, &args, &rows);
}

/* ---- For people ---------------------------------------------------------------------------------------- */

static const struct tpi_column columns[] = {
    TPI_COLUMN(ID, tp_progress, owner),
    TPI_COLUMN(INT, tp_progress, percent),
    TPI_COLUMN(TEXT, tp_progress, message),
    TPI_COLUMN(NUMBER, tp_progress, at),
    TPI_COLUMN_END,
};

/* By plan hold nothing in the task's row says whose it is: then it is the last claim's. */
tp_status tp_progress_of(tp_conn *conn, const tp_task *task, tp_progress_fn see, void *arg) {
    struct tpi_args args = {0};
    struct tpi_cursor cursor;
    tp_progress progress;
    bool seen = false;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!task || !see) return tpi_error(TP_MISUSE, "tp_progress_of: task and see must not be NULL");
    bool handling = strcmp(task->state, "handling") == 0;
    if (strcmp(task->pool, "pending") != 0) return TP_NONE;
    tpi_args_text(&args, TPI_P_id, task->id);
    tpi_cursor_open(&cursor, &conn->store, TPI_S_progress_of, &args, columns, SIZE_MAX);
    while (tpi_cursor_next(&cursor, &progress)) {
        if (seen || (handling && strcmp(progress.owner, task->owner) != 0)) continue;
        see(&progress, arg);
        seen = true;
    }
    status = tpi_cursor_close(&cursor);
    return status == TP_OK && !seen ? TP_NONE : status;
}
