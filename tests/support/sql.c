/* Runs plain SQL on the pool's tables. See sql.h. */
#include "support/sql.h"

#include <ctype.h>
#include <sqlext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/conn.h"
#include "support/check.h"
#include "support/pool.h"

enum { TEXT = 32768, WAIT_S = 30 };

static _Thread_local char reason[1200];

const char *sql_reason(void) {
    return reason;
}

/* tp_pending becomes PREFIXpending. */
static void put_prefix(const char *from, char *to, size_t size) {
    size_t used = 0;
    for (const char *at = from; *at && used + TP_PREFIX_MAX + 1 < size; at++) {
        bool inside = at > from && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (!inside && strncmp(at, "tp_", 3) == 0) {
            used += (size_t)snprintf(to + used, size - used, "%s", pool.prefix);
            at += 2;
        } else {
            to[used++] = *at;
        }
    }
    to[used] = '\0';
}

static void keep_reason(SQLSMALLINT type, SQLHANDLE handle, const char *sql) {
    SQLCHAR state[6] = "", text[600] = "";
    SQLINTEGER native = 0;
    SQLSMALLINT length = 0;
    SQLGetDiagRec(type, handle, 1, state, &native, text, sizeof text, &length);
    snprintf(reason, sizeof reason, "%s [%s, %d] in: %.400s", (const char *)text, (const char *)state,
             (int)native, sql);
}

typedef SQLRETURN (*begin_fn)(SQLHSTMT stmt, SQLCHAR *sql, SQLINTEGER length);

/* By SQLExecDirect or SQLPrepare. NULL: it failed. */
static SQLHSTMT begin(begin_fn how, SQLHDBC dbc, const char *format, va_list list) {
    char asked[TEXT], sql[TEXT];
    SQLHSTMT stmt = NULL;
    vsnprintf(asked, sizeof asked, format, list);
    put_prefix(asked, sql, sizeof sql);
    snprintf(reason, sizeof reason, "no connection for: %.400s", sql);
    if (!dbc || !SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt))) return NULL;
    /* Where no setting ends a wait for a lock, a deadlock may leave one of the two waiting. */
    if (pool_on_oracle()) SQLSetStmtAttr(stmt, SQL_ATTR_QUERY_TIMEOUT, (SQLPOINTER)WAIT_S, 0);
    SQLRETURN answer = how(stmt, (SQLCHAR *)sql, SQL_NTS);
    if (SQL_SUCCEEDED(answer) || answer == SQL_NO_DATA) return stmt;
    keep_reason(SQL_HANDLE_STMT, stmt, sql);
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return NULL;
}

static SQLHSTMT execute(SQLHDBC dbc, const char *format, va_list list) {
    return begin(SQLExecDirect, dbc, format, list);
}

bool sql_fetch(SQLHSTMT stmt, struct sql_row *row) {
    SQLSMALLINT columns = 0;
    memset(row, 0, sizeof *row);
    SQLNumResultCols(stmt, &columns);
    if (columns > 12) columns = 12;
    if (!SQL_SUCCEEDED(SQLFetch(stmt))) return false;
    row->columns = columns;
    for (int i = 0; i < columns; i++) {
        SQLLEN length = 0;
        SQLRETURN answer =
            SQLGetData(stmt, (SQLUSMALLINT)(i + 1), SQL_C_CHAR, row->cell[i], SQL_CELL, &length);
        if (!SQL_SUCCEEDED(answer) || length == SQL_NULL_DATA) row->cell[i][0] = '\0';
    }
    return true;
}

bool sql_raw(SQLHDBC dbc, const char *format, ...) {
    va_list list;
    va_start(list, format);
    SQLHSTMT stmt = execute(dbc, format, list);
    va_end(list);
    if (!stmt) return false;
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return true;
}

bool sql_raw_each(SQLHDBC dbc, sql_see_fn see, void *arg, const char *format, ...) {
    va_list list;
    struct sql_row row;
    va_start(list, format);
    SQLHSTMT stmt = execute(dbc, format, list);
    va_end(list);
    if (!stmt) return false;
    while (sql_fetch(stmt, &row))
        see(&row, arg);
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return true;
}

SQLHSTMT sql_prepare(SQLHDBC dbc, const char *format, ...) {
    va_list list;
    va_start(list, format);
    SQLHSTMT stmt = begin(SQLPrepare, dbc, format, list);
    va_end(list);
    return stmt;
}

bool sql_prepared_each(SQLHSTMT stmt, sql_see_fn see, void *arg) {
    struct sql_row row;
    if (!SQL_SUCCEEDED(SQLExecute(stmt))) {
        keep_reason(SQL_HANDLE_STMT, stmt, "a prepared statement");
        return false;
    }
    while (sql_fetch(stmt, &row))
        see(&row, arg);
    SQLFreeStmt(stmt, SQL_CLOSE);
    return true;
}

bool sql_try(tp_conn *conn, const char *format, ...) {
    va_list list;
    va_start(list, format);
    SQLHSTMT stmt = execute(tp_conn_dbc(conn), format, list);
    va_end(list);
    if (!stmt) return false;
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return true;
}

/* Alone in its transaction it changed nothing, and may be run again. */
static bool met_deadlock(const tp_conn *conn) {
    const struct tpi_link *link = &conn->store.link;
    return link->owned && link->tx == TPI_TX_NONE && (strstr(reason, "[40001") || strstr(reason, "[40P01"));
}

int64_t sql_run(tp_conn *conn, const char *format, ...) {
    va_list list;
    SQLHSTMT stmt = NULL;
    SQLLEN rows = 0;
    for (int i = 0; i < 100 && (!i || (!stmt && met_deadlock(conn))); i++) {
        va_start(list, format);
        stmt = execute(tp_conn_dbc(conn), format, list);
        va_end(list);
    }
    sure(stmt, "%s", reason);
    SQLRowCount(stmt, &rows);
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return rows;
}

static bool ask(SQLHDBC dbc, struct sql_row *row, bool *found, const char *format, va_list list) {
    SQLHSTMT stmt = execute(dbc, format, list);
    if (!stmt) return false;
    *found = sql_fetch(stmt, row);
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return true;
}

bool sql_row(tp_conn *conn, struct sql_row *row, const char *format, ...) {
    va_list list;
    bool found = false;
    va_start(list, format);
    bool done = ask(tp_conn_dbc(conn), row, &found, format, list);
    va_end(list);
    sure(done, "%s", reason);
    return found;
}

int64_t sql_number(tp_conn *conn, const char *format, ...) {
    va_list list;
    struct sql_row row;
    bool found = false;
    va_start(list, format);
    bool done = ask(tp_conn_dbc(conn), &row, &found, format, list);
    va_end(list);
    sure(done, "%s", reason);
    sure(found, "no row: %s", format);
    return strtoll(row.cell[0], NULL, 10);
}

void sql_text(tp_conn *conn, char *out, size_t size, const char *format, ...) {
    va_list list;
    struct sql_row row = {0};
    bool found = false;
    va_start(list, format);
    bool done = ask(tp_conn_dbc(conn), &row, &found, format, list);
    va_end(list);
    sure(done, "%s", reason);
    snprintf(out, size, "%s", row.cell[0]);
}

bool sql_raw_number(SQLHDBC dbc, int64_t *number, const char *format, ...) {
    va_list list;
    struct sql_row row;
    bool found = false;
    va_start(list, format);
    bool done = ask(dbc, &row, &found, format, list);
    va_end(list);
    if (!done || !found) return false;
    *number = strtoll(row.cell[0], NULL, 10);
    return true;
}
