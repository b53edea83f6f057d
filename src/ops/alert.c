/* tp_alert_each: calls a function for each task that reached the failed pool, at least once. The settle
 * notes in the history, in its own transaction, that an alert is due, so it cannot be lost when a process
 * dies. A worker takes the alert, calls the function, and then marks the alert as delivered. Must not know
 * how people are alerted. Read next: history.h. */
#include "ops/alert.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/batch.h"
#include "ops/history.h"
#include "ops/refused.h"
#include "ops/schedule.h"
#include "store/record.h"

/* RETRY_MS: how long whoever took an alert has for it, before it is due again for others. */
enum { ALERTS_MAX = 50, RETRY_MS = 60000 };

/* What the history says. */
struct alert {
    char id[TPI_UUID_SIZE], task_id[TPI_UUID_SIZE];
    char handler[TP_HANDLER_MAX + 1];
    char reason[TP_REASON_MAX + 1];
    int64_t attempt, due_at;
};

struct alerts {
    size_t count;
    struct alert list[ALERTS_MAX];
};

/* What the caller asks for. */
struct request {
    struct tpi_alert_request of;
    tp_alert_fn fn;
    void *arg;
};

tp_status tpi_alert_query(const struct tpi_alert_request *request, enum tpi_statement statement,
                          int64_t early, struct tpi_stmt **stmt) {
    struct tpi_args args = {0};
    tpi_args_list(&args, request->handlers, request->handler_count);
    tpi_args_number(&args, TPI_P_at, early);
    tpi_args_number(&args, TPI_P_limit, (int64_t)request->limit);
    return tpi_store_query(&request->conn->store, statement, &args, stmt);
}

static tp_status read_due(const struct tpi_alert_request *request, int64_t early, struct alerts *alerts) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(CHARS, struct alert, id),
        TPI_COLUMN(CHARS, struct alert, task_id),
        TPI_COLUMN(CHARS, struct alert, handler),
        TPI_COLUMN(CHARS, struct alert, reason),
        TPI_COLUMN(NUMBER, struct alert, attempt),
        TPI_COLUMN(NUMBER, struct alert, due_at),
        TPI_COLUMN_END,
    };
    struct tpi_stmt *stmt = NULL;
    tp_status status = tpi_alert_query(request, TPI_S_alert_due, early, &stmt);
    if (status != TP_OK) return status;
    return tpi_record_all(stmt, columns, NULL, alerts->list, sizeof *alerts->list, request->limit,
                          &alerts->count);
}

tp_status tpi_alert_change(tp_conn *conn, enum tpi_statement statement, const char *id, int64_t at,
                           int64_t before) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_history_id, id);
    tpi_args_number(&args, TPI_P_at, at);
    tpi_args_number(&args, TPI_P_before, before);
    return tpi_store_change_one(&conn->store, statement, &args);
}

tp_status tpi_alert_judge(const struct tpi_alert_request *request, int64_t early, const char *id,
                          int64_t due_at) {
    struct tpi_alert_request first = *request;
    struct alerts *due = calloc(1, sizeof *due);
    bool same = false;
    if (!due) return tpi_error(TP_NOMEM, "out of memory");
    first.limit = ALERTS_MAX;
    tp_status status = read_due(&first, early, due);
    for (size_t i = 0; i < due->count; i++)
        same = same || (strcmp(due->list[i].id, id) == 0 && due->list[i].due_at == due_at);
    free(due);
    if (status != TP_OK) return status;
    return same ? tpi_refused_silently(&request->conn->store, "let no alert be taken", "history") : TP_NONE;
}

static tp_status take(const struct request *request, const struct alert *alert, int64_t now) {
    tp_status status =
        tpi_alert_change(request->of.conn, TPI_S_alert_take, alert->id, now + RETRY_MS, alert->due_at);
    if (status != TP_NONE) return status;
    return tpi_alert_judge(&request->of, now + TPI_ALERT_EARLY_MS, alert->id, alert->due_at);
}

/* Takes an alert and calls the function with the task as it is now; when it is gone, with what the history
 * says of it. TP_NONE: another has taken the alert. */
static tp_status give(const struct request *request, const struct alert *alert) {
    tp_conn *conn = request->of.conn;
    tp_task task = {.id = alert->task_id,
                    .handler = alert->handler,
                    .biz_key = "",
                    .dedup_key = "",
                    .params = "",
                    .reason = alert->reason,
                    .state = "failed",
                    .pool = "failed",
                    .owner = "",
                    .failures = (int32_t)alert->attempt};
    tp_batch *batch = NULL;
    int64_t now = 0;
    /* The clock is read for each: however long the calls before took, each gets its time. */
    tp_status status = tpi_ask_now(conn, &now);
    if (status == TP_OK) status = take(request, alert, now);
    if (status != TP_OK) return status;
    status = tp_show(conn, alert->task_id, &batch);
    if (status < TP_OK) return status;
    int answer = request->fn(batch ? tp_batch_task(batch, 0) : &task, alert->reason, request->arg);
    tp_batch_free(batch);
    if (answer != 0) return TP_OK;
    /* When it was taken once more meanwhile, that one marks it. */
    status = tpi_alert_change(conn, TPI_S_alert_done, alert->id, 0, now + RETRY_MS);
    return status == TP_NONE ? TP_OK : status;
}

/* One that a rule of the application's own refuses does not stop the others. */
static tp_status give_all(const struct request *request, const struct alerts *alerts, size_t *given) {
    struct tpi_kept_error refused = {.error = {.status = TP_OK}};
    tp_status status = TP_OK;
    for (size_t i = 0; i < alerts->count && status >= TP_OK; i++) {
        status = give(request, &alerts->list[i]);
        if (status == TP_OK) ++*given;
        if (status != TP_DB) continue;
        refused = tpi_error_keep();
        status = TP_OK;
    }
    if (status < TP_OK || refused.error.status == TP_OK) return status == TP_NONE ? TP_OK : status;
    tpi_error_restore(&refused);
    return TP_DB;
}

tp_status tp_alert_each(tp_conn *conn, const char *const *handlers, size_t handler_count, size_t limit,
                        tp_alert_fn fn, void *arg, size_t *alerted) {
    struct request request = {{conn, handlers, handler_count, limit}, fn, arg};
    int64_t now = 0;
    size_t given = 0;
    tp_status status = tpi_conn_ready_alone(conn, "tp_alert_each");
    if (status != TP_OK) return status;
    if (!handlers || !handler_count || !fn) return tpi_error(TP_MISUSE, "tp_alert_each: an argument is NULL");
    if (handler_count > TP_CLAIM_HANDLERS_MAX)
        return tpi_error(TP_TOOBIG, "tp_alert_each: %zu handlers; at most %d", handler_count,
                         TP_CLAIM_HANDLERS_MAX);
    for (size_t i = 0; i < handler_count && status == TP_OK; i++)
        status = tpi_check_handler(handlers[i]);
    if (status != TP_OK) return status;
    if (limit == 0 || limit > ALERTS_MAX) request.of.limit = ALERTS_MAX;
    struct alerts *alerts = calloc(1, sizeof *alerts);
    if (!alerts) return tpi_error(TP_NOMEM, "out of memory");
    status = tpi_ask_now(conn, &now);
    if (status == TP_OK) status = read_due(&request.of, now + TPI_ALERT_EARLY_MS, alerts);
    if (status == TP_OK) status = give_all(&request, alerts, &given);
    free(alerts);
    if (status == TP_OK && alerted) *alerted = given;
    return status;
}
