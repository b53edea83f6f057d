/* Operations of those who put tasks in, and looks at what is there; see scene.h. */
#include <stdio.h>
#include <string.h>

#include "faults/scene.h"

static char long_params[20001];

static const char *long_text(void) {
    memset(long_params, 'x', sizeof long_params - 1);
    return long_params;
}

/* ---- tp_enqueue ---------------------------------------------------------------------------------------- */

static tp_status put(struct scene *scene) {
    tp_status status = tp_enqueue(scene->conn, &scene->new_tasks[0]);
    memcpy(scene->id[0], scene->new_tasks[0].id, ID);
    return status;
}

static void judge_put(struct scene *scene, tp_status answer) {
    if (answer != TP_OK && !scene->again) fail_msg("a new task was answered %s", tp_status_name(answer));
    expect_row(scene->id[0], "pending", "pending", 0);
    expect_number(rows_in("pending", pool.handler), 1);
}

static void arrange_new(struct scene *scene) {
    scene->new_tasks[0] = task_new(long_text());
    scene->new_tasks[0].biz_key = "order 7";
}

static void arrange_with_key(struct scene *scene) {
    scene->new_tasks[0] = task_new("x");
    scene->new_tasks[0].dedup_key = scene->name;
}

static void arrange_with_id(struct scene *scene) {
    static char id[ID];
    static unsigned number;
    scene->new_tasks[0] = task_new("x");
    snprintf(id, sizeof id, "0191d3a0-%04x-7000-8000-%012x", ++number & 0xffff, (unsigned)scene->name[2]);
    scene->new_tasks[0].own_id = id;
}

static void arrange_known(struct scene *scene) {
    scene_finish(scene);
    scene->new_tasks[0] = task_new("x");
    scene->new_tasks[0].own_id = scene->id[0];
}

static void judge_known(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_EXISTS);
    expect_row(scene->id[0], "finished", "done", 0);
}

/* ---- tp_enqueue_many ----------------------------------------------------------------------------------- */

static tp_status put_many(struct scene *scene) {
    size_t inserted = (size_t)(int64_t)MARK;
    tp_status status = tp_enqueue_many(scene->conn, scene->new_tasks, scene->count, &inserted);
    expect_number_untouched(status, inserted);
    scene->number = (int64_t)inserted;
    return status;
}

static void arrange_many(struct scene *scene, size_t count, const char *params) {
    scene->count = count;
    for (size_t i = 0; i < count; i++)
        scene->new_tasks[i] = task_new(params);
}

static void arrange_few(struct scene *scene) {
    arrange_many(scene, 3, "x");
    scene->new_tasks[1].dedup_key = scene->name;
    scene->new_tasks[2].params = long_text();
}

static void arrange_sixty(struct scene *scene) {
    arrange_many(scene, SCENE_TASKS, "{\"a\":\"\xc3\xa4\"}");
}

static void judge_many(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_number(scene->number, scene->count);
    expect_number(rows_in("pending", pool.handler), scene->count);
}

/* ---- tp_once ------------------------------------------------------------------------------------------- */

static void arrange_task(struct scene *scene) {
    scene_claim(scene, 1);
}

static tp_status once(struct scene *scene) {
    return tp_once(scene->conn, scene->name, scene->task);
}

static void judge_once(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_once WHERE once_key = '%s'", scene->name), 1);
    expect(TP_EXISTS, tp_once(pool.b, scene->name, NULL));
}

static void arrange_known_key(struct scene *scene) {
    must(tp_once(pool.b, scene->name, NULL));
}

static void judge_known_key(struct scene *scene, tp_status answer) {
    (void)scene;
    expect_number(answer, TP_EXISTS);
}

/* ---- Looks --------------------------------------------------------------------------------------------- */

static void arrange_three(struct scene *scene) {
    scene_put(scene, 2, "x");
    scene_put(scene, 1, long_text());
}

static tp_status list(struct scene *scene) {
    tp_list_request request = TP_LIST_INIT;
    tp_batch *batch = UNTOUCHED(tp_batch);
    request.handler = pool.handler;
    tp_status status = tp_list(scene->conn, &request, &batch);
    expect_untouched(status, batch);
    if (status == TP_OK) scene->batch = batch;
    return status;
}

static void judge_list(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_number(tp_batch_count(scene->batch), 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(tp_batch_task(scene->batch, i)->handler, pool.handler);
}

static tp_status show(struct scene *scene) {
    tp_batch *batch = UNTOUCHED(tp_batch);
    tp_status status = tp_show(scene->conn, scene->id[2], &batch);
    expect_untouched(status, batch);
    if (status == TP_OK) scene->batch = batch;
    return status;
}

static void judge_show(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_number(strlen(tp_batch_task(scene->batch, 0)->params), 20000);
}

static tp_status take(struct scene *scene) {
    tp_batch *one = UNTOUCHED(tp_batch);
    tp_status status = tp_batch_take(scene->batch, 0, &one);
    expect_untouched(status, one);
    if (status == TP_OK) {
        assert_string_equal(tp_batch_task(one, 0)->id, scene->id[0]);
        tp_batch_free(one);
    }
    return status;
}

static void answered(struct scene *scene, tp_status answer) {
    (void)scene;
    expect_number(answer, TP_OK);
}

/* As many statistics at each point. */
static void arrange_alone(struct scene *scene) {
    pool_empty();
    sql_run(pool.eye, "DELETE FROM tp_finished");
    sql_run(pool.eye, "DELETE FROM tp_failed");
    arrange_three(scene);
}

static void count_stat(const tp_stat *stat, void *arg) {
    struct scene *scene = arg;
    if (strcmp(stat->handler, pool.handler) == 0) scene->number += stat->count;
}

static tp_status stats(struct scene *scene) {
    scene->number = 0;
    return tp_stats(scene->conn, 1, count_stat, scene);
}

static void judge_stats(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_number(scene->number, 3);
}

static void see_event(const tp_history *event, void *arg) {
    struct scene *scene = arg;
    if (strcmp(event->task_id, scene->id[0]) == 0) scene->number++;
}

static tp_status history(struct scene *scene) {
    scene->number = 0;
    return tp_history_each(scene->conn, scene->id[0], 0, see_event, scene);
}

static tp_status history_of_all(struct scene *scene) {
    scene->number = 0;
    return tp_history_each(scene->conn, NULL, 100, see_event, scene);
}

static void judge_history(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_number(scene->number, 1);
}

const struct act scenes_of_producers[] = {
    {"tp_enqueue", NULL, 0, arrange_new, put, judge_put, NULL},
    {"tp_enqueue, with a key", NULL, 0, arrange_with_key, put, judge_put, NULL},
    {"tp_enqueue, with an id", NULL, 0, arrange_with_id, put, judge_put, NULL},
    {"tp_enqueue, of what is done", NULL, 0, arrange_known, put, judge_known, NULL},
    {"tp_enqueue, in a transaction", NULL, ACT_INSIDE, arrange_with_key, put, judge_put, NULL},
    {"tp_enqueue_many, three", NULL, 0, arrange_few, put_many, judge_many, NULL},
    {"tp_enqueue_many, sixty", NULL, ACT_HEAVY, arrange_sixty, put_many, judge_many, NULL},
    {"tp_enqueue_many, in a transaction", NULL, ACT_INSIDE, arrange_few, put_many, judge_many, NULL},
    {"tp_once", NULL, 0, arrange_task, once, judge_once, NULL},
    {"tp_once, in a transaction", NULL, ACT_INSIDE, arrange_task, once, judge_once, NULL},
    {"tp_once, of what is there", NULL, 0, arrange_known_key, once, judge_known_key, NULL},
    {"tp_once, of what is there, in a transaction", NULL, ACT_INSIDE, arrange_known_key, once,
     judge_known_key, NULL},
    {"tp_list", NULL, 0, arrange_three, list, judge_list, NULL},
    {"tp_show", NULL, 0, arrange_three, show, judge_show, NULL},
    {"tp_show, in a transaction", NULL, ACT_INSIDE, arrange_three, show, judge_show, NULL},
    {"tp_batch_take", NULL, 0, arrange_task, take, answered, NULL},
    {"tp_stats", NULL, 0, arrange_alone, stats, judge_stats, NULL},
    {"tp_history_each, of a task", NULL, 0, scene_fail, history, judge_history, NULL},
    {"tp_history_each, of all", NULL, 0, scene_fail, history_of_all, judge_history, NULL},
    {NULL, NULL, 0, NULL, NULL, NULL, NULL}};
