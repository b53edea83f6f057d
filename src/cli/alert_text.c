/* See alert_text.h. */
#include "alert_text.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "common/clocks.h"
#include "common/escape.h"
#include "common/records.h"
#include "common/values.h"

enum { REASONS_SHOWN = 100, REASONS_SUMMED_UP = 5, REASON_SHOWN = 120 };

#define TASK(type, member) COLUMN_OF(type, tp_task, member)
static const struct column task_columns[] = {
    {NULL, "id", TASK(TEXT, id)},
    {NULL, "handler", TASK(TEXT, handler)},
    {NULL, "biz_key", TASK(TEXT, biz_key)},
    {NULL, "dedup_key", TASK(TEXT, dedup_key)},
    {NULL, "shard", TASK(NUMBER, shard)},
    {NULL, "priority", TASK(NUMBER, priority)},
    {NULL, "failures", TASK(NUMBER, failures)},
    {NULL, "max_failures", TASK(NUMBER, max_failures), .may_miss = true},
    {NULL, "reason", TASK(TEXT, reason)},
    {NULL, "created_at", TASK(TIME, created_at), .may_miss = true},
    {NULL, "failed_at", TASK(TIME, modified_at), .may_miss = true},
    COLUMNS_END,
};

#define FAILURE(type, member) COLUMN_OF(type, tp_failure, member)
static const struct column reason_columns[] = {
    {NULL, "count", FAILURE(NUMBER, count)},
    {NULL, "handler", FAILURE(TEXT, handler)},
    {NULL, "reason_like", FAILURE(TEXT, reason_like)},
    {NULL, "example", FAILURE(TEXT, example)},
    {NULL, "first", FAILURE(TIME, first)},
    {NULL, "last", FAILURE(TIME, last)},
    COLUMNS_END,
};

struct reasons {
    struct alert_text *text;
    json_object *list;
    size_t count;
};

/* How much of it is shown: whole characters. */
static int shown_length(const char *reason) {
    size_t length = strnlen(reason, REASON_SHOWN);

    while (length && ((unsigned char)reason[length] & 0xC0) == 0x80)
        length--;
    return (int)length;
}

static void sum_up(struct alert_text *text, size_t before, const tp_failure *failure) {
    size_t used = strlen(text->summary);
    char count[TIME_TEXT_SIZE];

    if (before < REASONS_SUMMED_UP)
        snprintf(text->summary + used, sizeof text->summary - used, "%s%s %s: %.*s", before ? "; " : "",
                 value_count_text(failure->count, count), failure->handler,
                 shown_length(failure->reason_like), failure->reason_like);
    else if (before == REASONS_SUMMED_UP)
        snprintf(text->summary + used, sizeof text->summary - used, "; and more");
}

static void add_reason(const tp_failure *failure, void *arg) {
    struct reasons *reasons = arg;

    sum_up(reasons->text, reasons->count, failure);
    if (reasons->count++ < REASONS_SHOWN)
        json_object_array_add(reasons->list, record_object(reason_columns, failure));
}

/* Takes object over. */
static void add_line(struct alert_text *text, json_object *object) {
    const char *plain = cli_must((void *)json_object_to_json_string_ext(
        object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
    char *line = cli_must(escape_json(plain));
    size_t length = strlen(line);

    text->lines = cli_must(realloc(text->lines, text->length + length + 1));
    memcpy(text->lines + text->length, line, length);
    text->length += length;
    text->lines[text->length++] = '\n';
    free(line);
    json_object_put(object);
}

void alert_text_make(struct alert_text *text, const tp_batch *tasks) {
    struct reasons reasons = {text, cli_must(json_object_new_array()), 0};
    json_object *head = json_new();
    char time_text[TIME_TEXT_SIZE];
    size_t count = tp_batch_count(tasks);

    *text = (struct alert_text){.lines = NULL};
    snprintf(text->count, sizeof text->count, "%zu", count);
    if (tp_batch_failures(tasks, add_reason, &reasons) != TP_OK)
        snprintf(text->summary, sizeof text->summary, "%zu tasks", count);
    json_add(head, MEMBERS(MEMBER_TEXT("event", "alert"),
                           MEMBER_TEXT("time", value_time_text(clock_utc_ms(), time_text)),
                           MEMBER_NUMBER("count", (int64_t)count), MEMBER_TEXT("summary", text->summary),
                           MEMBER_JSON("reasons", reasons.list)));
    add_line(text, head);
    for (size_t i = 0; i < count; i++)
        add_line(text, record_object(task_columns, tp_batch_task(tasks, i)));
    text->variables[0] = "TASKPOOL_ALERT_COUNT";
    text->variables[1] = text->count;
    text->variables[2] = "TASKPOOL_ALERT_SUMMARY";
    text->variables[3] = text->summary;
}

void alert_text_free(struct alert_text *text) {
    free(text->lines);
    text->lines = NULL;
}
