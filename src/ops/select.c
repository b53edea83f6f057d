/* See select.h. */
#include "ops/select.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "core/fsm.h"

enum { TAG_LENGTH = 12 }; /* digits at the end of all tokens of a process */

static tp_status check_reason(const char *what, const char *reason) {
    if (!reason) return TP_OK;
    if (!*reason) return tpi_error(TP_MISUSE, "%s is empty, so every reason has it; leave it out", what);
    if (strlen(reason) > TP_REASON_MAX)
        return tpi_error(TP_TOOBIG, "%s has %zu bytes; at most %d are allowed", what, strlen(reason),
                         TP_REASON_MAX);
    if (!tpi_utf8_valid(reason, strlen(reason))) return tpi_error(TP_MISUSE, "%s is not valid UTF-8", what);
    return TP_OK;
}

static tp_status check_selected_key(const char *what, const char *key) {
    if (key && !*key)
        return tpi_error(TP_MISUSE, "%s is empty, and no task has such a key; NULL means any", what);
    return tpi_check_key(what, key);
}

/* An order key's gate has = before the key; that of a task that waits for a group > before its name. */
static tp_status check_gate(const char *gate) {
    return check_selected_key("gate", gate && (*gate == '=' || *gate == '>') ? gate + 1 : gate);
}

static tp_status check_times(const struct tpi_wanted *wanted) {
    if (wanted->since < 0 || wanted->until < 0 || wanted->since > TP_TIME_MAX || wanted->until > TP_TIME_MAX)
        return tpi_error(TP_MISUSE, "since or until is no time of the years 1970 to 9999");
    if (wanted->until && wanted->until < wanted->since)
        return tpi_error(TP_MISUSE, "until is before since, so nothing can be selected");
    return TP_OK;
}

static tp_status check_wanted(const struct tpi_wanted *wanted) {
    enum tpi_state state;
    if (wanted->state && !tpi_state_parse(wanted->state, &state))
        return tpi_error(TP_MISUSE,
                         "state '%.40s' is not known; it is one of pending, handling, failed, done, skipped",
                         wanted->state);
    tp_status status = TP_OK;
    if (wanted->handler) status = tpi_check_handler(wanted->handler);
    if (status == TP_OK) status = check_selected_key("biz_key", wanted->biz_key);
    if (status == TP_OK) status = check_selected_key("dedup_key", wanted->dedup_key);
    if (status == TP_OK) status = check_selected_key("group", wanted->group);
    if (status == TP_OK) status = check_gate(wanted->gate);
    if (status == TP_OK) status = check_reason("the part of a reason", wanted->reason);
    if (status == TP_OK) status = check_reason("the reason that others are like", wanted->reason_like);
    return status == TP_OK ? check_times(wanted) : status;
}

/* A pattern that finds text anywhere; what patterns read otherwise is escaped. */
static void make_pattern(const char *text, char *out) {
    *out++ = '%';
    for (; *text; text++) {
        if (strchr("!%_", *text)) *out++ = '!';
        *out++ = *text;
    }
    *out++ = '%';
    *out = '\0';
}

/* Of a token only its end says which process it is of. */
static tp_status take_worker(const char *worker, char out[TPI_UUID_SIZE + 1]) {
    char token[TPI_UUID_SIZE];
    size_t length = strlen(worker);
    if (length == TAG_LENGTH && strspn(worker, "0123456789abcdef") == length) {
        snprintf(out, TPI_UUID_SIZE + 1, "%%%s", worker);
        return TP_OK;
    }
    tp_status status =
        tpi_check_uuid("the worker, where it is not the 12 digits at the end of a token,", worker, token);
    if (status == TP_OK) snprintf(out, TPI_UUID_SIZE + 1, "%%%s", token + strlen(token) - TAG_LENGTH);
    return status;
}

tp_status tpi_select_begin(struct tpi_select *select, const struct tpi_wanted *wanted) {
    *select = (struct tpi_select){.wanted = *wanted};
    tp_status status = check_wanted(wanted);
    if (status != TP_OK) return status;
    if (wanted->reason_like) {
        tpi_alike(wanted->reason_like, select->alike);
        tpi_alike_pattern(select->alike, select->part);
    }
    if (wanted->reason) make_pattern(wanted->reason, select->part);
    select->since = wanted->since;
    select->until = wanted->until ? wanted->until : TPI_END_OF_TIME;
    return wanted->worker ? take_worker(wanted->worker, select->owner_part) : TP_OK;
}

void tpi_select_args(const struct tpi_select *select, struct tpi_args *args) {
    tpi_args_text(args, TPI_P_handler, select->wanted.handler);
    tpi_args_text(args, TPI_P_state, select->wanted.state);
    tpi_args_text(args, TPI_P_biz_key, select->wanted.biz_key);
    tpi_args_text(args, TPI_P_dedup_key, select->wanted.dedup_key);
    tpi_args_text(args, TPI_P_part, select->part);
    tpi_args_text(args, TPI_P_owner_part, select->owner_part);
    tpi_args_number(args, TPI_P_since, select->since ? select->since : -TPI_END_OF_TIME);
    tpi_args_number(args, TPI_P_until, select->until);
}

bool tpi_select_has(const struct tpi_select *select, const char *reason) {
    return !*select->alike || tpi_is_alike(reason, select->alike);
}

bool tpi_select_is_narrow(const struct tpi_select *select) {
    const struct tpi_wanted *wanted = &select->wanted;
    return wanted->handler || wanted->state || wanted->dedup_key || *select->part || *select->owner_part;
}
