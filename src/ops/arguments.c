/* Checks single arguments of public calls: handler, key, params, UUID, duration, sizes of structs. Declared
 * in conn.h. Must not ask a database; for tp_check, which examines the rows, see pool_check.c. */
#include <ctype.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "core/retry.h"
#include "ops/conn.h"
#include "ops/for_workers.h"

tp_status tpi_check_handler(const char *handler) {
    if (!handler || !*handler) return tpi_error(TP_MISUSE, "a task needs a handler name");
    size_t length = strlen(handler);
    if (length > TP_HANDLER_MAX)
        return tpi_error(TP_TOOBIG, "the handler name has %zu bytes; at most %d are allowed", length,
                         TP_HANDLER_MAX);
    for (const char *at = handler; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("._:-", *at))
            return tpi_error(TP_MISUSE, "a handler name may hold letters, digits and . _ : - only");
    return TP_OK;
}

tp_status tpi_check_key(const char *what, const char *key) {
    if (!key || !*key) return TP_OK;
    size_t length = strlen(key);
    if (length > TP_KEY_MAX)
        return tpi_error(TP_TOOBIG, "%s has %zu bytes; at most %d are allowed", what, length, TP_KEY_MAX);
    if (!tpi_utf8_valid(key, length)) return tpi_error(TP_MISUSE, "%s is not valid UTF-8", what);
    for (const char *at = key; *at; at++)
        if ((unsigned char)*at < 0x20) return tpi_error(TP_MISUSE, "%s holds a control character", what);
    if (key[length - 1] == ' ')
        return tpi_error(TP_MISUSE, "%s ends with a blank, which databases compare differently; trim it",
                         what);
    return TP_OK;
}

tp_status tpi_check_params(const char *params) {
    if (!params) return TP_OK;
    size_t length = strlen(params);
    if (length > TP_PARAMS_MAX)
        return tpi_error(TP_TOOBIG,
                         "params have %zu bytes; at most %d are allowed: store large data elsewhere and put "
                         "its key in params",
                         length, TP_PARAMS_MAX);
    if (!tpi_utf8_valid(params, length)) return tpi_error(TP_MISUSE, "params are not valid UTF-8");
    return TP_OK;
}

tp_status tpi_check_result(const char *what, const char *result) {
    if (!result) return TP_OK;
    size_t length = strlen(result);
    if (length > TP_PARAMS_MAX)
        return tpi_error(TP_TOOBIG, "%s has %zu bytes; at most %d are allowed", what, length, TP_PARAMS_MAX);
    if (!tpi_utf8_valid(result, length)) return tpi_error(TP_MISUSE, "%s is not valid UTF-8", what);
    return TP_OK;
}

tp_status tpi_check_uuid(const char *what, const char *text, char out[TPI_UUID_SIZE]) {
    if (text && tpi_uuid_normal(text, out)) return TP_OK;
    return tpi_error(TP_MISUSE, "%s is not a UUID such as 01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e", what);
}

tp_status tpi_check_duration(const char *what, int64_t ms) {
    if (ms < 0) return tpi_error(TP_MISUSE, "%s is negative", what);
    return ms <= TP_DURATION_MAX ? TP_OK : tpi_error(TP_MISUSE, "%s is longer than 100 years", what);
}

tp_status tpi_read_sized(enum tpi_sized kind, const void *given, void *ours) {
    const char *fault = tpi_sized_read_fault(kind, given);
    if (fault) return tpi_error(TP_MISUSE, "%s", fault);
    tpi_sized_read(kind, given, ours);
    return TP_OK;
}

tp_status tpi_check_retry(const tp_retry *retry) {
    const char *fault = tpi_retry_fault(retry);
    return fault ? tpi_error(TP_MISUSE, "%s", fault) : TP_OK;
}
