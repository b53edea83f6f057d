/* The application's own statements and the settle in one transaction. */
#include "ops/for_workers.h"
#include "suite.h"
#include "support/faults.h"

THEME(transaction, A_PLAN);

TEST(test_transaction__effect_and_settle_commit_together) {
    const tp_task *task = put_and_claim(pool.a);
    begin_and_pay(pool.a, task);
    expect_number(effects_of(task->id), 0);
    must(tp_commit(pool.a));
    expect_number(effects_of(task->id), 1);
    expect_row(task->id, "finished", "done", 0);
}

TEST(test_transaction__effect_and_settle_roll_back_together) {
    const tp_task *task = put_and_claim(pool.a);
    struct row before = row_of(task->id);
    begin_and_pay(pool.a, task);
    must(tp_rollback(pool.a));
    expect_number(effects_of(task->id), 0);
    expect_same(task->id, &before);
    must(tp_complete(pool.a, task));
}

TEST(test_transaction__a_closed_connection_stores_nothing) {
    tp_conn *conn = NULL;
    must(tp_conn_open(pool.env, &conn));
    const tp_task *task = put_and_claim(conn);
    struct row before = row_of(task->id);
    begin_and_pay(conn, task);
    tp_conn_close(conn);
    expect_same(task->id, &before);
    expect_number(effects_of(task->id), 0);
}

TEST(test_transaction__many_settles_and_an_enqueue_are_one) {
    tp_new_task follow_up = task_new("next");
    char ids[5][ID];
    task_put_many(5, ids);
    tp_batch *batch = claim(pool.a, 5);
    for (int round = 0; round < 2; round++) {
        must(tp_begin(pool.a));
        for (size_t i = 0; i < 5; i++)
            must(tp_complete(pool.a, tp_batch_task(batch, i)));
        must(tp_enqueue(pool.a, &follow_up));
        must(round ? tp_commit(pool.a) : tp_rollback(pool.a));
        expect_number(rows_in("finished", pool.handler), round ? 5 : 0);
        expect_number(row_of(follow_up.id).copies, round);
    }
}

/* It stores what was written until then. What follows is alone, which some drivers let be known; else it is
 * another transaction, which is stored whole or not at all. */
TEST(test_transaction__a_commit_by_a_statement_of_the_applications_does_not_split_the_settle) {
    const tp_task *task = put_and_claim(pool.a);
    struct row before = row_of(task->id);
    must(tp_begin(pool.a));
    effect(pool.a, task->id);
    sure(sql_raw(tp_conn_dbc(pool.a), "COMMIT"), "%s", sql_reason());
    tp_status status = tp_complete(pool.a, task);
    expect(pool_driver()->tx_ends_silently ? TP_CONFLICT : TP_OK, status);
    if (status != TP_OK) expect_text("a statement that commits by itself");
    must(tp_rollback(pool.a));
    expect_same(task->id, &before);
    expect_number(effects_of(task->id), 1);
}

/* The server says that its disk is full, or failed, and ends; it may have stored all the same. */
TEST(test_transaction__a_commit_that_its_session_did_not_survive_is_to_be_asked_about) {
    static const enum faults_kind kinds[] = {FAULTS_FULL, FAULTS_IO};
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        const tp_task *task = put_and_claim(pool.a);
        begin_and_pay(pool.a, task);
        faults_open();
        faults_clear();
        faults_at(.statement = "commit", .times = 1, .fault = TPI_FAULT_ANSWER_LOST, .kind = kinds[i]);
        faults_at(.statement = "rollback", .times = 1, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_DEAD);
        expect(TP_DISCONNECTED, tp_commit(pool.a));
        must(tp_conn_reopen(pool.a));
        expect_number(effects_of(task->id), 1);
        expect_row(task->id, "finished", "done", 0);
    }
}

/* After a lost settle the transaction can only be rolled back, and says so in every way. */
TEST(test_transaction__after_a_loss_nothing_is_stored) {
    tp_new_task more = task_new("x");
    const tp_task *lost = put_and_claim(pool.a);
    row_make_due(lost->id);
    claim_this(pool.b, lost->id);
    const tp_task *good = put_and_claim(pool.a);
    struct row before = row_of(good->id), before_lost = row_of(lost->id);
    begin_and_pay(pool.a, good);
    expect(TP_LOST, tp_complete(pool.a, lost));
    expect(TP_CONFLICT, tp_enqueue(pool.a, &more));
    expect(TP_CONFLICT, tp_commit(pool.a));
    expect_same(good->id, &before);
    expect_same(lost->id, &before_lost);
    expect_number(effects_of(good->id), 0);
    expect(TP_MISUSE, tp_commit(pool.a)); /* it is over */
    must(tp_complete(pool.a, good));
}

/* Some databases throw away the whole transaction at an application's own failed statement, some only the
 * statement. Whatever tp_commit answers must be what happened. */
TEST(test_transaction__after_the_applications_own_failure_commit_tells_the_truth) {
    const tp_task *task = put_and_claim(pool.a);
    struct row before = row_of(task->id);
    begin_and_pay(pool.a, task);
    assert_false(sql_try(pool.a, "INSERT INTO tp_fx (task_id, note) VALUES (NULL, 'bad')"));
    tp_status status = tp_commit(pool.a);
    if (pool_on_postgres() && pool_driver()->commit_begin) expect(TP_CONFLICT, status);
    if (status == TP_OK) {
        expect_row(task->id, "finished", "done", 0);
        expect_number(effects_of(task->id), 1);
    } else {
        expect_may_retry(status);
        expect_same(task->id, &before);
        expect_number(effects_of(task->id), 0);
        must(tp_complete(pool.a, task));
    }
}

TEST(test_transaction__a_duplicate_is_an_answer_and_spoils_nothing) {
    tp_new_task task = task_new("x"), again;
    tp_new_task keyed = task_new("x"), same_key = task_new("y");
    keyed.dedup_key = same_key.dedup_key = pool.handler;
    must(tp_enqueue(pool.a, &task));
    must(tp_enqueue(pool.a, &keyed));
    again = task;
    must(tp_begin(pool.a));
    effect(pool.a, task.id);
    expect(TP_EXISTS, tp_enqueue(pool.a, &again));
    expect(TP_EXISTS, tp_enqueue(pool.a, &same_key));
    must(tp_commit(pool.a));
    expect_number(effects_of(task.id), 1);
    expect_number(rows_in("pending", pool.handler), 2);
}

TEST(test_transaction__a_commit_may_begin_the_next_transaction) {
    const tp_task *first = put_and_claim(pool.a);
    const tp_task *second = put_and_claim(pool.a);
    expect(TP_MISUSE, tpi_commit_begin(pool.a));
    begin_and_pay(pool.a, first);
    tp_status status = tpi_commit_begin(pool.a);
    expect_row(first->id, "finished", "done", 0);
    expect_number(effects_of(first->id), 1);
    expect(pool_driver()->commit_begin ? TP_OK : TP_NONE, status);
    if (status == TP_NONE) must(tp_begin(pool.a));
    effect(pool.a, second->id);
    must(tp_complete(pool.a, second));
    must(tp_rollback(pool.a));
    expect_number(effects_of(second->id), 0);
    expect(TP_MISUSE, tp_commit(pool.a));
    must(tp_complete(pool.a, second));
}

TEST(test_transaction__a_commit_that_fails_begins_none) {
    const tp_task *task = put_and_claim(pool.a);
    row_make_due(task->id);
    claim_this(pool.b, task->id);
    must(tp_begin(pool.a));
    expect(TP_LOST, tp_complete(pool.a, task));
    expect(TP_CONFLICT, tpi_commit_begin(pool.a));
    expect(TP_MISUSE, tp_commit(pool.a));
    must(tp_begin(pool.a));
    effect(pool.a, task->id);
    if (sql_try(pool.a, "INSERT INTO tp_fx (task_id, note) VALUES (NULL, 'bad')")) fail();
    if (pool_on_postgres() && pool_driver()->commit_begin) {
        expect(TP_CONFLICT, tpi_commit_begin(pool.a));
        expect_number(effects_of(task->id), 0);
    }
    (void)!tp_rollback(pool.a);
}

/* What the answer was asked for may not be committed by who does not look at it. */
TEST(test_transaction__after_a_loss_that_was_asked_for_nothing_is_stored) {
    const tp_task *task = put_and_claim(pool.a);
    row_make_due(task->id);
    claim_this(pool.b, task->id);
    expect_dooms(pool.a, task->id, TP_LOST, tp_settled(pool.a, task));
}

TEST(test_transaction__begin_and_commit_in_the_wrong_order_are_misuse) {
    expect(TP_MISUSE, tp_commit(pool.a));
    expect(TP_MISUSE, tp_rollback(pool.a));
    must(tp_begin(pool.a));
    expect(TP_MISUSE, tp_begin(pool.a));
    must(tp_rollback(pool.a));
    expect(TP_MISUSE, tp_rollback(pool.a));
}
