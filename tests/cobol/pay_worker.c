/* A worker in C beside PAYWORK: pays salaries into the same table, until it is killed. Uses TASKPOOL_DSN. */
#include <stdio.h>
#include <stdlib.h>

#include <sqlext.h>
#include <taskpool_odbc.h>

static int execute(tp_conn *conn, const char *sql) {
    SQLHSTMT stmt;
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, tp_conn_dbc(conn), &stmt))) return 0;
    int done = SQL_SUCCEEDED(SQLExecDirect(stmt, (SQLCHAR *)sql, SQL_NTS));
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return done;
}

static tp_verdict pay(tp_run *run, void *arg) {
    const tp_task *task = tp_run_task(run);
    char sql[300], *end = NULL;
    tp_conn *conn = NULL;
    (void)arg;
    double amount = strtod(task->params, &end);
    if (end == task->params || *end) {
        tp_run_no_retry(run);
        return TP_RUN_FAILED;
    }
    snprintf(sql, sizeof sql, "INSERT INTO cob_paid (task_id, employee, amount) VALUES ('%s', '%s', %.2f)",
             task->id, task->biz_key, amount);
    if (tp_run_conn(run, &conn) != TP_OK || !execute(conn, sql)) return TP_RUN_FAILED;
    return TP_RUN_DONE;
}

int main(void) {
    tp_worker_options options = TP_WORKER_INIT;
    tp_env *env = NULL;
    tp_worker *worker = NULL;
    options.threads = 2;
    options.batch = 4;
    options.poll_ms = 50;
    tp_status status = tp_env_open(getenv("TASKPOOL_DSN"), &env);
    if (status == TP_OK) status = tp_worker_open(env, &options, &worker);
    if (status == TP_OK) status = tp_worker_handle(worker, "salary", pay, NULL);
    if (status == TP_OK) status = tp_worker_start(worker);
    if (status == TP_OK) status = tp_worker_join(worker);
    if (status != TP_OK) fprintf(stderr, "pay_worker: %s\n", tp_last_error()->text);
    tp_worker_close(worker);
    tp_env_close(env);
    return status == TP_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
