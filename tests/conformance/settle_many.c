/* Many settles in few statements: the same answers as one by one. */
#include <sqlext.h>
#include <stdlib.h>
#include <string.h>

#include "ops/for_workers.h"
#include "suite.h"
#include "support/faults.h"

enum { FEW = 6, TOKENS = 3 };
static const char stranger[] = "01936f5e-8a4c-4b1d-9c3e-5f6a7b8c9d02";

/* FEW tasks, of three claims. */
struct hand {
    tp_batch *batches[TOKENS];
    const tp_task *tasks[FEW];
    tp_status answers[FEW];
};

static struct hand take(void) {
    struct hand hand = {0};
    size_t count = 0;
    task_put_many(FEW, NULL);
    for (int t = 0; t < TOKENS; t++) {
        hand.batches[t] = claim(t == 1 ? pool.b : pool.a, FEW / TOKENS);
        for (size_t i = 0; i < FEW / TOKENS; i++)
            hand.tasks[count++] = tp_batch_task(hand.batches[t], i);
    }
    return hand;
}

static void drop(struct hand *hand) {
    for (int t = 0; t < TOKENS; t++)
        tp_batch_free(hand->batches[t]);
}

static void steal(const tp_task *task) {
    expect_number(sql_run(pool.eye, "UPDATE tp_pending SET owner = '%s' WHERE id = '%s'", stranger, task->id),
                  1);
}

static void expect_all_done(const struct hand *hand) {
    for (int i = 0; i < FEW; i++) {
        expect_row(hand->tasks[i]->id, "finished", "done", 0);
        assert_string_equal(row_of(hand->tasks[i]->id).owner, hand->tasks[i]->owner);
        expect_number(hand->answers[i], TP_OK);
    }
}

static void test_settle_many__completes_tasks_of_several_claims(void **state) {
    struct hand hand = take();
    (void)state;
    must(tp_complete_many(pool.a, hand.tasks, FEW, hand.answers));
    expect_all_done(&hand);
    must(tp_complete_many(pool.b, hand.tasks, FEW, hand.answers)); /* asked again */
    expect_all_done(&hand);
    must(tp_complete_many(pool.b, NULL, 0, NULL));
    drop(&hand);
}

static void test_settle_many__needs_few_statements(void **state) {
    enum { MANY = 700 };
    static const tp_task *tasks[MANY];
    static tp_status answers[MANY];
    (void)state;
    task_put_many(MANY, NULL);
    tp_batch *batch = claim(pool.a, MANY);
    for (size_t i = 0; i < MANY; i++)
        tasks[i] = tp_batch_task(batch, i);
    uint64_t before = tp_conn_counters(pool.a)->statements;
    must(tpi_extend_many(pool.a, tasks, MANY, 90000, answers));
    assert_in_range(tp_conn_counters(pool.a)->statements - before, 2, 5);
    before = tp_conn_counters(pool.a)->statements;
    must(tp_complete_many(pool.a, tasks, MANY, answers));
    assert_in_range(tp_conn_counters(pool.a)->statements - before, 2, 8);
    expect_number(rows_in("finished", pool.handler), MANY);
    expect_number(rows_in("pending", pool.handler), 0);
    tp_batch_free(batch);
}

/* One of many is lost and one was done before: still few statements, whatever the number of pieces. */
static void test_settle_many__needs_few_statements_when_one_of_many_is_lost(void **state) {
    static const size_t counts[] = {2, 500, 501, TP_CLAIM_MAX};
    static const tp_task *tasks[TP_CLAIM_MAX];
    static tp_status answers[TP_CLAIM_MAX];
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        size_t count = counts[c];
        task_put_many(count, NULL);
        tp_batch *batch = claim(pool.a, count);
        for (size_t i = 0; i < count; i++)
            tasks[i] = tp_batch_task(batch, i);
        steal(tasks[count - 1]);
        must(tp_complete(pool.a, tasks[0]));
        uint64_t before = tp_conn_counters(pool.a)->statements;
        expect(TP_LOST, tp_complete_many(pool.a, tasks, count, answers));
        assert_in_range(tp_conn_counters(pool.a)->statements - before, 2, 16);
        for (size_t i = 0; i < count; i++)
            expect_number(answers[i], i == count - 1 ? TP_LOST : TP_OK);
        expect_number(rows_in("finished", pool.handler), count - 1);
        expect_row(tasks[count - 1]->id, "pending", "handling", 0);
        sql_run(pool.eye, "DELETE FROM tp_pending");
        sql_run(pool.eye, "DELETE FROM tp_finished");
        tp_batch_free(batch);
    }
}

/* 1 is taken by another, 3 was done before, 4 was failed. */
static void spoil(struct hand *hand) {
    steal(hand->tasks[1]);
    must(tp_complete(pool.b, hand->tasks[3]));
    must(tp_fail(pool.b, hand->tasks[4], "x", NULL));
}

static void test_settle_many__says_which_is_lost_and_does_the_others(void **state) {
    struct hand hand = take();
    (void)state;
    spoil(&hand);
    expect(TP_LOST, tp_complete_many(pool.a, hand.tasks, FEW, hand.answers));
    for (int i = 0; i < FEW; i++) {
        bool lost = i == 1 || i == 4;
        expect_number(hand.answers[i], lost ? TP_LOST : TP_OK);
        if (!lost) expect_row(hand.tasks[i]->id, "finished", "done", 0);
    }
    expect_row(hand.tasks[1]->id, "pending", "handling", 0);
    assert_string_equal(row_of(hand.tasks[1]->id).owner, stranger);
    expect_row(hand.tasks[4]->id, "pending", "failed", 1);
    drop(&hand);
}

static void test_settle_many__does_nothing_inside_a_transaction_when_one_is_lost(void **state) {
    struct hand hand = take();
    struct row before[FEW];
    (void)state;
    spoil(&hand);
    for (int i = 0; i < FEW; i++)
        before[i] = row_of(hand.tasks[i]->id);
    must(tp_begin(pool.a));
    effect(pool.a, hand.tasks[0]->id);
    expect(TP_LOST, tp_complete_many(pool.a, hand.tasks, FEW, hand.answers));
    for (int i = 0; i < FEW; i++)
        expect_number(hand.answers[i], i == 1 || i == 4 ? TP_LOST : TP_OK);
    expect(TP_CONFLICT, tp_commit(pool.a));
    expect_number(effects_of(hand.tasks[0]->id), 0);
    for (int i = 0; i < FEW; i++)
        expect_same(hand.tasks[i]->id, &before[i]);
    drop(&hand);
}

static void test_settle_many__is_part_of_the_transaction_around(void **state) {
    struct hand hand = take();
    (void)state;
    for (int commit = 0; commit < 2; commit++) {
        must(tp_begin(pool.a));
        effect(pool.a, hand.tasks[0]->id);
        must(tp_complete_many(pool.a, hand.tasks, FEW, hand.answers));
        if (commit) {
            must(tp_commit(pool.a));
            continue;
        }
        must(tp_rollback(pool.a));
        expect_number(rows_in("pending", pool.handler), FEW);
    }
    expect_all_done(&hand);
    expect_number(effects_of(hand.tasks[0]->id), 1);
    must(tp_begin(pool.a));
    expect(TP_CONFLICT, tp_complete_many(pool.a, hand.tasks, FEW, NULL)); /* an earlier one did it */
    must(tp_rollback(pool.a));
    drop(&hand);
}

static void test_settle_many__extends_what_is_held_and_says_what_is_not(void **state) {
    struct hand hand = take();
    struct row before[FEW];
    (void)state;
    spoil(&hand);
    for (int i = 0; i < FEW; i++)
        before[i] = row_of(hand.tasks[i]->id);
    expect(TP_LOST, tpi_extend_many(pool.a, hand.tasks, FEW, 500000, hand.answers));
    for (int i = 0; i < FEW; i++) {
        bool held = i == 0 || i == 2 || i == 5;
        expect_number(hand.answers[i], held ? TP_OK : TP_LOST);
        if (held)
            assert_true(row_of(hand.tasks[i]->id).due_at > before[i].due_at + 400000);
        else
            expect_same(hand.tasks[i]->id, &before[i]);
    }
    must(tpi_extend_many(pool.a, hand.tasks, 1, 1000, hand.answers)); /* never shorter */
    assert_true(row_of(hand.tasks[0]->id).due_at > before[0].due_at + 400000);
    drop(&hand);
}

static void test_settle_many__does_nothing_when_one_is_no_claimed_task(void **state) {
    struct hand hand = take();
    tp_task unclaimed = *hand.tasks[2];
    (void)state;
    unclaimed.owner = "";
    hand.tasks[2] = &unclaimed;
    expect(TP_MISUSE, tp_complete_many(pool.a, hand.tasks, FEW, hand.answers));
    hand.tasks[2] = NULL;
    expect(TP_MISUSE, tpi_extend_many(pool.a, hand.tasks, FEW, 1000, hand.answers));
    expect(TP_MISUSE, tp_complete_many(pool.a, NULL, 1, hand.answers));
    expect_number(rows_in("pending", pool.handler), FEW);
    drop(&hand);
}

/* One claimed and one locked (where locks are), each also as a copy. */
static void test_settle_many__settles_a_task_once_that_is_named_twice(void **state) {
    tp_batch *copies[2] = {NULL}, *held = NULL;
    const tp_task *tasks[6];
    tp_status answers[6];
    size_t count = 3;
    (void)state;
    tp_batch *batch = put_and_claim(pool.b, &tasks[0]);
    must(tpi_batch_take(batch, 0, &copies[0]));
    tasks[1] = tp_batch_task(copies[0], 0);
    tasks[2] = tasks[0];
    if (pool_plan_possible("hold")) {
        tp_claim_request request = claim_request(1);
        request.plan = "hold";
        task_put_many(1, NULL);
        must(tp_begin(pool.a));
        must(tp_claim(pool.a, &request, &held));
        must(tpi_batch_take(held, 0, &copies[1]));
        tasks[3] = tasks[5] = tp_batch_task(held, 0);
        tasks[4] = tp_batch_task(copies[1], 0);
        count = 6;
    }
    must(tpi_extend_many(pool.a, tasks, count, 90000, answers));
    for (int round = 0; round < 2; round++) { /* and asked again */
        memset(answers, 7, sizeof answers);
        must(tp_complete_many(pool.a, tasks, count, answers));
        if (held && round == 0) must(tp_commit(pool.a));
        for (size_t i = 0; i < count; i++) {
            expect_number(answers[i], TP_OK);
            expect_row(tasks[i]->id, "finished", "done", 0);
        }
    }
    for (int i = 0; i < 2; i++)
        tp_batch_free(copies[i]);
    tp_batch_free(batch);
    tp_batch_free(held);
}

/* A lock and a token in one call. */
static void test_settle_many__completes_tasks_that_are_locked_together_with_others(void **state) {
    tp_claim_request request = claim_request(3);
    const tp_task *tasks[4];
    tp_status answers[4];
    tp_batch *held = NULL;
    (void)state;
    if (!pool_plan_possible("hold")) return;
    tp_batch *batch = put_and_claim(pool.b, &tasks[0]);
    task_put_many(3, NULL);
    request.plan = "hold";
    must(tp_begin(pool.a));
    must(tp_claim(pool.a, &request, &held));
    for (size_t i = 0; i < 3; i++)
        tasks[i + 1] = tp_batch_task(held, i);
    must(tpi_extend_many(pool.a, tasks, 4, 60000, answers));
    must(tp_complete_many(pool.a, tasks, 4, answers));
    must(tp_commit(pool.a));
    for (int i = 0; i < 4; i++) {
        expect_number(answers[i], TP_OK);
        expect_row(tasks[i]->id, "finished", "done", 0);
    }
    must(tp_complete_many(pool.a, tasks, 4, answers)); /* asked again */
    tp_batch_free(batch);
    tp_batch_free(held);
}

/* ---- Two sessions that mind the same tasks, as a worker's do --------------------------------------------
 */

enum { MINDED = 400, PORTION = 40 };

struct minding {
    struct aside aside;
    const tp_task *tasks[MINDED];
    atomic_bool *over;
};

/* A database of which nothing is known may pick victims faster than the library tries again. */
static bool goes_on(tp_status status) {
    bool generic = pool_on_generic();
    return status >= TP_OK || (generic && status == TP_CONFLICT);
}

static tp_status extend_again_and_again(tp_conn *conn, void *arg) {
    struct minding *minding = arg;
    while (!atomic_load(minding->over)) {
        tp_status status = tpi_extend_many(conn, minding->tasks, MINDED, 90000, NULL);
        if (!goes_on(status) && status != TP_LOST) return status;
    }
    return TP_OK;
}

/* The lists begin at different ends, and long and short ones are found in different ways: neither may end in
 * a deadlock that the caller hears of. */
static void test_settle_many__of_sessions_that_mind_the_same_tasks_none_stops_the_other(void **state) {
    static struct minding minding;
    static const tp_task *portion[PORTION];
    (void)state;
    task_put_many(MINDED, NULL);
    tp_batch *batch = claim(pool.a, MINDED);
    uint64_t errors = tp_conn_counters(pool.a)->errors + tp_conn_counters(pool.b)->errors;
    atomic_bool over = false;
    minding.over = &over;
    for (size_t i = 0; i < MINDED; i++)
        minding.tasks[i] = tp_batch_task(batch, MINDED - 1 - i);
    aside_start(&minding.aside, pool.b, extend_again_and_again, &minding);
    tp_status status = TP_OK;
    for (size_t first = 0; first < MINDED && goes_on(status); first += PORTION) {
        for (size_t i = 0; i < PORTION; i++)
            portion[i] = tp_batch_task(batch, (first + i * 7 % PORTION));
        for (int round = 0; round < 10 && goes_on(status); round++)
            status = tpi_extend_many(pool.a, portion, PORTION, 91000, NULL);
        for (int round = 0; round < 100 && goes_on(status) && (round == 0 || status == TP_CONFLICT); round++)
            status = tp_complete_many(pool.a, portion, PORTION, NULL);
    }
    atomic_store(&over, true);
    must(aside_end(&minding.aside));
    must(status);
    /* Not even one that was made good by trying again, where rows have locks and the statements are the
     * database's own. */
    errors = tp_conn_counters(pool.a)->errors + tp_conn_counters(pool.b)->errors - errors;
    if (!pool_on_generic() && !pool_on_sqlite()) expect_number(errors, 0);
    expect_number(rows_in("finished", pool.handler), MINDED);
    tp_batch_free(batch);
}

/* ---- Lost answers -------------------------------------------------------------------------------------- */

static bool in_two(void) {
    return strcmp(pool.entry, "postgres") != 0;
}

/* Of several claims, so that it ends with a commit everywhere. */
static void test_settle_many__gives_the_same_answers_when_the_first_were_lost(void **state) {
    (void)state;
    for (int made = 0; made < 2; made++) {
        struct hand hand = take();
        lose_call("commit", in_two() ? "move_delete_many" : "move_finished_many", made);
        expect(TP_DISCONNECTED, tp_complete_many(pool.a, hand.tasks, FEW, hand.answers));
        expect_number(rows_in("finished", pool.handler), made ? FEW : 0);
        must(tp_conn_reopen(pool.a));
        must(tp_complete_many(pool.a, hand.tasks, FEW, hand.answers));
        expect_all_done(&hand);
        sql_run(pool.eye, "UPDATE tp_finished SET handler = 'done' WHERE handler = '%s'", pool.handler);
        drop(&hand);
    }
}

static void test_settle_many__is_all_or_nothing_when_the_connection_breaks_in_between(void **state) {
    struct hand hand = take();
    (void)state;
    lose_call("move_finished_many", "move_finished_many", false);
    if (in_two()) lose_call("move_finished_many", "move_delete_many", false);
    expect(TP_DISCONNECTED, tp_complete_many(pool.a, hand.tasks, FEW, hand.answers));
    expect_number(rows_in("pending", pool.handler), FEW);
    must(tp_conn_reopen(pool.a));
    must(tp_complete_many(pool.a, hand.tasks, FEW, hand.answers));
    expect_all_done(&hand);
    drop(&hand);
}

/* A row of this id that no settle put there. */
static void put_copy(const tp_task *task, const char *owner) {
    sql_run(
        pool.eye,
        "INSERT INTO tp_finished (id, handler, shard, priority, state, failures, owner, due_at, created_at, "
        "modified_at, settled_at) VALUES ('%s', 'copy', 0, 0, 'done', 0, '%s', 1, 1, 1, 1)",
        task->id, owner);
}

static void expect_all_held(const struct hand *hand) {
    for (int i = 0; i < FEW; i++)
        expect_number(sql_number(pool.eye,
                                 "SELECT COUNT(*) FROM tp_pending WHERE id = '%s' AND state = 'handling'",
                                 hand->tasks[i]->id),
                      1);
}

/* What stands in the way of one is looked into, and row number at of the look is not read. */
static void complete_with_a_broken_look(bool copy, int at) {
    struct hand hand = take();
    const tp_task *one = hand.tasks[1];
    char owner[ID];
    memcpy(owner, one->owner, ID);
    if (copy)
        put_copy(one, stranger);
    else
        steal(one);
    faults_open();
    faults_clear();
    size_t look = faults_add((struct faults_aim){.statement = "settled_many",
                                                 .function = "SQLFetch",
                                                 .skip = at,
                                                 .times = 1,
                                                 .fault = TPI_FAULT_NOT_SENT,
                                                 .kind = FAULTS_LOCKED});
    tp_status status = tp_complete_many(pool.a, hand.tasks, FEW, hand.answers);
    bool broken = faults_hits(look) > 0;
    faults_clear();
    if (in_two() || !copy) { /* one statement knows that no earlier try has moved it */
        assert_true(broken);
        expect_may_retry(status);
        expect_all_held(&hand);
    }
    sql_run(pool.eye, "DELETE FROM tp_finished WHERE handler = 'copy'");
    sql_run(pool.eye, "UPDATE tp_pending SET owner = '%s' WHERE id = '%s'", owner, one->id);
    must(tp_complete_many(pool.a, hand.tasks, FEW, hand.answers));
    expect_all_done(&hand);
    sql_run(pool.eye, "UPDATE tp_finished SET handler = 'done' WHERE handler = '%s'", pool.handler);
    drop(&hand);
}

static void test_settle_many__a_look_that_fails_takes_no_task_for_lost(void **state) {
    (void)state;
    for (int at = 0; at < FEW; at++) {
        complete_with_a_broken_look(true, at);
        complete_with_a_broken_look(false, at);
    }
}

/* While it is held in the pending pool, whoever may have put the copy there. */
static void test_settle_many__a_copy_in_another_pool_settles_nothing(void **state) {
    struct hand hand = take();
    (void)state;
    put_copy(hand.tasks[1], hand.tasks[1]->owner);
    for (int i = 0; i < 2; i++) {
        expect(TP_DB, tp_complete_many(pool.a, hand.tasks, FEW, hand.answers));
        expect(TP_DB, tp_complete_many(pool.a, &hand.tasks[1], 1, hand.answers));
        expect(TP_DB, tp_complete(pool.a, hand.tasks[1]));
        expect(TP_NONE, tp_settled(pool.a, hand.tasks[1]));
        expect_all_held(&hand);
    }
    sql_run(pool.eye, "DELETE FROM tp_finished WHERE handler = 'copy'");
    must(tp_complete_many(pool.a, hand.tasks, FEW, hand.answers));
    expect_all_done(&hand);
    drop(&hand);
}

/* ---- On a lent connection ------------------------------------------------------------------------------ */

static void test_settle_many__is_part_of_the_callers_transaction(void **state) {
    struct hand hand = take();
    struct loan loan = loan_open(SQL_AUTOCOMMIT_OFF);
    (void)state;
    must(tp_complete_many(loan.conn, hand.tasks, FEW, hand.answers));
    loan_end(&loan, SQL_ROLLBACK);
    expect_number(rows_in("pending", pool.handler), FEW);
    must(tp_complete_many(loan.conn, hand.tasks, FEW, hand.answers));
    loan_end(&loan, SQL_COMMIT);
    expect_all_done(&hand);
    loan_close(&loan);
    drop(&hand);
}

/* The caller may commit after TP_LOST: nothing may have been moved. */
static void test_settle_many__moves_nothing_there_when_one_is_lost(void **state) {
    struct hand hand = take();
    struct loan loan = loan_open(SQL_AUTOCOMMIT_OFF);
    (void)state;
    steal(hand.tasks[FEW - 1]);
    expect(TP_LOST, tp_complete_many(loan.conn, hand.tasks, FEW, hand.answers));
    expect_number(hand.answers[FEW - 1], TP_LOST);
    loan_end(&loan, SQL_COMMIT);
    expect_number(rows_in("pending", pool.handler), FEW);
    loan_close(&loan);
    drop(&hand);
}

static void test_settle_many__goes_one_by_one_or_not_at_all_in_autocommit_mode(void **state) {
    struct hand hand = take();
    struct loan loan = loan_open(SQL_AUTOCOMMIT_ON);
    (void)state;
    steal(hand.tasks[1]);
    tp_status status = tp_complete_many(loan.conn, hand.tasks, FEW, hand.answers);
    if (in_two()) {
        expect(TP_MISUSE, status);
        expect_number(rows_in("pending", pool.handler), FEW);
    } else {
        expect(TP_LOST, status);
        expect_number(rows_in("finished", pool.handler), FEW - 1);
    }
    expect(TP_LOST, tpi_extend_many(loan.conn, &hand.tasks[1], 1, 1000, NULL));
    loan_close(&loan);
    drop(&hand);
}

THEME(settle_many, false, cmocka_unit_test(test_settle_many__completes_tasks_of_several_claims),
      cmocka_unit_test(test_settle_many__needs_few_statements),
      cmocka_unit_test(test_settle_many__needs_few_statements_when_one_of_many_is_lost),
      cmocka_unit_test(test_settle_many__says_which_is_lost_and_does_the_others),
      cmocka_unit_test(test_settle_many__does_nothing_inside_a_transaction_when_one_is_lost),
      cmocka_unit_test(test_settle_many__is_part_of_the_transaction_around),
      cmocka_unit_test(test_settle_many__extends_what_is_held_and_says_what_is_not),
      cmocka_unit_test(test_settle_many__does_nothing_when_one_is_no_claimed_task),
      cmocka_unit_test(test_settle_many__settles_a_task_once_that_is_named_twice),
      cmocka_unit_test(test_settle_many__completes_tasks_that_are_locked_together_with_others),
      cmocka_unit_test(test_settle_many__of_sessions_that_mind_the_same_tasks_none_stops_the_other),
      cmocka_unit_test(test_settle_many__gives_the_same_answers_when_the_first_were_lost),
      cmocka_unit_test(test_settle_many__is_all_or_nothing_when_the_connection_breaks_in_between),
      cmocka_unit_test(test_settle_many__a_look_that_fails_takes_no_task_for_lost),
      cmocka_unit_test(test_settle_many__a_copy_in_another_pool_settles_nothing),
      cmocka_unit_test(test_settle_many__is_part_of_the_callers_transaction),
      cmocka_unit_test(test_settle_many__moves_nothing_there_when_one_is_lost),
      cmocka_unit_test(test_settle_many__goes_one_by_one_or_not_at_all_in_autocommit_mode));
