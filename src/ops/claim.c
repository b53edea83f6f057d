/* tp_claim: checks the request, runs the plan, and moves tasks whose lease lapsed for the last time to the
 * failed pool. The plans themselves: claim_row.c, claim_set.c (batch and skip), claim_cas.c. */
#include "ops/claim.h"

#include <string.h>

#include "base/error.h"
#include "core/retry.h"
#include "ops/settle.h"

enum { DEFAULT_LIMIT = 100, DEFAULT_LEASE_MS = 60000 };

typedef tp_status plan_fn(struct tpi_claim *claim);

static plan_fn *const plans[] = {
    [TPI_PLAN_ROW] = tpi_claim_by_row,
    [TPI_PLAN_BATCH] = tpi_claim_by_batch,
    [TPI_PLAN_SKIP] = tpi_claim_by_skip,
    [TPI_PLAN_CAS] = tpi_claim_by_cas,
};

void tpi_claim_args(const struct tpi_claim *claim, size_t limit, struct tpi_args *args) {
    *args = (struct tpi_args){0};
    tpi_args_list(args, claim->handlers, claim->handler_count);
    tpi_args_text(args, TPI_P_token, claim->token);
    tpi_args_number(args, TPI_P_lease_ms, claim->lease_ms);
    tpi_args_number(args, TPI_P_limit, (int64_t)limit);
    tpi_args_number(args, TPI_P_inline_max, TPI_INLINE_MAX);
}

tp_status tpi_claim_read_back(struct tpi_claim *claim) {
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    tpi_args_text(&args, TPI_P_token, claim->token);
    tpi_args_number(&args, TPI_P_inline_max, TPI_INLINE_MAX);
    tp_status status = tpi_store_query(&claim->conn->store, TPI_S_claim_read, &args, &stmt);
    if (status != TP_OK) return status;
    return tpi_batch_read_all(claim->batch, stmt, TPI_ROWS_CLAIM, TPI_POOL_PENDING, 0);
}

bool tpi_claim_decide(const struct tpi_claim *claim, struct tpi_slot *slot, int64_t now) {
    tp_task *task = &slot->task;
    enum tpi_state state;
    if (!tpi_state_parse(task->state, &state)) return false;
    struct tpi_facts facts = {.failures = task->failures,
                              .max_failures = tpi_retry_max(claim->retry, task->max_failures),
                              .due = task->due_at <= now};
    struct tpi_change change = tpi_fsm_decide(TPI_POOL_PENDING, state, TPI_EVENT_CLAIM, &facts);
    if (!change.written) return false;
    task->state = tpi_state_name(TPI_STATE_HANDLING);
    task->failures = change.failures;
    if (change.lapsed)
        task->reason = TPI_REASON_LAPSED;
    else if (strcmp(task->reason, TPI_REASON_LAPSED) == 0)
        task->reason = TPI_REASON_LAPSED_BEFORE;
    task->due_at = now + claim->lease_ms;
    return true;
}

tp_status tpi_claim_pick(struct tpi_claim *claim, size_t limit, const char **ids, size_t *count) {
    struct tpi_args args;
    struct tpi_stmt *stmt = NULL;
    struct tpi_buf text = {0};
    *count = 0;
    tpi_claim_args(claim, limit, &args);
    tp_status status = tpi_store_query(&claim->conn->store, TPI_S_claim_pick, &args, &stmt);
    while (status == TP_OK && *count < limit) {
        bool is_null = false;
        status = tpi_stmt_fetch(stmt);
        tpi_buf_clear(&text);
        if (status == TP_OK) status = tpi_stmt_column(stmt, 1, &text, &is_null);
        if (status != TP_OK) break;
        ids[*count] = tpi_batch_keep(claim->batch, text.data, text.length);
        if (!ids[(*count)++]) status = tpi_error(TP_NOMEM, "out of memory");
    }
    if (stmt) tpi_stmt_close(stmt);
    tpi_buf_free(&text);
    return status == TP_NONE ? TP_OK : status;
}

/* ---- After the plan ---------------------------------------------------------------------------------- */

/* A row whose lease lapsed for the last time was taken like any other; it ends here, under our token. */
static bool spent(const struct tpi_claim *claim, const tp_task *task) {
    return task->failures >= tpi_retry_max(claim->retry, task->max_failures) &&
           strcmp(task->reason, TPI_REASON_LAPSED) == 0;
}

static tp_status put_spent_aside(struct tpi_claim *claim, size_t *moved) {
    tp_batch *batch = claim->batch;
    size_t kept = 0;
    tp_status status = TP_OK;
    *moved = 0;
    for (size_t i = 0; i < batch->count; i++) {
        batch->slots[i].task.owner = claim->token;
        if (status < TP_OK || !spent(claim, &batch->slots[i].task)) {
            batch->slots[kept++] = batch->slots[i];
            continue;
        }
        status = tpi_settle_lapsed(claim->conn, &batch->slots[i].task);
        if (status == TP_LOST) status = TP_OK;
        ++*moved;
    }
    batch->count = kept;
    return status;
}

static tp_status keep_token(struct tpi_claim *claim) {
    const char *token = tpi_batch_keep(claim->batch, claim->token, strlen(claim->token));
    if (!token) return tpi_error(TP_NOMEM, "out of memory");
    for (size_t i = 0; i < claim->batch->count; i++)
        claim->batch->slots[i].task.owner = token;
    return TP_OK;
}

/* One round; *again: all that was found had to be put aside, so more may be due. */
static tp_status claim_round(struct tpi_claim *claim, enum tpi_plan plan, bool asked_before, bool *again) {
    size_t moved = 0;
    tp_status status = asked_before ? tpi_claim_read_back(claim) : TP_OK;
    if (status == TP_OK && claim->batch->count == 0) {
        /* What the server is still at, under the old token, must not be mixed with what is taken now. */
        if (asked_before) tpi_uuid_random(claim->token);
        status = plans[plan](claim);
    }
    if (status == TP_OK) status = put_spent_aside(claim, &moved);
    *again = claim->batch->count == 0 && moved > 0;
    return status;
}

static tp_status run(struct tpi_claim *claim, enum tpi_plan plan, bool asked_before) {
    bool again = true;
    tp_status status = TP_OK;
    while (again && status == TP_OK) {
        status = claim_round(claim, plan, asked_before, &again);
        asked_before = false;
    }
    if (status == TP_OK) status = keep_token(claim);
    if (status == TP_OK && claim->batch->count == 0) status = TP_NONE;
    return status;
}

/* ---- The request ------------------------------------------------------------------------------------- */

static tp_status check_request(const tp_claim_request *request) {
    if (request->size != sizeof *request)
        return tpi_error(TP_MISUSE, "tp_claim_request: start from TP_CLAIM_INIT, so that size is right");
    if (!request->handlers || request->handler_count == 0)
        return tpi_error(TP_MISUSE, "tp_claim: name at least one handler");
    if (request->handler_count > TP_CLAIM_HANDLERS_MAX)
        return tpi_error(TP_TOOBIG, "tp_claim: %zu handlers; at most %d in one claim", request->handler_count,
                         TP_CLAIM_HANDLERS_MAX);
    if (request->limit > TP_CLAIM_MAX)
        return tpi_error(TP_TOOBIG, "tp_claim: a limit of %zu; at most %d", request->limit, TP_CLAIM_MAX);
    tp_status good = tpi_check_duration("lease_ms", request->lease_ms);
    if (good == TP_OK) good = tpi_check_retry(request->retry);
    if (good != TP_OK) return good;
    for (size_t i = 0; i < request->handler_count; i++) {
        tp_status status = tpi_check_handler(request->handlers[i]);
        if (status != TP_OK) return status;
    }
    return TP_OK;
}

static tp_status choose_plan(const tp_conn *conn, const char *name, enum tpi_plan *plan) {
    *plan = conn->plan;
    if (!name) return TP_OK;
    if (!tpi_plan_parse(name, plan))
        return tpi_error(TP_MISUSE, "tp_claim: plan %.40s is not known; it is one of row, batch, skip, cas",
                         name);
    if (tpi_plan_possible(*plan, conn->store.caps)) return TP_OK;
    return tpi_error(TP_UNSUPPORTED, "plan %s cannot run with dialect %s on %s %s", tpi_plan_name(*plan),
                     conn->store.dialect->name, conn->info.dbms_name, conn->info.dbms_version);
}

static tp_status prepare(tp_conn *conn, tp_claim_request *request, struct tpi_claim *claim,
                         enum tpi_plan *plan) {
    char token[TPI_UUID_SIZE];
    tp_status status = tpi_conn_ready_alone(conn, "tp_claim");
    if (status == TP_OK) status = check_request(request);
    if (status == TP_OK) status = choose_plan(conn, request->plan, plan);
    if (status == TP_OK && request->token[0]) {
        status = tpi_check_uuid("the claim's token", request->token, token);
        if (status == TP_OK) memcpy(request->token, token, sizeof token);
    }
    *claim = (struct tpi_claim){.conn = conn,
                                .handlers = request->handlers,
                                .handler_count = request->handler_count,
                                .limit = request->limit ? request->limit : DEFAULT_LIMIT,
                                .lease_ms = request->lease_ms ? request->lease_ms : DEFAULT_LEASE_MS,
                                .retry = request->retry,
                                .token = request->token};
    return status;
}

tp_status tp_claim(tp_conn *conn, tp_claim_request *request, tp_batch **batch) {
    struct tpi_claim claim;
    enum tpi_plan plan;
    if (!request || !batch) return tpi_error(TP_MISUSE, "tp_claim: an argument is NULL");
    tp_status status = prepare(conn, request, &claim, &plan);
    if (status != TP_OK) return status;
    claim.batch = tpi_batch_new();
    if (!claim.batch) return tpi_error(TP_NOMEM, "out of memory");
    bool asked_before = request->token[0] != '\0';
    if (!asked_before) tpi_uuid_random(request->token);
    status = run(&claim, plan, asked_before);
    if (status >= TP_OK) request->token[0] = '\0';
    if (status == TP_OK)
        *batch = claim.batch;
    else
        tp_batch_free(claim.batch);
    return status;
}
