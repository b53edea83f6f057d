/* See origins.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "origins/origins.h"

struct scene scene;

void breathe(void) {
    static const struct timespec pause = {.tv_nsec = 10 * 1000000};
    nanosleep(&pause, NULL);
}

/* ---- Tasks ------------------------------------------------------------------------------------------- */

void put_tasks(const char *handler, size_t count, const char *key) {
    tp_new_task *tasks = calloc(count, sizeof *tasks);
    char(*keys)[TP_KEY_MAX] = calloc(count, sizeof *keys);
    size_t inserted = 0;
    assert_true(tasks && keys);
    for (size_t i = 0; i < count; i++) {
        tasks[i] = task_new("1000.00");
        tasks[i].handler = handler;
        if (!key) continue;
        const char *digits = strstr(key, "%d");
        snprintf(keys[i], sizeof keys[i], "%.*s%d%s", (int)(digits - key), key, (int)i + 1, digits + 2);
        tasks[i].biz_key = tasks[i].dedup_key = keys[i];
    }
    must(tp_enqueue_many(pool.eye, tasks, count, &inserted));
    expect_number(inserted, count);
    free(tasks);
    free(keys);
}

int64_t count_of(const char *table) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_%s", table);
}

int64_t count_where(const char *table, const char *where) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_%s WHERE %s", table, where);
}

tp_batch *take(tp_conn *conn, const char *handler, const char *plan, size_t limit) {
    tp_claim_request request = TP_CLAIM_INIT;
    tp_batch *batch = NULL;
    request.handlers = &handler;
    request.handler_count = 1;
    request.limit = limit;
    request.plan = plan;
    tp_status status = tp_claim(conn, &request, &batch);
    if (status != TP_NONE) must(status);
    return batch;
}

void complete_all(tp_conn *conn, tp_batch *batch) {
    for (size_t i = 0; i < tp_batch_count(batch); i++)
        must(tp_complete(conn, tp_batch_task(batch, i)));
    tp_batch_free(batch);
}

void expect_disjoint(const tp_batch *one, const tp_batch *other) {
    for (size_t i = 0; i < tp_batch_count(one); i++)
        sure(!batch_holds(other, tp_batch_task(one, i)->id), "task %s was taken twice",
             tp_batch_task(one, i)->id);
}

void advance(int64_t ms) {
    must(tp_test_advance(pool.eye, ms));
}
