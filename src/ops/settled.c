/* Where the task of a claim is by now, and what became of a claim whose settle got no answer. Read settle.c
 * first. */
#include "base/error.h"
#include "ops/history.h"
#include "ops/hold.h"
#include "ops/settle.h"
#include "store/record.h"

tp_status tpi_settle_check(const tp_task *task) {
    if (!task || !task->id) return tpi_error(TP_MISUSE, "task is NULL");
    if (!task->owner || !*task->owner)
        return tpi_error(TP_MISUSE, "task %s was not claimed: it has no claim token", task->id);
    if (task->modified_at)
        return tpi_error(
            TP_MISUSE, "task %s comes from tp_list or tp_show; only who claimed it may settle it", task->id);
    return TP_OK;
}

tp_status tpi_settle_lost(tp_conn *conn, const tp_task *task) {
    tpi_link_doom(&conn->store.link);
    return tpi_error(TP_LOST,
                     "task %s: the claim is no longer held; its lease lapsed, or it was settled otherwise",
                     task->id);
}

tp_status tpi_settled_find(tp_conn *conn, const tp_task *task, struct tpi_row_state *row) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(POOL, struct tpi_row_state, pool),
        TPI_COLUMN(STATE, struct tpi_row_state, state),
        {TPI_READ_NOT, 0, 0},
        TPI_COLUMN(CHARS, struct tpi_row_state, gate),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_id, task->id);
    tpi_args_text(&args, TPI_P_token, task->owner);
    tp_status status = tpi_store_read(&conn->store, TPI_S_settled, &args, columns, NULL, row);
    if (status == TP_OK) conn->store.link.tx_state.seen = true;
    return status;
}

static tp_status find_end(tp_conn *conn, const tp_task *task) {
    struct tpi_row_state row = {.pool = TPI_POOL_PENDING, .state = TPI_STATE_PENDING};
    bool last = false;
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK) status = tpi_settle_check(task);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    if (tpi_hold_locked(conn, task)) return TP_NONE;
    status = tpi_settled_find(conn, task, &row);
    if (status == TP_OK && row.pool == TPI_POOL_PENDING && row.state == TPI_STATE_HANDLING) return TP_NONE;
    if (status == TP_NONE) {
        status = tpi_history_failed(conn, task->id, task->owner, &last);
        if (status == TP_NONE) return tpi_settle_lost(conn, task);
    }
    return status;
}

tp_status tp_settled(tp_conn *conn, const tp_task *task) {
    return tpi_conn_answer(conn, find_end(conn, task));
}
