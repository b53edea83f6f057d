/* Environments and connections: TP_OPEN to TP_DISCONNECT, TP_INSTALL, TP_BORROW. */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "task.h"
#include "taskpool_odbc.h"

/* ---- Environments ---------------------------------------------------------------------------------------
 */

static tp_status open_env(struct call *call, const void *block, void *number) {
    struct env_block asked;
    char dsn[DSN_FIELD + 1];
    tp_status status = call_block(call, &asked, block, sizeof asked, "TPENV");
    if (status == TP_OK) status = call_text(call, "TPE-DSN", asked.dsn, sizeof asked.dsn, dsn);
    if (status != TP_OK) return status;
    struct env_handle *env = calloc(1, sizeof *env);
    if (!env) return call_refuse(call, TP_NOMEM, "out of memory");
    status = tp_env_open(dsn, &env->env);
    if (status == TP_OK) status = call_give(call, NUMBER_ENV, env, number);
    if (status == TP_OK) return TP_OK;
    tp_env_close(env->env);
    free(env);
    return status;
}

int TP_OPEN(void *area, void *env, void *env_block) {
    struct call call;
    tp_status status = call_begin(&call, area, "TP_OPEN");
    if (status == TP_OK) status = open_env(&call, env_block, env);
    return call_end(&call, status);
}

struct search {
    const struct env_handle *env;
    bool found;
};

static void see_conn(int32_t number, void *handle, void *arg) {
    struct search *search = arg;
    const struct conn_handle *conn = handle;
    (void)number;
    if (conn->env == search->env) search->found = true;
}

static tp_status close_env(struct call *call, const void *number) {
    struct env_handle *env = NULL;
    tp_status status = call_env(call, number, &env);
    if (status != TP_OK) return status;
    struct search search = {env, false};
    number_each(NUMBER_CONN, see_conn, &search);
    if (search.found) return call_refuse(call, TP_MISUSE, "a connection is open; CALL TP_DISCONNECT first");
    number_drop((int32_t)number_at(number));
    tp_env_close(env->env);
    free(env);
    return TP_OK;
}

int TP_CLOSE(void *area, void *env) {
    struct call call;
    tp_status status = call_begin(&call, area, "TP_CLOSE");
    if (status == TP_OK) status = close_env(&call, env);
    return call_end(&call, status);
}

/* ---- Connections ----------------------------------------------------------------------------------------
 */

/* dbc NULL: a connection of taskpool's own. */
static tp_status open_conn(struct call *call, const void *env_number, void *number, const void *dbc) {
    struct env_handle *env = NULL;
    tp_status status = call_env(call, env_number, &env);
    if (status != TP_OK) return status;
    struct conn_handle *conn = calloc(1, sizeof *conn);
    if (!conn) return call_refuse(call, TP_NOMEM, "out of memory");
    conn->env = env;
    conn->borrowed = dbc != NULL;
    if (dbc) {
        SQLHDBC handle = NULL;
        memcpy(&handle, dbc, sizeof handle);
        status = tp_conn_borrow(env->env, handle, &conn->conn);
    } else {
        status = tp_conn_open(env->env, &conn->conn);
    }
    if (status == TP_OK) status = call_give(call, NUMBER_CONN, conn, number);
    if (status == TP_OK) return TP_OK;
    tp_conn_close(conn->conn);
    free(conn);
    return status;
}

int TP_CONNECT(void *area, void *env, void *conn) {
    struct call call;
    tp_status status = call_begin(&call, area, "TP_CONNECT");
    if (status == TP_OK) status = open_conn(&call, env, conn, NULL);
    return call_end(&call, status);
}

int TP_BORROW(void *area, void *env, void *conn, void *dbc) {
    struct call call;
    tp_status status = call_begin(&call, area, "TP_BORROW");
    if (status == TP_OK && !dbc)
        status = call_refuse(&call, TP_MISUSE, "the ODBC connection handle is OMITTED");
    if (status == TP_OK) status = open_conn(&call, env, conn, dbc);
    return call_end(&call, status);
}

int TP_REOPEN(void *area, void *conn) {
    struct call call;
    tp_status status = call_begin_on(&call, area, "TP_REOPEN", conn);
    if (status == TP_OK) status = tp_conn_reopen(call.conn->conn);
    if (status == TP_OK) {
        call.conn->disconnected = false;
        /* The database has rolled back, so a commit of what was begun must fail. */
        if (call.conn->transaction == TRANSACTION_OPEN) {
            call.conn->transaction = TRANSACTION_DOOMED;
            snprintf(call.conn->why, sizeof call.conn->why, "the connection was reopened");
        }
    }
    return call_end(&call, status);
}

static void free_task(int32_t number, void *handle, void *arg) {
    const struct task_handle *task = handle;
    const struct conn_handle *conn = arg;
    if (task->conn == conn) task_drop(number);
}

int TP_DISCONNECT(void *area, void *conn) {
    struct call call;
    tp_status status = call_begin_on(&call, area, "TP_DISCONNECT", conn);
    if (status == TP_OK) {
        struct conn_handle *handle = call.conn;
        call.conn = NULL;
        number_drop((int32_t)number_at(conn));
        number_each(NUMBER_TASK, free_task, handle);
        tp_conn_close(handle->conn);
        free(handle);
    }
    return call_end(&call, status);
}

int TP_INSTALL(void *area, void *conn) {
    struct call call;
    tp_status status = call_begin_on(&call, area, "TP_INSTALL", conn);
    if (status == TP_OK) status = tp_schema_install(call.conn->conn);
    return call_end(&call, status);
}
