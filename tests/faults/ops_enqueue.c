/* Tasks that are put in are there once, and so is a key of the ledger. */
#include <inttypes.h>
#include <string.h>

#include "faults/operation.h"

static void fresh_long(struct work *work) {
    tp_new_task *task = work_fresh(work);
    task->params = long_text(20000);
    task->biz_key = "order 7";
}

STEP(fresh_with_key, work_fresh(work)->dedup_key = work->key)
STEP(fresh_with_id, task_set_id(work_fresh(work), "11936f5e-8a4c-4b1d-9c3e-5f6a7b8c9d0e"))

/* The library works on a copy. */
static void fresh_of_older_program(struct work *work) {
    tp_new_task *task = work_fresh(work);
    task->size = offsetof(tp_new_task, content);
    task->dedup_key = work->key;
}

static void again_when_finished(struct work *work) {
    work_claimed(work, 1);
    must(tp_complete(pool.b, work->tasks[0]));
    task_set_id(work_fresh(work), work->ids[0]);
}

/* It was given other content since, which only the history can tell. */
static void again_when_edited(struct work *work) {
    tp_new_task *task = work_fresh(work);
    must(tp_enqueue(pool.b, task));
    memcpy(work->ids[work->id_count++], task->id, TP_ID_SIZE);
    tp_edit_request edit = TP_EDIT_INIT;
    edit.fields = TP_EDIT_PARAMS;
    edit.params = "new";
    must(tp_edit(pool.b, task->id, &edit, "ann", "because"));
}

static void is_edited(struct work *work) {
    want_task(work, 0, "pending", "pending", 0);
    want_events_of_all(work, "edited", 1);
}

static void is_done(struct work *work) {
    want_task(work, 0, "finished", "done", 0);
    want_events_in_all(work, 0);
}

/* ---- Changing what has the key ------------------------------------------------------------------------- */

static void fresh_for_another(struct work *work, tp_on_duplicate on_duplicate) {
    tp_new_task there = task_new("x");
    there.dedup_key = work->key;
    must(tp_enqueue(pool.b, &there));
    memcpy(work->ids[work->id_count++], there.id, TP_ID_SIZE);
    tp_new_task *task = work_fresh(work);
    task->dedup_key = work->key;
    task->params = "new";
    task->due_at = LONG_AGO * 2;
    task->on_duplicate = on_duplicate;
}

STEP(fresh_to_replace, fresh_for_another(work, TP_DUPLICATE_REPLACE))
STEP(fresh_to_push_back, fresh_for_another(work, TP_DUPLICATE_PUSH_BACK))

static tp_status enqueue_another(struct work *work) {
    tp_status status = tp_enqueue(work->conn, &work->fresh[0]);
    if (status == TP_OK && strcmp(work->fresh[0].existing_id, work->ids[0]) != 0) wrong("it was put in");
    return status;
}

static void is_changed(struct work *work, const char *event, const char *params) {
    want_task(work, 0, "pending", "pending", 0);
    want_events_of_all(work, event, 1);
    want_number(sql_number(pool.eye,
                           "SELECT COUNT(*) FROM tp_pending WHERE id = '%s' AND due_at = %" PRId64
                           " AND params LIKE '%s'",
                           work->ids[0], LONG_AGO * 2, params),
                1);
}

STEP(is_replaced, is_changed(work, "replaced", "new"))
STEP(is_pushed_back, is_changed(work, "deferred", "x"))

/* ---- Many ---------------------------------------------------------------------------------------------- */

static void fresh_three(struct work *work) {
    fresh_long(work);
    fresh_with_key(work);
    fresh_with_id(work);
}

static void fresh_sixty(struct work *work) {
    for (int i = 0; i < 60; i++)
        work_fresh(work)->params = "{\"a\":\"\xc3\xa4\"}";
}

/* Its calendar is read before; its time may be another the next time. */
static void fresh_at_cut_off(struct work *work) {
    tp_calendar calendar = TP_CALENDAR_INIT;
    calendar.name = "cut-offs";
    calendar.weekdays = "SUN-SAT";
    tp_status status = tp_calendar_set(pool.b, &calendar, NULL);
    if (status != TP_EXISTS) must(status);
    tp_new_task *task = work_fresh(work);
    task->due_at = task->delay_ms = 0;
    task->cut_off_calendar = "cut-offs";
}

/* ---- The ledger ---------------------------------------------------------------------------------------- */

CALL(once, tp_once(work->conn, work->key, work->tasks[0]))

/* Inside a transaction the ledger alone decides. */
static tp_status key_or_not(const struct work *work) {
    return snapshot_count(&work->now, "once", NULL, work->key) ? TP_EXISTS : TP_OK;
}

STEP(known_key, must(tp_once(pool.b, work->key, NULL)))

static void is_in_ledger(struct work *work) {
    want_key(work, 1);
    expect(TP_EXISTS, tp_once(pool.b, work->key, NULL));
}

static const struct operation operations[] = {
    {"enqueue", 0, fresh_long, enqueue_fresh, TP_OK, are_pending, there_or_not},
    {"enqueue with dedup_key", 0, fresh_with_key, enqueue_fresh, TP_OK, are_pending, there_or_not},
    {"enqueue with an id of the caller's own", 0, fresh_with_id, enqueue_fresh, TP_OK, are_pending,
     there_or_not},
    {"enqueue by an older program", 0, fresh_of_older_program, enqueue_fresh, TP_OK, are_pending,
     there_or_not},
    {"enqueue of what is done", 0, again_when_finished, enqueue_fresh, TP_EXISTS, is_done},
    {"enqueue of what was edited", 0, again_when_edited, enqueue_fresh, TP_EXISTS, is_edited},
    {"enqueue, in a transaction", TRAIT_TRANSACTION, fresh_with_key, enqueue_fresh, TP_OK, are_pending,
     there_or_not},
    {"enqueue at a cut-off", 0, fresh_at_cut_off, enqueue_fresh, TP_OK, are_pending, there_or_not},
    {"enqueue that replaces", 0, fresh_to_replace, enqueue_another, TP_OK, is_replaced},
    {"enqueue that replaces, in a transaction", TRAIT_TRANSACTION, fresh_to_replace, enqueue_another, TP_OK,
     is_replaced},
    {"borrowed: enqueue that replaces", TRAIT_BORROWED, fresh_to_replace, enqueue_another, TP_OK,
     is_replaced},
    {"enqueue that pushes back", TRAIT_EXPENSIVE, fresh_to_push_back, enqueue_another, TP_OK, is_pushed_back},
    {"enqueue_many", 0, fresh_three, enqueue_all_fresh, TP_OK, are_pending},
    {"enqueue_many, sixty", TRAIT_EXPENSIVE, fresh_sixty, enqueue_all_fresh, TP_OK, are_pending},
    {"enqueue_many, in a transaction", TRAIT_TRANSACTION, fresh_three, enqueue_all_fresh, TP_OK, are_pending},
    {"once", 0, one_claimed, once, TP_OK, is_in_ledger},
    {"once, for no task", TRAIT_EXPENSIVE, NULL, once, TP_OK, is_in_ledger},
    {"once, in a transaction", TRAIT_TRANSACTION, one_claimed, once, TP_OK, is_in_ledger, key_or_not},
    {"once, of a known key", 0, known_key, once, TP_EXISTS, is_in_ledger},
    {"once, of a known key, in a transaction", TRAIT_TRANSACTION, known_key, once, TP_EXISTS, is_in_ledger},
};

OPERATION_GROUP(enqueue, test_faults__what_is_enqueued_is_there_once_whichever_call_fails, operations);
