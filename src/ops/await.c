/* Waits until a task has ended, by asking the database, and reads how it ended. Must not know who ends it: a
 * worker of this process tells (base/ended.h), and then it asks at once. */
#include "base/clock.h"
#include "base/ended.h"
#include "base/error.h"
#include "core/fsm.h"
#include "ops/batch.h"
#include "store/record.h"

/* Between two polls, a part of the time that was waited so far. */
enum { LEAST_MS = 25, MOST_MS = 1000, PART = 8 };

static const struct tpi_column ended_columns[] = {
    TPI_COLUMN(TEXT, tp_task, state),
    TPI_COLUMN(TEXT, tp_task, reason),
    TPI_COLUMN(INT, tp_task, failures),
    TPI_COLUMN(NUMBER, tp_task, settled_at),
    TPI_COLUMN_END,
};
static const struct tpi_column finished_columns[] = {
    TPI_COLUMN(TEXT, tp_task, state),   TPI_COLUMN(TEXT, tp_task, reason),
    TPI_COLUMN(INT, tp_task, failures), TPI_COLUMN(NUMBER, tp_task, settled_at),
    TPI_COLUMN(TEXT, tp_task, result),  TPI_COLUMN_END,
};

/* ---- How it ended -------------------------------------------------------------------------------------- */

static tp_status read_end(tp_conn *conn, struct tpi_args *args, tp_batch *batch, tp_task *task) {
    struct tpi_store *store = &conn->store;
    task->pool = tpi_pool_name(TPI_POOL_FINISHED);
    tp_status status =
        tpi_store_read(store, TPI_S_ended_finished, args, finished_columns, &batch->texts, task);
    if (status != TP_NONE) return status;
    task->pool = tpi_pool_name(TPI_POOL_FAILED);
    return tpi_store_read(store, TPI_S_ended_failed, args, ended_columns, &batch->texts, task);
}

/* TP_NONE: it has not ended, or is in no pool. */
static tp_status find_end(tp_conn *conn, const char *id, struct tpi_args *args, tp_batch **out) {
    tp_batch *batch = tpi_batch_new();
    struct tpi_slot *slot = batch ? tpi_batch_add(batch) : NULL;
    if (!slot) {
        tp_batch_free(batch);
        return tpi_link_no_memory(&conn->store.link);
    }
    slot->task.handler = slot->task.biz_key = slot->task.reason = "";
    slot->task.id = tpi_texts_keep(&batch->texts, id, TPI_UUID_SIZE - 1);
    tp_status status =
        slot->task.id ? read_end(conn, args, batch, &slot->task) : tpi_link_no_memory(&conn->store.link);
    if (status == TP_OK)
        *out = batch;
    else
        tp_batch_free(batch);
    return status;
}

/* open: it has not ended. What was in no pool may have moved from one that was not looked at yet to one that
 * was, so a second look decides. */
static tp_status look(tp_conn *conn, const char *id, bool *open, tp_batch **out) {
    struct tpi_args args = {0};
    tp_status status = TP_NONE;
    tpi_args_text(&args, TPI_P_id, id);
    for (int looks = 0; looks < 2 && status == TP_NONE; looks++) {
        status = tpi_store_exists(&conn->store, TPI_S_find_open, &args, open);
        if (status != TP_OK || *open) return status;
        status = find_end(conn, id, &args, out);
    }
    return status;
}

/* ---- The wait ------------------------------------------------------------------------------------------ */

static int64_t pause_after(int64_t waited_ms) {
    int64_t pause = waited_ms / PART;
    if (pause < LEAST_MS) return LEAST_MS;
    return pause < MOST_MS ? pause : MOST_MS;
}

static tp_status poll_for(tp_conn *conn, const char *id, int64_t timeout_ms, struct tpi_ended *ended,
                          tp_batch **out) {
    int64_t began = tpi_clock_mono_ms();
    for (;;) {
        bool open = false;
        tp_status status = look(conn, id, &open, out);
        if (status != TP_OK || !open) return tpi_conn_answer(conn, status);
        int64_t waited = tpi_clock_mono_ms() - began, left = timeout_ms - waited;
        if (left <= 0)
            return tpi_error(TP_TIMEOUT, "task %s has not ended in %lld ms; ask again to wait longer", id,
                             (long long)timeout_ms);
        int64_t pause = pause_after(waited);
        (void)tpi_ended_wait(ended, pause < left ? pause : left);
    }
}

static tp_status await(tp_conn *conn, const char *id, int64_t timeout_ms, tp_batch **out) {
    struct tpi_ended ended;
    tpi_ended_add(&ended, id); /* before the first look, so that no end comes between */
    tp_status status = poll_for(conn, id, timeout_ms, &ended, out);
    tpi_ended_remove(&ended);
    return status;
}

tp_status tp_await(tp_conn *conn, const char *id, int64_t timeout_ms, tp_batch **ended) {
    char normal[TPI_UUID_SIZE];
    bool inside = false;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!ended) return tpi_error(TP_MISUSE, "tp_await: ended is NULL");
    status = tpi_check_uuid("the id", id, normal);
    if (status == TP_OK) status = tpi_check_duration("timeout_ms", timeout_ms);
    if (status == TP_OK) status = tpi_conn_know_mode(conn);
    if (status == TP_OK) status = tpi_conn_in_transaction(conn, &inside);
    if (status != TP_OK) return status;
    if (inside)
        return tpi_error(TP_MISUSE, "tp_await: not inside a transaction, which would be held open, and may "
                                    "never see the end; commit or roll back first");
    return await(conn, normal, timeout_ms, ended);
}
