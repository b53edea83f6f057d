/* What a worker claims: its handlers with their retry policies, its shards, its plan; under plan hold also
 * the plan that is used for a while after a worker that held tasks has died. */
#include "worker/claims.h"

#include <string.h>

#include "base/error.h"
#include "core/retry.h"
#include "worker/options.h"

/* ---- Handlers ---------------------------------------------------------------------------------------- */

static bool name_is_legal(const char *name) {
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-");
    return length > 0 && length <= TP_HANDLER_MAX && name[length] == '\0';
}

/* A claim that waited for the owner would hold up all others. */
static int64_t leave_delay(const tp_task *task, int32_t failures, const char *reason, void *arg) {
    (void)task;
    (void)failures;
    (void)reason;
    (void)arg;
    return 0;
}

static tp_status check_durations(const tp_handler_options *options) {
    bool legal = options->deadline_ms >= 0 && options->deadline_ms <= TP_DURATION_MAX &&
                 options->run_limit_ms >= 0 && options->run_limit_ms <= TP_DURATION_MAX;
    return legal ? TP_OK
                 : tpi_error(TP_MISUSE, "tp_worker_handle: deadline_ms and run_limit_ms are 0 to %lld",
                             (long long)TP_DURATION_MAX);
}

tp_status tpi_handler_read(const char *name, tp_handler_fn fn, void *arg, const tp_handler_options *options,
                           struct tpi_handler *out) {
    const tp_retry *retry = options->retry;
    if (!name_is_legal(name))
        return tpi_error(TP_MISUSE,
                         "tp_worker_handle: a handler's name is 1 to %d of letters, digits and . _ : -",
                         TP_HANDLER_MAX);
    tp_status status = tpi_options_check_retry(retry);
    if (status == TP_OK) status = check_durations(options);
    if (status != TP_OK) return status;
    *out = (struct tpi_handler){.fn = fn,
                                .arg = arg,
                                .retry = retry,
                                .deadline_ms = options->deadline_ms,
                                .run_limit_ms = options->run_limit_ms};
    memcpy(out->name, name, strlen(name) + 1);
    out->in_claims = tpi_retry_read(retry);
    if (out->in_claims.delay) out->in_claims.delay = leave_delay;
    return TP_OK;
}

tp_status tpi_handler_add(struct tpi_handler_table *table, const struct tpi_handler *handler) {
    if (tpi_handler_find(table, handler->name))
        return tpi_error(TP_MISUSE, "tp_worker_handle: '%s' has a handler already", handler->name);
    if (table->count == TP_CLAIM_HANDLERS_MAX)
        return tpi_error(TP_MISUSE, "tp_worker_handle: a worker takes at most %d handlers",
                         TP_CLAIM_HANDLERS_MAX);
    struct tpi_handler *added = &table->all[table->count];
    *added = *handler;
    table->timed = table->timed || handler->deadline_ms || handler->run_limit_ms;
    table->names[table->count++] = added->name;
    return TP_OK;
}

const struct tpi_handler *tpi_handler_find(const struct tpi_handler_table *table, const char *name) {
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->all[i].name, name) == 0) return &table->all[i];
    return NULL;
}

/* ---- Claims ------------------------------------------------------------------------------------------ */

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
