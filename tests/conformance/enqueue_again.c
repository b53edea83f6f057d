/* An enqueue asked again with the id it kept: it finds what it did, in whichever pool, and never does it
 * twice. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "odbc/link.h"
#include "suite.h"

/* The same call again, alone and inside a transaction; nothing may be written. */
static void expect_exists(const tp_new_task *task) {
    tp_new_task again = *task;
    struct row before = row_of(task->id);
    again.own_id = task->id;
    expect_number(before.copies, 1);
    expect(TP_EXISTS, tp_enqueue(pool.a, &again));
    assert_string_equal(again.id, task->id);
    expect_same(task->id, &before);
    must(tp_begin(pool.b));
    expect(TP_EXISTS, tp_enqueue(pool.b, &again));
    must(tp_commit(pool.b));
    expect_same(task->id, &before);
}

static tp_new_task put(void) {
    tp_new_task task = task_new("x");
    must(tp_enqueue(pool.a, &task));
    return task;
}

static void test_enqueue_again__finds_the_task_while_it_is_pending(void **state) {
    tp_new_task task = put();
    (void)state;
    expect_exists(&task);
}

static void test_enqueue_again__finds_the_task_while_it_is_handled_and_after_each_settle(void **state) {
    (void)state;
    for (int i = 0; i < SETTLES; i++) {
        tp_new_task new_task = put();
        const tp_task *task;
        tp_batch *batch = claim_this(pool.taker, new_task.id, &task);
        expect_exists(&new_task);
        must(settles[i].call(pool.taker, task));
        expect_exists(&new_task);
        tp_batch_free(batch);
    }
}

static void test_enqueue_again__finds_the_task_in_the_failed_pool(void **state) {
    static const tp_retry never = {.size = sizeof never, .delays_ms = NULL, .count = 0};
    tp_new_task new_task = put();
    const tp_task *task;
    (void)state;
    tp_batch *batch = claim_this(pool.taker, new_task.id, &task);
    expect(TP_SPENT, tp_fail(pool.taker, task, "no", &never));
    expect_exists(&new_task);
    tp_batch_free(batch);
}

static tp_status enqueue_call(tp_conn *conn, void *arg) {
    return tp_enqueue(conn, arg);
}

/* Another session's settle is under way: the row is about to leave the pending pool. Whichever way the
 * enqueue meets it, before, while it waits, or after, it must not come in a second time. */
static void test_enqueue_again__finds_the_task_that_is_being_moved(void **state) {
    tp_new_task new_task = put(), again = task_new("x");
    const tp_task *task;
    struct aside aside;
    (void)state;
    again.own_id = new_task.id;
    if (pool.taker != pool.a) skip(); /* the one who puts in does not settle */
    tp_batch *batch = claim_this(pool.b, new_task.id, &task);
    long session = session_number(pool.a);
    must(tp_begin(pool.b));
    must(tp_complete(pool.b, task));
    aside_start(&aside, pool.a, enqueue_call, &again);
    session_await_blocked(session, &aside);
    must(tp_commit(pool.b));
    tp_status status = aside_end(&aside);
    if (status < TP_OK && tp_status_may_retry(status)) status = tp_enqueue(pool.a, &again);
    assert_string_equal(tp_status_name(status), "exists");
    expect_row(new_task.id, "finished", "done", 0);
    tp_batch_free(batch);
}

static void test_enqueue_again__inserts_when_the_first_try_did_not(void **state) {
    tp_new_task task = task_new("x");
    (void)state;
    must(tp_begin(pool.a));
    must(tp_enqueue(pool.a, &task));
    must(tp_rollback(pool.a)); /* the answer never came, and neither did the row */
    expect_number(row_of(task.id).copies, 0);
    task.own_id = task.id;
    must(tp_enqueue(pool.a, &task));
    expect_row(task.id, "pending", "pending", 0);
}

static void test_enqueue_again__knows_an_id_in_capitals(void **state) {
    tp_new_task task = put();
    (void)state;
    for (char *at = task.id; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    task.own_id = task.id;
    expect(TP_EXISTS, tp_enqueue(pool.a, &task));
    assert_true(islower((unsigned char)task.id[strcspn(task.id, "abcdef")]));
    expect_number(rows_in("pending", pool.handler), 1);
}

static void test_enqueue_again__an_id_of_the_callers_own_is_used(void **state) {
    tp_new_task task = task_new("x");
    (void)state;
    char own[ID] = "7b1d9c3e-5f6a-4b8c-9d0e-000000000000";
    own[35] = pool.handler[strlen(pool.handler) - 1];
    task.own_id = own;
    must(tp_enqueue(pool.a, &task));
    expect_row(task.id, "pending", "pending", 0);
    expect_exists(&task);
}

static void test_enqueue_again__many_are_found_wherever_they_are(void **state) {
    enum { TASKS = 9 };
    tp_new_task tasks[TASKS];
    size_t inserted = 99;
    (void)state;
    for (int i = 0; i < TASKS; i++)
        tasks[i] = task_new("x");
    must(tp_enqueue_many(pool.a, tasks, TASKS, &inserted));
    expect_number(inserted, TASKS);
    tp_batch *batch = claim(pool.taker, 4);
    must(tp_complete(pool.taker, tp_batch_task(batch, 0)));
    must(tp_fail(pool.taker, tp_batch_task(batch, 1), "no", NULL));
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE id = '%s'",
            tasks[TASKS - 1].id); /* one that never came */
    for (int i = 0; i < TASKS; i++)
        tasks[i].answered = 0; /* as after a lost answer */
    must(tp_enqueue_many(pool.b, tasks, TASKS, &inserted));
    expect_number(inserted, 1);
    for (int i = 0; i < TASKS; i++)
        expect_number(row_of(tasks[i].id).copies, 1);
    tp_batch_free(batch);
}

/* The commit is made, its answer never comes. */
static enum tpi_fault lose_commit(struct tpi_link *link, const char *function) {
    bool commits = strcmp(function, "SQLExecDirect") == 0 || strcmp(function, "SQLEndTran") == 0;
    if (!commits || !link->statement || strcmp(link->statement, "commit") != 0) return TPI_FAULT_NONE;
    snprintf(link->diag.state, sizeof link->diag.state, "08S01");
    snprintf(link->diag.text, sizeof link->diag.text, "connection lost");
    link->diag.native = 0;
    return TPI_FAULT_ANSWER_LOST;
}

static void test_enqueue_again__after_a_commit_without_an_answer_the_same_struct_asks_again(void **state) {
    tp_new_task task = task_new("x"), many[2];
    (void)state;
    many[0] = many[1] = task_new("x");
    must(tp_begin(pool.a));
    must(tp_enqueue(pool.a, &task));
    must(tp_enqueue_many(pool.a, many, 2, NULL));
    tpi_link_fault = lose_commit;
    tp_status answer = tp_commit(pool.a);
    tpi_link_fault = NULL;
    expect(TP_DISCONNECTED, answer);
    must(tp_conn_reopen(pool.a));
    expect_number(rows_in("pending", pool.handler), 3);
    expect(TP_EXISTS, tp_enqueue(pool.a, &task));
    must(tp_enqueue_many(pool.a, many, 2, NULL));
    expect_number(rows_in("pending", pool.handler), 3);
}

/* The insert is under way for so long that it is asked again over another connection, and its task done,
 * before it arrives. Where one session writes at a time it is the transaction's begin that is late. */
static tp_new_task late;

static enum tpi_fault be_late(struct tpi_link *link, const char *function) {
    bool executes = strcmp(function, "SQLExecute") == 0 || strcmp(function, "SQLExecDirect") == 0;
    bool any = session_number_of(link->dbc) == 0;
    if (!executes || !link->statement || (!any && strcmp(link->statement, "enqueue") != 0))
        return TPI_FAULT_NONE;
    tpi_link_fault = NULL;
    tp_new_task again = late;
    again.own_id = late.id;
    must(tp_enqueue(pool.b, &again));
    tp_batch *batch = claim(pool.b, 1);
    must(tp_complete(pool.b, tp_batch_task(batch, 0)));
    tp_batch_free(batch);
    snprintf(link->diag.state, sizeof link->diag.state, "08S01");
    snprintf(link->diag.text, sizeof link->diag.text, "connection lost");
    link->diag.native = 0;
    return TPI_FAULT_ANSWER_LOST;
}

static void
test_enqueue_again__a_first_try_that_arrives_after_the_end_of_its_task_is_not_stored(void **state) {
    (void)state;
    if (pool.taker != pool.a) skip(); /* the one who puts in does not settle */
    late = task_new("x");
    tpi_link_fault = be_late;
    tp_status answer = tp_enqueue(pool.a, &late);
    assert_true(tpi_link_fault == NULL);
    expect(TP_DISCONNECTED, answer);
    must(tp_conn_reopen(pool.a));
    expect_row(late.id, "finished", "done", 0);
    expect_number(row_of(late.id).copies, 1);
    expect(TP_EXISTS, tp_enqueue(pool.a, &late));
}

static void test_enqueue_again__one_struct_makes_many_tasks_in_a_transaction(void **state) {
    tp_new_task task = task_new("x");
    (void)state;
    must(tp_begin(pool.a));
    for (int i = 0; i < 3; i++)
        must(tp_enqueue(pool.a, &task));
    must(tp_commit(pool.a));
    must(tp_enqueue(pool.a, &task));
    expect_number(rows_in("pending", pool.handler), 4);
}

static void test_enqueue_again__a_struct_that_got_its_answer_stands_for_a_new_task(void **state) {
    tp_new_task task = task_new("x"), many[2];
    char first[ID];
    (void)state;
    must(tp_enqueue(pool.a, &task));
    memcpy(first, task.id, ID);
    must(tp_enqueue(pool.a, &task));
    assert_string_not_equal(first, task.id);
    many[0] = many[1] = task_new("x");
    must(tp_enqueue_many(pool.a, many, 2, NULL));
    must(tp_enqueue_many(pool.a, many, 2, NULL));
    expect_number(rows_in("pending", pool.handler), 6);
}

THEME(enqueue_again, false,
      cmocka_unit_test(test_enqueue_again__after_a_commit_without_an_answer_the_same_struct_asks_again),
      cmocka_unit_test(test_enqueue_again__a_first_try_that_arrives_after_the_end_of_its_task_is_not_stored),
      cmocka_unit_test(test_enqueue_again__one_struct_makes_many_tasks_in_a_transaction),
      cmocka_unit_test(test_enqueue_again__a_struct_that_got_its_answer_stands_for_a_new_task),
      cmocka_unit_test(test_enqueue_again__finds_the_task_while_it_is_pending),
      cmocka_unit_test(test_enqueue_again__finds_the_task_while_it_is_handled_and_after_each_settle),
      cmocka_unit_test(test_enqueue_again__finds_the_task_in_the_failed_pool),
      cmocka_unit_test(test_enqueue_again__finds_the_task_that_is_being_moved),
      cmocka_unit_test(test_enqueue_again__inserts_when_the_first_try_did_not),
      cmocka_unit_test(test_enqueue_again__knows_an_id_in_capitals),
      cmocka_unit_test(test_enqueue_again__an_id_of_the_callers_own_is_used),
      cmocka_unit_test(test_enqueue_again__many_are_found_wherever_they_are));
