/* Plan hold: tasks that a transaction has locked and nobody marked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ops/for_workers.h"
#include "suite.h"

#define NEEDS_HOLD                                                                                           \
    (void)state;                                                                                             \
    if (!pool_plan_possible("hold")) return

static tp_claim_request hold_request(size_t limit) {
    tp_claim_request request = claim_request(limit);
    request.plan = "hold";
    return request;
}

/* Begins and holds exactly so many. */
static tp_batch *hold(tp_conn *conn, size_t count) {
    tp_claim_request request = hold_request(count);
    tp_batch *batch = NULL;
    must(tp_begin(conn));
    must(tp_claim(conn, &request, &batch));
    expect_number(tp_batch_count(batch), count);
    assert_string_equal(request.token, "");
    return batch;
}

static tp_batch *put_and_hold(tp_conn *conn, const tp_task **task) {
    char id[ID];
    task_put("x", id);
    tp_batch *batch = hold(conn, 1);
    *task = tp_batch_task(batch, 0);
    assert_string_equal((*task)->id, id);
    return batch;
}

/* ---- Claiming ------------------------------------------------------------------------------------------ */

static void test_hold__marks_nothing_and_a_rollback_gives_all_back_unchanged(void **state) {
    char ids[3][ID];
    struct row before[3];
    NEEDS_HOLD;
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
    tp_batch_free(batch);
    batch = hold(pool.b, 3);
    must(tp_commit(pool.b)); /* nor does a commit change what was not settled */
    for (int i = 0; i < 3; i++)
        expect_same(ids[i], &before[i]);
    tp_batch_free(batch);
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
    tp_batch_free(one);
    tp_batch_free(two);
}

static void test_hold__two_sessions_get_different_tasks_without_waiting(void **state) {
    NEEDS_HOLD;
    if (pool_on_sqlite()) return; /* one writer: the second tp_begin waits */
    share(2, 1);
    share(12, 5);
    share(400, 150);
}

/* An order over several handlers takes a sort, and a sort that locks would lock all that is due. */
static void share_kinds(size_t tasks, const char *const *handlers) {
    tp_claim_request request = hold_request(tasks / 4);
    tp_batch *batches[4] = {NULL};
    request.handlers = handlers;
    request.handler_count = 2;
    pool_empty();
    for (size_t i = 0; i < tasks; i++) {
        tp_new_task task = task_new("x");
        task.handler = handlers[i % 2];
        must(tp_enqueue(pool.eye, &task));
    }
    pool_measure();
    struct pool_guest guests[2] = {pool_guest_open(), pool_guest_open()};
    tp_conn *sessions[4] = {pool.a, pool.b, guests[0].conn, guests[1].conn};
    pool_fail_waits(pool.b);
    for (int i = 0; i < 4; i++) {
        must(tp_begin(sessions[i]));
        must(tp_claim(sessions[i], &request, &batches[i]));
        expect_number(tp_batch_count(batches[i]), tasks / 4);
    }
    for (int i = 0; i < 4; i++) {
        must(tp_rollback(sessions[i]));
        tp_batch_free(batches[i]);
    }
    pool_guest_close(&guests[0]);
    pool_guest_close(&guests[1]);
}

static void test_hold__sessions_share_the_tasks_of_several_handlers_without_waiting(void **state) {
    char name[TP_HANDLER_MAX];
    const char *handlers[] = {pool.handler, name};
    NEEDS_HOLD;
    if (pool_on_sqlite()) return;
    snprintf(name, sizeof name, "%s.other", pool.handler);
    share_kinds(4, handlers);
    share_kinds(40, handlers);
    share_kinds(200, handlers);
}

/* A claim of the handler's tasks by pool.a, in its open transaction. */
static tp_batch *hold_more(size_t count) {
    tp_claim_request request = hold_request(count);
    tp_batch *batch = NULL;
    must(tp_claim(pool.a, &request, &batch));
    expect_number(tp_batch_count(batch), count);
    return batch;
}

/* Of two priorities, and after others of the same transaction, some of them completed. */
static void test_hold__locks_no_more_than_it_gives_out(void **state) {
    enum { TASKS = 10 };
    NEEDS_HOLD;
    if (pool_on_sqlite()) return; /* one writer */
    for (int i = 0; i < 2 * TASKS; i++) {
        tp_new_task task = task_new("x");
        task.priority = i % 2;
        must(tp_enqueue(pool.eye, &task));
    }
    tp_batch *first = hold(pool.a, 4);
    for (size_t i = 0; i < 4; i++)
        must(tp_complete(pool.a, tp_batch_task(first, i)));
    tp_batch *second = hold_more(3), *third = hold_more(5);
    tp_batch *others = hold(pool.b, 2 * TASKS - 4 - 3 - 5);
    must(tp_rollback(pool.a));
    must(tp_rollback(pool.b));
    tp_batch_free(first);
    tp_batch_free(second);
    tp_batch_free(third);
    tp_batch_free(others);
}

static void test_hold__what_is_held_is_passed_over_by_every_plan(void **state) {
    const tp_task *task;
    NEEDS_HOLD;
    if (pool_on_sqlite()) return;
    struct pool_guest guest = pool_guest_open();
    tp_batch *batch = put_and_hold(pool.a, &task);
    for (int i = 0; i < PLANS; i++) {
        tp_claim_request request = claim_request(5);
        tp_batch *none = NULL;
        request.plan = pool_plans[i];
        if (pool_plan_holds(pool_plans[i])) must(tp_begin(guest.conn));
        tp_status status = tp_claim(guest.conn, &request, &none);
        if (status != TP_NONE && strcmp(pool_plans[i], "batch") != 0) expect(TP_NONE, status);
        assert_null(none); /* batch waits for the lock, and gives up */
        if (pool_plan_holds(pool_plans[i])) must(tp_rollback(guest.conn));
    }
    must(tp_complete(pool.a, task));
    must(tp_commit(pool.a));
    expect_row(task->id, "finished", "done", 0);
    tp_batch_free(batch);
    pool_guest_close(&guest);
}

static void test_hold__tasks_come_in_order_and_in_the_order_of_handlers(void **state) {
    static const int32_t priorities[] = {3, -1, 3, 0};
    tp_claim_request request = hold_request(10);
    tp_batch *batch = NULL;
    NEEDS_HOLD;
    for (size_t i = 0; i < 4; i++) {
        tp_new_task task = task_new("x");
        task.priority = priorities[i];
        must(tp_enqueue(pool.eye, &task));
    }
    must(tp_begin(pool.a));
    must(tp_claim(pool.a, &request, &batch));
    expect_number(tp_batch_count(batch), 4);
    for (size_t i = 1; i < 4; i++)
        assert_true(tp_batch_task(batch, i - 1)->priority <= tp_batch_task(batch, i)->priority);
    must(tp_rollback(pool.a));
    tp_batch_free(batch);
}

/* Its own locks are none to it, and a task it has not settled is as it was. */
static void test_hold__one_transaction_gets_a_task_once(void **state) {
    char ids[6][ID];
    tp_claim_request request = hold_request(2);
    NEEDS_HOLD;
    task_put_many(6, ids);
    must(tp_begin(pool.a));
    for (int round = 0; round < 3; round++) {
        tp_batch *batch = NULL;
        must(tp_claim(pool.a, &request, &batch));
        expect_number(tp_batch_count(batch), 2);
        for (size_t i = 0; i < 2; i++)
            assert_string_equal(tp_batch_task(batch, i)->id, ids[2 * (size_t)round + i]);
        if (round == 1) must(tp_complete(pool.a, tp_batch_task(batch, 0)));
        tp_batch_free(batch);
    }
    tp_batch *none = NULL;
    expect(TP_NONE, tp_claim(pool.a, &request, &none));
    must(tp_commit(pool.a));
    tp_batch *batch = hold(pool.a, 5); /* the next one gets them again */
    must(tp_rollback(pool.a));
    tp_batch_free(batch);
}

static void test_hold__needs_a_transaction_and_the_others_refuse_one(void **state) {
    tp_claim_request request = hold_request(1);
    tp_batch *batch = NULL;
    NEEDS_HOLD;
    expect(TP_MISUSE, tp_claim(pool.a, &request, &batch));
    expect_text("tp_begin");
    must(tp_begin(pool.a));
    request.plan = "cas";
    expect(TP_MISUSE, tp_claim(pool.a, &request, &batch));
    expect_text("plan cas");
    expect_text("plan hold");
    must(tp_rollback(pool.a));
    assert_null(batch);
}

static void test_hold__a_closed_session_gives_back_unchanged_and_uncounted(void **state) {
    char id[ID];
    tp_conn *conn = NULL;
    NEEDS_HOLD;
    task_put("x", id);
    struct row before = row_of(id);
    must(tp_conn_open(pool.env, &conn));
    tp_batch *batch = hold(conn, 1);
    const tp_task *task = tp_batch_task(batch, 0);
    effect(conn, id);
    must(tp_complete(conn, task));
    tp_conn_close(conn);
    expect_same(id, &before);
    expect_number(effects_of(id), 0);
    expect(TP_LOST, tp_complete(pool.a, task));
    tp_batch_free(batch);
    tp_batch_free(hold(pool.a, 1));
    must(tp_rollback(pool.a));
}

/* Effect and settle are written, the commit is not. */
static void test_hold__a_killed_process_gives_back_unchanged_and_uncounted(void **state) {
    char id[ID], line[CHILD_LINE];
    NEEDS_HOLD;
    task_put("x", id);
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
        tp_status status = tp_claim(pool.a, &request, &batch);
        if (status != TP_NONE) must(status);
        if (status == TP_NONE) must(tp_rollback(pool.a));
    }
    expect_same(id, &before);
    expect_number(effects_of(id), 0);
    effect(pool.a, id);
    must(tp_complete(pool.a, tp_batch_task(batch, 0)));
    must(tp_commit(pool.a));
    expect_number(effects_of(id), 1);
    tp_batch_free(batch);
}

/* ---- Settling ------------------------------------------------------------------------------------------ */

static void test_hold__effect_and_settle_commit_together_or_not_at_all(void **state) {
    NEEDS_HOLD;
    for (int commits = 0; commits < 2; commits++) {
        const tp_task *task;
        tp_batch *batch = put_and_hold(pool.a, &task);
        effect(pool.a, task->id);
        must(tp_complete(pool.a, task));
        expect_row(task->id, "pending", "pending", 0);
        must(commits ? tp_commit(pool.a) : tp_rollback(pool.a));
        expect_number(effects_of(task->id), commits);
        expect_row(task->id, commits ? "finished" : "pending", commits ? "done" : "pending", 0);
        if (!commits) sql_run(pool.eye, "DELETE FROM tp_pending WHERE id = '%s'", task->id);
        if (commits) assert_string_equal(row_of(task->id).owner, task->owner);
        tp_batch_free(batch);
    }
}

static void test_hold__every_settle_does_what_it_says(void **state) {
    static const struct {
        const char *pool, *state;
        int failures;
    } places[SETTLES] = {{"finished", "done", 0},
                         {"finished", "skipped", 0},
                         {"pending", "failed", 1},
                         {"pending", "pending", 0},
                         {"pending", "pending", 0}};
    NEEDS_HOLD;
    for (int i = 0; i < SETTLES; i++) {
        const tp_task *task;
        tp_batch *batch = put_and_hold(pool.a, &task);
        struct row before = row_of(task->id);
        must(settles[i].call(pool.a, task));
        must(tp_commit(pool.a));
        expect_row(task->id, places[i].pool, places[i].state, places[i].failures);
        if (strcmp(settles[i].name, "extend") == 0) expect_same(task->id, &before);
        sql_run(pool.eye, "DELETE FROM tp_pending");
        tp_batch_free(batch);
    }
}

static void complete_all(tp_conn *conn, const tp_batch *batch) {
    const tp_task *tasks[400];
    for (size_t i = 0; i < tp_batch_count(batch); i++)
        tasks[i] = tp_batch_task(batch, i);
    must(tpi_extend_many(conn, tasks, tp_batch_count(batch), 90000, NULL));
    must(tp_complete_many(conn, tasks, tp_batch_count(batch), NULL));
}

/* Three sessions with locks at once: two hold, one completes what it has leased. */
static void complete_beside(size_t tasks) {
    tp_claim_request request = claim_request(tasks / 4);
    tp_batch *leased = NULL;
    struct pool_guest guest = pool_guest_open();
    pool_empty();
    task_put_many(tasks, NULL);
    pool_measure();
    request.plan = "cas";
    must(tp_claim(guest.conn, &request, &leased));
    pool_fail_waits(pool.a);
    pool_fail_waits(pool.b);
    tp_batch *one = hold(pool.a, tasks / 4), *two = hold(pool.b, tasks / 4);
    complete_all(pool.a, one);
    complete_all(pool.b, two);
    complete_all(guest.conn, leased);
    must(tp_commit(pool.b));
    must(tp_commit(pool.a));
    expect_number(rows_in("pending", pool.handler), tasks - 3 * (tasks / 4));
    sql_run(pool.eye, "DELETE FROM tp_finished WHERE handler = '%s'", pool.handler);
    tp_batch_free(one);
    tp_batch_free(two);
    tp_batch_free(leased);
    pool_guest_close(&guest);
}

static void test_hold__sessions_complete_many_without_waiting_for_each_other(void **state) {
    NEEDS_HOLD;
    /* Oracle's stand-in scans small tables and waits for each lock it meets; Oracle locks only what it
     * deletes. */
    if (pool_on_sqlite() || prepared()) return;
    complete_beside(8);
    complete_beside(60);
    complete_beside(800);
}

static void test_hold__completing_many_is_all_or_nothing(void **state) {
    const tp_task *tasks[3];
    tp_status answers[3];
    char ids[3][ID];
    NEEDS_HOLD;
    task_put_many(3, ids);
    tp_batch *batch = hold(pool.a, 3);
    for (size_t i = 0; i < 3; i++)
        tasks[i] = tp_batch_task(batch, i);
    sql_run(pool.a, "DELETE FROM tp_pending WHERE id = '%s'", ids[1]);
    memset(answers, 7, sizeof answers);
    expect(TP_LOST, tp_complete_many(pool.a, tasks, 3, answers));
    expect_number(answers[1], TP_LOST);
    expect(TP_CONFLICT, tp_commit(pool.a));
    for (size_t i = 0; i < 3; i++)
        expect_row(ids[i], "pending", "pending", 0);
    expect(TP_LOST, tp_complete_many(pool.b, tasks, 3, answers));
    tp_batch_free(batch);
}

/* Settled otherwise by the original, in the same transaction: the copy does not know of it. */
static void test_hold__a_copy_does_not_complete_over_another_settle(void **state) {
    NEEDS_HOLD;
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
        tp_batch_free(batch);
    }
}

static void test_hold__the_last_failure_ends_in_the_failed_pool(void **state) {
    static const tp_retry never = {.size = sizeof never};
    const tp_task *task;
    NEEDS_HOLD;
    tp_batch *batch = put_and_hold(pool.a, &task);
    expect(TP_EXHAUSTED, tp_fail(pool.a, task, "broken", &never));
    must(tp_commit(pool.a));
    expect_row(task->id, "failed", "failed", 1);
    assert_string_equal(row_of(task->id).reason, "broken");
    tp_batch_free(batch);
}

static void test_hold__outside_its_transaction_every_settle_is_lost(void **state) {
    NEEDS_HOLD;
    for (int i = 0; i < SETTLES; i++)
        for (int later = 0; later < 2; later++) {
            const tp_task *task;
            tp_batch *batch = put_and_hold(pool.a, &task);
            struct row before = row_of(task->id);
            must(tp_rollback(pool.a));
            if (later) must(tp_begin(pool.a));
            expect(TP_LOST, settles[i].call(pool.a, task));
            expect(TP_LOST, settles[i].call(pool.b, task));
            if (later) expect(TP_CONFLICT, tp_commit(pool.a));
            expect_same(task->id, &before);
            sql_run(pool.eye, "DELETE FROM tp_pending");
            tp_batch_free(batch);
        }
}

static void test_hold__another_session_cannot_settle_what_is_held(void **state) {
    const tp_task *task;
    NEEDS_HOLD;
    tp_batch *batch = put_and_hold(pool.a, &task);
    for (int i = 0; i < SETTLES; i++)
        expect(TP_LOST, settles[i].call(pool.b, task));
    must(tp_complete(pool.a, task));
    must(tp_commit(pool.a));
    tp_batch_free(batch);
}

static void test_hold__after_a_commit_without_an_answer_the_settle_is_found_by_its_token(void **state) {
    const tp_task *done, *open;
    NEEDS_HOLD;
    tp_batch *one = put_and_hold(pool.a, &done);
    expect(TP_NONE, tp_settled(pool.a, done));
    must(tp_complete(pool.a, done));
    must(tp_commit(pool.a));
    must(tp_settled(pool.b, done));
    must(tp_complete(pool.b, done));
    expect(TP_LOST, tp_skip(pool.b, done, "no"));
    tp_batch *two = put_and_hold(pool.a, &open);
    must(tp_complete(pool.a, open));
    must(tp_rollback(pool.a));
    expect(TP_LOST, tp_settled(pool.b, open));
    expect_row(open->id, "pending", "pending", 0);
    tp_batch_free(one);
    tp_batch_free(two);
}

static void test_hold__a_task_is_settled_once(void **state) {
    const tp_task *task;
    NEEDS_HOLD;
    tp_batch *batch = put_and_hold(pool.a, &task);
    must(tp_complete(pool.a, task));
    expect(TP_CONFLICT, tp_complete(pool.a, task));
    expect(TP_CONFLICT, tp_commit(pool.a));
    expect_row(task->id, "pending", "pending", 0);
    tp_batch_free(batch);
}

/* The application's own statement in the same transaction. */
static void test_hold__a_row_changed_under_the_lock_is_not_completed(void **state) {
    const tp_task *task;
    NEEDS_HOLD;
    tp_batch *batch = put_and_hold(pool.a, &task);
    expect_number(sql_run(pool.a, "UPDATE tp_pending SET due_at = due_at + 1 WHERE id = '%s'", task->id), 1);
    expect(TP_LOST, tp_complete(pool.a, task));
    expect(TP_CONFLICT, tp_commit(pool.a));
    expect_row(task->id, "pending", "pending", 0);
    tp_batch_free(batch);
}

static void test_hold__long_parameters_are_read_under_the_lock(void **state) {
    enum { LONG = 100000 };
    char *text = NULL, id[ID];
    const char *params = NULL;
    size_t length = 0;
    NEEDS_HOLD;
    text = malloc(LONG + 1);
    assert_non_null(text);
    memset(text, 'p', LONG);
    text[LONG] = '\0';
    task_put(text, id);
    tp_batch *batch = hold(pool.a, 1);
    const tp_task *task = tp_batch_task(batch, 0);
    assert_null(task->params);
    must(tp_task_params(pool.a, task, &params, &length));
    expect_number(length, LONG);
    assert_string_equal(params, text);
    must(tp_complete(pool.a, task));
    must(tp_commit(pool.a));
    tp_batch_free(batch);
    free(text);
}

/* ---- Lapsed leases ------------------------------------------------------------------------------------- */

static void lapse(const char *id, char token[ID]) {
    tp_claim_request request = claim_request(1);
    tp_batch *batch = NULL;
    request.plan = "cas";
    must(tp_claim(pool.b, &request, &batch));
    assert_string_equal(tp_batch_task(batch, 0)->id, id);
    memcpy(token, tp_batch_task(batch, 0)->owner, ID);
    tp_batch_free(batch);
    row_make_due(id);
}

static void expect_lapsed(const char *reason, const char *token) {
    char wanted[100];
    snprintf(wanted, sizeof wanted, "lease lapsed, held by %s", token);
    assert_string_equal(reason, wanted);
}

static void test_hold__a_lapsed_lease_counts_once_and_with_the_commit(void **state) {
    char id[ID], token[ID];
    NEEDS_HOLD;
    task_put("x", id);
    lapse(id, token);
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
        expect_number(sql_number(pool.eye,
                                 "SELECT COUNT(*) FROM tp_history WHERE task_id = '%s' AND owner = '%s' AND "
                                 "event = 'lapsed'",
                                 id, token),
                      round ? 1 : 0);
        tp_batch_free(batch);
    }
    tp_batch *batch = hold(pool.a, 1);
    must(tp_complete(pool.a, tp_batch_task(batch, 0)));
    must(tp_commit(pool.a));
    expect_row(id, "finished", "done", 1);
    tp_batch_free(batch);
}

static void test_hold__whoever_let_a_lease_lapse_settles_nothing_any_more(void **state) {
    const tp_task *stale;
    tp_claim_request request = claim_request(1);
    tp_batch *old = NULL;
    char id[ID];
    NEEDS_HOLD;
    task_put("x", id);
    request.plan = "cas";
    must(tp_claim(pool.b, &request, &old));
    stale = tp_batch_task(old, 0);
    row_make_due(id);
    tp_batch *batch = hold(pool.a, 1);
    must(tp_commit(pool.a));
    struct row before = row_of(id);
    for (int i = 0; i < SETTLES; i++)
        expect(TP_LOST, settles[i].call(pool.b, stale));
    expect_same(id, &before);
    tp_batch_free(old);
    tp_batch_free(batch);
}

static void test_hold__a_last_lapse_ends_in_the_failed_pool_with_the_commit(void **state) {
    tp_new_task task = task_new("x");
    tp_claim_request request = hold_request(5);
    tp_batch *batch = NULL;
    char token[ID];
    NEEDS_HOLD;
    task.max_failures = 1;
    must(tp_enqueue(pool.eye, &task));
    lapse(task.id, token);
    must(tp_begin(pool.a));
    expect(TP_NONE, tp_claim(pool.a, &request, &batch));
    must(tp_rollback(pool.a));
    expect_row(task.id, "pending", "handling", 0);
    must(tp_begin(pool.a));
    expect(TP_NONE, tp_claim(pool.a, &request, &batch));
    must(tp_commit(pool.a));
    expect_row(task.id, "failed", "failed", 1);
    expect_lapsed(row_of(task.id).reason, token);
}

/* ---- Claimed anew after a rollback --------------------------------------------------------------------- */

static void test_hold__what_was_rolled_back_is_claimed_anew_and_its_failure_counted(void **state) {
    const tp_task *task;
    NEEDS_HOLD;
    tp_batch *batch = put_and_hold(pool.a, &task);
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
    tp_batch_free(batch);
}

static void test_hold__but_not_when_another_has_it_or_it_was_settled(void **state) {
    const tp_task *task;
    NEEDS_HOLD;
    tp_batch *batch = put_and_hold(pool.a, &task);
    must(tp_rollback(pool.a));
    tp_batch *other = claim(pool.b, 1);
    expect(TP_LOST, tpi_claim_held(pool.a, task, 0));
    expect(TP_MISUSE, tpi_claim_held(pool.a, tp_batch_task(other, 0), 0));
    must(tp_complete(pool.b, tp_batch_task(other, 0)));
    expect(TP_LOST, tpi_claim_held(pool.a, task, 0));
    tp_batch_free(batch);
    batch = put_and_hold(pool.a, &task);
    must(tp_complete(pool.a, task));
    must(tp_commit(pool.a));
    expect(TP_LOST, tpi_claim_held(pool.a, task, 0));
    expect_row(task->id, "finished", "done", 0);
    tp_batch_free(batch);
    tp_batch_free(other);
}

static int64_t lapses_told(const char *id) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_history WHERE task_id = '%s' AND event = 'lapsed'",
                      id);
}

/* Otherwise its failures would never be counted: each transaction finds the lapse and takes it back.
 * Whichever call loses its answer. */
static void test_hold__a_lapse_that_was_rolled_back_counts_with_the_new_claim(void **state) {
    char id[ID], token[ID];
    NEEDS_HOLD;
    for (int at = 0, lost = 1; lost; at++)
        for (int made = 0; made < 2; made++) {
            task_put("x", id);
            lapse(id, token);
            tp_batch *batch = hold(pool.a, 1);
            const tp_task *task = tp_batch_task(batch, 0);
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
            expect_number(lapses_told(id), 1);
            must(tp_fail(pool.a, task, "broken", NULL));
            expect_row(id, "pending", "failed", 2);
            sql_run(pool.eye, "DELETE FROM tp_pending");
            tp_batch_free(batch);
        }
}

/* ---- Plans that are kept ------------------------------------------------------------------------------- */

static void hold_and_complete(void) {
    tp_batch *batch = hold(pool.a, 1);
    must(tp_complete(pool.a, tp_batch_task(batch, 0)));
    must(tp_commit(pool.a));
    tp_batch_free(batch);
}

static void see_no_scan(const struct sql_row *row, void *arg) {
    (void)arg;
    if (strstr(row->cell[0], "Seq Scan")) fail_msg("%s", row->cell[0]);
}

/* A plan that the server keeps may have been made when the pool was all but empty. */
static void test_hold__a_pool_that_has_grown_is_not_read_whole(void **state) {
    enum { RUNS = 10, MANY = 100000, AGE_MS = 1100 };
    char id[ID];
    struct sql_row row;
    NEEDS_HOLD;
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
    assert_true(sql_row(pool.a, &row,
                        "SELECT name, repeat(', NULL', cardinality(parameter_types) - 1)"
                        " FROM pg_prepared_statements WHERE statement LIKE '%%LIMIT 1 FOR UPDATE%%'"));
    assert_true(sql_raw_each(tp_conn_dbc(pool.a), see_no_scan, NULL, "EXPLAIN EXECUTE \"%s\"(NULL%s)",
                             row.cell[0], row.cell[1]));
    pool_empty();
}

THEME(hold, false, cmocka_unit_test(test_hold__marks_nothing_and_a_rollback_gives_all_back_unchanged),
      cmocka_unit_test(test_hold__two_sessions_get_different_tasks_without_waiting),
      cmocka_unit_test(test_hold__sessions_share_the_tasks_of_several_handlers_without_waiting),
      cmocka_unit_test(test_hold__locks_no_more_than_it_gives_out),
      cmocka_unit_test(test_hold__what_is_held_is_passed_over_by_every_plan),
      cmocka_unit_test(test_hold__tasks_come_in_order_and_in_the_order_of_handlers),
      cmocka_unit_test(test_hold__one_transaction_gets_a_task_once),
      cmocka_unit_test(test_hold__needs_a_transaction_and_the_others_refuse_one),
      cmocka_unit_test(test_hold__a_closed_session_gives_back_unchanged_and_uncounted),
      cmocka_unit_test(test_hold__a_killed_process_gives_back_unchanged_and_uncounted),
      cmocka_unit_test(test_hold__effect_and_settle_commit_together_or_not_at_all),
      cmocka_unit_test(test_hold__every_settle_does_what_it_says),
      cmocka_unit_test(test_hold__sessions_complete_many_without_waiting_for_each_other),
      cmocka_unit_test(test_hold__completing_many_is_all_or_nothing),
      cmocka_unit_test(test_hold__a_copy_does_not_complete_over_another_settle),
      cmocka_unit_test(test_hold__the_last_failure_ends_in_the_failed_pool),
      cmocka_unit_test(test_hold__outside_its_transaction_every_settle_is_lost),
      cmocka_unit_test(test_hold__another_session_cannot_settle_what_is_held),
      cmocka_unit_test(test_hold__after_a_commit_without_an_answer_the_settle_is_found_by_its_token),
      cmocka_unit_test(test_hold__a_task_is_settled_once),
      cmocka_unit_test(test_hold__a_row_changed_under_the_lock_is_not_completed),
      cmocka_unit_test(test_hold__long_parameters_are_read_under_the_lock),
      cmocka_unit_test(test_hold__a_lapsed_lease_counts_once_and_with_the_commit),
      cmocka_unit_test(test_hold__whoever_let_a_lease_lapse_settles_nothing_any_more),
      cmocka_unit_test(test_hold__a_last_lapse_ends_in_the_failed_pool_with_the_commit),
      cmocka_unit_test(test_hold__what_was_rolled_back_is_claimed_anew_and_its_failure_counted),
      cmocka_unit_test(test_hold__but_not_when_another_has_it_or_it_was_settled),
      cmocka_unit_test(test_hold__a_lapse_that_was_rolled_back_counts_with_the_new_claim),
      cmocka_unit_test(test_hold__a_pool_that_has_grown_is_not_read_whole));
