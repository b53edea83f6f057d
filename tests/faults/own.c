/* The application's own calls in its transactions. */
#include <stdio.h>

#include "faults/inject.h"
#include "faults/operation.h"

struct own {
    SQLHDBC dbc;
    char sql[400]; /* "": commits */
};

static bool run(void *arg) {
    const struct own *own = arg;
    if (own->sql[0]) return sql_raw(own->dbc, "%s", own->sql);
    return SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, own->dbc, SQL_COMMIT));
}

static tp_status call(struct work *work, struct own *own) {
    own->dbc = work->loan.raw.dbc ? work->loan.raw.dbc : tp_conn_dbc(work->conn);
    if (inject_own_call(own->sql[0] == '\0')) return inject_own_failure(work->conn, run, own);
    if (!own->dbc) return TP_DISCONNECTED;
    return run(own) ? TP_OK : TP_CONFLICT;
}

tp_status own_statement(struct work *work, const char *format, ...) {
    struct own own = {0};
    va_list list;
    va_start(list, format);
    vsnprintf(own.sql, sizeof own.sql, format, list);
    va_end(list);
    return call(work, &own);
}

tp_status own_commit(struct work *work) {
    struct own own = {0};
    return call(work, &own);
}

tp_status own_effect(struct work *work, const char *task_id) {
    return own_statement(work, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', 'x')", task_id);
}
