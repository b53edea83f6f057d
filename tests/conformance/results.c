/* What a task gives back: stored with its finished row or not at all, and waited for. */
#include "base/ended.h"
#include "ops/conn.h"
#include "ops/for_workers.h"
#include "suite.h"

THEME(results, A_PLAN);

static const char quote[] = "{\"price\": \"12,50 \xe2\x82\xac\"}\n'two lines'";

static void expect_result(const char *id, const char *result) {
    const tp_task *task = task_shown(pool.eye, id);
    assert_string_equal(task->state, "done");
    assert_string_equal(task->result, result);
}

/* ---- Stored -------------------------------------------------------------------------------------------- */

TEST(test_results__are_stored_with_the_finished_row) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_complete_with(pool.a, task, quote));
    expect_row(task->id, "finished", "done", 0);
    expect_result(task->id, quote);
}

TEST(test_results__of_a_task_without_one_are_empty) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_complete_with(pool.a, task, ""));
    expect_result(task->id, "");
    expect_number(count_of("tp_finished WHERE id = '%s' AND result IS NOT NULL", task->id), 0);
}

TEST(test_results__asked_again_change_nothing) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_complete_with(pool.a, task, quote));
    must(tp_complete_with(pool.b, task, quote));
    must(tp_complete(pool.b, task));
    expect_result(task->id, quote);
}

TEST(test_results__of_a_lost_claim_are_thrown_away) {
    const tp_task *task = put_and_claim(pool.a);
    row_make_due(task->id);
    const tp_task *other = claim_this(pool.b, task->id);
    expect(TP_LOST, tp_complete_with(pool.a, task, "stale"));
    must(tp_complete_with(pool.b, other, "mine"));
    expect_result(task->id, "mine");
}

TEST(test_results__are_undone_with_their_transaction) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_begin(pool.a));
    must(tp_complete_with(pool.a, task, "undone"));
    must(tp_rollback(pool.a));
    expect_row(task->id, "pending", "handling", 0);
    must(tp_begin(pool.a));
    must(tp_complete_with(pool.a, task, "kept"));
    must(tp_commit(pool.a));
    expect_result(task->id, "kept");
}

/* Whatever the answer was that got lost, a task that is done has its result. */
TEST(test_results__are_there_when_an_answer_was_lost) {
    for (int at = 1;; at++) {
        const tp_task *task = put_and_claim(pool.a);
        lose_nth_call(at, true);
        tp_status status = tp_complete_with(pool.a, task, quote);
        if (!lost_nth_call()) {
            must(status);
            return;
        }
        if (status < TP_OK) {
            must(tp_conn_reopen(pool.a));
            must(tp_complete_with(pool.a, task, quote));
        }
        expect_result(task->id, quote);
    }
}

static char *long_result(size_t length) {
    char *text = memory(length + 1, 1);
    memset(text, 'r', length);
    return text;
}

TEST_ONCE(test_results__have_the_limits_of_params) {
    const tp_task *task = put_and_claim(pool.a);
    expect(TP_TOOBIG, tp_complete_with(pool.a, task, long_result(TP_PARAMS_MAX + 1)));
    expect(TP_MISUSE, tp_complete_with(pool.a, task, "\xff"));
    expect_row(task->id, "pending", "handling", 0);
    const char *most = long_result(TP_PARAMS_MAX);
    must(tp_complete_with(pool.a, task, most));
    expect_result(task->id, most);
}

TEST(test_results__of_many_are_stored_each_with_its_task) {
    enum { COUNT = 5 };
    static const char *const results[COUNT] = {"0", NULL, "2", NULL, quote};
    const tp_task *tasks[COUNT];
    tp_status answers[COUNT];
    task_put_many(COUNT, NULL);
    tp_batch *batch = claim(pool.a, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        tasks[i] = tp_batch_task(batch, i);
    must(tp_release(pool.b, tasks[3], 0));
    expect(TP_LOST, tpi_complete_many(pool.a, tasks, results, COUNT, answers));
    for (size_t i = 0; i < COUNT; i++) {
        expect(i == 3 ? TP_LOST : TP_OK, answers[i]);
        if (i != 3) expect_result(tasks[i]->id, results[i] ? results[i] : "");
    }
}

TEST(test_results__of_many_are_stored_behind_gates_too) {
    enum { COUNT = 3 };
    static const char *const results[COUNT] = {"first", "second", "third"};
    const tp_task *tasks[COUNT];
    char ids[COUNT][TP_ID_SIZE];
    for (size_t i = 0; i < COUNT; i++) {
        tp_new_task new_task =
            enqueue(pool.a, .order_key = i == 1 ? "account-7" : NULL, .priority = (int32_t)i);
        memcpy(ids[i], new_task.id, TP_ID_SIZE);
    }
    tp_batch *batch = claim(pool.a, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        tasks[i] = tp_batch_task(batch, i);
    must(tpi_complete_many(pool.a, tasks, results, COUNT, NULL));
    for (size_t i = 0; i < COUNT; i++)
        expect_result(tasks[i]->id, results[i]);
}

TEST_ONCE(test_results__of_a_held_task_commit_with_it) {
    static const char *const results[] = {"held", NULL};
    const tp_task *tasks[2];
    if (!pool_plan_possible("hold")) skip();
    task_put_many(3, NULL);
    must(tp_begin(pool.a));
    tp_batch *batch = claim_with(pool.a, .limit = 3, .plan = "hold");
    expect_count(batch, 3);
    for (size_t i = 0; i < 2; i++)
        tasks[i] = tp_batch_task(batch, i);
    must(tpi_complete_many(pool.a, tasks, results, 2, NULL));
    must(tp_complete_with(pool.a, tp_batch_task(batch, 2), quote));
    must(tp_commit(pool.a));
    expect_result(tasks[0]->id, "held");
    expect_result(tasks[1]->id, "");
    expect_result(tp_batch_task(batch, 2)->id, quote);
}

/* A settle with one is one statement more, and the transaction's begin where one statement settles; one
 * without is what it was. */
TEST_ONCE(test_results__cost_a_statement_where_there_is_one) {
    uint64_t statements[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    for (int i = 0; i < 9; i++) { /* now and then one more says what the time is */
        const tp_task *task = put_and_claim(pool.a);
        uint64_t before = tp_conn_counters(pool.a)->statements;
        if (i % 3)
            must(tp_complete_with(pool.a, task, i % 3 == 2 ? "r" : NULL));
        else
            must(tp_complete(pool.a, task));
        uint64_t cost = tp_conn_counters(pool.a)->statements - before;
        if (cost < statements[i % 3]) statements[i % 3] = cost;
    }
    expect_number(statements[0], statements[1]);
    bool in_two = pool.a->store.caps & TPI_CAP_MOVE_IN_TWO;
    expect_number(statements[2], statements[1] + (in_two ? 1 : 2));
}

/* ---- Waited for ---------------------------------------------------------------------------------------- */

static const tp_task *awaited(const char *id) {
    tp_batch *batch = NULL;
    must(tp_await(pool.b, id, 0, &batch));
    at_end((void (*)(void *))tp_batch_free, batch);
    expect_number(tp_batch_count(batch), 1);
    return tp_batch_task(batch, 0);
}

TEST(test_await__tells_how_a_task_ended) {
    const tp_task *done = put_and_claim(pool.a), *skipped = put_and_claim(pool.a);
    const tp_task *failed = put_and_claim(pool.a);
    must(tp_complete_with(pool.a, done, quote));
    must(tp_skip(pool.a, skipped, "cancelled"));
    expect(TP_EXHAUSTED, tp_fail(pool.a, failed, "no money", &never));
    const tp_task *task = awaited(done->id);
    assert_string_equal(task->id, done->id);
    assert_string_equal(task->pool, "finished");
    assert_string_equal(task->state, "done");
    assert_string_equal(task->result, quote);
    assert_true(task->settled_at > LONG_AGO);
    task = awaited(skipped->id);
    assert_string_equal(task->state, "skipped");
    assert_string_equal(task->reason, "cancelled");
    assert_string_equal(task->result, "");
    task = awaited(failed->id);
    assert_string_equal(task->pool, "failed");
    assert_string_equal(task->state, "failed");
    assert_string_equal(task->reason, "no money");
    expect_number(task->failures, 1);
}

TEST(test_await__of_a_task_that_is_open_answers_when_the_time_is_over) {
    tp_batch *batch = NULL;
    const tp_task *task = put_and_claim(pool.a);
    expect(TP_TIMEOUT, tp_await(pool.b, task->id, 0, &batch));
    expect(TP_TIMEOUT, tp_await(pool.b, task->id, 30, &batch));
    must(tp_fail(pool.a, task, "again", NULL)); /* waits for a retry */
    expect(TP_TIMEOUT, tp_await(pool.b, task->id, 0, &batch));
    assert_null(batch);
}

static uint64_t looks_in(const char *id, int64_t ms) {
    tp_batch *batch = NULL;
    uint64_t before = tp_conn_counters(pool.b)->statements;
    expect(TP_TIMEOUT, tp_await(pool.b, id, ms, &batch));
    return tp_conn_counters(pool.b)->statements - before;
}

/* After 25 ms each, eight times, and then ever later: 40 a second would be 41. */
TEST_ONCE(test_await__polls_ever_more_seldom) {
    const tp_task *task = put_and_claim(pool.a);
    assert_true(looks_in(task->id, 1000) <= 25);
}

static void tell_of_end(struct tpi_link *link, void *id) {
    (void)link;
    tpi_ended_notify(id);
}

/* By itself it looks at the begin and at the end. On a machine that is busy the time may be over at once. */
TEST_ONCE(test_await__looks_at_once_when_it_is_told_of_the_end) {
    const tp_task *task = put_and_claim(pool.a);
    uint64_t most = 0, alone = looks_in(task->id, 20);
    assert_true(alone <= 2);
    for (int i = 0; i < 100 && most < 3; i++) {
        meet_call("find_open", tell_of_end, (void *)(uintptr_t)task->id);
        uint64_t looks = looks_in(task->id, 20);
        if (looks > most) most = looks;
    }
    assert_true(most >= 3);
}

static tp_status await_call(tp_conn *conn, void *id) {
    tp_batch *batch = NULL;
    tp_status status = tp_await(conn, id, 600000, &batch);
    bool right = status == TP_OK && strcmp(tp_batch_task(batch, 0)->result, "at last") == 0;
    tp_batch_free(batch);
    return status == TP_OK && !right ? TP_DB : status;
}

TEST(test_await__comes_back_when_another_session_has_settled_it) {
    struct aside aside;
    char id[TP_ID_SIZE];
    const tp_task *task = put_and_claim(pool.a);
    memcpy(id, task->id, sizeof id);
    aside_start(&aside, pool.b, await_call, id);
    must(tp_complete_with(pool.a, task, "at last"));
    must(aside_end(&aside));
}

TEST_ONCE(test_await__is_refused_where_it_would_wait_for_nothing) {
    tp_batch *batch = NULL;
    const char *id = put_one();
    expect(TP_NONE, tp_await(pool.a, "01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e", 60000, &batch));
    expect(TP_MISUSE, tp_await(pool.a, "no id", 0, &batch));
    expect(TP_MISUSE, tp_await(pool.a, id, -1, &batch));
    expect(TP_MISUSE, tp_await(pool.a, id, 0, NULL));
    must(tp_begin(pool.a));
    expect(TP_MISUSE, tp_await(pool.a, id, 0, &batch));
    must(tp_rollback(pool.a));
    assert_null(batch);
}
