/* A claim takes each task once and tells the caller of all that it took, by
 * every plan, whichever call fails. */
#include <stdio.h>
#include <string.h>

#include "faults/ops.h"

enum { TASKS = 2 };

static void two_due(struct work *work) {
    work_put(work, TASKS);
}

static size_t claimed(const struct work *work) {
    size_t count = 0;
    for (size_t b = 0; b < work->batch_count; b++)
        count += tp_batch_count(work->batches[b]);
    return count;
}

static tp_status claim_some(struct work *work) {
    tp_batch *batch = (tp_batch *)(void *)work, *before = batch; /* an address that no batch has */
    work->request.limit = WORK_TASKS;
    work->request.plan = work->plan;
    tp_status status = tp_claim(work->conn, &work->request, &batch);
    if (status != TP_OK && batch != before) wrong("the batch was touched without an answer");
    if (status == TP_OK) work->batches[work->batch_count++] = batch;
    return status;
}

/* Until all have been claimed: the answer of a claim that had failed tells only
 * of what it took. What another session is said to hold is passed over once. */
static tp_status claim_all(struct work *work) {
    tp_status status = TP_OK;
    int passes = way_is_anothers() ? 1 : 0;
    while (status >= TP_OK && claimed(work) < work->id_count) {
        status = claim_some(work);
        if (status == TP_NONE && passes-- <= 0) return TP_NONE;
    }
    return status;
}

static void are_claimed(struct work *work) {
    for (size_t i = 0; i < work->id_count; i++)
        want_task(work, i, "pending", "handling", 0);
    if (claimed(work) != work->id_count) wrong("%zu tasks were claimed", claimed(work));
    want_told_in_all(work, 0);
}

/* ---- Lapsed leases ------------------------------------------------------------------------------------- */

static const tp_retry never = {.size = sizeof never};

/* Somebody's lease has lapsed; the other task is fresh. */
static void one_lapsed(struct work *work) {
    work_claimed(work, 1);
    row_make_due(work->ids[0]);
    work->tasks[0] = NULL;
    tp_batch_free(work->batches[--work->batch_count]);
    work_put(work, 1);
}

static void lapsed_is_counted(struct work *work) {
    want_task(work, 0, "pending", "handling", 1);
    want_task(work, 1, "pending", "handling", 0);
    /* What the database refuses for good does not stop the claim. */
    if (way_is_permanent() && !picture_count(&work->now, "history", NULL, "lapsed")) return;
    want_told(work, 0, "lapsed", 1);
    want_told_in_all(work, 1);
}

static tp_status claim_never(struct work *work) {
    work->request.retry = &never;
    tp_status status = claim_some(work);
    return status == TP_NONE && way_is_anothers() ? claim_some(work) : status;
}

static void last_lapsed(struct work *work) {
    work_claimed(work, 1);
    row_make_due(work->ids[0]);
    work->tasks[0] = NULL;
    tp_batch_free(work->batches[--work->batch_count]);
}

static void lapsed_is_given_up(struct work *work) {
    want_task(work, 0, "failed", "failed", 1);
    if (way_is_permanent() && !picture_count(&work->now, "history", NULL, "lapsed")) return;
    want_told(work, 0, "lapsed", 1);
}

static const struct operation operations[] = {
    {"claim", TRAIT_EACH_PLAN | TRAIT_PIECEMEAL, two_due, claim_all, TP_OK, are_claimed, NULL, NULL},
    {"claim, one lapsed", TRAIT_PIECEMEAL, one_lapsed, claim_all, TP_OK, lapsed_is_counted, NULL, NULL},
    {"claim, one lapsed", TRAIT_EACH_PLAN | TRAIT_PIECEMEAL | TRAIT_VARIANT, one_lapsed, claim_all, TP_OK,
     lapsed_is_counted, NULL, NULL},
    {"claim, the last lapse", TRAIT_EACH_PLAN | TRAIT_PIECEMEAL | TRAIT_VARIANT, last_lapsed, claim_never,
     TP_NONE, lapsed_is_given_up, NULL, NULL},
};

static void test_faults__a_claim_loses_and_doubles_nothing_whichever_call_fails(void **state) {
    (void)state;
    POINTS_RUN(operations);
}

FAULTS_GROUP(claim, cmocka_unit_test(test_faults__a_claim_loses_and_doubles_nothing_whichever_call_fails));
