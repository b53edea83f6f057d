/* TP_STEP: one task at a time for a loop in COBOL, which does the work itself between TP_STEP and TP_SETTLE,
 * in the task's own transaction. What nobody knows the end of, TP_STEP finds out, and hands the task out
 * again if its work is still to be done. Read next: settle.c. */
#include "step.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calls.h"
#include "policy.h"
#include "task.h"
#include "transaction.h"

enum { POLL_MS = 500 };

static void pause_for(int64_t ms) {
    struct timespec rest = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    while (nanosleep(&rest, &rest) != 0) {
    }
}

static int64_t poll_ms(const struct policy *policy) {
    return policy->block.poll_ms > 0 ? policy->block.poll_ms : POLL_MS;
}

/* ---- A connection that was lost -------------------------------------------------------------------------
 */

tp_status step_reconnect(struct call *call) {
    struct conn_handle *conn = call->conn;
    if (!conn->disconnected) return TP_OK;
    tp_status status = tp_conn_reopen(conn->conn);
    if (status == TP_OK) conn->disconnected = false;
    return status;
}

/* ---- Handing out ----------------------------------------------------------------------------------------
 */

/* Begins the task's transaction. Params that cannot be shown doom it, so that nobody completes a task whose
 * params it has not seen; it stays in hand until it is settled otherwise. */
static tp_status hand_out(struct call *call, struct task_block *block, void *params) {
    struct conn_handle *conn = call->conn;
    struct task_handle *handle = task_of(conn->in_hand);
    const tp_task *task = task_in(handle);
    const char *text = NULL;
    size_t length = 0;
    block->number = conn->in_hand;
    free(handle->result); /* of a try that was not stored */
    handle->result = NULL;
    tp_status status = tp_task_params(conn->conn, task, &text, &length);
    if (status == TP_LOST) step_forget(conn, block);
    if (status == TP_OK) status = transaction_begin(call);
    if (status != TP_OK) {
        conn->transaction = TRANSACTION_NONE;
        conn->unanswered = conn->in_hand != 0; /* the next step hands it out again */
        block->number = 0;
        return status;
    }
    conn->unanswered = false;
    task_fill(block, task);
    return task_fill_params(call, block, params, text, length);
}

void step_forget(struct conn_handle *conn, struct task_block *block) {
    task_drop(conn->in_hand);
    conn->in_hand = 0;
    conn->unanswered = false;
    block->number = 0;
}

/* TP_NONE: no task is in hand (any more). */
static tp_status find_out(struct call *call, struct task_block *block, void *params) {
    struct conn_handle *conn = call->conn;
    if (!conn->in_hand) return TP_NONE;
    tp_status status = tp_settled(conn->conn, tp_batch_task(task_of(conn->in_hand)->batch, 0));
    if (status == TP_NONE) return hand_out(call, block, params);
    if (status != TP_OK && status != TP_LOST) return status;
    step_forget(conn, block);
    return TP_NONE;
}

static tp_status claim_within(struct call *call, struct policy *policy, tp_batch **batch) {
    int64_t waited = 0;
    for (;;) {
        tp_status status = tp_claim(call->conn->conn, &policy->request, batch);
        int64_t left = policy->block.wait_ms - waited;
        if (status != TP_NONE || left <= 0) return status;
        int64_t rest = left < poll_ms(policy) ? left : poll_ms(policy);
        pause_for(rest);
        waited += rest;
    }
}

static tp_status step(struct call *call, struct policy *policy, struct task_block *block, void *params) {
    tp_batch *batch = NULL;
    block->number = 0;
    tp_status status = step_reconnect(call);
    if (status == TP_OK) status = find_out(call, block, params);
    if (status != TP_NONE) return status;
    status = claim_within(call, policy, &batch);
    if (status != TP_OK) return status;
    status = task_give(call, batch, policy->block.lease_ms, block);
    if (status != TP_OK) return status;
    call->conn->in_hand = block->number;
    return hand_out(call, block, params);
}

static tp_status check_order(struct call *call) {
    struct conn_handle *conn = call->conn;
    if (conn->unanswered) conn->transaction = TRANSACTION_NONE; /* TP_STEP_DONE may have refused the next */
    if (conn->borrowed)
        return call_refuse(call, TP_MISUSE, "a borrowed connection makes no transactions; CALL TP_CONNECT");
    if (conn->in_hand && !conn->unanswered)
        return call_refuse(call, TP_MISUSE,
                           "the task of the last TP_STEP was not ended: CALL TP_SETTLE first");
    if (conn->transaction != TRANSACTION_NONE)
        return call_refuse(call, TP_MISUSE, "a transaction of TP_BEGIN is open: end it first");
    return TP_OK;
}

int TP_STEP(void *area, void *conn, void *claim_block, void *task_block, void *params) {
    struct call call;
    struct policy policy;
    struct task_block block;
    tp_status status = call_begin_on(&call, area, "TP_STEP", conn);
    if (status == TP_OK) status = policy_claim(&call, &policy, claim_block);
    if (status == TP_OK) status = call_block(&call, &block, task_block, sizeof block, "TPTASK");
    if (status == TP_OK) status = check_order(&call);
    if (status != TP_OK) return call_end(&call, status);
    status = step(&call, &policy, &block, params);
    policy_keep_token(&policy, claim_block);
    memcpy(task_block, &block, sizeof block);
    int answer = call_end(&call, status);
    if (tp_status_may_retry(status)) pause_for(poll_ms(&policy)); /* the program's loop has no pause */
    return answer;
}
