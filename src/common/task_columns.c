/* See task_columns.h. */
#include "task_columns.h"

#include <stdio.h>
#include <string.h>

enum { WHEN_SHOWN = 40 }; /* of a gate's long name, before a deadline */

const char *task_state_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    const tp_task *task = record;

    if (strcmp(task->state, "failed") != 0) return task->state;
    snprintf(text, RECORD_TEXT_SIZE, "failed-%d", (int)task->failures);
    return text;
}

bool task_waits_at_gate(const tp_task *task) {
    return task->gate && *task->gate && task->due_at == TP_TIME_MAX && strcmp(task->pool, "pending") == 0;
}

/* How many bytes of text are shown: at most so many, and no part of a character. */
static int cut(const char *text, size_t limit) {
    size_t length = strlen(text);

    if (length <= limit) return (int)length;
    while (limit && ((unsigned char)text[limit] & 0xc0) == 0x80)
        limit--;
    return (int)limit;
}

static const char *when_due(const tp_task *task, char text[RECORD_TEXT_SIZE]) {
    if (!task_waits_at_gate(task))
        return record_time(task->settled_at ? task->settled_at : task->due_at, text);
    bool after = task->gate[0] == '>';
    const char *word = after ? "after" : "gate", *name = task->gate + after;
    snprintf(text, RECORD_TEXT_SIZE, "%s %.*s", word, cut(name, RECORD_TEXT_SIZE - sizeof "after "), name);
    return text;
}

static const char *due_or_settled(const void *record, char text[RECORD_TEXT_SIZE]) {
    const tp_task *task = record;
    char room[RECORD_TEXT_SIZE], deadline[RECORD_TEXT_SIZE];

    if (!task->deadline_at) return when_due(task, text);
    const char *when = when_due(task, room);
    snprintf(text, RECORD_TEXT_SIZE, "%.*s, deadline %s", cut(when, WHEN_SHOWN), when,
             record_time(task->deadline_at, deadline));
    return text;
}

static enum tone state_tone(const void *record) {
    const tp_task *task = record;

    if (strcmp(task->state, "failed") == 0) return task->settled_at ? TONE_BAD : TONE_WARN;
    return strcmp(task->state, "done") == 0 ? TONE_GOOD : TONE_PLAIN;
}

const struct column task_columns[] = {
    {"ID", "id", TASK(TEXT, id), .whole = true},
    {NULL, "pool", TASK(TEXT, pool)},
    {NULL, "state", TASK(TEXT, state)},
    {"STATE", NULL, .shown = task_state_text, .tone = state_tone, .whole = true},
    {"HANDLER", "handler", TASK(TEXT, handler)},
    {"BIZ_KEY", "biz_key", TASK(TEXT, biz_key), .spare = 2},
    {NULL, "dedup_key", TASK(TEXT, dedup_key)},
    {NULL, "gate", TASK(TEXT, gate)},
    {NULL, "params", TASK(EXACT, params)},
    {NULL, "shard", TASK(NUMBER, shard)},
    {"PRIORITY", "priority", TASK(NUMBER, priority), .spare = 3},
    {"SHARD", NULL, TASK(NUMBER, shard), .spare = 4},
    {NULL, "failures", TASK(NUMBER, failures)},
    {NULL, "max_failures", TASK(NUMBER, max_failures), .may_miss = true},
    {NULL, "reason", TASK(TEXT, reason)},
    {NULL, "owner", TASK(TEXT, owner)},
    {NULL, "due_at", TASK(TIME, due_at), .may_miss = true},
    {NULL, "created_at", TASK(TIME, created_at), .may_miss = true},
    {NULL, "modified_at", TASK(TIME, modified_at), .may_miss = true},
    {NULL, "settled_at", TASK(TIME, settled_at), .may_miss = true},
    {NULL, "deadline_at", TASK(TIME, deadline_at), .may_miss = true},
    {"DUE/SETTLED", NULL, .type = VALUE_TIME, .shown = due_or_settled, .spare = 1},
    {"REASON", NULL, TASK(TEXT, reason)},
    COLUMNS_END,
};
