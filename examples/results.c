/* A task that tells how far it is and gives something back, and the program that waits for that: a quote for
 * an order of so many pieces.
 *
 *   export TASKPOOL_DSN='Driver=SQLite3;Database=/tmp/shop.db'
 *   taskpool schema install
 *   ./results work &        # does quotes until it is ended
 *   ./results 12            # prints the quote for 12 pieces
 *   taskpool enqueue quote 12 --wait=30s    # the same
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <taskpool.h>

/* ---- Who does it --------------------------------------------------------------------------------------- */

static tp_worker *worker;

static void stop(int number) {
    (void)number;
    tp_worker_stop(worker);
}

static tp_verdict quote(tp_run *run, void *arg) {
    const char *params = NULL;
    char text[80];
    long cents = 0;
    (void)arg;

    if (tp_run_params(run, &params, NULL) != TP_OK) return TP_RUN_FAILED;
    long pieces = strtol(params, NULL, 10);
    if (pieces <= 0) {
        tp_run_reason(run, "a quote needs a number of pieces");
        tp_run_no_retry(run);
        return TP_RUN_FAILED;
    }
    for (long i = 0; i < pieces; i++) {
        cents += 1250 - (i < 100 ? i : 100); /* what takes long in earnest */
        snprintf(text, sizeof text, "piece %ld of %ld", i + 1, pieces);
        tp_run_progress(run, (int)(100 * (i + 1) / pieces), text);
    }
    snprintf(text, sizeof text, "{\"pieces\": %ld, \"cents\": %ld}", pieces, cents);
    return tp_run_result(run, text) == TP_OK ? TP_RUN_DONE : TP_RUN_FAILED;
}

static tp_status work(tp_env *env) {
    tp_status status = tp_worker_open(env, NULL, &worker);
    if (status == TP_OK) status = tp_worker_handle(worker, "quote", quote, NULL);
    if (status != TP_OK) return status;
    (void)signal(SIGINT, stop);
    (void)signal(SIGTERM, stop);
    status = tp_worker_start(worker);
    return status == TP_OK ? tp_worker_join(worker) : status;
}

/* ---- Who asks for it ----------------------------------------------------------------------------------- */

static tp_status ask(tp_env *env, const char *pieces) {
    tp_conn *conn = NULL;
    tp_batch *ended = NULL;
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = "quote";
    task.params = pieces;

    tp_status status = tp_conn_open(env, &conn);
    if (status == TP_OK) status = tp_enqueue(conn, &task);
    if (status == TP_OK) status = tp_await(conn, task.id, 60000, &ended);
    if (status == TP_OK) {
        const tp_task *as_ended = tp_batch_task(ended, 0);
        if (strcmp(as_ended->state, "done") == 0)
            printf("%s\n", as_ended->result);
        else
            printf("no quote: %s\n", as_ended->reason);
    }
    tp_batch_free(ended);
    tp_conn_close(conn);
    return status;
}

int main(int argc, char **argv) {
    tp_env *env = NULL;
    const char *what = argc > 1 ? argv[1] : "1";
    tp_status status = tp_env_open(getenv("TASKPOOL_DSN"), &env);
    if (status == TP_OK) status = strcmp(what, "work") == 0 ? work(env) : ask(env, what);
    if (status < TP_OK) fprintf(stderr, "results: %s\n", tp_last_error()->text);
    tp_worker_close(worker);
    tp_env_close(env);
    return status >= TP_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
