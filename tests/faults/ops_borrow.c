/* On the application's own connection, what it commits is stored once,
 * whichever call fails, when it rolls back and begins anew, on a new connection
 * if need be, as taskpool.h says. */
#include <sqlext.h>
#include <stdio.h>
#include <string.h>

#include "faults/ops.h"

static void one(struct work *work) {
    work_claimed(work, 1);
}

static void two_claims(struct work *work) {
    work_claimed(work, 2);
    work_claimed(work, 1);
}

static tp_status effect_of(struct work *work, size_t i) {
    return own_statement(work, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', 'x')", work->ids[i]);
}

static void give_up_transaction(struct work *work) {
    if (!SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, work->loan.raw.dbc, SQL_ROLLBACK)))
        wrong("the application's rollback failed");
}

static tp_status commit(struct work *work) {
    tp_status status = loan_commit(work);
    work->unsure = status != TP_OK;
    return status;
}

/* ---- Tasks in ------------------------------------------------------------------------------------------ */

static void order(struct work *work) {
    work_fresh(work);
}

static tp_status place_order(struct work *work) {
    if (work->calls > 1) work->fresh[0].own_id = work->ids[0];
    tp_status status = tp_enqueue(work->conn, &work->fresh[0]);
    work_note_fresh(work);
    if (status == TP_EXISTS) give_up_transaction(work);
    if (status != TP_OK) return status;
    status = effect_of(work, 0);
    return status == TP_OK ? commit(work) : status;
}

static tp_status there_or_not(const struct work *work) {
    return picture_task(&work->now, work->ids[0]) ? TP_EXISTS : TP_OK;
}

/* ---- Settles ------------------------------------------------------------------------------------------- */

/* After a commit without an answer: TP_NONE, do it (again). */
static tp_status ask(struct work *work) {
    if (!work->unsure) return TP_NONE;
    tp_status status = tp_settled(work->conn, work->tasks[0]);
    if (status >= TP_OK) work->unsure = false;
    return status;
}

static tp_status pay(struct work *work) {
    tp_status status = ask(work);
    if (status != TP_NONE) return status;
    status = effect_of(work, 0);
    if (status == TP_OK) status = tp_complete(work->conn, work->tasks[0]);
    return status == TP_OK ? commit(work) : status;
}

static tp_status fail_once(struct work *work) {
    tp_status status = ask(work);
    if (status != TP_NONE) return status;
    status = effect_of(work, 0);
    if (status == TP_OK) status = tp_fail(work->conn, work->tasks[0], "no money", NULL);
    return status == TP_OK ? commit(work) : status;
}

static tp_status pay_many(struct work *work) {
    tp_status status = ask(work);
    if (status != TP_NONE) return status;
    status = TP_OK;
    for (size_t i = 0; i < 3 && status == TP_OK; i++)
        status = effect_of(work, i);
    if (status == TP_OK) status = tp_complete_many(work->conn, work->tasks, 3, NULL);
    return status == TP_OK ? commit(work) : status;
}

static void are_paid(struct work *work) {
    for (size_t i = 0; i < 3; i++) {
        want_task(work, i, "finished", "done", 0);
        want_effects(work, i, 1);
    }
}

static tp_status once_and_pay(struct work *work) {
    tp_status status = ask(work);
    if (status != TP_NONE) return status;
    status = tp_once(work->conn, work->key, work->tasks[0]);
    if (status == TP_OK) status = effect_of(work, 0);
    if (status == TP_OK) status = tp_complete(work->conn, work->tasks[0]);
    return status == TP_OK ? commit(work) : status;
}

static const struct operation operations[] = {
    {"borrowed: effect, enqueue", TRAIT_BORROWED, order, place_order, TP_OK, judge_ordered, there_or_not,
     NULL},
    {"borrowed: effect, complete", TRAIT_BORROWED, one, pay, TP_OK, judge_paid, NULL, NULL},
    {"borrowed: effect, fail", TRAIT_BORROWED | TRAIT_VARIANT, one, fail_once, TP_OK, judge_failed, NULL,
     NULL},
    {"borrowed: effects, complete_many", TRAIT_BORROWED, two_claims, pay_many, TP_OK, are_paid, NULL, NULL},
    {"borrowed: once, effect, complete", TRAIT_BORROWED, one, once_and_pay, TP_OK, judge_paid_by_key, NULL,
     NULL},
};

static void
test_faults__a_borrowed_connections_transaction_is_stored_once_whichever_call_fails(void **state) {
    (void)state;
    POINTS_RUN(operations);
}

FAULTS_GROUP(
    borrow,
    cmocka_unit_test(test_faults__a_borrowed_connections_transaction_is_stored_once_whichever_call_fails));
