/* See plain.h. */
#include "schema/plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/dsn.h"

static void fail_odbc(SQLSMALLINT type, SQLHANDLE handle, const char *what) {
    SQLCHAR state[6] = "", text[512] = "";
    SQLINTEGER native = 0;
    SQLSMALLINT length = 0;
    SQLGetDiagRec(type, handle, 1, state, &native, text, sizeof text, &length);
    fail_msg("%s: %s [%s, %d]", what, (char *)text, (char *)state, (int)native);
}

void plain_open(struct plain *plain, const char *dsn) {
    char text[2048];
    *plain = (struct plain){0};
    dsn_with(dsn, "Dialect", NULL, text, sizeof text);
    dsn_with(text, "Prefix", NULL, text, sizeof text);
    dsn_with(text, "Plan", NULL, text, sizeof text);
    assert_true(SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &plain->henv)));
    assert_true(
        SQL_SUCCEEDED(SQLSetEnvAttr(plain->henv, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0)));
    assert_true(SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_DBC, plain->henv, &plain->dbc)));
    if (!SQL_SUCCEEDED(
            SQLDriverConnect(plain->dbc, NULL, (SQLCHAR *)text, SQL_NTS, NULL, 0, NULL, SQL_DRIVER_NOPROMPT)))
        fail_odbc(SQL_HANDLE_DBC, plain->dbc, "connecting plainly");
}

void plain_close(struct plain *plain) {
    if (plain->dbc) {
        SQLDisconnect(plain->dbc);
        SQLFreeHandle(SQL_HANDLE_DBC, plain->dbc);
    }
    if (plain->henv) SQLFreeHandle(SQL_HANDLE_ENV, plain->henv);
    *plain = (struct plain){0};
}

SQLHSTMT plain_statement(struct plain *plain) {
    SQLHSTMT stmt = NULL;
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, plain->dbc, &stmt)))
        fail_odbc(SQL_HANDLE_DBC, plain->dbc, "a statement");
    return stmt;
}

static bool answers(SQLRETURN answer) {
    return SQL_SUCCEEDED(answer) || answer == SQL_NO_DATA;
}

void plain_run(struct plain *plain, const char *sql) {
    SQLHSTMT stmt = plain_statement(plain);
    if (!answers(SQLExecDirect(stmt, (SQLCHAR *)sql, SQL_NTS))) fail_odbc(SQL_HANDLE_STMT, stmt, sql);
    plain_done(stmt);
}

bool plain_try(struct plain *plain, const char *sql) {
    SQLHSTMT stmt = plain_statement(plain);
    bool done = answers(SQLExecDirect(stmt, (SQLCHAR *)sql, SQL_NTS));
    plain_done(stmt);
    return done;
}

bool plain_fetch(SQLHSTMT stmt) {
    SQLRETURN answer = SQLFetch(stmt);
    if (!answers(answer)) fail_odbc(SQL_HANDLE_STMT, stmt, "fetching");
    return answer != SQL_NO_DATA;
}

void plain_text(SQLHSTMT stmt, SQLUSMALLINT column, char *out, size_t size) {
    SQLLEN length = 0;
    out[0] = '\0';
    if (!SQL_SUCCEEDED(SQLGetData(stmt, column, SQL_C_CHAR, out, (SQLLEN)size, &length)))
        fail_odbc(SQL_HANDLE_STMT, stmt, "reading a column");
    if (length == SQL_NULL_DATA) out[0] = '\0';
}

long plain_number(SQLHSTMT stmt, SQLUSMALLINT column) {
    char text[64];
    plain_text(stmt, column, text, sizeof text);
    return strtol(text, NULL, 10);
}

void plain_done(SQLHSTMT stmt) {
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
}

void plain_ask(struct plain *plain, const char *sql, char *out, size_t size) {
    SQLHSTMT stmt = plain_statement(plain);
    if (!answers(SQLExecDirect(stmt, (SQLCHAR *)sql, SQL_NTS))) fail_odbc(SQL_HANDLE_STMT, stmt, sql);
    out[0] = '\0';
    if (plain_fetch(stmt)) plain_text(stmt, 1, out, size);
    plain_done(stmt);
}
