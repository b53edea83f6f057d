/* See pool_db.h. */
#include "pool_db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlext.h>

#include "base/error.h"
#include "base/uuid.h"
#include "taskpool_odbc.h"

enum { SQL_SIZE = 512 };

static char prefix[TP_PREFIX_MAX + 1];
static tp_env *env;
static tp_conn *conn;

void db_must(tp_status status, const char *what) {
    if (status >= 0) return;
    fprintf(stderr, "%s: %s: %s\n", what, tp_status_name(status), tp_last_error()->text);
    exit(1);
}

tp_env *db_env(void) {
    return env;
}

static SQLHSTMT execute(tp_conn *on, const char *sql) {
    SQLHSTMT statement = NULL;
    SQLCHAR text[SQL_SIZE];
    snprintf((char *)text, sizeof text, "%s", sql);
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, tp_conn_dbc(on), &statement))) return NULL;
    SQLRETURN code = SQLExecDirect(statement, text, SQL_NTS);
    if (SQL_SUCCEEDED(code) || code == SQL_NO_DATA) return statement;
    SQLFreeHandle(SQL_HANDLE_STMT, statement);
    return NULL;
}

static int run_on(tp_conn *on, const char *sql) {
    SQLHSTMT statement = execute(on, sql);
    if (!statement) return 0;
    SQLFreeHandle(SQL_HANDLE_STMT, statement);
    return 1;
}

/* In a transaction of its own. 0: it failed and is rolled back. */
static int run_alone(const char *sql) {
    db_must(tp_begin(conn), "begin");
    if (run_on(conn, sql)) {
        db_must(tp_commit(conn), sql);
        return 1;
    }
    db_must(tp_rollback(conn), "rollback");
    return 0;
}

static int number(const char *sql) {
    char text[32] = "";
    SQLLEN length = 0;
    db_must(tp_begin(conn), "begin");
    SQLHSTMT statement = execute(conn, sql);
    if (!statement || SQLFetch(statement) != SQL_SUCCESS ||
        SQLGetData(statement, 1, SQL_C_CHAR, text, sizeof text, &length) != SQL_SUCCESS) {
        fprintf(stderr, "cannot run: %s\n", sql);
        exit(1);
    }
    SQLFreeHandle(SQL_HANDLE_STMT, statement);
    db_must(tp_rollback(conn), "rollback");
    return length == SQL_NULL_DATA ? 0 : (int)strtol(text, NULL, 10);
}

static void choose_prefix(void) {
    char uuid[TPI_UUID_SIZE];
    tpi_uuid_random(uuid);
    snprintf(prefix, sizeof prefix, "w%.8s_", uuid);
}

static void open_env(const char *dsn) {
    char text[2048];
    const char *semicolon = dsn[0] && dsn[strlen(dsn) - 1] == ';' ? "" : ";";
    snprintf(text, sizeof text, "%s%sPrefix=%s;", dsn, semicolon, prefix);
    db_must(tp_env_open(text, &env), "tp_env_open");
}

int db_open(void) {
    char sql[SQL_SIZE];
    const char *dsn = getenv("TASKPOOL_TEST_DSN");
    if (!dsn) return 0;
    choose_prefix();
    open_env(dsn);
    db_must(tp_conn_open(env, &conn), "tp_conn_open");
    db_must(tp_schema_install(conn), "tp_schema_install");
    snprintf(sql, sizeof sql,
             "CREATE TABLE %sfx (task_id VARCHAR(36) NOT NULL, handler VARCHAR(64) NOT NULL)", prefix);
    if (!run_alone(sql)) db_must(tpi_error(TP_DB, "cannot create the effect table"), sql);
    return 1;
}

void db_close(void) {
    static const char *const names[] = {"fx",   "pending",  "finished", "failed",
                                        "once", "schedule", "worker",   "meta"};
    char sql[SQL_SIZE];
    snprintf(sql, sizeof sql, "DROP VIEW %stasks", prefix);
    run_alone(sql);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(sql, sizeof sql, "DROP TABLE %s%s", prefix, names[i]);
        run_alone(sql); /* some are not there in every version */
    }
    tp_conn_close(conn);
    tp_env_close(env);
}

void db_put(const char *handler, int count, const char *params) {
    for (int i = 0; i < count; i++) {
        tp_new_task task = TP_NEW_TASK_INIT;
        task.handler = handler;
        task.params = params;
        db_must(tp_enqueue(conn, &task), "tp_enqueue");
    }
}

static int ask(const char *what, const char *table, const char *handler) {
    char sql[SQL_SIZE];
    snprintf(sql, sizeof sql, "SELECT %s FROM %s%s WHERE handler = '%s'", what, prefix, table, handler);
    return number(sql);
}

int db_count(const char *pool, const char *handler) {
    return ask("COUNT(*)", pool, handler);
}

int db_failures(const char *pool, const char *handler) {
    return ask("SUM(failures)", pool, handler);
}

int db_effects(const char *handler) {
    return ask("COUNT(*)", "fx", handler);
}

int db_effect_tasks(const char *handler) {
    return ask("COUNT(DISTINCT task_id)", "fx", handler);
}

int db_effect(tp_conn *on, const tp_task *task) {
    char sql[SQL_SIZE];
    snprintf(sql, sizeof sql, "INSERT INTO %sfx (task_id, handler) VALUES ('%s', '%s')", prefix, task->id,
             task->handler);
    return run_on(on, sql);
}

void db_steal(const tp_task *task) {
    char sql[SQL_SIZE], token[TPI_UUID_SIZE];
    tpi_uuid_random(token);
    snprintf(sql, sizeof sql, "UPDATE %spending SET owner = '%s' WHERE id = '%s'", prefix, token, task->id);
    if (!run_alone(sql)) db_must(tpi_error(TP_DB, "cannot take the task away"), sql);
}
