/*
 * taskpool_odbc.h: the few functions that name ODBC's own types. Everything else is in taskpool.h. Programs
 * that call ODBC themselves are linked with libodbc too; pkg-config and the CMake package say so.
 */
#ifndef TASKPOOL_ODBC_H
#define TASKPOOL_ODBC_H

#include <sql.h>

#include "taskpool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lets taskpool work on a connection that the application opened itself. The library never commits, rolls
 * back or changes an attribute there, and leaves no statement open between calls; tp_begin, tp_commit,
 * tp_rollback and tp_conn_reopen answer TP_MISUSE, and so does what makes transactions of its own: tp_claim,
 * tp_operate, tp_retention_set, tp_retention_apply, tp_alert_each, tp_schedule_fire, tp_schedule_fire_one,
 * tp_schema_install, tp_schema_check. The settings without which the driver would lie are verified, and
 * TP_UNSUPPORTED names the first that is wrong: here where values would be cut; in a call that reads where
 * the isolation level is not read committed, or text is not UTF-8. What only puts in (tp_enqueue,
 * tp_enqueue_many, of tasks that were not tried before, and tp_once) takes any isolation level, and any
 * character set for ASCII; with dialect mysql any level also for tasks that were tried before, and for
 * dedup_key (docs/borrowing.md). In autocommit mode, what takes more than one statement answers TP_MISUSE,
 * unless a BEGIN of the application's own is open and the driver lets that be known (those of PostgreSQL,
 * MariaDB, MySQL and SQLite do): switch autocommit off, or begin first. One tp_env, one database: what
 * tp_once knows of its tries in autocommit mode (with those four drivers; with others, TP_EXISTS may be its
 * own lost try) is the tp_env's; for a second database open a second tp_env.
 * Whoever opened the connection closes it, after tp_conn_close. */
TP_API TP_CHECKED tp_status tp_conn_borrow(tp_env *env, SQLHDBC dbc, tp_conn **conn);

/* The ODBC connection underneath, for the application's own statements in the same transaction. Do not end
 * transactions or set attributes on it, and repeat no statement that failed: the error may have ended the
 * transaction. NULL while disconnected. */
TP_API SQLHDBC tp_conn_dbc(tp_conn *conn);

#ifdef __cplusplus
}
#endif

#endif
