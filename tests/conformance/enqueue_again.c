/* An enqueue asked again with the id it kept: it finds what it did, in whichever pool, and never does it
 * twice. */
#include <ctype.h>

#include "odbc/link.h"
#include "suite.h"

THEME(enqueue_again, ONCE);

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
    tp_new_task task = enqueue(pool.a, .params = "x");
    return task;
}

TEST(test_enqueue_again__finds_the_task_while_it_is_pending) {
    tp_new_task task = put();
    expect_exists(&task);
}

TEST(test_enqueue_again__finds_the_task_while_it_is_handled_and_after_each_settle) {
    for (int i = 0; i < SETTLES; i++) {
        tp_new_task new_task = put();
        const tp_task *task = claim_this(pool.taker, new_task.id);
        expect_exists(&new_task);
        must(settles[i].call(pool.taker, task));
        expect_exists(&new_task);
    }
}

TEST(test_enqueue_again__finds_the_task_in_the_failed_pool) {
    tp_new_task new_task = put();
    const tp_task *task = claim_this(pool.taker, new_task.id);
    expect(TP_EXHAUSTED, tp_fail(pool.taker, task, "no", &never));
    expect_exists(&new_task);
}

/* Another session's settle is under way: the row is about to leave the pending pool. Whichever way the
 * enqueue meets it, before, while it waits, or after, it must not come in a second time. */
TEST(test_enqueue_again__finds_the_task_that_is_being_moved) {
    tp_new_task new_task = put(), again = new_task;
    struct aside aside;
    if (pool.taker != pool.a) skip(); /* the one who puts in does not settle */
    const tp_task *task = claim_this(pool.b, new_task.id);
    must(tp_begin(pool.b));
    must(tp_complete(pool.b, task));
    start_blocked(&aside, pool.a, enqueue_call, &again);
    must(tp_commit(pool.b));
    tp_status status = aside_end(&aside);
    if (status < TP_OK && tp_status_may_retry(status)) status = tp_enqueue(pool.a, &again);
    assert_string_equal(tp_status_name(status), "exists");
    expect_row(new_task.id, "finished", "done", 0);
}

TEST(test_enqueue_again__inserts_when_the_first_try_did_not) {
    tp_new_task task = task_new("x");
    must(tp_begin(pool.a));
    must(tp_enqueue(pool.a, &task));
    must(tp_rollback(pool.a)); /* the answer never came, and neither did the row */
    expect_number(row_of(task.id).copies, 0);
    must(tp_enqueue(pool.a, &task));
    expect_row(task.id, "pending", "pending", 0);
}

TEST(test_enqueue_again__knows_an_id_in_capitals) {
    tp_new_task task = put();
    for (char *at = task.id; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    expect(TP_EXISTS, tp_enqueue(pool.a, &task));
    assert_true(islower((unsigned char)task.id[strcspn(task.id, "abcdef")]));
    expect_number(rows_in("pending", pool.handler), 1);
}

TEST(test_enqueue_again__an_id_of_the_callers_own_is_used) {
    tp_new_task task = task_new("x");
    char own[ID] = "7b1d9c3e-5f6a-4b8c-9d0e-000000000000";
    own[35] = pool.handler[strlen(pool.handler) - 1];
    task_set_id(&task, own);
    must(tp_enqueue(pool.a, &task));
    expect_row(task.id, "pending", "pending", 0);
    expect_exists(&task);
}

TEST(test_enqueue_again__many_are_found_wherever_they_are) {
    enum { TASKS = 9 };
    tp_new_task tasks[TASKS];
    size_t inserted = 99;
    fill(tasks, TASKS);
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

TEST(test_enqueue_again__after_a_commit_without_an_answer_the_same_struct_asks_again) {
    tp_new_task task = task_new("x"), many[2];
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

TEST(test_enqueue_again__after_two_commits_without_an_answer_the_first_struct_is_known) {
    tp_new_task first = task_new("x"), second = task_new("x");
    put_unheard(&first, "08S01");
    put_unheard(&second, "08S01");
    expect(TP_EXISTS, tp_enqueue(pool.a, &first));
    expect(TP_EXISTS, tp_enqueue(pool.a, &second));
    expect_number(rows_in("pending", pool.handler), 2);
}

TEST(test_enqueue_again__a_retry_that_is_rolled_back_is_no_answer) {
    tp_new_task task = task_new("x");
    put_unheard(&task, "08S01");
    for (int i = 0; i < 3; i++) {
        must(tp_begin(pool.a));
        expect(TP_EXISTS, tp_enqueue(pool.a, &task));
        must(i < 2 ? tp_rollback(pool.a) : tp_commit(pool.a));
    }
    expect_number(rows_in("pending", pool.handler), 1);
}

TEST(test_enqueue_again__a_commit_with_an_answer_that_nobody_knows_may_be_done) {
    tp_new_task task = task_new("x");
    put_unheard(&task, "HY000");
    expect(TP_EXISTS, tp_enqueue(pool.a, &task));
    expect_number(rows_in("pending", pool.handler), 1);
}

TEST(test_enqueue_again__another_connection_knows_what_the_first_one_did) {
    tp_new_task task = task_new("x"), stored_by_the_caller = task_new("x");
    tp_conn *conn = NULL;
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

TEST(test_enqueue_again__until_it_is_answered_puts_it_in_once) {
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

static tp_new_task with_everything(void) {
    tp_new_task task = task_with(.biz_key = "order-7", .shard = 7, .priority = 3, .max_failures = 2);
    return task;
}

/* A producer by the grants script does not, where it can be kept from it. */
static bool reads_params(void) {
    return pool.taker == pool.a || strcmp(tp_conn_about(pool.eye)->dialect, "oracle") == 0;
}

static void refuse_change(tp_new_task changed, const char *what) {
    tp_new_task kept = changed, many[2] = {task_new("x")};
    expect(TP_MISUSE, tp_enqueue(pool.a, &changed));
    expect_text("was changed since");
    expect_text("TP_NEW_TASK_INIT");
    kept.content = 0; /* as by a process that has kept the id */
    many[1] = kept;
    if (!reads_params()) return;
    expect(TP_MISUSE, tp_enqueue(pool.a, &kept));
    expect_text(what);
    expect(TP_MISUSE, tp_enqueue_many(pool.a, many, 2, NULL));
    expect_text(what);
    expect_number(row_of(many[0].id).copies, 0);
}

#define refuse(what, field, value)                                                                           \
    do {                                                                                                     \
        tp_new_task changed = *task;                                                                         \
        changed.field = (value);                                                                             \
        refuse_change(changed, what);                                                                        \
    } while (0)

/* The time is seen in the pending pool only. */
static void refuse_changes(const tp_new_task *task, bool everywhere) {
    struct row before = row_of(task->id);
    refuse("handler", handler, "somebody_else");
    refuse("params", params, "y");
    refuse("params", params, NULL);
    refuse("biz_key", biz_key, "another");
    refuse("dedup_key", dedup_key, "another");
    refuse("shard", shard, 8);
    refuse("priority", priority, -1);
    refuse("max_failures", max_failures, 0);
    if (!everywhere) {
        tp_new_task delayed = *task;
        delayed.due_at = 0;
        delayed.delay_ms = 10000;
        refuse_change(delayed, "due time");
    }
    expect_same(task->id, &before);
}

TEST(test_enqueue_again__with_other_content_is_refused_and_says_what_differs) {
    tp_new_task task = with_everything();
    must(tp_enqueue(pool.a, &task));
    refuse_changes(&task, false);
    const tp_task *claimed = claim_this(pool.taker, task.id);
    refuse_changes(&task, true);
    must(tp_complete(pool.taker, claimed));
    refuse_changes(&task, true);
    expect(TP_EXISTS, tp_enqueue(pool.a, &task));
}

/* Only the history tells an edit from a struct that was used for two; a look that fails tells neither. */
TEST(test_enqueue_again__of_what_was_edited_is_no_misuse_though_the_look_fails) {
    tp_new_task task = enqueue(pool.a, .params = "old");
    tp_edit_request edit = TP_EDIT_INIT;
    edit.fields = TP_EDIT_PARAMS;
    edit.params = "new";
    must(tp_edit(pool.eye, task.id, &edit, "ann@desk", "because"));
    if (!reads_params()) skip();
    lose_call("history_edits", NULL, true);
    expect(TP_DISCONNECTED, tp_enqueue(pool.a, &task));
    must(tp_conn_reopen(pool.a));
    expect(TP_EXISTS, tp_enqueue(pool.a, &task));
}

TEST(test_enqueue_again__a_delay_is_compared_too) {
    tp_new_task task = enqueue(pool.a, .delay_ms = 3600000);
    expect(TP_EXISTS, tp_enqueue(pool.a, &task));
    if (!reads_params()) skip();
    task.delay_ms = 7200000;
    task.content = 0;
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    expect_text("due time");
}

/* The loop that forgets to start each from TP_NEW_TASK_INIT. */
TEST(test_enqueue_again__a_struct_used_for_several_tasks_is_refused_at_the_second) {
    tp_new_task task = enqueue(pool.a, .params = "first");
    task.params = "second";
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    expect_number(rows_in("pending", pool.handler), 1);
    must(tp_begin(pool.a));
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    expect(TP_CONFLICT, tp_commit(pool.a)); /* nothing of the transaction is kept */
}

/* ---- Who is there -------------------------------------------------------------------------------------- */

TEST(test_enqueue_again__says_which_task_is_there) {
    tp_new_task open = task_new("x"), same_key = task_new("y"), many[3];
    tp_batch *shown = NULL;
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
        expect(TP_NONE, tp_show_key(pool.a, "nobody's", &shown));
        expect(TP_MISUSE, tp_show_key(pool.a, "", &shown));
        tp_batch_free(shown);
    }
}

/* The first of two with the same key has ended when both are asked again. */
TEST(test_enqueue_again__a_repeated_key_stays_out) {
    tp_new_task tasks[3] = {task_new("x"), task_new("x"), task_new("x")};
    size_t inserted = 0;
    tasks[0].dedup_key = tasks[2].dedup_key = pool.handler;
    must(tp_enqueue_many(pool.a, tasks, 3, &inserted));
    expect_number(inserted, 2);
    const tp_task *claimed = claim_this(pool.taker, tasks[0].id);
    must(tp_complete(pool.taker, claimed));
    must(tp_enqueue_many(pool.a, tasks, 3, &inserted));
    expect_number(inserted, 0);
    assert_string_equal(tasks[2].existing_id, tasks[0].id);
    expect_number(row_of(tasks[2].id).copies, 0);
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
TEST(test_enqueue_again__a_repeated_key_hides_no_task_that_is_there) {
    tp_new_task ended = task_new("x"), waiting = task_new("y");
    size_t inserted = 0;
    ended.dedup_key = waiting.dedup_key = pool.handler;
    must(tp_enqueue(pool.a, &ended));
    expect(TP_EXISTS, tp_enqueue(pool.a, &waiting));
    const tp_task *claimed = claim_this(pool.taker, ended.id);
    must(tp_complete(pool.taker, claimed));
    tp_new_task both[] = {waiting, ended};
    must(tp_enqueue_many(pool.a, both, 2, &inserted));
    expect_number(inserted, 1);
    assert_string_equal(both[0].existing_id, "");
    assert_string_equal(both[1].existing_id, ended.id);
    expect_row(ended.id, "finished", "done", 0);
    expect_row(waiting.id, "pending", "pending", 0);
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
    must(tp_complete(pool.b, claim_one(pool.b)));
    snprintf(link->diag.state, sizeof link->diag.state, "08S01");
    snprintf(link->diag.text, sizeof link->diag.text, "connection lost");
    link->diag.native = 0;
    return TPI_FAULT_ANSWER_LOST;
}

TEST(test_enqueue_again__a_first_try_that_arrives_after_the_end_of_its_task_is_not_stored) {
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
