/* What plan hold locks: what it gives out, and nothing else that another session may want meanwhile. */
#include "suite.h"

THEME(hold_locks, ONCE);

enum { SHARE = 5 };

/* Where writers wait for each other anyway, there is nothing to see. */
static bool locks_rows(void) {
    return pool_plan_possible("hold") && !pool_on_sqlite();
}

static tp_batch *hold(tp_conn *conn, size_t limit, size_t count) {
    tp_batch *batch = claim_with(conn, .limit = limit, .plan = "hold");
    expect_count(batch, count);
    return batch;
}

/* Twice, so that the lane is known the second time. */
static void hold_again(tp_conn *conn, size_t limit, size_t count) {
    for (int i = 0; i < 2; i++) {
        must(tp_begin(conn));
        hold(conn, limit, count);
        if (i == 0) must(tp_rollback(conn));
    }
}

static void put_as(int32_t priority, int64_t due_at, char id[ID]) {
    tp_new_task task = enqueue(pool.eye, .priority = priority, .due_at = due_at);
    memcpy(id, task.id, ID);
}

/* It locked the row by its id alone, as settles do. */
TEST(test_hold_locks__what_is_passed_over_can_be_moved_by_its_holder) {
    char ids[4][ID];
    if (!locks_rows()) return;
    task_put_many(4, ids);
    const tp_task *task = claim_this(pool.b, ids[0]);
    row_make_due(ids[0]);
    pool_fail_waits(pool.b);
    must(tp_begin(pool.b));
    sql_run(pool.b, "SELECT id FROM tp_pending WHERE id = '%s' FOR UPDATE", ids[0]);
    hold_again(pool.a, 2, 2);
    must(tp_complete(pool.b, task));
    must(tp_commit(pool.b));
    must(tp_rollback(pool.a));
}

TEST(test_hold_locks__what_comes_behind_can_be_changed) {
    char due[ID], less_urgent[ID], later[ID];
    if (!locks_rows()) return;
    put_as(0, 0, due);
    put_as(0, LONG_AGO * 9, later);
    put_as(1, LONG_AGO * 9, less_urgent);
    pool_fail_waits(pool.b);
    hold_again(pool.a, SHARE, 1);
    must(tp_begin(pool.b));
    expect_number(sql_run(pool.b,
                          "UPDATE tp_pending SET due_at = due_at - 1, priority = priority + 1 "
                          "WHERE id IN ('%s', '%s')",
                          later, less_urgent),
                  2);
    must(tp_rollback(pool.b));
    must(tp_rollback(pool.a));
}

static void expect_second_holder(void) {
    must(tp_begin(pool.b));
    hold(pool.b, SHARE, SHARE);
    hold_again(pool.a, SHARE, SHARE);
    must(tp_rollback(pool.a));
    must(tp_rollback(pool.b));
}

/* Databases choose their ways by what they know of the table, and may lock what they pass over. */
TEST(test_hold_locks__a_second_holder_gets_its_tasks_in_pools_of_any_size) {
    static const size_t sizes[] = {2 * SHARE, 60, 300, 10000};
    if (!locks_rows()) return;
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        pool_empty();
        task_put_many(sizes[i], NULL);
        expect_second_holder();
        pool_measure();
        expect_second_holder();
    }
    pool_empty();
}

TEST(test_hold_locks__however_many_others_hold_the_next_is_found) {
    enum { HELD = 100 };
    char ids[HELD + 2][ID];
    if (!locks_rows()) return;
    task_put_many(HELD + 2, ids);
    must(tp_begin(pool.b));
    hold(pool.b, HELD, HELD);
    must(tp_begin(pool.a));
    assert_string_equal(tp_batch_task(hold(pool.a, 1, 1), 0)->id, ids[HELD]);
    must(tp_rollback(pool.a));
    must(tp_rollback(pool.b));
}
