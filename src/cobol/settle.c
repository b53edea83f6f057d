/* TP_SETTLE: ends the task of TP_STEP as the program's verdict says, and its transaction with it: what the
 * work wrote is committed together with the completion, or not at all. A failure leaves the task in hand, and
 * the next TP_STEP finds out what became of it. */
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "policy.h"
#include "step.h"
#include "task.h"
#include "transaction.h"

struct settle {
    struct call *call;
    tp_conn *conn;
    const tp_task *task;
    const struct task_block *block;
    const tp_retry *retry;
    const char *result; /* of TP_RESULT; NULL: none */
    char reason[REASON_FIELD + 1];
};

/* What is rolled back by a lost connection needs a new one. */
static tp_status roll_back(struct call *call) {
    tp_status status = transaction_rollback(call);
    if (status != TP_OK) call->conn->disconnected = true;
    return step_reconnect(call);
}

/* With what was written in the task's transaction. */
static tp_status settle_inside(struct settle *settle, bool done) {
    tp_status status = done ? tp_complete_with(settle->conn, settle->task, settle->result)
                            : tp_skip(settle->conn, settle->task, settle->reason);
    if (status == TP_OK) return transaction_commit(settle->call);
    struct call *call = settle->call;
    (void)call_refuse(call, status, "%s", tp_last_error()->text);
    tp_status rolled = roll_back(call);
    return rolled == TP_OK || status == TP_LOST ? status : rolled;
}

static tp_status fail(struct settle *settle, const char *reason, bool no_retry) {
    tp_status status = roll_back(settle->call);
    if (status != TP_OK) return status;
    return no_retry ? tp_give_up(settle->conn, settle->task, reason)
                    : tp_fail(settle->conn, settle->task, reason, settle->retry);
}

/* A call in the transaction failed, and the program did not notice. */
static tp_status refuse_done(struct settle *settle) {
    char why[sizeof settle->call->conn->why];
    snprintf(why, sizeof why, "%s", settle->call->conn->why);
    tp_status status = fail(settle, why, false);
    if (status < TP_OK) return status;
    return call_refuse(
        settle->call, TP_CONFLICT,
        "rolled back, because a call of the transaction failed (%s); it counts as a failure of the task",
        why);
}

static tp_status settle_as(struct settle *settle) {
    bool doomed = settle->call->conn->transaction == TRANSACTION_DOOMED;
    switch ((tp_verdict)settle->block->verdict) {
    case TP_RUN_DONE:
    case TP_RUN_SKIPPED:
        if (doomed) return refuse_done(settle);
        return settle_inside(settle, settle->block->verdict == TP_RUN_DONE);
    case TP_RUN_FAILED:
        return fail(settle, settle->reason, settle->block->no_retry == 1);
    case TP_RUN_LATER:
    default: {
        tp_status status = roll_back(settle->call);
        return status == TP_OK ? tp_release(settle->conn, settle->task, settle->block->delay_ms) : status;
    }
    }
}

/* What fails here leaves the task in hand, and its transaction can only be rolled back. */
static tp_status check(struct call *call, const struct task_block *block) {
    const struct conn_handle *conn = call->conn;
    if (conn->in_hand && block->number == conn->in_hand && conn->transaction == TRANSACTION_REFUSED)
        return call_refuse(call, TP_CONFLICT, "TP_STEP_DONE failed (%s); the next TP_STEP finds out",
                           conn->why);
    if (!conn->in_hand || conn->unanswered || block->number != conn->in_hand)
        return call_refuse(call, TP_MISUSE, "the block of copybook TPTASK is not that of the last TP_STEP");
    if (block->verdict < TP_RUN_DONE || block->verdict > TP_RUN_LATER)
        return call_refuse(call, TP_MISUSE, "TPT-VERDICT is %d: SET TPT-RUN-DONE TO TRUE, or another of them",
                           (int)block->verdict);
    return TP_OK;
}

/* Is it known that the program's part is over? A refusal of done, too, has settled the task. */
static bool is_over(tp_status status, const struct conn_handle *conn, bool refused_done) {
    return status >= TP_OK || status == TP_LOST ||
           (refused_done && status == TP_CONFLICT && !conn->disconnected);
}

static tp_status settle_task(struct settle *settle, struct task_block *block) {
    struct conn_handle *conn = settle->call->conn;
    bool refuses = conn->transaction == TRANSACTION_DOOMED && block->verdict != TP_RUN_FAILED &&
                   block->verdict != TP_RUN_LATER;
    tp_status status = settle_as(settle);
    conn->transaction = TRANSACTION_NONE;
    if (is_over(status, conn, refuses && settle->call->refused))
        step_forget(conn, block);
    else
        conn->unanswered = true;
    return status;
}

int TP_SETTLE(void *area, void *conn, void *claim_block, void *task_block) {
    struct call call;
    struct policy policy;
    struct task_block block;
    struct settle settle = {&call, NULL, NULL, &block, NULL, NULL, {0}};
    tp_status status = call_begin_on(&call, area, "TP_SETTLE", conn);
    if (status == TP_OK) status = call_block(&call, &block, task_block, sizeof block, "TPTASK");
    if (status == TP_OK) status = check(&call, &block);
    if (status == TP_OK) status = policy_retry(&call, &policy, claim_block);
    if (status == TP_OK)
        status = call_text_whole(&call, "TPT-REASON", block.reason, sizeof block.reason, settle.reason);
    if (status != TP_OK) return call_end(&call, status);
    settle.conn = call.conn->conn;
    settle.task = task_in(task_of(block.number));
    settle.result = task_of(block.number)->result;
    settle.retry = policy.chosen;
    status = settle_task(&settle, &block);
    memcpy(task_block, &block, sizeof block);
    return call_end(&call, status);
}
