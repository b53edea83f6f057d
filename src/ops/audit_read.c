/* The audit as people read it: rows of the chain, and its end. Read next: audit_check.c. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ops/audit.h"
#include "store/cursor.h"

const struct tpi_column tpi_audit_columns[] = {
    TPI_COLUMN(NUMBER, tp_audit, seq),    TPI_COLUMN(UUID, tp_audit, act),
    TPI_COLUMN(NUMBER, tp_audit, at),     TPI_COLUMN(TEXT, tp_audit, who),
    TPI_COLUMN(TEXT, tp_audit, action),   TPI_COLUMN(TEXT, tp_audit, subject),
    TPI_COLUMN(TEXT, tp_audit, detail),   TPI_COLUMN(NUMBER, tp_audit, changed),
    TPI_COLUMN(TEXT, tp_audit, ids_hash), TPI_COLUMN(UUID, tp_audit, request_id),
    TPI_COLUMN(TEXT, tp_audit, why),      TPI_COLUMN(TEXT, tp_audit, prev_hash),
    TPI_COLUMN(TEXT, tp_audit, hash),     TPI_COLUMN_END,
};

void tpi_audit_args(const tp_audit_request *request, struct tpi_args *args) {
    int64_t seq = request->seq;
    tpi_args_text(args, TPI_P_who, request->who);
    tpi_args_text(args, TPI_P_action, request->action);
    tpi_args_text(args, TPI_P_subject, request->subject);
    tpi_args_number(args, TPI_P_since, request->since ? request->since : INT64_MIN);
    tpi_args_number(args, TPI_P_until, request->until ? request->until : INT64_MAX);
    tpi_args_number(args, TPI_P_seq, seq ? seq : INT64_MIN);
    tpi_args_number(args, TPI_P_before, seq ? seq : INT64_MAX);
    tpi_args_number(args, TPI_P_limit, (int64_t)request->limit);
}

/* Many databases take a guess at how many rows a condition leaves, and read and sort all of them for a page.
 */
static enum tpi_statement statement_for(const tp_audit_request *request) {
    bool all = !request->who && !request->action && !request->subject && !request->since && !request->until;
    if (!request->oldest_first) return TPI_S_audit_last;
    return all ? TPI_S_audit_chain : TPI_S_audit_next;
}

tp_status tp_audit_each(tp_conn *conn, const tp_audit_request *given, tp_audit_fn see, void *arg) {
    enum { DEFAULT_LIMIT = 100 };
    tp_audit_request request = TP_AUDIT_INIT;
    struct tpi_args args = {0};
    struct tpi_cursor cursor;
    tp_audit row;
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK && !see) status = tpi_error(TP_MISUSE, "tp_audit_each: see is NULL");
    if (status == TP_OK && given) status = tpi_read_sized(TPI_SIZED_audit_request, given, &request);
    if (status != TP_OK) return status;
    if (request.limit > INT32_MAX)
        return tpi_error(TP_TOOBIG, "a limit of %zu; at most %d", request.limit, INT32_MAX);
    if (!request.limit) request.limit = DEFAULT_LIMIT;
    tpi_audit_args(&request, &args);
    tpi_cursor_open(&cursor, &conn->store, statement_for(&request), &args, tpi_audit_columns, request.limit);
    while (tpi_cursor_next(&cursor, &row))
        see(&row, arg);
    return tpi_cursor_close(&cursor);
}

static void write_anchor(const tp_audit *row, void *arg) {
    snprintf(arg, TP_ANCHOR_SIZE, "%" PRId64 ":%.64s", row->seq, row->hash);
}

tp_status tp_audit_anchor(tp_conn *conn, char anchor[TP_ANCHOR_SIZE]) {
    tp_audit_request request = TP_AUDIT_INIT;
    request.limit = 1;
    if (!anchor) return tpi_error(TP_MISUSE, "tp_audit_anchor: anchor is NULL");
    tp_status status = tp_audit_each(conn, &request, write_anchor, anchor);
    if (status == TP_NONE) snprintf(anchor, TP_ANCHOR_SIZE, "0:%s", tpi_audit_no_hash);
    return status < TP_OK ? status : TP_OK;
}
