/* See types.h. */
#include "odbc/types.h"

#include <stdlib.h>

#include "base/error.h"
#include "odbc/stmt.h"

/* Columns of SQLGetTypeInfo. */
enum { TYPE_NAME = 1, COLUMN_SIZE = 3, CREATE_PARAMS = 6 };

struct row {
    struct tpi_buf name, size, params;
};

static tp_status read_row(struct tpi_stmt *stmt, struct row *row) {
    bool is_null = false;
    tpi_buf_clear(&row->name);
    tpi_buf_clear(&row->size);
    tpi_buf_clear(&row->params);
    tp_status status = tpi_stmt_fetch(stmt);
    if (status == TP_OK) status = tpi_stmt_column(stmt, TYPE_NAME, &row->name, &is_null);
    if (status == TP_OK) status = tpi_stmt_column(stmt, COLUMN_SIZE, &row->size, &is_null);
    if (status == TP_OK) status = tpi_stmt_column(stmt, CREATE_PARAMS, &row->params, &is_null);
    return status;
}

static tp_status pick_longest(struct tpi_stmt *stmt, struct tpi_buf *out) {
    struct row row = {0};
    long long longest = -1;
    tp_status status;
    while ((status = read_row(stmt, &row)) == TP_OK) {
        long long size = strtoll(tpi_buf_str(&row.size), NULL, 10);
        if (row.params.length) size = 0; /* wants a length: only if there is nothing else */
        if (size <= longest) continue;
        longest = size;
        tpi_buf_clear(out);
        tpi_buf_text(out, tpi_buf_str(&row.name));
    }
    tpi_buf_free(&row.name);
    tpi_buf_free(&row.size);
    tpi_buf_free(&row.params);
    return status == TP_NONE ? TP_OK : status;
}

tp_status tpi_types_long_text(struct tpi_link *link, struct tpi_buf *out) {
    struct tpi_stmt stmt = {.link = link, .name = "type_info", .open = true};
    if (!SQL_SUCCEEDED(TPI_ODBC(link, SQLAllocHandle, SQL_HANDLE_STMT, link->dbc, &stmt.handle)))
        return tpi_link_failed(link, SQL_HANDLE_DBC, link->dbc);
    tp_status status = TP_OK;
    if (!SQL_SUCCEEDED(TPI_ODBC(link, SQLGetTypeInfo, stmt.handle, SQL_LONGVARCHAR)))
        status = tpi_link_failed(link, SQL_HANDLE_STMT, stmt.handle);
    if (status == TP_OK) status = pick_longest(&stmt, out);
    tpi_stmt_close(&stmt);
    tpi_stmt_free(&stmt);
    if (status == TP_OK && out->failed) return tpi_link_no_memory(link);
    if (status == TP_OK && out->length == 0)
        return tpi_error(TP_UNSUPPORTED,
                         "the driver names no type for long text; install the schema script by hand");
    return status;
}
