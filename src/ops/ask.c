/* See ask.h. */
#include "ops/ask.h"

#include "base/error.h"
#include "ops/batch.h"

tp_status tpi_ask_number(tp_conn *conn, enum tpi_statement statement, struct tpi_args *args,
                         int64_t *number) {
    struct tpi_stmt *stmt = NULL;
    tp_status status = tpi_store_query(&conn->store, statement, args, &stmt);
    if (status != TP_OK) return status;
    status = tpi_stmt_fetch(stmt);
    if (status == TP_OK) status = tpi_batch_number_exact(stmt, 1, number);
    tpi_stmt_close(stmt);
    if (status != TP_NONE) return status;
    return tpi_error(TP_SCHEMA, "the pool's meta table is empty; run 'taskpool schema install'");
}

tp_status tpi_ask_now(tp_conn *conn, int64_t *now_ms) {
    struct tpi_args none = {0};
    return tpi_ask_number(conn, TPI_S_now, &none, now_ms);
}
