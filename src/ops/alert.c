/* Telling somebody of each task that reached the failed pool, at least once. The settle left a note in the
 * history, in its own transaction, so that no death can swallow it; whoever takes the note tells, and then
 * strikes it out. It does not know how people are told. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/batch.h"
#include "ops/history.h"
#include "ops/refused.h"
#include "ops/schedule.h"
#include "store/record.h"

/* RETRY_MS: how long whoever took a note has for telling, before it is another's turn. EARLY_MS: sessions of
 * databases whose clock is carried on by the client differ by up to a second; a note is due at once by all.
 */
enum { ALERTS_MAX = 50, RETRY_MS = 60000, EARLY_MS = 1500 };

struct note {
    char id[TPI_UUID_SIZE], task_id[TPI_UUID_SIZE];
    char handler[TP_HANDLER_MAX + 1];
    char reason[TP_REASON_MAX + 1];
    int64_t attempt, alert_at;
};

struct notes {
    size_t count;
    struct note list[ALERTS_MAX];
};

struct asked {
    tp_conn *conn;
    const char *const *handlers;
    size_t count, limit;
    tp_alert_fn fn;
    void *arg;
};

/* ---- Reading ------------------------------------------------------------------------------------------- */

static const struct tpi_column columns[] = {
    TPI_COLUMN(CHARS, struct note, id),
    TPI_COLUMN(CHARS, struct note, task_id),
    TPI_COLUMN(CHARS, struct note, handler),
    TPI_COLUMN(CHARS, struct note, reason),
    TPI_COLUMN(NUMBER, struct note, attempt),
    TPI_COLUMN(NUMBER, struct note, alert_at),
    TPI_COLUMN_END,
};

static tp_status read_due(const struct asked *asked, int64_t now, struct notes *notes) {
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    tpi_args_list(&args, asked->handlers, asked->count);
    tpi_args_number(&args, TPI_P_at, now + EARLY_MS);
    tpi_args_number(&args, TPI_P_limit, (int64_t)asked->limit);
    tp_status status = tpi_store_query(&asked->conn->store, TPI_S_alert_due, &args, &stmt);
    if (status != TP_OK) return status;
    return tpi_record_all(stmt, columns, NULL, notes->list, sizeof *notes->list, asked->limit, &notes->count);
}

/* ---- Telling ------------------------------------------------------------------------------------------- */

static tp_status change_note(tp_conn *conn, enum tpi_statement statement, const struct note *note, int64_t at,
                             int64_t before) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_history_id, note->id);
    tpi_args_number(&args, TPI_P_at, at);
    tpi_args_number(&args, TPI_P_before, before);
    return tpi_store_change_one(&conn->store, statement, &args);
}

/* The task as it is now; when it is gone, what the note says of it. */
static tp_status call(tp_conn *conn, const struct note *note, tp_alert_fn fn, void *arg, bool *told) {
    tp_task task = {.id = note->task_id,
                    .handler = note->handler,
                    .biz_key = "",
                    .dedup_key = "",
                    .params = "",
                    .reason = note->reason,
                    .state = "failed",
                    .pool = "failed",
                    .owner = "",
                    .failures = (int32_t)note->attempt};
    tp_batch *batch = NULL;
    tp_status status = tp_show(conn, note->task_id, &batch);
    if (status < TP_OK) return status;
    *told = fn(batch ? tp_batch_task(batch, 0) : &task, note->reason, arg) == 0;
    tp_batch_free(batch);
    return TP_OK;
}

/* TP_NONE: another has; then it is not due as it was. */
static tp_status take(const struct asked *asked, const struct note *note, int64_t now, int64_t again_at) {
    tp_status status = change_note(asked->conn, TPI_S_alert_take, note, again_at, note->alert_at);
    if (status != TP_NONE) return status;
    struct notes *due = calloc(1, sizeof *due);
    if (!due) return tpi_error(TP_NOMEM, "out of memory");
    bool same = false;
    status = read_due(asked, now, due);
    for (size_t i = 0; i < due->count; i++)
        same = same || (strcmp(due->list[i].id, note->id) == 0 && due->list[i].alert_at == note->alert_at);
    free(due);
    if (status != TP_OK) return status;
    return same ? tpi_refused_silently(&asked->conn->store, "let no alert be taken", "history") : TP_NONE;
}

/* TP_NONE: another has taken it. */
static tp_status tell_one(const struct asked *asked, const struct note *note, int64_t now) {
    tp_conn *conn = asked->conn;
    bool told = false;
    int64_t again_at = now + RETRY_MS;
    tp_status status = take(asked, note, now, again_at);
    if (status == TP_OK) status = call(conn, note, asked->fn, asked->arg, &told);
    if (status != TP_OK || !told) return status;
    /* When it was taken once more meanwhile, that one strikes it out. */
    status = change_note(conn, TPI_S_alert_done, note, 0, again_at);
    return status == TP_NONE ? TP_OK : status;
}

/* The clock is read for each: however long the calls before took, each gets its time. One that a rule of the
 * application's own refuses does not stop the others. */
static tp_status tell_all(const struct asked *asked, const struct notes *notes, size_t *told) {
    struct tpi_kept_error refused = {.error = {.status = TP_OK}};
    tp_status status = TP_OK;
    int64_t now = 0;
    for (size_t i = 0; i < notes->count && status >= TP_OK; i++) {
        status = tpi_ask_now(asked->conn, &now);
        if (status == TP_OK) status = tell_one(asked, &notes->list[i], now);
        if (status == TP_OK) ++*told;
        if (status != TP_DB) continue;
        refused = tpi_error_keep();
        status = TP_OK;
    }
    if (status < TP_OK || refused.error.status == TP_OK) return status == TP_NONE ? TP_OK : status;
    tpi_error_restore(&refused);
    return TP_DB;
}

static tp_status check(tp_conn *conn, const char *const *handlers, size_t count, tp_alert_fn fn) {
    tp_status status = tpi_conn_ready_alone(conn, "tp_alert_each");
    if (status != TP_OK) return status;
    if (!handlers || !count || !fn) return tpi_error(TP_MISUSE, "tp_alert_each: an argument is NULL");
    if (count > TP_CLAIM_HANDLERS_MAX)
        return tpi_error(TP_TOOBIG, "tp_alert_each: %zu handlers; at most %d", count, TP_CLAIM_HANDLERS_MAX);
    for (size_t i = 0; i < count && status == TP_OK; i++)
        status = tpi_check_handler(handlers[i]);
    return status;
}

tp_status tp_alert_each(tp_conn *conn, const char *const *handlers, size_t handler_count, size_t limit,
                        tp_alert_fn fn, void *arg, size_t *told) {
    struct asked asked = {conn, handlers, handler_count, limit, fn, arg};
    int64_t now = 0;
    size_t called = 0;
    tp_status status = check(conn, handlers, handler_count, fn);
    if (status != TP_OK) return status;
    if (limit == 0 || limit > ALERTS_MAX) asked.limit = ALERTS_MAX;
    struct notes *notes = calloc(1, sizeof *notes);
    if (!notes) return tpi_error(TP_NOMEM, "out of memory");
    status = tpi_ask_now(conn, &now);
    if (status == TP_OK) status = read_due(&asked, now, notes);
    if (status == TP_OK) status = tell_all(&asked, notes, &called);
    free(notes);
    if (status == TP_OK && told) *told = called;
    return status;
}
