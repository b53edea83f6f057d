/* Prints and counts the events of taskpool work. See work_events.h. */
#include "work_events.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/clocks.h"
#include "common/escape.h"
#include "common/records.h"
#include "common/values.h"
#include "work_options.h"

/* How often each came. Written by one of the worker's threads at a time, read after the join. */
static long long counts[TP_EVENT_COUNT];

#define TASK(type, member) COLUMN_OF(type, tp_task, member)
static const struct column task_columns[] = {
    {NULL, "id", TASK(TEXT, id)},
    {NULL, "handler", TASK(TEXT, handler)},
    {NULL, "biz_key", TASK(TEXT, biz_key)},
    {NULL, "failures", TASK(NUMBER, failures)},
    COLUMNS_END,
};

void work_print_object(const char *event, const tp_task *task, const char *text) {
    struct json_object *object = json_new();
    char time_text[TIME_TEXT_SIZE];

    json_add(object, MEMBERS(MEMBER_TEXT("event", event),
                             MEMBER_TEXT("time", value_time_text(clock_utc_ms(), time_text))));
    if (task) record_add(object, task_columns, task);
    json_add(object, MEMBERS(MEMBER_TEXT("text", text)));
    if (common.json)
        out_json(object);
    else
        err_json(object);
}

void work_print_report(const char *event, const char *line, const struct member *members) {
    struct json_object *object;
    char time_text[TIME_TEXT_SIZE];
    char *shown;

    value_time_text(clock_utc_ms(), time_text);
    if (!common.json && !work_log_is_json()) {
        shown = cli_must(escape_text(line));
        if (!common.quiet) err_text("%s %-8s %s\n", time_text, event, shown);
        free(shown);
    }
    object = json_new();
    json_add(object, MEMBERS(MEMBER_TEXT("event", event), MEMBER_TEXT("time", time_text)));
    json_add(object, members);
    if (common.json)
        out_json(object);
    else if (work_log_is_json() && !common.quiet)
        err_json(object);
    else
        json_object_put(object);
}

/* ---- The log as JSON --------------------------------------------------------------------------------- */

bool work_log_is_json(void) {
    return work_options.log_json;
}

/* As work_print_object, but always on standard error. Text that is no UTF-8 would be no JSON. */
static void log_object(const char *event, const char *text) {
    char *shown = cli_must(escape_text(text));
    char time_text[TIME_TEXT_SIZE];
    struct json_object *object = json_new();

    json_add(object, MEMBERS(MEMBER_TEXT("event", event),
                             MEMBER_TEXT("time", value_time_text(clock_utc_ms(), time_text)),
                             MEMBER_TEXT("text", shown)));
    err_json(object);
    free(shown);
}

static void log_message(const char *text) {
    log_object("message", text);
}

void work_log_begin(void) {
    if (work_options.log_json) cli_tell_by(log_message);
}

void work_log_line(const char *text, size_t length) {
    char *line;

    if (!work_options.log_json) {
        err_bytes(text, length);
        return;
    }
    while (length && text[length - 1] == '\n')
        length--;
    line = strndup(text, length);
    if (line && *line) log_object("program", line);
    free(line);
}

/* ---- Events ------------------------------------------------------------------------------------------ */

static void print_line(tp_event event, const tp_task *task, const char *text) {
    char *shown = escape_text(text ? text : "");
    char *handler = escape_text(task ? task->handler : "");
    char *id = escape_text(task ? task->id : "");
    char time_text[TIME_TEXT_SIZE];

    err_text("%s %-8s %s%s%s%s%s\n", value_time_text(clock_utc_ms(), time_text), tp_event_name(event),
             handler ? handler : "", task ? " " : "", id ? id : "", shown && *shown ? " " : "",
             shown ? shown : "");
    free(shown);
    free(handler);
    free(id);
}

static bool is_routine(tp_event event) {
    return event == TP_EVENT_CLAIMED || event == TP_EVENT_DONE || event == TP_EVENT_RELEASED;
}

void work_on_event(tp_event event, const tp_task *task, const char *text, void *arg) {
    bool shown = work_options.verbose || (!common.quiet && !is_routine(event));

    (void)arg;
    if ((int)event >= 0 && event < TP_EVENT_COUNT) counts[event]++;
    if (common.json || (shown && work_log_is_json()))
        work_print_object(tp_event_name(event), task, text);
    else if (shown)
        print_line(event, task, text);
}

long long work_event_count(tp_event event) {
    return counts[event];
}

/* X(event): those that say what became of a task */
#define RESULT_LIST(X)                                                                                       \
    X(TP_EVENT_DONE)                                                                                         \
    X(TP_EVENT_SKIPPED)                                                                                      \
    X(TP_EVENT_RETRY)                                                                                        \
    X(TP_EVENT_GAVE_UP)                                                                                      \
    X(TP_EVENT_RELEASED)                                                                                     \
    X(TP_EVENT_LOST)

void work_print_summary(void) {
    static const tp_event results[] = {
#define RESULT_ROW(event) event,
        RESULT_LIST(RESULT_ROW)
#undef RESULT_ROW
    };
    bool json = common.json || work_log_is_json();
    struct json_object *object = json ? json_new() : NULL;

    if (object) json_add(object, MEMBERS(MEMBER_TEXT("event", "summary")));
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        const char *name = tp_event_name(results[i]);

        if (object)
            json_add(object, MEMBERS(MEMBER_NUMBER(name, counts[results[i]])));
        else if (!common.quiet)
            out_text("%s%s %lld", i ? ", " : "", name, counts[results[i]]);
    }
    if (object && common.json)
        out_json(object);
    else if (object)
        err_json(object);
    else if (!common.quiet)
        out_text("\n");
}
