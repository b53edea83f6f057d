/* See scene.h. */
#include "faults/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/conn.h"
#include "ops/pause.h"

char scene_mark;

void scene_forget(tp_conn *conn) {
    tpi_store_forget(&conn->store);
    tpi_pause_forget(conn);
    free(conn->holds.places);
    conn->holds = (struct tpi_holds){0};
    free(conn->once.all);
    conn->once = (struct tpi_once_tries){0};
}

void scene_wipe(void) {
    static const char *const tables[] = {"pending", "finished", "failed", "history", "once",
                                         "fx",      "schedule", "worker", "pause"};
    must(pool_fresh(NULL) == 0 ? TP_OK : TP_DB);
    must(tp_begin(pool.eye));
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        sql_run(pool.eye, "DELETE FROM tp_%s", tables[i]);
    must(tp_commit(pool.eye));
}

void scene_open(struct scene *scene, const struct act *act) {
    memset(scene, 0, sizeof *scene);
    must(pool_fresh(NULL) == 0 ? TP_OK : TP_DB);
    scene->conn = pool.a;
    scene->plan = act->plan;
    snprintf(scene->name, sizeof scene->name, "%s.%s", pool.prefix, pool.handler);
    pool.plan = act->plan && strcmp(act->plan, "hold") != 0 ? act->plan : NULL;
    scene->request = claim_request(10);
    scene->request.plan = act->plan;
    if (act->arrange) act->arrange(scene);
    scene_forget(scene->conn);
}

void scene_close(struct scene *scene, const struct act *act) {
    if (act->clear) act->clear(scene);
    tp_batch_free(scene->batch);
    tp_worker_close(scene->worker);
    tp_conn_close(scene->other);
    tp_env_close(scene->env);
    if (scene->raw.dbc) pool_raw_close(&scene->raw);
}

struct tpi_link *scene_link(const struct scene *scene) {
    return &scene->conn->store.link;
}

void scene_put(struct scene *scene, size_t count, const char *params) {
    for (size_t i = 0; i < count; i++)
        task_put(params, scene->id[scene->count++]);
}

/* By leases, whatever the plan of the scene is. */
static void claim_all(struct scene *scene, size_t count) {
    tp_claim_request request = claim_request(count);
    must(tp_claim(scene->conn, &request, &scene->batch));
    expect_number(tp_batch_count(scene->batch), count);
    for (size_t i = 0; i < count; i++)
        scene->tasks[i] = tp_batch_task(scene->batch, i);
    scene->task = scene->tasks[0];
}

void scene_claim(struct scene *scene, size_t count) {
    scene_put(scene, count, "x");
    claim_all(scene, count);
}

void scene_fail(struct scene *scene) {
    scene_claim(scene, 1);
    expect(TP_SPENT, tp_give_up(scene->conn, scene->task, "no money"));
}

void scene_finish(struct scene *scene) {
    scene_claim(scene, 1);
    must(tp_complete(scene->conn, scene->task));
}

void scene_lapse(struct scene *scene) {
    for (size_t i = 0; i < scene->count; i++)
        row_make_due(scene->id[i]);
}
