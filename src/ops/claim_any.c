/* Whether there is anything for a claim: due now, or open at all. Without a lock and without a promise. For
 * workers that find nothing, and for those that end when nothing is left. */
#include "base/error.h"
#include "ops/claim.h"
#include "ops/pause.h"

static tp_status answer(tp_status status, bool found) {
    return status == TP_OK && !found ? TP_NONE : status;
}

tp_status tp_any_due(tp_conn *conn, const tp_claim_request *given) {
    tp_claim_request request;
    const char *open[TP_CLAIM_HANDLERS_MAX];
    struct tpi_claim_shards shards;
    struct tpi_claim claim = {.conn = conn, .handlers = open};
    bool found = false;
    tp_status status = tpi_claim_read(conn, given, &request);
    if (status != TP_OK) return status;
    tpi_claim_set_shards(&claim, &request, &shards);
    status = tpi_pause_leave_out(conn, request.handlers, request.handler_count, open, &claim.handler_count);
    if (status == TP_OK && claim.handler_count) status = tpi_claim_find_lane(&claim, true, &found);
    return answer(status, found);
}

tp_status tp_any_open(tp_conn *conn, const tp_claim_request *given) {
    tp_claim_request request;
    struct tpi_claim_shards shards;
    bool found = false;
    tp_status status = tpi_claim_read(conn, given, &request);
    if (status != TP_OK) return status;
    struct tpi_claim claim = {
        .conn = conn, .handlers = request.handlers, .handler_count = request.handler_count};
    tpi_claim_set_shards(&claim, &request, &shards);
    status = tpi_claim_find_lane(&claim, false, &found);
    return answer(status, found);
}
