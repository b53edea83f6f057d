/* A settle asked again, after an answer that never came: the same answer, and nothing changes. */
#include <string.h>

#include "suite.h"

static const tp_retry never = {.size = sizeof never, .delays_ms = NULL, .count = 0};

static tp_status fail_for_good(tp_conn *conn, const tp_task *task) {
    return tp_fail(conn, task, "for good", &never);
}

static void test_settle_again__gives_the_same_answer_and_changes_nothing(void **state) {
    (void)state;
    for (int i = 0; i < SETTLES; i++) {
        const tp_task *task;
        if (strcmp(settles[i].name, "extend") == 0) continue;
        tp_batch *batch = put_and_claim(pool.a, &task);
        must(settles[i].call(pool.a, task));
        struct row before = row_of(task->id);
        must(settles[i].call(pool.a, task));
        must(settles[i].call(pool.b, task));
        expect_same(task->id, &before);
        tp_batch_free(batch);
    }
}

static void test_settle_again__a_failure_that_was_the_last_is_spent_again(void **state) {
    const tp_task *task;
    (void)state;
    tp_batch *batch = put_and_claim(pool.a, &task);
    expect(TP_EXHAUSTED, fail_for_good(pool.a, task));
    struct row before = row_of(task->id);
    expect(TP_EXHAUSTED, fail_for_good(pool.a, task));
    expect(TP_EXHAUSTED, fail_for_good(pool.b, task));
    expect_same(task->id, &before);
    expect_row(task->id, "failed", "failed", 1);
    tp_batch_free(batch);
}

static void test_settle_again__an_extension_can_be_repeated(void **state) {
    const tp_task *task;
    (void)state;
    tp_batch *batch = put_and_claim(pool.a, &task);
    for (int i = 0; i < 3; i++)
        must(tp_extend(pool.a, task, 60000));
    expect_row(task->id, "pending", "handling", 0);
    must(tp_complete(pool.a, task));
    tp_batch_free(batch);
}

static void test_settle_again__under_another_event_it_is_lost(void **state) {
    (void)state;
    for (int first = 0; first < SETTLES - 1; first++)
        for (int second = 0; second < SETTLES; second++) {
            const tp_task *task;
            if (second == first) continue;
            tp_batch *batch = put_and_claim(pool.a, &task);
            must(settles[first].call(pool.a, task));
            struct row before = row_of(task->id);
            expect(TP_LOST, settles[second].call(pool.a, task));
            expect_same(task->id, &before);
            tp_batch_free(batch);
        }
}

static void test_settle_again__nor_can_a_spent_task_be_settled_otherwise(void **state) {
    const tp_task *task;
    (void)state;
    tp_batch *batch = put_and_claim(pool.a, &task);
    expect(TP_EXHAUSTED, fail_for_good(pool.a, task));
    struct row before = row_of(task->id);
    for (int i = 0; i < SETTLES; i++)
        if (strcmp(settles[i].name, "fail") != 0) expect(TP_LOST, settles[i].call(pool.a, task));
    expect_same(task->id, &before);
    tp_batch_free(batch);
}

/* What the transaction wrote before may be in the earlier one, too. */
static void test_settle_again__inside_a_transaction_it_is_a_conflict_and_stores_nothing(void **state) {
    (void)state;
    for (int i = 0; i < SETTLES; i++) {
        const tp_task *task;
        if (strcmp(settles[i].name, "extend") == 0) continue;
        tp_batch *batch = put_and_claim(pool.a, &task);
        must(settles[i].call(pool.a, task));
        struct row before = row_of(task->id);
        must(tp_begin(pool.a));
        effect(pool.a, task->id);
        expect(TP_CONFLICT, settles[i].call(pool.a, task));
        expect(TP_CONFLICT, tp_commit(pool.a));
        expect_same(task->id, &before);
        expect_number(effects_of(task->id), 0);
        tp_batch_free(batch);
    }
}

static void test_settle_again__once_another_has_the_task_it_is_lost(void **state) {
    const tp_task *task, *next;
    (void)state;
    tp_batch *batch = put_and_claim(pool.a, &task);
    must(tp_release(pool.a, task, 0));
    row_make_due(task->id);
    tp_batch *other = claim_this(pool.b, task->id, &next);
    struct row before = row_of(task->id);
    expect(TP_LOST, tp_release(pool.a, task, 0));
    expect_same(task->id, &before);
    tp_batch_free(batch);
    tp_batch_free(other);
}

THEME(settle_again, true, cmocka_unit_test(test_settle_again__gives_the_same_answer_and_changes_nothing),
      cmocka_unit_test(test_settle_again__a_failure_that_was_the_last_is_spent_again),
      cmocka_unit_test(test_settle_again__an_extension_can_be_repeated),
      cmocka_unit_test(test_settle_again__under_another_event_it_is_lost),
      cmocka_unit_test(test_settle_again__nor_can_a_spent_task_be_settled_otherwise),
      cmocka_unit_test(test_settle_again__inside_a_transaction_it_is_a_conflict_and_stores_nothing),
      cmocka_unit_test(test_settle_again__once_another_has_the_task_it_is_lost));
