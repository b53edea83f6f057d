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
    expect(TP_EXHAUSTED, tp_fail(pool.taker, task, "no", &never));
    expect_exists(&new_task);
    tp_batch_free(batch);
}

static tp_status enqueue_call(tp_conn *conn, void *arg) {
    return tp_enqueue(conn, arg);
}

/* Another session's settle is under way: the row is about to leave the pending pool. Whichever way the
 * enqueue meets it, before, while it waits, or after, it must not come in a second time. */
static void test_enqueue_again__finds_the_task_that_is_being_moved(void **state) {
    tp_new_task new_task = put(), again = new_task;
    const tp_task *task;
    struct aside aside;
    (void)state;
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
    must(tp_enqueue(pool.a, &task));
    expect_row(task.id, "pending", "pending", 0);
}

static void test_enqueue_again__knows_an_id_in_capitals(void **state) {
    tp_new_task task = put();
    (void)state;
    for (char *at = task.id; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    expect(TP_EXISTS, tp_enqueue(pool.a, &task));
    assert_true(islower((unsigned char)task.id[strcspn(task.id, "abcdef")]));
    expect_number(rows_in("pending", pool.handler), 1);
}

static void test_enqueue_again__an_id_of_the_callers_own_is_used(void **state) {
    tp_new_task task = task_new("x");
    (void)state;
    char own[ID] = "7b1d9c3e-5f6a-4b8c-9d0e-000000000000";
    own[35] = pool.handler[strlen(pool.handler) - 1];
    task_set_id(&task, own);
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
    must(tp_enqueue_many(pool.b, tasks, TASKS, &inserted));
    expect_number(inserted, 1);
    for (int i = 0; i < TASKS; i++)
        expect_number(row_of(tasks[i].id).copies, 1);
    tp_batch_free(batch);
}

/* ---- Commits without an answer ------------------------------------------------------------------------- */

/* The commit is made, its answer never comes, or is one that nobody knows. */
static const char *commit_state;

static enum tpi_fault lose_commit(struct tpi_link *link, const char *function) {
    bool commits = strcmp(function, "SQLExecDirect") == 0 || strcmp(function, "SQLEndTran") == 0;
    if (!commits || !link->statement || strcmp(link->statement, "commit") != 0) return TPI_FAULT_NONE;
    snprintf(link->diag.state, sizeof link->diag.state, "%s", commit_state);
    snprintf(link->diag.text, sizeof link->diag.text, "the answer of a commit");
    link->diag.native = 99999;
    return TPI_FAULT_ANSWER_LOST;
}

static tp_status commit_unheard(tp_conn *conn, const char *state) {
    commit_state = state;
    tpi_link_fault = lose_commit;
    tp_status status = tp_commit(conn);
    tpi_link_fault = NULL;
    assert_true(status < TP_OK);
    must(tp_conn_reopen(conn));
    return status;
}

static void put_unheard(tp_new_task *task, const char *state) {
    must(tp_begin(pool.a));
    must(tp_enqueue(pool.a, task));
    (void)commit_unheard(pool.a, state);
}

static void test_enqueue_again__after_a_commit_without_an_answer_the_same_struct_asks_again(void **state) {
    tp_new_task task = task_new("x"), many[2];
    (void)state;
    many[0] = many[1] = task_new("x");
    must(tp_begin(pool.a));
    must(tp_enqueue(pool.a, &task));
    must(tp_enqueue_many(pool.a, many, 2, NULL));
    expect(TP_DISCONNECTED, commit_unheard(pool.a, "08S01"));
    expect_number(rows_in("pending", pool.handler), 3);
    expect(TP_EXISTS, tp_enqueue(pool.a, &task));
    must(tp_enqueue_many(pool.a, many, 2, NULL));
    expect_number(rows_in("pending", pool.handler), 3);
}

static void test_enqueue_again__after_two_commits_without_an_answer_the_first_struct_is_known(void **state) {
    tp_new_task first = task_new("x"), second = task_new("x");
    (void)state;
    put_unheard(&first, "08S01");
    put_unheard(&second, "08S01");
    expect(TP_EXISTS, tp_enqueue(pool.a, &first));
    expect(TP_EXISTS, tp_enqueue(pool.a, &second));
    expect_number(rows_in("pending", pool.handler), 2);
}

static void test_enqueue_again__a_retry_that_is_rolled_back_is_no_answer(void **state) {
    tp_new_task task = task_new("x");
    (void)state;
    put_unheard(&task, "08S01");
    for (int i = 0; i < 3; i++) {
        must(tp_begin(pool.a));
        expect(TP_EXISTS, tp_enqueue(pool.a, &task));
        must(i < 2 ? tp_rollback(pool.a) : tp_commit(pool.a));
    }
    expect_number(rows_in("pending", pool.handler), 1);
}

static void test_enqueue_again__a_commit_with_an_answer_that_nobody_knows_may_be_done(void **state) {
    tp_new_task task = task_new("x");
    (void)state;
    put_unheard(&task, "HY000");
    expect(TP_EXISTS, tp_enqueue(pool.a, &task));
    expect_number(rows_in("pending", pool.handler), 1);
}

static void test_enqueue_again__another_connection_knows_what_the_first_one_did(void **state) {
    tp_new_task task = task_new("x"), stored_by_the_caller = task_new("x");
    tp_conn *conn = NULL;
    (void)state;
    put_unheard(&task, "08S01");
    must(tp_conn_open(pool.env, &conn));
    expect(TP_EXISTS, tp_enqueue(conn, &task));
    task_set_id(&stored_by_the_caller, task.id);
    expect(TP_EXISTS, tp_enqueue(conn, &stored_by_the_caller));
    tp_conn_close(conn);
    expect_number(rows_in("pending", pool.handler), 1);
}

static int waited;

static void wait_before_try(int tries) {
    waited += tries;
}

/* The loop of docs/producing.md. */
static tp_status put_until_answered(tp_conn *conn, tp_new_task *task) {
    tp_status status = tp_enqueue(conn, task);
    for (int tries = 1; tries < 10 && tp_status_may_retry(status); tries++) {
        wait_before_try(tries);
        bool reopen = status == TP_DISCONNECTED || status == TP_UNWRITABLE;
        if (reopen && tp_conn_reopen(conn) != TP_OK) continue;
        status = tp_enqueue(conn, task);
    }
    return status;
}

static int commits_to_lose;

static enum tpi_fault lose_some_commits(struct tpi_link *link, const char *function) {
    enum tpi_fault fault = commits_to_lose > 0 ? lose_commit(link, function) : TPI_FAULT_NONE;
    if (fault != TPI_FAULT_NONE) commits_to_lose--;
    return fault;
}

static void test_enqueue_again__until_it_is_answered_puts_it_in_once(void **state) {
    (void)state;
    for (int lost = 1; lost <= 3; lost++) {
        tp_new_task task = task_new("x");
        commit_state = "08S01";
        commits_to_lose = lost;
        tpi_link_fault = lose_some_commits;
        waited = 0;
        tp_status status = put_until_answered(pool.a, &task);
        tpi_link_fault = NULL;
        expect_number(waited, lost * (lost + 1) / 2);
        expect(TP_EXISTS, status);
        expect_number(commits_to_lose, 0);
        assert_string_equal(task.existing_id, task.id);
        expect_number(rows_in("pending", pool.handler), lost);
    }
}

/* ---- Other content ------------------------------------------------------------------------------------- */

static void change_handler(tp_new_task *task) {
    task->handler = "somebody_else";
}

static void change_params(tp_new_task *task) {
    task->params = "y";
}

static void leave_params_out(tp_new_task *task) {
    task->params = NULL;
}

static void change_biz_key(tp_new_task *task) {
    task->biz_key = "another";
}

static void add_dedup_key(tp_new_task *task) {
    task->dedup_key = "another";
}

static void change_shard(tp_new_task *task) {
    task->shard = 8;
}

static void change_priority(tp_new_task *task) {
    task->priority = -1;
}

static void change_max_failures(tp_new_task *task) {
    task->max_failures = 0;
}

static void give_delay_instead(tp_new_task *task) {
    task->due_at = 0;
    task->delay_ms = 10000;
}

static const struct change {
    const char *what;
    void (*make)(tp_new_task *task);
    bool seen_in_every_pool;
} changes[] = {
    {"handler", change_handler, true},       {"params", change_params, true},
    {"params", leave_params_out, true},      {"biz_key", change_biz_key, true},
    {"dedup_key", add_dedup_key, true},      {"shard", change_shard, true},
    {"priority", change_priority, true},     {"max_failures", change_max_failures, true},
    {"due time", give_delay_instead, false},
};
enum { CHANGES = sizeof changes / sizeof changes[0] };

static tp_new_task with_everything(void) {
    tp_new_task task = task_new("x");
    task.biz_key = "order-7";
    task.shard = 7;
    task.priority = 3;
    task.max_failures = 2;
    return task;
}

/* A producer by the grants script does not, where it can be kept from it. */
static bool reads_params(void) {
    return pool.taker == pool.a || strcmp(tp_conn_about(pool.eye)->dialect, "oracle") == 0;
}

static void refuse_changes(const tp_new_task *task, bool everywhere) {
    struct row before = row_of(task->id);
    for (int i = 0; i < CHANGES; i++) {
        tp_new_task changed = *task, kept, many[2] = {task_new("x"), *task};
        if (everywhere && !changes[i].seen_in_every_pool) continue;
        changes[i].make(&changed);
        expect(TP_MISUSE, tp_enqueue(pool.a, &changed));
        expect_text("was changed since");
        expect_text("TP_NEW_TASK_INIT");
        kept = changed, kept.content = 0; /* as by a process that has kept the id */
        many[1] = kept;
        if (!reads_params()) continue;
        expect(TP_MISUSE, tp_enqueue(pool.a, &kept));
        expect_text(changes[i].what);
        expect(TP_MISUSE, tp_enqueue_many(pool.a, many, 2, NULL));
        expect_text(changes[i].what);
        expect_number(row_of(many[0].id).copies, 0);
    }
    expect_same(task->id, &before);
}

static void test_enqueue_again__with_other_content_is_refused_and_says_what_differs(void **state) {
    tp_new_task task = with_everything();
    const tp_task *claimed = NULL;
    (void)state;
    must(tp_enqueue(pool.a, &task));
    refuse_changes(&task, false);
    tp_batch *batch = claim_this(pool.taker, task.id, &claimed);
    refuse_changes(&task, true);
    must(tp_complete(pool.taker, claimed));
    refuse_changes(&task, true);
    expect(TP_EXISTS, tp_enqueue(pool.a, &task));
    tp_batch_free(batch);
}

static void test_enqueue_again__a_delay_is_compared_too(void **state) {
    tp_new_task task = task_new("x");
    (void)state;
    task.due_at = 0;
    task.delay_ms = 3600000;
    must(tp_enqueue(pool.a, &task));
    expect(TP_EXISTS, tp_enqueue(pool.a, &task));
    if (!reads_params()) skip();
    task.delay_ms = 7200000;
    task.content = 0;
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    expect_text("due time");
}

/* The loop that forgets to start each from TP_NEW_TASK_INIT. */
static void test_enqueue_again__a_struct_used_for_several_tasks_is_refused_at_the_second(void **state) {
    tp_new_task task = task_new("first");
    (void)state;
    must(tp_enqueue(pool.a, &task));
    task.params = "second";
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    expect_number(rows_in("pending", pool.handler), 1);
    must(tp_begin(pool.a));
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    expect(TP_CONFLICT, tp_commit(pool.a)); /* nothing of the transaction is kept */
}

/* ---- Who is there -------------------------------------------------------------------------------------- */

static void test_enqueue_again__says_which_task_is_there(void **state) {
    tp_new_task open = task_new("x"), same_key = task_new("y"), many[3];
    tp_batch *shown = NULL;
    (void)state;
    open.dedup_key = same_key.dedup_key = pool.handler;
    must(tp_enqueue(pool.a, &open));
    assert_string_equal(open.existing_id, "");
    expect(TP_EXISTS, tp_enqueue(pool.a, &same_key));
    assert_string_equal(same_key.existing_id, open.id);
    assert_string_not_equal(same_key.id, open.id);
    expect(TP_EXISTS, tp_enqueue(pool.a, &open));
    assert_string_equal(open.existing_id, open.id);
    for (int i = 0; i < 3; i++)
        many[i] = task_new("z");
    many[0].dedup_key = many[2].dedup_key = "of two";
    many[1].dedup_key = pool.handler;
    must(tp_enqueue_many(pool.a, many, 3, NULL));
    assert_string_equal(many[0].existing_id, "");
    assert_string_equal(many[1].existing_id, open.id);
    assert_string_equal(many[2].existing_id, many[0].id);
    if (pool.taker == pool.a) {
        must(tp_show_key(pool.a, pool.handler, &shown));
        assert_string_equal(tp_batch_task(shown, 0)->id, open.id);
        tp_batch_free(shown);
        expect(TP_NONE, tp_show_key(pool.a, "nobody's", &shown));
        expect(TP_MISUSE, tp_show_key(pool.a, "", &shown));
    }
}

/* The first of two with the same key has ended when both are asked again. */
static void test_enqueue_again__a_repeated_key_stays_out(void **state) {
    tp_new_task tasks[3] = {task_new("x"), task_new("x"), task_new("x")};
    size_t inserted = 0;
    const tp_task *claimed = NULL;
    (void)state;
    tasks[0].dedup_key = tasks[2].dedup_key = pool.handler;
    must(tp_enqueue_many(pool.a, tasks, 3, &inserted));
    expect_number(inserted, 2);
    tp_batch *batch = claim_this(pool.taker, tasks[0].id, &claimed);
    must(tp_complete(pool.taker, claimed));
    must(tp_enqueue_many(pool.a, tasks, 3, &inserted));
    expect_number(inserted, 0);
    assert_string_equal(tasks[2].existing_id, tasks[0].id);
    expect_number(row_of(tasks[2].id).copies, 0);
    tp_batch_free(batch);
    /* One with an id of its own that was never asked for is another matter. */
    tp_new_task relayed[2] = {tasks[0], task_new("x")};
    relayed[0].content = 0;
    relayed[1].dedup_key = pool.handler;
    task_set_id(&relayed[1], tasks[2].id);
    must(tp_enqueue_many(pool.a, relayed, 2, &inserted));
    expect_number(inserted, 1);
    expect_number(row_of(relayed[1].id).copies, 1);
}

/* What has ended has left its key to the other, and is there all the same. */
static void test_enqueue_again__a_repeated_key_hides_no_task_that_is_there(void **state) {
    tp_new_task ended = task_new("x"), waiting = task_new("y");
    size_t inserted = 0;
    const tp_task *claimed = NULL;
    (void)state;
    ended.dedup_key = waiting.dedup_key = pool.handler;
    must(tp_enqueue(pool.a, &ended));
    expect(TP_EXISTS, tp_enqueue(pool.a, &waiting));
    tp_batch *batch = claim_this(pool.taker, ended.id, &claimed);
    must(tp_complete(pool.taker, claimed));
    tp_new_task both[] = {waiting, ended};
    must(tp_enqueue_many(pool.a, both, 2, &inserted));
    expect_number(inserted, 1);
    assert_string_equal(both[0].existing_id, "");
    assert_string_equal(both[1].existing_id, ended.id);
    expect_row(ended.id, "finished", "done", 0);
    expect_row(waiting.id, "pending", "pending", 0);
    tp_batch_free(batch);
}

/* ---- Late tries ---------------------------------------------------------------------------------------- */

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

THEME(enqueue_again, false, cmocka_unit_test(test_enqueue_again__a_repeated_key_stays_out),
      cmocka_unit_test(test_enqueue_again__a_repeated_key_hides_no_task_that_is_there),
      cmocka_unit_test(test_enqueue_again__until_it_is_answered_puts_it_in_once),
      cmocka_unit_test(test_enqueue_again__after_two_commits_without_an_answer_the_first_struct_is_known),
      cmocka_unit_test(test_enqueue_again__a_retry_that_is_rolled_back_is_no_answer),
      cmocka_unit_test(test_enqueue_again__a_commit_with_an_answer_that_nobody_knows_may_be_done),
      cmocka_unit_test(test_enqueue_again__another_connection_knows_what_the_first_one_did),
      cmocka_unit_test(test_enqueue_again__with_other_content_is_refused_and_says_what_differs),
      cmocka_unit_test(test_enqueue_again__a_delay_is_compared_too),
      cmocka_unit_test(test_enqueue_again__a_struct_used_for_several_tasks_is_refused_at_the_second),
      cmocka_unit_test(test_enqueue_again__says_which_task_is_there),
      cmocka_unit_test(test_enqueue_again__after_a_commit_without_an_answer_the_same_struct_asks_again),
      cmocka_unit_test(test_enqueue_again__a_first_try_that_arrives_after_the_end_of_its_task_is_not_stored),
      cmocka_unit_test(test_enqueue_again__finds_the_task_while_it_is_pending),
      cmocka_unit_test(test_enqueue_again__finds_the_task_while_it_is_handled_and_after_each_settle),
      cmocka_unit_test(test_enqueue_again__finds_the_task_in_the_failed_pool),
      cmocka_unit_test(test_enqueue_again__finds_the_task_that_is_being_moved),
      cmocka_unit_test(test_enqueue_again__inserts_when_the_first_try_did_not),
      cmocka_unit_test(test_enqueue_again__knows_an_id_in_capitals),
      cmocka_unit_test(test_enqueue_again__an_id_of_the_callers_own_is_used),
      cmocka_unit_test(test_enqueue_again__many_are_found_wherever_they_are));
