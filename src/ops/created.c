/* tp_created_each: what was put in within a period, wherever it is now, for whoever adds it up. It changes
 * nothing and takes no lock. */
#include "base/error.h"
#include "ops/conn.h"
#include "ops/new_task.h"
#include "store/cursor.h"

enum { CLOCKS_DIFFER_MS = 24 * 60 * 60 * 1000 };

static const struct tpi_column columns[] = {
    TPI_COLUMN(TEXT, tp_created, pool),    TPI_COLUMN(UUID, tp_created, id),
    TPI_COLUMN(TEXT, tp_created, handler), TPI_COLUMN(TEXT, tp_created, state),
    TPI_COLUMN(INT, tp_created, failures), TPI_COLUMN(NUMBER, tp_created, created_at),
    TPI_COLUMN(TEXT, tp_created, params),  TPI_COLUMN_END,
};

static tp_status check(int64_t from, int64_t until, const char *handler, tp_created_fn see) {
    if (!see) return tpi_error(TP_MISUSE, "tp_created_each: see is NULL");
    if (from < 0 || until > TP_TIME_MAX || from >= until)
        return tpi_error(TP_MISUSE,
                         "tp_created_each: from must be before until, and both within 1970 and 9999");
    return handler ? tpi_check_handler(handler) : TP_OK;
}

tp_status tp_created_each(tp_conn *conn, int64_t from, int64_t until, const char *handler, tp_created_fn see,
                          void *arg) {
    struct tpi_args args = {0};
    struct tpi_cursor cursor;
    tp_created task;
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK) status = check(from, until, handler, see);
    if (status != TP_OK) return status;
    tpi_args_number(&args, TPI_P_since, from);
    tpi_args_number(&args, TPI_P_before, until);
    tpi_args_number(&args, TPI_P_settled_since, from - CLOCKS_DIFFER_MS);
    tpi_args_text(&args, TPI_P_handler, handler);
    tpi_cursor_open(&cursor, &conn->store, TPI_S_created_each, &args, columns, SIZE_MAX);
    while (tpi_cursor_next(&cursor, &task))
        see(&task, arg);
    return tpi_cursor_close(&cursor);
}
