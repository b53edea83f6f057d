/* Calendars: kept whole, asked for days and cut-offs, and what schedules and new tasks make of them. */
#include "suite.h"

#include <time.h>

THEME(calendar, ONCE);

static const int64_t DAY = INT64_C(86400000);
enum { HOUR = 3600000, DATE = 16 };

#define day_with(when, ...) ((tp_calendar_day){.size = sizeof(tp_calendar_day), .date = (when), __VA_ARGS__})
/* This test's calendar. */
#define calendar_with(...) ((tp_calendar){.size = sizeof(tp_calendar), .name = pool.handler, __VA_ARGS__})
#define set_with(...)      must(tp_calendar_set(pool.a, &calendar_with(__VA_ARGS__), "tester@desk"))

static void remove_calendars(void *unused) {
    (void)unused;
    sql_run(pool.eye, "DELETE FROM tp_calendar_day");
    sql_run(pool.eye, "DELETE FROM tp_calendar");
}

static const tp_calendar_day year_2027[] = {
    {sizeof(tp_calendar_day), "2027-12-24", "12:00", "Christmas Eve", TP_DAY_HALF, 0},
    {sizeof(tp_calendar_day), "2027-03-26", NULL, "Good Friday", TP_DAY_CLOSED, 0},
    {sizeof(tp_calendar_day), "2027-03-29", "", NULL, TP_DAY_CLOSED, 0},
    {sizeof(tp_calendar_day), "2027-07-10", NULL, "a Saturday that is open", TP_DAY_OPEN, 0},
};

static void set_2027(void) {
    at_end(remove_calendars, NULL);
    set_with(.time_zone = "Europe/Berlin", .cut_off = "16:30", .days = year_2027,
             .day_count = LENGTH(year_2027));
}

/* ---- Kept ---------------------------------------------------------------------------------------------- */

struct shown {
    int count;
    char text[600];
};

static void see(const tp_calendar *calendar, void *arg) {
    struct shown *shown = arg;
    shown->count++;
    snprintf(shown->text, sizeof shown->text, "%s|%s|%s|%s-%s|%s", calendar->time_zone, calendar->weekdays,
             calendar->cut_off, calendar->first_date, calendar->last_date, calendar->changed_by);
    for (size_t i = 0; i < calendar->day_count; i++) {
        const tp_calendar_day *day = &calendar->days[i];
        size_t length = strlen(shown->text);
        snprintf(shown->text + length, sizeof shown->text - length, "|%s %d %s %s", day->date, (int)day->kind,
                 day->cut_off, day->name);
    }
    if (calendar->changed_at <= 0) snprintf(shown->text, sizeof shown->text, "no time");
}

static struct shown shown(const char *name) {
    struct shown shown = {0};
    tp_status status = tp_calendar_each(pool.b, name, see, &shown);
    expect(shown.count ? TP_OK : TP_NONE, status);
    return shown;
}

TEST(test_calendar__comes_back_as_it_was_set_and_is_replaced_whole) {
    set_2027();
    assert_string_equal(
        shown(pool.handler).text,
        "Europe/Berlin|MON-FRI|16:30|2027-01-01-2027-12-31|tester@desk|2027-03-26 0  Good Friday"
        "|2027-03-29 0  |2027-07-10 2  a Saturday that is open|2027-12-24 1 12:00 Christmas Eve");
    /* The same, in another order, changes nothing. */
    expect(TP_EXISTS, tp_calendar_set(pool.b,
                                      &calendar_with(.time_zone = "Europe/Berlin", .cut_off = "16:30",
                                                     .days = year_2027, .day_count = LENGTH(year_2027)),
                                      "another"));
    set_with(.weekdays = "SUN-THU", .days = year_2027 + 1, .day_count = 1, .last_date = "2030-01-01");
    assert_string_equal(shown(NULL).text,
                        "|SUN-THU|24:00|2027-01-01-2030-01-01|tester@desk|2027-03-26 0  Good Friday");
    set_with(.weekdays = "NONE");
    assert_string_equal(shown(pool.handler).text, "|NONE|24:00|1970-01-01-9999-12-31|tester@desk");
    expect_number(count_of("tp_calendar_day"), 0);
    must(tp_calendar_remove(pool.b, pool.handler));
    expect(TP_NONE, tp_calendar_remove(pool.b, pool.handler));
    expect_number(shown(NULL).count, 0);
    expect_number(count_of("tp_audit WHERE subject = '%s' AND action = 'calendar-set'", pool.handler), 3);
    expect_number(count_of("tp_audit WHERE subject = '%s' AND action = 'calendar-removed'", pool.handler), 1);
}

TEST(test_calendar__of_a_thousand_days_is_kept) {
    enum { DAYS = 1000 };
    char(*dates)[DATE] = memory(DAYS, DATE);
    tp_calendar_day *days = memory(DAYS, sizeof *days);
    at_end(remove_calendars, NULL);
    for (int i = 0; i < DAYS; i++) {
        snprintf(dates[i], DATE, "%d-%02d-%02d", 2000 + i, 1 + i % 12, 1 + i % 28);
        days[i] = day_with(dates[i], .name = "\xc3\xa4");
    }
    tp_calendar calendar = calendar_with(.days = days, .day_count = DAYS);
    must(tp_calendar_set(pool.a, &calendar, NULL));
    expect_number(count_of("tp_calendar_day WHERE kind = 'closed'"), DAYS);
    expect(TP_NONE, tp_business_day(pool.b, pool.handler, dates[DAYS - 1], 0, NULL));
    days[7].date = dates[5];
    expect(TP_MISUSE, tp_calendar_set(pool.a, &calendar, NULL));
    expect_text("is there twice");
}

TEST(test_calendar__is_set_in_the_callers_transaction) {
    at_end(remove_calendars, NULL);
    must(tp_begin(pool.a));
    set_with(.days = year_2027, .day_count = 2);
    must(tp_rollback(pool.a));
    expect_number(count_of("tp_calendar"), 0);
    expect_number(count_of("tp_calendar_day"), 0);
}

TEST(test_calendar__what_is_none_is_refused) {
    static const struct {
        tp_calendar_day day;
        const char *words;
    } days[] = {
        {{sizeof(tp_calendar_day), "2027-02-29", NULL, NULL, TP_DAY_CLOSED, 0}, "'2027-02-29' is no date"},
        {{sizeof(tp_calendar_day), NULL, NULL, NULL, TP_DAY_CLOSED, 0}, "'' is no date"},
        {{sizeof(tp_calendar_day), "2027-02-28", "12:00", NULL, TP_DAY_CLOSED, 0},
         "a closed day has no cut-off"},
        {{sizeof(tp_calendar_day), "2027-02-28", NULL, NULL, TP_DAY_HALF, 0}, "a half day needs a cut-off"},
        {{sizeof(tp_calendar_day), "2027-02-28", "24:30", NULL, TP_DAY_OPEN, 0}, "the cut-off '24:30'"},
        {{sizeof(tp_calendar_day), "2027-02-28", NULL, NULL, (tp_day_kind)3, 0}, "kind is none of"},
        {{sizeof(tp_calendar_day), "2027-02-28", NULL, NULL, TP_DAY_OPEN, 1}, "kind is none of"},
    };
    tp_calendar good = calendar_with(.first_date = "2027-01-01", .last_date = "2027-12-31");
    for (size_t i = 0; i < LENGTH(days); i++) {
        tp_calendar bad = good;
        bad.days = &days[i].day;
        bad.day_count = 1;
        expect(TP_MISUSE, tp_calendar_set(pool.a, &bad, NULL));
        expect_text(days[i].words);
    }
    with(good, name, "two words", expect(TP_MISUSE, tp_calendar_set(pool.a, &given, NULL)));
    with(good, name, NULL, expect(TP_MISUSE, tp_calendar_set(pool.a, &given, NULL)));
    with(good, time_zone, "Mars/Olympus", expect(TP_MISUSE, tp_calendar_set(pool.a, &given, NULL)));
    with(good, weekdays, "MON-", expect(TP_MISUSE, tp_calendar_set(pool.a, &given, NULL)));
    with(good, cut_off, "16", expect(TP_MISUSE, tp_calendar_set(pool.a, &given, NULL)));
    with(good, first_date, "2028-01-01", expect(TP_MISUSE, tp_calendar_set(pool.a, &given, NULL)));
    with(good, last_date, "soon", expect(TP_MISUSE, tp_calendar_set(pool.a, &given, NULL)));
    with(good, day_count, 1, expect(TP_MISUSE, tp_calendar_set(pool.a, &given, NULL)));
    good.days = year_2027;
    with(good, day_count, TP_CALENDAR_DAYS_MAX + 1, expect(TP_TOOBIG, tp_calendar_set(pool.a, &given, NULL)));
    good.day_count = 2;
    with(good, last_date, "2027-12-01", expect(TP_MISUSE, tp_calendar_set(pool.a, &given, NULL)));
    expect(TP_MISUSE, tp_calendar_set(pool.a, NULL, NULL));
    expect(TP_MISUSE, tp_calendar_each(pool.a, NULL, NULL, NULL));
    expect_number(count_of("tp_calendar"), 0);
}

/* ---- Days and cut-offs --------------------------------------------------------------------------------- */

static void expect_day(const char *date, int n, tp_status status, const char *found, int64_t cut_off_at) {
    tp_business_day_info day = TP_BUSINESS_DAY_INIT;
    expect(status, tp_business_day(pool.a, pool.handler, date, n, &day));
    assert_string_equal(day.date, found);
    expect_number(day.cut_off_at, cut_off_at);
}

TEST(test_business_day__next_previous_nth_and_their_cut_offs) {
    set_2027();
    expect_day("2027-03-25", 0, TP_OK, "2027-03-25", INT64_C(1805988600000)); /* 15:30 UTC */
    expect_day("2027-03-26", 0, TP_NONE, "2027-03-26", 0);
    expect_day("2027-03-25", 1, TP_OK, "2027-03-30", INT64_C(1806417000000)); /* 14:30 UTC */
    expect_day("2027-03-29", -1, TP_OK, "2027-03-25", INT64_C(1805988600000));
    expect_day("2027-07-09", 1, TP_OK, "2027-07-10", INT64_C(1815229800000));
    expect_day("2027-12-23", 1, TP_OK, "2027-12-24", INT64_C(1829646000000)); /* 11:00 UTC */
    expect_day("2027-01-01", 20, TP_OK, "2027-01-29", INT64_C(1801236600000));
    tp_business_day_info day = TP_BUSINESS_DAY_INIT;
    must(tp_business_day(pool.a, pool.handler, "2027-07-12", 0, &day));
    expect_number(day.begins_at, INT64_C(1815343200000));
    expect_number(day.kind, TP_DAY_OPEN);
    expect(TP_MISUSE, tp_business_day(pool.a, pool.handler, "2027-12-31", 1, &day));
    expect_text("2027-01-01 to 2027-12-31");
    expect(TP_MISUSE, tp_business_day(pool.a, pool.handler, "2026-12-31", 0, &day));
    expect(TP_MISUSE, tp_business_day(pool.a, pool.handler, "2027-13-31", 0, &day));
    expect(TP_MISUSE, tp_business_day(pool.a, "none", "2027-12-31", 0, &day));
    expect_text("there is no calendar none");
    assert_string_equal(day.date, "2027-07-12");
    sql_run(pool.eye, "UPDATE tp_calendar_day SET kind = 'gone' WHERE business_date = '2027-03-26'");
    expect(TP_MISUSE, tp_business_day(pool.a, pool.handler, "2027-12-31", 0, &day));
    expect_text("the day '2027-03-26' of calendar");
}

static int64_t cut_off_after(int64_t after) {
    int64_t at = -1;
    must(tp_next_cut_off(pool.a, pool.handler, after, &at));
    return at;
}

TEST(test_cut_off__is_the_next_of_an_open_day) {
    int64_t thursday = INT64_C(1805988600000), tuesday = INT64_C(1806417000000), untouched = 7;
    set_2027();
    expect_number(cut_off_after(thursday - 1), thursday);
    expect_number(cut_off_after(thursday), tuesday);
    expect_number(cut_off_after(INT64_C(1829646000000) - 1), INT64_C(1829646000000));
    expect(TP_MISUSE, tp_next_cut_off(pool.a, pool.handler, INT64_C(1830300000000), &untouched));
    expect(TP_MISUSE, tp_next_cut_off(pool.a, pool.handler, -1, &untouched));
    expect(TP_MISUSE, tp_next_cut_off(pool.a, "none", 1, &untouched));
    expect_number(untouched, 7);
}

/* ---- Due at a cut-off ---------------------------------------------------------------------------------- */

static int64_t due_of(const char *id) {
    return sql_number(pool.eye, "SELECT due_at FROM tp_pending WHERE id = '%s'", id);
}

static tp_new_task at_cut_off(int64_t lead_ms) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = pool.handler;
    task.cut_off_calendar = pool.handler;
    task.cut_off_lead_ms = lead_ms;
    return task;
}

/* Midnight may come in between. */
static void expect_midnight(int64_t at, int64_t lead, int64_t before) {
    int64_t after = cut_off_after(0);
    if (at + lead != before && at + lead != after) fail_msg("%lld is no cut-off", (long long)at);
}

TEST(test_enqueue__is_due_at_the_next_cut_off) {
    at_end(remove_calendars, NULL);
    set_with(.weekdays = "SUN-SAT");
    int64_t before = cut_off_after(0);
    tp_new_task task = at_cut_off(0), sooner = at_cut_off(90000), many[3];
    must(tp_enqueue(pool.a, &task));
    expect_midnight(due_of(task.id), 0, before);
    expect_number(task.due_at, 0);
    /* Asked again, it is there, though the cut-off would be another by now. */
    sql_run(pool.eye, "UPDATE tp_pending SET due_at = due_at - 1000000");
    expect(TP_EXISTS, tp_enqueue(pool.b, &task));
    assert_string_equal(task.existing_id, task.id);
    /* And though the calendar has no answer by now. */
    set_with(.last_date = "2020-12-31");
    many[0] = task, many[1] = at_cut_off(0);
    expect(TP_EXISTS, tp_enqueue(pool.b, &task));
    expect(TP_MISUSE, tp_enqueue_many(pool.b, many, 2, NULL));
    expect_text("knows the days from");
    size_t inserted = 1;
    must(tp_enqueue_many(pool.b, many, 1, &inserted));
    expect_number(inserted, 0);
    set_with(.weekdays = "SUN-SAT");
    must(tp_enqueue(pool.a, &sooner));
    expect_midnight(due_of(sooner.id), 90000, before);
    /* What is left of the day is less than that: at once. */
    for (size_t i = 0; i < LENGTH(many); i++)
        many[i] = at_cut_off(2 * DAY);
    many[1] = task_with(.delay_ms = 5);
    must(tp_enqueue_many(pool.a, many, LENGTH(many), NULL));
    expect_number(many[0].due_at, 0);
    claim(pool.a, 2);
}

TEST(test_enqueue__at_a_cut_off_that_is_none_is_refused) {
    at_end(remove_calendars, NULL);
    set_with(.last_date = "2020-12-31");
    tp_new_task good = at_cut_off(0);
    expect(TP_MISUSE, tp_enqueue(pool.a, &good));
    expect_text("knows the days from");
    with(good, cut_off_calendar, "none", expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    with(good, due_at, 5, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    with(good, delay_ms, 5, expect(TP_MISUSE, tp_enqueue_many(pool.a, &given, 1, NULL)));
    with(good, cut_off_calendar, NULL, given.cut_off_lead_ms = 5;
         expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    must(tp_calendar_set(pool.a, &calendar_with(.weekdays = "SUN-SAT"), NULL));
    with(good, cut_off_lead_ms, -1, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    expect_number(count_of("tp_pending"), 0);
    /* What was done in the transaction around cannot be committed without it. */
    must(tp_begin(pool.a));
    with(good, cut_off_calendar, "none", expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    expect(TP_CONFLICT, tp_commit(pool.a));
}

/* ---- Schedules ----------------------------------------------------------------------------------------- */

static int64_t begin_of_today(void) {
    tp_business_day_info day = TP_BUSINESS_DAY_INIT;
    must(tp_calendar_set(pool.a, &calendar_with(.name = "utc", .weekdays = "SUN-SAT"), NULL) >= 0 ? TP_OK
                                                                                                  : TP_DB);
    must(tp_business_day(pool.a, "utc", NULL, 0, &day));
    return day.begins_at;
}

/* Days from today, in UTC; a test keeps its today. */
static int64_t today;

static const char *date_at(int days) {
    static char texts[8][DATE];
    static int next;
    char *text = texts[next++ % 8];
    time_t seconds = (time_t)((today + days * DAY) / 1000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    strftime(text, DATE, "%Y-%m-%d", &tm);
    return text;
}

/* The calendar is open but for these days from today on. */
static void close_days(size_t count, const int *days) {
    tp_calendar_day all[8];
    for (size_t i = 0; i < count; i++)
        all[i] = day_with(date_at(days[i]), .kind = TP_DAY_CLOSED);
    set_with(.weekdays = "SUN-SAT", .days = all, .day_count = count, .first_date = "2000-01-01",
             .last_date = "2999-12-31");
}
#define closed_on(...) close_days(LENGTH(((int[]){__VA_ARGS__})), (int[]){__VA_ARGS__})

static char rule_text[80];

/* At midnight on one weekday, that of a day from today on. */
static const char *weekly(int days) {
    int64_t weekday = ((today / DAY + days + 4) % 7 + 7) % 7;
    snprintf(rule_text, sizeof rule_text, "0 0 * * %d", (int)weekday);
    return rule_text;
}

static void begin(void) {
    at_end(remove_calendars, NULL);
    today = begin_of_today();
}

/* As if it had been added so many days ago, when the calendar said nothing. */
static void add_before(int days, tp_closed closed, const char *rule) {
    tp_schedule schedule = {.size = sizeof schedule,
                            .name = pool.handler,
                            .handler = pool.handler,
                            .rule = rule,
                            .calendar = pool.handler,
                            .closed = closed,
                            .missed = TP_MISSED_ALL};
    must(tp_schedule_add(pool.a, &schedule));
    sql_run(pool.eye,
            "UPDATE tp_schedule SET rule_at = %" PRId64 ", fire_at = %" PRId64 ", calendar_version = '%s'",
            today - days * DAY, today - days * DAY + 1, "00000000-0000-5000-8000-000000000000");
}

static size_t fire(tp_conn *conn) {
    size_t fired = 99;
    must(tp_schedule_fire(conn, &fired, NULL));
    return fired;
}

static void copy_next(const tp_schedule *schedule, void *arg) {
    if (strcmp(schedule->name, pool.handler) == 0) *(int64_t *)arg = schedule->next_at;
}

static void expect_next(int days) {
    int64_t next = -1;
    must(tp_schedule_each(pool.b, copy_next, &next));
    expect_number(next, days ? today + days * DAY : 0);
    expect_number(count_of("tp_schedule WHERE next_at IS NOT NULL"), 0);
}

static void expect_made(size_t count, const int *days) {
    expect_number(count_of("tp_pending WHERE handler = '%s'", pool.handler), count);
    for (size_t i = 0; i < count; i++)
        expect_number(count_of("tp_pending WHERE due_at = %" PRId64, today + days[i] * DAY), 1);
}
#define made_on(...) expect_made(LENGTH(((int[]){__VA_ARGS__})), (int[]){__VA_ARGS__})

TEST(test_schedule__goes_by_a_calendar_and_says_so) {
    begin();
    closed_on(3);
    tp_schedule schedule = {.size = sizeof schedule,
                            .name = pool.handler,
                            .handler = pool.handler,
                            .rule = weekly(3),
                            .calendar = pool.handler,
                            .closed = TP_CLOSED_AFTER};
    int64_t next = 0;
    must(tp_schedule_add(pool.a, &schedule));
    expect_next(4);
    must(tp_schedule_planned(pool.a, &schedule, today + DAY, &next));
    expect_number(next, today + 4 * DAY);
    schedule.closed = TP_CLOSED_BEFORE;
    must(tp_schedule_planned(pool.a, &schedule, today + DAY, &next));
    expect_number(next, today + 2 * DAY);
    schedule.closed = TP_CLOSED_SKIP;
    must(tp_schedule_planned(pool.a, &schedule, today + DAY, &next));
    expect_number(next, today + 10 * DAY);
    schedule.calendar = NULL;
    must(tp_schedule_planned(pool.a, &schedule, today + DAY, &next));
    expect_number(next, today + 3 * DAY);
    expect(TP_MISUSE, tp_calendar_remove(pool.b, pool.handler));
    expect_text("goes by calendar");
    must(tp_schedule_remove(pool.b, pool.handler));
    must(tp_calendar_remove(pool.b, pool.handler));
}

TEST(test_schedule__with_a_calendar_that_cannot_be_is_refused) {
    begin();
    closed_on(3);
    tp_schedule good = {.size = sizeof good,
                        .name = pool.handler,
                        .handler = pool.handler,
                        .rule = "0 0 * * *",
                        .calendar = pool.handler,
                        .closed = TP_CLOSED_AFTER};
    int64_t next = 0;
    with(good, calendar, "none", expect(TP_MISUSE, tp_schedule_add(pool.a, &given)));
    with(good, calendar, NULL, expect(TP_MISUSE, tp_schedule_add(pool.a, &given)));
    with(good, closed, (tp_closed)3, expect(TP_MISUSE, tp_schedule_add(pool.a, &given)));
    with(good, reserved, 1, expect(TP_MISUSE, tp_schedule_add(pool.a, &given)));
    with(good, rule, "every 1h", expect(TP_MISUSE, tp_schedule_add(pool.a, &given)));
    expect_text("skipped on closed days but not moved");
    set_with(.last_date = "2020-12-31");
    expect(TP_MISUSE, tp_schedule_add(pool.a, &good));
    expect_text("it ends at 2020-12-31");
    expect(TP_MISUSE, tp_schedule_planned(pool.a, &good, today, &next));
    expect_number(count_of("tp_schedule"), 0);
}

TEST(test_fire__moves_and_skips_closed_days) {
    static const struct {
        tp_closed closed;
        int made;
    } cases[] = {{TP_CLOSED_SKIP, 0}, {TP_CLOSED_BEFORE, -4}, {TP_CLOSED_AFTER, -2}};
    begin();
    closed_on(-3);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        add_before(5, cases[i].closed, weekly(-3));
        expect_number(fire(pool.a), cases[i].made ? 1 : 0);
        if (cases[i].made) made_on(cases[i].made);
        expect_next(4);
        expect_number(fire(pool.b), 0);
        must(tp_schedule_remove(pool.a, pool.handler));
        sql_run(pool.eye, "DELETE FROM tp_pending");
    }
}

TEST(test_fire__times_that_move_to_one_instant_make_one_task) {
    begin();
    closed_on(-4, -3);
    /* Midnight of three days in a row, the last of them open. */
    add_before(5, TP_CLOSED_AFTER, weekly(-4));
    int64_t weekday = ((today / DAY - 4 + 4) % 7 + 7) % 7;
    sql_run(pool.eye, "UPDATE tp_schedule SET rule = '0 0 * * %d,%d,%d'", (int)weekday,
            (int)((weekday + 1) % 7), (int)((weekday + 2) % 7));
    expect_number(fire(pool.a), 1);
    made_on(-2);
    expect_next(3);
}

TEST(test_fire__a_calendar_that_changes_afterwards_fires_nothing_twice) {
    begin();
    closed_on(5);
    add_before(5, TP_CLOSED_AFTER, weekly(-3));
    expect_number(fire(pool.a), 1);
    made_on(-3);
    closed_on(-3, 5); /* it would have been the day after */
    expect_number(fire(pool.b), 0);
    expect_next(4);
    must(tp_schedule_pause(pool.a, pool.handler, 1));
    expect_next(0);
    closed_on(-3, 4);
    must(tp_schedule_pause(pool.a, pool.handler, 0));
    expect_next(5);
    expect_number(fire(pool.b), 0);
    made_on(-3);
}

TEST(test_fire__a_calendar_that_changes_before_loses_nothing) {
    size_t fired = 99;
    int64_t wait = -99;
    begin();
    closed_on(9);
    add_before(1, TP_CLOSED_BEFORE, weekly(2));
    expect_number(fire(pool.a), 0);
    expect_next(2);
    must(tp_schedule_fire(pool.a, &fired, &wait));
    assert_true(wait > 0);
    /* The day and those before it are closed from now on: it should have been before today. */
    closed_on(2, 1, 0, -1);
    must(tp_schedule_fire(pool.b, &fired, &wait));
    expect_number(fired, 1);
    made_on(-2);
    closed_on(9); /* and are open after all */
    expect_number(fire(pool.a), 0);
    made_on(-2);
    expect_next(8);
}

TEST(test_fire__where_the_calendar_ends_nothing_fires_until_it_goes_on) {
    begin();
    set_with(.weekdays = "SUN-SAT", .first_date = "2000-01-01", .last_date = "2999-12-31");
    add_before(5, TP_CLOSED_SKIP, weekly(-3));
    set_with(.weekdays = "SUN-SAT", .first_date = "2000-01-01", .last_date = date_at(-4));
    expect(TP_MISUSE, tp_schedule_fire(pool.a, NULL, NULL));
    expect_text("does not know which days are open from");
    expect_made(0, NULL);
    closed_on(9);
    expect_number(fire(pool.a), 1);
    made_on(-3);
    sql_run(pool.eye, "DELETE FROM tp_calendar");
    sql_run(pool.eye, "UPDATE tp_schedule SET fire_at = 1");
    expect(TP_MISUSE, tp_schedule_fire(pool.a, NULL, NULL));
    expect_text("there is no calendar");
}

TEST(test_fire__a_period_skips_closed_days) {
    begin();
    closed_on(-1, 0, 1);
    add_before(3, TP_CLOSED_SKIP, "every 7h");
    expect_number(fire(pool.a), 6); /* 7, 14, 21, 28, 35 and 42 hours after midnight */
    int64_t next = -1;
    must(tp_schedule_each(pool.b, copy_next, &next));
    expect_number(next, today - 3 * DAY + 18 * INT64_C(7) * HOUR);
    expect_number(fire(pool.a), 0);
}

TEST(test_fire__after_the_last_task_waits_for_an_open_day) {
    begin();
    closed_on(0, 1);
    tp_schedule schedule = {.size = sizeof schedule,
                            .name = pool.handler,
                            .handler = pool.handler,
                            .rule = "after 1h",
                            .calendar = pool.handler};
    must(tp_schedule_add(pool.a, &schedule));
    int64_t next = -1;
    must(tp_schedule_each(pool.b, copy_next, &next));
    assert_in_range(next, today + 2 * DAY, today + 2 * DAY + HOUR);
    closed_on(9);
    sql_run(pool.eye, "UPDATE tp_schedule SET rule_at = rule_at - %d", 2 * HOUR);
    expect_number(fire(pool.a), 1);
    expect_next(0);
    expect_number(fire(pool.a), 0);
    closed_on(8); /* while it waits for its task nothing is planned */
    expect_number(fire(pool.a), 0);
    expect_next(0);
    must(tp_complete(pool.a, claim_one(pool.a)));
    expect_number(fire(pool.a), 0);
    must(tp_schedule_each(pool.b, copy_next, &next));
    assert_true(next > today);
}

/* It knows next_at alone: so it does not see the schedule; and where it resumed it, the next who fires takes
 * that back. */
TEST(test_fire__an_older_library_leaves_it_alone) {
    begin();
    closed_on(3);
    add_before(1, TP_CLOSED_SKIP, weekly(2));
    expect_number(fire(pool.a), 0);
    expect_number(count_of("tp_schedule WHERE paused = 0 AND next_at <= %" PRId64, today + 99 * DAY), 0);
    sql_run(pool.eye, "UPDATE tp_schedule SET next_at = 5");
    expect_number(fire(pool.a), 0);
    expect_next(2);
}

TEST(test_fire__changed_by_hand_is_told) {
    begin();
    closed_on(3);
    add_before(5, TP_CLOSED_SKIP, weekly(-3));
    sql_run(pool.eye, "UPDATE tp_schedule SET closed = 'never'");
    expect(TP_MISUSE, tp_schedule_fire(pool.a, NULL, NULL));
    expect_text("closed is none of skip, before, after");
    sql_run(pool.eye, "UPDATE tp_schedule SET closed = 'skip'");
    expect_number(fire(pool.a), 1);
}
