/* What ends a claim; see scene.h. */
#include <string.h>

#include "faults/scene.h"

static const int64_t one_minute[] = {60000};
static const tp_retry one_retry = {.size = sizeof(tp_retry), .delays_ms = one_minute, .count = 1};
static const tp_retry no_retry = {.size = sizeof(tp_retry), .delays_ms = one_minute, .count = 0};

static const char long_reason[] =
    "a reason that is longer than sixty-four bytes, so that any buffer has to grow";
/* Such a reason is rewritten, so that it is not taken for a lapse. */
static const char like_a_lapse[] =
    "lease lapsed; held by a person who writes at least sixty-four bytes about it";

static void arrange_one(struct scene *scene) {
    scene_claim(scene, 1);
}

static void arrange_three(struct scene *scene) {
    scene_claim(scene, 3);
}

static tp_status complete(struct scene *scene) {
    return tp_complete(scene->conn, scene->task);
}

static void judge_done(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    for (size_t i = 0; i < scene->count; i++)
        expect_row(scene->id[i], "finished", "done", 0);
}

static tp_status leave_out(struct scene *scene) {
    return tp_skip(scene->conn, scene->task, like_a_lapse);
}

static void judge_skipped(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_row(scene->id[0], "finished", "skipped", 0);
}

static tp_status fail_once(struct scene *scene) {
    return tp_fail(scene->conn, scene->task, long_reason, &one_retry);
}

static tp_status fail_like_a_lapse(struct scene *scene) {
    return tp_fail(scene->conn, scene->task, like_a_lapse, &one_retry);
}

static int64_t events(const struct scene *scene) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_history WHERE task_id = '%s'", scene->id[0]);
}

static void judge_failed(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_row(scene->id[0], "pending", "failed", 1);
    expect_number(events(scene), 1);
}

static tp_status fail_last(struct scene *scene) {
    return tp_fail(scene->conn, scene->task, long_reason, &no_retry);
}

static tp_status give_up(struct scene *scene) {
    return tp_give_up(scene->conn, scene->task, long_reason);
}

static void judge_spent(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_SPENT);
    expect_row(scene->id[0], "failed", "failed", 1);
    expect_number(events(scene), 1);
}

static tp_status release(struct scene *scene) {
    return tp_release(scene->conn, scene->task, 60000);
}

static void judge_released(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_row(scene->id[0], "pending", "pending", 0);
}

static tp_status extend(struct scene *scene) {
    return tp_extend(scene->conn, scene->task, 120000);
}

static void judge_held(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    for (size_t i = 0; i < scene->count; i++)
        expect_row(scene->id[i], "pending", "handling", 0);
}

static void arrange_settled(struct scene *scene) {
    scene_claim(scene, 1);
    must(tp_complete(scene->conn, scene->task));
}

static tp_status settled(struct scene *scene) {
    return tp_settled(scene->conn, scene->task);
}

/* ---- Many ---------------------------------------------------------------------------------------------- */

static tp_status complete_many(struct scene *scene) {
    tp_status answers[3] = {(tp_status)MARK, (tp_status)MARK, (tp_status)MARK};
    tp_status status = tp_complete_many(scene->conn, scene->tasks, 3, answers);
    if (status != TP_LOST) expect_number_untouched(status, answers[0]);
    if (status == TP_LOST) scene->number = answers[1];
    return status == TP_LOST ? TP_OK : status;
}

static tp_status extend_many(struct scene *scene) {
    tp_status answers[3] = {(tp_status)MARK, (tp_status)MARK, (tp_status)MARK};
    tp_status status = tp_extend_many(scene->conn, scene->tasks, 3, 120000, answers);
    expect_number_untouched(status, answers[0]);
    return status;
}

/* One of three is settled otherwise. */
static void arrange_one_lost(struct scene *scene) {
    scene_claim(scene, 3);
    must(tp_release(scene->conn, scene->tasks[1], 0));
}

static void judge_one_lost(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_number(scene->number, TP_LOST);
    expect_row(scene->id[0], "finished", "done", 0);
    expect_row(scene->id[1], "pending", "pending", 0);
    expect_row(scene->id[2], "finished", "done", 0);
}

/* Some of them by an earlier try. */
static void arrange_some_done(struct scene *scene) {
    scene_claim(scene, 3);
    must(tp_complete(scene->conn, scene->tasks[1]));
}

/* ---- Plan hold: the claim is part of the transaction --------------------------------------------------- */

static void arrange_hold(struct scene *scene) {
    scene_put(scene, 3, "x");
}

static tp_status claim_hold(struct scene *scene) {
    tp_batch_free(scene->batch);
    scene->batch = NULL;
    scene->request.token[0] = '\0';
    tp_status status = tp_claim(scene->conn, &scene->request, &scene->batch);
    for (size_t i = 0; i < 3 && status == TP_OK; i++)
        scene->tasks[i] = tp_batch_task(scene->batch, i);
    return status;
}

static tp_status hold_and_complete(struct scene *scene) {
    tp_status status = claim_hold(scene);
    for (size_t i = 0; i < 3 && status == TP_OK; i++)
        status = tp_complete(scene->conn, scene->tasks[i]);
    return status;
}

static tp_status hold_and_complete_many(struct scene *scene) {
    tp_status status = claim_hold(scene);
    return status == TP_OK ? tp_complete_many(scene->conn, scene->tasks, 3, NULL) : status;
}

static tp_status hold_and_fail(struct scene *scene) {
    tp_status status = claim_hold(scene);
    if (status == TP_OK) status = tp_skip(scene->conn, scene->tasks[0], like_a_lapse);
    if (status == TP_OK) status = tp_fail(scene->conn, scene->tasks[1], long_reason, &one_retry);
    if (status == TP_OK) status = tp_give_up(scene->conn, scene->tasks[2], long_reason);
    return status;
}

static int ended(const struct scene *scene, const char *in, const char *state) {
    return (int)sql_number(pool.eye, "SELECT COUNT(*) FROM tp_%s WHERE handler = '%s' AND state = '%s'", in,
                           scene->request.handlers[0], state);
}

static void judge_hold_failed(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_SPENT);
    expect_number(ended(scene, "finished", "skipped"), 1);
    expect_number(ended(scene, "pending", "failed"), 1);
    expect_number(ended(scene, "failed", "failed"), 1);
}

const struct act scenes_of_settles[] = {
    {"tp_complete", NULL, 0, arrange_one, complete, judge_done, NULL},
    {"tp_complete, in a transaction", NULL, ACT_INSIDE, arrange_one, complete, judge_done, NULL},
    {"tp_complete, done before", NULL, 0, arrange_settled, complete, judge_done, NULL},
    {"tp_skip", NULL, 0, arrange_one, leave_out, judge_skipped, NULL},
    {"tp_fail", NULL, 0, arrange_one, fail_once, judge_failed, NULL},
    {"tp_fail, with a reason like a lapse", NULL, 0, arrange_one, fail_like_a_lapse, judge_failed, NULL},
    {"tp_fail, in a transaction", NULL, ACT_INSIDE, arrange_one, fail_once, judge_failed, NULL},
    {"tp_fail, the last", NULL, 0, arrange_one, fail_last, judge_spent, NULL},
    {"tp_give_up", NULL, 0, arrange_one, give_up, judge_spent, NULL},
    {"tp_release", NULL, 0, arrange_one, release, judge_released, NULL},
    {"tp_release, in a transaction", NULL, ACT_INSIDE, arrange_one, release, judge_released, NULL},
    {"tp_extend", NULL, 0, arrange_one, extend, judge_held, NULL},
    {"tp_settled", NULL, 0, arrange_settled, settled, judge_done, NULL},
    {"tp_complete_many", NULL, 0, arrange_three, complete_many, judge_done, NULL},
    {"tp_complete_many, in a transaction", NULL, ACT_INSIDE, arrange_three, complete_many, judge_done, NULL},
    {"tp_complete_many, one lost", NULL, 0, arrange_one_lost, complete_many, judge_one_lost, NULL},
    {"tp_complete_many, some done before", NULL, 0, arrange_some_done, complete_many, judge_done, NULL},
    {"tp_extend_many", NULL, 0, arrange_three, extend_many, judge_held, NULL},
    {"tp_complete by hold", "hold", ACT_INSIDE, arrange_hold, hold_and_complete, judge_done, NULL},
    {"tp_complete_many by hold", "hold", ACT_INSIDE, arrange_hold, hold_and_complete_many, judge_done, NULL},
    {"tp_skip, tp_fail, tp_give_up by hold", "hold", ACT_INSIDE, arrange_hold, hold_and_fail,
     judge_hold_failed, NULL},
    {NULL, NULL, 0, NULL, NULL, NULL, NULL}};
