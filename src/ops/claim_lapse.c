/* Tasks whose lease lapsed, as claims meet them: what their reason says, whether they are handled again, and
 * the record of who held them. Claims that mark many at once have counted the failure in the statement; here
 * the state table is asked what becomes of each. */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "core/retry.h"
#include "ops/claim.h"
#include "ops/history.h"
#include "ops/settle.h"

/* A task of the batch is as a claim left it, so a reason that begins like this speaks of this claim. */
static bool lapsed(const tp_task *task) {
    return tpi_reason_holder(task->reason) != NULL;
}

static const char *put_together(const char *first, const char *second, tp_batch *batch) {
    struct tpi_buf text = {0};
    tpi_buf_text(&text, first);
    tpi_buf_text(&text, second);
    size_t length = text.failed ? 0 : tpi_utf8_cut(text.data, text.length, TP_REASON_MAX);
    const char *kept = text.failed ? NULL : tpi_texts_keep(&batch->texts, text.data, length);
    tpi_buf_free(&text);
    return kept;
}

const char *tpi_lapse_reason(const tp_task *task, bool now, tp_batch *batch) {
    if (now) return put_together(TPI_REASON_LAPSED, *task->owner ? task->owner : "nobody", batch);
    if (lapsed(task)) return put_together(TPI_REASON_EARLIER, task->reason, batch);
    return task->reason;
}

/* ---- What becomes of them ------------------------------------------------------------------------------ */

static const tp_retry *policy_of(const struct tpi_claim *claim, const tp_task *task) {
    const tp_claim_request *request = claim->request;
    if (!request->retries) return request->retry;
    for (size_t i = 0; i < request->handler_count; i++)
        if (strcmp(request->handlers[i], task->handler) == 0) return request->retries[i];
    return request->retry;
}

/* The policy's delay does not count: the next try is now. */
struct tpi_change tpi_lapse_change(const struct tpi_claim *claim, const tp_task *task, enum tpi_event event) {
    const tp_retry *policy = policy_of(claim, task);
    struct tpi_retry_say say = tpi_retry_ask(policy, task, task->failures, task->reason, 0);
    struct tpi_facts facts = {.failures = task->failures - 1,
                              .max_failures = say.last ? task->failures : INT32_MAX,
                              .due = true,
                              .on_lapse = tpi_retry_read(policy).on_lapse};
    return tpi_fsm_decide(TPI_POOL_PENDING, TPI_STATE_HANDLING, event, &facts);
}

/* ---- The record ---------------------------------------------------------------------------------------- */

/* Who let the lease lapse; "": nobody knows. */
static void read_owner(const tp_task *task, char owner[TPI_UUID_SIZE]) {
    const char *holder = tpi_reason_holder(task->reason);
    if (!holder || !tpi_uuid_normal(holder, owner)) owner[0] = '\0';
}

tp_status tpi_lapse_tell(tp_conn *conn, const tp_task *task) {
    char owner[TPI_UUID_SIZE] = "";
    read_owner(task, owner);
    struct tpi_told told = {.task_id = task->id,
                            .handler = task->handler,
                            .event = TPI_TOLD_LAPSED,
                            .owner = owner,
                            .reason = task->reason,
                            .attempt = task->failures};
    return tpi_history_add(conn, &told);
}

/* Unless an earlier try of this claim has. */
static tp_status record(const struct tpi_claim *claim, const tp_task *task) {
    char owner[TPI_UUID_SIZE] = "";
    struct tpi_args args = {0};
    bool found = false;
    if (!claim->asked_again) return tpi_lapse_tell(claim->conn, task);
    read_owner(task, owner);
    tpi_args_text(&args, TPI_P_id, task->id);
    tpi_args_text(&args, TPI_P_token, owner);
    tpi_args_number(&args, TPI_P_attempt, task->failures);
    tp_status status = tpi_store_exists(&claim->conn->store, TPI_S_history_lapsed, &args, &found);
    return status == TP_OK && !found ? tpi_lapse_tell(claim->conn, task) : status;
}

static bool any_lapsed(const tp_batch *batch) {
    for (size_t i = 0; i < batch->count; i++)
        if (lapsed(&batch->slots[i].task)) return true;
    return false;
}

static tp_status record_all(struct tpi_claim *claim) {
    struct tpi_scope scope;
    const tp_batch *batch = claim->batch;
    if (!any_lapsed(batch)) return TP_OK;
    tp_status status = tpi_scope_begin(claim->conn, &scope);
    if (status != TP_OK) return status;
    for (size_t i = 0; i < batch->count && status == TP_OK; i++)
        if (lapsed(&batch->slots[i].task)) status = record(claim, &batch->slots[i].task);
    return tpi_scope_end(claim->conn, &scope, status);
}

/* ---- Putting aside ------------------------------------------------------------------------------------- */

static bool is_last(const tp_error *error) {
    const tp_error *last = tp_last_error();
    return error->native == last->native && strcmp(error->sqlstate, last->sqlstate) == 0 &&
           strcmp(error->statement, last->statement) == 0;
}

/* TP_OK, and claim->refused says why it stays: a rule of the application's own refuses it, and refuses it
 * again. What the server or its disk could not do a moment ago mostly goes now. */
static tp_status settle_or_refuse(struct tpi_claim *claim, const tp_task *task,
                                  const struct tpi_change *change) {
    tp_status status = tpi_settle_lapsed(claim->conn, task, change);
    if (status != TP_DB || claim->conn->store.link.tx != TPI_TX_NONE) return status;
    struct tpi_kept_error first = tpi_error_keep();
    status = tpi_settle_lapsed(claim->conn, task, change);
    if (status != TP_DB || !is_last(&first.error)) return status;
    claim->refused = first;
    return TP_OK;
}

/* TP_NONE: it is to be handled. One that is refused is left out, under this claim's lease, for the others'
 * sake. */
static tp_status move_on(struct tpi_claim *claim, const tp_task *task) {
    if (!lapsed(task)) return TP_NONE;
    struct tpi_change change = tpi_lapse_change(claim, task, TPI_EVENT_CLAIM);
    if (change.pool == TPI_POOL_PENDING) return TP_NONE;
    tp_status status = settle_or_refuse(claim, task, &change);
    return status == TP_LOST ? TP_OK : status;
}

tp_status tpi_lapse_put_aside(struct tpi_claim *claim, size_t *moved) {
    tp_batch *batch = claim->batch;
    size_t kept = 0;
    bool inside = claim->conn->store.link.tx != TPI_TX_NONE;
    tp_status status = record_all(claim);
    /* Asked again, the claim finds its rows and records what is not recorded. What asking again does not mend
     * must not stop the claim: it stands without its record. */
    if (status < TP_OK && (inside || tp_status_may_retry(status))) return status;
    status = TP_NONE;
    *moved = 0;
    for (size_t i = 0; i < batch->count; i++) {
        struct tpi_slot *slot = &batch->slots[i];
        slot->task.owner = claim->token;
        if (status >= TP_OK) status = move_on(claim, &slot->task);
        if (status == TP_OK)
            ++*moved;
        else
            batch->slots[kept++] = *slot;
    }
    batch->count = kept;
    return status < TP_OK ? status : TP_OK;
}
