/* Sets up and drops the pool of a test program, and opens its sessions. See pool.h. */
#include "support/pool.h"

#include <spawn.h>
#include <sqlext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/uuid.h"
#include "odbc/connstr.h"
#include "ops/conn.h"
#include "support/check.h"
#include "support/sql.h"

struct pool pool;
const char *const pool_plans[PLANS] = {"row", "batch", "skip", "hold", "cas"};

static _Noreturn void give_up(const char *what, const char *why) {
    fprintf(stderr, "conformance: %s: %s\n", what, why);
    exit(1);
}

static void need(tp_status status, const char *what) {
    if (status < TP_OK) give_up(what, tp_last_error()->text);
}

/* ---- What the entry is ------------------------------------------------------------------------------- */

static bool entry_has(const char *word) {
    return strstr(pool.entry, word) != NULL;
}

bool pool_speaks(const char *dialect) {
    return strcmp(tp_conn_about(pool.eye)->dialect, dialect) == 0;
}

bool pool_on_sqlite(void) {
    return entry_has("sqlite");
}

bool pool_on_postgres(void) {
    return entry_has("postgres");
}

bool pool_on_mariadb(void) {
    return entry_has("mariadb") || entry_has("oramode") || pool_on_mysql();
}

bool pool_on_mysql(void) {
    return entry_has("mysql");
}

bool pool_on_oracle(void) {
    return entry_has("oracle");
}

bool pool_on_generic(void) {
    return entry_has("generic");
}

const struct tpi_driver *pool_driver(void) {
    return pool.a->store.link.driver;
}

bool pool_plan_possible(const char *plan) {
    if (strcmp(plan, "cas") == 0) return true;
    if (pool_on_generic()) return false;
    return strcmp(plan, "skip") != 0 || !pool_on_sqlite();
}

bool pool_plan_holds(const char *plan) {
    return strcmp(plan, "hold") == 0;
}

/* ---- Plain ODBC -------------------------------------------------------------------------------------- */

/* The test's connection string without taskpool's keys, with what a careful application would add. */
static void plain_dsn(struct tpi_buf *out, const char *key, const char *value) {
    struct tpi_connstr cs = {0};
    need(tpi_connstr_parse(pool.dsn, &cs), "connection string");
    tpi_connstr_take(&cs, "Dialect", NULL);
    tpi_connstr_take(&cs, "Prefix", NULL);
    tpi_connstr_take(&cs, "Plan", NULL);
    if (pool_on_mariadb()) tpi_connstr_set(&cs, "OPTION", "2");
    if (pool_on_postgres()) {
        tpi_connstr_set(&cs, "Protocol", "7.4-0");
        tpi_connstr_set(&cs, "ConnSettings", "set client_encoding to 'UTF8'");
    }
    if (key) tpi_connstr_set(&cs, key, value);
    tpi_connstr_write(&cs, out);
    tpi_connstr_free(&cs);
}

/* What a failed test left open, which may hold locks: taken away before the next. */
enum { LEFT = 4 };
static struct pool_raw left_raws[LEFT];
static tp_conn *left_conns[LEFT];

static void note_raw(const struct pool_raw *raw, bool opened) {
    for (int i = 0; i < LEFT; i++) {
        if (left_raws[i].dbc != (opened ? NULL : raw->dbc)) continue;
        left_raws[i] = opened ? *raw : (struct pool_raw){0};
        return;
    }
}

static void note_conn(tp_conn *conn, bool opened) {
    for (int i = 0; i < LEFT; i++) {
        if (left_conns[i] != (opened ? NULL : conn)) continue;
        left_conns[i] = opened ? conn : NULL;
        return;
    }
}

static void take_leftovers_away(void) {
    for (int i = 0; i < LEFT; i++) {
        if (left_raws[i].dbc) SQLEndTran(SQL_HANDLE_DBC, left_raws[i].dbc, SQL_ROLLBACK);
        left_raws[i] = (struct pool_raw){0};
        tp_conn_close(left_conns[i]);
        left_conns[i] = NULL;
    }
}

bool pool_raw_open_as(struct pool_raw *raw, SQLULEN version, const char *key, const char *value) {
    struct tpi_buf dsn = {0};
    *raw = (struct pool_raw){0};
    plain_dsn(&dsn, key, value);
    SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &raw->env);
    SQLSetEnvAttr(raw->env, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)version, 0);
    SQLAllocHandle(SQL_HANDLE_DBC, raw->env, &raw->dbc);
    SQLRETURN answer =
        SQLDriverConnect(raw->dbc, NULL, (SQLCHAR *)dsn.data, SQL_NTS, NULL, 0, NULL, SQL_DRIVER_NOPROMPT);
    tpi_buf_free(&dsn);
    if (!SQL_SUCCEEDED(answer)) return false;
    note_raw(raw, true);
    return true;
}

bool pool_raw_open(struct pool_raw *raw) {
    if (!pool_raw_open_as(raw, SQL_OV_ODBC3, NULL, NULL)) return false;
    /* The standard's level, as the library itself asks for it. */
    return !pool_on_mariadb() || sql_raw(raw->dbc, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
}

void pool_raw_close(struct pool_raw *raw) {
    if (raw->dbc) {
        note_raw(raw, false);
        SQLEndTran(SQL_HANDLE_DBC, raw->dbc, SQL_ROLLBACK);
        SQLDisconnect(raw->dbc);
        SQLFreeHandle(SQL_HANDLE_DBC, raw->dbc);
    }
    if (raw->env) SQLFreeHandle(SQL_HANDLE_ENV, raw->env);
    *raw = (struct pool_raw){0};
}

/* ---- Connection strings -------------------------------------------------------------------------------- */

static void parse(const char *dsn, struct tpi_connstr *cs) {
    if (!dsn) fail_msg("no connection string: run this by tests/support/on_database.sh");
    assert_int_equal(tpi_connstr_parse(dsn, cs), TP_OK);
}

void dsn_with(const char *dsn, const char *key, const char *value, char *out, size_t size) {
    struct tpi_connstr cs = {0};
    struct tpi_buf text = {0};
    parse(dsn, &cs);
    if (value)
        assert_true(tpi_connstr_set(&cs, key, value));
    else
        while (tpi_connstr_take(&cs, key, NULL)) {
        }
    tpi_connstr_write(&cs, &text);
    assert_true(text.length < size);
    memcpy(out, tpi_buf_str(&text), text.length + 1);
    tpi_buf_free(&text);
    tpi_connstr_free(&cs);
}

void dsn_get(const char *dsn, const char *key, char *out, size_t size) {
    struct tpi_connstr cs = {0};
    parse(dsn, &cs);
    const char *value = tpi_connstr_get(&cs, key);
    snprintf(out, size, "%s", value ? value : "");
    tpi_connstr_free(&cs);
}

/* ---- Opening and closing ------------------------------------------------------------------------------ */

bool prepared(void) {
    return getenv("TASKPOOL_TEST_PREPARE") != NULL;
}

void prepare_pool(const char *prefix) {
    char *program = getenv("TASKPOOL_TEST_PREPARE");
    char *words[] = {program, (char *)(uintptr_t)prefix, NULL};
    pid_t pid = 0;
    int status = -1;
    if (!program) return;
    if (posix_spawn(&pid, program, NULL, NULL, words, environ) == 0 && waitpid(pid, &status, 0) == pid &&
        status == 0)
        return;
    fprintf(stderr, "%s failed for prefix %s\n", program, prefix);
    exit(1);
}

static void read_environment(const char *prefix) {
    const char *dsn = getenv("TASKPOOL_TEST_DSN");
    char uuid[TPI_UUID_SIZE];
    pool.entry = getenv("TASKPOOL_TEST_ENTRY");
    pool.user = getenv("TASKPOOL_TEST_USER");
    if (!dsn || !pool.entry)
        give_up("TASKPOOL_TEST_DSN", "is not set; run through tests/support/on_database.sh");
    if (!engine_find(pool.entry)) give_up(pool.entry, "is of no engine of tests/support/engine.c");
    tpi_uuid_random(uuid);
    if (prefix)
        snprintf(pool.prefix, sizeof pool.prefix, "%s", prefix);
    else
        snprintf(pool.prefix, sizeof pool.prefix, "cf%.8s_", uuid);
    size_t length = strlen(dsn);
    const char *end = length && dsn[length - 1] != ';' ? ";" : "";
    if (snprintf(pool.dsn, sizeof pool.dsn, "%s%sPrefix=%s;", dsn, end, pool.prefix) >= (int)sizeof pool.dsn)
        give_up("TASKPOOL_TEST_DSN", "is too long");
    setenv("TASKPOOL_TEST_PREFIX", pool.prefix, 1);
    pool.handlers[0] = pool.handler;
}

/* TASKPOOL_TEST_USER and TASKPOOL_TEST_USER_DSN: who runs the operations under test. Setting up and judging
 * stays with the owner. */
static void open_user_env(void) {
    char dsn[DSN_MAX + 32];
    const char *given = getenv("TASKPOOL_TEST_USER_DSN");
    if (given && snprintf(dsn, sizeof dsn, "%s;Prefix=%s;", given, pool.prefix) >= (int)sizeof dsn)
        give_up("TASKPOOL_TEST_USER_DSN", "is too long");
    need(tp_env_open(given ? dsn : pool.dsn, &pool.user_env), "tp_env_open");
}

static void open_eye(const char *prefix) {
    read_environment(prefix);
    if (!pool.user) prepare_pool(pool.prefix);
    need(tp_env_open(pool.dsn, &pool.env), "tp_env_open");
    need(tp_conn_open(pool.env, &pool.eye), "tp_conn_open");
}

void pool_open_bare(const char *prefix) {
    open_eye(prefix);
    open_user_env();
    need(tp_conn_open(pool.user_env, &pool.a), "tp_conn_open");
}

void pool_open(void) {
    open_eye(getenv("TASKPOOL_TEST_PREFIX"));
    engine_ask_rights(pool.eye);
    need(tp_schema_install(pool.eye), "tp_schema_install");
    open_user_env();
    need(tp_conn_open(pool.user_env, &pool.a), "tp_conn_open");
    need(tp_conn_open(pool.user_env, &pool.b), "tp_conn_open");
    pool.taker = pool.user && strcmp(pool.user, "producer") == 0 ? pool.eye : pool.a;
    if (!pool.user &&
        !sql_try(pool.eye, "CREATE TABLE tp_fx (task_id VARCHAR(36) NOT NULL, note VARCHAR(40))"))
        give_up("effect table", sql_reason());
}

void pool_join(void) {
    read_environment(getenv("TASKPOOL_TEST_PREFIX"));
    need(tp_env_open(pool.dsn, &pool.env), "tp_env_open");
    open_user_env();
    need(tp_conn_open(pool.user_env, &pool.a), "tp_conn_open");
}

static void drop_tables(SQLHDBC dbc) {
    static const char *const tables[] = {"fx",           "pending",    "finished", "failed",      "history",
                                         "once",         "schedule",   "worker",   "pause",       "activity",
                                         "audit",        "audit_head", "request",  "request_row", "calendar",
                                         "calendar_day", "step",       "gate",     "gate_task",   "group",
                                         "group_task",   "progress",   "cancel",   "meta"};
    static const char *const views[] = {"tasks", "running", "failures", "throughput"};
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++)
        sql_raw(dbc, "DROP VIEW tp_%s", views[i]);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        sql_raw(dbc, "DROP TABLE tp_%s", tables[i]);
}

static void drop_functions(SQLHDBC dbc) {
    static const char *const functions[] = {"now", "utc", "new_id", "audit_refuse", "eyes_refuse"};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        sql_raw(dbc, "DROP FUNCTION tp_%s", functions[i]);
}

void pool_close(void) {
    struct pool_raw raw;
    tp_conn_close(pool.a);
    tp_conn_close(pool.b);
    tp_conn_close(pool.eye);
    tp_env_close(pool.user_env);
    tp_env_close(pool.env);
    if (pool_raw_open(&raw)) {
        drop_tables(raw.dbc);
        drop_functions(raw.dbc);
    }
    pool_raw_close(&raw);
}

void pool_drop_tables(void) {
    drop_tables(tp_conn_dbc(pool.eye));
}

void pool_install(void) {
    must(tp_schema_install(pool.a));
}

int pool_test_main(const char *program) {
    pool_open();
    int code = test_main(program, NULL, NULL);
    pool_close();
    return code;
}

static void make_usable(tp_conn *conn) {
    tp_status status = tp_rollback(conn);
    if (status == TP_OK || status == TP_MISUSE) status = tp_conn_dbc(conn) ? TP_OK : TP_DISCONNECTED;
    if (status != TP_OK) must(tp_conn_reopen(conn));
}

/* With 0, MariaDB 10.11 fails the COMMIT after a SKIP LOCKED that skipped: error 1180. */
static void shorten_waits(tp_conn *conn, int ms) {
    bool skips = !pool.plan || strcmp(pool.plan, "skip") == 0;
    (void)engine_limit_waits(conn, pool_on_mariadb() && skips ? 1000 : ms);
}

static bool short_a, short_b;

/* PostgreSQL's autovacuum locks the whole table while it cuts off the end of one that was emptied. */
void pool_fail_waits(tp_conn *conn) {
    shorten_waits(conn, pool_on_postgres() ? 5000 : 200);
    *(conn == pool.a ? &short_a : &short_b) = true;
}

static void lengthen_waits(tp_conn *conn, bool *is_short) {
    if (*is_short) engine_usual_waits(conn);
    *is_short = false;
}

int pool_fresh(void **state) {
    static int test;
    (void)state;
    take_leftovers_away();
    make_usable(pool.a);
    make_usable(pool.b);
    make_usable(pool.eye);
    lengthen_waits(pool.a, &short_a);
    lengthen_waits(pool.b, &short_b);
    snprintf(pool.handler, sizeof pool.handler, "t%d", ++test);
    return 0;
}

/* ---- Loans and guests ---------------------------------------------------------------------------------- */

struct loan loan_open(SQLULEN autocommit) {
    struct loan loan = {0};
    sure(pool_raw_open(&loan.raw), "cannot open a plain connection");
    SQLSetConnectAttr(loan.raw.dbc, SQL_ATTR_TXN_ISOLATION, (SQLPOINTER)SQL_TXN_READ_COMMITTED, 0);
    SQLSetConnectAttr(loan.raw.dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)autocommit, 0);
    must(tp_conn_borrow(pool.env, loan.raw.dbc, &loan.conn));
    return loan;
}

void loan_close(struct loan *loan) {
    tp_conn_close(loan->conn);
    pool_raw_close(&loan->raw);
}

void loan_end(struct loan *loan, SQLSMALLINT how) {
    assert_true(SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, loan->raw.dbc, how)));
}

struct pool_guest pool_guest_open(void) {
    char dsn[DSN_MAX + 32];
    struct pool_guest guest = {0};
    dsn_with(pool.dsn, "Timeout", pool_on_sqlite() ? "150" : NULL, dsn, sizeof dsn);
    must(tp_env_open(dsn, &guest.env));
    must(tp_conn_open(guest.env, &guest.conn));
    note_conn(guest.conn, true);
    shorten_waits(guest.conn, 200);
    return guest;
}

void pool_guest_close(struct pool_guest *guest) {
    note_conn(guest->conn, false);
    tp_conn_close(guest->conn);
    tp_env_close(guest->env);
}

void pool_empty(void) {
    sql_run(pool.eye, "%s", engine->empty);
}

void pool_measure(void) {
    if (engine->measure && !sql_try(pool.eye, "%s", engine->measure)) not_tried("statistics of the pool");
}
