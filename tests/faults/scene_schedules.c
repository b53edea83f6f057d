/* Schedules; see scene.h. */
#include <stdio.h>
#include <string.h>

#include "faults/scene.h"

static tp_schedule schedule_of(const struct scene *scene, const char *rule) {
    tp_schedule schedule = TP_SCHEDULE_INIT;
    schedule.name = scene->name;
    schedule.rule = rule;
    schedule.handler = pool.handler;
    schedule.params = "{\"from\":\"a schedule\"}";
    return schedule;
}

static void clear(struct scene *scene) {
    (void)scene;
    (void)sql_try(pool.eye, "DELETE FROM tp_schedule");
}

static int64_t rows(const struct scene *scene, const char *where) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_schedule WHERE name = '%s' AND %s", scene->name,
                      where);
}

/* ---- Adding and taking away ---------------------------------------------------------------------------- */

static tp_status add(struct scene *scene) {
    tp_schedule schedule = schedule_of(scene, "0-59/5 8-17 * * 1-5");
    schedule.time_zone = "Europe/Berlin";
    return tp_schedule_add(scene->conn, &schedule);
}

static void judge_added(struct scene *scene, tp_status answer) {
    if (answer != TP_OK && !scene->again) fail_msg("answered %s", tp_status_name(answer));
    expect_number(rows(scene, "next_at > 0"), 1);
}

static void add_rule(struct scene *scene, const char *rule) {
    tp_schedule schedule = schedule_of(scene, rule);
    must(tp_schedule_add(pool.b, &schedule));
}

static void arrange_cron(struct scene *scene) {
    tp_schedule schedule = schedule_of(scene, "0 0/5 * * * ?");
    schedule.time_zone = "Europe/Berlin";
    must(tp_schedule_add(pool.b, &schedule));
}

static tp_status take_away(struct scene *scene) {
    return tp_schedule_remove(scene->conn, scene->name);
}

static void judge_removed(struct scene *scene, tp_status answer) {
    if (answer != TP_OK && !scene->again) fail_msg("answered %s", tp_status_name(answer));
    expect_number(rows(scene, "1 = 1"), 0);
}

static tp_status pause_it(struct scene *scene) {
    return tp_schedule_pause(scene->conn, scene->name, 1);
}

static void judge_paused(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_number(rows(scene, "paused = 1"), 1);
}

static void arrange_paused(struct scene *scene) {
    arrange_cron(scene);
    must(tp_schedule_pause(pool.b, scene->name, 1));
}

static tp_status resume(struct scene *scene) {
    return tp_schedule_pause(scene->conn, scene->name, 0);
}

static void judge_resumed(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_number(rows(scene, "paused = 0 AND next_at > 0"), 1);
}

static void see(const tp_schedule *schedule, void *arg) {
    struct scene *scene = arg;
    if (strcmp(schedule->name, scene->name) == 0 && strcmp(schedule->handler, pool.handler) == 0)
        scene->number++;
}

static tp_status each(struct scene *scene) {
    scene->number = 0;
    return tp_schedule_each(scene->conn, see, scene);
}

static void judge_each(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_number(scene->number, 1);
}

static tp_status next(struct scene *scene) {
    int64_t at = MARK;
    tp_status status = tp_schedule_next("30 2 * * *", "Europe/Berlin", INT64_C(1000000000000), &at);
    expect_number_untouched(status, at);
    scene->number = at;
    return status;
}

static void judge_next(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_number(scene->number, INT64_C(1000081800000));
}

/* ---- Firing -------------------------------------------------------------------------------------------- */

static tp_status fire(struct scene *scene) {
    size_t fired = (size_t)(int64_t)MARK;
    int64_t wait = MARK;
    tp_status status = tp_schedule_fire(scene->conn, &fired, &wait);
    if (status != TP_DB) { /* a database that refuses one task fires the others */
        expect_number_untouched(status, fired);
        expect_number_untouched(status, wait);
    }
    if (status == TP_OK) scene->number += (int64_t)fired;
    return status;
}

static void let_pass(int64_t ms) {
    must(tp_test_advance(pool.eye, ms));
}

static void arrange_due(struct scene *scene) {
    arrange_cron(scene);
    let_pass(301000);
}

static void arrange_missed(struct scene *scene) {
    tp_schedule schedule = schedule_of(scene, "every 1m");
    schedule.missed = TP_MISSED_ALL;
    must(tp_schedule_add(pool.b, &schedule));
    let_pass(190000);
}

static int64_t tasks_of(void) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_tasks WHERE handler = '%s'", pool.handler);
}

/* The schedule is advanced with the tasks of its planned times. */
static void check_fired(struct scene *scene, tp_status answer, int64_t count) {
    expect_number(answer, TP_OK);
    expect_number(tasks_of(), count);
    if (!scene->again) expect_number(scene->number, count);
    expect_number(rows(scene, "last_at > 0"), 1);
    must(fire(scene));
    expect_number(tasks_of(), count);
}

static void judge_due(struct scene *scene, tp_status answer) {
    check_fired(scene, answer, 1);
}

static void judge_missed(struct scene *scene, tp_status answer) {
    check_fired(scene, answer, 3);
}

/* The last task has ended, so the next planned time is to be set; then it is due. */
static void arrange_after(struct scene *scene) {
    add_rule(scene, "after 1m");
    let_pass(61000);
    must(fire(scene));
    scene->number = 0;
    tp_batch *batch = claim(pool.b, 1);
    must(tp_complete(pool.b, tp_batch_task(batch, 0)));
    tp_batch_free(batch);
    let_pass(61000);
}

static void judge_after(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    must(fire(scene));
    must(fire(scene));
    expect_number(tasks_of(), 2);
}

const struct act scenes_of_schedules[] = {
    {"tp_schedule_add", NULL, ACT_CALLS, NULL, add, judge_added, clear},
    {"tp_schedule_add, in a transaction", NULL, ACT_INSIDE | ACT_CALLS, NULL, add, judge_added, clear},
    {"tp_schedule_remove", NULL, ACT_CALLS, arrange_cron, take_away, judge_removed, clear},
    {"tp_schedule_pause", NULL, ACT_CALLS, arrange_cron, pause_it, judge_paused, clear},
    {"tp_schedule_pause, resume", NULL, ACT_CALLS, arrange_paused, resume, judge_resumed, clear},
    {"tp_schedule_each", NULL, ACT_CALLS, arrange_cron, each, judge_each, clear},
    {"tp_schedule_next", NULL, 0, NULL, next, judge_next, NULL},
    {"tp_schedule_fire", NULL, ACT_CALLS, arrange_due, fire, judge_due, clear},
    {"tp_schedule_fire, all that was missed", NULL, ACT_CALLS, arrange_missed, fire, judge_missed, clear},
    {"tp_schedule_fire, after the last task", NULL, ACT_CALLS, arrange_after, fire, judge_after, clear},
    {NULL, NULL, 0, NULL, NULL, NULL, NULL}};
