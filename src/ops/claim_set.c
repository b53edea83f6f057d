/* Plans batch and skip: many rows at once. Batch waits for other claimers, skip goes past what they hold.
 * Which way skip goes follows from what the database can do. */
#include "base/error.h"
#include "ops/claim.h"

enum { STEP_MIN = 8 };

static tp_status mark_and_return(struct tpi_claim *claim, const struct tpi_lanes *lanes) {
    struct tpi_stmt *stmt = NULL;
    tp_status status = tpi_claim_query(claim, lanes, TPI_S_claim_skip, tpi_claim_room(claim), 0, &stmt);
    if (status != TP_OK) return status;
    return tpi_batch_read_all(claim->batch, stmt, TPI_ROWS_CLAIM, TPI_POOL_PENDING, 0);
}

/* ---- Batch by marking picked rows ---------------------------------------------------------------------- */

/* Those that others took meanwhile are left out. */
static tp_status mark_due(struct tpi_claim *claim, const char *const *ids, size_t count) {
    struct tpi_args args;
    int64_t rows = 0;
    size_t room = tpi_claim_room(claim);
    tpi_claim_mark_args(claim, &args);
    tpi_args_list(&args, ids, count < room ? count : room);
    tp_status status = tpi_store_change(&claim->conn->store, TPI_S_claim_mark_many, &args, &rows);
    if (status == TP_OK) claim->marked += (size_t)rows;
    return status;
}

/* ---- Skip by locking picked rows ---------------------------------------------------------------------- */

/* What a database gives with a lock may be older than the lock; the mark sees what is there now. */
static tp_status mark_locked(struct tpi_claim *claim, size_t from) {
    const char *ids[TPI_LIST_MAX];
    struct tpi_args args;
    int64_t rows = 0;
    size_t count = claim->batch->count - from;
    if (count == 0) return TP_OK;
    for (size_t i = 0; i < count; i++)
        ids[i] = claim->batch->slots[from + i].task.id;
    tpi_claim_mark_args(claim, &args);
    tpi_args_list(&args, ids, count);
    tp_status status = tpi_store_change(&claim->conn->store, TPI_S_claim_mark_many, &args, &rows);
    if (status != TP_OK || rows == (int64_t)count) return status;
    return tpi_error(TP_CONFLICT,
                     "of %zu locked tasks %lld are as they were read; the claim is rolled back, ask again",
                     count, (long long)rows);
}

static tp_status lock_and_mark(struct tpi_claim *claim, const char *const *ids, size_t count) {
    struct tpi_scope scope;
    struct tpi_stmt *stmt = NULL;
    size_t from = claim->batch->count;
    tp_status status = tpi_scope_begin(claim->conn, &scope);
    if (status != TP_OK) return status;
    status = tpi_claim_skip_lock(claim, ids, count, &stmt);
    if (status == TP_OK) status = tpi_claim_read_locked(claim, stmt, tpi_claim_decide);
    if (status == TP_OK) status = mark_locked(claim, from);
    return tpi_scope_end(claim->conn, &scope, status);
}

/* How many rows to lock at a time: what is locked and not taken is not to be had for others meanwhile. */
static size_t step(const struct tpi_claim *claim) {
    size_t room = tpi_claim_room(claim);
    if (room < STEP_MIN) return STEP_MIN;
    return room < TPI_LIST_MAX ? room : TPI_LIST_MAX;
}

/* ---- The plans ------------------------------------------------------------------------------------------
 */

/* An order over several lanes or handlers is made by sorting, and a statement that sorts may lock all that it
 * sorts; with one writer nobody minds. */
tp_status tpi_claim_by_batch(struct tpi_claim *claim, const struct tpi_lanes *lanes) {
    unsigned caps = claim->conn->store.caps;
    if (caps & TPI_CAP_BATCH_PICKED) return tpi_claim_pick_and_take(claim, lanes, TPI_LIST_MAX, mark_due);
    bool in_one = lanes->count == 1 || (caps & TPI_CAP_ONE_WRITER);
    if (in_one) return tpi_claim_change(claim, lanes, TPI_S_claim_batch);
    return tpi_claim_pick_and_take(claim, lanes, step(claim), lock_and_mark);
}

/* One statement that goes past locked rows keeps the order of one lane only. */
tp_status tpi_claim_by_skip(struct tpi_claim *claim, const struct tpi_lanes *lanes) {
    unsigned caps = claim->conn->store.caps;
    bool in_one = lanes->count == 1;
    if (in_one && (caps & TPI_CAP_SKIP_RETURNING)) return mark_and_return(claim, lanes);
    if (in_one && (caps & TPI_CAP_SKIP_UPDATE)) return tpi_claim_change(claim, lanes, TPI_S_claim_skip);
    return tpi_claim_pick_and_take(claim, lanes, step(claim), lock_and_mark);
}
