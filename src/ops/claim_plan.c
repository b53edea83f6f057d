/* What the claim plans share: arguments, picking ids, reading rows, and asking the state table about one. It
 * must not know which plan runs. Read next: claim_leased.c, claim_hold.c. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "ops/claim.h"
#include "store/record.h"

enum { LATE_MS = 1000 };

size_t tpi_claim_room(const struct tpi_claim *claim) {
    size_t taken = claim->batch->count + claim->marked;
    int64_t ms = tpi_clock_boot_ms() - claim->began_ms;
    /* What was taken first must not lapse before the caller has it. */
    bool late = ms > LATE_MS && ms > claim->lease_ms / 4;
    return (taken && late) || taken >= claim->limit ? 0 : claim->limit - taken;
}

/* Arguments for each lane; to be freed. A part of the statement without a handler finds nothing. */
static struct tpi_args *all_args(const struct tpi_claim *claim, const struct tpi_lanes *lanes, size_t limit,
                                 size_t window, size_t *count) {
    *count = tpi_store_repeats(lanes->count);
    struct tpi_args *args = malloc(*count * sizeof *args);
    for (size_t i = 0; args && i < *count; i++) {
        const struct tpi_lane *lane = &lanes->all[i < lanes->count ? i : 0];
        tpi_claim_mark_args(claim, &args[i]);
        tpi_args_text(&args[i], TPI_P_handler, i < lanes->count ? lane->handler : NULL);
        tpi_args_shard(&args[i], &lane->shard);
        tpi_args_number(&args[i], TPI_P_priority, lane->priority);
        tpi_args_number(&args[i], TPI_P_since, lane->since);
        tpi_args_number(&args[i], TPI_P_ahead, lane->ahead);
        tpi_args_number(&args[i], TPI_P_limit, (int64_t)limit);
        tpi_args_number(&args[i], TPI_P_window, (int64_t)window);
    }
    return args;
}

tp_status tpi_claim_query(const struct tpi_claim *claim, const struct tpi_lanes *lanes,
                          enum tpi_statement statement, size_t limit, size_t window, struct tpi_stmt **stmt) {
    size_t count = 0;
    struct tpi_args *args = all_args(claim, lanes, limit, window, &count);
    if (!args) return tpi_link_no_memory(&claim->conn->store.link);
    tp_status status = tpi_store_query_rows(&claim->conn->store, statement, args, count, stmt);
    free(args);
    return status;
}

tp_status tpi_claim_change(struct tpi_claim *claim, const struct tpi_lanes *lanes,
                           enum tpi_statement statement) {
    size_t count = 0;
    int64_t rows = 0;
    struct tpi_args *args = all_args(claim, lanes, tpi_claim_room(claim), 0, &count);
    if (!args) return tpi_link_no_memory(&claim->conn->store.link);
    tp_status status = tpi_store_change_rows(&claim->conn->store, statement, args, count, &rows);
    free(args);
    if (status == TP_OK) claim->marked += (size_t)rows;
    return status;
}

tp_status tpi_claim_one_handler(const struct tpi_claim *claim, const struct tpi_lanes *lanes) {
    const char *handler = lanes->all[0].handler;
    tp_batch *batch = claim->batch;
    if (batch->handler && strcmp(batch->handler, handler) == 0) return TP_OK;
    batch->handler = tpi_texts_keep(&batch->texts, handler, strlen(handler));
    return batch->handler ? TP_OK : tpi_error(TP_NOMEM, "out of memory");
}

void tpi_claim_mark_args(const struct tpi_claim *claim, struct tpi_args *args) {
    *args = (struct tpi_args){0};
    tpi_args_text(args, TPI_P_token, claim->request->token);
    tpi_args_number(args, TPI_P_lease_ms, claim->lease_ms);
}

tp_status tpi_claim_read_back(struct tpi_claim *claim) {
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    claim->batch->count = claim->marked = 0;
    tpi_args_text(&args, TPI_P_token, claim->request->token);
    tp_status status = tpi_store_query(&claim->conn->store, TPI_S_claim_read, &args, &stmt);
    if (status != TP_OK) return status;
    return tpi_batch_read_all(claim->batch, stmt, TPI_ROWS_CLAIMED, TPI_POOL_PENDING, 0);
}

/* ---- Picking ------------------------------------------------------------------------------------------- */

tp_status tpi_claim_pick_and_take(struct tpi_claim *claim, const struct tpi_lanes *lanes, size_t step,
                                  tpi_claim_take_fn *take) {
    static const struct tpi_column only[] = TPI_COLUMN_ONLY(UUID);
    const char *ids[TPI_WINDOW_MAX]; /* the batch's */
    tp_status status = TP_OK;
    bool more = true;
    for (size_t window = tpi_claim_room(claim); more && status == TP_OK; window *= 4) {
        struct tpi_stmt *stmt = NULL;
        size_t count = 0, want = window < TPI_WINDOW_MAX ? window : TPI_WINDOW_MAX;
        status = tpi_claim_query(claim, lanes, TPI_S_claim_pick, want, 0, &stmt);
        if (status == TP_OK)
            status = tpi_record_all(stmt, only, &claim->batch->texts, ids, sizeof *ids, want, &count);
        for (size_t at = 0; at < count && tpi_claim_room(claim) && status == TP_OK; at += step)
            status = take(claim, ids + at, count - at < step ? count - at : step);
        more = count == want && want == window && tpi_claim_room(claim);
    }
    return status;
}

tp_status tpi_claim_skip_lock(struct tpi_claim *claim, const char *const *ids, size_t count,
                              struct tpi_stmt **stmt) {
    struct tpi_args args = {0};
    tpi_args_list(&args, ids, count);
    return tpi_store_query(&claim->conn->store, TPI_S_claim_skip_lock, &args, stmt);
}

/* ---- One row ------------------------------------------------------------------------------------------- */

tp_status tpi_claim_next(struct tpi_claim *claim, struct tpi_stmt *stmt, struct tpi_seen *seen) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(EXACT, struct tpi_seen, now),
        TPI_COLUMN(KNOWN, struct tpi_seen, modified_at),
        TPI_COLUMN(UUID, struct tpi_seen, owner),
        TPI_COLUMN_END,
    };
    tp_status status = tpi_batch_next(claim->batch, stmt, TPI_ROWS_CLAIM, TPI_POOL_PENDING);
    if (status != TP_OK) return status;
    tp_task *task = &claim->batch->slots[claim->batch->count - 1].task;
    seen->modified_at = task->created_at;
    status = tpi_record_read(stmt, TPI_COLUMNS_CLAIM + 1, columns, &claim->batch->texts, seen);
    if (status == TP_OK) task->owner = seen->owner;
    seen->state = task->state;
    seen->due_at = task->due_at;
    return status;
}

static tp_status next_held(struct tpi_claim *claim, struct tpi_stmt *stmt, struct tpi_seen *seen) {
    tp_status status = tpi_batch_next(claim->batch, stmt, TPI_ROWS_HELD, TPI_POOL_PENDING);
    if (status != TP_OK) return status;
    const struct tpi_slot *slot = &claim->batch->slots[claim->batch->count - 1];
    *seen = (struct tpi_seen){.state = slot->task.state,
                              .owner = slot->task.owner,
                              .due_at = slot->task.due_at,
                              .modified_at = slot->hold.modified_at,
                              .now = slot->hold.locked_at};
    return TP_OK;
}

tp_status tpi_claim_decide(struct tpi_claim *claim, struct tpi_slot *slot, const struct tpi_seen *seen) {
    tp_task *task = &slot->task;
    enum tpi_state state;
    if (!tpi_state_parse(seen->state, &state)) return TP_NONE;
    struct tpi_facts facts = {
        .failures = task->failures, .max_failures = INT32_MAX, .due = seen->due_at <= seen->now};
    struct tpi_change change = tpi_fsm_decide(TPI_POOL_PENDING, state, TPI_EVENT_CLAIM, &facts);
    if (!change.written) return TP_NONE;
    task->reason = tpi_lapse_reason(task, change.lapsed, claim->batch);
    if (!task->reason) return tpi_error(TP_NOMEM, "out of memory");
    task->state = tpi_state_name(TPI_STATE_HANDLING);
    task->failures = change.failures;
    task->wanted_at = seen->due_at;
    task->due_at = seen->now + claim->lease_ms;
    slot->waited_ms = tpi_batch_wait(seen->due_at, seen->now);
    return TP_OK;
}

tp_status tpi_claim_read_locked(struct tpi_claim *claim, struct tpi_stmt *stmt, enum tpi_rows rows,
                                tpi_claim_slot_fn *take) {
    tp_status status = TP_OK;
    while (tpi_claim_room(claim) && status == TP_OK) {
        struct tpi_seen seen;
        status = rows == TPI_ROWS_HELD ? next_held(claim, stmt, &seen) : tpi_claim_next(claim, stmt, &seen);
        if (status != TP_OK) break;
        status = take(claim, &claim->batch->slots[claim->batch->count - 1], &seen);
        if (status == TP_OK) continue;
        tpi_batch_drop_last(claim->batch);
        if (status == TP_NONE) status = TP_OK;
    }
    tpi_stmt_close(stmt);
    return status == TP_NONE ? TP_OK : status;
}
