/* See bring.h. */
#include "lent/bring.h"

#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "support/sql.h"
#include "support/tasks.h"

enum { MANY = 1001 }; /* more than one statement takes */

void key_of(struct visit *visit) {
    static int number;
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE handler = '%s'", pool.handler);
    sql_run(pool.eye, "DELETE FROM tp_fx WHERE task_id = '%s'", pool.handler);
    snprintf(visit->once_new, sizeof visit->once_new, "%s/level%d", pool.handler, ++number);
}

void close_lent(struct visit *visit, struct pool_raw *raw) {
    tp_conn_close(visit->conn);
    pool_raw_close(raw);
}

const struct way *way_named(const char *name) {
    for (size_t i = 0; way_at(i); i++)
        if (strcmp(way_at(i)->name, name) == 0) return way_at(i);
    fail_msg("no way %s", name);
    return NULL;
}

tp_status bring(tp_conn *conn, const char *key, enum bringing how) {
    static tp_new_task many[MANY];
    size_t inserted = 0, count = how == AMONG_MANY ? MANY : 1;
    if (how == IN_THE_LEDGER) return tp_once(conn, key, NULL);
    for (size_t i = 0; i < count; i++)
        many[i] = task_new("x");
    many[count - 1].dedup_key = key;
    tp_status status = tp_enqueue_many(conn, many, count, &inserted);
    return status == TP_OK && inserted < count ? TP_EXISTS : status;
}

void effect_raw(SQLHDBC dbc, const char *note) {
    sure(sql_raw(dbc, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', '%s')", pool.handler, note), "%s: %s",
         note, sql_reason());
}

void end_raw(SQLHDBC dbc, SQLSMALLINT how) {
    assert_true(SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, dbc, how)));
}

int64_t effects_raw(void) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_fx WHERE task_id = '%s'", pool.handler);
}
