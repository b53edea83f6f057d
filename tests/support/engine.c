/* What only tests ask of a database, in the SQL of each: sessions, how long they wait for locks, EXPLAIN.
 * Also prints what a run did not try because the database, or its user's rights, do not allow it. The
 * library must not need any of this. See engine.h. */
#include "support/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/conn.h"
#include "support/check.h"
#include "support/pool.h"
#include "support/sql.h"

const struct engine *engine;

static const struct engine sqlite = {
    .names = {"sqlite"},
    .read_only = "PRAGMA query_only = 1",
    .empty = "DELETE FROM tp_pending",
    .explain = "EXPLAIN QUERY PLAN",
    .begin = "BEGIN",
    .settings = "SELECT 'none'",
};

static const struct engine postgres = {
    .names = {"postgres"},
    .session = "SELECT pg_backend_pid()",
    .is_there = "SELECT COUNT(*) FROM pg_stat_activity WHERE pid = %ld",
    .waits = "SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND pid = %ld",
    .end = "SELECT pg_terminate_backend(%ld)",
    .waits_are_locks = true,
    .limit_waits = "SET lock_timeout = %d",
    .usual_waits = "RESET lock_timeout",
    .unit_ms = 1,
    .read_only = "SET default_transaction_read_only = on",
    .measure = "ANALYZE tp_pending",
    .empty = "DELETE FROM tp_pending",
    .explain = "EXPLAIN (COSTS OFF, FORMAT YAML)",
    .begin = "BEGIN",
    .settings = "SELECT current_setting('search_path') || current_setting('timezone') || "
                "current_setting('lock_timeout') || current_setting('statement_timeout') || "
                "current_setting('client_encoding') || current_setting('default_transaction_isolation') || "
                "current_setting('application_name')",
};

/* MySQL's other list of sessions fails when a session runs an emoji, and leaves out who has hung up and still
 * rolls back. */
#define OF_MYSQL(sessions, isolation, longest)                                                               \
    .session = "SELECT CONNECTION_ID()", .is_there = "SELECT COUNT(*) FROM " sessions " WHERE id = %ld",     \
    .waits = "SELECT COUNT(*) FROM " sessions " WHERE id = %ld AND command <> 'Sleep'",                      \
    .end = "KILL CONNECTION %ld", .limit_waits = "SET SESSION innodb_lock_wait_timeout = %d",                \
    .usual_waits = "SET SESSION innodb_lock_wait_timeout = DEFAULT", .unit_ms = 1000,                        \
    .read_only = "SET SESSION TRANSACTION READ ONLY", .measure = "ANALYZE TABLE tp_pending",                 \
    .empty = "TRUNCATE TABLE tp_pending", .begin = "START TRANSACTION",                                      \
    .settings = "SELECT CONCAT(@@sql_mode, @@autocommit, @@" isolation ", @@time_zone, "                     \
                "@@innodb_lock_wait_timeout, @@character_set_client, @@" longest ", DATABASE())"

/* Where there is a column of the indexes that are possible, the one behind it is the one used. */
static const struct engine mysql = {
    .names = {"mysql"},
    OF_MYSQL("performance_schema.processlist", "transaction_isolation", "max_execution_time"),
    .explain = "EXPLAIN FORMAT = TRADITIONAL",
    .used_index = 6,
};

static const struct engine mariadb = {
    .names = {"mariadb", "oramode"},
    OF_MYSQL("information_schema.processlist", "tx_isolation", "max_statement_time"),
    .explain = "EXPLAIN",
    .used_index = 5,
};

/* A session's settings are asked by its user; v$session and the end of another's session take rights. */
static const struct engine oracle = {
    .names = {"oracle"},
    .session = "SELECT SYS_CONTEXT('USERENV', 'SID') FROM DUAL",
    .is_there = "SELECT COUNT(*) FROM v$session WHERE sid = %ld AND status <> 'KILLED'",
    .waits = "SELECT COUNT(*) FROM v$session WHERE sid = %ld AND blocking_session IS NOT NULL",
    .end = "BEGIN FOR s IN (SELECT sid, serial# AS n FROM v$session WHERE sid = %ld) LOOP EXECUTE IMMEDIATE "
           "'ALTER SYSTEM KILL SESSION ''' || s.sid || ',' || s.n || ''' IMMEDIATE'; END LOOP; END;",
    .waits_are_locks = true,
    .rights = "SELECT COUNT(*) FROM session_privs p WHERE p.privilege = 'ALTER SYSTEM' AND 0 < "
              "(SELECT COUNT(*) FROM v$session)",
    .measure = "BEGIN DBMS_STATS.GATHER_TABLE_STATS(USER, UPPER('tp_pending')); END;",
    .empty = "DELETE FROM tp_pending",
    .settings = "SELECT SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') || SYS_CONTEXT('USERENV', 'LANGUAGE') || "
                "SESSIONTIMEZONE FROM DUAL",
};

bool engine_find(const char *entry) {
    static const struct engine *const engines[] = {&sqlite, &postgres, &mysql, &mariadb, &oracle};
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++)
        for (size_t n = 0; engines[i]->names[n]; n++)
            if (strstr(entry, engines[i]->names[n])) engine = engines[i];
    return engine != NULL;
}

bool engine_ends_sessions(void) {
    return engine->end != NULL;
}

void engine_ask_rights(tp_conn *conn) {
    static struct engine less;
    int64_t may = 0;
    if (!engine->rights || (sql_try_number(conn, &may, "%s", engine->rights) && may > 0)) return;
    less = *engine;
    less.session = less.is_there = less.waits = less.end = NULL;
    engine = &less;
    not_tried(
        "sessions that are ended, or seen to wait: the user lacks ALTER SYSTEM, or SELECT on v_$session");
}

/* ---- Waits --------------------------------------------------------------------------------------------- */

/* What was prepared keeps the limit that it has. */
static bool limit_by_driver(tp_conn *conn, unsigned seconds) {
    static struct tpi_driver impatient;
    if (!conn->store.link.driver->change_timeout_s) return false; /* it ends no wait */
    must(tp_conn_reopen(conn));
    impatient = *conn->store.link.driver;
    impatient.change_timeout_s = seconds;
    conn->store.link.driver = &impatient;
    return true;
}

bool engine_limit_waits(tp_conn *conn, int ms) {
    if (pool_on_sqlite()) return true; /* its connection string says how long */
    if (!engine->limit_waits) return limit_by_driver(conn, ms < 1000 ? 1 : (unsigned)ms / 1000);
    sql_run(conn, engine->limit_waits, ms / engine->unit_ms);
    return true;
}

void engine_usual_waits(tp_conn *conn) {
    if (engine->usual_waits)
        sql_run(conn, "%s", engine->usual_waits);
    else if (!pool_on_sqlite())
        must(tp_conn_reopen(conn));
}

/* ---- What is not tried --------------------------------------------------------------------------------- */

enum { NOT_TRIED = 40 };
static const char *texts[NOT_TRIED];
static int count;

static void tell_count(void) {
    printf("NOT TRIED on %s: %d in all\n", pool.entry, count);
}

void not_tried(const char *what) {
    for (int i = 0; i < count; i++)
        if (strcmp(texts[i], what) == 0) return;
    if (count == NOT_TRIED) abort();
    if (count == 0) (void)atexit(tell_count);
    texts[count++] = what;
    printf("NOT TRIED on %s: %s\n", pool.entry, what);
}
