/* What each settle writes. */
#include "base/uuid.h"
#include "ops/conn.h"
#include "suite.h"

THEME(settle, A_PLAN);

TEST(test_settle__complete_moves_the_task_to_the_finished_pool) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_complete(pool.a, task));
    struct row row = row_of(task->id);
    expect_row(task->id, "finished", "done", 0);
    assert_string_equal(row.owner, task->owner);
    assert_true(row.settled_at > LONG_AGO && row.settled_at == row.modified_at);
}

TEST(test_settle__skip_moves_it_there_with_the_reason) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_skip(pool.a, task, "the order was cancelled"));
    expect_row(task->id, "finished", "skipped", 0);
    assert_string_equal(row_of(task->id).reason, "the order was cancelled");
}

TEST(test_settle__release_puts_it_back_without_a_failure) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_release(pool.a, task, 5000));
    struct row row = row_of(task->id);
    expect_row(task->id, "pending", "pending", 0);
    assert_in_range(row.due_at - row.modified_at, 4900, 5100);
    expect_nothing(pool.b);
    row_make_due(task->id);
    const tp_task *again = claim_this(pool.b, task->id);
    expect_number(again->failures, 0);
}

TEST(test_settle__extend_moves_the_end_of_the_lease) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_extend(pool.a, task, 500000));
    struct row row = row_of(task->id);
    expect_row(task->id, "pending", "handling", 0);
    int64_t behind_ms = pool.a->store.clock.behind_ms; /* of a clock that the client carries on */
    assert_in_range(row.due_at - row.modified_at, 499900, 500100 + behind_ms);
    must(tp_complete(pool.a, task));
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
TEST(test_settle__a_move_carries_every_column) {
    static const char *const pools[] = {"finished", "finished", "failed"};
    for (int i = 0; i < 3; i++) {
        tp_new_task new_task = task_new("the \"params\"");
        char key[TP_ID_SIZE];
        tpi_uuid_random(key);
        new_task.biz_key = "employee-9";
        new_task.dedup_key = key;
        new_task.shard = -4;
        new_task.priority = 11;
        new_task.max_failures = 1;
        must(tp_enqueue(pool.a, &new_task));
        const tp_task *before = task_shown(pool.eye, new_task.id);
        const tp_task *task = claim_this(pool.a, new_task.id);
        expect(i == 2 ? TP_EXHAUSTED : TP_OK, settles[i].call(pool.a, task));
        const tp_task *after = task_shown(pool.eye, new_task.id);
        assert_string_equal(after->pool, pools[i]);
        expect_alike(after, before);
    }
}

TEST(test_settle__settling_works_from_another_session) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_complete(pool.b, task));
    expect_row(task->id, "finished", "done", 0);
    must(tp_complete(pool.a, task));
}

TEST(test_settle__settled_tells_what_became_of_a_claim) {
    for (int i = 0; i < SETTLES; i++) {
        const tp_task *task = put_and_claim(pool.a);
        expect(TP_NONE, tp_settled(pool.b, task));
        must(settles[i].call(pool.a, task));
        expect(strcmp(settles[i].name, "extend") == 0 ? TP_NONE : TP_OK, tp_settled(pool.b, task));
    }
}

TEST(test_settle__settled_tells_a_spent_task_and_a_lost_one) {
    const tp_task *spent = put_and_claim(pool.a);
    expect(TP_EXHAUSTED, tp_fail(pool.a, spent, "no", &never));
    must(tp_settled(pool.b, spent));
    const tp_task *lost = put_and_claim(pool.a);
    row_make_due(lost->id);
    expect(TP_NONE, tp_settled(pool.a, lost)); /* lapsed, but nobody else has it */
    const tp_task *next = claim_this(pool.b, lost->id);
    expect(TP_LOST, tp_settled(pool.a, lost));
    must(tp_complete(pool.b, next));
    expect(TP_LOST, tp_settled(pool.a, lost));
    must(tp_settled(pool.b, next));
}

TEST(test_settle__a_task_that_does_not_exist_is_lost) {
    tp_task ghost = {.id = "01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e",
                     .owner = "11936f5e-8a4c-4b1d-9c3e-5f6a7b8c9d0e",
                     .state = "handling"};
    for (int i = 0; i < SETTLES; i++)
        expect(TP_LOST, settles[i].call(pool.a, &ghost));
    expect(TP_LOST, tp_settled(pool.a, &ghost));
}

TEST(test_settle__what_was_not_claimed_is_misuse) {
    const char *id = put_one();
    const tp_task *there = task_shown(pool.a, id);
    for (int i = 0; i < SETTLES; i++)
        expect(TP_MISUSE, settles[i].call(pool.a, there));
    expect_row(id, "pending", "pending", 0);
}

/* ---- Since when a task had been due ------------------------------------------------------------------ */

static int64_t wanted_of(const char *id) {
    return sql_number(pool.eye, "SELECT COALESCE(wanted_at, 0) FROM tp_pending WHERE id = '%s'", id);
}

/* Plan hold marks nothing: its due time stays where it is. */
static int64_t wanted_of_claimed(int64_t due_at) {
    return (strcmp(pool.plan, "hold") == 0) ? 0 : due_at;
}

static const tp_task *claim_due(const char *id, int64_t due_at) {
    sql_run(pool.eye, "UPDATE tp_pending SET due_at = %lld WHERE id = '%s'", (long long)due_at, id);
    const tp_task *task = claim_this(pool.a, id);
    expect_number(task->wanted_at, due_at);
    expect_number(wanted_of(id), wanted_of_claimed(due_at));
    return task;
}

TEST(test_settle__what_is_settled_says_since_when_it_was_due) {
    static const char *const pools[] = {"finished", "finished", "failed", "finished"};
    for (int i = 0; i < 4; i++) {
        const char *id = put_one();
        const tp_task *task = claim_due(id, LONG_AGO + i);
        if (i == 0) must(tp_complete(pool.a, task));
        if (i == 1) must(tp_skip(pool.a, task, "no"));
        if (i == 2) expect(TP_EXHAUSTED, tp_give_up(pool.a, task, "no"));
        if (i == 3) must(tp_complete_many(pool.a, &task, 1, NULL));
        expect_number(sql_number(pool.eye, "SELECT due_at FROM tp_%s WHERE id = '%s'", pools[i], id),
                      LONG_AGO + i);
    }
}

TEST(test_settle__what_is_put_back_has_waited_for_nobody_yet) {
    for (int i = 0; i < 2; i++) {
        const char *id = put_one();
        const tp_task *task = claim_due(id, LONG_AGO);
        if (i == 0) must(tp_release(pool.a, task, 0));
        if (i == 1) must(tp_fail(pool.a, task, "no", NULL));
        expect_number(wanted_of(id), 0);
        const tp_task *again = claim_due(id, LONG_AGO + 5);
        must(tp_complete(pool.a, again));
        expect_number(sql_number(pool.eye, "SELECT due_at FROM tp_finished WHERE id = '%s'", id),
                      LONG_AGO + 5);
    }
}
