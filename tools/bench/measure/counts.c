/* Reads what each database counted of its own work. See counts.h. */
#include "bench/measure/counts.h"

#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/pool.h"
#include "support/sql.h"

/* Those that are filled: the server is to clear them away and look through them when it is told to, not on
 * its own in the midst of a count. */
static const char *const tables[] = {"pending", "finished", "failed", "history", "once", "step", "cancel"};
enum { TABLES = sizeof tables / sizeof tables[0] };

/* ---- PostgreSQL ---------------------------------------------------------------------------------------- */

void counts_publish(tp_conn *conn) {
    if (pool_on_postgres()) sql_run(conn, "SELECT pg_stat_force_next_flush()");
}

/* A session's counts come to all others after a transaction, and up to a second later; within one it sees its
 * own. */
static struct counts read_postgres(tp_conn *conn, bool in_tx) {
    struct sql_row row;
    const char *own = in_tx ? "xact_" : "";
    if (!in_tx) {
        counts_publish(conn);
        counts_publish(pool.eye);
    }
    sql_row(in_tx ? conn : pool.eye, &row,
            "SELECT SUM(pg_stat_get_%stuples_returned(c.oid)), SUM(pg_stat_get_%sblocks_fetched(c.oid)) "
            "FROM pg_class c WHERE c.relname LIKE '%s%%' AND c.relkind IN ('r', 'i')",
            own, own, pool.prefix);
    return (struct counts){strtoll(row.cell[0], NULL, 10), strtoll(row.cell[1], NULL, 10)};
}

/* ---- MariaDB ------------------------------------------------------------------------------------------- */

static void add_up(const struct sql_row *row, void *arg) {
    *(int64_t *)arg += strtoll(row->cell[1], NULL, 10);
}

static int64_t status_of(tp_conn *conn, const char *scope, const char *like) {
    int64_t sum = 0;
    sure(sql_raw_each(tp_conn_dbc(conn), add_up, &sum, "SHOW %s STATUS LIKE '%s'", scope, like), "%s",
         sql_reason());
    return sum;
}

/* SHOW STATUS leaves itself out of the session's counts. */
static struct counts read_mariadb(tp_conn *conn) {
    return (struct counts){status_of(conn, "SESSION", "Handler\\_read\\_%"),
                           status_of(conn, "GLOBAL", "Innodb\\_buffer\\_pool\\_read\\_requests")};
}

/* The server clears away on its own. A transaction that is left open would stop it. */
static void await_purge(void) {
    tp_conn *eye = pool.eye;
    for (int quiet = 0; quiet < 3;) {
        int64_t before = status_of(eye, "GLOBAL", "Innodb\\_buffer\\_pool\\_read\\_requests");
        sql_run(eye, "DO SLEEP(0.05)");
        bool still = status_of(eye, "GLOBAL", "Innodb\\_buffer\\_pool\\_read\\_requests") - before < 20;
        bool clear = status_of(eye, "GLOBAL", "Innodb\\_history\\_list\\_length") == 0;
        quiet = still && clear ? quiet + 1 : 0;
    }
}

/* ---- Any ----------------------------------------------------------------------------------------------- */

struct counts counts_read(tp_conn *conn, bool in_tx) {
    if (pool_on_postgres()) return read_postgres(conn, in_tx);
    if (pool_on_mariadb()) return read_mariadb(conn);
    return counts_of_sqlite;
}

void counts_open(void) {
    counts_open_of_sqlite = true;
    for (int i = 0; i < TABLES; i++) {
        if (pool_on_postgres())
            sql_run(pool.eye, "ALTER TABLE tp_%s SET (autovacuum_enabled = off)", tables[i]);
        if (pool_on_mariadb()) sql_run(pool.eye, "ALTER TABLE tp_%s STATS_AUTO_RECALC = 0", tables[i]);
    }
}

void counts_settle(bool rows_only) {
    for (int i = 0; i < TABLES; i++) {
        if (pool_on_postgres()) sql_run(pool.eye, "VACUUM (ANALYZE, INDEX_CLEANUP ON) tp_%s", tables[i]);
        if (pool_on_mariadb()) sql_run(pool.eye, "ANALYZE TABLE tp_%s", tables[i]);
    }
    if (pool_on_mariadb() && !rows_only) await_purge();
}
