/* Calls SQLGetTypeInfo and picks the longest text type. See types.h. */
#include "odbc/types.h"

#include <stdlib.h>

#include "base/error.h"
#include "odbc/stmt.h"

/* Columns of SQLGetTypeInfo, in the order in which they are read. */
static const size_t columns[] = {1, 3, 6};
enum { NAME, SIZE, LENGTH_PARAMS, COLUMNS };

static tp_status read_row(struct tpi_stmt *stmt, struct tpi_buf *row) {
    bool is_null = false;
    tp_status status = tpi_stmt_fetch(stmt);
    for (int i = 0; i < COLUMNS && status == TP_OK; i++) {
        tpi_buf_clear(&row[i]);
        status = tpi_stmt_column(stmt, columns[i], &row[i], &is_null);
    }
    return status;
}

static tp_status pick_longest(struct tpi_stmt *stmt, struct tpi_buf *out) {
    struct tpi_buf row[COLUMNS] = {{0}};
    long long longest = -1;
    tp_status status;
    while ((status = read_row(stmt, row)) == TP_OK) {
        /* A type that wants a length is taken only if there is nothing else. */
        long long size = row[LENGTH_PARAMS].length ? 0 : strtoll(tpi_buf_str(&row[SIZE]), NULL, 10);
        if (size <= longest) continue;
        longest = size;
        tpi_buf_clear(out);
        tpi_buf_text(out, tpi_buf_str(&row[NAME]));
    }
    for (int i = 0; i < COLUMNS; i++)
        tpi_buf_free(&row[i]);
    return status == TP_NONE ? TP_OK : status;
}

tp_status tpi_types_long_text(struct tpi_link *link, struct tpi_buf *out) {
    struct tpi_stmt stmt = {.link = link, .name = "type_info", .open = true};
    if (!SQL_SUCCEEDED(TPI_ODBC(link, SQLAllocHandle, SQL_HANDLE_STMT, link->dbc, &stmt.handle)))
        return tpi_link_failed(link, SQL_HANDLE_DBC, link->dbc);
    bool answered = SQL_SUCCEEDED(TPI_ODBC(link, SQLGetTypeInfo, stmt.handle, SQL_LONGVARCHAR));
    tp_status status =
        answered ? pick_longest(&stmt, out) : tpi_link_failed(link, SQL_HANDLE_STMT, stmt.handle);
    tpi_stmt_close(&stmt);
    tpi_stmt_free(&stmt);
    if (status == TP_OK && out->failed) return tpi_link_no_memory(link);
    if (status == TP_OK && out->length == 0)
        return tpi_error(TP_UNSUPPORTED,
                         "the driver names no type for long text; install the schema script by hand");
    return status;
}
