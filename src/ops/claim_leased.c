/* The plans that mark what they take: row, batch, skip and cas. Which way a plan goes follows from what the
 * database can do; it must not know which database that is. Read next: claim_hold.c, the plan that marks
 * nothing. */
#include <stdlib.h>

#include "base/error.h"
#include "ops/claim.h"

enum { STEP_MIN = 8 };

/* Marks tasks by id. Those that others took meanwhile are left out. */
static tp_status mark_many(const struct tpi_claim *claim, const char *const *ids, size_t count,
                           int64_t *rows) {
    struct tpi_args args;
    tpi_claim_mark_args(claim, &args);
    tpi_args_list(&args, ids, count);
    return tpi_store_change(&claim->conn->store, TPI_S_claim_mark_many, &args, rows);
}

/* Marks the task at the end of the batch, whose row is locked. */
static tp_status mark_last(const struct tpi_claim *claim) {
    const tp_task *task = &claim->batch->slots[claim->batch->count - 1].task;
    struct tpi_args args;
    tpi_claim_mark_args(claim, &args);
    tpi_args_text(&args, TPI_P_id, task->id);
    tpi_args_number(&args, TPI_P_failures, task->failures);
    tpi_args_text(&args, TPI_P_reason, task->reason);
    tp_status status = tpi_store_change_one(&claim->conn->store, TPI_S_claim_mark, &args);
    if (status == TP_NONE)
        return tpi_error(TP_CONFLICT, "the task is not as it was read under the lock; ask again");
    return status;
}

/* ---- Row: one light transaction a task ----------------------------------------------------------------- */

/* Locks a candidate or is refused at once, checks it again under the lock, and marks it. TP_NONE: it is gone,
 * or not claimable any more. */
static tp_status lock_and_mark_one(struct tpi_claim *claim, const char *id) {
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    struct tpi_seen seen;
    tpi_args_text(&args, TPI_P_id, id);
    tp_status status = tpi_store_query(&claim->conn->store, TPI_S_claim_lock, &args, &stmt);
    if (status != TP_OK) return status;
    status = tpi_claim_next(claim, stmt, &seen);
    tpi_stmt_close(stmt);
    if (status == TP_OK)
        status = tpi_claim_decide(claim, &claim->batch->slots[claim->batch->count - 1], &seen);
    return status == TP_OK ? mark_last(claim) : status;
}

/* A candidate that another session holds, or is in a deadlock over, is somebody else's. */
static tp_status take_one(struct tpi_claim *claim, const char *const *ids, size_t count) {
    struct tpi_scope scope;
    size_t before = claim->batch->count;
    (void)count;
    tp_status status = tpi_scope_begin(claim->conn, &scope);
    if (status == TP_OK) status = lock_and_mark_one(claim, ids[0]);
    status = tpi_scope_end(claim->conn, &scope, status);
    if (status != TP_OK) claim->batch->count = before;
    return status == TP_NONE || status == TP_TIMEOUT || status == TP_CONFLICT ? TP_OK : status;
}

tp_status tpi_claim_by_row(struct tpi_claim *claim, const struct tpi_lanes *lanes) {
    return tpi_claim_pick_and_take(claim, lanes, 1, take_one);
}

/* ---- Batch and skip: many rows at once ----------------------------------------------------------------- */

/* Batch by marking picked rows. */
static tp_status mark_picked(struct tpi_claim *claim, const char *const *ids, size_t count) {
    int64_t rows = 0;
    size_t room = tpi_claim_room(claim);
    tp_status status = mark_many(claim, ids, count < room ? count : room, &rows);
    if (status == TP_OK) claim->marked += (size_t)rows;
    return status;
}

/* What a database gives with a lock may be older than the lock; the mark sees what is there now. */
static tp_status mark_locked(const struct tpi_claim *claim, size_t from) {
    const char *ids[TPI_LIST_MAX];
    int64_t rows = 0;
    size_t count = claim->batch->count - from;
    if (count == 0) return TP_OK;
    for (size_t i = 0; i < count; i++)
        ids[i] = claim->batch->slots[from + i].task.id;
    tp_status status = mark_many(claim, ids, count, &rows);
    if (status != TP_OK || rows == (int64_t)count) return status;
    return tpi_error(TP_CONFLICT,
                     "of %zu locked tasks %lld are as they were read; the claim is rolled back, ask again",
                     count, (long long)rows);
}

/* Batch and skip by locking picked rows. */
static tp_status lock_and_mark(struct tpi_claim *claim, const char *const *ids, size_t count) {
    struct tpi_scope scope;
    struct tpi_stmt *stmt = NULL;
    size_t from = claim->batch->count;
    tp_status status = tpi_scope_begin(claim->conn, &scope);
    if (status == TP_OK) status = tpi_claim_skip_lock(claim, ids, count, &stmt);
    if (status == TP_OK) status = tpi_claim_read_locked(claim, stmt, TPI_ROWS_CLAIM, tpi_claim_decide);
    if (status == TP_OK) status = mark_locked(claim, from);
    return tpi_scope_end(claim->conn, &scope, status);
}

/* How many rows to lock at a time: what is locked and not taken is not to be had for others meanwhile. */
static size_t step(const struct tpi_claim *claim) {
    size_t room = tpi_claim_room(claim);
    if (room < STEP_MIN) return STEP_MIN;
    return room < TPI_LIST_MAX ? room : TPI_LIST_MAX;
}

/* Waits for other claims. An order over several lanes or handlers is made by sorting, and a statement that
 * sorts may lock all that it sorts; with one writer nobody minds. */
tp_status tpi_claim_by_batch(struct tpi_claim *claim, const struct tpi_lanes *lanes) {
    unsigned caps = claim->conn->store.caps;
    if (caps & TPI_CAP_BATCH_PICKED) return tpi_claim_pick_and_take(claim, lanes, TPI_LIST_MAX, mark_picked);
    bool in_one = lanes->count == 1 || (caps & TPI_CAP_ONE_WRITER);
    if (in_one) return tpi_claim_change(claim, lanes, TPI_S_claim_batch);
    return tpi_claim_pick_and_take(claim, lanes, step(claim), lock_and_mark);
}

/* Goes past what others hold. One statement that does so keeps the order of one lane only. */
tp_status tpi_claim_by_skip(struct tpi_claim *claim, const struct tpi_lanes *lanes) {
    unsigned caps = claim->conn->store.caps;
    struct tpi_stmt *stmt = NULL;
    bool in_one = lanes->count == 1;
    if (in_one && (caps & TPI_CAP_SKIP_RETURNING)) {
        tp_status status = tpi_claim_one_handler(claim, lanes);
        if (status == TP_OK)
            status = tpi_claim_query(claim, lanes, TPI_S_claim_skip, tpi_claim_room(claim), 0, &stmt);
        if (status != TP_OK) return status;
        return tpi_batch_read_all(claim->batch, stmt, TPI_ROWS_CLAIMED, TPI_POOL_PENDING, 0);
    }
    if (in_one && (caps & TPI_CAP_SKIP_UPDATE)) return tpi_claim_change(claim, lanes, TPI_S_claim_skip);
    return tpi_claim_pick_and_take(claim, lanes, step(claim), lock_and_mark);
}

/* ---- Cas: compare and swap. Needs nothing but true row counts ------------------------------------------ */

/* One guarded UPDATE; the row count says who won. TP_NONE: another was faster. */
static tp_status swap(struct tpi_claim *claim, struct tpi_slot *slot, const struct tpi_seen *seen) {
    struct tpi_args args;
    tp_status status = tpi_claim_decide(claim, slot, seen);
    if (status != TP_OK) return status;
    tpi_claim_mark_args(claim, &args);
    tpi_args_text(&args, TPI_P_id, slot->task.id);
    tpi_args_text(&args, TPI_P_state, seen->state);
    tpi_args_number(&args, TPI_P_due_at, seen->due_at);
    tpi_args_number(&args, TPI_P_seen_failures, slot->failures_there);
    tpi_args_number(&args, TPI_P_modified_at, seen->modified_at);
    tpi_args_number(&args, TPI_P_failures, slot->task.failures);
    tpi_args_text(&args, TPI_P_reason, slot->task.reason);
    status = tpi_store_change_one(&claim->conn->store, TPI_S_claim_cas, &args);
    return status == TP_TIMEOUT || status == TP_CONFLICT ? TP_NONE : status;
}

/* Reads candidates behind what the batch has, then swaps each; those that it wins move up. */
tp_status tpi_claim_by_cas(struct tpi_claim *claim, const struct tpi_lanes *lanes) {
    tp_batch *batch = claim->batch;
    struct tpi_stmt *stmt = NULL;
    size_t room = tpi_claim_room(claim), first = batch->count, count = 0;
    struct tpi_seen *seen = calloc(room + 1, sizeof *seen);
    if (!seen) return tpi_error(TP_NOMEM, "out of memory");
    tp_status status = tpi_claim_query(claim, lanes, TPI_S_claim_candidates, room, 0, &stmt);
    while (status == TP_OK && count < room)
        status = tpi_claim_next(claim, stmt, &seen[count++]);
    if (stmt) tpi_stmt_close(stmt);
    if (status == TP_NONE) status = TP_OK;
    size_t end = batch->count;
    batch->count = first;
    for (size_t i = first; i < end && tpi_claim_room(claim) && status == TP_OK; i++) {
        struct tpi_slot *slot = &batch->slots[i];
        status = swap(claim, slot, &seen[i - first]);
        if (status == TP_OK) batch->slots[batch->count++] = *slot;
        if (status == TP_NONE) status = TP_OK;
    }
    free(seen);
    return status;
}
