/* TP_STEP_FIND and TP_STEP_DONE: the steps of the work on a task. Of a task of TP_STEP, TP_STEP_DONE also
 * ends the transaction and begins the next; what gets no answer there the next TP_STEP finds out. */
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "calls.h"
#include "fields.h"
#include "step.h"
#include "task.h"
#include "transaction.h"

struct step_call {
    struct call call;
    struct task_block task_block;
    struct step_block block;
    struct task_handle *task;
    char name[NAME_FIELD + 1];
    char *field; /* for the result */
    tp_status fitted;
};

/* What is asked or written while nobody knows whether the step before was done would be of no transaction. */
static tp_status begin(struct step_call *step, void *area, const char *name, void *task_block,
                       const void *step_block) {
    struct call *call = &step->call;
    tp_status status = task_begin(call, area, name, task_block, &step->task_block, &step->task);
    if (status == TP_OK) status = call_may_write(call);
    if (status == TP_OK) status = call_block(call, &step->block, step_block, sizeof step->block, "TPSTEP");
    if (status == TP_OK)
        status = call_text(call, "TPS-NAME", step->block.name, sizeof step->block.name, step->name);
    return status;
}

/* ---- Is it done? ----------------------------------------------------------------------------------------
 */

static void show(const tp_step_row *row, void *arg) {
    struct step_call *step = arg;
    size_t length = strlen(row->result);
    step->block.found_length = (int32_t)length;
    step->fitted =
        call_fill_text(&step->call, "result", step->field, step->block.result_size, row->result, length);
}

int TP_STEP_FIND(void *area, void *task_block, void *step_block, void *result) {
    struct step_call step = {.field = result};
    tp_status status = begin(&step, area, "TP_STEP_FIND", task_block, step_block);
    if (status == TP_OK)
        status = tp_step_find(step.task->conn->conn, task_in(step.task), step.name, show, &step);
    if (status == TP_OK) {
        status = step.fitted;
        memcpy(step_block, &step.block, sizeof step.block);
    }
    return call_end(&step.call, status);
}

/* ---- It is ----------------------------------------------------------------------------------------------
 */

/* Commits, and begins what comes next. After a failure nothing more may be written, and whether the step was
 * done is found out by TP_STEP. */
static tp_status next_transaction(struct call *call) {
    tp_status status = transaction_commit(call);
    if (status == TP_OK) status = transaction_begin(call);
    if (status == TP_OK) return status;
    transaction_refuse(call->conn, call->refused ? call->text : tp_last_error()->text);
    call->conn->unanswered = true;
    return status;
}

static tp_status record(struct step_call *step, char *result) {
    const struct task_handle *task = step->task;
    int64_t lease = step->task_block.lease_ms > 0 ? step->task_block.lease_ms : task->lease_ms;
    tp_status status = tp_step_add(task->conn->conn, task_in(task), step->name, result, lease);
    if (status != TP_OK || step->task_block.number != task->conn->in_hand) return status;
    return next_transaction(&step->call);
}

int TP_STEP_DONE(void *area, void *task_block, void *step_block, void *result) {
    struct step_call step = {.field = result};
    char *text = NULL;
    tp_status status = begin(&step, area, "TP_STEP_DONE", task_block, step_block);
    if (status == TP_OK)
        status = call_long_text(&step.call, "result", result, step.block.result_size,
                                step.block.result_length, &text);
    if (status == TP_OK) status = record(&step, text);
    free(text);
    return call_end(&step.call, status);
}
