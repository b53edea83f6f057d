/* Whether there is anything for a claim: due now, or open at all. Without a lock and without a promise. For
 * workers that find nothing, and for those that end when nothing is left. */
#include "base/error.h"
#include "ops/claim.h"
#include "ops/for_workers.h"
#include "ops/pause.h"

static tp_status answer(tp_status status, bool found) {
    return status == TP_OK && !found ? TP_NONE : status;
}

tp_status tpi_any_due(tp_conn *conn, const tp_claim_request *given) {
    tp_claim_request request;
    const char *open[TP_CLAIM_HANDLERS_MAX];
    struct tpi_claim_shards shards;
    struct tpi_scopes scopes = {.handlers = open};
    bool found = false;
    tp_status status = tpi_claim_read(conn, given, &request);
    if (status != TP_OK) return status;
    tpi_claim_set_shards(&request, &shards, &scopes);
    status = tpi_pause_leave_out(conn, request.handlers, request.handler_count, open, &scopes.handler_count);
    if (status == TP_OK && scopes.handler_count) status = tpi_claim_find_lane(conn, &scopes, true, &found);
    return answer(status, found);
}

tp_status tpi_any_open(tp_conn *conn, const tp_claim_request *given) {
    tp_claim_request request;
    struct tpi_claim_shards shards;
    bool found = false;
    tp_status status = tpi_claim_read(conn, given, &request);
    if (status != TP_OK) return status;
    struct tpi_scopes scopes = {.handlers = request.handlers, .handler_count = request.handler_count};
    tpi_claim_set_shards(&request, &shards, &scopes);
    status = tpi_claim_find_lane(conn, &scopes, false, &found);
    return answer(status, found);
}
