/* TP_ENQUEUE and TP_ONCE. The block keeps id and content as a tp_new_task does, so that the same call asks
 * again. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "fields.h"

struct texts {
    char handler[HANDLER_FIELD + 1];
    char biz_key[KEY_FIELD + 1];
    char dedup_key[KEY_FIELD + 1];
    char order_key[KEY_FIELD + 1];
    char gate[HANDLER_FIELD + 1];
    char group[KEY_FIELD + 1];
    char after[KEY_FIELD + 1];
    char cut_off_calendar[HANDLER_FIELD + 1];
    char *params;
};

static const char *text_or_null(const char *text) {
    return text[0] ? text : NULL;
}

static tp_status read_texts(struct call *call, const struct new_block *block, const void *params,
                            struct texts *texts) {
    tp_status status = call_text(call, "TPN-HANDLER", block->handler, sizeof block->handler, texts->handler);
    if (status == TP_OK)
        status = call_text(call, "TPN-BIZ-KEY", block->biz_key, sizeof block->biz_key, texts->biz_key);
    if (status == TP_OK)
        status =
            call_text(call, "TPN-DEDUP-KEY", block->dedup_key, sizeof block->dedup_key, texts->dedup_key);
    if (status == TP_OK)
        status =
            call_text(call, "TPN-ORDER-KEY", block->order_key, sizeof block->order_key, texts->order_key);
    if (status == TP_OK) status = call_text(call, "TPN-GATE", block->gate, sizeof block->gate, texts->gate);
    if (status == TP_OK)
        status = call_text(call, "TPN-GROUP", block->group, sizeof block->group, texts->group);
    if (status == TP_OK)
        status = call_text(call, "TPN-AFTER", block->after, sizeof block->after, texts->after);
    if (status == TP_OK)
        status = call_text(call, "TPN-CUT-OFF-CALENDAR", block->cut_off_calendar,
                           sizeof block->cut_off_calendar, texts->cut_off_calendar);
    if (status == TP_OK)
        status =
            call_long_text(call, "params", params, block->params_size, block->params_length, &texts->params);
    return status;
}

static tp_status enqueue(struct call *call, struct new_block *block, const struct texts *texts) {
    tp_new_task task = TP_NEW_TASK_INIT;
    tp_status status = call_text_whole(call, "TPN-ID", block->id, sizeof block->id, task.id);
    if (status != TP_OK) return status;
    task.handler = texts->handler;
    task.params = texts->params;
    task.biz_key = text_or_null(texts->biz_key);
    task.dedup_key = text_or_null(texts->dedup_key);
    task.shard = block->shard;
    task.sharding = (tp_sharding)block->sharding;
    task.shards = block->shards;
    task.priority = block->priority;
    task.max_failures = block->max_failures;
    task.delay_ms = block->delay_ms;
    task.due_at = block->due_at;
    task.on_duplicate = (tp_on_duplicate)block->on_duplicate;
    task.order_key = text_or_null(texts->order_key);
    task.gate = text_or_null(texts->gate);
    task.deadline_at = block->deadline_at;
    task.deadline_ms = block->deadline_ms;
    task.group = text_or_null(texts->group);
    task.after = text_or_null(texts->after);
    task.cut_off_calendar = text_or_null(texts->cut_off_calendar);
    task.cut_off_lead_ms = block->cut_off_lead_ms;
    memcpy(&task.content, &block->content, sizeof task.content);
    status = tp_enqueue(call->conn->conn, &task);
    memcpy(&block->content, &task.content, sizeof task.content);
    field_fill(block->id, sizeof block->id, task.id);
    field_fill(block->existing_id, sizeof block->existing_id, task.existing_id);
    return status;
}

/* A block of the copybook before ends in front of them. */
static void fill_missing(struct new_block *block) {
    if ((size_t)block->size == sizeof *block) return;
    field_fill(block->order_key, sizeof block->order_key, "");
    field_fill(block->gate, sizeof block->gate, "");
    field_fill(block->group, sizeof block->group, "");
    field_fill(block->after, sizeof block->after, "");
    field_fill(block->cut_off_calendar, sizeof block->cut_off_calendar, "");
}

int TP_ENQUEUE(void *area, void *conn, void *new_block, void *params) {
    struct call call;
    struct new_block block;
    struct texts texts = {.params = NULL};
    tp_status status = call_begin_on(&call, area, "TP_ENQUEUE", conn);
    if (status == TP_OK) status = call_may_write(&call);
    if (status == TP_OK)
        status = call_block_from(&call, &block, new_block, offsetof(struct new_block, on_duplicate),
                                 sizeof block, "TPNEW");
    if (status == TP_OK) {
        fill_missing(&block);
        status = read_texts(&call, &block, params, &texts);
    }
    if (status == TP_OK) {
        status = enqueue(&call, &block, &texts);
        memcpy(new_block, &block, (size_t)block.size);
    }
    free(texts.params);
    return call_end(&call, status);
}

int TP_ONCE(void *area, void *conn, void *once_block) {
    struct call call;
    struct once_block block;
    char key[KEY_FIELD + 1];
    tp_status status = call_begin_on(&call, area, "TP_ONCE", conn);
    if (status == TP_OK) status = call_may_write(&call);
    if (status == TP_OK) status = call_block(&call, &block, once_block, sizeof block, "TPONCE");
    if (status == TP_OK) status = call_text(&call, "TPO-KEY", block.key, sizeof block.key, key);
    if (status == TP_OK) status = tp_once(call.conn->conn, key, NULL);
    return call_end(&call, status);
}
