/* The functions of taskpool_odbc.h: the only operations that name ODBC's types. What they do is in conn.c. */
#include "taskpool_odbc.h"

#include "ops/conn.h"

tp_status tp_conn_borrow(tp_env *env, SQLHDBC dbc, tp_conn **conn) {
    return tpi_conn_borrow(env, dbc, conn);
}

SQLHDBC tp_conn_dbc(tp_conn *conn) {
    if (!conn || conn->store.link.dead) return NULL;
    conn->store.link.shared = true;
    return conn->store.link.dbc;
}
