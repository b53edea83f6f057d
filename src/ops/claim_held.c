/* A task of plan hold whose transaction was rolled back, claimed by itself, so that what became of it can be
 * written down all the same. */
#include <string.h>

#include "base/error.h"
#include "ops/claim.h"
#include "ops/for_workers.h"
#include "ops/hold.h"

enum { DEFAULT_LEASE_MS = 60000 };

/* The token is made before the first try, and a second one finds by it what the first did. */
static tp_status make_token(struct tpi_slot *slot) {
    char token[TPI_UUID_SIZE];
    tpi_uuid_token(token);
    const char *kept = tpi_texts_keep(&slot->batch->texts, token, strlen(token));
    if (!kept) return tpi_error(TP_NOMEM, "out of memory");
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
    if (status == TP_OK) status = tpi_lapse_tell(conn, &slot->task);
    return tpi_scope_end(conn, &scope, status);
}

static tp_status take(tp_conn *conn, struct tpi_slot *slot, int64_t lease_ms) {
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
    return status == TP_OK ? take(conn, slot, lease_ms ? lease_ms : DEFAULT_LEASE_MS) : status;
}
