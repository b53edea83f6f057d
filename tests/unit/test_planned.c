/* Planned times that a calendar skips or moves: examples by hand, and all of two years against a plain way of
 * finding them; what a calendar that changes does to what was dealt with. */
#include "base/zone.h"
#include "core/date.h"
#include "core/planned.h"
#include "unit/utc.h"

/* Closed: weekends; New Year; Good Friday and Easter Monday of 2027, 26 and 29 March. */
static struct tpi_special_day closed_days[8];
static struct tpi_calendar calendar;
static struct tpi_cron_rule rule;

static void span_of(void *zone, int64_t instant, struct tpi_span *span) {
    tpi_zone_span(zone, instant, &span->start, &span->end, &span->offset, &span->before);
}

static int64_t day_of(const char *text) {
    return at(text) / 1000 / TPI_DAY_S;
}

static struct tpi_planner planner_of(const char *text, tp_closed closed) {
    char error[TPI_RULE_ERROR] = "";
    static const char *const dates[] = {"2026-01-01", "2027-01-01", "2027-03-26", "2027-03-29"};
    for (size_t i = 0; i < COUNT(dates); i++)
        closed_days[i] = (struct tpi_special_day){day_of(dates[i]), TP_DAY_CLOSED, 0};
    calendar = (struct tpi_calendar){0x3e,        960,         day_of("2026-01-01"), day_of("2027-12-31"),
                                     closed_days, COUNT(dates)};
    if (!tpi_rule_parse(text, &rule, error)) fail_msg("%s: %s", text, error);
    return (struct tpi_planner){&rule, NULL, NULL, &calendar, closed};
}

/* Beginning with the planned time after the first of the list, and going on by what was dealt with. */
static void check_series(const struct tpi_planner *planner, const char *const *times) {
    struct tpi_planned next = {0};
    int64_t dealt = 0, fired = INT64_MIN;
    assert_int_equal(tpi_planned_after(planner, at(times[0]), &dealt, &next), TP_OK);
    for (size_t i = 1; times[i];) {
        assert_int_equal(tpi_planned_next(planner, dealt, fired, &next), TP_OK);
        assert_false(next.unknown);
        dealt = next.rule_ms;
        if (next.fire_ms == fired) continue;
        fired = next.fire_ms;
        if (fired != at(times[i])) fail_msg("%s, not %s", text_of(fired), times[i]);
        i++;
    }
}
#define series(planner, ...) check_series(&(planner), SERIES(__VA_ARGS__))

TEST(test_skip__leaves_closed_days_out) {
    struct tpi_planner planner = planner_of("0 18 * * *", TP_CLOSED_SKIP);
    series(planner, "2027-03-24", "2027-03-24 18:00", "2027-03-25 18:00", "2027-03-30 18:00",
           "2027-03-31 18:00");
}

TEST(test_before__moves_to_the_business_day_before) {
    struct tpi_planner planner = planner_of("0 18 15,28 * *", TP_CLOSED_BEFORE);
    series(planner, "2027-02-01", "2027-02-15 18:00", "2027-02-26 18:00", "2027-03-15 18:00",
           "2027-03-25 18:00", "2027-04-15 18:00");
}

TEST(test_after__moves_to_the_business_day_after) {
    struct tpi_planner planner = planner_of("0 9 15,26 * *", TP_CLOSED_AFTER);
    series(planner, "2027-03-10", "2027-03-15 09:00", "2027-03-30 09:00", "2027-04-15 09:00",
           "2027-04-26 09:00", "2027-05-17 09:00");
}

TEST(test_moved__times_that_meet_at_one_instant_are_one) {
    struct tpi_planner after = planner_of("0 9,18 * * *", TP_CLOSED_AFTER);
    series(after, "2027-03-25 12:00", "2027-03-25 18:00", "2027-03-30 09:00", "2027-03-30 18:00",
           "2027-03-31 09:00");
    struct tpi_planner before = planner_of("0 9,18 * * *", TP_CLOSED_BEFORE);
    series(before, "2027-03-25 12:00", "2027-03-25 18:00", "2027-03-30 09:00", "2027-03-30 18:00");
}

TEST(test_periods__skip_and_keep_their_step) {
    struct tpi_planner planner = planner_of("every 7h", TP_CLOSED_SKIP);
    series(planner, "2027-03-25 08:00", "2027-03-25 15:00", "2027-03-25 22:00", "2027-03-30 00:00",
           "2027-03-30 07:00");
}

TEST(test_unknown__nothing_is_worked_out_behind_the_calendars_end) {
    struct tpi_planner planner = planner_of("0 18 * * *", TP_CLOSED_AFTER);
    struct tpi_planned next = {0}, passed[10];
    int64_t dealt = 0;
    series(planner, "2027-12-30", "2027-12-30 18:00", "2027-12-31 18:00");
    assert_int_equal(tpi_planned_next(&planner, at("2027-12-31 18:00"), INT64_MIN, &next), TP_OK);
    assert_true(next.unknown);
    assert_int_equal(next.fire_ms, at("2028-01-01 18:00"));
    assert_int_equal(tpi_planned_after(&planner, at("2028-02-01"), &dealt, &next), TP_OK);
    assert_true(next.unknown);
    assert_int_equal(tpi_planned_passed(&planner, at("2027-12-30"), at("2028-02-01"), 10, passed), 2);
    /* A closed day whose business day it does not know. */
    calendar.last = day_of("2027-12-25");
    assert_int_equal(tpi_planned_next(&planner, at("2027-12-24 18:00"), INT64_MIN, &next), TP_OK);
    assert_true(next.unknown);
    assert_int_equal(next.fire_ms, at("2027-12-25 18:00"));
}

TEST(test_zone__days_and_times_are_those_of_the_rules_zone) {
    struct tpi_planner planner = planner_of("30 2 * * 0", TP_CLOSED_AFTER);
    struct tpi_zone *zone = NULL;
    assert_int_equal(tpi_zone_open("Europe/Berlin", &zone), TP_OK);
    planner.zone = zone;
    planner.span = span_of;
    /* On 28 March clocks leave out 02:30; on the Tuesday that it moves to they do not. */
    series(planner, "2027-03-21 12:00", "2027-03-22 01:30", "2027-03-30 00:30", "2027-04-05 00:30");
    /* 23:30 in UTC is the day after in Berlin, where it is the Saturday that is closed. */
    struct tpi_planner late = planner_of("30 0 * * *", TP_CLOSED_SKIP);
    late.zone = zone;
    late.span = span_of;
    series(late, "2027-04-15 12:00", "2027-04-15 22:30", "2027-04-18 22:30");
    tpi_zone_close(zone);
}

TEST(test_instant_of__gaps_and_overlaps) {
    struct tpi_zone *zone = NULL;
    assert_int_equal(tpi_zone_open("Europe/Berlin", &zone), TP_OK);
    assert_int_equal(tpi_instant_of(span_of, zone, at("2027-03-28 02:30") / 1000),
                     at("2027-03-28 01:00") / 1000);
    assert_int_equal(tpi_instant_of(span_of, zone, at("2027-10-31 02:30") / 1000),
                     at("2027-10-31 00:30") / 1000);
    assert_int_equal(tpi_instant_of(span_of, zone, at("2027-10-31 03:00") / 1000),
                     at("2027-10-31 02:00") / 1000);
    assert_int_equal(tpi_instant_of(NULL, NULL, 77), 77);
    tpi_zone_close(zone);
    assert_int_equal(tpi_zone_open("Pacific/Apia", &zone), TP_OK); /* without 30 December 2011 */
    assert_int_equal(tpi_instant_of(span_of, zone, at("2011-12-30 12:00") / 1000),
                     at("2011-12-30 10:00") / 1000);
    tpi_zone_close(zone);
}

/* ---- All of two years ---------------------------------------------------------------------------------- */

static bool plain_open(int64_t day) {
    for (size_t i = 0; i < calendar.count; i++)
        if (closed_days[i].date == day) return closed_days[i].kind != TP_DAY_CLOSED;
    return calendar.weekdays >> (day + 4) % 7 & 1;
}

enum { MINUTES = 2 * 365 * 1440 };
static char fires[MINUTES];

/* Marks the minutes at which something fires: each time of the rule, moved day by day. */
static void mark_all(const struct tpi_planner *planner) {
    int64_t begin = at("2026-01-01") / 60000, next = at("2025-12-31 23:59");
    memset(fires, 0, sizeof fires);
    while (tpi_rule_next(planner->rule, NULL, NULL, next, &next) == TP_OK && next / 60000 - begin < MINUTES) {
        int64_t minute = next / 60000;
        int step = planner->closed == TP_CLOSED_BEFORE ? -1440 : 1440;
        if (planner->closed == TP_CLOSED_SKIP && !plain_open(minute / 1440)) continue;
        while (minute - begin >= 0 && minute - begin < MINUTES && !plain_open(minute / 1440))
            minute += step;
        if (minute - begin >= 0 && minute - begin < MINUTES) fires[minute - begin] = 1;
    }
}

/* From any instant the next is the next mark; and those that passed since any time are the marks between. */
static void compare_all(const char *text, const struct tpi_planner *planner) {
    static struct tpi_planned passed[1000];
    int64_t begin = at("2026-01-01");
    for (int from = 20 * 1440; from < MINUTES - 40 * 1440; from += 997) {
        int64_t after = begin + (int64_t)from * 60000, dealt = 0, until = after + 9 * INT64_C(86400000);
        struct tpi_planned next = {0};
        int mark = from + 1;
        size_t marks = 0;
        while (mark < MINUTES && !fires[mark])
            mark++;
        tp_status status = tpi_planned_after(planner, after, &dealt, &next);
        if (mark == MINUTES) break;
        if (status != TP_OK || next.unknown || next.fire_ms != begin + (int64_t)mark * 60000)
            fail_msg("%s, policy %d: %s is not the next", text, (int)planner->closed, text_of(next.fire_ms));
        size_t count = tpi_planned_passed(planner, dealt, until, COUNT(passed), passed);
        for (mark = from + 1; mark <= from + 9 * 1440; mark++) {
            if (!fires[mark]) continue;
            if (marks >= count || passed[marks].fire_ms != begin + (int64_t)mark * 60000)
                fail_msg("%s, policy %d: passed %zu of %zu", text, (int)planner->closed, marks, count);
            marks++;
        }
        assert_int_equal(count, marks);
        /* The latest of them alone. */
        struct tpi_planned last[2];
        size_t two = tpi_planned_passed(planner, dealt, until, 2, last);
        assert_int_equal(two, count < 2 ? count : 2);
        if (two) assert_int_equal(last[two - 1].fire_ms, passed[count - 1].fire_ms);
    }
}

TEST(test_all__of_two_years_are_as_counted_day_by_day) {
    static const char *const rules[] = {"0 18 * * *",  "0 9,18 * * *",    "30 */8 * * 6", "15 7 15 * *",
                                        "0 0 * * 0,1", "59 23 28-31 * *", "0 12 1 1 *",   "0/37 11 * * ?"};
    for (size_t i = 0; i + 1 < COUNT(rules); i++)
        for (int closed = TP_CLOSED_SKIP; closed <= TP_CLOSED_AFTER; closed++) {
            struct tpi_planner planner = planner_of(rules[i], (tp_closed)closed);
            mark_all(&planner);
            compare_all(rules[i], &planner);
        }
}

/* ---- A calendar that changes --------------------------------------------------------------------------- */

TEST(test_changed__what_was_dealt_with_never_fires_again_and_the_rest_once) {
    struct tpi_planner planner = planner_of("0 18 * * 5", TP_CLOSED_AFTER);
    struct tpi_planned next = {0}, passed[10];
    int64_t friday = at("2027-04-09 18:00");
    /* It fired on Friday; that Friday is closed afterwards: it does not fire on Monday too. */
    closed_days[4] = (struct tpi_special_day){day_of("2027-04-09"), TP_DAY_CLOSED, 0};
    calendar.count = 5;
    assert_int_equal(tpi_planned_next(&planner, friday, INT64_MIN, &next), TP_OK);
    assert_int_equal(next.fire_ms, at("2027-04-16 18:00"));
    /* It had not: it does. */
    assert_int_equal(tpi_planned_next(&planner, at("2027-04-02 18:00"), INT64_MIN, &next), TP_OK);
    assert_int_equal(next.fire_ms, at("2027-04-12 18:00"));
    assert_int_equal(next.rule_ms, friday);
    /* Meanwhile, on Saturday, it is open after all: it is late, and fires now. */
    calendar.count = 4;
    assert_int_equal(tpi_planned_passed(&planner, at("2027-04-02 18:00"), at("2027-04-10 12:00"), 10, passed),
                     1);
    assert_int_equal(passed[0].fire_ms, friday);
    /* Good Friday's fired on the Thursday before; it is open after all: not again. */
    struct tpi_planner before = planner_of("0 18 * * 5", TP_CLOSED_BEFORE);
    assert_int_equal(tpi_planned_passed(&before, at("2027-03-19 18:00"), at("2027-03-25 18:00"), 10, passed),
                     1);
    calendar.days = closed_days + 3;
    calendar.count = 1;
    assert_int_equal(tpi_planned_next(&before, passed[0].rule_ms, passed[0].fire_ms, &next), TP_OK);
    assert_int_equal(next.fire_ms, at("2027-04-02 18:00"));
}
