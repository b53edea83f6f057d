/* See rows.h. What the text of each field must be. */
#include "cli.h"

#include "rows.h"

#include <stddef.h>
#include <string.h>
#include <unistr.h>

#include "common/values.h"

enum kind { KIND_TEXT, KIND_ID, KIND_HANDLER, KIND_INT32, KIND_INT64, KIND_TIME };

/* Where a field goes in tp_new_task and what it may be: length of texts, range of numbers. */
static const struct rule {
    enum kind kind;
    size_t offset;
    int64_t least, most;
} rules[FIELD_COUNT] = {
    [FIELD_ID] = {KIND_ID, offsetof(tp_new_task, id), 0, TP_ID_SIZE - 1},
    [FIELD_HANDLER] = {KIND_HANDLER, offsetof(tp_new_task, handler), 0, TP_HANDLER_MAX},
    [FIELD_PARAMS] = {KIND_TEXT, offsetof(tp_new_task, params), 0, TP_PARAMS_MAX},
    [FIELD_BIZ_KEY] = {KIND_TEXT, offsetof(tp_new_task, biz_key), 0, TP_KEY_MAX},
    [FIELD_DEDUP_KEY] = {KIND_TEXT, offsetof(tp_new_task, dedup_key), 0, TP_KEY_MAX},
    [FIELD_SHARD] = {KIND_INT32, offsetof(tp_new_task, shard), INT32_MIN, INT32_MAX},
    [FIELD_PRIORITY] = {KIND_INT32, offsetof(tp_new_task, priority), -32768, 32767},
    [FIELD_DELAY_MS] = {KIND_INT64, offsetof(tp_new_task, delay_ms), 0, TP_DURATION_MAX},
    [FIELD_DUE_AT] = {KIND_TIME, offsetof(tp_new_task, due_at), 0, 0},
    [FIELD_MAX_FAILURES] = {KIND_INT32, offsetof(tp_new_task, max_failures), 0, INT32_MAX},
    [FIELD_ORDER_KEY] = {KIND_TEXT, offsetof(tp_new_task, order_key), 0, TP_KEY_MAX},
    [FIELD_GATE] = {KIND_TEXT, offsetof(tp_new_task, gate), 0, TP_HANDLER_MAX},
    [FIELD_DEADLINE_AT] = {KIND_TIME, offsetof(tp_new_task, deadline_at), 0, 0},
    [FIELD_DEADLINE_MS] = {KIND_INT64, offsetof(tp_new_task, deadline_ms), 0, TP_DURATION_MAX},
    [FIELD_GROUP] = {KIND_TEXT, offsetof(tp_new_task, group), 0, TP_KEY_MAX},
    [FIELD_AFTER] = {KIND_TEXT, offsetof(tp_new_task, after), 0, TP_KEY_MAX},
};

static bool refuse(char *error, enum field field, const char *why) {
    snprintf(error, ROW_ERROR_SIZE, "%s %s", field_names[field], why);
    return false;
}

static bool take_text(enum field field, const char *text, char *slot, char *error) {
    size_t length = strlen(text);

    if (length > (size_t)rules[field].most) {
        snprintf(error, ROW_ERROR_SIZE, "%s is %zu bytes long; at most %lld are allowed", field_names[field],
                 length, (long long)rules[field].most);
        return false;
    }
    memcpy(slot, &text, sizeof text);
    return true;
}

/* Command lines come here too, unchecked. */
static bool check_utf8(enum field field, const char *text, char *error) {
    if (!u8_check((const uint8_t *)text, strlen(text))) return true;
    return refuse(error, field, "is not valid UTF-8");
}

static bool is_handler_name(const char *text) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";

    return text[strspn(text, allowed)] == '\0';
}

static bool is_uuid(const char *text) {
    for (size_t i = 0; i < TP_ID_SIZE - 1; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (text[i] == '\0' || !strchr(dash ? "-" : "0123456789abcdefABCDEF", text[i])) return false;
    }
    return text[TP_ID_SIZE - 1] == '\0';
}

static bool take_id(const char *text, char *slot, char *error) {
    if (!is_uuid(text))
        return refuse(error, FIELD_ID, "is not a UUID like 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f");
    memcpy(slot, text, TP_ID_SIZE);
    return true;
}

static bool take_number(enum field field, const char *text, char *slot, char *error) {
    const struct rule *rule = &rules[field];
    int64_t value;

    if (!value_integer(text, rule->least, rule->most, &value)) {
        snprintf(error, ROW_ERROR_SIZE, "%s must be a whole number from %lld to %lld, not \"%.40s\"",
                 field_names[field], (long long)rule->least, (long long)rule->most, text);
        return false;
    }
    if (rule->kind == KIND_INT32) {
        int32_t small = (int32_t)value;

        memcpy(slot, &small, sizeof small);
    } else {
        memcpy(slot, &value, sizeof value);
    }
    return true;
}

static bool take_time(enum field field, const char *text, char *slot, char *error) {
    int64_t value;

    if (!value_time(text, &value))
        return refuse(error, field, "must be " TIME_WANTED ", in the year 9999 at most");
    memcpy(slot, &value, sizeof value);
    return true;
}

static bool take_field(enum field field, const char *text, tp_new_task *task, char *error) {
    char *slot = (char *)task + rules[field].offset;

    switch (rules[field].kind) {
    case KIND_ID:
        return take_id(text, slot, error);
    case KIND_TIME:
        return take_time(field, text, slot, error);
    case KIND_INT32:
    case KIND_INT64:
        return take_number(field, text, slot, error);
    case KIND_HANDLER:
        if (!is_handler_name(text)) return refuse(error, field, "may have letters, digits and . _ : - only");
        break;
    case KIND_TEXT:
        if (!check_utf8(field, text, error)) return false;
        break;
    }
    return take_text(field, text, slot, error);
}

bool row_to_task(const struct row *row, tp_new_task *task, char error[ROW_ERROR_SIZE]) {
    static const tp_new_task fresh = TP_NEW_TASK_INIT;

    *task = fresh;
    for (int i = 0; i < FIELD_COUNT; i++) {
        const char *text = row->text[i];
        enum field field = (enum field)i;

        /* As lists write a key, and what waits for a group. */
        if (field == FIELD_GATE && text && *text == '=' && !task->order_key) {
            field = FIELD_ORDER_KEY;
            text++;
        } else if (field == FIELD_GATE && text && *text == '>') {
            field = FIELD_AFTER;
            text++;
        }
        if (text && *text && !take_field(field, text, task, error)) return false;
    }
    if (!task->handler)
        return refuse(error, FIELD_HANDLER, "is missing (give it in the file, or --handler for all rows)");
    if (task->delay_ms && task->due_at) return refuse(error, FIELD_DUE_AT, "and delay_ms exclude each other");
    if (task->deadline_ms && task->deadline_at)
        return refuse(error, FIELD_DEADLINE_AT, "and deadline_ms exclude each other");
    return true;
}
