/* Reading tells the truth or fails, changes nothing, and gives nothing out on a
 * failure. */
#include <stdio.h>
#include <string.h>

#include "faults/ops.h"

enum { LONG = 100000 };

static void two(struct work *work) {
    work_put(work, 2);
}

static void one(struct work *work) {
    work_claimed(work, 1);
}

static void one_that_failed(struct work *work) {
    work_claimed(work, 1);
    must(tp_fail(pool.b, work->tasks[0], "no money", NULL));
}

static void one_long(struct work *work) {
    static char text[LONG + 1];
    char id[ID];
    memset(text, 'x', LONG);
    task_put(text, id);
    work_take(work, 1);
}

/* The call's batch, and how many it must hold. */
static tp_status judge_batch(struct work *work, tp_status status, tp_batch *batch, size_t count) {
    tp_batch *untouched = (tp_batch *)(void *)work;
    if (status != TP_OK) {
        if (batch != untouched) wrong("the batch was touched without an answer");
        return status;
    }
    if (tp_batch_count(batch) != count) wrong("%zu tasks, not %zu", tp_batch_count(batch), count);
    for (size_t i = 0; i < tp_batch_count(batch); i++)
        if (strcmp(tp_batch_task(batch, i)->params, "x") != 0) wrong("other params");
    tp_batch_free(batch);
    return status;
}

static tp_status list(struct work *work) {
    tp_list_request request = TP_LIST_INIT;
    tp_batch *batch = (tp_batch *)(void *)work;
    tp_status status = tp_list(work->conn, &request, &batch);
    return judge_batch(work, status, batch, 2);
}

static tp_status show(struct work *work) {
    tp_batch *batch = (tp_batch *)(void *)work;
    tp_status status = tp_show(work->conn, work->ids[0], &batch);
    return judge_batch(work, status, batch, 1);
}

static void add_stat(const tp_stat *stat, void *arg) {
    *(int64_t *)arg += stat->count;
}

static tp_status stats(struct work *work) {
    int64_t count = 0;
    tp_status status = tp_stats(work->conn, 1, add_stat, &count);
    if (status == TP_OK && count != 2) wrong("%d tasks in all", (int)count);
    return status;
}

static tp_status any(struct work *work) {
    tp_claim_request request = TP_CLAIM_INIT;
    request.handlers = pool.handlers;
    request.handler_count = 1;
    tp_status status = tp_any_open(work->conn, &request);
    if (status == TP_OK) status = tp_any_due(work->conn, &request);
    if (status == TP_NONE) wrong("a task is there, and due");
    return status;
}

static tp_status params(struct work *work) {
    const char *text = work->key;
    size_t length = 77;
    tp_status status = tp_task_params(work->conn, work->tasks[0], &text, &length);
    bool touched = text != work->key || length != 77;
    if (status < TP_OK && touched) wrong("the params were touched by a failure");
    if (status == TP_OK && (length != LONG || strlen(text) != LONG)) wrong("%zu bytes", length);
    tp_task_params_free(work->tasks[0]);
    return status;
}

static void count_event(const tp_history *event, void *arg) {
    (void)event;
    ++*(int *)arg;
}

static tp_status history(struct work *work) {
    int count = 0;
    tp_status status = tp_history_each(work->conn, work->ids[0], 0, count_event, &count);
    if (status == TP_OK && count != 1) wrong("%d events", count);
    if (status == TP_NONE) wrong("no events");
    return status;
}

static tp_status settled(struct work *work) {
    return tp_settled(work->conn, work->tasks[0]);
}

static tp_status reopen(struct work *work) {
    return tp_conn_reopen(work->conn);
}

static void nothing_changed(struct work *work) {
    if (!picture_same(&work->before, &work->now)) wrong("reading changed something");
}

static const struct operation operations[] = {
    {"list", 0, two, list, TP_OK, nothing_changed, NULL, NULL},
    {"show", 0, two, show, TP_OK, nothing_changed, NULL, NULL},
    {"stats", 0, two, stats, TP_OK, nothing_changed, NULL, NULL},
    {"any open, any due", 0, two, any, TP_OK, nothing_changed, NULL, NULL},
    {"params", 0, one_long, params, TP_OK, nothing_changed, NULL, NULL},
    {"history", 0, one_that_failed, history, TP_OK, nothing_changed, NULL, NULL},
    {"settled, while held", 0, one, settled, TP_NONE, nothing_changed, NULL, NULL},
    {"settled, after a failure", TRAIT_VARIANT, one_that_failed, settled, TP_OK, nothing_changed, NULL, NULL},
    {"reopen", TRAIT_CONNECTS, two, reopen, TP_OK, nothing_changed, NULL, NULL},
};

static void test_faults__reading_is_true_or_fails_whichever_call_fails(void **state) {
    (void)state;
    POINTS_RUN(operations);
}

FAULTS_GROUP(look, cmocka_unit_test(test_faults__reading_is_true_or_fails_whichever_call_fails));
