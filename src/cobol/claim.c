/* TP_CLAIM and what ends a claim. The program makes its own transactions; TP_STEP does it for it. */
#include "calls.h"

#include <string.h>

#include "call.h"
#include "policy.h"
#include "task.h"

/* ---- Claim ----------------------------------------------------------------------------------------------
 */

static tp_status claim(struct call *call, struct policy *policy, struct task_block *block, void *params) {
    tp_batch *batch = NULL;
    const char *text = NULL;
    size_t length = 0;
    tp_status status = tp_claim(call->conn->conn, &policy->request, &batch);
    if (status != TP_OK) return status;
    task_fill(block, tp_batch_task(batch, 0));
    status = task_give(call, batch, policy->block.lease_ms, block);
    if (status != TP_OK) return status;
    status = tp_task_params(call->conn->conn, tp_batch_task(batch, 0), &text, &length);
    return status == TP_OK ? task_fill_params(call, block, params, text, length) : status;
}

int TP_CLAIM(void *area, void *conn, void *claim_block, void *task_block, void *params) {
    struct call call;
    struct policy policy;
    struct task_block block;
    tp_status status = call_begin_on(&call, area, "TP_CLAIM", conn);
    if (status == TP_OK) status = call_may_write(&call);
    if (status == TP_OK) status = policy_claim(&call, &policy, claim_block);
    if (status == TP_OK) status = call_block(&call, &block, task_block, sizeof block, "TPTASK");
    if (status == TP_OK && task_of(block.number))
        status =
            call_refuse(&call, TP_MISUSE,
                        "the block of copybook TPTASK stands for a claim that is open; settle it, or CALL "
                        "TP_FORGET");
    if (status == TP_OK) {
        block.number = 0;
        status = claim(&call, &policy, &block, params);
        policy_keep_token(&policy, claim_block);
        memcpy(task_block, &block, sizeof block);
    }
    return call_end(&call, status);
}

int TP_PARAMS(void *area, void *task_block, void *params) {
    struct call call;
    struct task_block block;
    struct task_handle *task = NULL;
    const char *text = NULL;
    size_t length = 0;
    tp_status status = task_begin(&call, area, "TP_PARAMS", task_block, &block, &task);
    if (status == TP_OK) status = tp_task_params(task->conn->conn, task_in(task), &text, &length);
    if (status == TP_OK) {
        status = task_fill_params(&call, &block, params, text, length);
        memcpy(task_block, &block, sizeof block);
    }
    return call_end(&call, status);
}

/* ---- Settle ---------------------------------------------------------------------------------------------
 */

/* A task of TP_STEP is ended by TP_SETTLE alone, which also ends its transaction. */
static tp_status begin_settle(struct call *call, void *area, const char *name, void *block,
                              struct task_block *copy, struct task_handle **task) {
    tp_status status = task_begin(call, area, name, block, copy, task);
    if (status != TP_OK) return status;
    if (copy->number == call->conn->in_hand)
        return call_refuse(call, TP_MISUSE, "the task is that of TP_STEP: CALL TP_SETTLE");
    return call_may_write(call);
}

static tp_status reason_of(struct call *call, const struct task_block *block, char *reason) {
    return call_text_whole(call, "TPT-REASON", block->reason, sizeof block->reason, reason);
}

int TP_COMPLETE(void *area, void *task_block) {
    struct call call;
    struct task_block block;
    struct task_handle *task = NULL;
    tp_status status = begin_settle(&call, area, "TP_COMPLETE", task_block, &block, &task);
    if (status == TP_OK) status = tp_complete_with(task->conn->conn, task_in(task), task->result);
    return call_end(&call, status);
}

int TP_FAIL(void *area, void *claim_block, void *task_block) {
    struct call call;
    struct policy policy;
    struct task_block block;
    struct task_handle *task = NULL;
    char reason[REASON_FIELD + 1];
    tp_status status = begin_settle(&call, area, "TP_FAIL", task_block, &block, &task);
    if (status == TP_OK) status = policy_retry(&call, &policy, claim_block);
    if (status == TP_OK) status = reason_of(&call, &block, reason);
    if (status == TP_OK) status = tp_fail(task->conn->conn, task_in(task), reason, policy.chosen);
    return call_end(&call, status);
}

/* Those that take a reason and nothing else. */
static int settle_with(void *area, void *task_block, const char *name,
                       tp_status (*settle)(tp_conn *conn, const tp_task *task, const char *reason)) {
    struct call call;
    struct task_block block;
    struct task_handle *task = NULL;
    char reason[REASON_FIELD + 1];
    tp_status status = begin_settle(&call, area, name, task_block, &block, &task);
    if (status == TP_OK) status = reason_of(&call, &block, reason);
    if (status == TP_OK) status = settle(task->conn->conn, task_in(task), reason);
    return call_end(&call, status);
}

int TP_GIVE_UP(void *area, void *task_block) {
    return settle_with(area, task_block, "TP_GIVE_UP", tp_give_up);
}

int TP_SKIP(void *area, void *task_block) {
    return settle_with(area, task_block, "TP_SKIP", tp_skip);
}

int TP_RELEASE(void *area, void *task_block) {
    struct call call;
    struct task_block block;
    struct task_handle *task = NULL;
    tp_status status = begin_settle(&call, area, "TP_RELEASE", task_block, &block, &task);
    if (status == TP_OK) status = tp_release(task->conn->conn, task_in(task), block.delay_ms);
    return call_end(&call, status);
}

int TP_EXTEND(void *area, void *task_block) {
    struct call call;
    struct task_block block;
    struct task_handle *task = NULL;
    tp_status status = task_begin(&call, area, "TP_EXTEND", task_block, &block, &task);
    if (status == TP_OK) status = call_may_write(&call);
    if (status == TP_OK) status = tp_extend(task->conn->conn, task_in(task), block.lease_ms);
    return call_end(&call, status);
}

int TP_SETTLED(void *area, void *task_block) {
    struct call call;
    struct task_block block;
    struct task_handle *task = NULL;
    tp_status status = task_begin(&call, area, "TP_SETTLED", task_block, &block, &task);
    if (status == TP_OK) status = tp_settled(task->conn->conn, task_in(task));
    return call_end(&call, status);
}

int TP_FORGET(void *area, void *task_block) {
    struct call call;
    struct task_block block;
    struct task_handle *task = NULL;
    tp_status status = task_begin(&call, area, "TP_FORGET", task_block, &block, &task);
    if (status == TP_OK && block.number == call.conn->in_hand)
        status = call_refuse(&call, TP_MISUSE, "the task is that of TP_STEP: CALL TP_SETTLE");
    if (status == TP_OK) {
        task_drop(block.number);
        block.number = 0;
        memcpy(task_block, &block, sizeof block);
    }
    return call_end(&call, status);
}
