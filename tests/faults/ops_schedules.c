/* A planned time fires once, and a schedule is what was asked for. */
#include <string.h>

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
    if (status != TP_DB) { /* a database that refuses one task fires the others */
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

static const struct operation operations[] = {
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
    {"schedule_fire, after the last task", TRAIT_SHARED | TRAIT_PIECEMEAL, last_task_ended, fire, TP_OK,
     two_were_made, .finish = fire_twice_more},
};

OPERATION_GROUP(schedules, test_faults__a_planned_time_fires_once_whichever_call_fails, operations);
