/* What an operator selected: checked, and as the statements take it. It must not know what is done to it.
 * Read next: operate.c, purge.c. */
#include "ops/operate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/for_workers.h"

/* ---- Checking ------------------------------------------------------------------------------------------ */

static tp_status check_pool(tp_action action, const char *pool) {
    static const char *const of_purge[] = {"finished", "failed", "once", "history", NULL};
    static const char *const of_release[] = {"pending", NULL};
    static const char *const of_cancel[] = {"pending", "all", NULL};
    static const char *const of_others[] = {"pending", "failed", "all", NULL};
    const char *const *allowed = action == TP_ACTION_PURGE     ? of_purge
                                 : action == TP_ACTION_RELEASE ? of_release
                                 : action == TP_ACTION_CANCEL  ? of_cancel
                                                               : of_others;
    if (!pool) return TP_OK;
    for (; *allowed; allowed++)
        if (strcmp(*allowed, pool) == 0) return TP_OK;
    return tpi_error(TP_MISUSE, "pool '%.40s' is not one that this action works on: %s", pool,
                     action == TP_ACTION_PURGE     ? "purge takes finished, failed, once or history"
                     : action == TP_ACTION_RELEASE ? "release takes pending"
                     : action == TP_ACTION_CANCEL  ? "cancel takes pending, or all"
                                                   : "retry and skip take pending or failed, or all");
}

tp_status tpi_operate_check(tp_action action, const tp_selection *selection) {
    if ((int)action < TP_ACTION_RETRY || action > TP_ACTION_CANCEL)
        return tpi_error(TP_MISUSE, "action %d is none of the tp_action list", (int)action);
    if (!selection->who || !*selection->who)
        return tpi_error(TP_MISUSE, "tp_selection: who is required; it is recorded in the history");
    if (selection->id_count && !selection->ids)
        return tpi_error(TP_MISUSE, "tp_selection: ids is NULL though id_count is not 0");
    if (selection->reason_like && action == TP_ACTION_PURGE)
        return tpi_error(TP_MISUSE,
                         "purge does not select by reason_like; a part of the reason, or ids, will do");
    tp_status status = check_pool(action, selection->pool);
    if (status == TP_OK && action == TP_ACTION_PURGE && selection->gate &&
        (!selection->pool || strcmp(selection->pool, "finished") == 0))
        return tpi_error(TP_MISUSE, "no finished task is behind a gate; purge by gate takes --pool failed");
    if (status == TP_OK && action == TP_ACTION_PURGE && selection->gate && *selection->gate == '>')
        return tpi_error(TP_MISUSE, "what waits for group %s is in the pending pool; a cancel ends it",
                         selection->gate + 1);
    return status == TP_OK ? tpi_check_duration("older_ms", selection->older_ms) : status;
}

/* ---- For the statements -------------------------------------------------------------------------------- */

/* The tasks of one business row are found by an index; what else they must be is seen with each. */
static tp_status find_by_key(struct tpi_operation *op) {
    static const struct tpi_column only[] = {{TPI_READ_ID, 0, TPI_UUID_SIZE}, TPI_COLUMN_END};
    const char *pool = op->selection->pool;
    struct tpi_args args = {0};
    struct tpi_ids found = {.all = NULL};
    void *ids = NULL;
    tpi_args_text(&args, TPI_P_biz_key, op->selection->biz_key);
    tpi_args_text(&args, TPI_P_pool, pool && strcmp(pool, "all") == 0 ? NULL : pool);
    tp_status status = tpi_store_list(&op->conn->store, TPI_S_operate_ids_by_key, &args, only, NULL,
                                      TPI_UUID_SIZE, &ids, &found.count);
    found.all = ids;
    if (status == TP_OK) tpi_ids_narrow(&op->ids, &found);
    return status;
}

static tp_status take_given(struct tpi_operation *op) {
    const tp_selection *selection = op->selection;
    size_t count = selection->id_count;
    tp_status status = TP_OK;
    if (!count) return TP_OK;
    char(*ids)[TPI_UUID_SIZE] = calloc(count, sizeof *ids);
    if (!ids) return tpi_error(TP_NOMEM, "out of memory");
    op->ids = (struct tpi_ids){ids, count, true};
    for (size_t i = 0; i < count && status == TP_OK; i++)
        status = tpi_check_uuid("an id of the selection", selection->ids[i], ids[i]);
    return status;
}

/* Each once: between two transactions of one call a task that was released may be claimed, and it must not be
 * taken from its new holder. */
static tp_status take_ids(struct tpi_operation *op) {
    const tp_selection *selection = op->selection;
    tp_status status = take_given(op);
    if (status == TP_OK && selection->biz_key) status = find_by_key(op);
    return status == TP_OK ? tpi_select_members(op->conn, selection->group, selection->gate, &op->ids)
                           : status;
}

static void say(struct tpi_buf *text, const char *what, const char *value) {
    if (!value || !*value) return;
    if (text->length) tpi_buf_text(text, ", ");
    tpi_buf_text(text, what);
    tpi_buf_text(text, value);
}

static void say_number(struct tpi_buf *text, const char *what, int64_t value) {
    char digits[TPI_DIGITS_SIZE];
    tpi_digits(value, digits);
    if (value) say(text, what, digits);
}

static void say_private(struct tpi_buf *text, const char *what, const char *value) {
    if (value && *value) say(text, "by ", what);
}

/* The audit is kept for ever, so it must not name whom a task is about. */
static tp_status say_selection(struct tpi_operation *op) {
    const tp_selection *selection = op->selection;
    struct tpi_buf text = {0};
    say(&text, "pool ", selection->pool);
    say(&text, "handler ", selection->handler);
    say(&text, "state ", selection->state);
    say(&text, "worker ", selection->worker);
    say_number(&text, "ids ", (int64_t)selection->id_count);
    say_private(&text, "biz_key", selection->biz_key);
    say_private(&text, "dedup_key", selection->dedup_key);
    say(&text, "group ", selection->group);
    if (selection->gate) say(&text, "gate ", *selection->gate == '=' ? "of an order key" : selection->gate);
    say_private(&text, "reason", selection->reason);
    say_private(&text, "reason_like", selection->reason_like);
    say_number(&text, "older ms ", selection->older_ms);
    say_number(&text, "since ", selection->since);
    say_number(&text, "until ", selection->until);
    say_number(&text, "limit ", (int64_t)selection->limit);
    bool failed = text.failed;
    tpi_utf8_copy(failed ? "" : tpi_buf_str(&text), op->detail, sizeof op->detail);
    tpi_buf_free(&text);
    return failed ? tpi_error(TP_NOMEM, "out of memory") : TP_OK;
}

tp_status tpi_operate_begin(struct tpi_operation *op, tp_action action) {
    const tp_selection *selection = op->selection;
    const char *why = selection->why ? selection->why : "";
    char text[TPI_WHO_MAX + TP_REASON_MAX + 40];
    int64_t now = 0;
    struct tpi_wanted wanted = {selection->handler,   selection->state,  selection->biz_key,
                                selection->dedup_key, selection->reason, selection->reason_like,
                                selection->worker,    selection->since,  selection->until,
                                selection->group,     selection->gate};
    tp_status status = tpi_select_begin(&op->select, &wanted);
    tpi_utf8_copy(selection->who, op->who, sizeof op->who);
    /* A released task must not go on saying what an earlier claim wrote of it, such as a lapsed lease. */
    if (action == TP_ACTION_RELEASE) {
        snprintf(text, sizeof text, "released by operator %s%s%.*s", op->who, *why ? ": " : "", TP_REASON_MAX,
                 why);
        why = text;
    }
    if (action == TP_ACTION_CANCEL)
        tpi_cancel_reason(op->who, why, op->why);
    else
        tpi_utf8_copy(why, op->why, sizeof op->why);
    op->before = op->select.until;
    tpi_uuid_ordered(op->act);
    if (status == TP_OK) status = say_selection(op);
    if (status == TP_OK) status = take_ids(op);
    if (status != TP_OK || !selection->older_ms) return status;
    status = tpi_ask_now(op->conn, &now);
    if (now - selection->older_ms < op->before) op->before = now - selection->older_ms;
    return status;
}

void tpi_operate_args(const struct tpi_operation *op, struct tpi_args *args) {
    tpi_select_args(&op->select, args);
    tpi_args_number(args, TPI_P_before, op->before);
}

size_t tpi_operate_room(const struct tpi_operation *op) {
    size_t limit = op->selection->limit;
    if (!limit) return TPI_CHUNK;
    size_t done = op->result.done + op->result.asked;
    size_t left = limit > done ? limit - done : 0;
    return left < TPI_CHUNK ? left : TPI_CHUNK;
}
