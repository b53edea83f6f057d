/* A pool with a prefix of this process's own, installed and dropped by the test. */
#ifndef TESTS_SCHEMA_POOL_H
#define TESTS_SCHEMA_POOL_H

#include "schema/plain.h"
#include "taskpool.h"

struct pool {
    const char *entry;
    char dsn[2048]; /* with Prefix= */
    char prefix[TP_PREFIX_MAX + 1];
    struct plain plain;
    tp_env *env;
    tp_conn *conn;
};

/* Reads TASKPOOL_TEST_DSN and TASKPOOL_TEST_ENTRY, connects twice (plainly, and by the library), and makes
 * the stand-in's functions where they are needed. Installs nothing. prefix NULL: one made of the process id.
 */
void pool_open(struct pool *pool, const char *prefix);
/* Drops all that an install made, and closes. */
void pool_close(struct pool *pool);
/* The tables and the view, not the functions. */
void pool_drop_tables(struct pool *pool);
void pool_install(struct pool *pool);
/* Runs SQL in which tp_ stands for the prefix. */
void pool_run(struct pool *pool, const char *sql);
bool pool_try(struct pool *pool, const char *sql);
void pool_ask(struct pool *pool, const char *sql, char *out, size_t size);
/* table may go on with WHERE. */
long pool_count(struct pool *pool, const char *table);

/* Does the pool speak this dialect? */
bool pool_speaks(const struct pool *pool, const char *dialect);

#endif
