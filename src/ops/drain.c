/* Asks workers to end, by a mark on their rows, which they read with their heartbeat. Read next:
 * worker/heartbeat.c. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/audit.h"
#include "ops/operate.h"
#include "ops/worker_rows.h"
#include "store/store.h"

static bool is_meant(const tp_worker_row *row, const char *what) {
    char id[TPI_UUID_SIZE];
    if (strcmp(row->state, "running") != 0 && strcmp(row->state, "stopping") != 0) return false;
    if (strcmp(row->host, what) == 0 || strcmp(row->name, what) == 0) return true;
    return tpi_uuid_normal(what, id) && strcmp(row->id, id) == 0;
}

/* TP_NONE: it has ended meanwhile. */
static tp_status mark(tp_conn *conn, const tp_worker_row *row, const char *who, int64_t now) {
    struct tpi_args args = {0};
    char reason[TP_REASON_MAX + 1], line[TP_REASON_MAX + TP_ID_SIZE];
    tpi_args_text(&args, TPI_P_id, row->id);
    tpi_args_text(&args, TPI_P_who, row->drain_at ? row->drain_who : who);
    tpi_args_number(&args, TPI_P_at, now);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_worker_drain, &args);
    if (status != TP_OK || row->drain_at) return status;
    snprintf(line, sizeof line, "worker %s %s", row->id, row->name);
    tpi_utf8_copy(line, reason, sizeof reason);
    struct tpi_history_event event = {.event = TPI_HISTORY_DRAINED, .who = who, .reason = reason};
    return tpi_history_note(conn, &event, now);
}

/* Of those that were asked before nothing is recorded again. */
static tp_status mark_all(tp_conn *conn, const char *what, const char *who, size_t *asked) {
    struct tpi_worker_rows rows;
    tp_status status = tpi_worker_rows_read(conn, INT64_MIN, NULL, &rows);
    struct tpi_act act = {.action = TPI_HISTORY_DRAINED, .who = who, .subject = what, .at = rows.now};
    for (size_t i = 0; i < rows.count && status >= TP_OK; i++) {
        const tp_worker_row *row = &rows.all[i];
        if (!is_meant(row, what)) continue;
        status = mark(conn, row, who, rows.now);
        if (status == TP_OK) ++*asked;
        if (status == TP_OK && !row->drain_at) act.changed++;
    }
    tpi_worker_rows_free(&rows);
    if (status >= TP_OK && act.changed) status = tpi_audit_add(conn, &act);
    return status < TP_OK ? status : TP_OK;
}

tp_status tp_drain(tp_conn *conn, const char *host_or_worker, const char *who, size_t *asked) {
    char name[TPI_WHO_MAX + 1];
    struct tpi_scope scope;
    size_t count = 0;
    tp_status status = tpi_conn_ready_alone(conn, "tp_drain");
    if (status != TP_OK) return status;
    if (!host_or_worker || !*host_or_worker)
        return tpi_error(TP_MISUSE, "tp_drain needs a host, or the name or id of a worker");
    if (!who || !*who)
        return tpi_error(TP_MISUSE, "tp_drain: who is required; it is recorded in the history");
    tpi_utf8_copy(who, name, sizeof name);
    status = tpi_scope_begin(conn, &scope);
    if (status == TP_OK) status = mark_all(conn, host_or_worker, name, &count);
    status = tpi_scope_end(conn, &scope, status);
    if (status != TP_OK) return status;
    if (asked) *asked = count;
    return count ? TP_OK : TP_NONE;
}
