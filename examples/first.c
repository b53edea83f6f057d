#include <stdio.h>
#include <stdlib.h>
#include <taskpool.h>

int main(void) {
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    tp_batch *batch = NULL;
    tp_new_task task = {.size = sizeof task, .handler = "points", .params = "{\"order\":7}"};
    tp_claim_request request = {.size = sizeof request, .handlers = &task.handler, .handler_count = 1};

    tp_status status = tp_env_open(getenv("TASKPOOL_DSN"), &env);
    if (status == TP_OK) status = tp_conn_open(env, &conn);
    if (status == TP_OK) status = tp_schema_install(conn);
    if (status == TP_OK) status = tp_enqueue(conn, &task);
    if (status == TP_OK) status = tp_claim(conn, &request, &batch);
    if (status == TP_OK) printf("granting points: %s\n", tp_batch_task(batch, 0)->params);
    if (status == TP_OK) status = tp_complete(conn, tp_batch_task(batch, 0));
    if (status < TP_OK) fprintf(stderr, "%s\n", tp_last_error()->text);

    tp_batch_free(batch);
    tp_conn_close(conn);
    tp_env_close(env);
    return status == TP_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
