/* Plan hold: locks tasks in the caller's transaction and marks nothing. Only a lapsed lease is written down,
 * in that transaction, so that it is counted once. Which way the locks are taken follows from what the
 * database can do. Read next: hold.c, how such tasks are settled. */
#include <string.h>

#include "base/error.h"
#include "ops/claim.h"
#include "ops/hold.h"

/* One locked row: what it looked like goes into its slot. What this transaction has already is left alone. */
static tp_status take_locked(const struct tpi_claim *claim, struct tpi_slot *slot,
                             const struct tpi_seen *seen) {
    tp_status status = tpi_claim_decide(claim, slot, seen);
    if (status != TP_OK) return status;
    slot->task.due_at = seen->due_at;
    slot->task.owner = claim->token;
    return tpi_hold_begin(claim->conn, slot, seen);
}

/* ---- Locking ------------------------------------------------------------------------------------------- */

/* What the limit lets through beyond the room would be locked and not given out. */
static size_t limit_of(const struct tpi_claim *claim) {
    const struct tpi_lane *lane = claim->lane_count == 1 ? claim->lanes : NULL;
    return tpi_claim_room(claim) + tpi_hold_count(claim->conn, lane);
}

static tp_status lock_by(struct tpi_claim *claim, enum tpi_statement statement) {
    struct tpi_stmt *stmt = NULL;
    tp_status status = tpi_claim_query(claim, statement, limit_of(claim), &stmt);
    return status == TP_OK ? tpi_claim_read_locked(claim, stmt, take_locked) : status;
}

static tp_status lock_these(struct tpi_claim *claim, const char *const *ids, size_t count) {
    struct tpi_stmt *stmt = NULL;
    tp_status status = tpi_claim_skip_lock(claim, ids, count, &stmt);
    return status == TP_OK ? tpi_claim_read_locked(claim, stmt, take_locked) : status;
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
        if (some) status = lock_these(claim, fresh, some);
    }
    return status;
}

static tp_status lock_in_window(struct tpi_claim *claim, size_t times, size_t more) {
    size_t limit = limit_of(claim);
    bool one = (claim->conn->store.caps & TPI_CAP_HOLD_ONE) && limit == 1;
    claim->window = limit * times + more;
    return lock_by(claim, one ? TPI_S_hold_take_one : TPI_S_hold_take);
}

/* Others may hold all that is seen: then more is looked at, but of a lane that is only thought to be the
 * first one not before that is known. */
static tp_status lock_in_one(struct tpi_claim *claim) {
    tp_status status = lock_in_window(claim, 2, 16);
    bool all = !(claim->conn->store.caps & TPI_CAP_HOLD_WINDOW) || claim->lanes == &claim->known;
    if (status != TP_OK || all || !tpi_claim_room(claim)) return status;
    return lock_in_window(claim, 8, TPI_WINDOW_MAX);
}

static tp_status lock_all(struct tpi_claim *claim) {
    unsigned caps = claim->conn->store.caps;
    if ((caps & TPI_CAP_HOLD_TAKE) && tpi_claim_in_one(claim)) return lock_in_one(claim);
    if (caps & TPI_CAP_ONE_WRITER) return lock_by(claim, TPI_S_claim_look);
    return tpi_claim_pick_and_take(claim, TPI_LIST_MAX, lock_picked);
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
    struct tpi_change change = tpi_lapse_change(claim, &slot->task, TPI_EVENT_HOLD);
    return change.pool == TPI_POOL_PENDING ? count_lapse(claim, slot, &change)
                                           : tpi_hold_mark(claim->conn, &slot->task);
}

tp_status tpi_claim_by_hold(struct tpi_claim *claim) {
    tp_batch *batch = claim->batch;
    size_t first = batch->count;
    tp_status status = lock_all(claim);
    for (size_t i = first; i < batch->count && status == TP_OK; i++)
        if (strcmp(batch->slots[i].hold.state, tpi_state_name(TPI_STATE_HANDLING)) == 0)
            status = write_lapse(claim, &batch->slots[i]);
    return status;
}
