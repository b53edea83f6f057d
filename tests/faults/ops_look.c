/* Reading tells the truth or fails, changes nothing, and gives nothing out on a failure. */
#include <stdio.h>
#include <string.h>

#include "faults/operation.h"
#include "ops/for_workers.h"

enum { LONG = 100000 };

static void one_short_one_long(struct work *work) {
    work_put(work, 2);
    work_put_long(work, 20000);
}

/* The call's batch, and how many it must hold: of this run, with their params unless those are left out. */
static tp_status judge_batch(tp_status status, tp_batch *batch, size_t count) {
    want_untouched(status, batch);
    if (status != TP_OK) return status;
    want_number(tp_batch_count(batch), count);
    for (size_t i = 0; i < tp_batch_count(batch); i++) {
        const tp_task *task = tp_batch_task(batch, i);
        if (strcmp(task->handler, pool.handler) != 0) wrong("another handler");
        if (task->params && strcmp(task->params, "x") != 0 && strcmp(task->params, long_text(20000)) != 0)
            wrong("other params");
    }
    tp_batch_free(batch);
    return status;
}

static tp_status list(struct work *work) {
    tp_list_request request = TP_LIST_INIT;
    tp_batch *batch = UNTOUCHED(tp_batch);
    request.handler = pool.handler;
    tp_status status = tp_list(work->conn, &request, &batch);
    return judge_batch(status, batch, 3);
}

/* Some of the finished pool, read in parts of its index. */
static tp_status list_finished(struct work *work) {
    tp_list_request request = TP_LIST_INIT;
    tp_batch *batch = UNTOUCHED(tp_batch);
    request.handler = pool.handler;
    request.pool = "finished";
    request.state = "done";
    tp_status status = tp_list(work->conn, &request, &batch);
    return judge_batch(status, batch, 3);
}

static void see_created(const tp_created *seen, void *arg) {
    struct work *work = arg;
    work->number += strcmp(seen->handler, pool.handler) == 0;
}

static tp_status created(struct work *work) {
    work->number = 0;
    tp_status status = tp_created_each(work->conn, 0, TP_TIME_MAX, pool.handler, see_created, work);
    if (status == TP_OK) want_number(work->number, 3);
    return status;
}

static tp_status show(struct work *work) {
    tp_batch *batch = UNTOUCHED(tp_batch);
    tp_status status = tp_show(work->conn, work->ids[2], &batch);
    return judge_batch(status, batch, 1);
}

static tp_status take(struct work *work) {
    tp_batch *one = UNTOUCHED(tp_batch);
    tp_status status = tpi_batch_take(work->batches[0], 0, &one);
    want_untouched(status, one);
    if (status != TP_OK) return status;
    if (strcmp(tp_batch_task(one, 0)->id, work->ids[0]) != 0) wrong("another task");
    work->batches[work->batch_count++] = one;
    return status;
}

static void add_stat(const tp_stat *stat, void *arg) {
    *(int64_t *)arg += stat->count;
}

static tp_status stats(struct work *work) {
    int64_t count = 0;
    tp_status status = tp_stats(work->conn, 1, add_stat, &count);
    if (status == TP_OK) want_number(count, 3);
    return status;
}

static void add_recent(const tp_recent *recent, void *arg) {
    *(int64_t *)arg += recent->count;
}

static tp_status recent(struct work *work) {
    int64_t count = 0, now = (int64_t)MARK;
    tp_status status = tp_recent_each(work->conn, 3600000, add_recent, &count);
    if (status == TP_OK) want_number(count, 3);
    if (status == TP_OK) status = tp_now(work->conn, &now);
    return status;
}

static tp_status any(struct work *work) {
    tp_claim_request request = TP_CLAIM_INIT;
    request.handlers = pool.handlers;
    request.handler_count = 1;
    tp_status status = tpi_any_open(work->conn, &request);
    if (status == TP_OK) status = tpi_any_due(work->conn, &request, NULL);
    return status;
}

static void one_long(struct work *work) {
    char id[ID];
    task_put(long_text(LONG), id);
    work_take(work, 1);
}

static tp_status params(struct work *work) {
    const char *text = UNTOUCHED(char);
    size_t length = (size_t)(int64_t)MARK;
    tp_status status = tp_task_params(work->conn, work->tasks[0], &text, &length);
    want_untouched(status, text);
    want_untouched_number(status, length);
    if (status == TP_OK && (length != LONG || strlen(text) != LONG)) wrong("%zu bytes", length);
    tp_task_params_free(work->tasks[0]);
    return status;
}

static void see_event(const tp_history *event, void *arg) {
    struct work *work = arg;
    work->number += strcmp(event->task_id, work->ids[0]) == 0;
}

static tp_status history_of(struct work *work, const char *id, size_t limit) {
    work->number = 0;
    tp_status status = tp_history_each(work->conn, id, limit, see_event, work);
    if (status == TP_OK) want_number(work->number, 1);
    return status;
}

CALL(history, history_of(work, work->ids[0], 0))
CALL(history_of_all, history_of(work, NULL, 100))
static void see_failure(const tp_failure *failure, void *arg) {
    ((struct work *)arg)->number += failure->count;
}

static tp_status failures(struct work *work) {
    int cut = MARK;
    tp_list_request request = TP_LIST_INIT;
    work->number = 0;
    tp_status status = tp_failures_each(work->conn, &request, see_failure, work, &cut);
    want_untouched_number(status, cut);
    if (status == TP_OK) want_number(work->number, 3);
    return status;
}

static void see_running(const tp_running *seen, void *arg) {
    struct work *work = arg;
    work->number += strcmp(seen->handler, pool.handler) == 0 && seen->lapses_at > seen->now;
}

static tp_status running(struct work *work) {
    work->number = 0;
    tp_status status = tp_running_each(work->conn, NULL, see_running, work);
    if (status == TP_OK) want_number(work->number, 3);
    return status;
}

static void one_with_a_result(struct work *work) {
    work_claimed(work, 1);
    must(tp_complete_with(pool.b, work->tasks[0], "paid"));
}

static tp_status await_end(struct work *work) {
    tp_batch *batch = UNTOUCHED(tp_batch);
    tp_status status = tp_await(work->conn, work->ids[0], 0, &batch);
    want_untouched(status, batch);
    if (status != TP_OK) return status;
    if (strcmp(tp_batch_task(batch, 0)->result, "paid") != 0) wrong("another result");
    work->batches[work->batch_count++] = batch;
    return status;
}

static void one_with_progress(struct work *work) {
    struct tpi_progress_row row = {.percent = 42, .message = "half"};
    work_claimed(work, 1);
    snprintf(row.task_id, sizeof row.task_id, "%s", work->ids[0]);
    snprintf(row.owner, sizeof row.owner, "%s", work->tasks[0]->owner);
    must(tpi_progress_write(pool.b, &row));
    must(tpi_step_add(pool.b, work->tasks[0], "charge", "receipt"));
    must(tp_show(pool.b, work->ids[0], &work->batches[work->batch_count++]));
}

static void see_progress(const tp_progress *progress, void *arg) {
    ((struct work *)arg)->number += progress->percent;
}

static void see_step(const tp_step_row *step, void *arg) {
    ((struct work *)arg)->number += strcmp(step->result, "receipt") == 0;
}

static const tp_task *shown(const struct work *work) {
    return tp_batch_task(work->batches[work->batch_count - 1], 0);
}

static tp_status progress(struct work *work) {
    work->number = 0;
    tp_status status = tp_progress_of(work->conn, shown(work), see_progress, work);
    if (status == TP_OK) want_number(work->number, 42);
    return status;
}

static tp_status steps(struct work *work) {
    work->number = 0;
    tp_status status = tp_step_each(work->conn, shown(work), see_step, work);
    if (status == TP_OK) want_number(work->number, 1);
    return status;
}

static tp_status find_step(struct work *work) {
    work->number = 0;
    tp_status status = tp_step_find(work->conn, work->tasks[0], "charge", see_step, work);
    if (status == TP_OK) want_number(work->number, 1);
    return status;
}

CALL(settled, tp_settled(work->conn, work->tasks[0]))
CALL(reopen, tp_conn_reopen(work->conn))
STEP(is_usable, must(tp_schema_check(work->conn)))

static const struct operation operations[] = {
    {"list", 0, one_short_one_long, list, TP_OK, nothing_changed},
    {"list, of finished", 0, three_finished, list_finished, TP_OK, nothing_changed},
    {"created_each", 0, three_finished, created, TP_OK, nothing_changed},
    {"show", 0, one_short_one_long, show, TP_OK, nothing_changed},
    {"show, in a transaction", TRAIT_TRANSACTION, one_short_one_long, show, TP_OK, nothing_changed},
    {"batch_take", TRAIT_ALLOCATIONS, one_claimed, take, TP_OK, nothing_changed}, /* calls no driver */
    {"stats", 0, one_short_one_long, stats, TP_OK, nothing_changed},
    {"recent, now", 0, one_short_one_long, recent, TP_OK, nothing_changed},
    {"any open, any due", 0, one_put, any, TP_OK, nothing_changed},
    {"params", TRAIT_POINTERS, one_long, params, TP_OK, nothing_changed},
    {"params, in a transaction", TRAIT_TRANSACTION | TRAIT_POINTERS, one_long, params, TP_OK,
     nothing_changed},
    {"history", 0, one_failed, history, TP_OK, nothing_changed},
    {"history, of all", 0, one_failed, history_of_all, TP_OK, nothing_changed},
    {"failures_each", 0, three_given_up, failures, TP_OK, nothing_changed},
    {"running_each", 0, three_claimed, running, TP_OK, nothing_changed},
    {"await", 0, one_with_a_result, await_end, TP_OK, nothing_changed},
    {"progress_of", 0, one_with_progress, progress, TP_OK, nothing_changed},
    {"step_each", 0, one_with_progress, steps, TP_OK, nothing_changed},
    {"step_find", 0, one_with_progress, find_step, TP_OK, nothing_changed},
    {"settled, while held", 0, one_claimed, settled, TP_NONE, nothing_changed},
    {"settled, after a failure", TRAIT_EXPENSIVE, one_failed, settled, TP_OK, nothing_changed},
    {"settled, when done", 0, one_finished, settled, TP_OK, nothing_changed},
    {"reopen", TRAIT_CONNECTS, three_put, reopen, TP_OK, nothing_changed, .finish = is_usable},
};

OPERATION_GROUP(look, test_faults__reading_is_true_or_fails_whichever_call_fails, operations);
