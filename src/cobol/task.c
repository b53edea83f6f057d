/* Tasks in blocks; see task.h. */
#include "task.h"

#include <stdlib.h>
#include <string.h>

#include "fields.h"

enum { LEASE_MS = 60000 }; /* the library's own */

struct task_handle *task_of(int32_t number) {
    return number_handle(NUMBER_TASK, number);
}

const tp_task *task_in(const struct task_handle *task) {
    return tp_batch_task(task->batch, 0);
}

void task_drop(int32_t number) {
    struct task_handle *task = task_of(number);
    if (!task) return;
    number_drop(number);
    tp_batch_free(task->batch);
    free(task->result);
    free(task);
}

tp_status task_find(struct call *call, const struct task_block *block, struct task_handle **task) {
    *task = task_of(block->number);
    return *task ? TP_OK : call_refuse(call, TP_MISUSE, "the block of copybook TPTASK stands for no claim");
}

tp_status task_check_free(struct call *call, const struct task_block *block) {
    if (!task_of(block->number)) return TP_OK;
    return call_refuse(call, TP_MISUSE, "the block of copybook TPTASK stands for a claim; use another one");
}

tp_status task_begin(struct call *call, void *area, const char *name, void *block, struct task_block *copy,
                     struct task_handle **task) {
    tp_status status = call_begin(call, area, name);
    if (status == TP_OK) status = call_block(call, copy, block, sizeof *copy, "TPTASK");
    if (status == TP_OK) status = task_find(call, copy, task);
    if (status != TP_OK || !*task) return status;
    call->conn = (*task)->conn;
    return TP_OK;
}

void task_fill(struct task_block *block, const tp_task *task) {
    block->params_length = 0;
    block->verdict = -1;
    block->no_retry = 0;
    block->delay_ms = block->lease_ms = 0;
    block->shard = task->shard;
    block->priority = task->priority;
    block->failures = task->failures;
    block->max_failures = task->max_failures;
    block->due_at = task->due_at;
    block->created_at = task->created_at;
    block->modified_at = task->modified_at;
    block->settled_at = task->settled_at;
    /* None is longer than its column, for which the field has room. */
    field_fill(block->id, sizeof block->id, task->id);
    field_fill(block->owner, sizeof block->owner, task->owner);
    field_fill(block->state, sizeof block->state, task->state);
    field_fill(block->pool, sizeof block->pool, task->pool);
    field_fill(block->handler, sizeof block->handler, task->handler);
    field_fill(block->biz_key, sizeof block->biz_key, task->biz_key);
    field_fill(block->dedup_key, sizeof block->dedup_key, task->dedup_key);
    field_fill(block->reason, sizeof block->reason, task->reason);
}

tp_status task_fill_params(struct call *call, struct task_block *block, char *field, const char *params,
                           size_t length) {
    block->params_length = (int32_t)length;
    return call_fill_text(call, "params", field, block->params_size, params, length);
}

tp_status task_give(struct call *call, tp_batch *batch, int64_t lease_ms, struct task_block *block) {
    struct task_handle *task = calloc(1, sizeof *task);
    tp_status status = TP_OK;
    if (!task) status = call_refuse(call, TP_NOMEM, "out of memory");
    if (task) {
        *task = (struct task_handle){batch, call->conn, lease_ms > 0 ? lease_ms : LEASE_MS, NULL};
        status = call_give(call, NUMBER_TASK, task, &block->number);
    }
    if (status == TP_OK) return TP_OK;
    tp_batch_free(batch);
    free(task);
    return status;
}
