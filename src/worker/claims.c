/* What a worker claims: its handlers with their retry policies, its shards, its plan. With plan hold also the
 * plan to fall back to while one that held died lately. */
#include "worker/claims.h"

#include <string.h>

void tpi_claims_choose(struct tpi_claims *claims, tp_conn *conn) {
    const char *plan = claims->options->plan;
    if (!plan) plan = tp_conn_about(conn)->plan;
    claims->hold_wanted = plan && strcmp(plan, "hold") == 0;
    if (claims->hold_wanted) claims->leased_plan = tp_conn_about(conn)->leased_plan;
}

void tpi_claiming_init(struct tpi_claiming *claiming, const struct tpi_claims *claims) {
    const struct tpi_handler_table *handlers = &claims->handlers;
    const tp_worker_options *options = claims->options;
    *claiming = (struct tpi_claiming){.request = TP_CLAIM_INIT};
    for (size_t i = 0; i < handlers->count; i++)
        claiming->retries[i] = &handlers->all[i].in_claims;
    tp_claim_request *request = &claiming->request;
    request->handlers = handlers->names;
    request->handler_count = handlers->count;
    request->retries = claiming->retries;
    request->lease_ms = options->lease_ms;
    request->plan = claims->hold_wanted ? claims->leased_plan : options->plan;
    request->shards = options->shards;
    request->shard_count = options->shard_count;
    request->in_order = options->in_order;
}

void tpi_claiming_know(struct tpi_claiming *claiming, const struct tpi_arrival *arrival) {
    claiming->known = *arrival;
}
