/* A handler of several steps: an order is charged, gets its label, and is told of by mail. What each step
 * writes and the record that it is done commit together, so that whenever the process dies the next try goes
 * on with the first step that is not done. With the name of a step as its argument this program dies right
 * after that step, as if the machine had failed:
 *
 *   export TASKPOOL_DSN='Driver=SQLite3;Database=/tmp/shop.db'
 *   taskpool schema install
 *   taskpool enqueue ship 7
 *   ./steps charge
 *   ./steps             # two seconds later, when the lease has lapsed: label, mail, and no second charge
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlext.h>
#include <taskpool_odbc.h>

/* The application's own statement, plain ODBC, on a connection of taskpool's. */
static int execute(tp_conn *conn, const char *sql) {
    SQLHSTMT stmt;
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, tp_conn_dbc(conn), &stmt))) return 0;
    int done = SQL_SUCCEEDED(SQLExecDirect(stmt, (SQLCHAR *)sql, SQL_NTS));
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return done;
}

/* Its row is there when the step is recorded, and only then. */
static tp_status charge(tp_run *run, tp_conn *conn, void *arg) {
    char sql[200];
    snprintf(sql, sizeof sql, "INSERT INTO example_charges (order_number) VALUES (%ld)", *(long *)arg);
    if (!execute(conn, sql)) return TP_DB; /* rolled back */
    printf("charge order %ld\n", *(long *)arg);
    return tp_run_step_result(run, "receipt 4711");
}

/* What is outside the database is made again when the process dies before the commit: give the other side a
 * key, such as the order's number. */
static tp_status make_label(tp_run *run, tp_conn *conn, void *arg) {
    char label[40];
    (void)conn;
    snprintf(label, sizeof label, "label %ld", *(long *)arg + 1000);
    printf("make %s\n", label);
    return tp_run_step_result(run, label);
}

static tp_status put_mail(tp_run *run, tp_conn *conn, void *arg) {
    tp_new_task mail = TP_NEW_TASK_INIT;
    (void)run;
    mail.handler = "mail";
    mail.params = arg;
    return tp_enqueue(conn, &mail); /* a task of another handler, in the step's transaction */
}

static const char *dies_after = "";

static void say(const char *step, const char *result) {
    printf("%s: %s\n", step, result);
    fflush(stdout);
    if (strcmp(step, dies_after) == 0) _Exit(1);
}

static tp_verdict ship(tp_run *run, void *arg) {
    const char *params = NULL, *receipt = NULL, *label = NULL;
    char mail[120];
    (void)arg;

    if (tp_run_params(run, &params, NULL) != TP_OK) return TP_RUN_FAILED;
    long order = strtol(params, NULL, 10);
    if (tp_run_step(run, "charge", charge, &order, &receipt) != TP_OK) return TP_RUN_FAILED;
    say("charge", receipt);
    if (tp_run_step(run, "label", make_label, &order, &label) != TP_OK) return TP_RUN_FAILED;
    say("label", label);
    snprintf(mail, sizeof mail, "order %ld is on its way: %s, %s", order, receipt, label);
    if (tp_run_step(run, "mail", put_mail, mail, NULL) != TP_OK) return TP_RUN_FAILED;
    say("mail", mail);
    return TP_RUN_DONE;
}

static tp_status work(tp_env *env, tp_worker **worker) {
    static const int64_t at_once[] = {1, 1, 1};
    tp_retry retry = TP_RETRY_INIT;
    tp_worker_options options = TP_WORKER_INIT;
    retry.delays_ms = at_once;
    retry.count = sizeof at_once / sizeof at_once[0];
    options.lease_ms = 2000;
    options.poll_ms = 100;
    options.drain = 1; /* ends when no order is left */
    options.retry = &retry;

    tp_status status = tp_worker_open(env, &options, worker);
    if (status == TP_OK) status = tp_worker_handle(*worker, "ship", ship, NULL);
    if (status == TP_OK) status = tp_worker_start(*worker);
    return status == TP_OK ? tp_worker_join(*worker) : status;
}

int main(int argc, char **argv) {
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    tp_worker *worker = NULL;
    if (argc > 1) dies_after = argv[1];
    tp_status status = tp_env_open(getenv("TASKPOOL_DSN"), &env);
    if (status == TP_OK) status = tp_conn_open(env, &conn);
    if (status == TP_OK) (void)execute(conn, "CREATE TABLE example_charges (order_number INTEGER)");
    tp_conn_close(conn);
    if (status == TP_OK) status = work(env, &worker);
    if (status != TP_OK) fprintf(stderr, "steps: %s\n", tp_last_error()->text);
    tp_worker_close(worker);
    tp_env_close(env);
    return status == TP_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
