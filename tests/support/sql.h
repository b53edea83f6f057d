/* Direct SQL, past the library: what a test puts into the tables, shifts and looks at by itself. Statements
 * name tables as sql/ does (tp_pending); the pool's prefix is put in. */
#ifndef TESTS_SUPPORT_SQL_H
#define TESTS_SUPPORT_SQL_H

#include <stdbool.h>
#include <stdint.h>

#include "taskpool_odbc.h"

#if defined(__GNUC__)
#define SQL_FORMAT(at) __attribute__((format(printf, at, at + 1)))
#else
#define SQL_FORMAT(at)
#endif

enum { SQL_CELL = 1100 }; /* bytes of a value as text */

/* A row of text; NULL becomes "". */
struct sql_row {
    int columns;
    char cell[12][SQL_CELL];
};

/* Runs a statement in whatever transaction the connection is in. Fails the test when it fails. Gives the rows
 * changed. */
int64_t sql_run(tp_conn *conn, const char *format, ...) SQL_FORMAT(2);
/* The first value of the first row; fails the test when there is none. NULL is 0. */
int64_t sql_number(tp_conn *conn, const char *format, ...) SQL_FORMAT(2);
/* The first value of the first row, "" for none or NULL. */
void sql_text(tp_conn *conn, char *out, size_t size, const char *format, ...) SQL_FORMAT(4);
/* The first row; false: there is none. Fails the test when the statement fails. */
bool sql_row(tp_conn *conn, struct sql_row *row, const char *format, ...) SQL_FORMAT(3);

/* For threads and children: they never fail the test. False: the statement failed; sql_reason says why. */
bool sql_try(tp_conn *conn, const char *format, ...) SQL_FORMAT(2);
#define sql_try_number(conn, number, ...) sql_raw_number(tp_conn_dbc(conn), (number), __VA_ARGS__)
/* The calling thread's last failure. */
const char *sql_reason(void);

/* The next row of a statement; false: there is none. */
bool sql_fetch(SQLHSTMT stmt, struct sql_row *row);
/* On a plain ODBC connection. */
bool sql_raw(SQLHDBC dbc, const char *format, ...) SQL_FORMAT(2);
bool sql_raw_number(SQLHDBC dbc, int64_t *number, const char *format, ...) SQL_FORMAT(3);
/* One call of see for each row. */
typedef void (*sql_see_fn)(const struct sql_row *row, void *arg);
bool sql_raw_each(SQLHDBC dbc, sql_see_fn see, void *arg, const char *format, ...) SQL_FORMAT(4);
/* The same for what is asked often, without parameters: to be freed before its connection. NULL: it failed.
 */
SQLHSTMT sql_prepare(SQLHDBC dbc, const char *format, ...) SQL_FORMAT(2);
bool sql_prepared_each(SQLHSTMT stmt, sql_see_fn see, void *arg);

#endif
