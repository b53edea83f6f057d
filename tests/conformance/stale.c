/* Workers whose lease lapsed. One that was succeeded can change nothing; one that was not may still settle.
 */
#include "suite.h"

THEME(stale, A_PLAN);

static tp_status do_skip(tp_conn *conn, const tp_task *task) {
    return tp_skip(conn, task, "not needed");
}

static tp_status do_fail(tp_conn *conn, const tp_task *task) {
    return tp_fail(conn, task, "no luck", NULL);
}

static tp_status do_release(tp_conn *conn, const tp_task *task) {
    return tp_release(conn, task, 60000);
}

static tp_status do_extend(tp_conn *conn, const tp_task *task) {
    return tp_extend(conn, task, 600000);
}

const struct settle settles[SETTLES] = {{"complete", tp_complete},
                                        {"skip", do_skip},
                                        {"fail", do_fail},
                                        {"release", do_release},
                                        {"extend", do_extend}};

/* A claims, its lease lapses, B claims. */
struct succession {
    const tp_task *old_task, *new_task;
};

static struct succession succeed(void) {
    struct succession s = {0};
    s.old_task = put_and_claim(pool.a);
    row_make_due(s.old_task->id);
    s.new_task = claim_this(pool.b, s.old_task->id);
    assert_string_not_equal(s.old_task->owner, s.new_task->owner);
    return s;
}

/* One settle, for a thread. */
struct settling {
    tp_status (*call)(tp_conn *conn, const tp_task *task);
    const tp_task *task;
};

static tp_status settle_call(tp_conn *conn, void *arg) {
    const struct settling *settling = arg;
    return settling->call(conn, settling->task);
}

TEST(test_stale__no_settle_of_a_succeeded_worker_changes_anything) {
    for (int i = 0; i < SETTLES; i++) {
        struct succession s = succeed();
        struct row before = row_of(s.old_task->id);
        expect(TP_LOST, settles[i].call(pool.a, s.old_task));
        assert_string_not_equal(tp_last_error()->text, "");
        expect_same(s.old_task->id, &before);
        must(tp_complete(pool.b, s.new_task));
        expect_row(s.old_task->id, "finished", "done", 1);
    }
}

TEST(test_stale__nor_after_the_successor_has_settled) {
    for (int done = 0; done < SETTLES - 1; done++)
        for (int i = 0; i < SETTLES; i++) {
            struct succession s = succeed();
            must(settles[done].call(pool.b, s.new_task));
            struct row before = row_of(s.old_task->id);
            expect(TP_LOST, settles[i].call(pool.a, s.old_task));
            expect_same(s.old_task->id, &before);
            if (strcmp(before.pool, "pending") == 0) /* out of the way of the next */
                sql_run(pool.eye, "DELETE FROM tp_pending WHERE id = '%s'", s.old_task->id);
        }
}

TEST(test_stale__params_are_not_read_for_a_lost_claim) {
    static char text[20001];
    tp_new_task task = task_new(text);
    const char *params = NULL;
    memset(text, 'p', sizeof text - 1);
    must(tp_enqueue(pool.a, &task));
    const tp_task *held = claim_this(pool.a, task.id);
    assert_null(held->params);
    row_make_due(task.id);
    const tp_task *next = claim_this(pool.b, task.id);
    expect(TP_LOST, tp_task_params(pool.a, held, &params, NULL));
    assert_null(params);
    must(tp_task_params(pool.b, next, &params, NULL));
    assert_string_equal(params, text);
}

TEST(test_stale__inside_a_transaction_nothing_of_it_is_stored) {
    for (int i = 0; i < SETTLES; i++) {
        struct succession s = succeed();
        struct row before = row_of(s.old_task->id);
        expect_dooms(pool.a, s.old_task->id, TP_LOST, settles[i].call(pool.a, s.old_task));
        expect_same(s.old_task->id, &before);
        must(tp_complete(pool.b, s.new_task));
    }
}

/* The successor's claim is under way when the settle begins, and is committed while it waits. */
TEST(test_stale__a_successor_in_the_middle_of_a_settle_keeps_the_task) {
    for (int i = 0; i < SETTLES; i++) {
        static const char successor[] = "21936f5e-8a4c-4b1d-9c3e-5f6a7b8c9d0e";
        struct settling settling = {settles[i].call, NULL};
        struct aside aside;
        const tp_task *task = put_and_claim(pool.a);
        settling.task = task;
        must(tp_begin(pool.b));
        sql_run(pool.b, "UPDATE tp_pending SET owner = '%s' WHERE id = '%s'", successor, task->id);
        start_blocked(&aside, pool.a, settle_call, &settling);
        must(tp_commit(pool.b));
        assert_string_equal(tp_status_name(aside_end(&aside)), "lost");
        expect_row(task->id, "pending", "handling", 0);
        assert_string_equal(row_of(task->id).owner, successor);
    }
}

TEST(test_stale__a_worker_nobody_succeeded_may_still_settle) {
    static const char *const pools[SETTLES] = {"finished", "finished", "pending", "pending", "pending"};
    static const char *const states[SETTLES] = {"done", "skipped", "failed", "pending", "handling"};
    for (int i = 0; i < SETTLES; i++) {
        const tp_task *task = put_and_claim(pool.a);
        row_make_due(task->id);
        must(settles[i].call(pool.a, task));
        expect_row(task->id, pools[i], states[i], i == 2);
        expect_nothing(pool.b);
    }
}

TEST(test_stale__an_extended_lease_keeps_the_task) {
    const tp_task *task = put_and_claim(pool.a);
    row_make_due(task->id);
    must(tp_extend(pool.a, task, 60000));
    expect_nothing(pool.b);
    must(tp_complete(pool.a, task));
}

TEST(test_stale__an_extension_never_shortens_a_lease) {
    const tp_task *task = put_and_claim(pool.a);
    int64_t due = row_of(task->id).due_at;
    must(tp_extend(pool.a, task, 1));
    assert_true(row_of(task->id).due_at >= due);
    must(tp_complete(pool.a, task));
}
