/* Plan row, the classic: look without a lock; then for each candidate lock or be refused at once, check again
 * under the lock, mark, commit. One light transaction a task. A candidate that another session holds is
 * passed over. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/claim.h"

/* Locks and reads one row into a slot at the end of the batch. TP_NONE: gone, or not claimable any more. */
static tp_status lock_and_recheck(struct tpi_claim *claim, const char *id) {
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    int64_t now = 0;
    tpi_args_text(&args, TPI_P_id, id);
    tpi_args_number(&args, TPI_P_inline_max, TPI_INLINE_MAX);
    tp_status status = tpi_store_query(&claim->conn->store, TPI_S_claim_lock, &args, &stmt);
    if (status != TP_OK) return status;
    status = tpi_stmt_fetch(stmt);
    if (status == TP_OK) status = tpi_batch_read(claim->batch, stmt, TPI_ROWS_CLAIM, TPI_POOL_PENDING);
    if (status != TP_OK) {
        tpi_stmt_close(stmt);
        return status;
    }
    status = tpi_batch_number(stmt, TPI_COLUMNS_CLAIM + 1, &now);
    tpi_stmt_close(stmt);
    if (status == TP_OK && !tpi_claim_decide(claim, &claim->batch->slots[claim->batch->count - 1], now))
        status = TP_NONE;
    if (status != TP_OK) tpi_batch_drop_last(claim->batch);
    return status;
}

static tp_status mark(struct tpi_claim *claim) {
    const tp_task *task = &claim->batch->slots[claim->batch->count - 1].task;
    struct tpi_args args;
    tpi_claim_args(claim, 1, &args);
    args.list_count = 0;
    tpi_args_text(&args, TPI_P_id, task->id);
    tpi_args_number(&args, TPI_P_failures, task->failures);
    tpi_args_text(&args, TPI_P_reason, task->reason);
    tp_status status = tpi_store_change_one(&claim->conn->store, TPI_S_claim_mark, &args);
    if (status == TP_NONE) return tpi_error(TP_DB, "claim_mark changed no row, though it is locked");
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
    if (status != TP_OK && claim->batch->count > before) tpi_batch_drop_last(claim->batch);
    return status;
}

/* Held by another session, or in a deadlock with it: somebody else's task. */
static bool passed_over(tp_status status) {
    return status == TP_NONE || status == TP_TIMEOUT || status == TP_CONFLICT;
}

static tp_status take_picked(struct tpi_claim *claim, const char *const *ids, size_t count) {
    tp_status status = TP_OK;
    for (size_t i = 0; i < count && claim->batch->count < claim->limit && status == TP_OK; i++) {
        status = take_one(claim, ids[i]);
        if (passed_over(status)) status = TP_OK;
    }
    return status;
}

/* Others may hold the first candidates while more is due behind them: then the next look goes further down.
 */
tp_status tpi_claim_by_row(struct tpi_claim *claim) {
    const char **ids = calloc(TPI_WINDOW_MAX, sizeof *ids);
    if (!ids) return tpi_error(TP_NOMEM, "out of memory");
    tp_status status = TP_OK;
    bool more = true;
    for (size_t window = claim->limit; more && status == TP_OK; window *= 4) {
        size_t count = 0, want = window < TPI_WINDOW_MAX ? window : TPI_WINDOW_MAX;
        status = tpi_claim_pick(claim, want, ids, &count);
        if (status == TP_OK) status = take_picked(claim, ids, count);
        more = count == want && want == window && claim->batch->count < claim->limit;
    }
    free(ids);
    return status;
}
