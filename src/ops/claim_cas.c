/* Plan cas: look, then one guarded UPDATE a task; the row count says who won. Needs nothing but true row
 * counts. */
#include <stdlib.h>

#include "base/error.h"
#include "ops/claim.h"

/* A candidate's guard: what the row looked like. */
struct seen {
    const char *state;
    int64_t due_at, modified_at, now;
};

static tp_status read_candidate(struct tpi_claim *claim, struct tpi_stmt *stmt, struct seen *seen) {
    tp_status status = tpi_batch_read(claim->batch, stmt, TPI_ROWS_CLAIM, TPI_POOL_PENDING);
    if (status == TP_OK) status = tpi_batch_number(stmt, TPI_COLUMNS_CLAIM + 1, &seen->now);
    if (status == TP_OK) status = tpi_batch_number(stmt, TPI_COLUMNS_CLAIM + 2, &seen->modified_at);
    if (status != TP_OK) return status;
    const tp_task *task = &claim->batch->slots[claim->batch->count - 1].task;
    seen->state = task->state;
    seen->due_at = task->due_at;
    return TP_OK;
}

static tp_status look(struct tpi_claim *claim, struct seen *seen) {
    struct tpi_args args;
    struct tpi_stmt *stmt = NULL;
    tpi_claim_args(claim, claim->limit, &args);
    tp_status status = tpi_store_query(&claim->conn->store, TPI_S_claim_look, &args, &stmt);
    while (status == TP_OK && claim->batch->count < claim->limit) {
        status = tpi_stmt_fetch(stmt);
        if (status == TP_OK) status = read_candidate(claim, stmt, &seen[claim->batch->count]);
    }
    if (stmt) tpi_stmt_close(stmt);
    return status == TP_NONE ? TP_OK : status;
}

/* TP_NONE: another was faster. */
static tp_status swap(struct tpi_claim *claim, struct tpi_slot *slot, const struct seen *seen) {
    struct tpi_args args;
    if (!tpi_claim_decide(claim, slot, seen->now)) return TP_NONE;
    tpi_claim_args(claim, 1, &args);
    args.list_count = 0;
    tpi_args_text(&args, TPI_P_id, slot->task.id);
    tpi_args_text(&args, TPI_P_state, seen->state);
    tpi_args_number(&args, TPI_P_due_at, seen->due_at);
    tpi_args_number(&args, TPI_P_modified_at, seen->modified_at);
    tpi_args_number(&args, TPI_P_failures, slot->task.failures);
    tpi_args_text(&args, TPI_P_reason, slot->task.reason);
    tp_status status = tpi_store_change_one(&claim->conn->store, TPI_S_claim_cas, &args);
    return status == TP_TIMEOUT || status == TP_CONFLICT ? TP_NONE : status;
}

tp_status tpi_claim_by_cas(struct tpi_claim *claim) {
    struct seen *seen = calloc(claim->limit + 1, sizeof *seen);
    if (!seen) return tpi_error(TP_NOMEM, "out of memory");
    tp_status status = look(claim, seen);
    size_t won = 0;
    for (size_t i = 0; i < claim->batch->count && status == TP_OK; i++) {
        struct tpi_slot *slot = &claim->batch->slots[i];
        status = swap(claim, slot, &seen[i]);
        if (status == TP_OK) claim->batch->slots[won++] = *slot;
        if (status == TP_NONE) status = TP_OK;
    }
    claim->batch->count = won;
    free(seen);
    return status;
}
