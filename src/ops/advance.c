/* Simulates the passing of time in tests of applications: moves all times that are compared with the
 * database's clock into the past. Read next: sql/common/advance_*.sql. */
#include "base/error.h"
#include "ops/gate.h"

static const enum tpi_statement statements[] = {
    TPI_S_advance_pending, TPI_S_advance_finished, TPI_S_advance_failed,   TPI_S_advance_history,
    TPI_S_advance_once,    TPI_S_advance_schedule, TPI_S_advance_step,     TPI_S_advance_progress,
    TPI_S_advance_cancel,  TPI_S_advance_worker,   TPI_S_advance_activity, TPI_S_advance_activity_end};

static tp_status advance(tp_conn *conn, int64_t ms) {
    struct tpi_store *store = &conn->store;
    tp_status status = TP_OK;
    for (size_t i = 0; i < sizeof statements / sizeof statements[0] && status == TP_OK; i++) {
        struct tpi_args args = {0};
        int64_t rows = 0;
        tpi_args_number(&args, TPI_P_delay_ms, ms);
        status = tpi_store_change(store, statements[i], &args, &rows);
    }
    return status == TP_OK ? tpi_gates_advance(conn, ms) : status;
}

tp_status tp_test_advance(tp_conn *conn, int64_t ms) {
    struct tpi_scope scope;
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK) status = tpi_check_duration("ms", ms);
    if (status == TP_OK) status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    return tpi_scope_end(conn, &scope, advance(conn, ms));
}
