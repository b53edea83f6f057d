/* See session.h. */
#include "support/session.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/check.h"
#include "support/pool.h"
#include "support/sql.h"

static void *run(void *arg) {
    struct aside *aside = arg;
    aside->answer = aside->call(aside->conn, aside->arg);
    if (aside->answer < TP_OK) snprintf(aside->error, sizeof aside->error, "%s", tp_last_error()->text);
    atomic_store(&aside->ended, true);
    return NULL;
}

void aside_start(struct aside *aside, tp_conn *conn, tp_status (*call)(tp_conn *, void *), void *arg) {
    memset(aside, 0, sizeof *aside);
    aside->conn = conn;
    aside->call = call;
    aside->arg = arg;
    pthread_create(&aside->thread, NULL, run, aside);
}

tp_status aside_end(struct aside *aside) {
    pthread_join(aside->thread, NULL);
    return aside->answer;
}

long session_number_of(SQLHDBC dbc) {
    int64_t number = 0;
    if (pool_on_sqlite()) return 0;
    const char *question = pool_on_postgres() ? "SELECT pg_backend_pid()" : "SELECT CONNECTION_ID()";
    (void)sql_raw_number(dbc, &number, "%s", question);
    return (long)number;
}

long session_number(tp_conn *conn) {
    /* MariaDB does not show the owner other users' sessions. */
    if (pool.user && pool_on_mariadb()) return 0;
    return session_number_of(tp_conn_dbc(conn));
}

static void breathe(long ms) {
    struct timespec pause = {.tv_nsec = ms * 1000000};
    nanosleep(&pause, NULL);
}

/* MySQL's other list fails when a session runs an emoji, and leaves out who has hung up and still rolls back.
 */
static const char *sessions_table(void) {
    return pool_on_mysql() ? "performance_schema.processlist" : "information_schema.processlist";
}

static bool blocked(long session) {
    int64_t number = 0;
    if (pool_on_postgres())
        sql_try_number(pool.eye, &number, "SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND pid = %ld",
                       session);
    else
        sql_try_number(pool.eye, &number, "SELECT COUNT(*) FROM %s WHERE id = %ld AND command <> 'Sleep'",
                       sessions_table(), session);
    return number > 0;
}

/* MariaDB only tells that a session is busy; one that is busy so often in a row on a single row waits. */
void session_await_blocked(long session, struct aside *aside) {
    enum { IN_A_ROW = 12, PAUSE_MS = 5, SQLITE_MS = 60 };
    int seen = 0;
    if (!session) {
        breathe(SQLITE_MS);
        return;
    }
    while (seen < IN_A_ROW && !atomic_load(&aside->ended)) {
        seen = blocked(session) ? seen + 1 : 0;
        if (pool_on_postgres() && seen) return;
        breathe(PAUSE_MS);
    }
}

static bool is_there(long session) {
    if (!session) return false;
    if (pool_on_postgres())
        return sql_number(pool.eye, "SELECT COUNT(*) FROM pg_stat_activity WHERE pid = %ld", session) > 0;
    return sql_number(pool.eye, "SELECT COUNT(*) FROM %s WHERE id = %ld", sessions_table(), session) > 0;
}

void session_await_end(long session) {
    struct timespec pause = {.tv_nsec = 100000};
    while (is_there(session))
        nanosleep(&pause, NULL);
}

void session_kill(long session) {
    if (!session) return;
    if (pool_on_postgres()) (void)sql_number(pool.eye, "SELECT pg_terminate_backend(%ld)::int", session);
    /* One that has gone is no session any more. */
    if (pool_on_mariadb()) (void)sql_try(pool.eye, "KILL CONNECTION %ld", session);
    session_await_end(session);
}
