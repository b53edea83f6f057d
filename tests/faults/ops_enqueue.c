/* Tasks that are put in are there once, whichever call fails. */
#include <stdio.h>
#include <string.h>

#include "faults/ops.h"

static void one(struct work *work) {
    work_fresh(work);
}

static void one_with_key(struct work *work) {
    work_fresh(work)->dedup_key = work->key;
}

static const char own_id[] = "11936f5e-8a4c-4b1d-9c3e-5f6a7b8c9d0e";

static void one_with_id(struct work *work) {
    work_fresh(work)->own_id = own_id;
}

static tp_status enqueue(struct work *work) {
    tp_status status = tp_enqueue(work->conn, &work->fresh[0]);
    work_note_fresh(work);
    return status;
}

/* The ids are known; is the first of them stored? */
static tp_status there_or_not(const struct work *work) {
    return picture_task(&work->now, work->ids[0]) ? TP_EXISTS : TP_OK;
}

static void are_pending(struct work *work) {
    for (size_t i = 0; i < work->id_count; i++)
        want_task(work, i, "pending", "pending", 0);
    want_told_in_all(work, 0);
}

static void three(struct work *work) {
    one(work);
    one_with_key(work);
    one_with_id(work);
}

static tp_status enqueue_many(struct work *work) {
    size_t untouched = 77, inserted = untouched;
    int there = 0;
    for (size_t i = 0; i < work->id_count; i++)
        there += picture_task(&work->now, work->ids[i]) != NULL;
    tp_status status = tp_enqueue_many(work->conn, work->fresh, work->fresh_count, &inserted);
    work_note_fresh(work);
    if (status < TP_OK && inserted != untouched) wrong("inserted was touched by a failure");
    if (status == TP_OK && (int)inserted != (int)work->fresh_count - there)
        wrong("%zu were inserted where %d were there", inserted, there);
    return status;
}

static const struct operation operations[] = {
    {"enqueue", 0, one, enqueue, TP_OK, are_pending, there_or_not, NULL},
    {"enqueue with dedup_key", 0, one_with_key, enqueue, TP_OK, are_pending, there_or_not, NULL},
    {"enqueue with own_id", 0, one_with_id, enqueue, TP_OK, are_pending, there_or_not, NULL},
    {"enqueue_many", 0, three, enqueue_many, TP_OK, are_pending, NULL, NULL},
};

static void test_faults__what_is_enqueued_is_there_once_whichever_call_fails(void **state) {
    (void)state;
    POINTS_RUN(operations);
}

FAULTS_GROUP(enqueue, cmocka_unit_test(test_faults__what_is_enqueued_is_there_once_whichever_call_fails));
