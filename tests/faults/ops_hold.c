/* Plan hold: what is claimed, done and settled in one transaction is stored
 * once, whichever call fails. */
#include <stdio.h>
#include <string.h>

#include "faults/ops.h"

enum { TASKS = 2 };

static void two_due(struct work *work) {
    work_put(work, TASKS);
}

static tp_status hold_some(struct work *work, tp_batch **batch) {
    work->request.plan = "hold";
    work->request.limit = TASKS;
    tp_status status = tp_claim(work->conn, &work->request, batch);
    if (status == TP_OK) work->batches[work->batch_count++] = *batch;
    return status;
}

static tp_status pay_for(struct work *work, const tp_task *task) {
    tp_status status = own_statement(work, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', 'x')", task->id);
    return status == TP_OK ? tp_complete(work->conn, task) : status;
}

static tp_status hold_body(struct work *work) {
    tp_batch *batch = NULL;
    tp_status status = hold_some(work, &batch);
    for (size_t i = 0; i < tp_batch_count(batch) && status == TP_OK; i++) {
        status = pay_for(work, tp_batch_task(batch, i));
        if (status == TP_OK) work->tasks[0] = tp_batch_task(batch, i);
    }
    return status;
}

static tp_status many_body(struct work *work) {
    const tp_task *tasks[TASKS] = {0};
    tp_batch *batch = NULL;
    tp_status status = hold_some(work, &batch);
    size_t count = tp_batch_count(batch);
    for (size_t i = 0; i < count && status == TP_OK; i++) {
        tasks[i] = work->tasks[0] = tp_batch_task(batch, i);
        status = own_statement(work, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', 'x')", tasks[i]->id);
    }
    return status == TP_OK ? tp_complete_many(work->conn, tasks, count, NULL) : status;
}

/* Nothing is left of a try that was not committed. */
static tp_status again_unless_settled(struct work *work, tp_status (*body)(struct work *work)) {
    if (work->unsure) {
        tp_status known = tp_settled(work->conn, work->tasks[0]);
        work->unsure = known < TP_OK && known != TP_LOST;
        if (known != TP_LOST) return known;
    }
    return in_transaction(work, body);
}

static tp_status hold(struct work *work) {
    return again_unless_settled(work, hold_body);
}

static tp_status hold_many(struct work *work) {
    return again_unless_settled(work, many_body);
}

static void are_paid(struct work *work) {
    work->tasks[0] = NULL; /* in whichever order they came */
    for (size_t i = 0; i < TASKS; i++) {
        want_task(work, i, "finished", "done", 0);
        want_settled_by_us(work, i);
        want_effects(work, i, 1);
    }
    want_told_in_all(work, 0);
}

/* ---- What was held is claimed by a lease ------------------------------------------------------------------
 */

static void held_and_rolled_back(struct work *work) {
    tp_batch *batch = NULL;
    work_put(work, 1);
    work->request.plan = "hold";
    must(tp_begin(pool.b));
    must(tp_claim(pool.b, &work->request, &batch));
    must(tp_rollback(pool.b));
    work->batches[work->batch_count++] = batch;
    work->tasks[0] = tp_batch_task(batch, 0);
}

static tp_status claim_held(struct work *work) {
    return tp_claim_held(work->conn, work->tasks[0], 60000);
}

static void is_claimed(struct work *work) {
    want_task(work, 0, "pending", "handling", 0);
    want_told_in_all(work, 0);
}

static const struct operation operations[] = {
    {"claim, effect, complete", 0, two_due, hold, TP_OK, are_paid, NULL, "hold"},
    {"claim, effect, complete_many", 0, two_due, hold_many, TP_OK, are_paid, NULL, "hold"},
    {"claim_held", 0, held_and_rolled_back, claim_held, TP_OK, is_claimed, NULL, "hold"},
};

static void test_faults__what_is_held_is_done_once_whichever_call_fails(void **state) {
    (void)state;
    POINTS_RUN(operations);
}

FAULTS_GROUP(hold, cmocka_unit_test(test_faults__what_is_held_is_done_once_whichever_call_fails));
