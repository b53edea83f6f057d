/* An application in C: one task through an installed taskpool, and a call of its own to ODBC on the
 * connection. */
#include <sqlext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskpool.h>
#include <taskpool_odbc.h>

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, tp_last_error()->text);
    return EXIT_FAILURE;
}

static tp_status do_one(tp_conn *conn) {
    static const char *const handlers[] = {"hello"};
    tp_claim_request request = TP_CLAIM_INIT;
    tp_batch *batch = NULL;
    tp_status status;

    request.handlers = handlers;
    request.handler_count = 1;
    status = tp_claim(conn, &request, &batch);
    if (status == TP_OK) status = tp_complete(conn, tp_batch_task(batch, 0));
    tp_batch_free(batch);
    return status;
}

static int asks_odbc(tp_conn *conn) {
    SQLCHAR name[64] = "";
    SQLSMALLINT length = 0;
    return SQL_SUCCEEDED(SQLGetInfo(tp_conn_dbc(conn), SQL_DBMS_NAME, name, sizeof name, &length)) &&
           length > 0;
}

int main(void) {
    tp_new_task task = TP_NEW_TASK_INIT;
    tp_env *env = NULL;
    tp_conn *conn = NULL;

    task.handler = "hello";
    if (strcmp(tp_version(), TP_VERSION) != 0) return fail("header and library are of different versions");
    if (tp_env_open(getenv("TASKPOOL_DSN"), &env) != TP_OK) return fail("tp_env_open");
    if (tp_conn_open(env, &conn) != TP_OK) return fail("tp_conn_open");
    if (!asks_odbc(conn)) return fail("SQLGetInfo");
    if (tp_schema_install(conn) != TP_OK) return fail("tp_schema_install");
    if (tp_enqueue(conn, &task) != TP_OK) return fail("tp_enqueue");
    if (do_one(conn) != TP_OK) return fail("claim or complete");
    tp_conn_close(conn);
    tp_env_close(env);
    return EXIT_SUCCESS;
}
