/* See overview.h. */
#include "overview.h"

#include <json-c/json.h>
#include <stdio.h>

#include "answer.h"
#include "common/alarms.h"
#include "common/messages.h"

enum { GRACE_MS = 120000, LATE_MS = 60000, HANDLERS_MAX = 1000, WRONG_MAX = 100 };

struct late {
    int64_t now;
    int count;
    char name[TP_HANDLER_MAX + 1]; /* of one */
};

static void count_late(const tp_schedule *schedule, void *arg) {
    struct late *late = arg;

    if (schedule->paused || !schedule->next_at || late->now - schedule->next_at < LATE_MS) return;
    if (!late->count++) snprintf(late->name, sizeof late->name, "%s", schedule->name);
}

struct found {
    json_object *wrong, *notes;
};

/* In a sentence, and in parts for a page in another language. */
static void put_finding(json_object *list, const struct alarm *alarm, const char *text) {
    json_object *object = json_new();

    json_add(object,
             MEMBERS(MEMBER_TEXT("what", alarm->name), MEMBER_TEXT("level", alarm_level_name(alarm->level)),
                     MEMBER_TEXT("handler", alarm->handler), MEMBER_NUMBER("count", alarm->count),
                     MEMBER_NUMBER("age_ms", alarm->age_ms), MEMBER_TEXT("text", text)));
    json_object_array_add(list, object);
}

static void add_finding(const struct alarm *alarm, void *arg) {
    const struct found *found = arg;
    json_object *list = alarm->level >= ALARM_WARNING ? found->wrong : found->notes;
    char text[2 * ALARM_TEXT_SIZE + 4];

    if (alarm->level < ALARM_NOTE || json_object_array_length(list) >= WRONG_MAX) return;
    snprintf(text, sizeof text, "%s%s%s", alarm->text, *alarm->remedy ? "; " : "", alarm->remedy);
    put_finding(list, alarm, text);
}

static struct found find(const struct figures *figures, const struct late *late) {
    const struct alarm_limits limits = {.grace_ms = GRACE_MS};
    struct found found = {cli_must(json_object_new_array()), cli_must(json_object_new_array())};
    char text[256];

    alarms_each(figures, &limits, add_finding, &found);
    if (late->count) {
        snprintf(text, sizeof text,
                 "%d schedules are late, %s among them: no worker fires them; start one that does",
                 late->count, late->name);
        put_finding(found.wrong,
                    &(struct alarm){.name = "schedules", .level = ALARM_WARNING, .count = late->count}, text);
    }
    return found;
}

static struct member rate(const char *key, const struct figures *figures, int64_t count) {
    double per_second = (double)count * 1000 / (double)figures->window_ms;

    return (struct member){.key = key, .type = VALUE_REAL, .real = per_second, .decimals = 3};
}

static struct member quantile(const char *key, const tp_histogram *times, double part) {
    int64_t ms = figures_quantile(times, part);

    return (struct member)MEMBER_NUMBER_IF(ms >= 0, key, ms);
}

static int64_t waiting_of(const struct handler_figures *handler) {
    int64_t waiting = handler->pending + handler->retrying - (handler->due - handler->lapsed);

    return waiting > 0 ? waiting : 0;
}

static json_object *handler_object(const struct figures *figures, const struct handler_figures *handler) {
    json_object *object = json_new();

    json_add(
        object,
        MEMBERS(MEMBER_TEXT("handler", handler->name), MEMBER_YES_NO("paused", handler->paused_since != 0),
                MEMBER_NUMBER("due", handler->due), MEMBER_NUMBER("waiting", waiting_of(handler)),
                MEMBER_NUMBER("running", handler->handling), MEMBER_NUMBER("failed", handler->failed),
                MEMBER_NUMBER("done", handler->finished), rate("rate_in", figures, handler->enqueued),
                rate("rate_out", figures, handler->finished + handler->gave_up),
                quantile("wait_p50_ms", &handler->wait, 0.5), quantile("wait_p95_ms", &handler->wait, 0.95),
                quantile("run_p50_ms", &handler->run, 0.5), quantile("run_p95_ms", &handler->run, 0.95),
                MEMBER_NUMBER_IF(handler->due_since != 0, "oldest_due_at", handler->due_since)));
    return object;
}

static json_object *handlers_of(const struct figures *figures) {
    json_object *list = cli_must(json_object_new_array());

    for (size_t i = 0; i < figures->handler_count && i < HANDLERS_MAX; i++)
        json_object_array_add(list, handler_object(figures, &figures->handlers[i]));
    return list;
}

static int living(const struct figures *figures) {
    int count = 0;

    for (size_t i = 0; i < figures->worker_count; i++)
        count += figures->workers[i].lives;
    return count;
}

/* When what is due now will be done, if it goes on like this. */
static int64_t eta_ms(const struct figures *figures, const struct handler_figures *sum) {
    int64_t gone = sum->finished + sum->gave_up - sum->enqueued;

    if (sum->due == 0) return 0;
    return gone > 0 ? (int64_t)((double)sum->due / (double)gone * (double)figures->window_ms) : -1;
}

tp_status overview_read(tp_conn *conn, const struct figures *figures, char **text) {
    struct handler_figures sum = figures_sum(figures);
    struct late late = {.now = figures->now};
    tp_status status = tp_schedule_each(conn, count_late, &late);
    struct found found;
    json_object *object;

    if (status < 0) return status;
    found = find(figures, &late);
    object = json_new();
    json_add(object,
             MEMBERS(MEMBER_NUMBER("now", figures->now), MEMBER_JSON("wrong", found.wrong),
                     MEMBER_JSON("notes", found.notes), MEMBER_NUMBER("due", sum.due),
                     MEMBER_NUMBER("paused_due", sum.paused_due),
                     MEMBER_NUMBER_IF(sum.due_since != 0, "oldest_due_at", sum.due_since),
                     MEMBER_NUMBER("waiting", waiting_of(&sum)), MEMBER_NUMBER("running", sum.handling),
                     MEMBER_NUMBER("failed", sum.failed), rate("rate_in", figures, sum.enqueued),
                     rate("rate_out", figures, sum.finished + sum.gave_up),
                     MEMBER_NUMBER_IF(eta_ms(figures, &sum) >= 0, "eta_ms", eta_ms(figures, &sum)),
                     MEMBER_NUMBER("workers", living(figures)), MEMBER_NUMBER("late_schedules", late.count),
                     MEMBER_JSON("handlers", handlers_of(figures))));
    *text = answer_text(object);
    return TP_OK;
}
