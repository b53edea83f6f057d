/* What all calls have in common; see call.h. A program that ignores a status shall lose nothing by it: after
 * a failure in a transaction, here or in the library, that transaction cannot be committed. */
#include "call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"

int64_t number_at(const void *field) {
    int32_t number = 0;
    if (field) memcpy(&number, field, sizeof number);
    return number;
}

tp_status call_refuse(struct call *call, tp_status status, const char *format, ...) {
    va_list arguments;
    int begun = snprintf(call->text, sizeof call->text, "%s: ", call->name);
    va_start(arguments, format);
    vsnprintf(call->text + begun, sizeof call->text - (size_t)begun, format, arguments);
    va_end(arguments);
    call->refused = true;
    return status;
}

/* ---- Arguments ------------------------------------------------------------------------------------------
 */

tp_status call_begin(struct call *call, void *area, const char *name) {
    *call = (struct call){.name = name, .area = area};
    if (area && number_at(area) == (int64_t)sizeof(struct area)) return TP_OK;
    fprintf(stderr, "taskpool: CALL \"%s\": the first argument is no TPAREA as COPY TPAREA makes it\n", name);
    call->area = NULL;
    return TP_MISUSE;
}

tp_status call_block(struct call *call, void *copy, const void *block, size_t size, const char *copybook) {
    int64_t given = number_at(block);
    if (!block) return call_refuse(call, TP_MISUSE, "the argument of copybook %s is OMITTED", copybook);
    if (given != (int64_t)size)
        return call_refuse(
            call, TP_MISUSE,
            "the block of copybook %s begins with %lld, not with its size %zu: another argument, "
            "another version, or overwritten by MOVE; use INITIALIZE",
            copybook, (long long)given, size);
    memcpy(copy, block, size);
    return TP_OK;
}

tp_status call_block_from(struct call *call, void *copy, const void *block, size_t least, size_t size,
                          const char *copybook) {
    bool older = block && number_at(block) == (int64_t)least;
    memset(copy, 0, size);
    return call_block(call, copy, block, older ? least : size, copybook);
}

static tp_status find_conn(struct call *call, const void *number, struct conn_handle **conn) {
    *conn = number_handle(NUMBER_CONN, (int32_t)number_at(number));
    if (*conn) return TP_OK;
    return call_refuse(call, TP_MISUSE, "%lld is no open connection", (long long)number_at(number));
}

tp_status call_begin_on(struct call *call, void *area, const char *name, const void *conn) {
    tp_status status = call_begin(call, area, name);
    return status == TP_OK ? find_conn(call, conn, &call->conn) : status;
}

tp_status call_env(struct call *call, const void *number, struct env_handle **env) {
    *env = number_handle(NUMBER_ENV, (int32_t)number_at(number));
    if (*env) return TP_OK;
    return call_refuse(call, TP_MISUSE, "%lld is no open environment", (long long)number_at(number));
}

tp_status call_give(struct call *call, enum number_kind kind, void *handle, void *number) {
    int32_t given = number_give(kind, handle);
    if (!given) return call_refuse(call, TP_NOMEM, "too many handles are open; close some");
    memcpy(number, &given, sizeof given);
    return TP_OK;
}

static tp_status text_of(struct call *call, const char *name, const char *field, size_t size, bool may_fill,
                         char *out) {
    size_t length = field_length(field, size);
    enum field looked = field_look(field, size, length, may_fill);
    if (looked == FIELD_NUL)
        return call_refuse(call, TP_MISUSE, "%s has LOW-VALUES in it; MOVE SPACES for nothing", name);
    if (looked == FIELD_FULL)
        return call_refuse(call, TP_TOOBIG, "%s fills its %zu bytes: it is too long, and may have been cut",
                           name, size);
    memcpy(out, field, length);
    out[length] = 0;
    return TP_OK;
}

tp_status call_text(struct call *call, const char *name, const char *field, size_t size, char *out) {
    return text_of(call, name, field, size, false, out);
}

tp_status call_text_whole(struct call *call, const char *name, const char *field, size_t size, char *out) {
    return text_of(call, name, field, size, true, out);
}

static tp_status check_size(struct call *call, const char *what, int32_t size) {
    if (size >= 1) return TP_OK;
    return call_refuse(call, TP_MISUSE, "%s-SIZE is %d: MOVE LENGTH OF the field for the %s there",
                       strcmp(what, "result") == 0 ? "RESULT" : "PARAMS", (int)size, what);
}

static tp_status check_length(struct call *call, const char *what, int32_t size, int32_t length) {
    tp_status status = check_size(call, what, size);
    if (status != TP_OK || (length >= 0 && length <= size)) return status;
    return call_refuse(call, TP_MISUSE, "the length of the %s is %d, beside a size of %d", what, (int)length,
                       (int)size);
}

tp_status call_long_text(struct call *call, const char *what, const char *field, int32_t size, int32_t length,
                         char **out) {
    *out = NULL;
    if (!field && length == 0) return TP_OK;
    if (!field)
        return call_refuse(call, TP_MISUSE, "the length of the %s is %d and they are OMITTED", what,
                           (int)length);
    tp_status status = check_length(call, what, size, length);
    if (status != TP_OK) return status;
    size_t used = length ? (size_t)length : field_length(field, (size_t)size);
    enum field looked = field_look(field, (size_t)size, used, length != 0);
    if (looked == FIELD_NUL)
        return call_refuse(call, TP_MISUSE, "the %s has LOW-VALUES in it; is its length right?", what);
    if (looked == FIELD_FULL)
        return call_refuse(
            call, TP_TOOBIG,
            "the %s fills its %d bytes, so it may have been cut: make the field longer, or say by its "
            "length that it is whole",
            what, (int)size);
    char *text = malloc(used + 1);
    if (!text) return call_refuse(call, TP_NOMEM, "out of memory");
    memcpy(text, field, used);
    text[used] = 0;
    *out = text;
    return TP_OK;
}

tp_status call_fill_text(struct call *call, const char *what, char *field, int32_t size, const char *text,
                         size_t length) {
    if (!field && !length) return TP_OK;
    if (!field)
        return call_refuse(call, TP_TOOBIG, "there are %zu bytes of %s and the argument for it is OMITTED",
                           length, what);
    tp_status status = check_size(call, what, size);
    if (status != TP_OK) return status;
    memset(field, ' ', (size_t)size);
    if (length > (size_t)size)
        return call_refuse(call, TP_TOOBIG, "there are %zu bytes of %s, and its field has %d", length, what,
                           (int)size);
    memcpy(field, text, length);
    return TP_OK;
}

tp_status call_may_write(struct call *call) {
    if (call->conn->transaction == TRANSACTION_REFUSED)
        return call_refuse(call, TP_CONFLICT,
                           "no transaction was begun (%s); CALL TP_ROLLBACK, then begin again",
                           call->conn->why);
    if (call->conn->transaction == TRANSACTION_DOOMED)
        return call_refuse(call, TP_CONFLICT, "an earlier call of this transaction failed (%s); roll back",
                           call->conn->why);
    return TP_OK;
}

/* ---- The answer -----------------------------------------------------------------------------------------
 */

static void note_failure(struct conn_handle *conn, tp_status status, const char *text) {
    if (conn->transaction == TRANSACTION_OPEN) {
        conn->transaction = TRANSACTION_DOOMED;
        snprintf(conn->why, sizeof conn->why, "%s", text);
    }
    if (status == TP_DISCONNECTED || status == TP_UNWRITABLE) conn->disconnected = true;
}

int call_end(struct call *call, tp_status status) {
    struct area area = {.size = (int32_t)sizeof area};
    bool failed = status < TP_OK;
    const tp_error *error = failed && !call->refused ? tp_last_error() : NULL;
    const char *text = error ? error->text : call->refused ? call->text : "";
    if (!call->area) return status;
    area.status = status;
    area.may_retry = tp_status_may_retry(status);
    area.native = error ? error->native : 0;
    field_fill_message(area.name, sizeof area.name, tp_status_name(status));
    field_fill_message(area.sqlstate, sizeof area.sqlstate, error ? error->sqlstate : "");
    field_fill_message(area.statement, sizeof area.statement, error ? error->statement : "");
    field_fill_message(area.text, sizeof area.text, text);
    area.text_length = (int32_t)field_length(area.text, sizeof area.text);
    memcpy(call->area, &area, sizeof area);
    if (failed && call->conn) note_failure(call->conn, status, text);
    return status;
}
