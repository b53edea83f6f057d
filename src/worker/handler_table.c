/* Which function handles which tasks, and by which retry policy. */
#include "worker/handler_table.h"

#include <string.h>

#include "base/error.h"
#include "core/retry.h"
#include "worker/options.h"

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

tp_status tpi_handler_read(const char *name, tp_handler_fn fn, void *arg, const tp_retry *retry,
                           struct tpi_handler *out) {
    if (!name_is_legal(name))
        return tpi_error(TP_MISUSE,
                         "tp_worker_handle: a handler's name is 1 to %d of letters, digits and . _ : -",
                         TP_HANDLER_MAX);
    tp_status status = tpi_options_check_retry(retry);
    if (status != TP_OK) return status;
    *out = (struct tpi_handler){.fn = fn, .arg = arg, .retry = retry};
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
    table->names[table->count++] = added->name;
    return TP_OK;
}

const struct tpi_handler *tpi_handler_find(const struct tpi_handler_table *table, const char *name) {
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->all[i].name, name) == 0) return &table->all[i];
    return NULL;
}
