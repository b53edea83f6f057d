/* What a claim does with a task whose lease lapsed, and with one that is not wanted any more: the text of its
 * reason, whether it is handled again, and the record of who held it; and which tasks claims of plan hold
 * leave alone for a while. Statements that mark many tasks at once have counted the failure already; here the
 * state table decides what becomes of each. Read next: history.h, settle.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/utf8.h"
#include "core/retry.h"
#include "ops/cancel.h"
#include "ops/claim.h"
#include "ops/for_workers.h"
#include "ops/history.h"
#include "ops/pause.h"
#include "ops/refused.h"
#include "ops/settle.h"

/* A task of the batch is as a claim left it, so a reason that begins like this speaks of this claim. */
static bool lapsed(const tp_task *task) {
    return tpi_reason_holder(task->reason) != NULL;
}

const char *tpi_lapse_reason(const tp_task *task, bool now, tp_batch *batch) {
    struct tpi_buf text = {0};
    if (!now && !lapsed(task)) return task->reason;
    tpi_buf_text(&text, now ? TPI_REASON_LAPSED : TPI_REASON_EARLIER);
    tpi_buf_text(&text, !now ? task->reason : *task->owner ? task->owner : "nobody");
    size_t length = text.failed ? 0 : tpi_utf8_cut(text.data, text.length, TP_REASON_MAX);
    const char *kept = text.failed ? NULL : tpi_texts_keep(&batch->texts, text.data, length);
    tpi_buf_free(&text);
    return kept;
}

static enum tpi_known ask_known(const struct tpi_claim *claim, const tp_task *task) {
    return claim->known ? claim->known(claim->conn->env, task) : TPI_KNOWN_NOTHING;
}

/* What this process did may have been done with other params, so long ones are read and compared. If they
 * cannot be read for good, the task counts as one whose worker died. Inside a transaction that failure ends
 * the claim, and the task is left alone so that the next claim goes on. */
tp_status tpi_lapse_know(const struct tpi_claim *claim, const tp_task *task, enum tpi_known *known) {
    *known = ask_known(claim, task);
    if (task->params || *known == TPI_KNOWN_NOTHING) return TP_OK;
    tp_status status = tpi_params_note(claim->conn, task);
    bool passes = tp_status_may_retry(status) || status == TP_NOMEM;
    bool inside = claim->conn->store.link.tx != TPI_TX_NONE;
    if (status == TP_OK) *known = ask_known(claim, task);
    if (status == TP_OK || status == TP_LOST || (!passes && !inside)) return TP_OK;
    if (!passes) tpi_lapse_leave_alone(claim, task->id, true);
    return status;
}

/* The policy's delay does not count: the next try is now. What is known to be done is not run again, and is
 * to be settled. */
struct tpi_change tpi_lapse_change(const struct tpi_claim *claim, const tp_task *task, enum tpi_event event,
                                   enum tpi_known known) {
    const tp_claim_request *request = claim->request;
    const tp_retry *policy = request->retry;
    for (size_t i = 0; request->retries && i < request->handler_count; i++) {
        if (strcmp(request->handlers[i], task->handler) != 0) continue;
        policy = request->retries[i];
        break;
    }
    struct tpi_retry_say say = tpi_retry_ask(policy, task, task->failures, task->reason, 0);
    bool done = known == TPI_KNOWN_DONE;
    struct tpi_facts facts = {.failures = task->failures - 1,
                              .max_failures = say.last && !done ? task->failures : INT32_MAX,
                              .due = true,
                              .on_lapse = done ? TP_LAPSE_RETRY : tpi_retry_read(policy).on_lapse};
    return tpi_fsm_decide(TPI_POOL_PENDING, TPI_STATE_HANDLING, event, &facts);
}

/* ---- The record ---------------------------------------------------------------------------------------- */

tp_status tpi_lapse_record(tp_conn *conn, const tp_task *task, bool once) {
    const char *holder = tpi_reason_holder(task->reason);
    char owner[TPI_UUID_SIZE] = ""; /* "": nobody knows who let it lapse */
    struct tpi_args args = {0};
    bool found = false;
    if (!holder || !tpi_uuid_normal(holder, owner)) owner[0] = '\0';
    struct tpi_history_event event = {.task_id = task->id,
                                      .handler = task->handler,
                                      .event = TPI_HISTORY_LAPSED,
                                      .owner = owner,
                                      .reason = task->reason,
                                      .attempt = task->failures};
    tpi_args_text(&args, TPI_P_id, task->id);
    tpi_args_text(&args, TPI_P_token, owner);
    tpi_args_number(&args, TPI_P_attempt, task->failures);
    tp_status status = once ? tpi_store_exists(&conn->store, TPI_S_history_lapsed, &args, &found) : TP_OK;
    return status == TP_OK && !found ? tpi_history_add(conn, &event) : status;
}

static tp_status record_all(struct tpi_claim *claim, bool once) {
    struct tpi_scope scope;
    const tp_batch *batch = claim->batch;
    size_t i = 0;
    while (i < batch->count && !lapsed(&batch->slots[i].task))
        i++;
    if (i == batch->count) return TP_OK;
    tp_status status = tpi_scope_begin(claim->conn, &scope);
    for (; i < batch->count && status == TP_OK; i++)
        if (lapsed(&batch->slots[i].task))
            status = tpi_lapse_record(claim->conn, &batch->slots[i].task, once);
    return tpi_scope_end(claim->conn, &scope, status);
}

/* ---- Putting aside ------------------------------------------------------------------------------------- */

static bool same_error(const tp_error *one, const tp_error *other) {
    return one->native == other->native && strcmp(one->sqlstate, other->sqlstate) == 0 &&
           strcmp(one->statement, other->statement) == 0;
}

/* Looks when something is not wanted any more, as far as the connection knows; and of each task that failed,
 * or whose lease lapsed: who had it in hand may have been told just now. What the connection knew when the
 * claim began is read again when it is a second old, as it is after a longer wait for a lock. */
static tp_status find_unwanted(const struct tpi_claim *claim, struct tpi_unwanted_list *unwanted) {
    const char *ids[TP_CLAIM_MAX];
    const tp_batch *batch = claim->batch;
    size_t count = 0;
    tp_status status = batch->count ? tpi_pause_refresh(claim->conn) : TP_OK;
    if (status != TP_OK) return status;
    bool all = tpi_pause_unwanted(claim->conn);
    for (size_t i = 0; i < batch->count && count < TP_CLAIM_MAX; i++)
        if (all || batch->slots[i].task.failures) ids[count++] = batch->slots[i].task.id;
    return tpi_unwanted_find(claim->conn, ids, count, unwanted);
}

static tp_status skip_unwanted(const struct tpi_claim *claim, struct tpi_slot *slot,
                               const struct tpi_unwanted *unwanted) {
    char reason[TP_REASON_MAX + 1], text[2 * TP_REASON_MAX];
    struct tpi_scope scope;
    tp_task *task = &slot->task;
    const char *before = task->reason;
    bool was_held = lapsed(task);
    struct tpi_facts facts = {.failures = task->failures - was_held, .due = true, .unwanted = true};
    struct tpi_change change = tpi_fsm_decide(
        TPI_POOL_PENDING, was_held ? TPI_STATE_HANDLING : TPI_STATE_PENDING, TPI_EVENT_CLAIM, &facts);
    tpi_cancel_reason(unwanted->who, unwanted->why, reason);
    if (was_held) {
        snprintf(text, sizeof text, "lease lapsed, whether it was done is not known; %s", reason);
        tpi_utf8_copy(text, reason, sizeof reason);
    } else if (task->failures && *before) {
        snprintf(text, sizeof text, "%s; it had failed before: %s", reason, before);
        tpi_utf8_copy(text, reason, sizeof reason);
    }
    task->reason = tpi_texts_keep(&claim->batch->texts, reason, strlen(reason));
    if (!task->reason) return tpi_link_no_memory(&claim->conn->store.link);
    tp_status status = tpi_scope_begin(claim->conn, &scope);
    if (status == TP_OK) status = tpi_settle_lapsed(claim->conn, task, &change);
    if (status == TP_OK) status = tpi_cancel_record(claim->conn, task, unwanted);
    status = tpi_scope_end(claim->conn, &scope, status);
    if (status != TP_OK) task->reason = before;
    return status == TP_LOST ? TP_OK : status;
}

/* TP_NONE: the task is to be handled. */
static tp_status move_on(struct tpi_claim *claim, const tp_task *task, enum tpi_known known) {
    if (!lapsed(task)) return TP_NONE;
    struct tpi_change change = tpi_lapse_change(claim, task, TPI_EVENT_CLAIM, known);
    if (change.pool == TPI_POOL_PENDING) return TP_NONE;
    tp_status status = tpi_settle_lapsed(claim->conn, task, &change);
    return status == TP_LOST ? TP_OK : status;
}

/* What is in progress here is to know so, though that may end before it hears of this claim. */
static tp_status note_unwanted(const struct tpi_claim *claim, struct tpi_slot *slot,
                               const struct tpi_unwanted *unwanted) {
    struct tpi_texts *texts = &claim->batch->texts;
    slot->unwanted_why = tpi_texts_keep(texts, unwanted->why, strlen(unwanted->why));
    slot->unwanted_who = tpi_texts_keep(texts, unwanted->who, strlen(unwanted->who));
    return slot->unwanted_who && slot->unwanted_why ? TP_OK : tpi_link_no_memory(&claim->conn->store.link);
}

static tp_status skip_or_move(struct tpi_claim *claim, struct tpi_slot *slot,
                              const struct tpi_unwanted *unwanted, enum tpi_known known) {
    tp_status status = TP_OK;
    if (unwanted && known == TPI_KNOWN_NOTHING) return skip_unwanted(claim, slot, unwanted);
    if (unwanted) status = note_unwanted(claim, slot, unwanted);
    return status == TP_OK ? move_on(claim, &slot->task, known) : status;
}

void tpi_lapse_leave_alone(const struct tpi_claim *claim, const char *id, bool refused) {
    struct tpi_left_alone *alone = &claim->conn->left_alone;
    int64_t now = tpi_clock_mono_ms();
    size_t kept = 0;
    if (claim->plan != TPI_PLAN_HOLD) return;
    for (size_t i = 0; i < alone->count; i++)
        if (alone->all[i].until_ms > now) alone->all[kept++] = alone->all[i];
    alone->count = kept;
    struct tpi_left *all = realloc(alone->all, (kept + 1) * sizeof *all);
    if (!all) return; /* it is met once more */
    alone->all = all;
    tpi_utf8_copy(id, all[kept].id, sizeof all[kept].id);
    all[kept].refused = refused;
    all[kept].until_ms = now + claim->lease_ms;
    alone->count++;
}

bool tpi_lapse_left_alone(const struct tpi_claim *claim, const char *id) {
    const struct tpi_left_alone *alone = &claim->conn->left_alone;
    for (size_t i = 0; i < alone->count; i++)
        if (strcmp(alone->all[i].id, id) == 0) return alone->all[i].until_ms > tpi_clock_mono_ms();
    return false;
}

/* TP_NONE: the task is to be handled. One that a rule of the application's own refuses, and refuses again, is
 * left out, under this claim's lease, for the others' sake; *refused says why. What the server or its disk
 * could not do a moment ago mostly goes now. */
static tp_status put_aside(struct tpi_claim *claim, struct tpi_slot *slot,
                           const struct tpi_unwanted *unwanted, enum tpi_known known,
                           struct tpi_kept_error *refused) {
    tp_status status = skip_or_move(claim, slot, unwanted, known);
    bool rule = tpi_refused_by_rule(&claim->conn->store, status);
    if (status == TP_OK || rule) tpi_lapse_leave_alone(claim, slot->task.id, rule);
    if (status != TP_DB || claim->conn->store.link.tx != TPI_TX_NONE) return status;
    struct tpi_kept_error first = tpi_error_keep();
    status = skip_or_move(claim, slot, unwanted, known);
    if (status != TP_DB || !same_error(&first.error, tp_last_error())) return status;
    *refused = first;
    return TP_OK;
}

tp_status tpi_lapse_put_aside(struct tpi_claim *claim, bool once, struct tpi_kept_error *refused) {
    tp_batch *batch = claim->batch;
    struct tpi_unwanted_list unwanted = {.count = 0};
    size_t kept = 0;
    bool inside = claim->conn->store.link.tx != TPI_TX_NONE;
    tp_status status = record_all(claim, once);
    /* Asked again, the claim finds its rows and records what is not recorded. What asking again does not mend
     * must not stop the claim: it stands without its record. */
    if (status < TP_OK && (inside || tp_status_may_retry(status))) return status;
    status = find_unwanted(claim, &unwanted);
    for (size_t i = 0; i < batch->count; i++) {
        struct tpi_slot *slot = &batch->slots[i];
        const struct tpi_unwanted *one = tpi_unwanted_of(&unwanted, slot->task.id);
        slot->task.owner = claim->request->token;
        enum tpi_known known = TPI_KNOWN_NOTHING;
        bool asks = one || lapsed(&slot->task) || !slot->task.params;
        if (status >= TP_OK && asks) status = tpi_lapse_know(claim, &slot->task, &known);
        if (status >= TP_OK) status = put_aside(claim, slot, one, known, refused);
        if (status == TP_OK)
            batch->moved++;
        else
            batch->slots[kept++] = *slot;
    }
    batch->count = kept;
    tpi_unwanted_free(&unwanted);
    return status < TP_OK ? status : TP_OK;
}
