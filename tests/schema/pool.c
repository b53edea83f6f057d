/* See pool.h. */
#include "schema/pool.h"
#include "support/dsn.h"
#include "support/prepare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* tp_ at the beginning of a word becomes the prefix. */
static void with_prefix(const char *prefix, const char *sql, char *out, size_t size) {
    size_t used = 0;
    for (const char *at = sql; *at;) {
        bool begins =
            strncmp(at, "tp_", 3) == 0 && (at == sql || !strchr("abcdefghijklmnopqrstuvwxyz_", at[-1]));
        const char *piece = begins ? prefix : at;
        size_t length = begins ? strlen(prefix) : 1;
        assert_true(used + length < size);
        memcpy(out + used, piece, length);
        used += length;
        at += begins ? 3 : 1;
    }
    out[used] = '\0';
}

void pool_run(struct pool *pool, const char *sql) {
    char text[4096];
    with_prefix(pool->prefix, sql, text, sizeof text);
    plain_run(&pool->plain, text);
}

bool pool_try(struct pool *pool, const char *sql) {
    char text[4096];
    with_prefix(pool->prefix, sql, text, sizeof text);
    return plain_try(&pool->plain, text);
}

void pool_ask(struct pool *pool, const char *sql, char *out, size_t size) {
    char text[4096];
    with_prefix(pool->prefix, sql, text, sizeof text);
    plain_ask(&pool->plain, text, out, size);
}

long pool_count(struct pool *pool, const char *table) {
    char sql[1000], answer[32];
    assert_true(snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM %s", table) < (int)sizeof sql);
    pool_ask(pool, sql, answer, sizeof answer);
    return strtol(answer, NULL, 10);
}

bool pool_speaks(const struct pool *pool, const char *dialect) {
    return strcmp(tp_conn_about(pool->conn)->dialect, dialect) == 0;
}

/* ---- Making and dropping ------------------------------------------------------------------------------- */

void pool_drop_tables(struct pool *pool) {
    static const char *const tables[] = {"pending",  "finished", "failed", "history", "once",
                                         "schedule", "worker",   "pause",  "meta"};
    char sql[64];
    (void)pool_try(pool, "DROP VIEW tp_tasks");
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        snprintf(sql, sizeof sql, "DROP TABLE tp_%s", tables[i]);
        (void)pool_try(pool, sql);
    }
}

static void drop_functions(struct pool *pool) {
    (void)pool_try(pool, "DROP FUNCTION tp_now");
    (void)pool_try(pool, "DROP FUNCTION tp_utc");
    (void)pool_try(pool, "DROP FUNCTION tp_new_id");
}

void pool_open(struct pool *pool, const char *prefix) {
    const char *dsn = getenv("TASKPOOL_TEST_DSN");
    *pool = (struct pool){.entry = getenv("TASKPOOL_TEST_ENTRY")};
    if (!dsn || !pool->entry) fail_msg("run this by tests/support/on_database.sh");
    if (prefix)
        snprintf(pool->prefix, sizeof pool->prefix, "%s", prefix);
    else
        snprintf(pool->prefix, sizeof pool->prefix, "s%lx_", (unsigned long)getpid());
    dsn_with(dsn, "Prefix", pool->prefix, pool->dsn, sizeof pool->dsn);
    plain_open(&pool->plain, dsn);
    if (tp_env_open(pool->dsn, &pool->env) != TP_OK || tp_conn_open(pool->env, &pool->conn) != TP_OK)
        fail_msg("%s", tp_last_error()->text);
    prepare_pool(pool->prefix);
}

void pool_close(struct pool *pool) {
    if (!pool->plain.dbc) return;
    pool_drop_tables(pool);
    drop_functions(pool);
    tp_conn_close(pool->conn);
    tp_env_close(pool->env);
    plain_close(&pool->plain);
    *pool = (struct pool){0};
}

void pool_install(struct pool *pool) {
    if (tp_schema_install(pool->conn) != TP_OK) fail_msg("%s", tp_last_error()->text);
}
