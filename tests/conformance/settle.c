/* What each settle writes. */
#include <string.h>

#include "base/uuid.h"
#include "suite.h"

static void test_settle__complete_moves_the_task_to_the_finished_pool(void **state) {
    const tp_task *task;
    (void)state;
    tp_batch *batch = put_and_claim(pool.a, &task);
    must(tp_complete(pool.a, task));
    struct row row = row_of(task->id);
    expect_row(task->id, "finished", "done", 0);
    assert_string_equal(row.owner, task->owner);
    assert_true(row.settled_at > LONG_AGO && row.settled_at == row.modified_at);
    tp_batch_free(batch);
}

static void test_settle__skip_moves_it_there_with_the_reason(void **state) {
    const tp_task *task;
    (void)state;
    tp_batch *batch = put_and_claim(pool.a, &task);
    must(tp_skip(pool.a, task, "the order was cancelled"));
    expect_row(task->id, "finished", "skipped", 0);
    assert_string_equal(row_of(task->id).reason, "the order was cancelled");
    tp_batch_free(batch);
}

static void test_settle__release_puts_it_back_without_a_failure(void **state) {
    const tp_task *task, *again;
    (void)state;
    tp_batch *batch = put_and_claim(pool.a, &task);
    must(tp_release(pool.a, task, 5000));
    struct row row = row_of(task->id);
    expect_row(task->id, "pending", "pending", 0);
    assert_in_range(row.due_at - row.modified_at, 4900, 5100);
    expect_nothing(pool.b);
    row_make_due(task->id);
    tp_batch *other = claim_this(pool.b, task->id, &again);
    expect_number(again->failures, 0);
    tp_batch_free(batch);
    tp_batch_free(other);
}

static void test_settle__extend_moves_the_end_of_the_lease(void **state) {
    const tp_task *task;
    (void)state;
    tp_batch *batch = put_and_claim(pool.a, &task);
    must(tp_extend(pool.a, task, 500000));
    struct row row = row_of(task->id);
    expect_row(task->id, "pending", "handling", 0);
    int late_ms = pool_on_generic() ? 1100 : 100; /* a clock of whole seconds */
    assert_in_range(row.due_at - row.modified_at, 499900, 500000 + late_ms);
    must(tp_complete(pool.a, task));
    tp_batch_free(batch);
}

static void expect_alike(const tp_task *one, const tp_task *two) {
    assert_string_equal(one->handler, two->handler);
    assert_string_equal(one->biz_key, two->biz_key);
    assert_string_equal(one->dedup_key, two->dedup_key);
    assert_string_equal(one->params, two->params);
    expect_number(one->shard, two->shard);
    expect_number(one->priority, two->priority);
    expect_number(one->max_failures, two->max_failures);
    expect_number(one->created_at, two->created_at);
}

/* Every column is carried over, whichever pool it goes to. */
static void test_settle__a_move_carries_every_column(void **state) {
    static const char *const pools[] = {"finished", "finished", "failed"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        tp_new_task new_task = task_new("the \"params\"");
        tp_batch *before = NULL, *after = NULL;
        const tp_task *task;
        char key[TP_ID_SIZE];
        tpi_uuid_random(key);
        new_task.biz_key = "employee-9";
        new_task.dedup_key = key;
        new_task.shard = -4;
        new_task.priority = 11;
        new_task.max_failures = 1;
        must(tp_enqueue(pool.a, &new_task));
        must(tp_show(pool.eye, new_task.id, &before));
        tp_batch *batch = claim_this(pool.a, new_task.id, &task);
        expect(i == 2 ? TP_EXHAUSTED : TP_OK, settles[i].call(pool.a, task));
        must(tp_show(pool.eye, new_task.id, &after));
        assert_string_equal(tp_batch_task(after, 0)->pool, pools[i]);
        expect_alike(tp_batch_task(after, 0), tp_batch_task(before, 0));
        tp_batch_free(batch);
        tp_batch_free(before);
        tp_batch_free(after);
    }
}

static void test_settle__settling_works_from_another_session(void **state) {
    const tp_task *task;
    (void)state;
    tp_batch *batch = put_and_claim(pool.a, &task);
    must(tp_complete(pool.b, task));
    expect_row(task->id, "finished", "done", 0);
    must(tp_complete(pool.a, task));
    tp_batch_free(batch);
}

static void test_settle__settled_tells_what_became_of_a_claim(void **state) {
    (void)state;
    for (int i = 0; i < SETTLES; i++) {
        const tp_task *task;
        tp_batch *batch = put_and_claim(pool.a, &task);
        expect(TP_NONE, tp_settled(pool.b, task));
        must(settles[i].call(pool.a, task));
        expect(strcmp(settles[i].name, "extend") == 0 ? TP_NONE : TP_OK, tp_settled(pool.b, task));
        tp_batch_free(batch);
    }
}

static void test_settle__settled_tells_a_spent_task_and_a_lost_one(void **state) {
    static const tp_retry never = {.size = sizeof never, .delays_ms = NULL, .count = 0};
    const tp_task *spent, *lost, *next;
    (void)state;
    tp_batch *one = put_and_claim(pool.a, &spent);
    expect(TP_EXHAUSTED, tp_fail(pool.a, spent, "no", &never));
    must(tp_settled(pool.b, spent));
    tp_batch *two = put_and_claim(pool.a, &lost);
    row_make_due(lost->id);
    expect(TP_NONE, tp_settled(pool.a, lost)); /* lapsed, but nobody else has it */
    tp_batch *three = claim_this(pool.b, lost->id, &next);
    expect(TP_LOST, tp_settled(pool.a, lost));
    must(tp_complete(pool.b, next));
    expect(TP_LOST, tp_settled(pool.a, lost));
    must(tp_settled(pool.b, next));
    tp_batch_free(one);
    tp_batch_free(two);
    tp_batch_free(three);
}

static void test_settle__a_task_that_does_not_exist_is_lost(void **state) {
    tp_task ghost = {.id = "01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e",
                     .owner = "11936f5e-8a4c-4b1d-9c3e-5f6a7b8c9d0e",
                     .state = "handling"};
    (void)state;
    for (int i = 0; i < SETTLES; i++)
        expect(TP_LOST, settles[i].call(pool.a, &ghost));
    expect(TP_LOST, tp_settled(pool.a, &ghost));
}

static void test_settle__what_was_not_claimed_is_misuse(void **state) {
    tp_batch *batch = NULL;
    char id[ID];
    (void)state;
    task_put("x", id);
    must(tp_show(pool.a, id, &batch));
    for (int i = 0; i < SETTLES; i++)
        expect(TP_MISUSE, settles[i].call(pool.a, tp_batch_task(batch, 0)));
    expect_row(id, "pending", "pending", 0);
    tp_batch_free(batch);
}

THEME(settle, true, cmocka_unit_test(test_settle__complete_moves_the_task_to_the_finished_pool),
      cmocka_unit_test(test_settle__skip_moves_it_there_with_the_reason),
      cmocka_unit_test(test_settle__release_puts_it_back_without_a_failure),
      cmocka_unit_test(test_settle__extend_moves_the_end_of_the_lease),
      cmocka_unit_test(test_settle__a_move_carries_every_column),
      cmocka_unit_test(test_settle__settling_works_from_another_session),
      cmocka_unit_test(test_settle__settled_tells_what_became_of_a_claim),
      cmocka_unit_test(test_settle__settled_tells_a_spent_task_and_a_lost_one),
      cmocka_unit_test(test_settle__a_task_that_does_not_exist_is_lost),
      cmocka_unit_test(test_settle__what_was_not_claimed_is_misuse));
