/* What a claim may ask for, and on which connection: checks the arguments, plan and transaction of tp_claim.
 * Also tells workers whether a claim would find anything, due now or open at all, by a query without locks
 * whose answer may be out of date. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ops/claim.h"
#include "ops/for_workers.h"
#include "ops/pause.h"

static tp_status check_counts(const tp_claim_request *request) {
    if (!request->handlers || request->handler_count == 0)
        return tpi_error(TP_MISUSE, "tp_claim: name at least one handler");
    if (request->handler_count > TP_CLAIM_HANDLERS_MAX)
        return tpi_error(TP_TOOBIG, "tp_claim: %zu handlers; at most %d in one claim", request->handler_count,
                         TP_CLAIM_HANDLERS_MAX);
    if (request->shard_count && !request->shards)
        return tpi_error(TP_MISUSE, "tp_claim: shard_count is %zu and shards is NULL", request->shard_count);
    if (request->shards && request->shard_count == 0)
        return tpi_error(TP_MISUSE, "tp_claim: name at least one shard, or leave shards NULL for all");
    if (request->shard_count > TP_CLAIM_SHARDS_MAX)
        return tpi_error(TP_TOOBIG, "tp_claim: %zu shards; at most %d in one claim", request->shard_count,
                         TP_CLAIM_SHARDS_MAX);
    if (request->limit > TP_CLAIM_MAX)
        return tpi_error(TP_TOOBIG, "tp_claim: a limit of %zu; at most %d", request->limit, TP_CLAIM_MAX);
    return TP_OK;
}

static tp_status choose_plan(const tp_conn *conn, const char *name, enum tpi_plan *plan) {
    *plan = conn->plan;
    if (!name) return TP_OK;
    if (!tpi_plan_parse(name, plan))
        return tpi_error(TP_MISUSE, "plan %.40s is not known; it is one of row, batch, skip, hold, cas",
                         name);
    if (tpi_plan_possible(*plan, conn->store.caps)) return TP_OK;
    return tpi_error(TP_UNSUPPORTED, "plan %s cannot run with dialect %s on %s %s", tpi_plan_name(*plan),
                     conn->store.dialect->name, conn->info.dbms_name, conn->info.dbms_version);
}

tp_status tpi_cluster_ask(struct tpi_link *link, char *answer, size_t size) {
    const char *question = link->driver->cluster;
    answer[0] = '\0';
    return question ? tpi_stmt_ask(link, "cluster", question, answer, size) : TP_OK;
}

/* Whoever names it in the connection string says that it leads to one node. The next session may be another
 * server's. */
static tp_status check_writers(tp_conn *conn) {
    struct tpi_link *link = &conn->store.link;
    char answer[256];
    if (!link->driver->may_have_writers || link->single_primary || conn->plan == TPI_PLAN_HOLD) return TP_OK;
    tp_status status = tpi_cluster_ask(link, answer, sizeof answer);
    if (status != TP_OK) return status;
    link->single_primary = strcmp(answer, TPI_MANY_WRITERS) != 0;
    if (link->single_primary) return TP_OK;
    return tpi_error(
        TP_UNSUPPORTED,
        "plan hold is not for a cluster of which every node takes writes: its locks are seen at one node "
        "only; take another plan, or, where all programs connect to one node, put Plan=hold into the "
        "connection string");
}

tp_status tpi_plan_check(tp_conn *conn, const char *plan) {
    enum tpi_plan chosen;
    if (!conn) return tpi_error(TP_MISUSE, "conn is NULL");
    tp_status status = choose_plan(conn, plan, &chosen);
    return status == TP_OK && chosen == TPI_PLAN_HOLD ? check_writers(conn) : status;
}

/* Hold needs the transaction that the others must not be in. */
static tp_status check_transaction(tp_conn *conn, enum tpi_plan plan) {
    if (!conn->store.link.owned)
        return tpi_error(TP_MISUSE, "tp_claim does not run on a borrowed connection; open one with "
                                    "tp_conn_open");
    bool inside = conn->store.link.tx != TPI_TX_NONE;
    if (plan == TPI_PLAN_HOLD && !inside)
        return tpi_error(TP_MISUSE, "tp_claim: plan hold keeps tasks by the locks of a transaction; call "
                                    "tp_begin first");
    if (plan != TPI_PLAN_HOLD && inside)
        return tpi_error(TP_MISUSE,
                         "tp_claim: plan %s does not run inside a transaction; commit or roll back first, or "
                         "use plan hold",
                         tpi_plan_name(plan));
    return TP_OK;
}

static tp_status read_request(tp_conn *conn, const tp_claim_request *given, tp_claim_request *request) {
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!given) return tpi_error(TP_MISUSE, "request is NULL");
    status = tpi_read_sized(TPI_SIZED_claim_request, given, request);
    if (status == TP_OK) status = check_counts(request);
    if (status == TP_OK) status = tpi_check_duration("lease_ms", request->lease_ms);
    if (status == TP_OK) status = tpi_check_retry(request->retry);
    for (size_t i = 0; status == TP_OK && i < request->handler_count; i++) {
        status = tpi_check_handler(request->handlers[i]);
        if (status == TP_OK && request->retries) status = tpi_check_retry(request->retries[i]);
    }
    return status;
}

tp_status tpi_claim_check(tp_conn *conn, const tp_claim_request *given, tp_claim_request *request,
                          enum tpi_plan *plan) {
    char token[TPI_UUID_SIZE];
    tp_status status = read_request(conn, given, request);
    if (status == TP_OK) status = choose_plan(conn, request->plan, plan);
    if (status == TP_OK) status = check_transaction(conn, *plan);
    if (status == TP_OK && *plan == TPI_PLAN_HOLD) status = check_writers(conn);
    if (status != TP_OK || !request->token[0]) return status;
    status = tpi_check_uuid("the claim's token", request->token, token);
    if (status == TP_OK) memcpy(request->token, token, sizeof token);
    return status;
}

/* ---- Is there anything? -------------------------------------------------------------------------------- */

tp_status tpi_claim_scopes(tp_conn *conn, const tp_claim_request *request, bool with_paused,
                           struct tpi_scopes *scopes) {
    scopes->handlers = with_paused ? request->handlers : scopes->not_paused;
    scopes->handler_count = request->handler_count;
    scopes->shard_count = request->shard_count;
    for (size_t i = 0; i < request->shard_count; i++) {
        snprintf(scopes->digits[i], sizeof scopes->digits[i], "%d", (int)request->shards[i]);
        scopes->shards[i] = scopes->digits[i];
    }
    if (with_paused) return TP_OK;
    return tpi_pause_leave_out(conn, request->handlers, request->handler_count, scopes->not_paused,
                               &scopes->handler_count);
}

static tp_status find_any(tp_conn *conn, const tp_claim_request *given, bool open_ones,
                          struct tpi_arrival *first) {
    tp_claim_request request = TP_CLAIM_INIT;
    struct tpi_scopes scopes;
    bool found = false;
    tp_status status = read_request(conn, given, &request);
    if (status == TP_OK) status = tpi_claim_scopes(conn, &request, open_ones, &scopes);
    if (status == TP_OK && scopes.handler_count)
        status = tpi_claim_find_lane(conn, &scopes, !open_ones, &found, first);
    return status == TP_OK && !found ? TP_NONE : status;
}

tp_status tpi_any_due(tp_conn *conn, const tp_claim_request *request, struct tpi_arrival *first) {
    return find_any(conn, request, false, first);
}

tp_status tpi_any_open(tp_conn *conn, const tp_claim_request *request) {
    return find_any(conn, request, true, NULL);
}
