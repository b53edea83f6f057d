/* Environments and connections are there or not, and a schema is whole after its script was run again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/operation.h"

/* ---- tp_env -------------------------------------------------------------------------------------------- */

static tp_status open_env(struct work *work, const char *dsn) {
    tp_env *env = UNTOUCHED(tp_env);
    tp_status status = tp_env_open(dsn, &env);
    want_untouched(status, env);
    if (status == TP_OK) work->env = env;
    return status;
}

CALL(env, open_env(work, pool.dsn))

static tp_status env_with_keys(struct work *work) {
    return open_env(work, "Driver=SQLite3;Database=x;Dialect=sqlite;Prefix=ab_;Plan=cas;Prefix=cd_");
}

static tp_status env_with_braces(struct work *work) {
    return open_env(work, "Driver={SQLite3};Database={a}}b;c};PWD={ secret longer than sixty-four bytes, so "
                          "that its buffer has to grow once more };");
}

/* ---- tp_conn ------------------------------------------------------------------------------------------- */

STEP(with_env, must(tp_env_open(pool.dsn, &work->env)))

static tp_status open_conn(struct work *work) {
    tp_conn *conn = UNTOUCHED(tp_conn);
    tp_status status = tp_conn_open(work->env ? work->env : pool.env, &conn);
    want_untouched(status, conn);
    if (status == TP_OK) work->other = conn;
    return status;
}

/* The last call of what was answered may have lost it, and nobody has noticed. */
static void finds_schema(struct work *work) {
    if (tp_schema_check(work->other) == TP_DISCONNECTED) must(tp_conn_reopen(work->other));
    must(tp_schema_check(work->other));
}

STEP(with_raw, sure(pool_raw_open(&work->raw), "no plain connection"))

static tp_status borrow(struct work *work) {
    tp_conn *conn = UNTOUCHED(tp_conn);
    tp_status status = tp_conn_borrow(pool.env, work->raw.dbc, &conn);
    want_untouched(status, conn);
    if (status == TP_OK) work->other = conn;
    return status;
}

static void enqueues(struct work *work) {
    tp_new_task *task = work_fresh(work);
    must(tp_enqueue(work->other, task));
    work_note_fresh(work);
}

STEP(is_pending, want_task(work, 0, "pending", "pending", 0))

static void with_borrowed(struct work *work) {
    with_raw(work);
    must(tp_conn_borrow(pool.env, work->raw.dbc, &work->other));
}

/* What needs a transaction is refused where none is open. */
static tp_status refused(struct work *work) {
    tp_new_task task = task_new("x");
    task_set_id(&task, "0191d3a0-0000-7000-8000-000000000001");
    tp_status status = tp_enqueue(work->other, &task);
    return status == TP_MISUSE ? TP_OK : status < TP_OK ? status : TP_DB;
}

/* ---- Schema -------------------------------------------------------------------------------------------- */

CALL(check, tp_schema_check(work->conn))
CALL(install, tp_schema_install(work->conn))

static void count_text(const char *text, size_t length, void *arg) {
    size_t *bytes = arg;
    if (strlen(text) == length) *bytes += length;
}

static tp_status print(struct work *work) {
    size_t bytes = 0;
    (void)work;
    tp_status status = tp_schema_print(pool.env, count_text, &bytes);
    if (status == TP_OK && bytes < 1000) wrong("only %zu bytes of schema", bytes);
    return status;
}

/* A pool of its own in a file that is gone with the run. */
static void with_new_pool(struct work *work) {
    char dsn[DSN_MAX];
    const char *folder = getenv("TMPDIR");
    bool generic = pool_on_generic();
    snprintf(work->file, sizeof work->file, "%s/taskpool.%s.%s.db", folder ? folder : "/tmp", pool.prefix,
             work->key);
    snprintf(dsn, sizeof dsn, "Driver=SQLite3;Database=%s;%s", work->file, generic ? "Dialect=generic" : "");
    must(tp_env_open(dsn, &work->env));
    must(tp_conn_open(work->env, &work->other));
    work->conn = work->other;
}

static void remove_new_pool(struct work *work) {
    static const char *const ends[] = {"", "-wal", "-shm"};
    char path[sizeof work->file + 8];
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", work->file, ends[i]);
        remove(path);
    }
}

/* As version 1 left it. The sessions of the tests forget what they had prepared. */
static void version_1(struct work *work) {
    static const char *const tables[] = {"history", "once", "schedule", "worker", "pause", "activity"};
    static const char *const views[] = {"running", "failures", "throughput"};
    work_put(work, 1);
    forget_all(pool.a);
    forget_all(pool.b);
    forget_all(pool.eye);
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++)
        sql_run(pool.eye, "DROP VIEW tp_%s", views[i]);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        sql_run(pool.eye, "DROP TABLE tp_%s", tables[i]);
    sql_run(pool.eye, "DELETE FROM tp_meta WHERE name = 'schema_latest'");
    sql_run(pool.eye, "UPDATE tp_meta SET value = '1' WHERE name = 'schema'");
}

/* Whatever happened, the next test finds a whole pool. */
static void mend_pool(struct work *work) {
    (void)work;
    forget_all(pool.b);
    must(tp_schema_install(pool.b));
}

static void is_upgraded(struct work *work) {
    must(tp_schema_check(pool.b));
    want_task(work, 0, "pending", "pending", 0);
}

static const struct operation operations[] = {
    /* These three call no driver. */
    {"env_open", TRAIT_ALLOCATIONS, NULL, env, TP_OK, nothing_changed},
    {"env_open, with keys of taskpool's own", TRAIT_ALLOCATIONS, NULL, env_with_keys, TP_OK, nothing_changed},
    {"env_open, with braces", TRAIT_ALLOCATIONS, NULL, env_with_braces, TP_OK, nothing_changed},
    {"conn_open, the first", TRAIT_SESSIONS, with_env, open_conn, TP_OK, nothing_changed,
     .finish = finds_schema},
    {"conn_open, another", TRAIT_SESSIONS, NULL, open_conn, TP_OK, nothing_changed, .finish = finds_schema},
    /* What a lent connection is good for after a failure only the application can tell. */
    {"conn_borrow", TRAIT_ALLOCATIONS, with_raw, borrow, TP_OK, is_pending, .finish = enqueues},
    {"what a borrowed connection refuses", TRAIT_ALLOCATIONS, with_borrowed, refused, TP_OK, nothing_changed},
    {"schema_check", 0, NULL, check, TP_OK, nothing_changed},
    {"schema_install, nothing to do", 0, NULL, install, TP_OK, nothing_changed},
    {"schema_install", TRAIT_SQLITE | TRAIT_EXPENSIVE, with_new_pool, install, TP_OK, nothing_changed,
     .finish = finds_schema, .clear = remove_new_pool},
    {"schema_install, from version 1", TRAIT_SHARED | TRAIT_NO_TABLES | TRAIT_EXPENSIVE, version_1, install,
     TP_OK, is_upgraded, .clear = mend_pool},
    {"schema_print", TRAIT_ALLOCATIONS | TRAIT_SQLITE, NULL, print, TP_OK, nothing_changed},
};

OPERATION_GROUP(schema, test_faults__a_schema_is_whole_whichever_call_fails, operations);
