/* Plan row, the classic: look without a lock; then for each candidate lock or be refused at once, check again
 * under the lock, mark, commit. One light transaction a task. A candidate that another session holds is
 * passed over. */
#include "base/error.h"
#include "ops/claim.h"

/* Locks and reads one row into a slot at the end of the batch. TP_NONE: gone, or not claimable any more. */
static tp_status lock_and_recheck(struct tpi_claim *claim, const char *id) {
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    struct tpi_seen seen;
    tpi_args_text(&args, TPI_P_id, id);
    tpi_args_number(&args, TPI_P_inline_max, TPI_INLINE_MAX);
    tp_status status = tpi_store_query(&claim->conn->store, TPI_S_claim_lock, &args, &stmt);
    if (status != TP_OK) return status;
    status = tpi_claim_next(claim, stmt, &seen);
    tpi_stmt_close(stmt);
    if (status != TP_OK) return status;
    return tpi_claim_decide(claim, &claim->batch->slots[claim->batch->count - 1], &seen);
}

static tp_status mark(struct tpi_claim *claim) {
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

static tp_status take_one(struct tpi_claim *claim, const char *id) {
    struct tpi_scope scope;
    size_t before = claim->batch->count;
    tp_status status = tpi_scope_begin(claim->conn, &scope);
    if (status != TP_OK) return status;
    status = lock_and_recheck(claim, id);
    if (status == TP_OK) status = mark(claim);
    status = tpi_scope_end(claim->conn, &scope, status);
    if (status != TP_OK) claim->batch->count = before;
    return status;
}

/* Held by another session, or in a deadlock with it: somebody else's task. */
static bool passed_over(tp_status status) {
    return status == TP_NONE || status == TP_TIMEOUT || status == TP_CONFLICT;
}

static tp_status take(struct tpi_claim *claim, const char *const *ids, size_t count) {
    (void)count;
    tp_status status = take_one(claim, ids[0]);
    return passed_over(status) ? TP_OK : status;
}

tp_status tpi_claim_by_row(struct tpi_claim *claim, const struct tpi_lanes *lanes) {
    return tpi_claim_pick_and_take(claim, lanes, 1, take);
}
