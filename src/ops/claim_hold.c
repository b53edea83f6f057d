/* Plan hold: locks tasks in the caller's transaction and marks nothing. Only a lapsed lease is written down,
 * in that transaction, so that it is counted once. How the locks are taken depends on the capabilities of
 * the database. A task whose transaction was rolled back can be claimed here by a lease, so that its failure
 * can be recorded. Read next: hold.c, how such tasks are settled. */
#include <string.h>

#include "base/error.h"
#include "ops/claim.h"
#include "ops/conn.h"
#include "ops/for_workers.h"
#include "ops/history.h"
#include "ops/hold.h"
#include "ops/refused.h"
#include "ops/settle.h"

/* One locked row: what it looked like goes into its slot. What this transaction has already is left alone. */
static tp_status take_locked(struct tpi_claim *claim, struct tpi_slot *slot, const struct tpi_seen *seen) {
    tp_status status = tpi_claim_decide(claim, slot, seen);
    if (status != TP_OK) return status;
    slot->task.due_at = seen->due_at;
    slot->task.owner = claim->request->token;
    status = tpi_hold_begin(claim->conn, slot, seen);
    if (status != TP_OK || !tpi_lapse_left_alone(claim, slot->task.id)) return status;
    claim->left++;
    return TP_NONE;
}

/* ---- Locking ------------------------------------------------------------------------------------------- */

static tp_status lock_by(struct tpi_claim *claim, const struct tpi_lanes *lanes, enum tpi_statement statement,
                         size_t limit, size_t window) {
    struct tpi_stmt *stmt = NULL;
    bool packed = (claim->conn->store.caps & TPI_CAP_HOLD_PACKED) && statement != TPI_S_claim_candidates;
    tp_status status = tpi_claim_query(claim, lanes, statement, limit, window, &stmt);
    if (status != TP_OK) return status;
    return tpi_claim_read_locked(claim, stmt, packed ? TPI_ROWS_HELD : TPI_ROWS_CLAIM, take_locked);
}

/* What is locked beyond the room stays locked until the transaction ends, so no more is locked at a time than
 * there is room for. */
static tp_status lock_picked(struct tpi_claim *claim, const char *const *ids, size_t count) {
    tp_status status = TP_OK;
    size_t room;
    for (size_t at = 0; at < count && status == TP_OK && (room = tpi_claim_room(claim)) > 0;) {
        const char *fresh[TPI_LIST_MAX];
        size_t some = 0;
        for (; at < count && some < room && some < TPI_LIST_MAX; at++)
            if (!tpi_hold_has(claim->conn, ids[at])) fresh[some++] = ids[at];
        struct tpi_stmt *stmt = NULL;
        if (some) status = tpi_claim_skip_lock(claim, fresh, some, &stmt);
        if (some && status == TP_OK) status = tpi_claim_read_locked(claim, stmt, TPI_ROWS_CLAIM, take_locked);
    }
    return status;
}

/* What this transaction was given is found again by a claim, so the limit lets it through. */
static size_t limit_of(const struct tpi_claim *claim, const struct tpi_lanes *lanes) {
    return tpi_claim_room(claim) + tpi_hold_count(claim->conn, lanes->count == 1 ? lanes->all : NULL);
}

/* Others may hold all that is read: then more is read, but of a lane that is only thought to be the first one
 * not before that is known. */
static tp_status lock_in_one(struct tpi_claim *claim, const struct tpi_lanes *lanes) {
    static const struct { size_t times, more; } windows[] = {{2, 16}, {8, TPI_WINDOW_MAX}};
    unsigned caps = claim->conn->store.caps;
    size_t tries = (caps & TPI_CAP_HOLD_WINDOW) && !lanes->guessed ? 2 : 1;
    tp_status status = TP_OK;
    for (size_t i = 0; i < tries && status == TP_OK && tpi_claim_room(claim); i++) {
        size_t limit = limit_of(claim, lanes);
        bool one = (caps & TPI_CAP_HOLD_ONE) && limit == 1;
        status = lock_by(claim, lanes, one ? TPI_S_hold_take_one : TPI_S_hold_take, limit,
                         limit * windows[i].times + windows[i].more);
    }
    return status;
}

static tp_status lock_all(struct tpi_claim *claim, const struct tpi_lanes *lanes) {
    unsigned caps = claim->conn->store.caps;
    if ((caps & TPI_CAP_HOLD_TAKE) && lanes->count == 1) {
        tp_status status = tpi_claim_one_handler(claim, lanes);
        return status == TP_OK ? lock_in_one(claim, lanes) : status;
    }
    if (caps & TPI_CAP_ONE_WRITER)
        return lock_by(claim, lanes, TPI_S_claim_candidates, limit_of(claim, lanes), 0);
    return tpi_claim_pick_and_take(claim, lanes, TPI_LIST_MAX, lock_picked);
}

/* ---- Lapsed leases ------------------------------------------------------------------------------------- */

/* The failure counts, and the row waits for its next try, which is this one. Nobody owns that failure. */
static tp_status count_lapse(struct tpi_claim *claim, struct tpi_slot *slot,
                             const struct tpi_change *change) {
    struct tpi_args args;
    struct tpi_hold *hold = &slot->hold;
    tpi_hold_args(&slot->task, &args);
    tpi_args_number(&args, TPI_P_failures, change->failures);
    tpi_args_text(&args, TPI_P_reason, slot->task.reason);
    tpi_args_number(&args, TPI_P_modified_at, hold->locked_at);
    tp_status status = tpi_store_change_one(&claim->conn->store, TPI_S_hold_lapse, &args);
    if (status == TP_NONE) return tpi_error(TP_DB, "hold_lapse changed no row, though it is locked");
    hold->state = tpi_state_name(change->state);
    hold->lapse = true;
    hold->lapse_modified_at = hold->modified_at;
    hold->modified_at = hold->locked_at;
    return status;
}

/* A task that is not to be handled again is marked, so that it can be moved on. */
static tp_status write_lapse(struct tpi_claim *claim, struct tpi_slot *slot) {
    enum tpi_known known;
    tp_status status = tpi_lapse_know(claim, &slot->task, &known);
    if (status != TP_OK) return status;
    struct tpi_change change = tpi_lapse_change(claim, &slot->task, TPI_EVENT_HOLD, known);
    return change.pool == TPI_POOL_PENDING ? count_lapse(claim, slot, &change)
                                           : tpi_hold_mark(claim->conn, &slot->task);
}

tp_status tpi_claim_by_hold(struct tpi_claim *claim, const struct tpi_lanes *lanes) {
    tp_batch *batch = claim->batch;
    size_t first = batch->count;
    tp_status status = lock_all(claim, lanes);
    for (size_t i = first; i < batch->count && status == TP_OK; i++)
        if (strcmp(batch->slots[i].hold.state, tpi_state_name(TPI_STATE_HANDLING)) == 0) {
            status = write_lapse(claim, &batch->slots[i]);
            if (tpi_refused_by_rule(&claim->conn->store, status))
                tpi_lapse_leave_alone(claim, batch->slots[i].task.id, true);
        }
    return status;
}

/* ---- A task whose transaction was rolled back ---------------------------------------------------------- */

/* The token is made before the first try, and a second one finds by it what the first did. */
static tp_status make_token(struct tpi_slot *slot) {
    char token[TPI_UUID_SIZE];
    tpi_uuid_token(token);
    const char *kept = tpi_texts_keep(&slot->batch->texts, token, strlen(token));
    if (!kept) return tpi_error(TP_NOMEM, "out of memory");
    slot->hold.token = slot->task.owner;
    slot->task.owner = kept;
    slot->task.pool = tpi_pool_name(TPI_POOL_PENDING);
    slot->hold.stage = TPI_HOLD_CLAIMED;
    return TP_OK;
}

/* The transaction had counted a lapse, which its rollback took back: this claim counts it. */
static tp_status take_lapsed(tp_conn *conn, const struct tpi_slot *slot, struct tpi_args *args) {
    struct tpi_scope scope;
    tpi_args_text(args, TPI_P_state, tpi_state_name(TPI_STATE_HANDLING));
    tpi_args_number(args, TPI_P_seen_failures, slot->failures_there);
    tpi_args_number(args, TPI_P_modified_at, slot->hold.lapse_modified_at);
    tp_status status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    status = tpi_store_change_one(&conn->store, TPI_S_claim_cas, args);
    if (status == TP_OK) status = tpi_lapse_record(conn, &slot->task, false);
    return tpi_scope_end(conn, &scope, status);
}

/* Was it settled by the transaction, whose commit the server had not ended yet when it was asked? */
static tp_status find_settled(tp_conn *conn, const struct tpi_slot *slot) {
    const tp_task locked = {.id = slot->task.id, .owner = slot->hold.token};
    struct tpi_row_state row = {.pool = TPI_POOL_PENDING};
    bool last = false;
    tp_status status = tpi_settled_find(conn, &locked, &row);
    /* One that was put back keeps the token. */
    if (status == TP_OK && row.pool == TPI_POOL_PENDING && row.state == TPI_STATE_HANDLING) status = TP_NONE;
    if (status == TP_NONE) status = tpi_history_failed(conn, locked.id, locked.owner, &last);
    return status == TP_OK ? TP_EXISTS : status;
}

static tp_status take_held(tp_conn *conn, struct tpi_slot *slot, int64_t lease_ms) {
    struct tpi_args args;
    /* A lapse that was committed has been counted in the row. */
    int64_t there = slot->hold.lapse ? slot->task.failures : slot->failures_there;
    tpi_hold_args(&slot->task, &args);
    tpi_args_number(&args, TPI_P_failures, slot->task.failures);
    tpi_args_number(&args, TPI_P_seen_failures, there);
    tpi_args_text(&args, TPI_P_reason, slot->task.reason);
    tpi_args_number(&args, TPI_P_lease_ms, lease_ms);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_claim_cas, &args);
    if (status == TP_NONE && slot->hold.lapse) status = take_lapsed(conn, slot, &args);
    if (status == TP_NONE) status = find_settled(conn, slot);
    if (status != TP_NONE) return status;
    return tpi_error(TP_LOST, "task %s: another session took it when its lock was gone", slot->task.id);
}

tp_status tpi_claim_held(tp_conn *conn, const tp_task *task, int64_t lease_ms) {
    struct tpi_slot *slot = (struct tpi_slot *)(uintptr_t)task;
    tp_status status = tpi_conn_ready_alone(conn, "tpi_claim_held");
    if (status == TP_OK) status = tpi_check_duration("lease_ms", lease_ms);
    if (status != TP_OK) return status;
    if (!task) return tpi_error(TP_MISUSE, "task is NULL");
    if (slot->hold.stage == TPI_HOLD_CLAIMED) {
        tp_status known = tp_settled(conn, task);
        if (known != TP_LOST) return known == TP_NONE ? TP_OK : known;
    } else {
        if (!tpi_hold_is(task)) return tpi_error(TP_MISUSE, "task %s was not claimed by plan hold", task->id);
        status = make_token(slot);
    }
    if (status != TP_OK) return status;
    return tpi_conn_answer(conn, take_held(conn, slot, lease_ms ? lease_ms : TPI_LEASE_MS));
}
