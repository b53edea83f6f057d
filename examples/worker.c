/* A worker as a service: grants points for orders until it is stopped (SIGTERM or Ctrl-C). What the
 * handler writes commits together with the end of its task, or not at all: nobody gets points twice, or none.
 *
 *   export TASKPOOL_DSN='Driver=SQLite3;Database=/tmp/shop.db'
 *   taskpool schema install
 *   taskpool enqueue points 100 --biz-key order-7
 *   ./worker
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlext.h>
#include <taskpool_odbc.h>

/* For the signal handler, which is there before anything is done: a stop asked for while the worker begins
 * counts too. */
static volatile sig_atomic_t stop_asked;
static tp_worker *volatile opened;

static void on_signal(int number) {
    (void)number;
    stop_asked = 1;
    if (opened) tp_worker_stop(opened);
}

/* The application's own statement, plain ODBC, on a connection of taskpool's. */
static int execute(tp_conn *conn, const char *sql) {
    SQLHSTMT stmt;
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, tp_conn_dbc(conn), &stmt))) return 0;
    int done = SQL_SUCCEEDED(SQLExecDirect(stmt, (SQLCHAR *)sql, SQL_NTS));
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return done;
}

static tp_verdict grant_points(tp_run *run, void *arg) {
    const tp_task *task = tp_run_task(run);
    const char *params = NULL;
    char sql[200], *end = NULL;
    tp_conn *conn = NULL;
    (void)arg;

    if (tp_run_params(run, &params, NULL) != TP_OK) return TP_RUN_FAILED;
    long points = strtol(params, &end, 10);
    if (end == params || *end) {
        tp_run_reason(run, "the parameters must be a number of points");
        tp_run_no_retry(run); /* it will not become one: to the failed pool at once */
        return TP_RUN_FAILED;
    }
    if (points == 0) {
        tp_run_reason(run, "nothing to grant");
        return TP_RUN_SKIPPED;
    }
    if (tp_run_conn(run, &conn) != TP_OK) return TP_RUN_FAILED;
    snprintf(sql, sizeof sql, "INSERT INTO example_points (task_id, points) VALUES ('%s', %ld)", task->id,
             points);
    if (!execute(conn, sql)) {
        tp_run_reason(run, "the points were not stored");
        return TP_RUN_FAILED; /* rolled back, and tried again as the ladder says */
    }
    return TP_RUN_DONE;
}

/* What an operator wants to hear of. */
static void on_event(tp_event event, const tp_task *task, const char *text, void *arg) {
    (void)arg;
    if (event == TP_EVENT_CLAIMED || event == TP_EVENT_RELEASED) return;
    printf("%s %s %s\n", tp_event_name(event), task ? task->biz_key : "-", text);
    fflush(stdout);
}

/* A task needs a person; called at least once for each, also when a worker dies right after the task gave up.
 */
static int on_alert(const tp_task *task, const char *text, void *arg) {
    (void)arg;
    printf("ALERT %s %s\n", task->biz_key, text);
    fflush(stdout);
    return 0;
}

static tp_status run_until_stopped(tp_env *env, tp_worker **worker) {
    static const int64_t ladder[] = {60000, 300000, 1200000}; /* after 1, 5 and 20 minutes, then a person */
    tp_retry retry = TP_RETRY_INIT;
    tp_worker_options options = TP_WORKER_INIT;
    retry.delays_ms = ladder;
    retry.count = sizeof ladder / sizeof ladder[0];
    options.threads = 4;
    options.poll_ms = 200;
    options.retry = &retry;
    options.on_event = on_event;
    options.on_alert = on_alert;

    tp_status status = tp_worker_open(env, &options, worker);
    if (status == TP_OK) status = tp_worker_handle(*worker, "points", grant_points, NULL);
    opened = *worker;
    if (stop_asked) tp_worker_stop(*worker); /* before there was one to stop */
    if (status == TP_OK) status = tp_worker_start(*worker);
    if (status == TP_OK)
        status = tp_worker_join(*worker); /* running handlers end, tasks not started are put back */
    opened = NULL;
    return status;
}

int main(void) {
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    tp_worker *worker = NULL;
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    tp_status status = tp_env_open(getenv("TASKPOOL_DSN"), &env);
    if (status == TP_OK) status = tp_conn_open(env, &conn);
    if (status == TP_OK)
        (void)execute(conn, "CREATE TABLE example_points (task_id CHAR(36), points INTEGER)");
    tp_conn_close(conn);
    if (status == TP_OK) status = run_until_stopped(env, &worker);
    if (status != TP_OK) fprintf(stderr, "worker: %s\n", tp_last_error()->text);
    tp_worker_close(worker);
    tp_env_close(env);
    return status == TP_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
