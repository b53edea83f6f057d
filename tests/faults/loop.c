/* The retry loops of applications, as tests run them. See loop.h. */
#include "faults/loop.h"

#include <sqlext.h>
#include <stdio.h>
#include <string.h>

#include "faults/inject.h"
#include "ops/conn.h"

const char *loop_name(enum loop loop) {
    static const char *const names[LOOPS] = {
#define LOOP_NAME(id, name) name,
        LOOP_LIST(LOOP_NAME)
#undef LOOP_NAME
    };
    return names[loop];
}

bool loop_is_possible(enum loop loop, const struct operation *operation) {
    if (loop == LOOP_SAME) return true;
    if (loop == LOOP_ROLLED_BACK)
        return operation_is(operation, TRAIT_TRANSACTION) || operation_is(operation, TRAIT_BORROWED);
    return !operation_is(operation, TRAIT_CONNECTS);
}

/* ---- Connections --------------------------------------------------------------------------------------- */

void loop_open_loan(struct work *work) {
    work->loan = loan_open(SQL_AUTOCOMMIT_OFF);
    work->conn = work->loan.conn;
    inject_set_session(work->loan.raw.dbc);
}

void loop_close_loan(struct work *work) {
    long session = inject_session();
    loan_close(&work->loan);
    session_await_end(session);
}

/* Locks of the old session would be somebody else's. */
void loop_reopen(struct work *work) {
    long session = inject_session();
    tp_status status = tp_conn_reopen(work->conn);
    if (status != TP_OK) wrong("tp_conn_reopen: %s", tp_last_error()->text);
    session_await_end(session);
    inject_set_session(work->conn->store.link.dbc);
}

static void open_anew(const struct operation *operation, struct work *work) {
    long session = inject_session();
    if (operation_is(operation, TRAIT_BORROWED)) {
        loop_close_loan(work);
        loop_open_loan(work);
        return;
    }
    bool takes = pool.taker == pool.a;
    tp_conn_close(pool.a);
    pool.a = NULL;
    session_await_end(session);
    must(tp_conn_open(pool.user_env, &pool.a));
    if (takes) pool.taker = pool.a;
    work->conn = pool.a;
    if (operation_is(operation, TRAIT_SHARED)) (void)tp_conn_dbc(work->conn);
    inject_set_session(work->conn->store.link.dbc);
}

/* ---- The same connection ------------------------------------------------------------------------------- */

/* A rollback reports success on a connection that the driver knows to be lost. */
static bool has_died(SQLHDBC dbc) {
    SQLUINTEGER dead = SQL_CD_FALSE;
    return SQL_SUCCEEDED(SQLGetConnectAttr(dbc, SQL_ATTR_CONNECTION_DEAD, &dead, 0, NULL)) &&
           dead == SQL_CD_TRUE;
}

static void recover_loan(struct work *work) {
    bool lost = work->answer == TP_DISCONNECTED || has_died(work->loan.raw.dbc);
    if (!lost) lost = !SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, work->loan.raw.dbc, SQL_ROLLBACK));
    if (!lost) return;
    loop_close_loan(work);
    loop_open_loan(work);
}

/* When memory is there again at the commit, what is missing must not be stored without the rest. */
static void end_transaction(tp_conn *conn) {
    tp_status wanted = way_is_allocation() ? TP_CONFLICT : TP_OK;
    tp_status status = way_is_allocation() ? tp_commit(conn) : tp_rollback(conn);
    if (status != wanted) wrong("the transaction's end answered %s", tp_status_name(status));
}

static void recover_same(const struct operation *operation, struct work *work) {
    tp_status status = work->answer;
    if (operation_is(operation, TRAIT_BORROWED)) {
        recover_loan(work);
        return;
    }
    if (status != TP_DISCONNECTED && work->conn->store.link.tx != TPI_TX_NONE) end_transaction(work->conn);
    if (status == TP_DISCONNECTED || status == TP_DB) loop_reopen(work);
}

tp_status loop_roll_back(struct work *work) {
    if (!work->loan.raw.dbc) return tp_rollback(work->conn);
    bool done = SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, work->loan.raw.dbc, SQL_ROLLBACK));
    return done ? TP_OK : TP_DISCONNECTED;
}

/* ---- What an application stores ------------------------------------------------------------------------ */

void loop_begin(struct work *work) {
    memcpy(work->asked, work->fresh, sizeof work->asked);
}

/* Of a new task what it asks for and its id; of a claimed one what a settle names, and the policy's numbers.
 */
static void remember_as_stored(const struct operation *operation, struct work *work) {
    for (size_t i = 0; i < work->fresh_count; i++) {
        memcpy(work->asked[i].id, work->fresh[i].id, TP_ID_SIZE);
        work->fresh[i] = work->asked[i];
    }
    if (operation_is(operation, TRAIT_POINTERS)) return;
    for (size_t i = 0; i < WORK_TASKS; i++) {
        const tp_task *task = work->tasks[i];
        if (!task) continue;
        work->stored[i] = (tp_task){.id = task->id,
                                    .owner = task->owner,
                                    .state = task->state,
                                    .handler = task->handler,
                                    .failures = task->failures,
                                    .max_failures = task->max_failures};
        work->tasks[i] = &work->stored[i];
    }
}

void loop_recover(enum loop loop, const struct operation *operation, struct work *work) {
    if (operation_is(operation, TRAIT_SESSIONS)) return;
    bool is_usual = work->conn == pool.a || operation_is(operation, TRAIT_BORROWED);
    inject_follow(NULL);
    if (is_usual && (loop == LOOP_NEW_CONNECTION || loop == LOOP_NEW_PROCESS))
        open_anew(operation, work);
    else
        recover_same(operation, work);
    inject_follow(&work->conn->store.link);
    if (loop == LOOP_NEW_PROCESS) remember_as_stored(operation, work);
}

/* ---- The application's own calls ----------------------------------------------------------------------- */

struct own {
    SQLHDBC dbc;
    char sql[400]; /* "": commits */
};

static tp_status run_own(void *arg) {
    const struct own *own = arg;
    if (!own->dbc) return TP_DISCONNECTED;
    bool done = own->sql[0] ? sql_raw(own->dbc, "%s", own->sql)
                            : SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, own->dbc, SQL_COMMIT));
    return done ? TP_OK : TP_CONFLICT;
}

static tp_status call_own(struct work *work, struct own *own) {
    own->dbc = work->loan.raw.dbc ? work->loan.raw.dbc : tp_conn_dbc(work->conn);
    return inject_own(work->conn, own->sql[0] == '\0', run_own, own);
}

tp_status own_statement(struct work *work, const char *format, ...) {
    struct own own = {0};
    va_list list;
    va_start(list, format);
    vsnprintf(own.sql, sizeof own.sql, format, list);
    va_end(list);
    return call_own(work, &own);
}

tp_status own_commit(struct work *work) {
    struct own own = {0};
    return call_own(work, &own);
}

tp_status own_effect(struct work *work, const char *task_id) {
    return own_statement(work, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', 'x')", task_id);
}
