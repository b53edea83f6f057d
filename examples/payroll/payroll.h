/* The payroll example. payroll.c reads the command line, work.c runs the worker, pay.c pays one employee,
 * verify.c checks the books, db.c is plain ODBC. Read pay.c first. */
#ifndef PAYROLL_H
#define PAYROLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <taskpool.h>
#include <taskpool_odbc.h>

#define HANDLER     "pay"
#define RETRIES_MAX 8

struct settings {
    const char *table;   /* where payments go; checked to be a plain name */
    const char *control; /* verify: the file with what must come out */
    int64_t runs;        /* verify: how often the file was read */
    int threads;
    int64_t lease_ms;
    int64_t pay_ms; /* how long the bank takes to answer */
    int64_t retry_ms[RETRIES_MAX];
    size_t retries;
    int drain;
    int verbose;
};

/* ---- work.c, pay.c, verify.c ------------------------------------------------------------------------- */

/* False when it could not run; tasks that failed are no reason. */
bool work(tp_env *env, struct settings *settings);
/* Pays the employee of one task. arg is the settings. */
tp_verdict pay(tp_run *run, void *arg);
/* Prints the comparison; false when anything does not agree. */
bool verify(tp_conn *conn, const struct settings *settings);

/* ---- db.c: statements of our own on a connection of taskpool's ---------------------------------------- */

#define DB_TEXT 300

/* All of these are false on failure, with what was wrong in error. */
bool db_exec(tp_conn *conn, const char *sql, char error[DB_TEXT]);
/* The one number that sql asks for. */
bool db_number(tp_conn *conn, const char *sql, int64_t *number, char error[DB_TEXT]);
/* Runs an INSERT with one text for each of its parameters; anything but one new row is a failure. */
bool db_insert(tp_conn *conn, const char *sql, const char *const *texts, size_t count, char error[DB_TEXT]);

#endif
