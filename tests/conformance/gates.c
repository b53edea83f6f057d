/* Order per key, and limits: what a gate lets through, in which order, whatever ends a task, and whatever
 * call gets no answer. Never more than the width, and never too few. */
#include <sqlext.h>

#include "conformance/gates_given.h"
#include "ops/for_workers.h"

THEME(gates, ONCE);

enum { CALLS_MAX = 60 };

static const int64_t soon[] = {1, 1, 1, 1, 1, 1, 1, 1};
static const tp_retry at_once = {.size = sizeof(tp_retry), .delays_ms = soon, .count = LENGTH(soon)};

/* ---- Given --------------------------------------------------------------------------------------------- */

/* Each task of the key in this order, one at a time, and nothing besides. */
static void expect_order(char (*ids)[ID], size_t count) {
    for (size_t i = 0; i < count; i++) {
        make_due();
        tp_batch *batch = claim_up_to(pool.a, 10);
        expect_count(batch, 1);
        assert_string_equal(tp_batch_task(batch, 0)->id, ids[i]);
        expect_nothing(pool.b);
        must(tp_complete(pool.a, tp_batch_task(batch, 0)));
        expect_row(ids[i], "finished", "done", 0);
    }
    expect_nothing(pool.a);
    expect_number(count_of("tp_gate_task"), 0);
}

/* ---- Order --------------------------------------------------------------------------------------------- */

SUITE_TEST(test_gates__tasks_of_a_key_come_one_at_a_time_in_their_order, EACH_PLAN) {
    char ids[FEW][ID];
    put_behind(NULL, "account 7", FEW, ids);
    expect_through("=account 7", 1);
    expect_order(ids, FEW);
    expect_number(count_of("tp_gate WHERE name = '=account 7'"), 0); /* nothing is left of the key */
}

TEST(test_gates__many_that_are_put_in_at_once_keep_their_order) {
    enum { MANY = 30 };
    tp_new_task tasks[MANY];
    char ids[MANY][ID];
    size_t inserted = 0, count = 0;
    for (size_t i = 0; i < MANY; i++) {
        tasks[i] = task_with(.order_key = i % 3 ? (i % 3 == 1 ? "one" : "two") : NULL);
        if (i % 7 == 6) tasks[i] = task_with(.params = "x"); /* behind none */
    }
    must(tp_enqueue_many(pool.a, tasks, MANY, &inserted));
    expect_number(inserted, MANY);
    expect_through("=one", 1);
    expect_through("=two", 1);
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE gate IS NULL OR gate <> '=one'");
    sql_run(pool.eye, "DELETE FROM tp_gate_task WHERE gate <> '=one'");
    for (size_t i = 0; i < MANY; i++)
        if (tasks[i].order_key && strcmp(tasks[i].order_key, "one") == 0)
            memcpy(ids[count++], tasks[i].id, ID);
    expect_order(ids, count);
    must(tp_enqueue_many(pool.a, tasks, MANY, &inserted)); /* asked again: all are there, but those deleted */
    expect_number(inserted, MANY - count);
}

TEST(test_gates__the_first_keeps_its_place_while_it_waits_for_a_retry) {
    char ids[2][ID];
    put_behind(NULL, "k", 2, ids);
    for (int i = 1; i <= 2; i++) {
        const tp_task *task = take_this(pool.a, ids[0]);
        must(tp_fail(pool.a, task, "not now", &at_once));
        expect_row(ids[0], "pending", "failed", i);
        expect_through("=k", 1);
        row_make_due(ids[0]);
    }
    must(tp_release(pool.a, take_this(pool.a, ids[0]), 0));
    row_make_due(ids[0]);
    make_due();
    claim_and_lapse(pool.b, ids[0]); /* another takes it over: the place is the task's */
    must(tp_complete(pool.a, take_this(pool.a, ids[0])));
    take_this(pool.a, ids[1]);
}

TEST(test_gates__a_task_that_is_due_later_lets_none_of_its_key_overtake) {
    tp_new_task later = task_with(.order_key = "k", .due_at = LONG_AGO * 5),
                now = task_with(.order_key = "k");
    must(tp_enqueue(pool.a, &later));
    must(tp_enqueue(pool.a, &now));
    expect_number(row_of(later.id).due_at, LONG_AGO * 5);
    expect_waits(now.id);
    expect_nothing(pool.a);
    row_make_due(later.id);
    must(tp_complete(pool.a, take_this(pool.a, later.id)));
    take_this(pool.a, now.id);
}

/* ---- Failures ------------------------------------------------------------------------------------------ */

TEST(test_gates__a_failed_task_blocks_its_key_until_it_was_retried) {
    char ids[2][ID];
    put_behind(NULL, "k", 2, ids);
    fail_for_good(ids[0]);
    expect_waits(ids[1]);
    expect_nothing(pool.a);
    operate(TP_ACTION_RETRY, "failed");
    must(tp_complete(pool.a, take_this(pool.a, ids[0])));
    must(tp_complete(pool.a, take_this(pool.a, ids[1])));
    expect_number(count_of("tp_gate_task"), 0);
}

TEST(test_gates__or_skipped) {
    char ids[2][ID];
    put_behind(NULL, "k", 2, ids);
    expect(TP_EXHAUSTED, tp_give_up(pool.a, take_this(pool.a, ids[0]), "no account"));
    operate(TP_ACTION_SKIP, "failed");
    expect_row(ids[0], "finished", "skipped", 1);
    take_this(pool.a, ids[1]);
    assert_string_equal(task_shown(pool.b, ids[0])->gate, "=k");
}

TEST(test_gates__or_purged) {
    char ids[2][ID];
    put_behind(NULL, "k", 2, ids);
    fail_for_good(ids[0]);
    must(tpi_gates_mend(pool.a));
    expect_waits(ids[1]);
    operate(TP_ACTION_PURGE, "failed");
    take_this(pool.a, ids[1]);
}

TEST(test_gates__where_failures_pass_the_next_comes_and_a_retry_is_the_last) {
    char ids[3][ID];
    must(tp_gate_set(pool.a, "bank", 1, TP_GATE_PASS, "tester"));
    put_behind("bank", NULL, 3, ids);
    fail_for_good(ids[0]);
    expect_through("bank", 1);
    operate(TP_ACTION_RETRY, "failed");
    expect_waits(ids[0]);
    expect_through("bank", 1);
    for (int i = 1; i <= 3; i++)
        must(tp_complete(pool.a, take_this(pool.a, ids[i % 3])));
}

/* Each is put in, and has failed for good, with a long reason. */
static void put_failed(const char *key, const char *dedup_key) {
    char reason[TP_REASON_MAX];
    tp_new_task task = task_with(.order_key = key, .dedup_key = dedup_key);
    memset(reason, 'r', sizeof reason - 1);
    reason[sizeof reason - 1] = '\0';
    must(tp_enqueue(pool.a, &task));
    expect(TP_EXHAUSTED, tp_give_up(pool.a, take_this(pool.a, task.id), reason));
}

/* What is allocated next, texts of many rows say, does not ascend in memory. */
static void scatter_heap(void) {
    enum { BLOCKS = 37, TEXTS = 16 * 1024 + 24 };
    void *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(TEXTS);
        (void)memory(1, 2000); /* until the test ends, so that neighbours do not grow together */
    }
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i * 10 % BLOCKS]);
}

/* Those whose place is before that of one with a smaller id. */
static int64_t overtakers(void) {
    return count_of(
        "tp_gate_task a, tp_gate_task b WHERE a.gate = '=k' AND b.gate = '=k' AND a.place < b.place "
        "AND a.task_id > b.task_id");
}

TEST(test_gates__many_of_a_key_that_are_retried_are_in_the_order_of_their_ids) {
    enum { MANY = 90 };
    must(tp_gate_set(pool.a, "=", 1, TP_GATE_PASS, NULL));
    for (int i = 0; i < MANY; i++)
        put_failed("k", NULL);
    scatter_heap();
    operate(TP_ACTION_RETRY, "failed");
    expect_number(count_of("tp_gate_task"), MANY);
    expect_number(overtakers(), 0);
}

TEST(test_gates__and_where_one_of_them_cannot_be_retried) {
    tp_new_task open = task_with(.dedup_key = "once");
    must(tp_gate_set(pool.a, "=", 1, TP_GATE_PASS, NULL));
    put_failed("k", "once");
    for (int i = 0; i < FEW; i++)
        put_failed("k", NULL);
    must(tp_enqueue(pool.a, &open));
    operate(TP_ACTION_RETRY, "failed");
    expect_number(count_of("tp_gate_task"), FEW);
    expect_number(overtakers(), 0);
}

TEST(test_gates__how_keys_are_made_says_the_row_of_none) {
    char ids[2][ID];
    must(tp_gate_set(pool.a, "=", 1, TP_GATE_PASS, NULL));
    put_behind(NULL, "k", 2, ids);
    fail_for_good(ids[0]);
    take_this(pool.a, ids[1]);
    must(tp_gate_set(pool.a, "=", 1, TP_GATE_BLOCK, NULL));
}

/* A lapse that is the last is the end of the task as well. */
TEST(test_gates__a_lapse_for_good_blocks_or_passes_too) {
    char ids[2][ID];
    must(tp_gate_set(pool.a, "bank", 1, TP_GATE_PASS, NULL));
    put_behind("bank", NULL, 2, ids);
    make_due();
    claim_and_lapse(pool.b, ids[0]);
    tp_claim_request request = request_with(.limit = 1, .retry = &never);
    tp_status status = try_claim(pool.a, &request); /* meets the lapse and, where clocks are fine, the next */
    expect_row(ids[0], "failed", "failed", 1);
    expect_row(ids[1], "pending", status == TP_OK ? "handling" : "pending", 0);
    expect_through("bank", 1);
}

/* ---- Limits -------------------------------------------------------------------------------------------- */

SUITE_TEST(test_gates__no_more_than_the_width_are_let_through, EACH_PLAN) {
    char ids[6][ID];
    const tp_task *tasks[6];
    must(tp_gate_set(pool.a, "bank", 2, TP_GATE_BLOCK, NULL));
    put_behind("bank", NULL, 6, ids);
    for (int left = 6; left > 0; left -= 2) {
        expect_through("bank", 2);
        make_due();
        tp_batch *batch = claim(pool.a, 2);
        tasks_of(batch, tasks);
        expect_nothing(pool.b);
        must(tp_complete_many(pool.a, tasks, 2, NULL));
    }
    expect_through("bank", 0);
    expect_number(count_of("tp_finished WHERE gate = 'bank'"), 6);
}

TEST(test_gates__wider_lets_more_through_at_once_and_narrower_when_tasks_end) {
    char ids[6][ID];
    must(tp_gate_set(pool.a, "bank", 0, TP_GATE_BLOCK, NULL));
    put_behind("bank", NULL, 6, ids);
    expect_through("bank", 0);
    must(tp_gate_set(pool.b, "bank", 3, TP_GATE_BLOCK, "tester"));
    expect(TP_EXISTS, tp_gate_set(pool.b, "bank", 3, TP_GATE_BLOCK, "tester"));
    expect_through("bank", 3);
    must(tp_gate_set(pool.b, "bank", 1, TP_GATE_BLOCK, "tester"));
    expect_through("bank", 3);
    make_due();
    tp_batch *batch = claim(pool.a, 3);
    for (size_t i = 0; i < 3; i++) {
        must(tp_complete(pool.a, tp_batch_task(batch, i)));
        expect_through("bank", i < 2 ? 2 - (int64_t)i : 1);
    }
}

TEST(test_gates__mixed_tasks_are_settled_together) {
    char ids[FEW][ID], bank[2][ID];
    const tp_task *tasks[8];
    tp_status answers[8];
    must(tp_gate_set(pool.a, "bank", 2, TP_GATE_BLOCK, NULL));
    put_behind("bank", NULL, 2, bank);
    put_behind(NULL, "k", 2, ids);
    task_put_many(FEW, ids);
    make_due();
    tp_batch *batch = claim(pool.a, 7);
    tasks_of(batch, tasks);
    must(tp_complete_many(pool.a, tasks, 7, answers));
    must(tp_complete_many(pool.a, tasks, 7, answers)); /* asked again */
    for (int i = 0; i < 7; i++)
        expect_number(answers[i], TP_OK);
    expect_number(rows_in("finished", pool.handler), 7);
    expect_through("=k", 1);
    expect_through("bank", 0);
    put_one(); /* and in a transaction, with one that is not behind a gate */
    make_due();
    tasks_of(claim(pool.a, 2), tasks);
    must(tp_begin(pool.a));
    must(tp_complete_many(pool.a, tasks, 2, NULL));
    must(tp_commit(pool.a));
    expect_number(count_of("tp_gate_task"), 0);
}

TEST(test_gates__a_lost_claim_among_them_lets_none_through) {
    char ids[3][ID];
    const tp_task *tasks[2];
    tp_status answers[2];
    put_behind(NULL, "k", 3, ids);
    tasks[0] = take_this(pool.a, ids[0]);
    put_one();
    tasks[1] = claim_one(pool.a);
    row_make_due(ids[0]); /* its lease lapses, and another takes it over */
    take_this(pool.b, ids[0]);
    expect(TP_LOST, tp_complete_many(pool.a, tasks, 2, answers));
    expect_number(answers[0], TP_LOST);
    expect_number(answers[1], TP_OK);
    expect(TP_LOST, tp_complete(pool.a, tasks[0]));
    expect_through("=k", 1);
    expect_waits(ids[1]);
}

/* ---- Operators and producers --------------------------------------------------------------------------- */

TEST(test_gates__a_skipped_task_makes_room_and_one_that_waits_leaves_its_place) {
    char ids[3][ID];
    const char *one[1];
    tp_selection selection = selection_with(.ids = one, .id_count = 1);
    put_behind(NULL, "k", 3, ids);
    one[0] = ids[1]; /* waits */
    must(tp_operate(pool.a, TP_ACTION_SKIP, &selection, NULL));
    expect_through("=k", 1);
    one[0] = ids[0]; /* was let through */
    must(tp_operate(pool.a, TP_ACTION_SKIP, &selection, NULL));
    must(tp_complete(pool.a, take_this(pool.a, ids[2])));
    expect_number(count_of("tp_gate_task"), 0);
}

TEST(test_gates__an_operators_release_and_retry_keep_the_place) {
    char ids[2][ID];
    put_behind(NULL, "k", 2, ids);
    take_this(pool.a, ids[0]);
    operate(TP_ACTION_RELEASE, "pending");
    must(tp_fail(pool.a, take_this(pool.a, ids[0]), "not now", &at_once));
    operate(TP_ACTION_RETRY, "pending");
    expect_through("=k", 1);
    must(tp_complete(pool.a, take_this(pool.a, ids[0])));
}

TEST(test_gates__nobody_lets_a_task_through_by_another_time) {
    char ids[2][ID];
    tp_edit_request edit = TP_EDIT_INIT;
    tp_new_task replace =
                    task_with(.dedup_key = "dup", .on_duplicate = TP_DUPLICATE_REPLACE, .params = "new"),
                push = task_with(.dedup_key = "dup", .on_duplicate = TP_DUPLICATE_PUSH_BACK),
                second = task_with(.order_key = "k", .dedup_key = "dup");
    put_behind(NULL, "k", 1, ids);
    must(tp_enqueue(pool.a, &second));
    edit.fields = TP_EDIT_DUE_AT;
    edit.due_at = LONG_AGO;
    expect(TP_MISUSE, tp_edit(pool.a, second.id, &edit, "tester", "sooner"));
    expect_text("gate =k");
    edit.fields = TP_EDIT_PRIORITY;
    edit.priority = 3;
    must(tp_edit(pool.a, second.id, &edit, "tester", "sooner"));
    must(tp_enqueue(pool.a, &replace));
    must(tp_enqueue(pool.a, &push));
    expect_waits(second.id);
    assert_string_equal(task_shown(pool.b, second.id)->params, "new");
    assert_string_equal(task_shown(pool.b, second.id)->gate, "=k");
    expect_number(count_of("tp_pending WHERE state = 'pending' AND due_at <= %" PRId64, TPI_GATE_WAITS - 1),
                  1);
}

TEST(test_gates__what_cannot_be_is_refused_with_words) {
    char ids[1][ID];
    tp_new_task both = task_with(.order_key = "k"), timed = behind("bank"), none = behind("no-such-gate"),
                changes = task_with(.order_key = "k", .dedup_key = "d", .on_duplicate = TP_DUPLICATE_REPLACE),
                other = task_with(.order_key = "k"), named = behind("a b");
    both.gate = "bank";
    timed.delay_ms = 5;
    expect(TP_MISUSE, tp_enqueue(pool.a, &both));
    expect(TP_MISUSE, tp_enqueue(pool.a, &timed));
    expect(TP_MISUSE, tp_enqueue(pool.a, &none));
    expect_text("no gate no-such-gate");
    expect(TP_MISUSE, tp_enqueue(pool.a, &named));
    expect(TP_MISUSE, tp_enqueue(pool.a, &changes));
    expect_number(count_of("tp_pending"), 0);
    must(tp_enqueue(pool.a, &other));
    sql_run(pool.eye, "UPDATE tp_pending SET priority = 5");
    tp_new_task again = task_with(.order_key = "another");
    task_set_id(&again, other.id);
    again.priority = 5;
    expect(TP_MISUSE, tp_enqueue(pool.a, &again));
    expect_text("order_key");
    expect(TP_MISUSE, tp_gate_set(pool.a, "=k", 2, TP_GATE_BLOCK, NULL));
    expect(TP_MISUSE, tp_gate_set(pool.a, "bank", -1, TP_GATE_BLOCK, NULL));
    expect(TP_MISUSE, tp_gate_remove(pool.a, "=", NULL));
    expect(TP_MISUSE, tp_gate_set(pool.a, "=", 0, TP_GATE_BLOCK, NULL));
    expect(TP_NONE, tp_gate_remove(pool.a, "bank", NULL));
    must(tp_gate_set(pool.a, "bank", 1, TP_GATE_BLOCK, NULL));
    put_behind("bank", NULL, 1, ids);
    expect(TP_MISUSE, tp_gate_remove(pool.a, "bank", NULL));
    expect_text("1 tasks are behind");
    must(tp_complete(pool.a, take_this(pool.a, ids[0])));
    must(tp_gate_remove(pool.a, "bank", NULL));
    expect(TP_NONE, tp_gate_each(pool.a, "bank", (tp_gate_fn)abort, NULL));
}

TEST(test_gates__are_listed_with_what_is_behind_them) {
    char ids[5][ID];
    must(tp_gate_set(pool.a, "bank", 2, TP_GATE_PASS, "tester"));
    put_behind("bank", NULL, 5, ids);
    put_behind(NULL, "k", 2, ids);
    expect_gates(2); /* and = */
    tp_gate bank = gate_now("bank");
    expect_number(bank.width, 2);
    expect_number(bank.through, 2);
    expect_number(bank.waiting, 3);
    expect_number(bank.on_failure, TP_GATE_PASS);
}

/* ---- No answer ----------------------------------------------------------------------------------------- */

static tp_status put_again(tp_new_task *task) {
    return tp_enqueue(pool.a, task);
}

/* Whichever call of an enqueue loses its connection: asked again it is behind the gate, once. */
TEST(test_gates__an_enqueue_without_an_answer_takes_one_place) {
    int put = 0;
    for (int made = 0; made < 2; made++)
        for (int at = 0; at < CALLS_MAX; at++) {
            tp_new_task task = task_with(.order_key = "k");
            lose_nth_call(at, made);
            tp_status status = put_again(&task);
            bool lost = lost_nth_call();
            for (int i = 0; i < 3 && status != TP_OK && status != TP_EXISTS; i++) {
                must(tp_conn_reopen(pool.a));
                status = put_again(&task);
            }
            assert_true(status >= TP_OK);
            put++;
            expect_number(count_of("tp_gate_task WHERE task_id = '%s'", task.id), 1);
            expect_through("=k", 1);
            expect_number(count_of("tp_gate_task"), put);
            if (!lost) break;
        }
}

static void settle_each_way(tp_status answer, tp_status (*settle)(const tp_task *task)) {
    for (int made = 0; made < 2; made++)
        for (int at = 0; at < CALLS_MAX; at++) {
            char ids[3][ID];
            empty_pool();
            must(tp_gate_set(pool.eye, "bank", 1, TP_GATE_PASS, NULL));
            put_behind("bank", NULL, 3, ids);
            const tp_task *task = take_this(pool.a, ids[0]);
            lose_nth_call(at, made);
            tp_status status = settle(task);
            bool lost = lost_nth_call();
            for (int i = 0; i < 3 && status != answer; i++) {
                must(tp_conn_reopen(pool.a));
                status = settle(task);
            }
            expect(answer, status);
            expect(answer, settle(task)); /* and once more */
            expect_through("bank", 1);
            expect_number(count_of("tp_gate_task WHERE task_id = '%s'", ids[1]), 1);
            expect_waits(ids[2]);
            if (!lost) break;
        }
}

static tp_status complete_it(const tp_task *task) {
    return tp_complete(pool.a, task);
}

static tp_status fail_it(const tp_task *task) {
    return tp_fail(pool.a, task, "no account", &never);
}

static tp_status complete_list(const tp_task *task) {
    return tp_complete_many(pool.a, &task, 1, NULL);
}

TEST(test_gates__a_settle_without_an_answer_lets_one_through) {
    settle_each_way(TP_OK, complete_it);
    settle_each_way(TP_EXHAUSTED, fail_it);
    settle_each_way(TP_OK, complete_list);
}

/* ---- Others at the same time --------------------------------------------------------------------------- */

/* The place is taken when the enqueue commits: who comes while the gate is locked waits, and is behind. */
TEST(test_gates__two_who_enqueue_are_in_the_order_of_their_commits) {
    struct aside aside;
    tp_new_task first = task_with(.order_key = "k"), second = task_with(.order_key = "k"),
                head = task_with(.order_key = "k");
    char ids[3][ID];
    must(tp_enqueue(pool.a, &head)); /* so that the gate is there */
    must(tp_begin(pool.a));
    must(tp_enqueue(pool.a, &first));
    start_blocked(&aside, pool.b, enqueue_call, &second);
    must(tp_commit(pool.a));
    must(aside_end(&aside));
    memcpy(ids[0], head.id, ID);
    memcpy(ids[1], first.id, ID);
    memcpy(ids[2], second.id, ID);
    expect_order(ids, 3);
}

/* A transaction that began, and saw what was, before others came: it may fail, but lets none through that has
 * no room. */
static void lend_at(SQLINTEGER level) {
    char ids[1][ID];
    int64_t rows = 0;
    empty_pool();
    must(tp_gate_set(pool.eye, "bank", 1, TP_GATE_BLOCK, NULL));
    struct loan loan = lent(SQL_AUTOCOMMIT_OFF);
    tp_new_task late = behind("bank");
    if (!SQL_SUCCEEDED(
            SQLSetConnectAttr(loan.raw.dbc, SQL_ATTR_TXN_ISOLATION, (SQLPOINTER)(intptr_t)level, 0)))
        return;
    sure(sql_raw_number(loan.raw.dbc, &rows, "SELECT COUNT(*) FROM tp_meta"), "%s", sql_reason());
    if (!pool_on_sqlite()) put_behind("bank", NULL, 1, ids);
    tp_status status = tp_enqueue(loan.conn, &late);
    loan_end(&loan, status == TP_OK ? SQL_COMMIT : SQL_ROLLBACK);
    expect_through("bank", 1);
    expect_number(count_of("tp_gate_task"), !pool_on_sqlite() + (status == TP_OK));
    expect_number(sql_number(pool.eye, "SELECT let_through FROM tp_gate WHERE name = 'bank'"), 1);
}

TEST(test_gates__a_lent_transaction_of_any_level_exceeds_no_limit) {
    lend_at(SQL_TXN_READ_COMMITTED);
    lend_at(SQL_TXN_REPEATABLE_READ);
    lend_at(SQL_TXN_SERIALIZABLE);
}

/* One that began before the next of its key was put in settles the first: the next comes then, or the settle
 * is refused and asked elsewhere. */
static void settle_lent_at(SQLINTEGER level) {
    char ids[2][ID];
    int64_t rows = 0;
    empty_pool();
    put_behind(NULL, "k", pool_on_sqlite() ? 2 : 1, ids);
    const tp_task *task = claim_this(pool.a, ids[0]);
    struct loan loan = lent(SQL_AUTOCOMMIT_OFF);
    if (!SQL_SUCCEEDED(
            SQLSetConnectAttr(loan.raw.dbc, SQL_ATTR_TXN_ISOLATION, (SQLPOINTER)(intptr_t)level, 0)))
        return;
    sure(sql_raw_number(loan.raw.dbc, &rows, "SELECT COUNT(*) FROM tp_meta"), "%s", sql_reason());
    if (!pool_on_sqlite()) put_behind(NULL, "k", 1, ids + 1);
    tp_status status = tp_complete(loan.conn, task);
    loan_end(&loan, status == TP_OK ? SQL_COMMIT : SQL_ROLLBACK);
    if (status != TP_OK) must(tp_complete(pool.a, task));
    take_this(pool.b, ids[1]);
    expect_through("=k", 1);
}

TEST(test_gates__a_lent_settle_of_any_level_lets_the_next_through) {
    settle_lent_at(SQL_TXN_READ_COMMITTED);
    settle_lent_at(SQL_TXN_REPEATABLE_READ);
    settle_lent_at(SQL_TXN_SERIALIZABLE);
}

/* One that saw a task wait which has ended by now puts in the next. */
static void enqueue_lent_at(SQLINTEGER level) {
    char ids[2][ID];
    int64_t rows = 0;
    if (pool_on_sqlite()) return;
    empty_pool();
    must(tp_gate_set(pool.eye, "bank", 1, TP_GATE_BLOCK, NULL));
    put_behind("bank", NULL, 2, ids);
    struct loan loan = lent(SQL_AUTOCOMMIT_OFF);
    if (!SQL_SUCCEEDED(
            SQLSetConnectAttr(loan.raw.dbc, SQL_ATTR_TXN_ISOLATION, (SQLPOINTER)(intptr_t)level, 0)))
        return;
    sure(sql_raw_number(loan.raw.dbc, &rows, "SELECT COUNT(*) FROM tp_meta"), "%s", sql_reason());
    for (int i = 0; i < 2; i++)
        must(tp_complete(pool.a, take_this(pool.a, ids[i])));
    tp_new_task late = behind("bank");
    tp_status status = tp_enqueue(loan.conn, &late);
    loan_end(&loan, status == TP_OK ? SQL_COMMIT : SQL_ROLLBACK);
    if (status != TP_OK) must(tp_enqueue(pool.a, &late));
    take_this(pool.b, late.id);
    expect_through("bank", 1);
}

TEST(test_gates__a_lent_enqueue_of_any_level_passes_over_what_has_ended) {
    enqueue_lent_at(SQL_TXN_READ_COMMITTED);
    enqueue_lent_at(SQL_TXN_REPEATABLE_READ);
    enqueue_lent_at(SQL_TXN_SERIALIZABLE);
}

/* The commit of the first try is under way when the settle is asked again. */
TEST(test_gates__a_settle_hears_what_its_first_try_did_meanwhile) {
    struct aside aside;
    char ids[2][ID];
    put_behind(NULL, "k", 2, ids);
    const tp_task *task = take_this(pool.a, ids[0]);
    must(tp_begin(pool.a));
    must(tp_complete(pool.a, task));
    start_blocked(&aside, pool.b, complete_call, (void *)(uintptr_t)task);
    must(tp_commit(pool.a));
    tp_status answer = aside_end(&aside);
    if (answer == TP_CONFLICT) answer = tp_complete(pool.b, task);
    expect(TP_OK, answer);
    expect_through("=k", 1);
    take_this(pool.b, ids[1]);
}

TEST(test_gates__a_lent_connection_without_a_transaction_is_refused) {
    struct loan loan = lent(SQL_AUTOCOMMIT_ON);
    tp_new_task task = task_with(.order_key = "k");
    expect(TP_MISUSE, tp_enqueue(loan.conn, &task));
    expect_text("behind a gate");
    expect_number(count_of("tp_pending"), 0);
}

/* ---- A library that knows no gates --------------------------------------------------------------------- */

/* It settles a task and leaves the gate as it was: the others wait, until the maintenance of a newer worker.
 */
TEST(test_gates__what_others_left_is_mended) {
    char ids[3][ID];
    must(tp_gate_set(pool.a, "bank", 1, TP_GATE_BLOCK, NULL));
    put_behind("bank", NULL, 1, ids);
    put_behind(NULL, "k", 2, ids + 1);
    must(tpi_gates_mend(pool.a));
    expect_through("=k", 1);
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE id IN ('%s', '%s')", ids[0], ids[1]);
    expect_waits(ids[2]);
    must(tpi_gates_mend(pool.a));
    must(tpi_gates_mend(pool.b));
    expect_through("=k", 1);
    take_this(pool.a, ids[2]);
    expect_number(through("bank"), 0);
}

/* Somebody made it wider by hand. */
TEST(test_gates__a_gate_with_room_is_mended) {
    char ids[3][ID];
    must(tp_gate_set(pool.a, "bank", 1, TP_GATE_BLOCK, NULL));
    put_behind("bank", NULL, 3, ids);
    sql_run(pool.eye, "UPDATE tp_gate SET width = 2 WHERE name = 'bank'");
    must(tpi_gates_mend(pool.a));
    expect_through("bank", 2);
}
