/* Operations of operators, and what workers do besides; see scene.h. */
#include <stdio.h>
#include <string.h>

#include "base/uuid.h"
#include "faults/scene.h"

static void answered(struct scene *scene, tp_status answer) {
    (void)scene;
    expect_number(answer, TP_OK);
}

/* ---- tp_operate ---------------------------------------------------------------------------------------- */

static tp_selection selection(void) {
    tp_selection all = TP_SELECTION_INIT;
    all.handler = pool.handler;
    all.who = "ann";
    all.why = "because";
    return all;
}

static tp_status operate_on(struct scene *scene, tp_action action, const tp_selection *what) {
    tp_operated result = {(size_t)(int64_t)MARK, 0};
    tp_status status = tp_operate(scene->conn, action, what, &result);
    expect_number_untouched(status, result.done);
    scene->calls += status == TP_OK ? (int)result.done : 0;
    return status;
}

static tp_status operate(struct scene *scene, tp_action action) {
    tp_selection what = selection();
    return operate_on(scene, action, &what);
}

static int64_t told(const char *event) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_history WHERE handler = '%s' AND event = '%s'",
                      pool.handler, event);
}

/* Each task is changed and recorded once, however often it was asked. */
static void check_operated(struct scene *scene, tp_status answer, const char *event, size_t count) {
    expect_number(answer, TP_OK);
    expect_number(told(event), count);
    if (!scene->again) expect_number(scene->calls, count);
}

static void arrange_failed(struct scene *scene) {
    scene_claim(scene, 3);
    for (size_t i = 0; i < 3; i++)
        expect(TP_SPENT, tp_give_up(scene->conn, scene->tasks[i], "no money"));
}

static tp_status retry(struct scene *scene) {
    return operate(scene, TP_ACTION_RETRY);
}

static void judge_retried(struct scene *scene, tp_status answer) {
    check_operated(scene, answer, "retried", 3);
    for (size_t i = 0; i < 3; i++)
        expect_row(scene->id[i], "pending", "pending", 0);
}

static tp_status retry_ids(struct scene *scene) {
    const char *ids[] = {scene->id[0], scene->id[1], scene->id[2]};
    tp_selection what = selection();
    what.ids = ids;
    what.id_count = 3;
    what.older_ms = 0;
    what.reason = "money";
    return operate_on(scene, TP_ACTION_RETRY, &what);
}

static void arrange_pending(struct scene *scene) {
    scene_put(scene, 3, "x");
}

static tp_status leave_out(struct scene *scene) {
    return operate(scene, TP_ACTION_SKIP);
}

static void judge_skipped(struct scene *scene, tp_status answer) {
    check_operated(scene, answer, "skipped", 3);
    for (size_t i = 0; i < 3; i++)
        expect_row(scene->id[i], "finished", "skipped", 0);
}

static void arrange_handling(struct scene *scene) {
    scene_claim(scene, 3);
}

static tp_status release(struct scene *scene) {
    return operate(scene, TP_ACTION_RELEASE);
}

static void judge_released(struct scene *scene, tp_status answer) {
    check_operated(scene, answer, "released", 3);
    for (size_t i = 0; i < 3; i++)
        expect_row(scene->id[i], "pending", "pending", 0);
}

static tp_status count_only(struct scene *scene) {
    tp_selection what = selection();
    what.dry_run = 1;
    return operate_on(scene, TP_ACTION_RETRY, &what);
}

static void judge_counted(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_number(told("retried"), 0);
    expect_number(scene->calls, 3);
    for (size_t i = 0; i < 3; i++)
        expect_row(scene->id[i], "failed", "failed", 1);
}

static void arrange_finished(struct scene *scene) {
    scene_claim(scene, 3);
    must(tp_complete_many(scene->conn, scene->tasks, 3, NULL));
}

static tp_status purge(struct scene *scene) {
    return operate(scene, TP_ACTION_PURGE);
}

static tp_status purge_ids(struct scene *scene) {
    const char *ids[] = {scene->id[0], scene->id[1], scene->id[2]};
    tp_selection what = selection();
    what.ids = ids;
    what.id_count = 3;
    return operate_on(scene, TP_ACTION_PURGE, &what);
}

static void judge_purged(struct scene *scene, tp_status answer) {
    check_operated(scene, answer, "purged", 1);
    expect_number(rows_in("finished", pool.handler), 0);
}

static void judge_purge(struct scene *scene, tp_status answer) {
    scene->again = true; /* one record for all three */
    judge_purged(scene, answer);
}

static void arrange_history(struct scene *scene) {
    scene_claim(scene, 1);
    must(tp_fail(scene->conn, scene->task, "no money", NULL));
}

static tp_status purge_history(struct scene *scene) {
    tp_selection what = selection();
    what.pool = "history";
    return operate_on(scene, TP_ACTION_PURGE, &what);
}

static void judge_history(struct scene *scene, tp_status answer) {
    (void)scene;
    expect_number(answer, TP_OK);
    expect_number(told("failed"), 0);
    expect_number(told("purged"), 1);
}

/* ---- Pausing ------------------------------------------------------------------------------------------- */

static tp_status pause_handler(struct scene *scene) {
    return tp_pause(scene->conn, pool.handler, "ann", "because");
}

static int64_t pauses(void) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pause WHERE handler = '%s'", pool.handler);
}

static void judge_paused(struct scene *scene, tp_status answer) {
    if (answer != TP_OK && !scene->again) fail_msg("answered %s", tp_status_name(answer));
    expect_number(pauses(), 1);
    expect_number(told("paused"), 1);
}

static void arrange_paused(struct scene *scene) {
    (void)scene;
    must(tp_pause(pool.b, pool.handler, "ann", "because"));
}

static tp_status resume(struct scene *scene) {
    return tp_resume(scene->conn, pool.handler, "ann");
}

static void judge_resumed(struct scene *scene, tp_status answer) {
    if (answer != TP_OK && !scene->again) fail_msg("answered %s", tp_status_name(answer));
    expect_number(pauses(), 0);
    expect_number(told("resumed"), 1);
}

static void unpause(struct scene *scene) {
    (void)scene;
    (void)sql_try(pool.eye, "DELETE FROM tp_pause");
}

static void see_pause(const tp_paused *paused, void *arg) {
    struct scene *scene = arg;
    if (strcmp(paused->handler, pool.handler) == 0 && strcmp(paused->why, "because") == 0) scene->number++;
}

static tp_status each_pause(struct scene *scene) {
    scene->number = 0;
    return tp_paused_each(scene->conn, see_pause, scene);
}

static void judge_each(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_number(scene->number, 1);
}

/* ---- Keeping ------------------------------------------------------------------------------------------- */

enum { DAY = 86400000 };

static void forget_keeping(struct scene *scene) {
    (void)scene;
    (void)sql_try(pool.eye, "DELETE FROM tp_meta WHERE name LIKE 'keep%%'");
}

static tp_status keep(struct scene *scene) {
    return tp_keep(scene->conn, "finished", DAY, pool.handler);
}

static void judge_keep(struct scene *scene, tp_status answer) {
    int64_t kept = 0;
    expect_number(answer, TP_OK);
    must(tp_kept(pool.b, "finished", &kept));
    expect_number(kept, DAY);
    int64_t events = sql_number(pool.eye, "SELECT COUNT(*) FROM tp_history WHERE who = '%s'", pool.handler);
    if (events < 1 || (!scene->again && events > 1)) fail_msg("%d events of one keep", (int)events);
}

static void arrange_kept(struct scene *scene) {
    (void)scene;
    must(tp_keep(pool.b, "finished", DAY, "ann"));
}

static tp_status kept(struct scene *scene) {
    int64_t ms = MARK;
    tp_status status = tp_kept(scene->conn, "finished", &ms);
    expect_number_untouched(status, ms);
    scene->number = ms;
    return status;
}

static void judge_kept(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_number(scene->number, DAY);
}

static void arrange_old(struct scene *scene) {
    arrange_kept(scene);
    arrange_finished(scene);
    sql_run(pool.eye, "UPDATE tp_finished SET settled_at = 1 WHERE handler = '%s'", pool.handler);
}

static tp_status house(struct scene *scene) {
    size_t deleted = (size_t)(int64_t)MARK;
    tp_status status = tp_keep_house(scene->conn, 500, &deleted);
    expect_number_untouched(status, deleted);
    return status;
}

static void judge_house(struct scene *scene, tp_status answer) {
    (void)scene;
    expect_number(answer, TP_OK);
    expect_number(rows_in("finished", pool.handler), 0);
}

/* ---- Checks -------------------------------------------------------------------------------------------- */

static void see_finding(const tp_finding *finding, void *arg) {
    struct scene *scene = arg;
    if (finding->text && *finding->text) scene->number++;
}

static tp_status check(struct scene *scene) {
    int bad = MARK;
    scene->number = 0;
    tp_status status = tp_check(scene->conn, see_finding, scene, &bad);
    expect_number_untouched(status, bad);
    if (status == TP_OK) expect_number(bad, 0);
    return status;
}

static void judge_check(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    if (scene->number < 10) fail_msg("only %d checks", (int)scene->number);
}

/* What it finds while it has no memory is of no interest; that it leaves nothing behind is. */
static tp_status doctor(struct scene *scene) {
    int bad = MARK;
    scene->number = 0;
    tp_status status = tp_doctor(pool.env, see_finding, scene, &bad);
    expect_number_untouched(status, bad);
    return status;
}

static void judge_doctor(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    if (scene->number == 0) fail_msg("nothing was said");
    if (sql_try(pool.eye, "SELECT * FROM tp_doctor")) fail_msg("the doctor's table is still there");
}

/* ---- Alerts -------------------------------------------------------------------------------------------- */

static int hear(const tp_task *task, const char *text, void *arg) {
    struct scene *scene = arg;
    if (strcmp(task->id, scene->id[0]) == 0 && *text) scene->calls++;
    return 0;
}

static tp_status alert(struct scene *scene) {
    size_t count = (size_t)(int64_t)MARK;
    tp_status status = tp_alert_each(scene->conn, pool.handlers, 1, 0, hear, scene, &count);
    expect_number_untouched(status, count);
    return status;
}

/* A note that was taken and not told is due again after a minute. */
static void judge_alert(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    if (scene->calls == 0) {
        must(tp_test_advance(pool.eye, 61000));
        must(alert(scene));
    }
    if (scene->calls < 1) fail_msg("nobody was told");
    must(alert(scene));
    if (scene->calls > 2) fail_msg("told %d times", scene->calls);
}

/* ---- Presence ------------------------------------------------------------------------------------------ */

static tp_presence presence_of(const struct scene *scene) {
    tp_presence presence = {.size = sizeof presence, .name = scene->name, .host = "h", .plan = "skip"};
    tpi_uuid_named(scene->name, presence.id);
    return presence;
}

static tp_status tell(struct scene *scene) {
    tp_presence presence = presence_of(scene);
    return tp_presence_tell(scene->conn, &presence);
}

static void judge_told(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_worker WHERE name = '%s'", scene->name), 1);
}

static void arrange_present(struct scene *scene) {
    tp_presence presence = presence_of(scene);
    sql_run(pool.eye, "DELETE FROM tp_worker");
    must(tp_presence_tell(pool.b, &presence));
}

static tp_status gone(struct scene *scene) {
    tp_presence presence = presence_of(scene);
    return tp_presence_gone(scene->conn, presence.id);
}

static void judge_gone(struct scene *scene, tp_status answer) {
    if (answer != TP_OK && !scene->again) fail_msg("answered %s", tp_status_name(answer));
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_worker WHERE name = '%s' AND state = 'died'",
                             scene->name),
                  1);
}

static void see_presence(const tp_presence *presence, void *arg) {
    struct scene *scene = arg;
    if (strcmp(presence->name, scene->name) == 0) scene->number++;
}

static tp_status each_presence(struct scene *scene) {
    scene->number = 0;
    return tp_presence_each(scene->conn, see_presence, scene);
}

static tp_status advance(struct scene *scene) {
    return tp_test_advance(scene->conn, 1);
}

const struct act scenes_of_operators[] = {
    {"tp_operate, retry", NULL, ACT_CALLS, arrange_failed, retry, judge_retried, NULL},
    {"tp_operate, retry by ids", NULL, ACT_CALLS, arrange_failed, retry_ids, judge_retried, NULL},
    {"tp_operate, skip", NULL, ACT_CALLS, arrange_pending, leave_out, judge_skipped, NULL},
    {"tp_operate, release", NULL, ACT_CALLS, arrange_handling, release, judge_released, NULL},
    {"tp_operate, dry run", NULL, ACT_CALLS, arrange_failed, count_only, judge_counted, NULL},
    {"tp_operate, purge", NULL, ACT_CALLS, arrange_finished, purge, judge_purge, NULL},
    {"tp_operate, purge by ids", NULL, ACT_CALLS, arrange_finished, purge_ids, judge_purge, NULL},
    {"tp_operate, purge of the history", NULL, ACT_CALLS, arrange_history, purge_history, judge_history,
     NULL},
    {"tp_pause", NULL, ACT_CALLS, NULL, pause_handler, judge_paused, unpause},
    {"tp_pause, in a transaction", NULL, ACT_INSIDE | ACT_CALLS, NULL, pause_handler, judge_paused, unpause},
    {"tp_resume", NULL, ACT_CALLS, arrange_paused, resume, judge_resumed, unpause},
    {"tp_paused_each", NULL, ACT_CALLS, arrange_paused, each_pause, judge_each, unpause},
    {"tp_keep", NULL, ACT_CALLS, forget_keeping, keep, judge_keep, forget_keeping},
    {"tp_kept", NULL, ACT_CALLS, arrange_kept, kept, judge_kept, forget_keeping},
    {"tp_keep_house", NULL, ACT_CALLS, arrange_old, house, judge_house, forget_keeping},
    {"tp_check", NULL, ACT_CALLS, NULL, check, judge_check, NULL},
    {"tp_doctor", NULL, ACT_SLOW | ACT_CALLS | ACT_OWN_SESSIONS, NULL, doctor, judge_doctor, NULL},
    {"tp_alert_each", NULL, ACT_CALLS, scene_fail, alert, judge_alert, NULL},
    {"tp_presence_tell", NULL, ACT_CALLS, NULL, tell, judge_told, NULL},
    {"tp_presence_gone", NULL, ACT_CALLS, arrange_present, gone, judge_gone, NULL},
    {"tp_presence_each", NULL, ACT_CALLS, arrange_present, each_presence, judge_each, NULL},
    {"tp_test_advance", NULL, ACT_CALLS, arrange_pending, advance, answered, NULL},
    {NULL, NULL, 0, NULL, NULL, NULL, NULL}};
