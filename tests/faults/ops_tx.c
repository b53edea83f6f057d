/* In a transaction of the caller's, effect and settle are stored together once,
 * or not at all, whichever call fails: the library's or the application's own.
 */
#include <stdio.h>
#include <string.h>

#include "faults/ops.h"

static const tp_retry never = {.size = sizeof never};

static void one(struct work *work) {
    work_claimed(work, 1);
}

static tp_status effect_of_first(struct work *work) {
    return own_statement(work, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', 'x')", work->ids[0]);
}

/* What the application does not look at the answer of. */
static void careless_statement(struct work *work) {
    (void)own_statement(work, "UPDATE tp_fx SET note = 'y' WHERE task_id = '%s'", work->ids[0]);
}

/* As taskpool.h says: after a commit without an answer, ask. */
static tp_status again_unless_settled(struct work *work, tp_status (*body)(struct work *work)) {
    if (work->unsure) {
        tp_status known = tp_settled(work->conn, work->tasks[0]);
        if (known != TP_NONE) return known;
        work->unsure = false;
    }
    return in_transaction(work, body);
}

/* ---- Effect and settle --------------------------------------------------------------------------------- */

static tp_status complete_body(struct work *work) {
    tp_status status = effect_of_first(work);
    return status == TP_OK ? tp_complete(work->conn, work->tasks[0]) : status;
}

static tp_status pay(struct work *work) {
    return again_unless_settled(work, complete_body);
}

static tp_status careless_body(struct work *work) {
    tp_status status = effect_of_first(work);
    if (status != TP_OK) return status;
    careless_statement(work);
    status = tp_complete(work->conn, work->tasks[0]);
    if (status == TP_OK) careless_statement(work);
    return status;
}

static tp_status pay_carelessly(struct work *work) {
    return again_unless_settled(work, careless_body);
}

/* A commit after a failure of the library's that nobody looked at. */
static tp_status unheeding_body(struct work *work) {
    tp_status status = effect_of_first(work);
    if (status == TP_OK) (void)!tp_complete(work->conn, work->tasks[0]);
    return status;
}

static tp_status pay_unheedingly(struct work *work) {
    return again_unless_settled(work, unheeding_body);
}

static tp_status skip_body(struct work *work) {
    tp_status status = effect_of_first(work);
    return status == TP_OK ? tp_skip(work->conn, work->tasks[0], "not wanted") : status;
}

static tp_status skip_it(struct work *work) {
    return again_unless_settled(work, skip_body);
}

static void is_skipped(struct work *work) {
    want_task(work, 0, "finished", "skipped", 0);
    want_effects(work, 0, 1);
}

static tp_status fail_body(struct work *work) {
    tp_status status = effect_of_first(work);
    return status == TP_OK ? tp_fail(work->conn, work->tasks[0], "no money", NULL) : status;
}

static tp_status fail_once(struct work *work) {
    return again_unless_settled(work, fail_body);
}

static tp_status last_body(struct work *work) {
    tp_status status = effect_of_first(work);
    if (status == TP_OK) status = tp_fail(work->conn, work->tasks[0], "no money", &never);
    return status == TP_SPENT ? TP_OK : status;
}

static tp_status fail_the_last(struct work *work) {
    return again_unless_settled(work, last_body);
}

static void is_given_up(struct work *work) {
    want_task(work, 0, "failed", "failed", 1);
    want_told(work, 0, "gave-up", 1);
    want_told_in_all(work, 1);
    want_effects(work, 0, 1);
}

/* ---- Effect and tasks ---------------------------------------------------------------------------------- */

static void order(struct work *work) {
    work_fresh(work);
}

/* The effect is that of the task which is put in. EXISTS: the first try's
 * transaction was committed. */
static tp_status order_body(struct work *work) {
    tp_status status = tp_enqueue(work->conn, &work->fresh[0]);
    work_note_fresh(work);
    return status == TP_OK ? effect_of_first(work) : status;
}

static tp_status place_order(struct work *work) {
    tp_status status = in_transaction(work, order_body);
    return status == TP_EXISTS ? TP_OK : status;
}

/* A task makes another: both are stored, or neither. */
static void one_and_next(struct work *work) {
    work_claimed(work, 1);
    work_fresh(work);
}

static tp_status pass_on_body(struct work *work) {
    tp_status status = tp_enqueue(work->conn, &work->fresh[0]);
    memcpy(work->ids[1], work->fresh[0].id, TP_ID_SIZE);
    work->id_count = 2;
    return status >= TP_OK ? tp_complete(work->conn, work->tasks[0]) : status;
}

static tp_status pass_on(struct work *work) {
    return again_unless_settled(work, pass_on_body);
}

static void is_passed_on(struct work *work) {
    want_task(work, 0, "finished", "done", 0);
    want_task(work, 1, "pending", "pending", 0);
}

/* ---- The ledger ---------------------------------------------------------------------------------------- */

static tp_status once_body(struct work *work) {
    tp_status status = tp_once(work->conn, work->key, work->tasks[0]);
    if (status == TP_OK) status = effect_of_first(work);
    return status == TP_OK ? tp_complete(work->conn, work->tasks[0]) : status;
}

static tp_status once_and_pay(struct work *work) {
    return again_unless_settled(work, once_body);
}

static tp_status once_alone(struct work *work) {
    return tp_once(work->conn, work->key, NULL);
}

static void is_in_ledger(struct work *work) {
    want_key(work, 1);
}

static const struct operation operations[] = {
    {"effect, complete", 0, one, pay, TP_OK, judge_paid, NULL, NULL},
    {"effect, complete, carelessly", 0, one, pay_carelessly, TP_OK, judge_paid, NULL, NULL},
    {"effect, complete unheeded", 0, one, pay_unheedingly, TP_OK, judge_paid, NULL, NULL},
    {"effect, skip", TRAIT_VARIANT, one, skip_it, TP_OK, is_skipped, NULL, NULL},
    {"effect, fail", 0, one, fail_once, TP_OK, judge_failed, NULL, NULL},
    {"effect, last fail", TRAIT_VARIANT, one, fail_the_last, TP_OK, is_given_up, NULL, NULL},
    {"effect, enqueue", 0, order, place_order, TP_OK, judge_ordered, NULL, NULL},
    {"complete, enqueue", 0, one_and_next, pass_on, TP_OK, is_passed_on, NULL, NULL},
    {"once", 0, NULL, once_alone, TP_OK, is_in_ledger, NULL, NULL},
    {"once, effect, complete", 0, one, once_and_pay, TP_OK, judge_paid_by_key, NULL, NULL},
};

static void test_faults__effect_and_settle_are_stored_together_once_whichever_call_fails(void **state) {
    (void)state;
    POINTS_RUN(operations);
}

FAULTS_GROUP(tx,
             cmocka_unit_test(test_faults__effect_and_settle_are_stored_together_once_whichever_call_fails));
