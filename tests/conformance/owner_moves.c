/* Rules of the application's own that keep a row in its pool when it is to leave: a move that they stop has
 * put nothing into the other pool, on whichever way, so that a task is in one pool only. */
#include <sqlext.h>

#include "conformance/rules.h"

THEME(owner_moves, ONCE);

static const tp_retry none = {.size = sizeof(tp_retry)};

static const tp_task *put_refused_and_claim(void) {
    tp_new_task new = task_with(.biz_key = "refused");
    must(tp_enqueue(pool.a, &new));
    return claim_this(pool.a, new.id);
}

static tp_status skip_it(tp_conn *conn, const tp_task *task) {
    return tp_skip(conn, task, "why");
}

static tp_status fail_at_last(tp_conn *conn, const tp_task *task) {
    return tp_fail(conn, task, "why", &none);
}

static tp_status give_it_up(tp_conn *conn, const tp_task *task) {
    return tp_give_up(conn, task, "why");
}

static tp_status complete_among_many(tp_conn *conn, const tp_task *task) {
    tp_status answer = TP_OK;
    return tp_complete_many(conn, &task, 1, &answer);
}

static const struct settle moves[] = {{"complete", tp_complete},
                                      {"skip", skip_it},
                                      {"the last failure", fail_at_last},
                                      {"give up", give_it_up},
                                      {"complete many", complete_among_many}};
enum { MOVES = LENGTH(moves) };

TEST_AGAINST(rules_on_delete, test_owner_moves__a_row_that_is_kept_is_in_its_pool_only) {
    const tp_task *task = put_refused_and_claim();
    struct row before = row_of(task->id);
    rule_make_over(rule, "pending", "biz_key", "refused");
    for (int i = 0; i < MOVES; i++)
        for (int again = 0; again < 2; again++) {
            print_message("    %s\n", moves[i].name);
            expect_refused(moves[i].call(pool.a, task));
            expect_same(task->id, &before);
            expect(TP_NONE, tp_settled(pool.a, task));
        }
    expect_number(count_of("tp_history"), 0);
    must(tp_extend(pool.a, task, 3600 * 1000));
    rule_lift();
    must(tp_complete(pool.a, task));
    expect_row(task->id, "finished", "done", 0);
}

/* What is checked at its end is refused there. */
static bool is_late(const struct rule *rule) {
    return strstr(rule->name, "at the end") != NULL;
}

TEST_AGAINST(rules_on_delete, test_owner_moves__inside_a_transaction_nothing_of_it_is_stored) {
    const tp_task *task = put_refused_and_claim();
    struct row before = row_of(task->id);
    rule_make_over(rule, "pending", "biz_key", "refused");
    for (int i = 0; i < MOVES; i++) {
        must(tp_begin(pool.a));
        effect(pool.a, task->id);
        tp_status status = moves[i].call(pool.a, task);
        if (!is_late(rule)) expect_refused(status);
        status = tp_commit(pool.a);
        expect(is_late(rule) ? TP_DB : TP_CONFLICT, status);
        expect_same(task->id, &before);
        expect_number(effects_of(task->id), 0);
    }
    rule_lift();
    must(tp_complete(pool.a, task));
}

/* Inside a transaction SQLite does not change what it checks. */
static struct loan lend(bool autocommit) {
    struct loan loan = loan_open(SQL_AUTOCOMMIT_ON);
    if (pool_on_sqlite()) sure(sql_raw(loan.raw.dbc, "PRAGMA foreign_keys = ON"), "%s", sql_reason());
    if (!autocommit) SQLSetConnectAttr(loan.raw.dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)SQL_AUTOCOMMIT_OFF, 0);
    return loan;
}

/* The caller rolls back what failed; in autocommit mode there is nothing to roll back. */
TEST_AGAINST(rules_on_delete, test_owner_moves__on_a_lent_connection_neither) {
    const tp_task *task = put_refused_and_claim();
    struct row before = row_of(task->id);
    rule_make_over(rule, "pending", "biz_key", "refused");
    for (int autocommit = 0; autocommit < 2; autocommit++)
        for (int i = 0; i < MOVES; i++) {
            struct loan loan = lend(autocommit);
            tp_status status = moves[i].call(loan.conn, task);
            bool several = autocommit && status == TP_MISUSE; /* statements, which it cannot be */
            if (!several && (autocommit || !is_late(rule))) expect_refused(status);
            if (!autocommit) loan_end(&loan, SQL_ROLLBACK);
            loan_close(&loan);
            expect_number(row_of(task->id).copies, 1);
            expect_row(task->id, "pending", "handling", 0);
        }
    assert_string_equal(row_of(task->id).owner, before.owner);
    rule_lift();
    must(tp_complete(pool.a, task));
}

TEST_AGAINST(rules_on_delete, test_owner_moves__of_many_with_one_that_is_kept_none_is_moved) {
    tp_new_task tasks[3] = {task_new("x"), task_new("x"), task_new("x")};
    const tp_task *claimed[3];
    tasks[1].biz_key = "refused";
    must(tp_enqueue_many(pool.a, tasks, 3, NULL));
    tasks_of(claim(pool.a, 3), claimed);
    rule_make_over(rule, "pending", "biz_key", "refused");
    for (int i = 0; i < 2; i++) {
        expect_refused(tp_complete_many(pool.a, claimed, 3, NULL));
        for (size_t t = 0; t < 3; t++)
            expect_row(tasks[t].id, "pending", "handling", 0);
    }
    rule_lift();
    must(tp_complete_many(pool.a, claimed, 3, NULL));
    for (size_t t = 0; t < 3; t++)
        expect_row(tasks[t].id, "finished", "done", 0);
}

static tp_claim_request claim_failing(void) {
    static const tp_retry fails = {.size = sizeof fails, .on_lapse = TP_LAPSE_FAIL};
    tp_claim_request request = request_with(.limit = 10, .retry = &fails);
    return request;
}

/* The claim that meets the lapse is to move the task to the failed pool. */
static void lapse_against(const struct rule *rule, const char *table) {
    const tp_task *task;
    tp_claim_request request = claim_failing();
    task = put_refused_and_claim();
    char id[ID], fine[ID];
    memcpy(id, task->id, ID);
    rule_make_over(rule, table, "biz_key", "refused");
    row_make_due(id);
    task_put("x", fine);
    tp_batch *others = claim_by(pool.a, &request);
    expect_count(others, 1);
    assert_true(batch_holds(others, fine));
    expect_number(row_of(id).copies, 1);
    row_make_due(id);
    expect_refused(try_claim(pool.a, &request));
    assert_string_equal(request.token, "");
    expect_row(id, "pending", "handling", 2);
    task_put("x", fine);
    others = claim_by(pool.a, &request);
    assert_true(batch_holds(others, fine));
    rule_lift();
    row_make_due(id);
    expect(TP_NONE, try_claim(pool.a, &request));
    expect_row(id, "failed", "failed", 3);
}

/* Nor of what is refused by the commit of a move of two statements: that may be anything. */
static void lapse_against_delete(const struct rule *rule) {
    bool by_commit = is_late(rule) && strcmp(pool.entry, "postgres") != 0;
    if (!rule->refuses_all && !by_commit) lapse_against(rule, "pending");
}

/* Of what equals a row that is there, and of what all are, others are refused as well. */
static void lapse_against_insert(const struct rule *rule) {
    if (!rule->seeded) lapse_against(rule, "failed");
}

TEST(test_owner_moves__a_lapse_whose_move_is_refused_holds_up_no_other_claim) {
    rule_for_each(&rules_on_delete, lapse_against_delete);
    rule_for_each(&rules_on_insert, lapse_against_insert);
}

/* The claim that meets the lapse is to skip it. */
static void cancelled_against(const struct rule *rule) {
    tp_cancelled answer = TP_CANCELLED_INIT;
    tp_claim_request request = request_with(.limit = 10);
    char id[ID], fine[ID];
    if (rule->seeded) return;
    memcpy(id, put_refused_and_claim()->id, ID);
    must(tp_cancel(pool.b, id, "ann", "wrong amount", &answer));
    rule_make_over(rule, "finished", "biz_key", "refused");
    row_make_due(id);
    task_put("x", fine);
    tp_batch *others = claim_by(pool.a, &request);
    expect_count(others, 1);
    assert_true(batch_holds(others, fine));
    expect_row(id, "pending", "handling", 1);
    rule_lift();
    row_make_due(id);
    request = request_with(.limit = 10);
    expect(TP_NONE, try_claim(pool.a, &request));
    expect_row(id, "finished", "skipped", 2);
}

TEST(test_owner_moves__a_cancelled_task_whose_skip_is_refused_holds_up_no_other_claim) {
    rule_for_each(&rules_on_insert, cancelled_against);
}

/* The transaction that meets it, or its commit, is lost; the next leaves it alone. */
static void passed_by_hold(const struct rule *rule, const char *table, bool cancelled) {
    tp_claim_request request = claim_failing();
    tp_cancelled answer = TP_CANCELLED_INIT;
    tp_batch *batch = NULL;
    char id[ID], fine[ID];
    memcpy(id, put_refused_and_claim()->id, ID);
    if (cancelled) must(tp_cancel(pool.b, id, "ann", "wrong amount", &answer));
    rule_make_over(rule, table, "biz_key", "refused");
    row_make_due(id);
    task_put("x", fine);
    request.plan = "hold";
    request.limit = 1;
    for (int i = 0; i < 2; i++) {
        must(tp_begin(pool.a));
        tp_status status = claim_into(pool.a, &request, &batch);
        if (i == 0 && status == TP_OK) status = tp_commit(pool.a);
        if (i == 0) expect_refused(status);
        if (i == 0 && !is_late(rule)) must(tp_rollback(pool.a));
    }
    assert_true(batch && batch_holds(batch, fine));
    must(tp_commit(pool.a));
    expect_row(id, "pending", "handling", 0);
    rule_lift();
    must(tp_begin(pool.b));
    must(tp_complete(pool.b, tp_batch_task(claim_by(pool.b, &request), 0)));
    must(tp_commit(pool.b));
    expect_row(id, cancelled ? "finished" : "failed", cancelled ? "skipped" : "failed", 1);
}

static void cancelled_against_hold(const struct rule *rule) {
    if (!rule->seeded) passed_by_hold(rule, "finished", true);
}

static void lapse_against_hold(const struct rule *rule) {
    if (!rule->refuses_all) passed_by_hold(rule, "pending", false);
}

TEST(test_owner_moves__what_cannot_be_moved_on_holds_up_no_other_transaction) {
    if (!pool_plan_possible("hold")) skip();
    rule_for_each(&rules_on_insert, cancelled_against_hold);
    rule_for_each(&rules_on_delete, lapse_against_hold);
}

static void hold_against(const struct rule *rule) {
    tp_new_task tasks[3] = {task_new("x"), task_new("x"), task_new("x")};
    tasks[1].biz_key = "refused";
    must(tp_enqueue_many(pool.a, tasks, 3, NULL));
    rule_make_over(rule, "pending", "biz_key", "refused");
    for (int i = 0; i <= MOVES + 1; i++) {
        const tp_task *held[3];
        if (i > MOVES) rule_lift();
        must(tp_begin(pool.a));
        effect(pool.a, pool.handler);
        tp_batch *batch = claim_with(pool.a, .limit = 3, .plan = "hold");
        for (size_t t = 0; t < 3; t++)
            held[t] = tp_batch_task(batch, t);
        tp_status status =
            i < MOVES ? moves[i].call(pool.a, held[1]) : tp_complete_many(pool.a, held, 3, NULL);
        if (i > MOVES)
            must(status);
        else if (!is_late(rule))
            expect_refused(status);
        status = tp_commit(pool.a);
        expect(i > MOVES ? TP_OK : is_late(rule) ? TP_DB : TP_CONFLICT, status);
        for (size_t t = 0; t < 3; t++)
            expect_row(tasks[t].id, i > MOVES ? "finished" : "pending", i > MOVES ? "done" : "pending", 0);
        expect_number(effects_of(pool.handler), i > MOVES);
    }
}

TEST(test_owner_moves__a_held_task_that_is_kept_is_given_back) {
    if (!pool_plan_possible("hold")) skip();
    rule_for_each(&rules_on_delete, hold_against);
}

static const char *kept_in; /* the table */

static void operate_against(const struct rule *rule) {
    const tp_task *task = put_refused_and_claim();
    bool in_failed = strcmp(kept_in, "failed") == 0;
    tp_selection selection = selection_with(.limit = 0);
    if (in_failed)
        expect(TP_EXHAUSTED, tp_give_up(pool.a, task, "why"));
    else
        must(tp_release(pool.a, task, 0));
    struct row before = row_of(task->id);
    rule_make_over(rule, kept_in, "biz_key", "refused");
    for (int i = in_failed ? 0 : 1; i < 2; i++) {
        tp_operated result = TP_OPERATED_INIT;
        tp_status status = tp_operate(pool.a, i ? TP_ACTION_SKIP : TP_ACTION_RETRY, &selection, &result);
        assert_true(status == TP_DB || (status == TP_OK && result.done == 0 && result.passed == 1));
        expect_same(task->id, &before);
    }
    rule_lift();
    tp_operated result = TP_OPERATED_INIT;
    must(tp_operate(pool.a, TP_ACTION_SKIP, &selection, &result));
    expect_number(result.done, 1);
    expect_row(task->id, "finished", "skipped", in_failed);
}

TEST(test_owner_moves__an_operators_move_of_a_row_that_is_kept_leaves_no_copy) {
    kept_in = "pending";
    rule_for_each(&rules_on_delete, operate_against);
    kept_in = "failed";
    rule_for_each(&rules_on_delete, operate_against);
}
