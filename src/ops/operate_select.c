/* What an operator selected: checked, and as the statements take it. Read next: operate.c, purge.c. */
#include "ops/operate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

/* Later than every time: no age was asked for. */
#define END_OF_TIME INT64_C(9000000000000000)

/* ---- Checking ------------------------------------------------------------------------------------------ */

static tp_status check_pool(tp_action action, const char *pool) {
    static const char *const of_purge[] = {"finished", "failed", "once", "history", NULL};
    static const char *const of_release[] = {"pending", NULL};
    static const char *const of_others[] = {"pending", "failed", NULL};
    const char *const *allowed = action == TP_ACTION_PURGE     ? of_purge
                                 : action == TP_ACTION_RELEASE ? of_release
                                                               : of_others;
    if (!pool) return TP_OK;
    for (; *allowed; allowed++)
        if (strcmp(*allowed, pool) == 0) return TP_OK;
    return tpi_error(TP_MISUSE, "pool '%.40s' is not one that this action works on: %s", pool,
                     action == TP_ACTION_PURGE     ? "purge takes finished, failed, once or history"
                     : action == TP_ACTION_RELEASE ? "release takes pending"
                                                   : "retry and skip take pending or failed");
}

static tp_status check_reason(const char *reason) {
    if (!reason) return TP_OK;
    if (!*reason)
        return tpi_error(TP_MISUSE, "the part of a reason is empty, so every reason has it; leave it out");
    if (strlen(reason) > TP_REASON_MAX)
        return tpi_error(TP_TOOBIG, "the part of a reason has %zu bytes; at most %d are allowed",
                         strlen(reason), TP_REASON_MAX);
    if (!tpi_utf8_valid(reason, strlen(reason)))
        return tpi_error(TP_MISUSE, "the part of a reason is not valid UTF-8");
    return TP_OK;
}

tp_status tpi_operate_check(tp_action action, const tp_selection *selection) {
    enum tpi_state state;
    if ((int)action < TP_ACTION_RETRY || action > TP_ACTION_PURGE)
        return tpi_error(TP_MISUSE, "action %d is none of the tp_action list", (int)action);
    if (!selection->who || !*selection->who)
        return tpi_error(TP_MISUSE, "tp_selection: who is required; it is recorded in the history");
    if (selection->id_count && !selection->ids)
        return tpi_error(TP_MISUSE, "tp_selection: ids is NULL though id_count is not 0");
    if (selection->state && !tpi_state_parse(selection->state, &state))
        return tpi_error(TP_MISUSE,
                         "state '%.40s' is not known; it is one of pending, handling, failed, done, skipped",
                         selection->state);
    tp_status status = check_pool(action, selection->pool);
    if (status == TP_OK && selection->handler) status = tpi_check_handler(selection->handler);
    if (status == TP_OK) status = check_reason(selection->reason);
    return status == TP_OK ? tpi_check_duration("older_ms", selection->older_ms) : status;
}

/* ---- For the statements -------------------------------------------------------------------------------- */

/* A pattern that finds text anywhere; what patterns read otherwise is escaped. */
static void make_pattern(const char *text, char *out) {
    if (!text || !*text) return;
    *out++ = '%';
    for (; *text; text++) {
        if (strchr("!%_", *text)) *out++ = '!';
        *out++ = *text;
    }
    *out++ = '%';
    *out = '\0';
}

tp_status tpi_operate_begin(struct tpi_operation *op, tp_action action) {
    const tp_selection *selection = op->selection;
    const char *why = selection->why ? selection->why : "";
    char text[TPI_WHO_MAX + TP_REASON_MAX + 40];
    int64_t now = 0;
    tp_status status = TP_OK;
    tpi_utf8_copy(selection->who, op->who, sizeof op->who);
    /* A released task must not go on saying what an earlier claim wrote of it, such as a lapsed lease. */
    if (action == TP_ACTION_RELEASE) {
        snprintf(text, sizeof text, "released by operator %s%s%.*s", op->who, *why ? ": " : "", TP_REASON_MAX,
                 why);
        why = text;
    }
    tpi_utf8_copy(why, op->why, sizeof op->why);
    make_pattern(selection->reason, op->part);
    op->before = END_OF_TIME;
    if (selection->id_count) op->ids = calloc(selection->id_count, sizeof *op->ids);
    if (selection->id_count && !op->ids) return tpi_error(TP_NOMEM, "out of memory");
    for (size_t i = 0; i < selection->id_count && status == TP_OK; i++)
        status = tpi_check_uuid("an id of the selection", selection->ids[i], op->ids[i]);
    if (status != TP_OK || !selection->older_ms) return status;
    status = tpi_ask_now(op->conn, &now);
    op->before = now - selection->older_ms;
    return status;
}

void tpi_operate_args(const struct tpi_operation *op, struct tpi_args *args) {
    tpi_args_text(args, TPI_P_handler, op->selection->handler);
    tpi_args_text(args, TPI_P_state, op->selection->state);
    tpi_args_text(args, TPI_P_part, op->part);
    tpi_args_number(args, TPI_P_before, op->before);
}

size_t tpi_operate_room(const struct tpi_operation *op) {
    size_t limit = op->selection->limit;
    if (!limit) return TPI_CHUNK;
    size_t left = limit > op->result.done ? limit - op->result.done : 0;
    return left < TPI_CHUNK ? left : TPI_CHUNK;
}
