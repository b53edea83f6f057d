/* tp_claim: runs the plan, handler by handler where the order is asked for, reads back what the plan marked
 * and has lapsed tasks put aside. What a request may be: claim_check.c. Which tasks a plan is asked for:
 * claim_lanes.c. The plans: claim_row.c, claim_set.c (batch and skip), claim_hold.c, claim_cas.c. */
#include "ops/claim.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "ops/for_workers.h"
#include "ops/pause.h"

enum { DEFAULT_LIMIT = 100, DEFAULT_LEASE_MS = 60000 };

static tpi_claim_plan_fn *const plans[] = {
    [TPI_PLAN_ROW] = tpi_claim_by_row,   [TPI_PLAN_BATCH] = tpi_claim_by_batch,
    [TPI_PLAN_SKIP] = tpi_claim_by_skip, [TPI_PLAN_HOLD] = tpi_claim_by_hold,
    [TPI_PLAN_CAS] = tpi_claim_by_cas,
};

/* ---- Handlers in order --------------------------------------------------------------------------------- */

/* One handler after the other. Finding nothing is dear then, so it is looked first whether there is anything.
 */
static tp_status take_in_order(struct tpi_claim *claim, const struct tpi_scopes *all, enum tpi_plan plan) {
    bool due = true;
    tp_status status = all->handler_count > 1 ? tpi_claim_find_lane(claim->conn, all, true, &due) : TP_OK;
    for (size_t i = 0; i < all->handler_count && due && tpi_claim_room(claim) && status == TP_OK; i++) {
        struct tpi_scopes one = *all;
        one.handlers = &all->handlers[i];
        one.handler_count = 1;
        status = tpi_claim_by_lanes(claim, &one, plan, plans[plan]);
    }
    return status;
}

static size_t rank(const tp_claim_request *request, const char *handler) {
    size_t i = 0;
    while (i < request->handler_count && strcmp(request->handlers[i], handler) != 0)
        i++;
    return i;
}

/* What was read back stands in one order over all handlers; within each it stays. */
static tp_status put_in_order(struct tpi_claim *claim) {
    tp_batch *batch = claim->batch;
    size_t placed = 0, count = batch->count;
    if (count < 2) return TP_OK;
    struct tpi_slot *slots = malloc(count * sizeof *slots);
    if (!slots) return tpi_error(TP_NOMEM, "out of memory");
    memcpy(slots, batch->slots, count * sizeof *slots);
    for (size_t r = 0; r <= claim->request->handler_count && placed < count; r++)
        for (size_t i = 0; i < count; i++)
            if (rank(claim->request, slots[i].task.handler) == r) batch->slots[placed++] = slots[i];
    free(slots);
    return TP_OK;
}

/* ---- Rounds -------------------------------------------------------------------------------------------- */

static tp_status read_back(struct tpi_claim *claim) {
    tp_status status = tpi_claim_read_back(claim);
    return status == TP_OK && claim->request->in_order ? put_in_order(claim) : status;
}

/* What the plan counted and what the token then holds must agree, but where a claim waited for locks, or for
 * the network, for longer than its lease: others may have taken what it had marked. Both clocks cut to
 * milliseconds. */
static tp_status check_count(const struct tpi_claim *claim, enum tpi_plan plan, size_t marked) {
    size_t count = claim->batch->count;
    bool may_have_lapsed = tpi_clock_boot_ms() - claim->began_ms + 1 >= claim->lease_ms;
    if (count == marked || (count < marked && may_have_lapsed)) return TP_OK;
    return tpi_error(TP_DB, "plan %s marked %zu rows, but the token holds %zu", tpi_plan_name(plan), marked,
                     count);
}

static tp_status take(struct tpi_claim *claim, enum tpi_plan plan) {
    const char *open[TP_CLAIM_HANDLERS_MAX];
    struct tpi_claim_shards shards;
    struct tpi_scopes scopes = {.handlers = open};
    const tp_claim_request *request = claim->request;
    claim->marked = 0;
    claim->began_ms = tpi_clock_boot_ms();
    tpi_claim_set_shards(request, &shards, &scopes);
    tp_status status = tpi_pause_leave_out(claim->conn, request->handlers, request->handler_count, open,
                                           &scopes.handler_count);
    if (status != TP_OK || scopes.handler_count == 0) return status;
    status = request->in_order ? take_in_order(claim, &scopes, plan)
                               : tpi_claim_by_lanes(claim, &scopes, plan, plans[plan]);
    size_t marked = claim->marked + claim->batch->count;
    bool all_read = claim->marked == 0;
    claim->marked = 0;
    if (status != TP_OK || all_read) return status;
    claim->batch->count = 0; /* what some lanes gave is read once more, with the rest */
    status = read_back(claim);
    return status == TP_OK ? check_count(claim, plan, marked) : status;
}

static tp_status keep_token(struct tpi_claim *claim) {
    const char *token = tpi_texts_keep(&claim->batch->texts, claim->token, strlen(claim->token));
    if (!token) return tpi_error(TP_NOMEM, "out of memory");
    for (size_t i = 0; i < claim->batch->count; i++)
        claim->batch->slots[i].task.owner = token;
    return TP_OK;
}

/* One round; *again: all that was found had to be put aside, so more may be due. */
static tp_status claim_round(struct tpi_claim *claim, enum tpi_plan plan, bool asked_before, bool *again) {
    size_t moved = 0;
    tp_status status = asked_before ? read_back(claim) : TP_OK;
    claim->asked_again = claim->batch->count > 0;
    if (status == TP_OK && claim->batch->count == 0) {
        /* What the server is still at, under the old token, must not be mixed with what is taken now. */
        if (asked_before) tpi_uuid_token(claim->token);
        status = take(claim, plan);
    }
    if (status == TP_OK) status = tpi_lapse_put_aside(claim, &moved);
    *again = claim->batch->count == 0 && moved > 0;
    return status;
}

/* ---- The call ------------------------------------------------------------------------------------------ */

/* Round after round until there is something to give out, or nothing more. Of plan hold nothing is left after
 * a failed try: its transaction is over. */
static tp_status run(struct tpi_claim *claim, tp_claim_request *request, enum tpi_plan plan) {
    bool asked_before = plan != TPI_PLAN_HOLD && request->token[0] != '\0';
    bool again = true;
    tp_status status = TP_OK;
    if (!asked_before) tpi_uuid_token(request->token);
    for (; again && status == TP_OK; asked_before = false)
        status = claim_round(claim, plan, asked_before, &again);
    if (status == TP_OK) status = keep_token(claim);
    if (status == TP_OK && claim->batch->count == 0) status = TP_NONE;
    if (status >= TP_OK || plan == TPI_PLAN_HOLD) request->token[0] = '\0';
    /* What was locked, and the lapses written, may not be committed unseen. */
    if (status < TP_OK && plan == TPI_PLAN_HOLD) tpi_link_doom(&claim->conn->store.link);
    if (status != TP_NONE || claim->refused.error.status == TP_OK) return status;
    tpi_error_restore(&claim->refused);
    return claim->refused.error.status;
}

tp_status tpi_claim_known(tp_conn *conn, tp_claim_request *given, const struct tpi_arrival *arrival,
                          tp_batch **batch) {
    tp_claim_request request;
    enum tpi_plan plan;
    if (!batch) return tpi_conn_doom(conn, tpi_error(TP_MISUSE, "tp_claim: batch is NULL"));
    tp_status status = tpi_claim_check(conn, given, &request, &plan);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    struct tpi_claim claim = {.conn = conn,
                              .request = &request,
                              .arrival = arrival,
                              .limit = request.limit ? request.limit : DEFAULT_LIMIT,
                              .lease_ms = request.lease_ms ? request.lease_ms : DEFAULT_LEASE_MS,
                              .token = request.token,
                              .batch = tpi_batch_new()};
    if (!claim.batch) return tpi_link_no_memory(&conn->store.link);
    status = run(&claim, &request, plan);
    memcpy(given->token, request.token, sizeof given->token);
    if (status == TP_OK)
        *batch = claim.batch;
    else
        tp_batch_free(claim.batch);
    return status;
}

tp_status tp_claim(tp_conn *conn, tp_claim_request *request, tp_batch **batch) {
    return tpi_claim_known(conn, request, NULL, batch);
}
