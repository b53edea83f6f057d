/* A task and its deadline are there together or not at all, and one that is past it is skipped once,
 * whichever call fails. */
#include <inttypes.h>
#include <string.h>

#include "faults/operation.h"

#define AHEAD INT64_C(4102444800000)

/* ---- Given --------------------------------------------------------------------------------------------- */

STEP(fresh, work_fresh(work)->deadline_ms = 60000)

static void fresh_with_id(struct work *work) {
    tp_new_task *task = work_fresh(work);
    task->deadline_at = AHEAD;
    task_set_id(task, "11936f5e-8a4c-4b1d-9c3e-5f6a7b8c9d0e");
}

static void fresh_three(struct work *work) {
    for (int i = 0; i < 3; i++)
        work_fresh(work)->deadline_at = i == 2 ? AHEAD + 1 : AHEAD;
}

static void put_until(struct work *work, int64_t deadline_at) {
    tp_new_task task = task_new("x");
    task.deadline_at = deadline_at;
    task.dedup_key = work->key;
    must(tp_enqueue(pool.b, &task));
    memcpy(work->ids[work->id_count++], task.id, TP_ID_SIZE);
}

static void fresh_to_replace(struct work *work) {
    put_until(work, AHEAD);
    tp_new_task *task = work_fresh(work);
    task->dedup_key = work->key;
    task->deadline_at = AHEAD + 1;
    task->on_duplicate = TP_DUPLICATE_REPLACE;
}

static void past(struct work *work) {
    put_until(work, LONG_AGO + 1);
    work->request = claim_request(5);
}

/* It failed before its deadline passed. */
static void past_and_failed(struct work *work) {
    put_until(work, AHEAD);
    tp_batch *batch = work->batches[work->batch_count++] = claim(pool.b, 1);
    expect(TP_EXHAUSTED, tp_give_up(pool.b, tp_batch_task(batch, 0), "no money"));
    sql_run(pool.eye, "UPDATE tp_cancel SET due_at = %" PRId64, LONG_AGO + 1);
}

/* ---- Calls --------------------------------------------------------------------------------------------- */

static tp_status replace(struct work *work) {
    tp_status status = tp_enqueue(work->conn, &work->fresh[0]);
    if (status == TP_OK && strcmp(work->fresh[0].existing_id, work->ids[0]) != 0) wrong("it was put in");
    return status;
}

static tp_status retry(struct work *work) {
    tp_selection all = TP_SELECTION_INIT;
    all.handler = pool.handler;
    all.who = "ann";
    all.pool = "failed";
    return tp_operate(work->conn, TP_ACTION_RETRY, &all, NULL);
}

/* ---- What must be there -------------------------------------------------------------------------------- */

static void want_deadlines(const struct work *work, int count) {
    want_number(snapshot_count(&work->now, "cancel", NULL, NULL), count);
}

static void are_pending_until(struct work *work) {
    want_all(work, "pending", "pending", 0);
    for (size_t i = 0; i < work->id_count; i++)
        want_number(snapshot_count(&work->now, "cancel", work->ids[i], NULL), 1);
    want_deadlines(work, (int)work->id_count);
}

static void is_changed(struct work *work) {
    want_task(work, 0, "pending", "pending", 0);
    want_deadlines(work, 1);
    want_number(sql_number(pool.eye, "SELECT due_at FROM tp_cancel"), AHEAD + 1);
}

static void is_skipped(struct work *work) {
    want_task(work, 0, "finished", "skipped", 0);
    want_events(work, 0, "canceled", 1);
    want_deadlines(work, 0);
}

static void is_wanted_again(struct work *work) {
    want_task(work, 0, "pending", "pending", 0);
    want_deadlines(work, 0);
}

static const struct operation operations[] = {
    {"enqueue with a deadline", 0, fresh, enqueue_fresh, TP_OK, are_pending_until, there_or_not},
    {"enqueue with a deadline, in a transaction", TRAIT_TRANSACTION, fresh, enqueue_fresh, TP_OK,
     are_pending_until, there_or_not},
    {"borrowed: enqueue with a deadline", TRAIT_BORROWED, fresh, enqueue_fresh, TP_OK, are_pending_until,
     there_or_not},
    {"enqueue with a deadline and an id", 0, fresh_with_id, enqueue_fresh, TP_OK, are_pending_until,
     there_or_not},
    {"enqueue_many with deadlines", 0, fresh_three, enqueue_all_fresh, TP_OK, are_pending_until},
    {"enqueue that replaces a deadline", 0, fresh_to_replace, replace, TP_OK, is_changed},
    {"claim of what is past its deadline", TRAIT_PIECEMEAL, past, claim_nothing, TP_NONE, is_skipped},
    {"cancel_sweep of a deadline", TRAIT_PIECEMEAL, past, sweep_cancelled, TP_OK, is_skipped},
    {"retry of what is past its deadline", TRAIT_PIECEMEAL, past_and_failed, retry, TP_OK, is_wanted_again},
};

OPERATION_GROUP(deadline, test_faults__a_deadline_is_there_with_its_task_whichever_call_fails, operations);
