/* What the database itself counts of the work it does for one session: rows (index entries and rows that
 * scans gave; on SQLite steps of its virtual machine) and buffers (pages looked at, wherever they were).
 * Exact where nobody else works on the pool; on MariaDB buffers are the whole server's. Read next: growth.c.
 */
#ifndef TOOLS_BENCH_COUNTS_H
#define TOOLS_BENCH_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "taskpool_odbc.h"

struct counts {
    int64_t rows, buffers;
};

/* The counts up to now. in_tx: conn is in a transaction, and so it was at the reading to compare with. */
struct counts counts_read(tp_conn *conn, bool in_tx);
/* On PostgreSQL, adds what conn has done to the counts now, not up to a second later among those of somebody
 * else. */
void counts_publish(tp_conn *conn);
/* Clears away what earlier work left behind (dead rows, marked entries) and has the database look at the
 * tables' sizes, so that what is counted next is only what is asked for. rows_only: on MariaDB, nothing is
 * waited for, since only buffers are different then. */
void counts_settle(bool rows_only);
/* Leaves clearing away to counts_settle; once the tables are there. */
void counts_open(void);

/* Kept by sqlite_steps.c from counts_open on: counting costs instructions, which others measure. */
extern struct counts counts_of_sqlite;
extern bool counts_open_of_sqlite;

#endif
