/* Plans batch and skip: many rows at once. Batch waits for other claimers, skip goes past what they hold.
 * Which way skip goes follows from what the database can do. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/claim.h"

/* One UPDATE marks, the token reads back; what it counted and what is read must agree. */
static tp_status update_and_read_back(struct tpi_claim *claim, enum tpi_statement statement) {
    struct tpi_args args;
    int64_t rows = 0;
    tpi_claim_args(claim, claim->limit, &args);
    tp_status status = tpi_store_change(&claim->conn->store, statement, &args, &rows);
    if (status != TP_OK || rows == 0) return status;
    status = tpi_claim_read_back(claim);
    if (status != TP_OK || claim->batch->count == (size_t)rows) return status;
    return tpi_error(TP_DB, "%s changed %lld rows, but the token holds %zu", tpi_statement_name(statement),
                     (long long)rows, claim->batch->count);
}

static tp_status mark_and_return(struct tpi_claim *claim) {
    struct tpi_args args;
    struct tpi_stmt *stmt = NULL;
    tpi_claim_args(claim, claim->limit, &args);
    tp_status status = tpi_store_query(&claim->conn->store, TPI_S_claim_skip, &args, &stmt);
    if (status != TP_OK) return status;
    return tpi_batch_read_all(claim->batch, stmt, TPI_ROWS_CLAIM, TPI_POOL_PENDING, 0);
}

/* ---- Skip by locking picked rows ---------------------------------------------------------------------- */

/* Reads the rows that were locked; those the state table refuses are left alone. */
static tp_status read_locked(struct tpi_claim *claim, struct tpi_stmt *stmt) {
    tp_status status = TP_OK;
    while (claim->batch->count < claim->limit && (status = tpi_stmt_fetch(stmt)) == TP_OK) {
        int64_t now = 0;
        status = tpi_batch_read(claim->batch, stmt, TPI_ROWS_CLAIM, TPI_POOL_PENDING);
        if (status != TP_OK) break;
        status = tpi_batch_number(stmt, TPI_COLUMNS_CLAIM + 1, &now);
        if (status != TP_OK) break;
        if (!tpi_claim_decide(claim, &claim->batch->slots[claim->batch->count - 1], now))
            tpi_batch_drop_last(claim->batch);
    }
    tpi_stmt_close(stmt);
    return status == TP_NONE ? TP_OK : status;
}

static tp_status mark_locked(struct tpi_claim *claim, size_t from) {
    const char *ids[TPI_LIST_MAX];
    struct tpi_args args;
    int64_t rows = 0;
    size_t count = claim->batch->count - from;
    if (count == 0) return TP_OK;
    for (size_t i = 0; i < count; i++)
        ids[i] = claim->batch->slots[from + i].task.id;
    tpi_claim_args(claim, claim->limit, &args);
    tpi_args_list(&args, ids, count);
    tp_status status = tpi_store_change(&claim->conn->store, TPI_S_claim_mark_many, &args, &rows);
    if (status != TP_OK || rows == (int64_t)count) return status;
    return tpi_error(TP_DB, "claim_mark_many changed %lld rows of %zu that are locked", (long long)rows,
                     count);
}

static tp_status lock_and_mark(struct tpi_claim *claim, const char *const *ids, size_t count) {
    struct tpi_scope scope;
    struct tpi_args args;
    struct tpi_stmt *stmt = NULL;
    size_t from = claim->batch->count;
    tpi_claim_args(claim, claim->limit, &args);
    tpi_args_list(&args, ids, count);
    tp_status status = tpi_scope_begin(claim->conn, &scope);
    if (status != TP_OK) return status;
    status = tpi_store_query(&claim->conn->store, TPI_S_claim_skip_lock, &args, &stmt);
    if (status == TP_OK) status = read_locked(claim, stmt);
    if (status == TP_OK) status = mark_locked(claim, from);
    return tpi_scope_end(claim->conn, &scope, status);
}

/* Other claimers may hold all that was picked while more is due behind it: then the next look goes further
 * down. */
static tp_status pick_lock_mark(struct tpi_claim *claim) {
    const char *ids[TPI_WINDOW_MAX];
    tp_status status = TP_OK;
    bool more = true;
    for (size_t window = claim->limit; more && status == TP_OK; window *= 4) {
        size_t count = 0, want = window < TPI_WINDOW_MAX ? window : TPI_WINDOW_MAX;
        status = tpi_claim_pick(claim, want, ids, &count);
        for (size_t at = 0; at < count && claim->batch->count < claim->limit && status == TP_OK;
             at += TPI_LIST_MAX)
            status = lock_and_mark(claim, ids + at, count - at < TPI_LIST_MAX ? count - at : TPI_LIST_MAX);
        more = count == want && want == window && claim->batch->count < claim->limit;
    }
    return status;
}

tp_status tpi_claim_by_batch(struct tpi_claim *claim) {
    return update_and_read_back(claim, TPI_S_claim_batch);
}

tp_status tpi_claim_by_skip(struct tpi_claim *claim) {
    unsigned caps = claim->conn->store.caps;
    if (caps & TPI_CAP_SKIP_RETURNING) return mark_and_return(claim);
    if (caps & TPI_CAP_SKIP_UPDATE) return update_and_read_back(claim, TPI_S_claim_skip);
    return pick_lock_mark(claim);
}
