/* Plan hold: tasks that a transaction has locked and nobody marked. */
#include "base/clock.h"
#include "ops/conn.h"
#include "ops/for_workers.h"
#include "suite.h"

THEME(hold, ONCE);

/* A test where the plan is possible. */
#define TEST_OF_HOLD(name)                                                                                   \
    static void name##_where_possible(void);                                                                 \
    TEST(name) {                                                                                             \
        if (pool_plan_possible("hold")) name##_where_possible();                                             \
    }                                                                                                        \
    static void name##_where_possible(void)

static tp_claim_request hold_request(size_t limit) {
    tp_claim_request request = request_with(.limit = limit, .plan = "hold");
    return request;
}

/* Begins and holds exactly so many. */
static tp_batch *hold(tp_conn *conn, size_t count) {
    tp_claim_request request = hold_request(count);
    must(tp_begin(conn));
    tp_batch *batch = claim_by(conn, &request);
    expect_count(batch, count);
    assert_string_equal(request.token, "");
    return batch;
}

static const tp_task *hold_one(tp_conn *conn) {
    return tp_batch_task(hold(conn, 1), 0);
}

static const tp_task *put_and_hold(tp_conn *conn) {
    const char *id = put_one();
    const tp_task *task = hold_one(conn);
    assert_string_equal(task->id, id);
    return task;
}

static void complete_and_commit(const tp_task *task) {
    must(tp_complete(pool.a, task));
    must(tp_commit(pool.a));
}

/* ---- Claiming ------------------------------------------------------------------------------------------ */

TEST_OF_HOLD(test_hold__marks_nothing_and_a_rollback_gives_all_back_unchanged) {
    char ids[3][ID];
    struct row before[3];
    task_put_many(3, ids);
    for (int i = 0; i < 3; i++)
        before[i] = row_of(ids[i]);
    tp_batch *batch = hold(pool.a, 3);
    for (size_t i = 0; i < 3; i++) {
        const tp_task *task = tp_batch_task(batch, i);
        assert_string_equal(task->id, ids[i]);
        assert_string_equal(task->params, "x");
        assert_int_equal(strlen(task->owner), ID - 1);
        expect_same(ids[i], &before[i]);
    }
    must(tp_rollback(pool.a));
    for (int i = 0; i < 3; i++)
        expect_same(ids[i], &before[i]);
    batch = hold(pool.b, 3);
    must(tp_commit(pool.b)); /* nor does a commit change what was not settled */
    for (int i = 0; i < 3; i++)
        expect_same(ids[i], &before[i]);
}

/* The first of many, each a few; databases choose their plans by the table's size. */
static void share(size_t tasks, size_t each) {
    pool_empty();
    task_put_many(tasks, NULL);
    pool_measure();
    pool_fail_waits(pool.b);
    tp_batch *one = hold(pool.a, each), *two = hold(pool.b, each);
    for (size_t i = 0; i < each; i++)
        assert_false(batch_holds(one, tp_batch_task(two, i)->id));
    must(tp_complete(pool.b, tp_batch_task(two, 0)));
    must(tp_complete(pool.a, tp_batch_task(one, 0)));
    must(tp_commit(pool.b));
    must(tp_commit(pool.a));
}

/* With every value other than most tasks have it. */
TEST_OF_HOLD(test_hold__a_task_comes_as_it_was_put_in) {
    const char *params = "a;b,c\"d";
    tp_new_task new = task_new(params);
    new.biz_key = "key, with; both";
    new.priority = 3;
    new.shard = 7;
    new.max_failures = 9;
    must(tp_enqueue(pool.a, &new));
    must(tp_fail(pool.a, tp_batch_task(claim(pool.a, 1), 0), "why; so, what", NULL));
    row_make_due(new.id);
    struct row row = row_of(new.id);
    const tp_task *task = hold_one(pool.a);
    assert_string_equal(task->id, new.id);
    assert_string_equal(task->handler, pool.handler);
    assert_string_equal(task->biz_key, new.biz_key);
    assert_string_equal(task->params, params);
    assert_string_equal(task->reason, "why; so, what");
    expect_number(task->priority, 3);
    expect_number(task->shard, 7);
    expect_number(task->failures, 1);
    expect_number(task->max_failures, 9);
    expect_number(task->created_at,
                  sql_number(pool.eye, "SELECT created_at FROM tp_pending WHERE id = '%s'", new.id));
    expect_number(task->due_at, row.due_at);
    complete_and_commit(task);
    expect_row(new.id, "finished", "done", 1);
}

static void take_by_hand(const char *set, const char *id) {
    tp_new_task new = task_new("a;b,c");
    must(tp_enqueue(pool.a, &new));
    sql_run(pool.eye, "UPDATE tp_pending SET %s WHERE id = '%s'", set, new.id);
    const tp_task *task = hold_one(pool.a);
    assert_string_equal(task->id, *id ? id : new.id);
    assert_string_equal(task->params, "a;b,c");
    complete_and_commit(task);
}

/* SQLite takes any text. */
TEST_OF_HOLD(test_hold__rows_written_by_hand_come_whole) {
    if (!pool_on_sqlite()) return;
    take_by_hand("id = 'a;b'", "a;b");
    take_by_hand("id = 'c,d', priority = 1", "c,d");
    take_by_hand("id = '\xc3\xa9;,'", "\xc3\xa9;,");
    take_by_hand("owner = 'me;host,'", "");
}

TEST_OF_HOLD(test_hold__two_sessions_get_different_tasks_without_waiting) {
    if (pool_on_sqlite()) return; /* one writer: the second tp_begin waits */
    share(2, 1);
    share(12, 5);
    share(400, 150);
}

/* An order over several handlers takes a sort, and a sort that locks would lock all that is due. */
static void share_kinds(size_t tasks, const char *const *handlers) {
    tp_claim_request request = hold_request(tasks / 4);
    request.handlers = handlers;
    request.handler_count = 2;
    pool_empty();
    for (size_t i = 0; i < tasks; i++)
        enqueue(pool.eye, .handler = handlers[i % 2]);
    pool_measure();
    tp_conn *sessions[4] = {pool.a, pool.b, guest_session(), guest_session()};
    pool_fail_waits(pool.b);
    for (int i = 0; i < 4; i++) {
        must(tp_begin(sessions[i]));
        expect_count(claim_by(sessions[i], &request), tasks / 4);
    }
    for (int i = 0; i < 4; i++)
        must(tp_rollback(sessions[i]));
}

TEST_OF_HOLD(test_hold__sessions_share_the_tasks_of_several_handlers_without_waiting) {
    char name[TP_HANDLER_MAX];
    const char *handlers[] = {pool.handler, name};
    if (pool_on_sqlite()) return;
    snprintf(name, sizeof name, "%s.other", pool.handler);
    share_kinds(4, handlers);
    share_kinds(40, handlers);
    share_kinds(200, handlers);
}

/* A claim of the handler's tasks by pool.a, in its open transaction. */
static tp_batch *hold_more(size_t count) {
    tp_claim_request request = hold_request(count);
    tp_batch *batch = claim_by(pool.a, &request);
    expect_count(batch, count);
    return batch;
}

/* Of two priorities, and after others of the same transaction, some of them completed. */
TEST_OF_HOLD(test_hold__locks_no_more_than_it_gives_out) {
    enum { TASKS = 10 };
    if (pool_on_sqlite()) return; /* one writer */
    for (int i = 0; i < 2 * TASKS; i++)
        enqueue(pool.eye, .priority = i % 2);
    tp_batch *first = hold(pool.a, 4);
    for (size_t i = 0; i < 4; i++)
        must(tp_complete(pool.a, tp_batch_task(first, i)));
    hold_more(3);
    hold_more(5);
    hold(pool.b, 2 * TASKS - 4 - 3 - 5);
    must(tp_rollback(pool.a));
    must(tp_rollback(pool.b));
}

TEST_OF_HOLD(test_hold__what_is_held_is_passed_over_by_every_plan) {
    if (pool_on_sqlite()) return;
    tp_conn *guest = guest_session();
    const tp_task *task = put_and_hold(pool.a);
    for (int i = 0; i < PLANS; i++) {
        tp_batch *none = NULL;
        tp_claim_request request = request_with(.limit = 5, .plan = pool_plans[i]);
        if (pool_plan_holds(pool_plans[i])) must(tp_begin(guest));
        tp_status status = claim_into(guest, &request, &none);
        if (status != TP_NONE && strcmp(pool_plans[i], "batch") != 0) expect(TP_NONE, status);
        assert_null(none); /* batch waits for the lock, and gives up */
        if (pool_plan_holds(pool_plans[i])) must(tp_rollback(guest));
    }
    complete_and_commit(task);
    expect_row(task->id, "finished", "done", 0);
}

TEST_OF_HOLD(test_hold__tasks_come_in_order_and_in_the_order_of_handlers) {
    static const int32_t priorities[] = {3, -1, 3, 0};
    tp_claim_request request = hold_request(10);
    for (size_t i = 0; i < 4; i++)
        enqueue(pool.eye, .priority = priorities[i]);
    must(tp_begin(pool.a));
    tp_batch *batch = claim_by(pool.a, &request);
    expect_count(batch, 4);
    for (size_t i = 1; i < 4; i++)
        assert_true(tp_batch_task(batch, i - 1)->priority <= tp_batch_task(batch, i)->priority);
    must(tp_rollback(pool.a));
}

/* Its own locks are none to it, and a task it has not settled is as it was. */
TEST_OF_HOLD(test_hold__one_transaction_gets_a_task_once) {
    char ids[6][ID];
    tp_claim_request request = hold_request(2);
    task_put_many(6, ids);
    must(tp_begin(pool.a));
    for (int round = 0; round < 3; round++) {
        tp_batch *batch = claim_by(pool.a, &request);
        expect_count(batch, 2);
        for (size_t i = 0; i < 2; i++)
            assert_string_equal(tp_batch_task(batch, i)->id, ids[2 * (size_t)round + i]);
        if (round == 1) must(tp_complete(pool.a, tp_batch_task(batch, 0)));
    }
    expect(TP_NONE, try_claim(pool.a, &request));
    must(tp_commit(pool.a));
    hold(pool.a, 5); /* the next one gets them again */
    must(tp_rollback(pool.a));
}

TEST_OF_HOLD(test_hold__needs_a_transaction_and_the_others_refuse_one) {
    tp_claim_request request = hold_request(1);
    tp_batch *batch = NULL;
    expect(TP_MISUSE, claim_into(pool.a, &request, &batch));
    expect_text("tp_begin");
    must(tp_begin(pool.a));
    request.plan = "cas";
    expect(TP_MISUSE, claim_into(pool.a, &request, &batch));
    expect_text("plan cas");
    expect_text("plan hold");
    must(tp_rollback(pool.a));
    assert_null(batch);
}

TEST_OF_HOLD(test_hold__a_closed_session_gives_back_unchanged_and_uncounted) {
    const char *id = put_one();
    tp_conn *conn = NULL;
    struct row before = row_of(id);
    must(tp_conn_open(pool.env, &conn));
    const tp_task *task = hold_one(conn);
    effect(conn, id);
    must(tp_complete(conn, task));
    tp_conn_close(conn);
    expect_same(id, &before);
    expect_number(effects_of(id), 0);
    expect(TP_LOST, tp_complete(pool.a, task));
    hold(pool.a, 1);
    must(tp_rollback(pool.a));
}

/* Effect and settle are written, the commit is not. */
TEST_OF_HOLD(test_hold__a_killed_process_gives_back_unchanged_and_uncounted) {
    char line[CHILD_LINE];
    const char *id = put_one();
    struct row before = row_of(id);
    struct child child = child_start("pay", "hold", pool.handler, "1", "60000", NULL);
    assert_true(child_listen(&child, line));
    assert_string_equal(line, id);
    expect_same(id, &before);
    child_kill(&child);
    tp_claim_request request = hold_request(1);
    tp_batch *batch = NULL;
    int64_t deadline = deadline_ms();
    while (!batch) { /* until the server has noticed */
        expect_before(deadline);
        must(tp_begin(pool.a));
        tp_status status = claim_into(pool.a, &request, &batch);
        if (status != TP_NONE) must(status);
        if (status == TP_NONE) must(tp_rollback(pool.a));
    }
    expect_same(id, &before);
    expect_number(effects_of(id), 0);
    effect(pool.a, id);
    complete_and_commit(tp_batch_task(batch, 0));
    expect_number(effects_of(id), 1);
}

/* ---- Settling ------------------------------------------------------------------------------------------ */

TEST_OF_HOLD(test_hold__effect_and_settle_commit_together_or_not_at_all) {
    for (int commits = 0; commits < 2; commits++) {
        const tp_task *task = put_and_hold(pool.a);
        effect(pool.a, task->id);
        must(tp_complete(pool.a, task));
        expect_row(task->id, "pending", "pending", 0);
        must(commits ? tp_commit(pool.a) : tp_rollback(pool.a));
        expect_number(effects_of(task->id), commits);
        expect_row(task->id, commits ? "finished" : "pending", commits ? "done" : "pending", 0);
        if (!commits) sql_run(pool.eye, "DELETE FROM tp_pending WHERE id = '%s'", task->id);
        if (commits) assert_string_equal(row_of(task->id).owner, task->owner);
    }
}

TEST_OF_HOLD(test_hold__every_settle_does_what_it_says) {
    static const struct {
        const char *pool, *state;
        int failures;
    } places[SETTLES] = {{"finished", "done", 0},
                         {"finished", "skipped", 0},
                         {"pending", "failed", 1},
                         {"pending", "pending", 0},
                         {"pending", "pending", 0}};
    for (int i = 0; i < SETTLES; i++) {
        const tp_task *task = put_and_hold(pool.a);
        struct row before = row_of(task->id);
        must(settles[i].call(pool.a, task));
        must(tp_commit(pool.a));
        expect_row(task->id, places[i].pool, places[i].state, places[i].failures);
        if (strcmp(settles[i].name, "extend") == 0) expect_same(task->id, &before);
        sql_run(pool.eye, "DELETE FROM tp_pending");
    }
}

static void complete_all(tp_conn *conn, const tp_batch *batch) {
    const tp_task *tasks[400];
    tasks_of(batch, tasks);
    must(tpi_extend_many(conn, tasks, tp_batch_count(batch), 90000, NULL));
    must(tp_complete_many(conn, tasks, tp_batch_count(batch), NULL));
}

/* Three sessions with locks at once: two hold, one completes what it has leased. */
static void complete_beside(size_t tasks) {
    tp_conn *guest = guest_session();
    pool_empty();
    task_put_many(tasks, NULL);
    pool_measure();
    tp_batch *leased = claim_with(guest, .limit = tasks / 4, .plan = "cas");
    pool_fail_waits(pool.a);
    pool_fail_waits(pool.b);
    tp_batch *one = hold(pool.a, tasks / 4), *two = hold(pool.b, tasks / 4);
    complete_all(pool.a, one);
    complete_all(pool.b, two);
    complete_all(guest, leased);
    must(tp_commit(pool.b));
    must(tp_commit(pool.a));
    expect_number(rows_in("pending", pool.handler), tasks - 3 * (tasks / 4));
    sql_run(pool.eye, "DELETE FROM tp_finished WHERE handler = '%s'", pool.handler);
}

TEST_OF_HOLD(test_hold__sessions_complete_many_without_waiting_for_each_other) {
    /* Oracle's stand-in scans small tables and waits for each lock it meets; Oracle locks only what it
     * deletes. */
    if (pool_on_sqlite() || prepared()) return;
    complete_beside(8);
    complete_beside(60);
    complete_beside(800);
}

TEST_OF_HOLD(test_hold__completing_many_is_all_or_nothing) {
    const tp_task *tasks[3];
    tp_status answers[3];
    char ids[3][ID];
    task_put_many(3, ids);
    tasks_of(hold(pool.a, 3), tasks);
    sql_run(pool.a, "DELETE FROM tp_pending WHERE id = '%s'", ids[1]);
    memset(answers, 7, sizeof answers);
    expect(TP_LOST, tp_complete_many(pool.a, tasks, 3, answers));
    expect_number(answers[1], TP_LOST);
    expect(TP_CONFLICT, tp_commit(pool.a));
    for (size_t i = 0; i < 3; i++)
        expect_row(ids[i], "pending", "pending", 0);
    expect(TP_LOST, tp_complete_many(pool.b, tasks, 3, answers));
}

/* Settled otherwise by the original, in the same transaction: the copy does not know of it. */
TEST_OF_HOLD(test_hold__a_copy_does_not_complete_over_another_settle) {
    for (int i = 2; i < 4; i++) { /* fail, release */
        const tp_task *task, *tasks[2];
        tp_batch *copies[2];
        task_put_many(2, NULL);
        tp_batch *batch = hold(pool.a, 2);
        for (size_t t = 0; t < 2; t++) {
            must(tpi_batch_take(batch, t, &copies[t]));
            tasks[t] = tp_batch_task(copies[t], 0);
        }
        task = tp_batch_task(batch, 0);
        must(settles[i].call(pool.a, task));
        expect(TP_LOST, tp_complete_many(pool.a, tasks, 2, NULL));
        expect(TP_CONFLICT, tp_commit(pool.a));
        expect_row(task->id, "pending", "pending", 0);
        sql_run(pool.eye, "DELETE FROM tp_pending");
        for (size_t t = 0; t < 2; t++)
            tp_batch_free(copies[t]);
    }
}

TEST_OF_HOLD(test_hold__the_last_failure_ends_in_the_failed_pool) {
    const tp_task *task = put_and_hold(pool.a);
    expect(TP_EXHAUSTED, tp_fail(pool.a, task, "broken", &never));
    must(tp_commit(pool.a));
    expect_row(task->id, "failed", "failed", 1);
    assert_string_equal(row_of(task->id).reason, "broken");
}

TEST_OF_HOLD(test_hold__outside_its_transaction_every_settle_is_lost) {
    for (int i = 0; i < SETTLES; i++)
        for (int later = 0; later < 2; later++) {
            const tp_task *task = put_and_hold(pool.a);
            struct row before = row_of(task->id);
            must(tp_rollback(pool.a));
            if (later) must(tp_begin(pool.a));
            expect(TP_LOST, settles[i].call(pool.a, task));
            expect(TP_LOST, settles[i].call(pool.b, task));
            if (later) expect(TP_CONFLICT, tp_commit(pool.a));
            expect_same(task->id, &before);
            sql_run(pool.eye, "DELETE FROM tp_pending");
        }
}

TEST_OF_HOLD(test_hold__another_session_cannot_settle_what_is_held) {
    const tp_task *task = put_and_hold(pool.a);
    for (int i = 0; i < SETTLES; i++)
        expect(TP_LOST, settles[i].call(pool.b, task));
    complete_and_commit(task);
}

TEST_OF_HOLD(test_hold__after_a_commit_without_an_answer_the_settle_is_found_by_its_token) {
    const tp_task *done = put_and_hold(pool.a);
    expect(TP_NONE, tp_settled(pool.a, done));
    complete_and_commit(done);
    must(tp_settled(pool.b, done));
    must(tp_complete(pool.b, done));
    expect(TP_LOST, tp_skip(pool.b, done, "no"));
    const tp_task *open = put_and_hold(pool.a);
    must(tp_complete(pool.a, open));
    must(tp_rollback(pool.a));
    expect(TP_LOST, tp_settled(pool.b, open));
    expect_row(open->id, "pending", "pending", 0);
}

TEST_OF_HOLD(test_hold__a_task_is_settled_once) {
    const tp_task *task = put_and_hold(pool.a);
    must(tp_complete(pool.a, task));
    expect(TP_CONFLICT, tp_complete(pool.a, task));
    expect(TP_CONFLICT, tp_commit(pool.a));
    expect_row(task->id, "pending", "pending", 0);
}

/* The application's own statement in the same transaction. */
TEST_OF_HOLD(test_hold__a_row_changed_under_the_lock_is_not_completed) {
    const tp_task *task = put_and_hold(pool.a);
    expect_number(sql_run(pool.a, "UPDATE tp_pending SET due_at = due_at + 1 WHERE id = '%s'", task->id), 1);
    expect(TP_LOST, tp_complete(pool.a, task));
    expect(TP_CONFLICT, tp_commit(pool.a));
    expect_row(task->id, "pending", "pending", 0);
}

TEST_OF_HOLD(test_hold__long_parameters_are_read_under_the_lock) {
    enum { LONG = 100000 };
    char *text = memset(memory(LONG + 1, 1), 'p', LONG), id[ID];
    const char *params = NULL;
    size_t length = 0;
    task_put(text, id);
    const tp_task *task = hold_one(pool.a);
    assert_null(task->params);
    must(tp_task_params(pool.a, task, &params, &length));
    expect_number(length, LONG);
    assert_string_equal(params, text);
    complete_and_commit(task);
}

/* ---- Lapsed leases ------------------------------------------------------------------------------------- */

static void lapse_with(const char *id, char token[ID]) {
    tp_batch *batch = claim_with(pool.b, .limit = 1, .plan = "cas");
    assert_string_equal(tp_batch_task(batch, 0)->id, id);
    memcpy(token, tp_batch_task(batch, 0)->owner, ID);
    row_make_due(id);
}

static void expect_lapsed(const char *reason, const char *token) {
    char wanted[100];
    snprintf(wanted, sizeof wanted, "lease lapsed, held by %s", token);
    assert_string_equal(reason, wanted);
}

TEST_OF_HOLD(test_hold__a_lapsed_lease_counts_once_and_with_the_commit) {
    char token[ID];
    const char *id = put_one();
    lapse_with(id, token);
    struct row before = row_of(id);
    for (int round = 0; round < 3; round++) {
        tp_batch *batch = hold(pool.a, 1);
        const tp_task *task = tp_batch_task(batch, 0);
        expect_number(task->failures, 1);
        if (round < 2) expect_lapsed(task->reason, token);
        if (round == 2) assert_memory_equal(task->reason, "earlier: ", 9);
        must(round ? tp_commit(pool.a) : tp_rollback(pool.a));
        if (round == 0) expect_same(id, &before);
        if (round == 1) expect_row(id, "pending", "failed", 1);
        expect_number(
            count_of("tp_history WHERE task_id = '%s' AND owner = '%s' AND event = 'lapsed'", id, token),
            round ? 1 : 0);
    }
    complete_and_commit(hold_one(pool.a));
    expect_row(id, "finished", "done", 1);
}

TEST_OF_HOLD(test_hold__whoever_let_a_lease_lapse_settles_nothing_any_more) {
    const char *id = put_one();
    const tp_task *stale = tp_batch_task(claim_with(pool.b, .limit = 1, .plan = "cas"), 0);
    row_make_due(id);
    hold(pool.a, 1);
    must(tp_commit(pool.a));
    struct row before = row_of(id);
    for (int i = 0; i < SETTLES; i++)
        expect(TP_LOST, settles[i].call(pool.b, stale));
    expect_same(id, &before);
}

TEST_OF_HOLD(test_hold__a_last_lapse_ends_in_the_failed_pool_with_the_commit) {
    tp_claim_request request = hold_request(5);
    char token[ID];
    tp_new_task task = enqueue(pool.eye, .max_failures = 1);
    lapse_with(task.id, token);
    must(tp_begin(pool.a));
    expect(TP_NONE, try_claim(pool.a, &request));
    must(tp_rollback(pool.a));
    expect_row(task.id, "pending", "handling", 0);
    must(tp_begin(pool.a));
    expect(TP_NONE, try_claim(pool.a, &request));
    must(tp_commit(pool.a));
    expect_row(task.id, "failed", "failed", 1);
    expect_lapsed(row_of(task.id).reason, token);
}

/* ---- Claimed anew after a rollback --------------------------------------------------------------------- */

TEST_OF_HOLD(test_hold__what_was_rolled_back_is_claimed_anew_and_its_failure_counted) {
    const tp_task *task = put_and_hold(pool.a);
    effect(pool.a, task->id);
    expect(TP_MISUSE, tpi_claim_held(pool.a, task, 0));
    must(tp_rollback(pool.a));
    must(tpi_claim_held(pool.a, task, 60000));
    must(tpi_claim_held(pool.a, task, 60000)); /* asked again */
    expect_row(task->id, "pending", "handling", 0);
    assert_string_equal(row_of(task->id).owner, task->owner);
    must(tp_fail(pool.a, task, "broken", NULL));
    expect_row(task->id, "pending", "failed", 1);
    expect_number(effects_of(task->id), 0);
}

TEST_OF_HOLD(test_hold__but_not_when_another_has_it_or_it_was_settled) {
    const tp_task *task = put_and_hold(pool.a);
    must(tp_rollback(pool.a));
    tp_batch *other = claim(pool.b, 1);
    expect(TP_LOST, tpi_claim_held(pool.a, task, 0));
    expect(TP_MISUSE, tpi_claim_held(pool.a, tp_batch_task(other, 0), 0));
    must(tp_complete(pool.b, tp_batch_task(other, 0)));
    expect(TP_LOST, tpi_claim_held(pool.a, task, 0));
    task = put_and_hold(pool.a);
    complete_and_commit(task);
    for (int asked = 0; asked < 2; asked++)
        expect(TP_EXISTS, tpi_claim_held(pool.a, task, 0));
    expect_row(task->id, "finished", "done", 0);
}

/* What is seen of that commit may not be on a standby yet: a worker that told of it at once would have a task
 * done that is open where that standby takes over. */
TEST_OF_HOLD(test_hold__that_it_was_settled_is_answered_once_a_standby_has_it) {
    const tp_task *task = put_and_hold(pool.a);
    complete_and_commit(task);
    if (!pool.a->store.link.driver->catch_up) return;
    for (int made = 0; made < 2; made++) {
        lose_call("catch_up", NULL, made);
        expect(TP_DISCONNECTED, tpi_claim_held(pool.a, task, 0));
        must(tp_conn_reopen(pool.a));
    }
    expect(TP_EXISTS, tpi_claim_held(pool.a, task, 0));
    expect_row(task->id, "finished", "done", 0);
}

/* Otherwise its failures would never be counted: each transaction finds the lapse and takes it back.
 * Whichever call loses its answer. */
TEST_OF_HOLD(test_hold__a_lapse_that_was_rolled_back_counts_with_the_new_claim) {
    char id[ID], token[ID];
    for (int at = 0, lost = 1; lost; at++)
        for (int made = 0; made < 2; made++) {
            task_put("x", id);
            lapse_with(id, token);
            const tp_task *task = hold_one(pool.a);
            must(tp_rollback(pool.a));
            lose_nth_call(at, made);
            tp_status status = tpi_claim_held(pool.a, task, 0);
            lost = lost_nth_call();
            if (status < TP_OK) {
                must(tp_conn_reopen(pool.a));
                must(tpi_claim_held(pool.a, task, 0));
            }
            expect_row(id, "pending", "handling", 1);
            expect_lapsed(row_of(id).reason, token);
            expect_number(events_of(id, "lapsed"), 1);
            must(tp_fail(pool.a, task, "broken", NULL));
            expect_row(id, "pending", "failed", 2);
            sql_run(pool.eye, "DELETE FROM tp_pending");
        }
}

/* ---- Plans that are kept ------------------------------------------------------------------------------- */

static void hold_and_complete(void) {
    complete_and_commit(hold_one(pool.a));
}

static void see_no_scan(const struct sql_row *row, void *arg) {
    (void)arg;
    if (strstr(row->cell[0], "Seq Scan")) fail_msg("%s", row->cell[0]);
}

/* A plan that the server keeps may have been made when the pool was all but empty. */
TEST_OF_HOLD(test_hold__a_pool_that_has_grown_is_not_read_whole) {
    enum { RUNS = 10, MANY = 100000, AGE_MS = 1100 };
    char id[ID];
    struct sql_row row;
    if (!pool_on_postgres()) return;
    pool_empty();
    sql_run(pool.eye, "VACUUM ANALYZE tp_pending");
    for (int i = 0; i < RUNS; i++) {
        task_put("x", id);
        hold_and_complete();
    }
    sql_run(pool.eye, "INSERT INTO tp_pending (handler) SELECT '%s' FROM generate_series(1, %d)",
            pool.handler, MANY);
    for (int64_t end = tpi_clock_mono_ms() + AGE_MS; tpi_clock_mono_ms() < end;)
        hold_and_complete();
    hold_and_complete(); /* this one has begun later, however long others took */
    assert_true(sql_row(pool.a, &row,
                        "SELECT name, repeat(', NULL', cardinality(parameter_types) - 1) FROM "
                        "pg_prepared_statements WHERE statement LIKE '%%LIMIT 1 FOR UPDATE%%'"));
    assert_true(sql_raw_each(tp_conn_dbc(pool.a), see_no_scan, NULL, "EXPLAIN EXECUTE \"%s\"(NULL%s)",
                             row.cell[0], row.cell[1]));
    pool_empty();
}
