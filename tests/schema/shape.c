/* See shape.h. What may differ from database to database: the type by which a class of values is stored, and
 * the name of the index behind a primary key. Nothing else. */
#include "schema/shape.h"

#include <ctype.h>
#include <sqlext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/pool.h"
#include "support/sql.h"

/* ---- The list ------------------------------------------------------------------------------------------ */

enum class { UUID, TEXT, LONG, SMALL, INTEGER, BIG };

enum { NOT_NULL = 0, MAY_BE_NULL = 1 };
/* A column in which tables? */
enum {
    META = 1,
    PENDING = 2,
    FINISHED = 4,
    FAILED = 8,
    POOLS = PENDING | FINISHED | FAILED,
    HISTORY = 16,
    ONCE = 32,
    SCHEDULE = 64,
    WORKER = 128,
    PAUSE = 256,
    ACTIVITY = 512,
    AUDIT = 1024,
    AUDIT_HEAD = 2048,
    REQUEST = 4096,
    REQUEST_ROW = 8192,
    CALENDAR = 16384,
    CALENDAR_DAY = 32768,
    STEP = 65536,
    GATE = 131072,
    GATE_TASK = 262144,
    GROUP = 524288,
    GROUP_TASK = 1048576,
    PROGRESS = 2097152,
    CANCEL = 4194304
};

static const struct column {
    unsigned tables;
    const char *name;
    enum class class;
    long size; /* of TEXT, in characters */
    long null;
} columns[] = {
    {META, "name", TEXT, 30, NOT_NULL},
    {META, "value", TEXT, 200, NOT_NULL},
    {POOLS, "id", UUID, 0, NOT_NULL},
    {POOLS, "handler", TEXT, 64, NOT_NULL},
    {POOLS, "biz_key", TEXT, 128, MAY_BE_NULL},
    {POOLS, "dedup_key", TEXT, 128, MAY_BE_NULL},
    {POOLS, "params", LONG, 0, MAY_BE_NULL},
    {POOLS, "shard", INTEGER, 0, NOT_NULL},
    {POOLS, "priority", SMALL, 0, NOT_NULL},
    {POOLS, "state", TEXT, 8, NOT_NULL},
    {POOLS, "failures", INTEGER, 0, NOT_NULL},
    {POOLS, "max_failures", INTEGER, 0, MAY_BE_NULL},
    {POOLS, "reason", TEXT, 512, MAY_BE_NULL},
    {POOLS, "owner", UUID, 0, MAY_BE_NULL},
    {POOLS, "due_at", BIG, 0, NOT_NULL},
    {POOLS, "created_at", BIG, 0, NOT_NULL},
    {POOLS, "modified_at", BIG, 0, NOT_NULL},
    {PENDING, "wanted_at", BIG, 0, MAY_BE_NULL},
    {FINISHED | FAILED, "settled_at", BIG, 0, NOT_NULL},
    {POOLS, "gate", TEXT, 129, MAY_BE_NULL},
    {FINISHED, "result", LONG, 0, MAY_BE_NULL},
    {HISTORY, "id", UUID, 0, NOT_NULL},
    {HISTORY, "task_id", UUID, 0, MAY_BE_NULL},
    {HISTORY, "handler", TEXT, 64, MAY_BE_NULL},
    {HISTORY, "event", TEXT, 8, NOT_NULL},
    {HISTORY, "attempt", INTEGER, 0, MAY_BE_NULL},
    {HISTORY, "owner", UUID, 0, MAY_BE_NULL},
    {HISTORY, "who", TEXT, 128, MAY_BE_NULL},
    {HISTORY, "reason", TEXT, 512, MAY_BE_NULL},
    {HISTORY, "created_at", BIG, 0, NOT_NULL},
    {HISTORY, "alert_at", BIG, 0, MAY_BE_NULL},
    {ONCE, "once_key", TEXT, 128, NOT_NULL},
    {ONCE, "handler", TEXT, 64, MAY_BE_NULL},
    {ONCE, "task_id", UUID, 0, MAY_BE_NULL},
    {ONCE, "owner", UUID, 0, NOT_NULL},
    {ONCE, "created_at", BIG, 0, NOT_NULL},
    {SCHEDULE, "name", TEXT, 64, NOT_NULL},
    {SCHEDULE, "rule", TEXT, 200, NOT_NULL},
    {SCHEDULE, "time_zone", TEXT, 64, MAY_BE_NULL},
    {SCHEDULE, "handler", TEXT, 64, NOT_NULL},
    {SCHEDULE, "params", LONG, 0, MAY_BE_NULL},
    {SCHEDULE, "biz_key", TEXT, 128, MAY_BE_NULL},
    {SCHEDULE, "shard", INTEGER, 0, NOT_NULL},
    {SCHEDULE, "priority", SMALL, 0, NOT_NULL},
    {SCHEDULE, "max_failures", INTEGER, 0, MAY_BE_NULL},
    {SCHEDULE, "missed", TEXT, 8, NOT_NULL},
    {SCHEDULE, "missed_max", INTEGER, 0, NOT_NULL},
    {SCHEDULE, "alone", SMALL, 0, NOT_NULL},
    {SCHEDULE, "paused", SMALL, 0, NOT_NULL},
    {SCHEDULE, "next_at", BIG, 0, MAY_BE_NULL},
    {SCHEDULE, "last_at", BIG, 0, MAY_BE_NULL},
    {SCHEDULE, "last_task", UUID, 0, MAY_BE_NULL},
    {SCHEDULE, "created_at", BIG, 0, NOT_NULL},
    {SCHEDULE, "modified_at", BIG, 0, NOT_NULL},
    {SCHEDULE, "calendar", TEXT, 64, MAY_BE_NULL},
    {SCHEDULE, "closed", TEXT, 8, MAY_BE_NULL},
    {SCHEDULE, "rule_at", BIG, 0, MAY_BE_NULL},
    {SCHEDULE, "fire_at", BIG, 0, MAY_BE_NULL},
    {SCHEDULE, "calendar_version", TEXT, 36, MAY_BE_NULL},
    {CALENDAR, "name", TEXT, 64, NOT_NULL},
    {CALENDAR, "time_zone", TEXT, 64, MAY_BE_NULL},
    {CALENDAR, "weekdays", TEXT, 32, NOT_NULL},
    {CALENDAR, "cut_off", TEXT, 5, NOT_NULL},
    {CALENDAR, "first_date", TEXT, 10, NOT_NULL},
    {CALENDAR, "last_date", TEXT, 10, NOT_NULL},
    {CALENDAR, "version", TEXT, 36, NOT_NULL},
    {CALENDAR, "changed_by", TEXT, 128, MAY_BE_NULL},
    {CALENDAR, "created_at", BIG, 0, NOT_NULL},
    {CALENDAR, "modified_at", BIG, 0, NOT_NULL},
    {CALENDAR_DAY, "calendar", TEXT, 64, NOT_NULL},
    {CALENDAR_DAY, "business_date", TEXT, 10, NOT_NULL},
    {CALENDAR_DAY, "kind", TEXT, 8, NOT_NULL},
    {CALENDAR_DAY, "cut_off", TEXT, 5, MAY_BE_NULL},
    {CALENDAR_DAY, "name", TEXT, 128, MAY_BE_NULL},
    {WORKER, "id", UUID, 0, NOT_NULL},
    {WORKER, "name", TEXT, 128, NOT_NULL},
    {WORKER, "host", TEXT, 128, NOT_NULL},
    {WORKER, "pid", INTEGER, 0, NOT_NULL},
    {WORKER, "handlers", TEXT, 512, NOT_NULL},
    {WORKER, "plan", TEXT, 8, NOT_NULL},
    {WORKER, "threads", INTEGER, 0, NOT_NULL},
    {WORKER, "state", TEXT, 8, NOT_NULL},
    {WORKER, "running", INTEGER, 0, NOT_NULL},
    {WORKER, "claimed", BIG, 0, NOT_NULL},
    {WORKER, "done", BIG, 0, NOT_NULL},
    {WORKER, "failed", BIG, 0, NOT_NULL},
    {WORKER, "started_at", BIG, 0, NOT_NULL},
    {WORKER, "seen_at", BIG, 0, NOT_NULL},
    {WORKER, "token_tag", TEXT, 12, MAY_BE_NULL},
    {WORKER, "drain_at", BIG, 0, MAY_BE_NULL},
    {WORKER, "drain_who", TEXT, 128, MAY_BE_NULL},
    {PAUSE, "handler", TEXT, 64, NOT_NULL},
    {PAUSE, "who", TEXT, 128, MAY_BE_NULL},
    {PAUSE, "reason", TEXT, 512, MAY_BE_NULL},
    {PAUSE, "created_at", BIG, 0, NOT_NULL},
    {ACTIVITY, "minute", BIG, 0, NOT_NULL},
    {ACTIVITY, "worker", UUID, 0, NOT_NULL},
    {ACTIVITY, "handler", TEXT, 64, NOT_NULL},
    {ACTIVITY, "done", BIG, 0, NOT_NULL},
    {ACTIVITY, "failed", BIG, 0, NOT_NULL},
    {ACTIVITY, "gave_up", BIG, 0, NOT_NULL},
    {ACTIVITY, "skipped", BIG, 0, NOT_NULL},
    {ACTIVITY, "released", BIG, 0, NOT_NULL},
    {ACTIVITY, "lost", BIG, 0, NOT_NULL},
    {ACTIVITY, "wait_sum", BIG, 0, NOT_NULL},
    {ACTIVITY, "wait_max", BIG, 0, NOT_NULL},
    {ACTIVITY, "wait_0", BIG, 0, NOT_NULL},
    {ACTIVITY, "wait_1", BIG, 0, NOT_NULL},
    {ACTIVITY, "wait_2", BIG, 0, NOT_NULL},
    {ACTIVITY, "wait_3", BIG, 0, NOT_NULL},
    {ACTIVITY, "wait_4", BIG, 0, NOT_NULL},
    {ACTIVITY, "wait_5", BIG, 0, NOT_NULL},
    {ACTIVITY, "wait_6", BIG, 0, NOT_NULL},
    {ACTIVITY, "wait_7", BIG, 0, NOT_NULL},
    {ACTIVITY, "wait_8", BIG, 0, NOT_NULL},
    {ACTIVITY, "wait_9", BIG, 0, NOT_NULL},
    {ACTIVITY, "run_sum", BIG, 0, NOT_NULL},
    {ACTIVITY, "run_max", BIG, 0, NOT_NULL},
    {ACTIVITY, "run_0", BIG, 0, NOT_NULL},
    {ACTIVITY, "run_1", BIG, 0, NOT_NULL},
    {ACTIVITY, "run_2", BIG, 0, NOT_NULL},
    {ACTIVITY, "run_3", BIG, 0, NOT_NULL},
    {ACTIVITY, "run_4", BIG, 0, NOT_NULL},
    {ACTIVITY, "run_5", BIG, 0, NOT_NULL},
    {ACTIVITY, "run_6", BIG, 0, NOT_NULL},
    {ACTIVITY, "run_7", BIG, 0, NOT_NULL},
    {ACTIVITY, "run_8", BIG, 0, NOT_NULL},
    {ACTIVITY, "run_9", BIG, 0, NOT_NULL},
    {AUDIT_HEAD, "id", INTEGER, 0, NOT_NULL},
    {AUDIT | AUDIT_HEAD, "seq", BIG, 0, NOT_NULL},
    {AUDIT, "act", UUID, 0, NOT_NULL},
    {AUDIT, "created_at", BIG, 0, NOT_NULL},
    {AUDIT, "who", TEXT, 128, MAY_BE_NULL},
    {AUDIT, "action", TEXT, 16, NOT_NULL},
    {AUDIT, "subject", TEXT, 128, MAY_BE_NULL},
    {AUDIT, "detail", TEXT, 512, MAY_BE_NULL},
    {AUDIT, "changed", BIG, 0, NOT_NULL},
    {AUDIT, "ids_hash", TEXT, 64, MAY_BE_NULL},
    {AUDIT, "request_id", UUID, 0, MAY_BE_NULL},
    {AUDIT, "reason", TEXT, 512, MAY_BE_NULL},
    {AUDIT, "prev_hash", TEXT, 64, NOT_NULL},
    {AUDIT, "row_hash", TEXT, 64, NOT_NULL},
    {REQUEST, "id", UUID, 0, NOT_NULL},
    {REQUEST, "act", TEXT, 9, NOT_NULL},
    {REQUEST, "state", TEXT, 8, NOT_NULL},
    {REQUEST, "pool", TEXT, 8, MAY_BE_NULL},
    {REQUEST, "selection", TEXT, 2000, MAY_BE_NULL},
    {REQUEST, "tasks", BIG, 0, NOT_NULL},
    {REQUEST, "done", BIG, 0, MAY_BE_NULL},
    {REQUEST, "asked_by", TEXT, 128, NOT_NULL},
    {REQUEST, "why", TEXT, 512, MAY_BE_NULL},
    {REQUEST, "created_at", BIG, 0, NOT_NULL},
    {REQUEST, "expires_at", BIG, 0, NOT_NULL},
    {REQUEST, "decided_by", TEXT, 128, MAY_BE_NULL},
    {REQUEST, "decision", TEXT, 512, MAY_BE_NULL},
    {REQUEST, "decided_at", BIG, 0, MAY_BE_NULL},
    {REQUEST, "fields", INTEGER, 0, MAY_BE_NULL},
    {REQUEST, "params", LONG, 0, MAY_BE_NULL},
    {REQUEST, "biz_key", TEXT, 128, MAY_BE_NULL},
    {REQUEST, "dedup_key", TEXT, 128, MAY_BE_NULL},
    {REQUEST, "priority", SMALL, 0, MAY_BE_NULL},
    {REQUEST, "due_at", BIG, 0, MAY_BE_NULL},
    {REQUEST, "max_failures", INTEGER, 0, MAY_BE_NULL},
    {REQUEST, "retried", SMALL, 0, MAY_BE_NULL},
    {REQUEST_ROW, "request_id", UUID, 0, NOT_NULL},
    {REQUEST_ROW, "pool", TEXT, 8, NOT_NULL},
    {REQUEST_ROW, "row_key", TEXT, 128, NOT_NULL},
    {REQUEST_ROW, "state", TEXT, 8, MAY_BE_NULL},
    {REQUEST_ROW, "modified_at", BIG, 0, NOT_NULL},
    {GATE, "name", TEXT, 129, NOT_NULL},
    {GATE, "width", INTEGER, 0, NOT_NULL},
    {GATE, "on_failure", TEXT, 8, NOT_NULL},
    {GATE, "next_place", BIG, 0, NOT_NULL},
    {GATE, "let_through", INTEGER, 0, NOT_NULL},
    {GATE, "changed_by", TEXT, 128, MAY_BE_NULL},
    {GATE, "created_at", BIG, 0, NOT_NULL},
    {GATE, "modified_at", BIG, 0, NOT_NULL},
    {GATE, "tokens", INTEGER, 0, MAY_BE_NULL},
    {GATE, "period_ms", BIG, 0, MAY_BE_NULL},
    {GATE, "held", TEXT, 1500, MAY_BE_NULL},
    {GATE, "token_at", BIG, 0, MAY_BE_NULL},
    {GATE, "pattern", TEXT, 129, MAY_BE_NULL},
    {GATE_TASK, "task_id", UUID, 0, NOT_NULL},
    {GATE_TASK, "gate", TEXT, 129, NOT_NULL},
    {GATE_TASK, "place", BIG, 0, NOT_NULL},
    {GATE_TASK, "passed", SMALL, 0, NOT_NULL},
    {GROUP, "name", TEXT, 128, NOT_NULL},
    {GROUP, "state", TEXT, 8, NOT_NULL},
    {GROUP, "rule", TEXT, 8, NOT_NULL},
    {GROUP, "parent", TEXT, 128, MAY_BE_NULL},
    {GROUP, "cancelled", SMALL, 0, NOT_NULL},
    {GROUP, "seen_id", UUID, 0, NOT_NULL},
    {GROUP, "created_at", BIG, 0, NOT_NULL},
    {GROUP, "modified_at", BIG, 0, NOT_NULL},
    {GROUP, "closed_at", BIG, 0, MAY_BE_NULL},
    {GROUP, "ended_at", BIG, 0, MAY_BE_NULL},
    {GROUP_TASK, "group_name", TEXT, 128, NOT_NULL},
    {GROUP_TASK, "waits", SMALL, 0, NOT_NULL},
    {GROUP_TASK, "task_id", UUID, 0, NOT_NULL},
    {STEP, "task_id", UUID, 0, NOT_NULL},
    {STEP, "step", TEXT, 64, NOT_NULL},
    {STEP, "task_created_at", BIG, 0, NOT_NULL},
    {STEP, "owner", UUID, 0, NOT_NULL},
    {STEP, "result", LONG, 0, MAY_BE_NULL},
    {STEP, "created_at", BIG, 0, NOT_NULL},
    {PROGRESS, "task_id", UUID, 0, NOT_NULL},
    {PROGRESS, "owner", UUID, 0, NOT_NULL},
    {PROGRESS, "percent", SMALL, 0, NOT_NULL},
    {PROGRESS, "message", TEXT, 512, MAY_BE_NULL},
    {PROGRESS, "modified_at", BIG, 0, NOT_NULL},
    {CANCEL, "task_id", UUID, 0, NOT_NULL},
    {CANCEL, "due_at", BIG, 0, NOT_NULL},
    {CANCEL, "who", TEXT, 128, MAY_BE_NULL},
    {CANCEL, "reason", TEXT, 512, MAY_BE_NULL},
    {CANCEL, "created_at", BIG, 0, NOT_NULL},
};

static const struct index {
    unsigned table;
    const char *name; /* NULL: the primary key's */
    bool unique;
    const char *columns;
    const char *partial; /* its name where it leaves out rows without a value; NULL: it never does */
} indexes[] = {
    {META, NULL, true, "name", NULL},
    {PENDING, NULL, true, "id", NULL},
    {PENDING, "tp_pending_due", false, "handler, priority, due_at, id", NULL},
    {PENDING, "tp_pending_shd", false, "handler, shard, priority, due_at, id", NULL},
    {PENDING, "tp_pending_own", false, "owner", "tp_pending_held"},
    {PENDING, "tp_pending_biz", false, "biz_key", "tp_pending_key"},
    {PENDING, "tp_pending_dup", true, "dedup_key", "tp_pending_one"},
    {FINISHED, NULL, true, "id", NULL},
    {FINISHED, "tp_finished_biz", false, "biz_key", "tp_finished_key"},
    {FINISHED, "tp_finished_age", false, "settled_at", NULL},
    {FAILED, NULL, true, "id", NULL},
    {FAILED, "tp_failed_biz", false, "biz_key", "tp_failed_key"},
    {FAILED, "tp_failed_age", false, "settled_at", NULL},
    {HISTORY, NULL, true, "id", NULL},
    {HISTORY, "tp_history_task", false, "task_id, created_at", NULL},
    {HISTORY, "tp_history_alert", false, "alert_at", NULL},
    {HISTORY, "tp_history_age", false, "created_at", NULL},
    {ONCE, NULL, true, "once_key", NULL},
    {ONCE, "tp_once_age", false, "created_at", NULL},
    {SCHEDULE, NULL, true, "name", NULL},
    {SCHEDULE, "tp_schedule_next", false, "next_at", NULL},
    {CALENDAR, NULL, true, "name", NULL},
    {CALENDAR_DAY, NULL, true, "calendar, business_date", NULL},
    {WORKER, NULL, true, "id", NULL},
    {WORKER, "tp_worker_seen", false, "seen_at", NULL},
    {WORKER, "tp_worker_tag", false, "token_tag", NULL},
    {WORKER, "tp_worker_state", false, "state, seen_at", NULL},
    {PAUSE, NULL, true, "handler", NULL},
    {ACTIVITY, NULL, true, "minute, worker, handler", NULL},
    {AUDIT, NULL, true, "seq", NULL},
    {AUDIT, "tp_audit_time", false, "created_at", NULL},
    {AUDIT_HEAD, NULL, true, "id", NULL},
    {REQUEST, NULL, true, "id", NULL},
    {REQUEST, "tp_request_state", false, "state, created_at", NULL},
    {REQUEST_ROW, NULL, true, "request_id, pool, row_key", NULL},
    {STEP, NULL, true, "task_id, step, task_created_at", NULL},
    {PROGRESS, NULL, true, "task_id, owner", NULL},
    {GATE, NULL, true, "name", NULL},
    {GATE, "tp_gate_token", false, "token_at", NULL},
    {GATE, "tp_gate_pattern", false, "pattern", NULL},
    {GATE_TASK, NULL, true, "task_id", NULL},
    {GATE_TASK, "tp_gate_task_next", false, "passed, gate, place", NULL},
    {GROUP, NULL, true, "name", NULL},
    {GROUP, "tp_group_state", false, "state, ended_at", NULL},
    {GROUP, "tp_group_parent", false, "parent", NULL},
    {GROUP_TASK, NULL, true, "group_name, waits, task_id", NULL},
    {GROUP_TASK, "tp_group_member", false, "task_id", NULL},
    {CANCEL, NULL, true, "task_id", NULL},
    {CANCEL, "tp_cancel_due", false, "due_at, task_id", NULL},
};

static const struct table {
    unsigned bit;
    const char *name;
} tables[] = {{META, "meta"},
              {PENDING, "pending"},
              {FINISHED, "finished"},
              {FAILED, "failed"},
              {HISTORY, "history"},
              {ONCE, "once"},
              {SCHEDULE, "schedule"},
              {WORKER, "worker"},
              {PAUSE, "pause"},
              {ACTIVITY, "activity"},
              {AUDIT, "audit"},
              {AUDIT_HEAD, "audit_head"},
              {REQUEST, "request"},
              {REQUEST_ROW, "request_row"},
              {CALENDAR, "calendar"},
              {CALENDAR_DAY, "calendar_day"},
              {STEP, "step"},
              {GATE, "gate"},
              {GATE_TASK, "gate_task"},
              {GROUP, "group"},
              {GROUP_TASK, "group_task"},
              {PROGRESS, "progress"},
              {CANCEL, "cancel"}};

enum {
    COLUMNS = sizeof columns / sizeof columns[0],
    INDEXES = sizeof indexes / sizeof indexes[0],
    TABLES = sizeof tables / sizeof tables[0]
};

/* ---- Columns ------------------------------------------------------------------------------------------- */

static bool decimal(long type, long size, long digits) {
    return (type == SQL_DECIMAL || type == SQL_NUMERIC) && size == digits;
}

static bool fits(const struct column *column, long type, long size) {
    bool text = type == SQL_VARCHAR || type == SQL_WVARCHAR;
    bool fixed = type == SQL_CHAR || type == SQL_WCHAR;
    bool long_text = type == SQL_LONGVARCHAR || type == SQL_WLONGVARCHAR;
    switch (column->class) {
    case UUID:
        return type == SQL_GUID || ((text || fixed) && size == 36);
    case TEXT: /* a driver may call what is longer than 255 long text */
        return (text || (long_text && column->size > 255)) && size == column->size;
    case LONG: /* drivers that know no length say 0, or 8190 */
        return long_text && (size == 0 || size == 8190 || size > 1000000);
    case SMALL:
        return type == SQL_SMALLINT || decimal(type, size, 5);
    case INTEGER:
        return type == SQL_INTEGER || decimal(type, size, 10);
    default:
        return type == SQL_BIGINT || decimal(type, size, 19);
    }
}

static const struct column *next_column(unsigned table, size_t *i) {
    while (*i < COLUMNS && !(columns[*i].tables & table))
        ++*i;
    return *i < COLUMNS ? &columns[(*i)++] : NULL;
}

static long number(const struct sql_row *row, int column) {
    return strtol(row->cell[column - 1], NULL, 10);
}

/* One row of SQLColumns. */
static void check_column(const struct column *column, const char *table, const struct sql_row *row) {
    const char *name = row->cell[3];
    long type = number(row, 5), size = number(row, 7), null = number(row, 11);
    if (!column) fail_msg("%s has a column %s, which is not in the list", table, name);
    if (strcasecmp(column->name, name) != 0) fail_msg("%s: %s where %s should be", table, name, column->name);
    if (!fits(column, type, size)) fail_msg("%s.%s: type %ld, size %ld", table, name, type, size);
    if (column->null != null) fail_msg("%s.%s: nullable %ld", table, name, null);
}

/* SQLColumns takes the name for a pattern, in which _ is any character. */
static bool is_table(const struct sql_row *row, const char *table) {
    return strcasecmp(row->cell[2], table) == 0;
}

/* As the catalog has it. */
static void name_in_catalog(const char *table, char *out, size_t size) {
    SQLUSMALLINT kept_as = SQL_IC_MIXED;
    SQLGetInfo(tp_conn_dbc(pool.eye), SQL_IDENTIFIER_CASE, &kept_as, sizeof kept_as, NULL);
    snprintf(out, size, "%s%s", pool.prefix, table);
    for (char *at = out; kept_as == SQL_IC_UPPER && *at; at++)
        *at = (char)toupper((unsigned char)*at);
}

static SQLHSTMT catalog_statement(void) {
    SQLHSTMT stmt = NULL;
    assert_true(SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, tp_conn_dbc(pool.eye), &stmt)));
    return stmt;
}

/* Of a name in the catalog; TABLES for one that is not in the list, such as a view's. */
static size_t table_number(const char *name) {
    size_t i = 0, prefix = strlen(pool.prefix);
    if (strlen(name) <= prefix) return TABLES;
    while (i < TABLES && strcasecmp(tables[i].name, name + prefix) != 0)
        i++;
    return i;
}

/* By one question, which MySQL thinks about for long however little is asked. */
void shape_check_columns(void) {
    struct sql_row row;
    char all[64];
    size_t at[TABLES] = {0};
    name_in_catalog("%", all, sizeof all);
    SQLHSTMT stmt = catalog_statement();
    assert_true(SQL_SUCCEEDED(SQLColumns(stmt, NULL, 0, NULL, 0, (SQLCHAR *)all, SQL_NTS, NULL, 0)));
    while (sql_fetch(stmt, &row)) {
        size_t table = table_number(row.cell[2]);
        if (table < TABLES) check_column(next_column(tables[table].bit, &at[table]), row.cell[2], &row);
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    for (size_t i = 0; i < TABLES; i++) {
        const struct column *missing = next_column(tables[i].bit, &at[i]);
        if (missing) fail_msg("%s has no column %s", tables[i].name, missing->name);
    }
}

/* ---- Indexes ------------------------------------------------------------------------------------------- */

/* What SQLStatistics says of one index. */
struct found {
    char name[128];
    bool unique;
    char columns[200];
};

static size_t read_indexes(const char *table, struct found *found, size_t most) {
    size_t count = 0;
    SQLHSTMT stmt = catalog_statement();
    struct sql_row row;
    assert_true(SQL_SUCCEEDED(
        SQLStatistics(stmt, NULL, 0, NULL, 0, (SQLCHAR *)table, SQL_NTS, SQL_INDEX_ALL, SQL_QUICK)));
    while (sql_fetch(stmt, &row)) {
        const char *name = row.cell[5], *column = row.cell[8];
        if (!is_table(&row, table) || number(&row, 7) == SQL_TABLE_STAT) continue;
        if (number(&row, 8) == 1) {
            assert_true(count < most);
            found[count] = (struct found){.unique = !number(&row, 4)};
            snprintf(found[count++].name, sizeof found->name, "%.127s", name);
        }
        assert_true(count > 0);
        struct found *last = &found[count - 1];
        assert_string_equal(last->name, name);
        size_t used = strlen(last->columns);
        snprintf(last->columns + used, sizeof last->columns - used, "%s%s", used ? ", " : "", column);
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return count;
}

static bool same_name(const struct index *index, const char *name) {
    char wanted[64];
    if (!index->name)
        return strstr(name, "_pk") || strcasecmp(name, "PRIMARY") == 0 || strstr(name, "autoindex");
    if (pool_speaks("postgres") && strcmp(index->name, "tp_pending_due") == 0)
        return strstr(name, "pending_lane");
    bool partial = index->partial && (pool_speaks("postgres") || pool_speaks("sqlite"));
    snprintf(wanted, sizeof wanted, "%s%s", pool.prefix, (partial ? index->partial : index->name) + 3);
    return strcasecmp(wanted, name) == 0;
}

static void check_index(const struct index *index, const struct found *found, size_t count) {
    const char *name = index->name ? index->name : "of the primary key";
    for (size_t i = 0; i < count; i++) {
        if (!same_name(index, found[i].name)) continue;
        if (strcasecmp(found[i].columns, index->columns) != 0)
            fail_msg("index %s: (%s) instead of (%s)", name, found[i].columns, index->columns);
        bool may_be_null = index->partial; /* then a driver may say that it is not unique */
        if (found[i].unique != index->unique && (found[i].unique || !may_be_null))
            fail_msg("index %s: unique %d", name, (int)found[i].unique);
        return;
    }
    fail_msg("index %s on %s is missing", name, index->columns);
}

void shape_check_indexes(void) {
    for (size_t t = 0; t < TABLES; t++) {
        struct found found[20];
        char name[64];
        size_t wanted = 0;
        name_in_catalog(tables[t].name, name, sizeof name);
        size_t count = read_indexes(name, found, sizeof found / sizeof found[0]);
        for (size_t i = 0; i < INDEXES; i++) {
            if (indexes[i].table != tables[t].bit) continue;
            check_index(&indexes[i], found, count);
            wanted++;
        }
        if (count != wanted) fail_msg("%s has %zu indexes, %zu are in the list", name, count, wanted);
    }
}
