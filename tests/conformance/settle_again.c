/* A settle asked again, after an answer that never came: the same answer, and nothing changes. */
#include "suite.h"

THEME(settle_again, A_PLAN);

static tp_status fail_for_good(tp_conn *conn, const tp_task *task) {
    return tp_fail(conn, task, "for good", &never);
}

TEST(test_settle_again__gives_the_same_answer_and_changes_nothing) {
    for (int i = 0; i < SETTLES; i++) {
        if (strcmp(settles[i].name, "extend") == 0) continue;
        const tp_task *task = put_and_claim(pool.a);
        must(settles[i].call(pool.a, task));
        struct row before = row_of(task->id);
        must(settles[i].call(pool.a, task));
        must(settles[i].call(pool.b, task));
        expect_same(task->id, &before);
    }
}

TEST(test_settle_again__a_failure_that_was_the_last_is_spent_again) {
    const tp_task *task = put_and_claim(pool.a);
    expect(TP_EXHAUSTED, fail_for_good(pool.a, task));
    struct row before = row_of(task->id);
    expect(TP_EXHAUSTED, fail_for_good(pool.a, task));
    expect(TP_EXHAUSTED, fail_for_good(pool.b, task));
    expect_same(task->id, &before);
    expect_row(task->id, "failed", "failed", 1);
}

TEST(test_settle_again__an_extension_can_be_repeated) {
    const tp_task *task = put_and_claim(pool.a);
    for (int i = 0; i < 3; i++)
        must(tp_extend(pool.a, task, 60000));
    expect_row(task->id, "pending", "handling", 0);
    must(tp_complete(pool.a, task));
}

TEST(test_settle_again__under_another_event_it_is_lost) {
    for (int first = 0; first < SETTLES - 1; first++)
        for (int second = 0; second < SETTLES; second++) {
            if (second == first) continue;
            const tp_task *task = put_and_claim(pool.a);
            must(settles[first].call(pool.a, task));
            struct row before = row_of(task->id);
            expect(TP_LOST, settles[second].call(pool.a, task));
            expect_same(task->id, &before);
        }
}

TEST(test_settle_again__nor_can_a_spent_task_be_settled_otherwise) {
    const tp_task *task = put_and_claim(pool.a);
    expect(TP_EXHAUSTED, fail_for_good(pool.a, task));
    struct row before = row_of(task->id);
    for (int i = 0; i < SETTLES; i++)
        if (strcmp(settles[i].name, "fail") != 0) expect(TP_LOST, settles[i].call(pool.a, task));
    expect_same(task->id, &before);
}

/* What the transaction wrote before may be in the earlier one, too. */
TEST(test_settle_again__inside_a_transaction_it_is_a_conflict_and_stores_nothing) {
    for (int i = 0; i < SETTLES; i++) {
        if (strcmp(settles[i].name, "extend") == 0) continue;
        const tp_task *task = put_and_claim(pool.a);
        must(settles[i].call(pool.a, task));
        struct row before = row_of(task->id);
        expect_dooms(pool.a, task->id, TP_CONFLICT, settles[i].call(pool.a, task));
        expect_same(task->id, &before);
    }
}

TEST(test_settle_again__once_another_has_the_task_it_is_lost) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_release(pool.a, task, 0));
    row_make_due(task->id);
    claim_this(pool.b, task->id);
    struct row before = row_of(task->id);
    expect(TP_LOST, tp_release(pool.a, task, 0));
    expect_same(task->id, &before);
}
