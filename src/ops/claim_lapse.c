/* Tasks whose lease lapsed, as claims meet them: what their reason says, whether they are handled again, and
 * the record of who held them. Claims that mark many at once have counted the failure in the statement; here
 * the state table is asked what becomes of each. */
#include <string.h>

#include "base/error.h"
#include "core/retry.h"
#include "ops/claim.h"
#include "ops/settle.h"

static bool begins(const char *text, const char *beginning) {
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* A task of the batch is as a claim left it, so a reason that begins like this speaks of this claim. */
static bool lapsed(const tp_task *task) {
    return begins(task->reason, TPI_REASON_LAPSED);
}

static const char *put_together(const char *first, const char *second, tp_batch *batch) {
    struct tpi_buf text = {0};
    tpi_buf_text(&text, first);
    tpi_buf_text(&text, second);
    const char *kept = text.failed ? NULL : tpi_batch_keep(batch, text.data, text.length);
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
struct tpi_change tpi_lapse_change(const struct tpi_claim *claim, const tp_task *task) {
    const tp_retry *policy = policy_of(claim, task);
    struct tpi_retry_say say = tpi_retry_ask(policy, task, task->failures, task->reason, 0);
    struct tpi_facts facts = {.failures = task->failures - 1,
                              .max_failures = say.last ? task->failures : INT32_MAX,
                              .due = true,
                              .on_lapse = policy ? policy->on_lapse : TP_LAPSE_RETRY};
    return tpi_fsm_decide(TPI_POOL_PENDING, TPI_STATE_HANDLING, TPI_EVENT_CLAIM, &facts);
}

/* TP_NONE: it is to be handled. */
static tp_status move_on(struct tpi_claim *claim, const tp_task *task) {
    if (!lapsed(task)) return TP_NONE;
    struct tpi_change change = tpi_lapse_change(claim, task);
    if (change.pool == TPI_POOL_PENDING) return TP_NONE;
    tp_status status = tpi_settle_lapsed(claim->conn, task, &change);
    return status == TP_LOST ? TP_OK : status;
}

tp_status tpi_lapse_put_aside(struct tpi_claim *claim, size_t *moved) {
    tp_batch *batch = claim->batch;
    size_t kept = 0;
    tp_status status = TP_NONE;
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
