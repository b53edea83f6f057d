/* Claims by every plan; see scene.h. Plan hold claims inside a transaction, and what it claims is as it was
 * once that has ended. */
#include <string.h>

#include "faults/scene.h"

static const int64_t no_delays[1];
static const tp_retry no_retry = {.size = sizeof(tp_retry), .delays_ms = no_delays};

static bool holds(const struct scene *scene) {
    return pool_plan_holds(scene->plan);
}

static void note_handed_out(struct scene *scene, const tp_batch *batch) {
    scene->number += (int64_t)tp_batch_count(batch);
    for (size_t i = 0; i < scene->count; i++)
        scene->calls += batch_holds(batch, scene->id[i]);
}

static tp_status claim_now(struct scene *scene) {
    tp_batch *batch = UNTOUCHED(tp_batch);
    if (holds(scene)) scene->request.token[0] = '\0';
    tp_status status = tp_claim(scene->conn, &scene->request, &batch);
    expect_untouched(status, batch);
    if (status != TP_OK) return status;
    note_handed_out(scene, batch);
    tp_batch_free(batch);
    return status;
}

/* What a failed try took is handed out first; the others are there for the next claim. */
static void claim_rest(struct scene *scene) {
    if (!scene->again || holds(scene) || scene->number == (int64_t)scene->count) return;
    tp_status status = claim_now(scene);
    if (status < TP_OK) fail_msg("%s", tp_last_error()->text);
}

static void check_claimed(struct scene *scene, int failures) {
    const char *held = failures ? "failed" : "pending";
    claim_rest(scene);
    expect_number(scene->number, scene->count);
    expect_number(scene->calls, scene->count);
    for (size_t i = 0; i < scene->count; i++)
        expect_row(scene->id[i], "pending", holds(scene) ? held : "handling", failures);
}

static void judge_claim(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    check_claimed(scene, 0);
}

/* ---- New tasks ----------------------------------------------------------------------------------------- */

static void arrange_new(struct scene *scene) {
    scene_put(scene, 3, "x");
}

/* One of them waits for its long params. */
static void arrange_in_order(struct scene *scene) {
    static char long_params[9001];
    memset(long_params, 'y', sizeof long_params - 1);
    scene_put(scene, 2, "x");
    scene_put(scene, 1, long_params);
    scene->request.in_order = 1;
}

/* ---- Lapsed leases ------------------------------------------------------------------------------------- */

static void arrange_lapsed(struct scene *scene) {
    scene_claim(scene, 2);
    scene_lapse(scene);
    tp_batch_free(scene->batch);
    scene->batch = NULL;
}

static int64_t lapses(const char *id) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_history WHERE task_id = '%s' AND event = 'lapsed'",
                      id);
}

static void check_lapsed(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    check_claimed(scene, 1);
    for (size_t i = 0; i < scene->count; i++)
        if (lapses(scene->id[i]) > 1) fail_msg("a lapse was recorded twice");
}

static void arrange_last_lapse(struct scene *scene) {
    arrange_lapsed(scene);
    scene->request.retry = &no_retry;
}

static void judge_last_lapse(struct scene *scene, tp_status answer) {
    claim_rest(scene);
    expect_number(scene->number, 0);
    if (answer < TP_OK) fail_msg("%s", tp_last_error()->text);
    for (size_t i = 0; i < scene->count; i++)
        expect_row(scene->id[i], "failed", "failed", 1);
}

/* A task whose failure was a lapse before: the reason is put together anew. */
static void arrange_again_after_lapse(struct scene *scene) {
    tp_batch *batch = NULL;
    arrange_lapsed(scene);
    must(tp_claim(scene->conn, &scene->request, &batch));
    must(tp_release(scene->conn, tp_batch_task(batch, 0), 0));
    must(tp_release(scene->conn, tp_batch_task(batch, 1), 0));
    tp_batch_free(batch);
    scene_lapse(scene);
}

/* ---- Asked again --------------------------------------------------------------------------------------- */

/* As if the answer had been lost. */
static void arrange_answer_lost(struct scene *scene) {
    scene_claim(scene, 3);
    memcpy(scene->request.token, scene->task->owner, ID);
    tp_batch_free(scene->batch);
    scene->batch = NULL;
}

/* ---- What belongs to claims ---------------------------------------------------------------------------- */

static void arrange_long(struct scene *scene) {
    static char long_params[30001];
    memset(long_params, 'z', sizeof long_params - 1);
    scene_put(scene, 1, long_params);
    scene->batch = claim(scene->conn, 1);
    scene->task = tp_batch_task(scene->batch, 0);
}

static tp_status read_params(struct scene *scene) {
    const char *params = UNTOUCHED(char);
    size_t length = (size_t)(int64_t)MARK;
    tp_status status = tp_task_params(scene->conn, scene->task, &params, &length);
    expect_untouched(status, params);
    expect_number_untouched(status, length);
    if (status == TP_OK) expect_number(strlen(params), 30000);
    return status;
}

static void answered(struct scene *scene, tp_status answer) {
    (void)scene;
    expect_number(answer, TP_OK);
}

/* Claimed by plan hold, and rolled back. */
static void arrange_held(struct scene *scene) {
    scene_put(scene, 1, "x");
    must(tp_begin(scene->conn));
    must(tp_claim(scene->conn, &scene->request, &scene->batch));
    must(tp_rollback(scene->conn));
    scene->task = tp_batch_task(scene->batch, 0);
}

static tp_status claim_held(struct scene *scene) {
    return tp_claim_held(scene->conn, scene->task, 0);
}

static void judge_claim_held(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_row(scene->id[0], "pending", "handling", 0);
    must(tp_complete(scene->conn, scene->task));
}

static void arrange_held_lapse(struct scene *scene) {
    scene_claim(scene, 1);
    scene_lapse(scene);
    tp_batch_free(scene->batch);
    must(tp_begin(scene->conn));
    must(tp_claim(scene->conn, &scene->request, &scene->batch));
    must(tp_rollback(scene->conn));
    scene->task = tp_batch_task(scene->batch, 0);
}

static void judge_held_lapse(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_row(scene->id[0], "pending", "handling", 1);
    expect_number(lapses(scene->id[0]), 1);
}

#define OF_PLAN(plan, flags)                                                                                 \
    {"tp_claim by " plan, plan, flags, arrange_new, claim_now, judge_claim, NULL},                           \
        {"tp_claim by " plan ", in order", plan, flags, arrange_in_order, claim_now, judge_claim, NULL},     \
        {"tp_claim by " plan ", lapsed leases", plan, flags, arrange_lapsed, claim_now, check_lapsed, NULL}, \
    {                                                                                                        \
        "tp_claim by " plan ", last lapses", plan, flags, arrange_last_lapse, claim_now, judge_last_lapse,   \
            NULL                                                                                             \
    }
#define OF_LEASED_PLAN(plan)                                                                                 \
    OF_PLAN(plan, 0), {"tp_claim by " plan ", lapsed before",                                                \
                       plan,                                                                                 \
                       0,                                                                                    \
                       arrange_again_after_lapse,                                                            \
                       claim_now,                                                                            \
                       check_lapsed,                                                                         \
                       NULL},                                                                                \
    {                                                                                                        \
        "tp_claim by " plan ", asked again", plan, 0, arrange_answer_lost, claim_now, judge_claim, NULL      \
    }

const struct act scenes_of_claims[] = {
    OF_LEASED_PLAN("row"),
    OF_LEASED_PLAN("batch"),
    OF_LEASED_PLAN("skip"),
    OF_LEASED_PLAN("cas"),
    OF_PLAN("hold", ACT_INSIDE),
    {"tp_claim_held", "hold", 0, arrange_held, claim_held, judge_claim_held, NULL},
    {"tp_claim_held, of a lapsed lease", "hold", 0, arrange_held_lapse, claim_held, judge_held_lapse, NULL},
    {"tp_task_params", NULL, 0, arrange_long, read_params, answered, NULL},
    {"tp_task_params, in a transaction", NULL, ACT_INSIDE, arrange_long, read_params, answered, NULL},
    {NULL, NULL, 0, NULL, NULL, NULL, NULL}};
