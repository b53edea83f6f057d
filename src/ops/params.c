/* Params that were too long to be read with the claim: read one task at a time, each in memory of its own, so
 * that they can be given back before the batch. Read first: batch.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sha256.h"
#include "ops/for_workers.h"
#include "ops/hold.h"
#include "ops/settle.h"

/* The public task is the beginning of its slot. */
static struct tpi_slot *slot_of(const tp_task *task) {
    return (struct tpi_slot *)(uintptr_t)task;
}

static bool was_read(const struct tpi_slot *slot) {
    return slot->read_digest[0] != '\0';
}

static tp_status read_params(tp_conn *conn, const tp_task *task) {
    struct tpi_slot *slot = slot_of(task);
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    struct tpi_buf text = {0};
    bool locked = tpi_hold_locked(conn, task), is_null = false;
    if (locked) tpi_hold_args(task, &args);
    tpi_args_text(&args, TPI_P_id, task->id);
    tpi_args_text(&args, TPI_P_token, task->owner);
    tp_status status =
        tpi_store_query(&conn->store, locked ? TPI_S_hold_params : TPI_S_task_params, &args, &stmt);
    if (status != TP_OK) return status;
    status = tpi_stmt_fetch(stmt);
    if (status == TP_OK) status = tpi_stmt_column(stmt, 1, &text, &is_null);
    tpi_stmt_close(stmt);
    if (status == TP_OK && text.length == 0) tpi_buf_text(&text, "");
    if (status == TP_OK && (text.failed || !text.data)) status = tpi_link_no_memory(stmt->link);
    if (status == TP_OK) {
        slot->own_params = text.data;
        slot->task.params = text.data;
        slot->read_length = text.length;
        tpi_sha256(text.data, slot->read_length, slot->read_digest);
        return TP_OK;
    }
    tpi_buf_free(&text);
    return status == TP_NONE ? tpi_settle_lost(conn, task) : status;
}

tp_status tp_task_params(tp_conn *conn, const tp_task *task, const char **params, size_t *length) {
    if (!params) return tpi_error(TP_MISUSE, "tp_task_params: params is NULL");
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK) status = tpi_settle_check(task);
    if (status == TP_OK && !task->params) status = read_params(conn, task);
    if (status != TP_OK) return status;
    const char *text = task->params ? task->params : "";
    *params = text;
    if (length) *length = strlen(text);
    return TP_OK;
}

void tp_task_params_free(const tp_task *task) {
    if (!task) return;
    struct tpi_slot *slot = slot_of(task);
    if (!slot->own_params) return;
    free(slot->own_params);
    slot->own_params = NULL;
    slot->task.params = NULL;
}

tp_status tpi_params_note(tp_conn *conn, const tp_task *task) {
    if (!slot_of(task)->long_params || was_read(slot_of(task))) return TP_OK;
    tp_status status = read_params(conn, task);
    if (status == TP_OK) tp_task_params_free(task);
    return status;
}

enum tpi_content tpi_content_compare(const tp_task *before, const tp_task *now) {
    const struct tpi_slot *old = slot_of(before), *later = slot_of(now);
    if (strcmp(before->biz_key, now->biz_key) != 0 || !old->long_params != !later->long_params)
        return TPI_CONTENT_OTHER;
    if (!old->long_params)
        return strcmp(before->params, now->params) == 0 ? TPI_CONTENT_SAME : TPI_CONTENT_OTHER;
    if (!was_read(old)) return TPI_CONTENT_SAME;
    if (!was_read(later)) return TPI_CONTENT_UNREAD;
    bool same = old->read_length == later->read_length && strcmp(old->read_digest, later->read_digest) == 0;
    return same ? TPI_CONTENT_SAME : TPI_CONTENT_OTHER;
}
