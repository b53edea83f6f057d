/* A planned time fires once, and a schedule is what was asked for. */
#include <string.h>

#include "base/uuid.h"
#include "faults/operation.h"

static tp_schedule schedule_of(const struct work *work, const char *rule) {
    tp_schedule schedule = TP_SCHEDULE_INIT;
    schedule.name = work->key;
    schedule.rule = rule;
    schedule.handler = pool.handler;
    schedule.params = "{\"from\":\"a schedule\"}";
    return schedule;
}

static int64_t rows(const struct work *work, const char *where) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_schedule WHERE name = '%s' AND %s", work->key,
                      where);
}

static int schedules(const struct work *work) {
    return snapshot_count(&work->now, "schedule", NULL, work->key);
}

/* ---- Adding and removing ------------------------------------------------------------------------------- */

static tp_status add(struct work *work) {
    tp_schedule schedule = schedule_of(work, "0-59/5 8-17 * * 1-5");
    schedule.time_zone = "Europe/Berlin";
    return tp_schedule_add(work->conn, &schedule);
}

static tp_status schedule_or_not(const struct work *work) {
    return schedules(work) ? TP_EXISTS : TP_OK;
}

static void is_added(struct work *work) {
    want_number(rows(work, "next_at > 0"), 1);
    want_acts(work, "schedule-added", 1);
}

static void daily(struct work *work) {
    tp_schedule schedule = schedule_of(work, "0 0 3 * * ?");
    schedule.time_zone = "Europe/Berlin";
    must(tp_schedule_add(pool.b, &schedule));
}

CALL(remove_it, tp_schedule_remove(work->conn, work->key))

static tp_status to_remove_or_not(const struct work *work) {
    return schedules(work) ? TP_OK : TP_NONE;
}

static void is_removed(struct work *work) {
    want_number(schedules(work), 0);
    want_acts(work, "schedule-removed", 1);
}

CALL(pause_it, tp_schedule_pause(work->conn, work->key, 1))

static void is_paused(struct work *work) {
    want_number(rows(work, "paused = 1"), 1);
    want_acts(work, "schedule-paused", 1);
}

static void paused(struct work *work) {
    daily(work);
    must(tp_schedule_pause(pool.b, work->key, 1));
}

CALL(resume, tp_schedule_pause(work->conn, work->key, 0))

static void is_resumed(struct work *work) {
    want_number(rows(work, "paused = 0 AND next_at > 0"), 1);
    want_acts(work, "schedule-resumed", 1);
}

static void see(const tp_schedule *schedule, void *arg) {
    struct work *work = arg;
    work->number += strcmp(schedule->name, work->key) == 0 && strcmp(schedule->handler, pool.handler) == 0;
}

static tp_status each(struct work *work) {
    work->number = 0;
    tp_status status = tp_schedule_each(work->conn, see, work);
    if (status == TP_OK) want_number(work->number, 1);
    return status;
}

static tp_status next(struct work *work) {
    (void)work;
    int64_t at = MARK;
    tp_status status = tp_schedule_next("30 2 * * *", "Europe/Berlin", INT64_C(1000000000000), &at);
    want_untouched_number(status, at);
    if (status == TP_OK && at != INT64_C(1000081800000)) wrong("another time");
    return status;
}

/* ---- Firing -------------------------------------------------------------------------------------------- */

static tp_status fire(struct work *work) {
    size_t fired = (size_t)(int64_t)MARK;
    int64_t wait = MARK;
    tp_status status = tp_schedule_fire(work->conn, &fired, &wait);
    /* What holds up one schedule holds up no other. */
    if (status != TP_DB && status != TP_CONFLICT && status != TP_TIMEOUT) {
        want_untouched_number(status, fired);
        want_untouched_number(status, wait);
    }
    if (status == TP_OK) work->number += (int64_t)fired;
    return status;
}

static void let_pass(int64_t ms) {
    must(tp_test_advance(pool.eye, ms));
}

static void one_due(struct work *work) {
    daily(work);
    let_pass(25 * 3600000 + 1000);
}

static void three_missed(struct work *work) {
    tp_schedule schedule = schedule_of(work, "every 1m");
    schedule.missed = TP_MISSED_ALL;
    must(tp_schedule_add(pool.b, &schedule));
    let_pass(190000);
}

/* The schedule was advanced with the tasks of its planned times, so there are no more. */
static void fire_again(struct work *work) {
    int64_t fired = work->number;
    must(fire(work));
    work->number = fired;
    work_note_made(work);
}

static void judge_fired(struct work *work, size_t count) {
    want_number(work->id_count, count);
    if (work->calls == 1) want_number(work->number, count);
    want_all(work, "pending", "pending", 0);
    want_number(rows(work, "last_at > 0"), 1);
}

STEP(one_fired, judge_fired(work, 1))
STEP(three_fired, judge_fired(work, 3))

/* The last task has ended, so the next planned time is to be set; then it is due. */
static void last_task_ended(struct work *work) {
    tp_schedule schedule = schedule_of(work, "after 1m");
    size_t fired = 0;
    must(tp_schedule_add(pool.b, &schedule));
    let_pass(61000);
    must(tp_schedule_fire(pool.b, &fired, NULL));
    want_number(fired, 1);
    work_take(work, 1);
    must(tp_complete(pool.b, work->tasks[0]));
    let_pass(61000);
}

static void fire_twice_more(struct work *work) {
    must(fire(work));
    fire_again(work);
}

STEP(two_were_made, want_number(work->id_count, 2))

/* A person fires. */
static tp_status fire_as_ann(struct work *work) {
    tp_actor ann = TP_ACTOR_INIT;
    ann.who = "ann";
    must(tp_conn_actor(work->conn, &ann));
    tp_status status = fire(work);
    must(tp_conn_actor(work->conn, NULL));
    return status;
}

static void three_fired_by_ann(struct work *work) {
    three_fired(work);
    want_acts(work, "fired", 3);
}

/* By hand, with an id that is the same each time. */
static tp_status fire_one_as_ann(struct work *work) {
    tp_actor ann = TP_ACTOR_INIT;
    char id[TP_ID_SIZE];
    tpi_uuid_named(work->key, id);
    ann.who = "ann";
    must(tp_conn_actor(work->conn, &ann));
    tp_status status = tp_schedule_fire_one(work->conn, work->key, id, 0);
    must(tp_conn_actor(work->conn, NULL));
    return status;
}

static void alone(struct work *work) {
    tp_schedule schedule = schedule_of(work, "0 0 3 * * ?");
    schedule.alone = 1;
    must(tp_schedule_add(pool.b, &schedule));
}

static void one_fired_by_ann(struct work *work) {
    want_number(rows(work, "last_task IS NOT NULL AND last_at IS NULL"), 1);
    want_number(work->id_count, 1);
    want_all(work, "pending", "pending", 0);
    want_acts(work, "fired", 1);
}

/* ---- Calendars ----------------------------------------------------------------------------------------- */

enum { CALENDAR_DAYS = 3 };
static const tp_calendar_day some_days[CALENDAR_DAYS] = {
    {sizeof(tp_calendar_day), "2027-12-24", "12:00", "Christmas Eve", TP_DAY_HALF, 0},
    {sizeof(tp_calendar_day), "2027-03-26", NULL, "Good Friday", TP_DAY_CLOSED, 0},
    {sizeof(tp_calendar_day), "2027-03-29", NULL, NULL, TP_DAY_CLOSED, 0}};

static tp_status set_days(tp_conn *conn, const struct work *work, size_t count) {
    tp_calendar calendar = TP_CALENDAR_INIT;
    calendar.name = work->key;
    calendar.weekdays = "SUN-SAT";
    calendar.first_date = "2000-01-01";
    calendar.last_date = "2999-12-31";
    calendar.days = some_days;
    calendar.day_count = count;
    return tp_calendar_set(conn, &calendar, "tester@desk");
}

CALL(set_calendar, set_days(work->conn, work, CALENDAR_DAYS))
STEP(with_calendar, must(set_days(pool.b, work, 1)))

static tp_status set_or_not(const struct work *work) {
    return snapshot_count(&work->now, "calendar", NULL, work->key) == CALENDAR_DAYS ? TP_EXISTS : TP_OK;
}

STEP(is_set, want_number(snapshot_count(&work->now, "calendar", NULL, work->key), CALENDAR_DAYS))
CALL(remove_calendar, tp_calendar_remove(work->conn, work->key))

static tp_status calendar_or_not(const struct work *work) {
    return snapshot_count(&work->now, "calendar", NULL, work->key) ? TP_OK : TP_NONE;
}

STEP(calendar_is_gone, want_number(snapshot_count(&work->now, "calendar", NULL, work->key), 0))

static void see_calendar(const tp_calendar *calendar, void *arg) {
    struct work *work = arg;
    work->number += strcmp(calendar->name, work->key) == 0 && calendar->day_count == 1;
}

static tp_status each_calendar(struct work *work) {
    work->number = 0;
    tp_status status = tp_calendar_each(work->conn, NULL, see_calendar, work);
    if (status == TP_OK) want_number(work->number, 1);
    return status;
}

static tp_status ask_day(struct work *work) {
    tp_business_day_info day = TP_BUSINESS_DAY_INIT;
    tp_status status = tp_business_day(work->conn, work->key, "2027-12-23", 1, &day);
    if (status == TP_OK && strcmp(day.date, "2027-12-24") != 0) wrong("another day");
    return status;
}

static tp_status ask_cut_off(struct work *work) {
    int64_t at = MARK;
    tp_status status = tp_next_cut_off(work->conn, work->key, INT64_C(1829646000000) - 1, &at);
    want_untouched_number(status, at);
    return status;
}

static tp_status planned_by_calendar(struct work *work) {
    tp_schedule schedule = schedule_of(work, "0 0 3 * * ?");
    schedule.calendar = work->key;
    int64_t at = MARK;
    tp_status status = tp_schedule_planned(work->conn, &schedule, INT64_C(1829646000000), &at);
    want_untouched_number(status, at);
    return status;
}

static tp_status add_by_calendar(struct work *work) {
    tp_schedule schedule = schedule_of(work, "0 0 3 * * ?");
    schedule.calendar = work->key;
    schedule.closed = TP_CLOSED_AFTER;
    return tp_schedule_add(work->conn, &schedule);
}

STEP(is_added_by_calendar, want_number(rows(work, "fire_at > 0 AND next_at IS NULL"), 1))

/* A day has passed, and the calendar is another: the schedule is planned anew and fires. */
static void one_due_by_calendar(struct work *work) {
    tp_conn *conn = work->conn;
    with_calendar(work);
    work->conn = pool.b;
    must(add_by_calendar(work));
    work->conn = conn;
    let_pass(25 * 3600000 + 1000);
    must(set_days(pool.b, work, 2));
}

static const struct operation operations[] = {
    {"calendar_set", 0, NULL, set_calendar, TP_OK, is_set, set_or_not},
    {"calendar_set, another", 0, with_calendar, set_calendar, TP_OK, is_set, set_or_not},
    {"calendar_set, in a transaction", TRAIT_TRANSACTION, with_calendar, set_calendar, TP_OK, is_set,
     set_or_not},
    {"calendar_remove", 0, with_calendar, remove_calendar, TP_OK, calendar_is_gone, calendar_or_not},
    {"calendar_each", 0, with_calendar, each_calendar, TP_OK, nothing_changed},
    {"business_day", 0, with_calendar, ask_day, TP_OK, nothing_changed},
    {"next_cut_off", 0, with_calendar, ask_cut_off, TP_OK, nothing_changed},
    {"schedule_planned", 0, with_calendar, planned_by_calendar, TP_OK, nothing_changed},
    {"schedule_add, by a calendar", 0, with_calendar, add_by_calendar, TP_OK, is_added_by_calendar,
     schedule_or_not},
    {"schedule_fire, by a calendar", TRAIT_PIECEMEAL, one_due_by_calendar, fire, TP_OK, one_fired,
     .finish = fire_again},
    {"schedule_add", TRAIT_SHARED, NULL, add, TP_OK, is_added, schedule_or_not},
    {"schedule_add, in a transaction", TRAIT_SHARED | TRAIT_TRANSACTION, NULL, add, TP_OK, is_added,
     schedule_or_not},
    {"schedule_remove", 0, daily, remove_it, TP_OK, is_removed, to_remove_or_not},
    {"schedule_pause", TRAIT_SHARED, daily, pause_it, TP_OK, is_paused},
    {"schedule_pause, resume", TRAIT_SHARED, paused, resume, TP_OK, is_resumed},
    {"schedule_each", 0, daily, each, TP_OK, nothing_changed},
    {"schedule_next", TRAIT_ALLOCATIONS, NULL, next, TP_OK, nothing_changed}, /* needs no database */
    {"schedule_fire", TRAIT_SHARED | TRAIT_PIECEMEAL, one_due, fire, TP_OK, one_fired, .finish = fire_again},
    {"schedule_fire, all that was missed", TRAIT_SHARED | TRAIT_PIECEMEAL, three_missed, fire, TP_OK,
     three_fired, .finish = fire_again},
    {"schedule_fire, by a person", TRAIT_SHARED | TRAIT_PIECEMEAL, three_missed, fire_as_ann, TP_OK,
     three_fired_by_ann, .finish = fire_again},
    {"schedule_fire_one", TRAIT_SHARED, alone, fire_one_as_ann, TP_OK, one_fired_by_ann,
     .finish = work_note_made},
    {"schedule_fire, after the last task", TRAIT_SHARED | TRAIT_PIECEMEAL, last_task_ended, fire, TP_OK,
     two_were_made, .finish = fire_twice_more},
};

OPERATION_GROUP(schedules, test_faults__a_planned_time_fires_once_whichever_call_fails, operations);
