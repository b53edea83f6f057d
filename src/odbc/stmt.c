/* See stmt.h. */
#include "odbc/stmt.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/trace.h"

static_assert(TPI_SQL_BIGINT == SQL_BIGINT && TPI_SQL_DECIMAL == SQL_DECIMAL,
              "driver.h names ODBC's numbers");

enum { PIECE = 1024, ANSWER = 512 };

static tp_status allocate(struct tpi_link *link, const char *name, struct tpi_stmt *stmt) {
    *stmt = (struct tpi_stmt){.link = link, .name = name};
    tp_status status = tpi_link_usable(link);
    if (status != TP_OK) return status;
    link->statement = name;
    SQLRETURN answer = TPI_ODBC(link, SQLAllocHandle, SQL_HANDLE_STMT, link->dbc, &stmt->handle);
    return SQL_SUCCEEDED(answer) ? TP_OK : tpi_link_failed(link, SQL_HANDLE_DBC, link->dbc);
}

static tp_status failed(struct tpi_stmt *stmt) {
    stmt->link->statement = stmt->name;
    tp_status status = tpi_link_failed(stmt->link, SQL_HANDLE_STMT, stmt->handle);
    tpi_stmt_close(stmt);
    return status;
}

tp_status tpi_stmt_prepare(struct tpi_link *link, const char *name, const char *sql, struct tpi_stmt *stmt) {
    tp_status status = allocate(link, name, stmt);
    if (status != TP_OK) return status;
    link->counters.round_trips += link->driver->trips.prepare;
    if (SQL_SUCCEEDED(TPI_ODBC(link, SQLPrepare, stmt->handle, (SQLCHAR *)sql, SQL_NTS))) return TP_OK;
    status = failed(stmt);
    tpi_stmt_free(stmt);
    return status;
}

void tpi_stmt_free(struct tpi_stmt *stmt) {
    if (stmt->handle) TPI_ODBC_SURE(stmt->link, SQLFreeHandle, SQL_HANDLE_STMT, stmt->handle);
    stmt->handle = NULL;
}

tp_status tpi_stmt_bind(struct tpi_stmt *stmt, size_t i, enum tpi_bind kind, const char *text, size_t length,
                        SQLLEN *indicator) {
    static const SQLSMALLINT types[] = {SQL_VARCHAR, SQL_LONGVARCHAR, SQL_BIGINT};
    SQLSMALLINT type = kind == TPI_BIND_NUMBER ? stmt->link->driver->number_type : types[kind];
    *indicator = text ? (SQLLEN)length : SQL_NULL_DATA;
    SQLRETURN answer = TPI_ODBC(stmt->link, SQLBindParameter, stmt->handle, (SQLUSMALLINT)i, SQL_PARAM_INPUT,
                                SQL_C_CHAR, type, kind == TPI_BIND_NUMBER ? 19 : (length ? length : 1), 0,
                                (SQLPOINTER)text, (SQLLEN)length, indicator);
    return SQL_SUCCEEDED(answer) ? TP_OK : failed(stmt);
}

tp_status tpi_stmt_execute(struct tpi_stmt *stmt) {
    struct tpi_link *link = stmt->link;
    tp_status status = tpi_link_usable(link);
    if (status != TP_OK) return status;
    link->statement = stmt->name;
    link->counters.statements++;
    link->counters.round_trips +=
        stmt->executed ? link->driver->trips.execute : link->driver->trips.first_execute;
    tpi_trace(TPI_TRACE_STATEMENTS, "%p %s", (void *)link, stmt->name);
    SQLRETURN answer = TPI_ODBC(link, SQLExecute, stmt->handle);
    if (!SQL_SUCCEEDED(answer) && answer != SQL_NO_DATA) return failed(stmt);
    stmt->executed = true;
    stmt->open = true;
    return TP_OK;
}

tp_status tpi_stmt_changed(struct tpi_stmt *stmt, int64_t *rows) {
    SQLLEN count = 0;
    if (!SQL_SUCCEEDED(TPI_ODBC(stmt->link, SQLRowCount, stmt->handle, &count))) return failed(stmt);
    *rows = count > 0 ? count : 0;
    return TP_OK;
}

tp_status tpi_stmt_fetch(struct tpi_stmt *stmt) {
    SQLRETURN answer = TPI_ODBC(stmt->link, SQLFetch, stmt->handle);
    if (SQL_SUCCEEDED(answer)) return TP_OK;
    if (answer != SQL_NO_DATA) return failed(stmt);
    tpi_stmt_close(stmt);
    return TP_NONE;
}

/* A long value comes in pieces: each answer but the last is SUCCESS_WITH_INFO and fills the room up to its
 * NUL. */
tp_status tpi_stmt_column(struct tpi_stmt *stmt, size_t i, struct tpi_buf *out, bool *is_null) {
    size_t room = PIECE;
    *is_null = false;
    for (;;) {
        SQLLEN left = 0;
        if (!tpi_buf_reserve(out, room)) return tpi_link_no_memory(stmt->link);
        SQLRETURN answer = TPI_ODBC(stmt->link, SQLGetData, stmt->handle, (SQLUSMALLINT)i, SQL_C_CHAR,
                                    out->data + out->length, (SQLLEN)room, &left);
        if (!SQL_SUCCEEDED(answer) && answer != SQL_NO_DATA) return failed(stmt);
        /* What the driver leaves in the room when there is nothing is its own affair. */
        if (answer == SQL_NO_DATA || left == SQL_NULL_DATA) {
            out->data[out->length] = '\0';
            *is_null = answer != SQL_NO_DATA;
            return TP_OK;
        }
        bool whole = left != SQL_NO_TOTAL && (size_t)left < room;
        out->length += whole ? (size_t)left : room - 1;
        out->data[out->length] = '\0';
        if (whole) return TP_OK;
        room = left == SQL_NO_TOTAL ? room * 2 : (size_t)left - (room - 1) + 1;
    }
}

/* What was read stands even when closing fails; but the connection may be lost, or the transaction over. */
void tpi_stmt_close(struct tpi_stmt *stmt) {
    bool open = stmt->open && stmt->handle;
    stmt->open = false;
    if (!open || SQL_SUCCEEDED(TPI_ODBC(stmt->link, SQLFreeStmt, stmt->handle, SQL_CLOSE))) return;
    struct tpi_kept_error kept = tpi_error_keep();
    (void)!tpi_link_failed(stmt->link, SQL_HANDLE_STMT, stmt->handle);
    tpi_error_restore(&kept);
}

/* Executes at once, without parameters. */
static tp_status execute_direct(struct tpi_link *link, const char *name, const char *sql,
                                struct tpi_stmt *stmt) {
    tp_status status = allocate(link, name, stmt);
    if (status != TP_OK) return status;
    link->counters.statements++;
    link->counters.round_trips += link->driver->trips.direct;
    tpi_trace(TPI_TRACE_STATEMENTS, "%p %s", (void *)link, name);
    SQLRETURN answer = TPI_ODBC(link, SQLExecDirect, stmt->handle, (SQLCHAR *)sql, SQL_NTS);
    if (!SQL_SUCCEEDED(answer) && answer != SQL_NO_DATA) return failed(stmt);
    stmt->open = true;
    return TP_OK;
}

tp_status tpi_stmt_direct(struct tpi_link *link, const char *name, const char *sql) {
    struct tpi_stmt stmt;
    tp_status status = execute_direct(link, name, sql, &stmt);
    tpi_stmt_free(&stmt);
    return status;
}

/* The first column, cut to the room; "" for NULL. */
static tp_status read_short(struct tpi_stmt *stmt, char *out, size_t size) {
    SQLLEN left = 0;
    SQLRETURN answer =
        TPI_ODBC(stmt->link, SQLGetData, stmt->handle, 1, SQL_C_CHAR, out, (SQLLEN)size, &left);
    if (!SQL_SUCCEEDED(answer) && answer != SQL_NO_DATA) return failed(stmt);
    if (answer == SQL_NO_DATA || left == SQL_NULL_DATA) out[0] = '\0';
    return TP_OK;
}

/* Without memory of its own: what is asked here, such as whether a transaction is open, must not be guessed
 * for want of it. */
tp_status tpi_stmt_ask(struct tpi_link *link, const char *name, const char *sql, char *out, size_t size) {
    struct tpi_stmt stmt;
    char text[ANSWER] = "";
    tp_status status = execute_direct(link, name, sql, &stmt);
    if (status == TP_OK) status = tpi_stmt_fetch(&stmt);
    if (status == TP_OK) status = read_short(&stmt, text, sizeof text);
    if (status >= TP_OK) snprintf(out, size, "%s", text);
    tpi_stmt_close(&stmt);
    tpi_stmt_free(&stmt);
    return status == TP_NONE ? TP_OK : status;
}
