/* TP_SHOW and TP_LIST: tasks as they are, for a program that asks what became of its own. */
#include "calls.h"

#include <string.h>

#include "call.h"
#include "fields.h"
#include "task.h"

static tp_status show(struct call *call, struct task_block *block, void *params) {
    tp_batch *batch = NULL;
    char id[ID_FIELD + 1];
    tp_status status = call_text_whole(call, "TPT-ID", block->id, sizeof block->id, id);
    if (status == TP_OK) status = tp_show(call->conn->conn, id, &batch);
    if (status != TP_OK) return status;
    const tp_task *task = tp_batch_task(batch, 0);
    task_fill(block, task);
    status = task_fill_params(call, block, params, task->params, strlen(task->params));
    tp_batch_free(batch);
    return status;
}

int TP_SHOW(void *area, void *conn, void *task_block, void *params) {
    struct call call;
    struct task_block block;
    tp_status status = call_begin_on(&call, area, "TP_SHOW", conn);
    if (status == TP_OK) status = call_block(&call, &block, task_block, sizeof block, "TPTASK");
    if (status == TP_OK) status = task_check_free(&call, &block);
    if (status == TP_OK) {
        status = show(&call, &block, params);
        memcpy(task_block, &block, sizeof block);
    }
    return call_end(&call, status);
}

struct wanted {
    char after_id[ID_FIELD + 1];
    char pool[8 + 1], state[8 + 1];
    char handler[HANDLER_FIELD + 1];
    char biz_key[KEY_FIELD + 1];
};

static tp_status read_wanted(struct call *call, const struct list_block *block, struct wanted *wanted) {
    tp_status status =
        call_text_whole(call, "TPL-AFTER-ID", block->after_id, sizeof block->after_id, wanted->after_id);
    if (status == TP_OK)
        status = call_text_whole(call, "TPL-POOL", block->pool, sizeof block->pool, wanted->pool);
    if (status == TP_OK)
        status = call_text_whole(call, "TPL-STATE", block->state, sizeof block->state, wanted->state);
    if (status == TP_OK)
        status = call_text(call, "TPL-HANDLER", block->handler, sizeof block->handler, wanted->handler);
    if (status == TP_OK)
        status = call_text(call, "TPL-BIZ-KEY", block->biz_key, sizeof block->biz_key, wanted->biz_key);
    return status;
}

static const char *any_or(const char *text) {
    return text[0] ? text : NULL;
}

static tp_status list(struct call *call, struct list_block *asked, struct task_block *block) {
    struct wanted wanted;
    tp_batch *batch = NULL;
    tp_status status = read_wanted(call, asked, &wanted);
    if (status != TP_OK) return status;
    tp_list_request request = TP_LIST_INIT;
    request.pool = any_or(wanted.pool);
    request.handler = any_or(wanted.handler);
    request.state = any_or(wanted.state);
    request.biz_key = any_or(wanted.biz_key);
    request.after_id = any_or(wanted.after_id);
    request.limit = 1;
    status = tp_list(call->conn->conn, &request, &batch);
    if (status != TP_OK) return status;
    task_fill(block, tp_batch_task(batch, 0));
    memcpy(asked->after_id, block->id, sizeof asked->after_id);
    tp_batch_free(batch);
    return TP_OK;
}

int TP_LIST(void *area, void *conn, void *list_block, void *task_block) {
    struct call call;
    struct list_block asked;
    struct task_block block;
    tp_status status = call_begin_on(&call, area, "TP_LIST", conn);
    if (status == TP_OK) status = call_block(&call, &asked, list_block, sizeof asked, "TPLIST");
    if (status == TP_OK) status = call_block(&call, &block, task_block, sizeof block, "TPTASK");
    if (status == TP_OK) status = task_check_free(&call, &block);
    if (status == TP_OK) status = list(&call, &asked, &block);
    if (status == TP_OK) {
        memcpy(list_block, &asked, sizeof asked);
        memcpy(task_block, &block, sizeof block);
    }
    return call_end(&call, status);
}
