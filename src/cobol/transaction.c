/* TP_BEGIN, TP_COMMIT, TP_ROLLBACK. A transaction of which a call failed, in this layer too, is not
 * committed: TP_COMMIT rolls back and says so. */
#include "calls.h"

#include <stdio.h>

#include "call.h"
#include "transaction.h"

void transaction_refuse(struct conn_handle *conn, const char *why) {
    conn->transaction = TRANSACTION_REFUSED;
    snprintf(conn->why, sizeof conn->why, "%s", why);
}

tp_status transaction_begin(struct call *call) {
    struct conn_handle *conn = call->conn;
    tp_status status = tp_begin(conn->conn);
    conn->transaction = TRANSACTION_OPEN;
    conn->why[0] = '\0';
    if (status != TP_OK) transaction_refuse(conn, tp_last_error()->text);
    return status;
}

tp_status transaction_rollback(struct call *call) {
    struct conn_handle *conn = call->conn;
    enum transaction was = conn->transaction;
    conn->transaction = TRANSACTION_NONE;
    if (was == TRANSACTION_REFUSED) return TP_OK;
    tp_status status = tp_rollback(conn->conn);
    if (status == TP_DISCONNECTED) conn->disconnected = true;
    return status;
}

static tp_status refuse_commit(struct call *call) {
    bool begun = call->conn->transaction == TRANSACTION_DOOMED;
    tp_status status = transaction_rollback(call);
    return call_refuse(call, status < TP_OK && begun ? status : TP_CONFLICT, "%s (%s): nothing was stored",
                       begun ? "rolled back, because a call of the transaction failed"
                             : "TP_BEGIN had failed",
                       call->conn->why);
}

tp_status transaction_commit(struct call *call) {
    struct conn_handle *conn = call->conn;
    if (conn->transaction == TRANSACTION_DOOMED || conn->transaction == TRANSACTION_REFUSED)
        return refuse_commit(call);
    conn->transaction = TRANSACTION_NONE;
    return tp_commit(conn->conn);
}

/* What TP_STEP began is ended by TP_SETTLE, and what the program began without this layer by itself. */
static tp_status check_own(struct call *call) {
    if (call->conn->borrowed)
        return call_refuse(call, TP_MISUSE,
                           "the connection is borrowed: its transactions are the program's own");
    if (!call->conn->in_hand) return TP_OK;
    return call_refuse(call, TP_MISUSE,
                       "the transaction is that of the task of TP_STEP: CALL TP_SETTLE ends it");
}

int TP_BEGIN(void *area, void *conn) {
    struct call call;
    tp_status status = call_begin_on(&call, area, "TP_BEGIN", conn);
    if (status == TP_OK) status = check_own(&call);
    if (status == TP_OK &&
        (call.conn->transaction == TRANSACTION_OPEN || call.conn->transaction == TRANSACTION_DOOMED))
        status = call_refuse(&call, TP_MISUSE, "a transaction is open");
    if (status == TP_OK) status = transaction_begin(&call);
    return call_end(&call, status);
}

int TP_COMMIT(void *area, void *conn) {
    struct call call;
    tp_status status = call_begin_on(&call, area, "TP_COMMIT", conn);
    if (status == TP_OK) status = check_own(&call);
    if (status == TP_OK) status = transaction_commit(&call);
    return call_end(&call, status);
}

int TP_ROLLBACK(void *area, void *conn) {
    struct call call;
    tp_status status = call_begin_on(&call, area, "TP_ROLLBACK", conn);
    if (status == TP_OK) status = check_own(&call);
    if (status == TP_OK) status = transaction_rollback(&call);
    return call_end(&call, status);
}
