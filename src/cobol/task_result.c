/* TP_RESULT, TP_AWAIT and TP_PROGRESS: what a task gives back, waiting for it, and how far it is. A result is
 * kept with the claim until TP_SETTLE or TP_COMPLETE stores it. */
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "calls.h"
#include "fields.h"
#include "task.h"

int TP_RESULT(void *area, void *task_block, void *result_block, void *result) {
    struct call call;
    struct task_block block;
    struct result_block given;
    struct task_handle *task = NULL;
    char *text = NULL;
    tp_status status = task_begin(&call, area, "TP_RESULT", task_block, &block, &task);
    if (status == TP_OK) status = call_block(&call, &given, result_block, sizeof given, "TPRESULT");
    if (status == TP_OK)
        status = call_long_text(&call, "result", result, given.result_size, given.result_length, &text);
    if (status == TP_OK) {
        free(task->result);
        task->result = text;
    }
    return call_end(&call, status);
}

static tp_status await_end(struct call *call, struct task_block *block, struct result_block *wanted,
                           void *result) {
    tp_batch *batch = NULL;
    char id[ID_FIELD + 1];
    tp_status status = call_text_whole(call, "TPT-ID", block->id, sizeof block->id, id);
    if (status == TP_OK) status = tp_await(call->conn->conn, id, wanted->wait_ms, &batch);
    if (status != TP_OK) return status;
    const tp_task *task = tp_batch_task(batch, 0);
    task_fill(block, task);
    wanted->found_length = (int32_t)strlen(task->result);
    status = call_fill_text(call, "result", result, wanted->result_size, task->result, strlen(task->result));
    tp_batch_free(batch);
    return status;
}

int TP_AWAIT(void *area, void *conn, void *task_block, void *result_block, void *result) {
    struct call call;
    struct task_block block;
    struct result_block wanted;
    tp_status status = call_begin_on(&call, area, "TP_AWAIT", conn);
    if (status == TP_OK) status = call_block(&call, &block, task_block, sizeof block, "TPTASK");
    if (status == TP_OK) status = call_block(&call, &wanted, result_block, sizeof wanted, "TPRESULT");
    if (status == TP_OK) status = task_check_free(&call, &block);
    if (status == TP_OK) {
        status = await_end(&call, &block, &wanted, result);
        memcpy(task_block, &block, sizeof block);
        memcpy(result_block, &wanted, sizeof wanted);
    }
    return call_end(&call, status);
}

/* Over another connection than that of the task, which has its transaction. */
int TP_PROGRESS(void *area, void *conn, void *task_block, void *progress_block) {
    struct call call;
    struct task_block block;
    struct progress_block said;
    struct task_handle *task = NULL;
    char message[REASON_FIELD + 1];
    tp_status status = call_begin_on(&call, area, "TP_PROGRESS", conn);
    if (status == TP_OK) status = call_block(&call, &block, task_block, sizeof block, "TPTASK");
    if (status == TP_OK) status = task_find(&call, &block, &task);
    if (status == TP_OK) status = call_block(&call, &said, progress_block, sizeof said, "TPPROG");
    if (status == TP_OK)
        status = call_text_whole(&call, "TPP-MESSAGE", said.message, sizeof said.message, message);
    if (status == TP_OK) status = tp_progress_set(call.conn->conn, task_in(task), said.percent, message);
    return call_end(&call, status);
}
