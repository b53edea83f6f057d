/* See work_events.h. */
#include "work_events.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "common/clocks.h"
#include "common/escape.h"
#include "common/values.h"
#include "work_options.h"

/* How often each was told; by the worker one at a time, by us after the join. */
static long long counts[TP_EVENT_COUNT];

void work_print_object(const char *event, const tp_task *task, const char *text) {
    json_object *object = cli_must(json_object_new_object());
    char time_text[TIME_TEXT_SIZE];

    json_put_text(object, "event", event);
    json_put_text(object, "time", value_time_text(clock_utc_ms(), time_text));
    if (task) {
        json_put_text(object, "id", task->id);
        json_put_text(object, "handler", task->handler);
        json_put_text(object, "biz_key", task->biz_key);
        json_put_number(object, "failures", task->failures);
    }
    json_put_text(object, "text", text);
    out_json(object);
}

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
    (void)arg;
    if ((int)event >= 0 && event < TP_EVENT_COUNT) counts[event]++;
    if (common.json)
        work_print_object(tp_event_name(event), task, text);
    else if (work_options.verbose || (!common.quiet && !is_routine(event)))
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
    json_object *object = common.json ? cli_must(json_object_new_object()) : NULL;

    if (object) json_put_text(object, "event", "summary");
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        const char *name = tp_event_name(results[i]);

        if (object)
            json_put_number(object, name, counts[results[i]]);
        else if (!common.quiet)
            out_text("%s%s %lld", i ? ", " : "", name, counts[results[i]]);
    }
    if (object)
        out_json(object);
    else if (!common.quiet)
        out_text("\n");
}
