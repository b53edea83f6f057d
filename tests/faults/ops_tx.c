/* In a transaction of the caller's, effect and settle are stored together once, or not at all, whether the
 * library's call fails or the application's own, on the library's connection or on one that the application
 * has lent. */
#include <string.h>

#include "faults/loop.h"
#include "faults/operation.h"

#define INSIDE   (TRAIT_TRANSACTION | TRAIT_SETTLES)
#define BORROWED (TRAIT_BORROWED | TRAIT_SETTLES)

/* What the application does not look at the answer of. */
STEP(statement_ignoring_failure,
     (void)own_statement(work, "UPDATE tp_fx SET note = 'y' WHERE task_id = '%s'", work->ids[0]))

/* ---- Effect and settle --------------------------------------------------------------------------------- */

static tp_status pay(struct work *work) {
    tp_status status = own_effect(work, work->ids[0]);
    return status == TP_OK ? tp_complete(work->conn, work->tasks[0]) : status;
}

static tp_status pay_ignoring_own_failure(struct work *work) {
    tp_status status = own_effect(work, work->ids[0]);
    if (status != TP_OK) return status;
    statement_ignoring_failure(work);
    status = tp_complete(work->conn, work->tasks[0]);
    if (status == TP_OK) statement_ignoring_failure(work);
    return status;
}

/* A commit after a failure of the library's that nobody looked at. */
static tp_status pay_ignoring_failure(struct work *work) {
    tp_status status = own_effect(work, work->ids[0]);
    if (status == TP_OK) (void)!tp_complete(work->conn, work->tasks[0]);
    return status;
}

static void is_paid(struct work *work) {
    want_task(work, 0, "finished", "done", 0);
    want_effects(work, 0, 1);
    want_events_in_all(work, 0);
}

static tp_status skip_it(struct work *work) {
    tp_status status = own_effect(work, work->ids[0]);
    return status == TP_OK ? tp_skip(work->conn, work->tasks[0], "not wanted") : status;
}

static void is_skipped(struct work *work) {
    want_task(work, 0, "finished", "skipped", 0);
    want_effects(work, 0, 1);
}

static tp_status fail_once(struct work *work) {
    tp_status status = own_effect(work, work->ids[0]);
    return status == TP_OK ? tp_fail(work->conn, work->tasks[0], "no money", NULL) : status;
}

static void is_failed(struct work *work) {
    want_task(work, 0, "pending", "failed", 1);
    want_events(work, 0, "failed", 1);
    want_events_in_all(work, 1);
    want_effects(work, 0, 1);
}

static tp_status fail_the_last(struct work *work) {
    tp_status status = own_effect(work, work->ids[0]);
    if (status == TP_OK) status = tp_fail(work->conn, work->tasks[0], "no money", &no_retry);
    return status == TP_EXHAUSTED ? TP_OK : status;
}

static void is_given_up(struct work *work) {
    want_task(work, 0, "failed", "failed", 1);
    want_events(work, 0, "gave-up", 1);
    want_events_in_all(work, 1);
    want_effects(work, 0, 1);
}

static tp_status pay_many(struct work *work) {
    tp_status status = TP_OK;
    for (size_t i = 0; i < 3 && status == TP_OK; i++)
        status = own_effect(work, work->ids[i]);
    return status == TP_OK ? tp_complete_many(work->conn, work->tasks, 3, NULL) : status;
}

static void are_paid(struct work *work) {
    for (size_t i = 0; i < 3; i++) {
        want_task(work, i, "finished", "done", 0);
        want_effects(work, i, 1);
    }
}

/* ---- Effect and tasks ---------------------------------------------------------------------------------- */

STEP(order, work_fresh(work))

/* The effect is that of the task which is put in. */
static tp_status place_order(struct work *work) {
    tp_status status = tp_enqueue(work->conn, &work->fresh[0]);
    work_note_fresh(work);
    return status == TP_OK ? own_effect(work, work->ids[0]) : status;
}

static void is_ordered(struct work *work) {
    want_task(work, 0, "pending", "pending", 0);
    want_effects(work, 0, 1);
}

/* A task makes another: both are stored, or neither. */
static void one_and_next(struct work *work) {
    work_claimed(work, 1);
    work_fresh(work);
}

static tp_status pass_on(struct work *work) {
    tp_status status = tp_enqueue(work->conn, &work->fresh[0]);
    memcpy(work->ids[1], work->fresh[0].id, TP_ID_SIZE);
    work->id_count = 2;
    return status >= TP_OK ? tp_complete(work->conn, work->tasks[0]) : status;
}

static void is_passed_on(struct work *work) {
    want_task(work, 0, "finished", "done", 0);
    want_task(work, 1, "pending", "pending", 0);
}

/* ---- The ledger ---------------------------------------------------------------------------------------- */

static tp_status once_and_pay(struct work *work) {
    tp_status status = tp_once(work->conn, work->key, work->tasks[0]);
    if (status == TP_OK) status = own_effect(work, work->ids[0]);
    return status == TP_OK ? tp_complete(work->conn, work->tasks[0]) : status;
}

static void is_paid_by_key(struct work *work) {
    is_paid(work);
    want_key(work, 1);
}

/* The application's own level, at which its key is brought behind a savepoint. It is set before the first
 * statement of a transaction, so the one in which the connection was lent is ended. */
static tp_status once_at_repeatable_read(struct work *work) {
    tp_status status = pool_on_postgres() ? loop_roll_back(work) : TP_OK;
    if (status == TP_OK && pool_on_postgres())
        status = own_statement(work, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    if (status == TP_OK) status = tp_once(work->conn, work->key, NULL);
    return status == TP_OK ? own_effect(work, "t") : status;
}

static tp_status key_or_not(const struct work *work) {
    return snapshot_count(&work->now, "once", NULL, "") ? TP_EXISTS : TP_OK;
}

static void is_done_by_key(struct work *work) {
    want_key(work, 1);
    want_number(snapshot_count(&work->now, "effect", NULL, ""), 1);
}

/* ---- An effect alone ----------------------------------------------------------------------------------- */

/* The application does not look at the answer of its own statement; that of the commit must tell. */
static tp_status effect_alone(struct work *work) {
    if (work->calls > 1 && snapshot_count(&work->now, "effect", NULL, "")) return TP_OK;
    tp_status status = tp_begin(work->conn);
    if (status != TP_OK) return status;
    (void)sql_try(work->conn, "INSERT INTO tp_fx (task_id, note) VALUES ('t', 'x')");
    return tp_commit(work->conn);
}

STEP(is_effected, want_number(snapshot_count(&work->now, "effect", NULL, ""), 1))

static const struct operation operations[] = {
    {"effect, complete", INSIDE, one_claimed, pay, TP_OK, is_paid},
    {"effect, complete, own failures ignored", INSIDE, one_claimed, pay_ignoring_own_failure, TP_OK, is_paid},
    {"effect, complete, its failure ignored", INSIDE | TRAIT_IGNORES_ANSWER, one_claimed,
     pay_ignoring_failure, TP_OK, is_paid},
    {"effect, skip", INSIDE | TRAIT_EXPENSIVE, one_claimed, skip_it, TP_OK, is_skipped},
    {"effect, fail", INSIDE, one_claimed, fail_once, TP_OK, is_failed},
    {"effect, last fail", INSIDE | TRAIT_EXPENSIVE, one_claimed, fail_the_last, TP_OK, is_given_up},
    {"effects, complete_many", INSIDE | TRAIT_EXPENSIVE, three_claimed, pay_many, TP_OK, are_paid},
    {"effect, enqueue", INSIDE, order, place_order, TP_OK, is_ordered, there_or_not},
    {"complete, enqueue", INSIDE, one_and_next, pass_on, TP_OK, is_passed_on},
    {"once, effect, complete", INSIDE, one_claimed, once_and_pay, TP_OK, is_paid_by_key},
    {"begin, effect, its failure ignored, commit", TRAIT_IGNORES_ANSWER, NULL, effect_alone, TP_OK,
     is_effected},
};

static const struct operation borrowed[] = {
    {"borrowed: effect, enqueue", BORROWED, order, place_order, TP_OK, is_ordered, there_or_not},
    {"borrowed: effect, complete", BORROWED, one_claimed, pay, TP_OK, is_paid},
    {"borrowed: effect, fail", BORROWED | TRAIT_EXPENSIVE, one_claimed, fail_once, TP_OK, is_failed},
    {"borrowed: effects, complete_many", BORROWED, three_claimed, pay_many, TP_OK, are_paid},
    {"borrowed: once at repeatable read, effect", TRAIT_BORROWED, NULL, once_at_repeatable_read, TP_OK,
     is_done_by_key, key_or_not},
    {"borrowed: once, effect, complete", BORROWED, one_claimed, once_and_pay, TP_OK, is_paid_by_key},
};

OPERATION_GROUP(tx, test_faults__effect_and_settle_are_stored_together_once_whichever_call_fails, operations);
OPERATION_GROUP(borrow, test_faults__a_borrowed_connections_transaction_is_stored_once_whichever_call_fails,
                borrowed);
