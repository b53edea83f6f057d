/* Plain ODBC, as an application would have it anyway. */
#include "payroll.h"

#include <sqlext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SQL_TEXT(text) ((SQLCHAR *)(uintptr_t)(text)) /* ODBC does not write to it, but says no const */

/* The first thing the driver has to say about stmt. */
static bool refuse(SQLHSTMT stmt, char error[DB_TEXT]) {
    SQLCHAR state[6] = "";
    SQLCHAR text[SQL_MAX_MESSAGE_LENGTH] = "";
    SQLINTEGER native = 0;
    SQLSMALLINT length = 0;

    if (!SQL_SUCCEEDED(
            SQLGetDiagRec(SQL_HANDLE_STMT, stmt, 1, state, &native, text, (SQLSMALLINT)sizeof text, &length)))
        memcpy(text, "no message", sizeof "no message");
    snprintf(error, DB_TEXT, "%.5s %.280s", (char *)state, (char *)text);
    return false;
}

static bool open_stmt(tp_conn *conn, SQLHSTMT *stmt, char error[DB_TEXT]) {
    if (SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, tp_conn_dbc(conn), stmt))) return true;
    snprintf(error, DB_TEXT, "no statement can be opened on the connection");
    return false;
}

bool db_exec(tp_conn *conn, const char *sql, char error[DB_TEXT]) {
    SQLHSTMT stmt = SQL_NULL_HSTMT;
    bool ok;

    if (!open_stmt(conn, &stmt, error)) return false;
    ok = SQL_SUCCEEDED(SQLExecDirect(stmt, SQL_TEXT(sql), SQL_NTS)) || refuse(stmt, error);
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return ok;
}

static bool to_number(const char *text, int64_t *number, char error[DB_TEXT]) {
    char *end = NULL;
    long long value = strtoll(text, &end, 10);

    if (end == text || *end != '\0') {
        snprintf(error, DB_TEXT, "\"%s\" is no whole number", text);
        return false;
    }
    *number = value;
    return true;
}

bool db_number(tp_conn *conn, const char *sql, int64_t *number, char error[DB_TEXT]) {
    SQLHSTMT stmt = SQL_NULL_HSTMT;
    char text[40] = "";
    SQLLEN length = 0;
    bool ok;

    if (!open_stmt(conn, &stmt, error)) return false;
    ok = SQL_SUCCEEDED(SQLExecDirect(stmt, SQL_TEXT(sql), SQL_NTS)) && SQL_SUCCEEDED(SQLFetch(stmt)) &&
         SQL_SUCCEEDED(SQLGetData(stmt, 1, SQL_C_CHAR, text, (SQLLEN)sizeof text, &length));
    ok = ok ? to_number(text, number, error) : refuse(stmt, error);
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return ok;
}

/* Numbers go as text too: every driver and database understands that. */
static bool bind_texts(SQLHSTMT stmt, const char *const *texts, size_t count) {
    for (size_t i = 0; i < count; i++) {
        SQLULEN size = strlen(texts[i]);

        if (!SQL_SUCCEEDED(SQLBindParameter(stmt, (SQLUSMALLINT)(i + 1), SQL_PARAM_INPUT, SQL_C_CHAR,
                                            SQL_VARCHAR, size ? size : 1, 0, SQL_TEXT(texts[i]), 0, NULL)))
            return false;
    }
    return true;
}

/* Some drivers report success for a row that was not stored; the row count tells. */
static bool one_row(SQLHSTMT stmt, char error[DB_TEXT]) {
    SQLLEN rows = 0;

    if (!SQL_SUCCEEDED(SQLRowCount(stmt, &rows))) return refuse(stmt, error);
    if (rows != 1) snprintf(error, DB_TEXT, "%ld rows instead of 1 were inserted", (long)rows);
    return rows == 1;
}

bool db_insert(tp_conn *conn, const char *sql, const char *const *texts, size_t count, char error[DB_TEXT]) {
    SQLHSTMT stmt = SQL_NULL_HSTMT;
    bool ok;

    if (!open_stmt(conn, &stmt, error)) return false;
    ok = SQL_SUCCEEDED(SQLPrepare(stmt, SQL_TEXT(sql), SQL_NTS)) && bind_texts(stmt, texts, count) &&
         SQL_SUCCEEDED(SQLExecute(stmt));
    ok = ok ? one_row(stmt, error) : refuse(stmt, error);
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return ok;
}
