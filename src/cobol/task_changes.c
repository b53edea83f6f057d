/* TP_CANCEL, TP_STOP_CAUSE, TP_EDIT and TP_BUSINESS_DAY: a task that is not wanted any more, or otherwise or
 * at another time; and which day that is. */
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "calls.h"
#include "fields.h"
#include "task.h"

/* ---- Cancel ---------------------------------------------------------------------------------------------
 */

int TP_CANCEL(void *area, void *conn, void *cancel_block) {
    struct call call;
    struct cancel_block block;
    tp_cancelled became = TP_CANCELLED_INIT;
    char id[ID_FIELD + 1], who[KEY_FIELD + 1], why[REASON_FIELD + 1];
    tp_status status = call_begin_on(&call, area, "TP_CANCEL", conn);
    if (status == TP_OK) status = call_block(&call, &block, cancel_block, sizeof block, "TPCANCEL");
    if (status == TP_OK) status = call_text_whole(&call, "TPX-ID", block.id, sizeof block.id, id);
    if (status == TP_OK) status = call_text(&call, "TPX-WHO", block.who, sizeof block.who, who);
    if (status == TP_OK) status = call_text_whole(&call, "TPX-WHY", block.why, sizeof block.why, why);
    if (status == TP_OK) status = tp_cancel(call.conn->conn, id, who, why, &became);
    if (status >= TP_OK) {
        block.answer = (int32_t)became.answer;
        field_fill(block.state, sizeof block.state, became.state);
        field_fill(block.request_id, sizeof block.request_id, became.request_id);
        memcpy(cancel_block, &block, sizeof block);
    }
    return call_end(&call, status);
}

int TP_STOP_CAUSE(void *area, void *task_block, void *stop_block) {
    struct call call;
    struct task_block block;
    struct stop_block said;
    struct task_handle *task = NULL;
    tp_stop cause = TP_STOP_NONE;
    char text[TP_REASON_MAX + 1];
    tp_status status = task_begin(&call, area, "TP_STOP_CAUSE", task_block, &block, &task);
    if (status == TP_OK) status = call_block(&call, &said, stop_block, sizeof said, "TPSTOP");
    if (status == TP_OK) status = tp_stop_cause(call.conn->conn, task_in(task), &cause, text);
    if (status == TP_OK) {
        said.cause = (int32_t)cause;
        field_fill(said.text, sizeof said.text, text);
        memcpy(stop_block, &said, sizeof said);
    }
    return call_end(&call, status);
}

/* ---- Edit -----------------------------------------------------------------------------------------------
 */

struct edit_call {
    struct call call;
    struct edit_block block;
    tp_edit_request request;
    char id[ID_FIELD + 1], biz_key[KEY_FIELD + 1], dedup_key[KEY_FIELD + 1];
    char who[KEY_FIELD + 1], why[REASON_FIELD + 1];
    char *params;
};

static tp_status read_edit(struct edit_call *edit, const void *params) {
    struct call *call = &edit->call;
    const struct edit_block *block = &edit->block;
    tp_status status = call_text_whole(call, "TPD-ID", block->id, sizeof block->id, edit->id);
    if (status == TP_OK)
        status = call_text_whole(call, "TPD-EDIT-ID", block->edit_id, sizeof block->edit_id,
                                 edit->request.edit_id);
    if (status == TP_OK)
        status = call_text(call, "TPD-BIZ-KEY", block->biz_key, sizeof block->biz_key, edit->biz_key);
    if (status == TP_OK)
        status = call_text(call, "TPD-DEDUP-KEY", block->dedup_key, sizeof block->dedup_key, edit->dedup_key);
    if (status == TP_OK) status = call_text(call, "TPD-WHO", block->who, sizeof block->who, edit->who);
    if (status == TP_OK) status = call_text_whole(call, "TPD-WHY", block->why, sizeof block->why, edit->why);
    if (status == TP_OK && block->set_params == 1)
        status =
            call_long_text(call, "params", params, block->params_size, block->params_length, &edit->params);
    return status;
}

static int32_t fields_of(const struct edit_block *block) {
    return (block->set_params == 1 ? TP_EDIT_PARAMS : 0) | (block->set_biz_key == 1 ? TP_EDIT_BIZ_KEY : 0) |
           (block->set_dedup_key == 1 ? TP_EDIT_DEDUP_KEY : 0) |
           (block->set_priority == 1 ? TP_EDIT_PRIORITY : 0) | (block->set_due_at == 1 ? TP_EDIT_DUE_AT : 0) |
           (block->set_max_failures == 1 ? TP_EDIT_MAX_FAILURES : 0) |
           (block->set_shard == 1 ? TP_EDIT_SHARD : 0) | (block->set_deadline == 1 ? TP_EDIT_DEADLINE_AT : 0);
}

int TP_EDIT(void *area, void *conn, void *edit_block, void *params) {
    struct edit_call edit = {.request = TP_EDIT_INIT};
    tp_status status = call_begin_on(&edit.call, area, "TP_EDIT", conn);
    if (status == TP_OK)
        status = call_block(&edit.call, &edit.block, edit_block, sizeof edit.block, "TPEDIT");
    if (status == TP_OK) status = read_edit(&edit, params);
    if (status == TP_OK) {
        edit.request.fields = fields_of(&edit.block);
        edit.request.params = edit.params;
        edit.request.biz_key = edit.biz_key;
        edit.request.dedup_key = edit.dedup_key;
        edit.request.due_at = edit.block.due_at;
        edit.request.priority = edit.block.priority;
        edit.request.max_failures = edit.block.max_failures;
        edit.request.shard = edit.block.shard;
        edit.request.deadline_at = edit.block.deadline_at;
        edit.request.retry = edit.block.retry == 1;
        status = tp_edit(edit.call.conn->conn, edit.id, &edit.request, edit.who, edit.why);
        field_fill((char *)edit_block + offsetof(struct edit_block, edit_id), ID_FIELD, edit.request.edit_id);
    }
    free(edit.params);
    return call_end(&edit.call, status);
}

/* ---- Business days --------------------------------------------------------------------------------------
 */

int TP_BUSINESS_DAY(void *area, void *conn, void *day_block) {
    struct call call;
    struct day_block block;
    tp_business_day_info day = TP_BUSINESS_DAY_INIT;
    char calendar[HANDLER_FIELD + 1], date[sizeof block.date + 1];
    tp_status status = call_begin_on(&call, area, "TP_BUSINESS_DAY", conn);
    if (status == TP_OK) status = call_block(&call, &block, day_block, sizeof block, "TPDAY");
    if (status == TP_OK)
        status = call_text(&call, "TPY-CALENDAR", block.calendar, sizeof block.calendar, calendar);
    if (status == TP_OK) status = call_text(&call, "TPY-DATE", block.date, sizeof block.date, date);
    if (status == TP_OK)
        status = tp_business_day(call.conn->conn, calendar, date[0] ? date : NULL, block.number, &day);
    if (status == TP_OK) {
        block.kind = (int32_t)day.kind;
        block.begins_at = day.begins_at;
        block.cut_off_at = day.cut_off_at;
        field_fill(block.date, sizeof block.date, day.date);
        memcpy(day_block, &block, sizeof block);
    }
    return call_end(&call, status);
}
