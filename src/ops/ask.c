/* See ask.h. */
#include "ops/ask.h"

#include "base/error.h"
#include "store/record.h"

tp_status tpi_ask_number(tp_conn *conn, enum tpi_statement statement, struct tpi_args *args,
                         int64_t *number) {
    static const struct tpi_column only[] = TPI_COLUMN_ONLY(EXACT);
    tp_status status = tpi_store_read(&conn->store, statement, args, only, NULL, number);
    if (status != TP_NONE) return status;
    return tpi_error(TP_SCHEMA, "the pool's meta table is empty; run 'taskpool schema install'");
}

tp_status tpi_ask_now(tp_conn *conn, int64_t *now_ms) {
    struct tpi_args none = {0};
    return tpi_ask_number(conn, TPI_S_now, &none, now_ms);
}
