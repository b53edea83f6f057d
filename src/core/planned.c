/* See planned.h. */
#include "core/planned.h"

#include <string.h>

#include "core/date.h"

enum { FAR_S = 3 * TPI_DAY_S, WINDOW_MS = 60000 };
/* More closed days in a row are taken for the end of what the calendar knows. */
enum { CLOSED_MOST = 400 };

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* ---- Clocks -------------------------------------------------------------------------------------------- */

static struct tpi_span span_at(tpi_span_fn span_of, void *zone, int64_t at) {
    struct tpi_span span = {INT64_MIN, INT64_MAX, 0, 0};
    if (span_of) span_of(zone, at, &span);
    return span;
}

int64_t tpi_instant_of(tpi_span_fn span_of, void *zone, int64_t civil) {
    struct tpi_span span = span_at(span_of, zone, civil - FAR_S);
    while (civil - span.offset >= span.end)
        span = span_at(span_of, zone, span.end);
    return later(civil - span.offset, span.start);
}

int64_t tpi_day_of(tpi_span_fn span_of, void *zone, int64_t at) {
    return tpi_floor_div(at + span_at(span_of, zone, at).offset, TPI_DAY_S);
}

static int64_t seconds_of(int64_t ms) {
    return tpi_floor_div(ms, 1000);
}

/* What clocks show when a time of the rule fires; of one in a gap what the rule says, not the gap's end. */
static int64_t civil_of(const struct tpi_planner *planner, int64_t at) {
    struct tpi_span span = span_at(planner->span, planner->zone, at);
    int64_t civil = 0;
    bool gap = span.start == at && span.offset > span.before && planner->rule->kind == TPI_RULE_CRON;
    if (gap && !planner->rule->all_hours && tpi_cron_next(planner->rule, at + span.before - 1, &civil) &&
        civil < at + span.offset)
        return civil;
    return at + span.offset;
}

/* ---- Moving -------------------------------------------------------------------------------------------- */

static bool is_open(const struct tpi_planner *planner, int64_t day) {
    return tpi_calendar_day(planner->calendar, day).kind != TP_DAY_CLOSED;
}

/* The next business day in a direction. False: the calendar does not know it. */
static bool step_to_open(const struct tpi_planner *planner, int step, int64_t *day) {
    for (int i = 0; i < CLOSED_MOST; i++) {
        *day += step;
        if (!tpi_calendar_knows(planner->calendar, *day)) return false;
        if (is_open(planner, *day)) return true;
    }
    return false;
}

/* When a time of the rule fires that lies on a closed day. */
static struct tpi_planned move(const struct tpi_planner *planner, int64_t rule_ms, int64_t day) {
    struct tpi_planned planned = {rule_ms, rule_ms, false};
    int64_t target = day;
    if (!step_to_open(planner, planner->closed == TP_CLOSED_BEFORE ? -1 : 1, &target)) {
        planned.unknown = true;
        return planned;
    }
    int64_t civil = civil_of(planner, seconds_of(rule_ms)) + (target - day) * TPI_DAY_S;
    planned.fire_ms = tpi_instant_of(planner->span, planner->zone, civil) * 1000;
    return planned;
}

/* From one time of the rule to behind the last one before a day. Periods are counted from the first. */
static int64_t skip_to(const struct tpi_planner *planner, int64_t rule_ms, int64_t day) {
    int64_t before = tpi_instant_of(planner->span, planner->zone, day * TPI_DAY_S) * 1000 - 1;
    int64_t period = planner->rule->period_ms;
    if (planner->rule->kind == TPI_RULE_CRON) return before;
    return rule_ms + (before - rule_ms) / period * period;
}

tp_status tpi_planned_next(const struct tpi_planner *planner, int64_t rule_ms, int64_t fired_ms,
                           struct tpi_planned *planned) {
    for (;;) {
        int64_t at = 0;
        tp_status status = tpi_rule_next(planner->rule, planner->span, planner->zone, rule_ms, &at);
        if (status != TP_OK) return status;
        int64_t day = tpi_day_of(planner->span, planner->zone, seconds_of(at)), open = day;
        *planned = (struct tpi_planned){at, at, !tpi_calendar_knows(planner->calendar, day)};
        if (!planned->unknown && !is_open(planner, day)) {
            if (planner->closed == TP_CLOSED_SKIP && step_to_open(planner, 1, &open)) {
                rule_ms = skip_to(planner, rule_ms, open);
                continue;
            }
            *planned = move(planner, at, day);
        }
        if (!planned->unknown) planned->fire_ms = later(planned->fire_ms, fired_ms);
        return TP_OK;
    }
}

/* ---- From an instant on -------------------------------------------------------------------------------- */

/* Times of the rule from the closed days before on may fire after the instant. */
static int64_t begin_of(const struct tpi_planner *planner, int64_t after_ms) {
    int64_t day = tpi_day_of(planner->span, planner->zone, seconds_of(after_ms)), first = day;
    if (planner->closed != TP_CLOSED_AFTER || planner->rule->kind != TPI_RULE_CRON) return after_ms;
    while (day - first < CLOSED_MOST && tpi_calendar_knows(planner->calendar, first - 1) &&
           !is_open(planner, first - 1))
        first--;
    if (first == day && is_open(planner, day)) return after_ms;
    return tpi_instant_of(planner->span, planner->zone, first * TPI_DAY_S) * 1000 - 1;
}

tp_status tpi_planned_after(const struct tpi_planner *planner, int64_t after_ms, int64_t *dealt_ms,
                            struct tpi_planned *planned) {
    int64_t dealt = begin_of(planner, after_ms);
    tp_status status = TP_OK;
    while ((status = tpi_planned_next(planner, dealt, INT64_MIN, planned)) == TP_OK && !planned->unknown &&
           planned->fire_ms <= after_ms)
        dealt = planned->rule_ms;
    if (status == TP_OK) *dealt_ms = dealt;
    return status;
}

/* ---- Up to now ----------------------------------------------------------------------------------------- */

/* Those that fire at one instant are one. The latest, in a ring. */
static size_t count_passed(const struct tpi_planner *planner, int64_t rule_ms, int64_t now_ms, size_t max,
                           struct tpi_planned *ring) {
    struct tpi_planned next = {rule_ms, INT64_MIN, false};
    size_t count = 0;
    int64_t fired = INT64_MIN;
    while (tpi_planned_next(planner, next.rule_ms, fired, &next) == TP_OK && !next.unknown &&
           next.fire_ms <= now_ms) {
        if (!count || next.fire_ms != fired) count++;
        fired = next.fire_ms;
        ring[(count - 1) % max] = next;
    }
    return count;
}

/* Rotates the ring of the latest max of count so that the earliest comes first. */
static size_t unroll(struct tpi_planned *ring, size_t count, size_t max) {
    if (count <= max) return count;
    for (size_t steps = count % max; steps; steps--) {
        struct tpi_planned first = ring[0];
        memmove(ring, ring + 1, (max - 1) * sizeof *ring);
        ring[max - 1] = first;
    }
    return max;
}

size_t tpi_planned_passed(const struct tpi_planner *planner, int64_t rule_ms, int64_t now_ms, size_t max,
                          struct tpi_planned *passed) {
    int64_t period = planner->rule->kind == TPI_RULE_CRON ? 1 : planner->rule->period_ms;
    for (int64_t window = WINDOW_MS; now_ms - window > rule_ms; window *= 2) {
        int64_t from = rule_ms + (now_ms - window - rule_ms) / period * period;
        size_t count = count_passed(planner, from, now_ms, max, passed);
        if (count >= max) return unroll(passed, count, max);
    }
    return unroll(passed, count_passed(planner, rule_ms, now_ms, max, passed), max);
}
