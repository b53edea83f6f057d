/* What workers did over time, in points of equal length for a chart. See looks.h. */
#include "looks.h"

#include <json-c/json.h>
#include <string.h>

#include "common/figures.h"
#include "common/messages.h"

enum { POINTS_MAX = 240, MINUTE_MS = 60000, HOUR_MS = 60 * MINUTE_MS };

struct point {
    int64_t done, failed, gave_up, skipped, lost;
    tp_histogram wait, run;
};

struct points {
    int64_t since, step_ms;
    size_t count;
    struct point of[POINTS_MAX];
};

static void add(const tp_activity *activity, void *arg) {
    struct points *points = arg;
    int64_t number = (activity->since - points->since) / points->step_ms;
    struct point *point;

    if (activity->since < points->since || number >= (int64_t)points->count) return;
    point = &points->of[number];
    point->done += activity->done;
    point->failed += activity->failed;
    point->gave_up += activity->gave_up;
    point->skipped += activity->skipped;
    point->lost += activity->lost;
    figures_add_times(&point->wait, &activity->wait);
    figures_add_times(&point->run, &activity->run);
}

static struct member quantile(const char *key, const tp_histogram *times, double part) {
    int64_t ms = figures_quantile(times, part);

    return (struct member)MEMBER_NUMBER_IF(ms >= 0, key, ms);
}

static json_object *list_of(const struct points *points, const int64_t *enqueued) {
    json_object *list = cli_must(json_object_new_array());

    for (size_t i = 0; i < points->count; i++) {
        const struct point *point = &points->of[i];
        json_object *object = json_new();

        json_add(object,
                 MEMBERS(MEMBER_NUMBER("at", points->since + (int64_t)i * points->step_ms),
                         MEMBER_NUMBER_IF(enqueued[i] >= 0, "enqueued", enqueued[i]),
                         MEMBER_NUMBER("done", point->done), MEMBER_NUMBER("failed", point->failed),
                         MEMBER_NUMBER("gave_up", point->gave_up), MEMBER_NUMBER("skipped", point->skipped),
                         MEMBER_NUMBER("lost", point->lost), quantile("wait_p50_ms", &point->wait, 0.5),
                         quantile("wait_p95_ms", &point->wait, 0.95),
                         quantile("run_p50_ms", &point->run, 0.5),
                         quantile("run_p95_ms", &point->run, 0.95)));
        json_object_array_add(list, object);
    }
    return list;
}

/* Of one handler nobody knows it. */
static void read_enqueued(const struct points *points, const struct request *request,
                          int64_t enqueued[POINTS_MAX]) {
    int64_t ends[POINTS_MAX + 1];

    for (size_t i = 0; i <= points->count; i++)
        ends[i] = points->since + (int64_t)i * points->step_ms;
    for (size_t i = 0; i < points->count; i++)
        enqueued[i] = -1;
    if (!request_text(request, "handler")) reader_enqueued(request->reader, ends, points->count, enqueued);
}

/* What workers did is kept by the minute, by ten minutes and by the hour, as it gets older. */
static int64_t unit_of(int64_t age_ms) {
    if (age_ms > 49 * (int64_t)HOUR_MS) return HOUR_MS;
    return age_ms > 6 * HOUR_MS + 10 * MINUTE_MS ? 10 * MINUTE_MS : MINUTE_MS;
}

/* Whole units, all of them within a number of points; points begin at multiples of their length, so that
 * they are the same whenever they are asked for. */
static void divide(int64_t since, int64_t until, int64_t unit, struct points *points) {
    int64_t units = (until - since + unit - 1) / unit;
    int64_t step = (units + POINTS_MAX - 2) / (POINTS_MAX - 1);

    points->step_ms = (step > 0 ? step : 1) * unit;
    points->since = since - since % points->step_ms;
    points->count = (size_t)((until - points->since + points->step_ms - 1) / points->step_ms);
    if (points->count > POINTS_MAX) points->count = POINTS_MAX;
}

void look_activity(tp_conn *conn, const struct request *request, struct answer *answer) {
    tp_activity_request activity = TP_ACTIVITY_INIT;
    struct points points = {0};
    int64_t now = 0, since, until, enqueued[POINTS_MAX];
    tp_status status = tp_now(conn, &now);

    since = now - HOUR_MS;
    until = now;
    if (!request_time(request, "since", &since, answer) || !request_time(request, "until", &until, answer))
        return;
    if (status == TP_OK && since >= until) {
        answer_error(answer, ANSWER_BAD, "since must be earlier than until");
        return;
    }
    if (status == TP_OK) {
        divide(since, until, unit_of(now - since), &points);
        activity.since = points.since;
        activity.until = until;
        activity.bucket_ms = points.step_ms;
        activity.handler = request_text(request, "handler");
        activity.together = 1;
        status = tp_activity_each(conn, &activity, add, &points);
    }
    if (status < 0) {
        answer_tp(answer, status);
        return;
    }
    read_enqueued(&points, request, enqueued);
    answer_members(answer, MEMBERS(MEMBER_NUMBER("step_ms", points.step_ms),
                                   MEMBER_JSON("points", list_of(&points, enqueued))));
}
