/* Steps and progress of a program that claims without a worker: tp_step_find, tp_step_add, tp_progress_set.
 * The effect of a step is a task that it puts in. */
#include "suite.h"

THEME(own_steps, ONCE);

static void take_result(const tp_step_row *step, void *arg) {
    snprintf(arg, 64, "%s=%s", step->name, step->result);
    assert_true(step->at > LONG_AGO);
}

static void expect_step(tp_conn *conn, const tp_task *task, const char *name, const char *wanted) {
    char text[64] = "";
    must(tp_step_find(conn, task, name, take_result, text));
    assert_string_equal(text, wanted);
}

static tp_status find(tp_conn *conn, const tp_task *task, const char *name) {
    char text[64] = "";
    return tp_step_find(conn, task, name, take_result, text);
}

#define effects() count_of("tp_pending WHERE biz_key = 'effect'")

static tp_status put_effect(tp_conn *conn) {
    tp_new_task task = task_with(.biz_key = "effect", .delay_ms = 3600000);
    return tp_enqueue(conn, &task);
}

static tp_status do_step(tp_conn *conn, const tp_task *task) {
    tp_status status = tp_begin(conn);
    if (status == TP_OK) status = put_effect(conn);
    if (status == TP_OK) status = tp_step_add(conn, task, "charge", "receipt", 60000);
    return status == TP_OK ? tp_commit(conn) : status;
}

/* ---- One commit ---------------------------------------------------------------------------------------- */

TEST(test_own_steps__are_recorded_with_what_was_written) {
    const tp_task *task = put_and_claim(pool.a);
    expect(TP_NONE, find(pool.a, task, "charge"));
    must(do_step(pool.a, task));
    expect_step(pool.a, task, "charge", "charge=receipt");
    expect(TP_NONE, find(pool.a, task, "label"));
    must(tp_fail(pool.a, task, "the label failed", NULL));
    expect(TP_LOST, find(pool.a, task, "charge"));
    row_make_due(task->id);
    const tp_task *next = claim_this(pool.b, task->id);
    expect_step(pool.b, next, "charge", "charge=receipt");
    expect_number(effects(), 1);
}

TEST(test_own_steps__are_undone_with_what_was_written) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_begin(pool.a));
    must(put_effect(pool.a));
    must(tp_step_add(pool.a, task, "charge", NULL, 60000));
    must(tp_rollback(pool.a));
    expect(TP_NONE, find(pool.a, task, "charge"));
    expect_number(effects(), 0);
}

TEST(test_own_steps__of_a_lost_claim_are_not_recorded) {
    const tp_task *stale = put_and_claim(pool.a);
    row_make_due(stale->id);
    const tp_task *task = claim_this(pool.b, stale->id);
    expect(TP_LOST, do_step(pool.a, stale));
    expect(TP_CONFLICT, tp_commit(pool.a));
    expect_number(effects(), 0);
    expect(TP_NONE, find(pool.b, task, "charge"));
    expect(TP_LOST, tp_step_add(pool.a, stale, "charge", NULL, 60000));
    expect(TP_NONE, find(pool.b, task, "charge"));
}

/* Whichever answer was lost, of the work or of the commit: who asks and goes on does the work once. */
TEST(test_own_steps__are_done_once_when_an_answer_was_lost) {
    for (int at = 1;; at++) {
        empty_pool();
        const tp_task *task = put_and_claim(pool.a);
        lose_nth_call(at, at % 2);
        tp_status status = do_step(pool.a, task);
        bool lost = lost_nth_call();
        if (status < TP_OK) {
            must(tp_conn_reopen(pool.a));
            if (find(pool.a, task, "charge") == TP_NONE) must(do_step(pool.a, task));
        }
        expect_step(pool.a, task, "charge", "charge=receipt");
        expect_number(effects(), 1);
        if (!lost) return;
    }
}

static tp_status do_step_call(tp_conn *conn, void *task) {
    return do_step(conn, task);
}

/* The server is still at the earlier transaction when the work is done again over another session. */
TEST(test_own_steps__wait_for_an_earlier_transaction) {
    struct aside aside;
    const tp_task *task = put_and_claim(pool.a);
    must(tp_begin(pool.a));
    must(put_effect(pool.a));
    must(tp_step_add(pool.a, task, "charge", "receipt", 60000));
    start_blocked(&aside, pool.b, do_step_call, (void *)(uintptr_t)task);
    must(tp_commit(pool.a));
    expect(TP_CONFLICT, aside_end(&aside));
    expect(TP_CONFLICT, tp_commit(pool.b));
    expect_number(effects(), 1);
}

TEST(test_own_steps__alone_are_recorded_once) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_step_add(pool.a, task, "mail", "sent", 60000));
    expect(TP_EXISTS, tp_step_add(pool.b, task, "mail", "sent twice", 60000));
    expect_step(pool.a, task, "mail", "mail=sent");
    tp_task bare = {.id = task->id, .owner = task->owner};
    expect_step(pool.b, &bare, "mail", "mail=sent");
    must(tp_complete(pool.a, task));
}

TEST(test_own_steps__are_refused_where_they_cannot_be) {
    char long_name[TP_STEP_NAME_MAX + 2] = "";
    memset(long_name, 's', sizeof long_name - 1);
    const tp_task *task = put_and_claim(pool.a);
    expect(TP_MISUSE, tp_step_add(pool.a, task, "a b", NULL, 60000));
    expect(TP_MISUSE, tp_step_add(pool.a, task, "", NULL, 60000));
    expect(TP_MISUSE, tp_step_add(pool.a, task, "a", "\xff", 60000));
    expect(TP_MISUSE, tp_step_add(pool.a, task, "a", NULL, -1));
    expect(TP_TOOBIG, tp_step_add(pool.a, task, long_name, NULL, 60000));
    expect(TP_MISUSE, tp_step_find(pool.a, task, "a", NULL, NULL));
    expect(TP_MISUSE, find(pool.a, task_shown(pool.eye, task->id), "a"));
    expect(TP_MISUSE, find(pool.a, NULL, "a"));
    expect_number(count_of("tp_step"), 0);
}

TEST(test_own_steps__are_not_of_plan_hold) {
    if (!pool_plan_possible("hold")) skip();
    put_one();
    must(tp_begin(pool.a));
    const tp_task *task = tp_batch_task(claim_with(pool.a, .limit = 1, .plan = "hold"), 0);
    expect(TP_UNSUPPORTED, tp_step_add(pool.a, task, "charge", NULL, 60000));
    must(tp_rollback(pool.a));
}

/* ---- Progress ------------------------------------------------------------------------------------------ */

static void take_percent(const tp_progress *progress, void *arg) {
    *(int *)arg = progress->percent;
    assert_true(progress->percent == -1 || strcmp(progress->message, "rows") == 0);
}

static int percent_of(const tp_task *task) {
    int percent = -2;
    tp_status status = tp_progress_of(pool.eye, task_shown(pool.eye, task->id), take_percent, &percent);
    expect(percent == -2 ? TP_NONE : TP_OK, status);
    return percent;
}

TEST(test_own_steps__progress_is_said_and_taken_back) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_progress_set(pool.b, task, 40, "rows"));
    expect_number(percent_of(task), 40);
    must(tp_progress_set(pool.b, task, 4000, "rows"));
    expect_number(percent_of(task), 100);
    must(tp_progress_set(pool.b, task, -7, "only words"));
    expect_number(percent_of(task), -1);
    must(tp_fail(pool.a, task, "later", NULL));
    must(tp_progress_set(pool.b, task, -1, NULL));
    expect_number(percent_of(task), -2);
    must(tp_begin(pool.a));
    expect(TP_MISUSE, tp_progress_set(pool.a, task, 1, NULL));
    expect(TP_CONFLICT, tp_commit(pool.a));
}
