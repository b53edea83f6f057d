/* tp_claim: runs the plan, handler by handler where the request wants them in order, reads back the rows
 * that the plan marked, and treats tasks whose lease lapsed (claim_lapse.c). What a request may be:
 * claim_check.c. Which tasks a plan is asked for: claim_lanes.c. The plans: claim_leased.c (row, batch, skip
 * and cas) and claim_hold.c. */
#include "ops/claim.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"

enum { DEFAULT_LIMIT = 100 };

static tpi_claim_plan_fn *const plans[] = {
    [TPI_PLAN_ROW] = tpi_claim_by_row,   [TPI_PLAN_BATCH] = tpi_claim_by_batch,
    [TPI_PLAN_SKIP] = tpi_claim_by_skip, [TPI_PLAN_HOLD] = tpi_claim_by_hold,
    [TPI_PLAN_CAS] = tpi_claim_by_cas,
};

static size_t rank(const tp_claim_request *request, const char *handler) {
    size_t i = 0;
    while (i < request->handler_count && strcmp(request->handlers[i], handler) != 0)
        i++;
    return i;
}

/* The rows that the token holds. They come in one order over all handlers; where the handlers' order is asked
 * for, each handler's tasks stay in that order, behind those of the handlers before it. */
static tp_status read_back(struct tpi_claim *claim) {
    tp_batch *batch = claim->batch;
    size_t placed = 0;
    tp_status status = tpi_claim_read_back(claim);
    size_t count = batch->count;
    if (status != TP_OK || !claim->request->in_order || count < 2) return status;
    struct tpi_slot *slots = malloc(count * sizeof *slots);
    if (!slots) return tpi_error(TP_NOMEM, "out of memory");
    memcpy(slots, batch->slots, count * sizeof *slots);
    for (size_t r = 0; r <= claim->request->handler_count && placed < count; r++)
        for (size_t i = 0; i < count; i++)
            if (rank(claim->request, slots[i].task.handler) == r) batch->slots[placed++] = slots[i];
    free(slots);
    return TP_OK;
}

/* What the plan counted and what the token then holds must agree, but where a claim waited for locks, or for
 * the network, for longer than its lease: others may have taken what it had marked. Both clocks cut to
 * milliseconds. */
static tp_status check_count(const struct tpi_claim *claim, size_t marked) {
    size_t count = claim->batch->count;
    bool may_have_lapsed = tpi_clock_boot_ms() - claim->began_ms + 1 >= claim->lease_ms;
    if (count == marked || (count < marked && may_have_lapsed)) return TP_OK;
    return tpi_error(TP_DB, "plan %s marked %zu rows, but the token holds %zu", tpi_plan_name(claim->plan),
                     marked, count);
}

/* One handler after the other. Finding nothing costs much then, so it is asked first whether there is
 * anything. */
static tp_status take_in_order(struct tpi_claim *claim, struct tpi_scopes *scopes) {
    const char *const *handlers = scopes->handlers;
    size_t count = scopes->handler_count;
    bool due = true;
    tp_status status = count > 1 ? tpi_claim_find_lane(claim->conn, scopes, true, &due, NULL) : TP_OK;
    scopes->handler_count = 1;
    for (size_t i = 0; i < count && due && tpi_claim_room(claim) && status == TP_OK; i++) {
        scopes->handlers = &handlers[i];
        status = tpi_claim_by_lanes(claim, scopes);
    }
    return status;
}

static tp_status take(struct tpi_claim *claim) {
    struct tpi_scopes scopes;
    claim->began_ms = tpi_clock_boot_ms();
    tp_status status = tpi_claim_scopes(claim->conn, claim->request, false, &scopes);
    if (status != TP_OK || scopes.handler_count == 0) return status;
    status = claim->request->in_order ? take_in_order(claim, &scopes) : tpi_claim_by_lanes(claim, &scopes);
    if (status != TP_OK || claim->marked == 0) return status;
    /* What some lanes gave is read once more, with the rest. */
    size_t taken = claim->marked + claim->batch->count;
    status = read_back(claim);
    return status == TP_OK ? check_count(claim, taken) : status;
}

/* The tasks' token, where it lives as long as they do, and how long each waited for its claim. */
static tp_status keep_token(struct tpi_claim *claim) {
    const char *given = claim->request->token;
    const char *token = tpi_texts_keep(&claim->batch->texts, given, strlen(given));
    if (!token) return tpi_error(TP_NOMEM, "out of memory");
    for (size_t i = 0; i < claim->batch->count; i++) {
        struct tpi_slot *slot = &claim->batch->slots[i];
        slot->task.owner = token;
        /* Its lease began with the claim. Without wanted_at, which older libraries do not write, it counts as
         * due since it was put in. */
        if (claim->plan != TPI_PLAN_HOLD)
            slot->waited_ms = tpi_batch_wait(slot->task.wanted_at, slot->task.due_at - claim->lease_ms);
    }
    return TP_OK;
}

/* Takes until there is something to give out, or nothing more is due: where all that was taken had to be put
 * aside, more may be. found: it has what an earlier try took. */
static tp_status take_some(struct tpi_claim *claim, bool found, struct tpi_kept_error *refused) {
    tp_status status = TP_OK;
    for (bool more = true; more && status == TP_OK; found = false) {
        size_t before = claim->batch->moved + claim->left;
        if (!found) status = claim->taken_only ? TP_OK : take(claim);
        if (status == TP_OK) status = tpi_lapse_put_aside(claim, found, refused);
        more = claim->batch->count == 0 && claim->batch->moved + claim->left > before;
    }
    return status;
}

/* Of plan hold nothing is left after a failed try: its transaction is over. */
static tp_status run(struct tpi_claim *claim) {
    char *token = claim->request->token;
    struct tpi_kept_error refused = {.error = {.status = TP_OK}};
    bool hold = claim->plan == TPI_PLAN_HOLD, found = false;
    tp_status status = TP_OK;
    if (*token && !hold) {
        status = read_back(claim);
        found = claim->batch->count > 0; /* what an earlier try took */
    }
    /* What the server is still at, under the old token, must not be mixed with what is taken now. */
    if (status == TP_OK && !found) tpi_uuid_token(token);
    if (status == TP_OK) status = take_some(claim, found, &refused);
    if (status == TP_OK) status = claim->batch->count ? keep_token(claim) : TP_NONE;
    if (status >= TP_OK || hold) token[0] = '\0';
    /* What was locked, and the lapses written, may not be committed unseen. */
    if (status < TP_OK && hold) tpi_link_doom(&claim->conn->store.link);
    if (status != TP_NONE || refused.error.status == TP_OK) return status;
    tpi_error_restore(&refused);
    return refused.error.status;
}

/* Of claim, what is known before. */
static tp_status claim_as(struct tpi_claim claim, tp_claim_request *given, tp_batch **batch) {
    tp_claim_request request;
    tp_conn *conn = claim.conn;
    if (!batch) return tpi_conn_doom(conn, tpi_error(TP_MISUSE, "tp_claim: batch is NULL"));
    tp_status status = tpi_claim_check(conn, given, &request, &claim.plan);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    claim.request = &request;
    claim.take = plans[claim.plan];
    claim.limit = request.limit ? request.limit : DEFAULT_LIMIT;
    claim.lease_ms = request.lease_ms ? request.lease_ms : TPI_LEASE_MS;
    claim.batch = tpi_batch_new();
    if (!claim.batch) return tpi_link_no_memory(&conn->store.link);
    status = run(&claim);
    memcpy(given->token, request.token, sizeof given->token);
    if (status == TP_OK)
        *batch = claim.batch;
    else
        tp_batch_free(claim.batch);
    return status;
}

tp_status tpi_claim_known(tp_conn *conn, tp_claim_request *request, const struct tpi_arrival *arrival,
                          tpi_known_fn *known, tp_batch **batch) {
    struct tpi_claim claim = {.conn = conn, .arrival = arrival, .known = known};
    return claim_as(claim, request, batch);
}

tp_status tpi_claim_taken(tp_conn *conn, tp_claim_request *request, tpi_known_fn *known, tp_batch **batch) {
    struct tpi_claim claim = {.conn = conn, .known = known, .taken_only = true};
    return claim_as(claim, request, batch);
}

tp_status tp_claim(tp_conn *conn, tp_claim_request *request, tp_batch **batch) {
    return tpi_claim_known(conn, request, NULL, NULL, batch);
}
