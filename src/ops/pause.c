/* Pauses and resumes handlers: writes the row of the pause table and an event of the history. Read next:
 * pause_list.c. */
#include "ops/pause.h"

#include "base/error.h"
#include "base/utf8.h"
#include "ops/audit.h"
#include "ops/refused.h"

/* In the transaction. It is asked first, because a second row would be an error, which ends a transaction
 * around. */
static tp_status pause_handler(tp_conn *conn, struct tpi_args *args) {
    bool found = false;
    tp_status status = tpi_store_exists(&conn->store, TPI_S_pause_find, args, &found);
    if (status != TP_OK || found) return found ? TP_EXISTS : status;
    status = tpi_store_change_one(&conn->store, TPI_S_pause_add, args);
    return status == TP_NONE ? tpi_refused_silently(&conn->store, "stored no row", "pause") : status;
}

/* TP_NONE: it was not paused. */
static tp_status resume_handler(tp_conn *conn, struct tpi_args *args) {
    bool found = false;
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_pause_remove, args);
    if (status != TP_NONE) return status;
    status = tpi_store_exists(&conn->store, TPI_S_pause_find, args, &found);
    if (status != TP_OK) return status;
    return found ? tpi_refused_silently(&conn->store, "kept a row that was to go", "pause") : TP_NONE;
}

/* One transaction: the row, its event and the audit. who "": the connection's actor, or this process. */
static tp_status change(tp_conn *conn, bool pause, const char *handler, const char *who, const char *why) {
    char writer[TPI_WHO_MAX + 1], reason[TP_REASON_MAX + 1];
    struct tpi_args args = {0};
    struct tpi_scope scope;
    tpi_audit_who(conn, who, writer);
    tpi_utf8_copy(why && *why ? why : conn->actor.why, reason, sizeof reason);
    tpi_args_text(&args, TPI_P_handler, handler);
    tpi_args_text(&args, TPI_P_who, writer);
    tpi_args_text(&args, TPI_P_reason, reason);
    struct tpi_history_event event = {
        .handler = handler, .event = pause ? TPI_HISTORY_PAUSED : TPI_HISTORY_RESUMED, .reason = reason};
    struct tpi_act act = {
        .action = event.event, .who = writer, .why = reason, .subject = handler, .changed = 1};
    tp_status status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    status = pause ? pause_handler(conn, &args) : resume_handler(conn, &args);
    if (status == TP_OK) status = tpi_audit_event(conn, &act, &event);
    status = tpi_scope_end(conn, &scope, status);
    tpi_pause_forget(conn);
    return status;
}

static tp_status check(tp_conn *conn, const char *handler) {
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK) status = tpi_audit_ready(conn);
    if (status == TP_OK) status = tpi_check_handler(handler);
    return tpi_conn_doom(conn, status);
}

tp_status tp_pause(tp_conn *conn, const char *handler, const char *who, const char *why) {
    tp_status status = check(conn, handler);
    if (status == TP_OK) status = change(conn, true, handler, who, why);
    if (status != TP_CONFLICT || !tpi_conn_is_alone(conn)) return status;
    /* Somebody else paused it at the same moment: now there is a row. */
    status = change(conn, true, handler, who, why);
    return tpi_refused_judge(&conn->store, status, "pause", NULL, NULL);
}

tp_status tp_resume(tp_conn *conn, const char *handler, const char *who) {
    tp_status status = check(conn, handler);
    return status == TP_OK ? change(conn, false, handler, who, NULL) : status;
}

tp_status tp_paused_each(tp_conn *conn, tp_paused_fn see, void *arg) {
    struct tpi_pauses *pauses = NULL;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see) return tpi_error(TP_MISUSE, "tp_paused_each: see is NULL");
    status = tpi_pauses_read(conn, &pauses);
    if (status != TP_OK) return status;
    for (size_t i = 0; i < pauses->count; i++)
        see(&pauses->all[i], arg);
    status = pauses->count ? TP_OK : TP_NONE;
    tpi_pauses_free(pauses);
    return status;
}
