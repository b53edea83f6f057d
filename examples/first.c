/* cc first.c $(pkg-config --cflags --libs taskpool) */
#include <stdio.h>
#include <stdlib.h>
#include <taskpool.h>

int main(void) {
    const char *handlers[] = {"points"};
    tp_new_task task = TP_NEW_TASK_INIT;
    tp_claim_request request = TP_CLAIM_INIT;
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    tp_batch *batch = NULL;

    task.handler = "points";
    task.params = "{\"order\":7,\"points\":100}";
    request.handlers = handlers;
    request.handler_count = 1;
    request.limit = 1;

    tp_status status = tp_env_open(getenv("TASKPOOL_DSN"), &env);
    if (status == TP_OK) status = tp_conn_open(env, &conn);
    if (status == TP_OK) status = tp_schema_install(conn);
    if (status == TP_OK) status = tp_enqueue(conn, &task);
    if (status == TP_OK) status = tp_claim(conn, &request, &batch);
    if (status == TP_OK) printf("granting points: %s\n", tp_batch_task(batch, 0)->params);
    if (status == TP_OK) status = tp_complete(conn, tp_batch_task(batch, 0));
    printf("%s\n", status < 0 ? tp_last_error()->text : tp_status_text(status));

    tp_batch_free(batch);
    tp_conn_close(conn);
    tp_env_close(env);
    return status == TP_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
