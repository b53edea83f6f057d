/* Plan hold: what is claimed, done and settled in one transaction is stored once. */
#include <string.h>

#include "faults/operation.h"
#include "ops/for_workers.h"

enum { TASKS = 3 };
#define INSIDE (TRAIT_TRANSACTION | TRAIT_SETTLES)

/* Nothing is left of a try that was not committed. */
static tp_status hold_some(struct work *work) {
    tp_batch *batch = UNTOUCHED(tp_batch);
    memset(work->request.token, 0, sizeof work->request.token);
    work->request.plan = work->plan;
    tp_status status = tp_claim(work->conn, &work->request, &batch);
    if (status != TP_OK) {
        want_untouched(TP_DB, batch);
        return status;
    }
    work->batches[work->batch_count++] = batch;
    want_number(tp_batch_count(batch), work->id_count);
    for (size_t i = 0; i < work->id_count; i++)
        want_number(batch_holds(batch, work->ids[i]), 1);
    return status;
}

/* Claims all, with their effects. */
static tp_status hold_with_effects(struct work *work) {
    tp_status status = hold_some(work);
    for (size_t i = 0; i < TASKS && status == TP_OK; i++) {
        work->tasks[i] = tp_batch_task(work->batches[work->batch_count - 1], i);
        status = own_effect(work, work->tasks[i]->id);
    }
    return status;
}

static tp_status hold(struct work *work) {
    tp_status status = hold_with_effects(work);
    for (size_t i = 0; i < TASKS && status == TP_OK; i++)
        status = tp_complete(work->conn, work->tasks[i]);
    return status;
}

static tp_status hold_many(struct work *work) {
    tp_status status = hold_with_effects(work);
    return status == TP_OK ? tp_complete_many(work->conn, work->tasks, TASKS, NULL) : status;
}

static tp_status hold_and_fail(struct work *work) {
    static const int64_t one_minute[] = {60000};
    const tp_retry one_retry = {.size = sizeof one_retry, .delays_ms = one_minute, .count = 1};
    tp_status status = hold_with_effects(work);
    if (status == TP_OK) status = tp_skip(work->conn, work->tasks[0], reason_like_a_lapse);
    if (status == TP_OK) status = tp_fail(work->conn, work->tasks[1], long_reason, &one_retry);
    if (status == TP_OK) status = tp_give_up(work->conn, work->tasks[2], long_reason);
    return status == TP_EXHAUSTED ? TP_OK : status;
}

/* In whichever order they came. */
STEP(forget_order, memset(work->tasks, 0, sizeof work->tasks))

static void are_paid(struct work *work) {
    forget_order(work);
    for (size_t i = 0; i < TASKS; i++) {
        want_task(work, i, "finished", "done", 0);
        want_settled_by_us(work, i);
        want_effects(work, i, 1);
    }
    want_events_in_all(work, 0);
}

static void ended_in_three_ways(struct work *work) {
    want_number(snapshot_count(&work->now, "finished", NULL, "skipped"), 1);
    want_number(snapshot_count(&work->now, "pending", NULL, "failed"), 1);
    want_number(snapshot_count(&work->now, "failed", NULL, "failed"), 1);
    want_events_of_all(work, "failed", 1);
    want_events_of_all(work, "gave-up", 1);
    want_events_in_all(work, 2);
    for (size_t i = 0; i < TASKS; i++)
        want_effects(work, i, 1);
}

/* ---- Claims alone: once the transaction has ended, the tasks are as they were ----------------------------
 */

static void lapses_are_counted(struct work *work) {
    want_all(work, "pending", "failed", 1);
    want_lapses(work, 2);
}

static tp_status hold_without_retry(struct work *work) {
    work->request.retry = &no_retry;
    return hold_some(work);
}

/* ---- What was held is claimed by a lease -----------------------------------------------------------------
 */

static void hold_elsewhere(struct work *work) {
    tp_batch *batch = NULL;
    work->request.plan = "hold";
    must(tp_begin(pool.b));
    must(tp_claim(pool.b, &work->request, &batch));
    work->batches[work->batch_count++] = batch;
    work->tasks[0] = tp_batch_task(batch, 0);
}

static void hold_and_roll_back(struct work *work) {
    hold_elsewhere(work);
    must(tp_rollback(pool.b));
}

static void held_and_rolled_back(struct work *work) {
    work_put(work, 1);
    hold_and_roll_back(work);
}

static void held_after_a_lapse(struct work *work) {
    work_lapsed(work, 1);
    hold_and_roll_back(work);
}

static void held_and_settled(struct work *work) {
    work_put(work, 1);
    hold_elsewhere(work);
    must(tp_complete(pool.b, work->tasks[0]));
    must(tp_commit(pool.b));
}

CALL(claim_held, tpi_claim_held(work->conn, work->tasks[0], 60000))

static void is_claimed(struct work *work) {
    want_task(work, 0, "pending", "handling", 0);
    want_events_in_all(work, 0);
    must(tp_complete(pool.b, work->tasks[0]));
}

static void is_done(struct work *work) {
    const tp_task *asked = work->tasks[0];
    work->tasks[0] = NULL; /* its token is that of the claim that was not made */
    want_task(work, 0, "finished", "done", 0);
    work->tasks[0] = asked;
    want_events_in_all(work, 0);
}

static void lapse_is_counted(struct work *work) {
    want_task(work, 0, "pending", "handling", 1);
    want_events(work, 0, "lapsed", 1);
    want_events_in_all(work, 1);
}

static const struct operation operations[] = {
    {"claim, effect, complete", INSIDE, three_put, hold, TP_OK, are_paid, .plan = "hold"},
    {"claim, effect, complete_many", INSIDE, three_put, hold_many, TP_OK, are_paid, .plan = "hold"},
    {"claim, effect; skip, fail, give_up", INSIDE, three_put, hold_and_fail, TP_OK, ended_in_three_ways,
     .plan = "hold"},
    {"claim", TRAIT_TRANSACTION, three_put, hold_some, TP_OK, are_pending, .plan = "hold"},
    {"claim in order", TRAIT_TRANSACTION | TRAIT_EXPENSIVE, three_in_order, hold_some, TP_OK, are_pending,
     .plan = "hold"},
    {"claim, two lapsed", TRAIT_TRANSACTION, two_lapsed, hold_some, TP_OK, lapses_are_counted,
     .plan = "hold"},
    {"claim, the last lapse", TRAIT_TRANSACTION, two_lapsed, hold_without_retry, TP_NONE, lapses_gave_up,
     .plan = "hold"},
    {"claim_held", TRAIT_POINTERS, held_and_rolled_back, claim_held, TP_OK, is_claimed, .plan = "hold"},
    {"claim_held, of a settled one", TRAIT_POINTERS, held_and_settled, claim_held, TP_EXISTS, is_done,
     .plan = "hold"},
    {"claim_held, of a lapsed lease", TRAIT_POINTERS, held_after_a_lapse, claim_held, TP_OK, lapse_is_counted,
     .plan = "hold"},
};

OPERATION_GROUP(hold, test_faults__what_is_held_is_done_once_whichever_call_fails, operations);
