/* Plan cas: look, then one guarded UPDATE a task; the row count says who won. Needs nothing but true row
 * counts. */
#include <stdlib.h>

#include "base/error.h"
#include "ops/claim.h"

/* Candidates come behind what the batch has; seen goes with them. */
static tp_status look(struct tpi_claim *claim, const struct tpi_lanes *lanes, size_t room,
                      struct tpi_seen *seen) {
    struct tpi_stmt *stmt = NULL;
    size_t count = 0;
    tp_status status = tpi_claim_query(claim, lanes, TPI_S_claim_candidates, room, 0, &stmt);
    while (status == TP_OK && count < room)
        status = tpi_claim_next(claim, stmt, &seen[count++]);
    if (stmt) tpi_stmt_close(stmt);
    return status == TP_NONE ? TP_OK : status;
}

/* TP_NONE: another was faster. */
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

tp_status tpi_claim_by_cas(struct tpi_claim *claim, const struct tpi_lanes *lanes) {
    size_t room = tpi_claim_room(claim), first = claim->batch->count;
    struct tpi_seen *seen = calloc(room + 1, sizeof *seen);
    if (!seen) return tpi_error(TP_NOMEM, "out of memory");
    tp_status status = look(claim, lanes, room, seen);
    size_t looked_at = claim->batch->count;
    claim->batch->count = first;
    for (size_t i = first; i < looked_at && tpi_claim_room(claim) && status == TP_OK; i++) {
        struct tpi_slot *slot = &claim->batch->slots[i];
        status = swap(claim, slot, &seen[i - first]);
        if (status == TP_OK) claim->batch->slots[claim->batch->count++] = *slot;
        if (status == TP_NONE) status = TP_OK;
    }
    free(seen);
    return status;
}
