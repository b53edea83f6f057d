/* Runs a call in a thread and sees whether it waits for a lock. See session.h. */
#include "support/session.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
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
    aside->statements = tp_conn_counters(conn)->statements;
    pthread_create(&aside->thread, NULL, run, aside);
}

tp_status aside_end(struct aside *aside) {
    pthread_join(aside->thread, NULL);
    return aside->answer;
}

long session_number_of(SQLHDBC dbc) {
    int64_t number = 0;
    if (engine->session) (void)sql_raw_number(dbc, &number, "%s", engine->session);
    return (long)number;
}

long session_number(tp_conn *conn) {
    /* MariaDB does not show the owner other users' sessions. */
    if (pool.user && pool_on_mariadb()) return 0;
    return session_number_of(tp_conn_dbc(conn));
}

static void breathe(long ms) {
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

static bool is_so(const char *question, long session) {
    int64_t count = 0;
    return sql_try_number(pool.eye, &count, question, session) && count > 0;
}

/* One that is busy so often in a row on a single row waits: a busy machine does not keep one thread so long
 * from its turn. */
void session_await_blocked(long session, struct aside *aside) {
    enum { IN_A_ROW = 80, FEW = 5, LONG_MS = 4000, PAUSE_MS = 5, UNSEEN_MS = 1000 };
    int64_t since = 0;
    int seen = 0;
    if (!session) {
        breathe(UNSEEN_MS);
        return;
    }
    while (seen < IN_A_ROW && !atomic_load(&aside->ended)) {
        seen = is_so(engine->waits, session) ? seen + 1 : 0;
        if (engine->waits_are_locks && seen) return;
        if (seen <= 1) since = tpi_clock_mono_ms();
        if (seen >= FEW && tpi_clock_mono_ms() - since >= LONG_MS) return; /* each look takes long */
        breathe(PAUSE_MS);
    }
}

/* While its thread counts: an old number does no harm. */
__attribute__((no_sanitize("thread"))) static uint64_t statements_of(tp_conn *conn) {
    return *(const volatile uint64_t *)&tp_conn_counters(conn)->statements;
}

/* The thread may stand still before its first statement. What sends none is not waited for without end. */
void session_await_quiet(struct aside *aside) {
    enum { QUIET_MS = 1000, LIMIT_MS = 60000, PAUSE_MS = 5 };
    int64_t began = tpi_clock_mono_ms(), now = began, since = began;
    uint64_t seen = aside->statements;
    while (!atomic_load(&aside->ended) && now - began < LIMIT_MS &&
           (seen == aside->statements || now - since < QUIET_MS)) {
        breathe(PAUSE_MS);
        now = tpi_clock_mono_ms();
        uint64_t sent = statements_of(aside->conn);
        if (sent != seen) since = now;
        seen = sent;
    }
}

/* Where sessions are not to be seen, the locks that it left are waited for. */
static void await_locks(void) {
    static const char *const tables[] = {"pending", "failed", "finished"};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        (void)sql_try(pool.eye, "SELECT id FROM tp_%s FOR UPDATE", tables[i]);
}

void session_await_end(long session) {
    struct timespec pause = {.tv_nsec = 100000};
    if (!session && pool_on_oracle()) await_locks();
    while (session && sql_number(pool.eye, engine->is_there, session) > 0)
        nanosleep(&pause, NULL);
}

void session_kill(long session) {
    if (!session) return;
    (void)sql_try(pool.eye, engine->end, session); /* one that has gone is no session any more */
    session_await_end(session);
}
