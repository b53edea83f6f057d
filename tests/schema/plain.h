/* A plain ODBC connection beside the library's own: to see what it made and to do what a person would do by
 * hand. Every function fails the test that calls it when it cannot. */
#ifndef TESTS_SCHEMA_PLAIN_H
#define TESTS_SCHEMA_PLAIN_H

#include <sql.h>
#include <sqlext.h>
#include <stdbool.h>
#include <stddef.h>

struct plain {
    SQLHENV henv;
    SQLHDBC dbc;
};

/* Connects with dsn, the library's own keys taken out. */
void plain_open(struct plain *plain, const char *dsn);
void plain_close(struct plain *plain);

void plain_run(struct plain *plain, const char *sql);
/* False: the database refused. */
bool plain_try(struct plain *plain, const char *sql);
/* The first column of the first row, "" for none or NULL. */
void plain_ask(struct plain *plain, const char *sql, char *out, size_t size);

SQLHSTMT plain_statement(struct plain *plain);
/* False: no more rows. */
bool plain_fetch(SQLHSTMT stmt);
/* Text of a column of the current row, "" for NULL. */
void plain_text(SQLHSTMT stmt, SQLUSMALLINT column, char *out, size_t size);
long plain_number(SQLHSTMT stmt, SQLUSMALLINT column);
void plain_done(SQLHSTMT stmt);

#endif
