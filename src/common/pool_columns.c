/* See pool_columns.h. */
#include "pool_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "values.h"

enum { GONE_SHOWN_MS = 3600000 };

#define EVENT(type, member) COLUMN_OF(type, tp_history, member)
const struct column history_columns[] = {
    {"AT", "at", EVENT(TIME, at)},
    {"EVENT", "event", EVENT(TEXT, event)},
    {"TASK", "id", EVENT(TEXT, task_id), .whole = true},
    {"HANDLER", "handler", EVENT(TEXT, handler), .spare = 1},
    {"ATTEMPT", "attempt", EVENT(NUMBER, attempt), .may_miss = true, .spare = 3},
    {NULL, "owner", EVENT(TEXT, owner)},
    {"WHO", "who", EVENT(TEXT, who), .spare = 2},
    {"REASON", "reason", EVENT(TEXT, reason)},
    COLUMNS_END,
};

#define REQUEST(type, member) COLUMN_OF(type, tp_request, member)
#define REQUEST_COLUMNS                                                                                      \
    {"REQUEST", "request", REQUEST(TEXT, id), .whole = true}, {"STATE", "state", REQUEST(TEXT, state)},      \
        {"ACT", "act", REQUEST(TEXT, act)}, {"POOL", "pool", REQUEST(TEXT, pool), .spare = 4},               \
        {"ROWS", "rows", REQUEST(NUMBER, tasks)}, {"ASKED_BY", "asked_by", REQUEST(TEXT, asked_by)},         \
        {"WHY", "why", REQUEST(TEXT, why)},                                                                  \
        {"SELECTION", "selection", REQUEST(TEXT, selection), .spare = 2},                                    \
        {"AT", "created_at", REQUEST(TIME, created_at), .spare = 3}, {                                       \
        "EXPIRES", "expires_at", REQUEST(TIME, expires_at), .spare = 1                                       \
    }
const struct column request_columns[] = {REQUEST_COLUMNS, COLUMNS_END};

static const char *fields_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    static const char *const names[] = {"params", "biz_key",      "dedup_key", "priority",
                                        "due_at", "max_failures", "shard",     "deadline_at"};
    const tp_request *request = record;
    size_t used = 0;

    *text = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (request->fields & (1 << i))
            used += (size_t)snprintf(text + used, RECORD_TEXT_SIZE - used, "%s%s", used ? " " : "", names[i]);
    if (request->retry) snprintf(text + used, RECORD_TEXT_SIZE - used, "%sretry", used ? " " : "");
    return text;
}

const struct column request_details[] = {
    REQUEST_COLUMNS,
    {"DECIDED_BY", "decided_by", REQUEST(TEXT, decided_by), .may_miss = true},
    {"DECISION", "decision", REQUEST(TEXT, decision), .may_miss = true},
    {"DECIDED", "decided_at", REQUEST(TIME, decided_at), .may_miss = true},
    {"DONE", "done", REQUEST(NUMBER, done), .may_miss = true},
    {"FIELDS", "fields", .shown = fields_text},
    {"PARAMS", "params", REQUEST(TEXT, params), .may_miss = true},
    {"BIZ_KEY", "biz_key", REQUEST(TEXT, biz_key), .may_miss = true},
    {"DEDUP_KEY", "dedup_key", REQUEST(TEXT, dedup_key), .may_miss = true},
    {"PRIORITY", "priority", REQUEST(NUMBER, priority), .may_miss = true},
    {"DUE", "due_at", REQUEST(TIME, due_at), .may_miss = true},
    {"MAX_FAILURES", "max_failures", REQUEST(NUMBER, max_failures), .may_miss = true},
    COLUMNS_END,
};

#define ACT(type, member) COLUMN_OF(type, tp_audit, member)
const struct column audit_columns[] = {
    {"SEQ", "seq", ACT(NUMBER, seq)},
    {"AT", "at", ACT(TIME, at)},
    {"WHO", "who", ACT(TEXT, who)},
    {"ACTION", "action", ACT(TEXT, action)},
    {"SUBJECT", "subject", ACT(TEXT, subject), .whole = true},
    {"CHANGED", "changed", ACT(NUMBER, changed)},
    {"DETAIL", "detail", ACT(TEXT, detail), .spare = 1},
    {"WHY", "why", ACT(TEXT, why)},
    {NULL, "act", ACT(TEXT, act)},
    {NULL, "ids_hash", ACT(TEXT, ids_hash)},
    {NULL, "request_id", ACT(TEXT, request_id)},
    {NULL, "prev_hash", ACT(TEXT, prev_hash)},
    {NULL, "hash", ACT(TEXT, hash)},
    COLUMNS_END,
};

const char *const schedule_missed_names[MISSED_NAMES] = {
    [TP_MISSED_ONCE] = "once", [TP_MISSED_SKIP] = "skip", [TP_MISSED_ALL] = "all"};
const char *const schedule_closed_names[CLOSED_NAMES] = {
    [TP_CLOSED_SKIP] = "skip", [TP_CLOSED_BEFORE] = "before", [TP_CLOSED_AFTER] = "after"};

static const char *zone_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    const tp_schedule *schedule = record;

    (void)text;
    return *schedule->time_zone ? schedule->time_zone : "UTC";
}

static const char *missed_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    const tp_schedule *schedule = record;

    (void)text;
    return schedule_missed_names[schedule->missed];
}

static const char *closed_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    const tp_schedule *schedule = record;

    (void)text;
    return *schedule->calendar ? schedule_closed_names[schedule->closed] : "";
}

static const char *next_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    const tp_schedule *schedule = record;

    return schedule->paused ? "paused" : record_time(schedule->next_at, text);
}

#define SCHEDULE(type, member) COLUMN_OF(type, tp_schedule, member)
const struct column schedule_columns[] = {
    {"NAME", "name", SCHEDULE(TEXT, name)},
    {"RULE", "rule", SCHEDULE(TEXT, rule)},
    {"TIME_ZONE", "time_zone", SCHEDULE(TEXT, time_zone), .shown = zone_text},
    {"HANDLER", "handler", SCHEDULE(TEXT, handler)},
    {NULL, "params", SCHEDULE(TEXT, params)},
    {NULL, "biz_key", SCHEDULE(TEXT, biz_key)},
    {NULL, "shard", SCHEDULE(NUMBER, shard)},
    {NULL, "priority", SCHEDULE(NUMBER, priority)},
    {NULL, "max_failures", SCHEDULE(NUMBER, max_failures), .may_miss = true},
    {"MISSED", "missed", .shown = missed_text},
    {NULL, "missed_max", SCHEDULE(NUMBER, missed_max)},
    {"ALONE", "alone", SCHEDULE(YES_NO, alone)},
    {NULL, "paused", SCHEDULE(YES_NO, paused)},
    {"NEXT", "next_at", SCHEDULE(TIME, next_at), .may_miss = true, .shown = next_text},
    {"LAST", "last_at", SCHEDULE(TIME, last_at), .may_miss = true},
    {"CALENDAR", "calendar", SCHEDULE(TEXT, calendar)},
    {"CLOSED", "closed", .shown = closed_text},
    {NULL, "last_task", SCHEDULE(TEXT, last_task)},
    COLUMNS_END,
};

static const char *age_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    return value_age_text(((const struct worker_shown *)record)->age_ms, text);
}

static const char *seen_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    return value_age_text(((const struct worker_shown *)record)->row.seen_ago_ms, text);
}

static const char *oldest_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    const struct worker_shown *shown = record;
    char age[TIME_TEXT_SIZE];

    if (!shown->oldest_task) return "";
    snprintf(text, RECORD_TEXT_SIZE, "%s %.40s", value_age_text(shown->oldest_ms, age),
             shown->oldest_handler);
    return text;
}

#define WORKER(type, member) COLUMN_OF(type, struct worker_shown, member)
const struct column worker_columns[] = {
    {"WORKER", "name", WORKER(TEXT, row.name)},
    {"HOST", "host", WORKER(TEXT, row.host), .spare = 2},
    {"STATE", "state", WORKER(TEXT, state)},
    {"FOR", .shown = age_text},
    {"SEEN", .shown = seen_text},
    {"TASKS", "running", WORKER(NUMBER, row.running)},
    {"OLDEST", .shown = oldest_text, .spare = 1},
    {"THREADS", "threads", WORKER(NUMBER, row.threads), .spare = 4},
    {"DONE", "done", WORKER(NUMBER, row.done), .spare = 3},
    {"FAILED", "failed", WORKER(NUMBER, row.failed), .spare = 3},
    {"HANDLERS", "handlers", WORKER(TEXT, row.handlers)},
    {NULL, "id", WORKER(TEXT, id)},
    {NULL, "pid", WORKER(NUMBER, row.pid)},
    {NULL, "plan", WORKER(TEXT, row.plan)},
    {NULL, "claimed", WORKER(NUMBER, row.claimed)},
    {NULL, "started_at", WORKER(TIME, row.started_at)},
    {NULL, "seen_at", WORKER(TIME, row.seen_at)},
    {NULL, "seen_ago_ms", WORKER(NUMBER, row.seen_ago_ms)},
    {NULL, "drain_at", WORKER(TIME, row.drain_at)},
    {NULL, "drain_who", WORKER(TEXT, row.drain_who)},
    {NULL, "oldest_task", WORKER(TEXT, oldest_task)},
    {NULL, "oldest_handler", WORKER(TEXT, oldest_handler)},
    {NULL, "oldest_claimed_at", WORKER(TIME, oldest_claimed_at), .may_miss = true},
    {NULL, "oldest_ms", WORKER(NUMBER, oldest_ms), .may_miss = true},
    COLUMNS_END,
};

bool worker_is_gone(const tp_worker_row *row) {
    return strcmp(row->state, "running") != 0 && strcmp(row->state, "stopping") != 0;
}

bool worker_is_shown(const tp_worker_row *row, int64_t now, struct worker_shown *shown) {
    bool ended = strcmp(row->state, "ended") == 0;

    *shown = (struct worker_shown){
        .row = *row, .state = row->state, .id = row->id, .age_ms = now - row->started_at};
    if (worker_is_gone(row))
        shown->age_ms = row->seen_at - row->started_at;
    else if (row->seen_ago_ms >= WORKER_SILENT_MS)
        shown->state = "silent";
    else if (row->drain_at)
        shown->state = "draining";
    return !worker_is_gone(row) || (!ended && row->seen_ago_ms <= GONE_SHOWN_MS);
}

#define FAILURE(type, member) COLUMN_OF(type, struct failure_shown, member)
const struct column failure_columns[] = {
    {"COUNT", "count", FAILURE(NUMBER, count)},
    {"WAITING", "waiting", FAILURE(NUMBER, waiting)},
    {"HANDLER", "handler", FAILURE(TEXT, handler)},
    {"FIRST", "first", FAILURE(TIME, first)},
    {"LAST", "last", FAILURE(TIME, last)},
    {"EXAMPLE", "example", FAILURE(TEXT, example), .whole = true, .spare = 1},
    {"REASON", "reason_like", FAILURE(TEXT, reason)},
    {NULL, "retry", FAILURE(TEXT, retry)},
    {NULL, "warning", FAILURE(TEXT, warning)},
    COLUMNS_END,
};

/* In single quotes, for a shell. */
static char *quoted(const char *text) {
    char *out = cli_must(malloc(4 * strlen(text) + 3)), *at = out;

    *at++ = '\'';
    for (; *text; text++) {
        if (*text == '\'') {
            memcpy(at, "'\\''", 4);
            at += 4;
        } else {
            *at++ = *text;
        }
    }
    memcpy(at, "'", 2);
    return out;
}

static bool is_plain(const char *text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-";

    return *text && *text != '-' && strspn(text, plain) == strlen(text);
}

static char *with_option(char *command, const char *option, const char *value, bool plain) {
    char *text = plain ? cli_must(strdup(value)) : quoted(value);
    size_t used = strlen(command), size = used + strlen(option) + strlen(text) + 5;

    command = cli_must(realloc(command, size));
    snprintf(command + used, size - used, " --%s%s%s", option, plain ? " " : "=", text);
    free(text);
    return command;
}

static char *with_time(char *command, const char *option, int64_t at) {
    char time[TIME_TEXT_SIZE];

    return at ? with_option(command, option, value_time_text(at, time), true) : command;
}

/* Of tasks whose reason begins so, as the library writes it, more is known than that they failed. */
static const struct known {
    const char *begins, *command, *pool, *warning;
} kinds[] = {
    {TP_REASON_DONE, "taskpool skip", "failed", "done, only not stored: a retry would do it again"},
    {"lease lapsed, held by", "taskpool retry", NULL, "may have been done: ask the other side first"},
    {"earlier: lease lapsed, held by", "taskpool retry", NULL,
     "may have been done: ask the other side first"},
    {"", "taskpool retry", NULL, NULL},
};

static const struct known *known_of(const char *reason) {
    const struct known *known = kinds;

    while (strncmp(reason, known->begins, strlen(known->begins)) != 0)
        known++;
    return known;
}

const char *task_warning(const tp_task *task) {
    return strcmp(task->state, "failed") == 0 ? known_of(task->reason)->warning : NULL;
}

/* Plain SQL may put in any handler: its name is for a shell, too. */
char *failure_command(const tp_failure *failure, const tp_list_request *request) {
    const struct known *known = known_of(failure->reason_like);
    const struct {
        const char *option, *value;
    } others[] = {
        {"pool", known->pool ? known->pool : request->pool},
        {"reason", request->reason},
        {"biz-key", request->biz_key},
        {"dedup-key", request->dedup_key},
        {"worker", request->worker},
    };
    char *command = with_option(cli_must(strdup(known->command)), "handler", failure->handler,
                                is_plain(failure->handler));

    command = with_option(command, "reason-like", failure->reason_like, false);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].value)
            command = with_option(command, others[i].option, others[i].value, is_plain(others[i].value));
    command = with_time(command, "since", request->since);
    return with_time(command, "until", request->until);
}

struct failure_shown failure_shown(const tp_failure *failure, const char *command) {
    return (struct failure_shown){
        failure->count,   failure->waiting, failure->first,
        failure->last,    failure->handler, failure->reason_like,
        failure->example, command,          known_of(failure->reason_like)->warning};
}
