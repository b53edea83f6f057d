/* Operations on environments, connections and the schema; see scene.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/scene.h"

static void nothing_more(struct scene *scene, tp_status answer) {
    (void)scene;
    expect_number(answer, TP_OK);
}

/* ---- tp_env -------------------------------------------------------------------------------------------- */

static tp_status open_env(struct scene *scene, const char *dsn) {
    tp_env *env = UNTOUCHED(tp_env);
    tp_status status = tp_env_open(dsn, &env);
    expect_untouched(status, env);
    if (status == TP_OK) scene->env = env;
    return status;
}

static tp_status ask_env(struct scene *scene) {
    return open_env(scene, pool.dsn);
}

static tp_status ask_env_with_keys(struct scene *scene) {
    return open_env(scene, "Driver=SQLite3;Database=x;Dialect=sqlite;Prefix=ab_;Plan=cas;Prefix=cd_");
}

static tp_status ask_env_with_braces(struct scene *scene) {
    return open_env(scene, "Driver={SQLite3};Database={a}}b;c};PWD={ secret longer than sixty-four bytes, so "
                           "that its buffer has to grow once more };");
}

/* ---- tp_conn ------------------------------------------------------------------------------------------- */

static void arrange_env(struct scene *scene) {
    must(tp_env_open(pool.dsn, &scene->env));
}

static tp_status open_conn(struct scene *scene, tp_env *env) {
    tp_conn *conn = UNTOUCHED(tp_conn);
    tp_status status = tp_conn_open(env, &conn);
    expect_untouched(status, conn);
    if (status == TP_OK) scene->other = conn;
    return status;
}

static tp_status ask_first_conn(struct scene *scene) {
    return open_conn(scene, scene->env);
}

static tp_status ask_conn(struct scene *scene) {
    return open_conn(scene, pool.env);
}

static void judge_conn(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    must(tp_schema_check(scene->other));
}

static void arrange_conn(struct scene *scene) {
    must(tp_conn_open(pool.env, &scene->other));
    must(tp_schema_check(scene->other));
}

static tp_status ask_reopen(struct scene *scene) {
    return tp_conn_reopen(scene->other);
}

static void arrange_raw(struct scene *scene) {
    sure(pool_raw_open(&scene->raw), "no plain connection");
}

static tp_status ask_borrow(struct scene *scene) {
    tp_conn *conn = UNTOUCHED(tp_conn);
    tp_status status = tp_conn_borrow(pool.env, scene->raw.dbc, &conn);
    expect_untouched(status, conn);
    if (status == TP_OK) scene->other = conn;
    return status;
}

static void judge_borrow(struct scene *scene, tp_status answer) {
    tp_new_task task = task_new("x");
    expect_number(answer, TP_OK);
    must(tp_enqueue(scene->other, &task));
}

/* What needs a transaction is refused where none is open. */
static tp_status ask_refused(struct scene *scene) {
    if (!scene->other) must(tp_conn_borrow(pool.env, scene->raw.dbc, &scene->other));
    tp_new_task task = task_new("x");
    task.own_id = "0191d3a0-0000-7000-8000-000000000001";
    tp_status status = tp_enqueue(scene->other, &task);
    return status == TP_MISUSE ? TP_OK : status == TP_NOMEM ? status : TP_DB;
}

static void arrange_borrowed(struct scene *scene) {
    arrange_raw(scene);
    must(tp_conn_borrow(pool.env, scene->raw.dbc, &scene->other));
}

/* ---- Transactions -------------------------------------------------------------------------------------- */

static int64_t effects(void) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_fx WHERE note = '%s'", pool.handler);
}

/* The application does not look at the answer of its own statement; that of the commit must tell. */
static tp_status ask_transaction(struct scene *scene) {
    if (scene->again && effects()) return TP_OK;
    tp_status status = tp_begin(scene->conn);
    if (status != TP_OK) return status;
    (void)sql_try(scene->conn, "INSERT INTO tp_fx (task_id, note) VALUES ('t', '%s')", pool.handler);
    return tp_commit(scene->conn);
}

static void judge_transaction(struct scene *scene, tp_status answer) {
    nothing_more(scene, answer);
    expect_number(effects(), 1);
}

/* ---- Schema -------------------------------------------------------------------------------------------- */

static tp_status ask_schema_check(struct scene *scene) {
    return tp_schema_check(scene->conn);
}

static tp_status ask_schema_install(struct scene *scene) {
    return tp_schema_install(scene->conn);
}

static void count_text(const char *text, size_t length, void *arg) {
    size_t *bytes = arg;
    if (strlen(text) == length) *bytes += length;
}

static tp_status ask_print(struct scene *scene) {
    size_t bytes = 0;
    tp_status status = tp_schema_print(pool.env, count_text, &bytes);
    if (status == TP_OK) scene->number = (int64_t)bytes;
    return status;
}

static void judge_print(struct scene *scene, tp_status answer) {
    nothing_more(scene, answer);
    if (scene->number < 1000) fail_msg("only %d bytes of schema", (int)scene->number);
}

/* A pool of its own in a file that is gone with the scene. */
static void arrange_new_pool(struct scene *scene) {
    char dsn[DSN_MAX];
    const char *folder = getenv("TMPDIR");
    bool generic = strstr(pool.entry, "generic") != NULL;
    snprintf(scene->file, sizeof scene->file, "%s/taskpool.%s.db", folder ? folder : "/tmp", scene->name);
    snprintf(dsn, sizeof dsn, "Driver=SQLite3;Database=%s;%s", scene->file, generic ? "Dialect=generic" : "");
    must(tp_env_open(dsn, &scene->env));
    must(tp_conn_open(scene->env, &scene->other));
}

static tp_status ask_install_new(struct scene *scene) {
    return tp_schema_install(scene->other);
}

static void remove_new_pool(struct scene *scene) {
    static const char *const ends[] = {"", "-wal", "-shm"};
    char path[sizeof scene->file + 8];
    tp_conn_close(scene->other);
    scene->other = NULL;
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", scene->file, ends[i]);
        remove(path);
    }
}

/* As version 1 left it. The sessions of the tests forget what they had prepared. */
static void arrange_version_1(struct scene *scene) {
    static const char *const tables[] = {"history", "once", "schedule", "worker", "pause"};
    scene_put(scene, 1, "x");
    scene_forget(pool.a);
    scene_forget(pool.b);
    scene_forget(pool.eye);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        sql_run(pool.eye, "DROP TABLE tp_%s", tables[i]);
    sql_run(pool.eye, "UPDATE tp_meta SET value = '1' WHERE name = 'schema'");
}

static void judge_upgrade(struct scene *scene, tp_status answer) {
    nothing_more(scene, answer);
    must(tp_schema_check(pool.b));
    expect_row(scene->id[0], "pending", "pending", 0);
}

/* Whatever happened, the next test finds a whole pool. */
static void mend_pool(struct scene *scene) {
    (void)scene;
    scene_forget(pool.b);
    must(tp_schema_install(pool.b));
}

const struct act scenes_of_connections[] = {
    {"tp_env_open", NULL, 0, NULL, ask_env, nothing_more, NULL},
    {"tp_env_open, with keys of taskpool's own", NULL, 0, NULL, ask_env_with_keys, nothing_more, NULL},
    {"tp_env_open, with braces", NULL, 0, NULL, ask_env_with_braces, nothing_more, NULL},
    {"tp_conn_open, the first", NULL, 0, arrange_env, ask_first_conn, judge_conn, NULL},
    {"tp_conn_open, another", NULL, 0, NULL, ask_conn, judge_conn, NULL},
    {"tp_conn_reopen", NULL, 0, arrange_conn, ask_reopen, judge_conn, NULL},
    {"tp_conn_borrow", NULL, 0, arrange_raw, ask_borrow, judge_borrow, NULL},
    {"what a borrowed connection refuses", NULL, 0, arrange_borrowed, ask_refused, nothing_more, NULL},
    {"tp_begin, tp_commit", NULL, ACT_CALLS | ACT_EACH, NULL, ask_transaction, judge_transaction, NULL},
    {"tp_schema_check", NULL, ACT_CALLS, NULL, ask_schema_check, nothing_more, NULL},
    {"tp_schema_install, nothing to do", NULL, ACT_CALLS, NULL, ask_schema_install, nothing_more, NULL},
    {"tp_schema_install", NULL, ACT_SQLITE, arrange_new_pool, ask_install_new, judge_conn, remove_new_pool},
    {"tp_schema_install, from version 1", NULL, ACT_HEAVY | ACT_CALLS, arrange_version_1, ask_schema_install,
     judge_upgrade, mend_pool},
    {"tp_schema_print", NULL, ACT_SQLITE, NULL, ask_print, judge_print, NULL},
    {NULL, NULL, 0, NULL, NULL, NULL, NULL}};
