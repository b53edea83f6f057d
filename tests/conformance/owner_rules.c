/* Rules of the application's own on the pool's tables: constraints, indexes, columns, triggers that refuse a
 * row, with an error or without a word. What is refused is a failure with a text, never TP_OK, TP_EXISTS or
 * "ask again"; nothing is half written; when the rule is gone the same call does it. */
#include "conformance/rules.h"

THEME(owner_rules, ONCE);

#define GIVEN_ID "0190ffff-1111-7000-8000-00000000000"

static tp_new_task refused_task(void) {
    tp_new_task task = task_with(.biz_key = "refused");
    return task;
}

static void expect_put_refused(tp_new_task *task) {
    expect_refused(tp_enqueue(pool.a, task));
    expect_refused(tp_enqueue(pool.a, task));
    must(tp_begin(pool.a));
    effect(pool.a, "0190ffff-0000-7000-8000-000000000001");
    expect_refused_inside(tp_enqueue(pool.a, task));
    expect(TP_CONFLICT, tp_commit(pool.a));
    expect_number(rows_in("pending", pool.handler), 0);
    expect_number(effects_of("0190ffff-0000-7000-8000-000000000001"), 0);
}

TEST_AGAINST(rules_on_insert, test_owner_rules__a_refused_task_is_an_error_and_never_said_to_be_there) {
    tp_new_task tasks[3] = {refused_task(), refused_task(), refused_task()};
    tasks[1].dedup_key = "key";
    snprintf(tasks[2].id, sizeof tasks[2].id, GIVEN_ID "%d", 1);
    rule_make(rule, "pending", "biz_key", "refused");
    for (int i = 0; i < 3; i++)
        expect_put_refused(&tasks[i]);
    if (!rule->refuses_all) task_put("fine", (char[ID]){0});
    rule_lift();
    for (int i = 0; i < 3; i++)
        must(tp_enqueue(pool.a, &tasks[i]));
    for (int i = 0; i < 3; i++)
        expect(TP_EXISTS, tp_enqueue(pool.a, &tasks[i]));
}

TEST_AGAINST(rules_on_insert, test_owner_rules__of_many_with_one_that_is_refused_none_is_stored) {
    for (int kind = 0; kind < 3; kind++) {
        tp_new_task tasks[3] = {task_new("x"), refused_task(), task_new("x")};
        size_t inserted = 77;
        if (kind == 1) tasks[0].dedup_key = "a";
        if (kind == 1) tasks[1].dedup_key = "b";
        if (kind == 2) snprintf(tasks[1].id, sizeof tasks[1].id, GIVEN_ID "%d", 2);
        rule_make(rule, "pending", "biz_key", "refused");
        for (int i = 0; i < 2; i++)
            expect_refused(tp_enqueue_many(pool.a, tasks, 3, &inserted));
        must(tp_begin(pool.a));
        expect_refused_inside(tp_enqueue_many(pool.a, tasks, 3, &inserted));
        expect(TP_CONFLICT, tp_commit(pool.a));
        expect_number(rows_in("pending", pool.handler), 0);
        expect_number(inserted, 77);
        rule_lift();
        must(tp_enqueue_many(pool.a, tasks, 3, &inserted));
        expect_number(inserted, 3);
        expect_number(rows_in("pending", pool.handler), 3);
    }
}

TEST_AGAINST(rules_on_insert, test_owner_rules__a_planned_time_whose_task_is_refused_stays_due) {
    struct sql_row before, now;
    size_t fired = 77;
    int64_t wait = 0;
    static const char look[] =
        "SELECT next_at, last_at, last_task FROM tp_schedule WHERE name = 'a-refused-one'";
    tp_schedule first = hourly("a-refused-one", "refused"), second = hourly("b", NULL);
    must(tp_schedule_add(pool.a, &first));
    if (!rule->refuses_all) must(tp_schedule_add(pool.a, &second));
    must(tp_test_advance(pool.eye, 3610 * 1000));
    assert_true(sql_row(pool.eye, &before, look));
    rule_make(rule, "pending", "biz_key", "refused");
    for (int i = 0; i < 2; i++) {
        expect_refused(tp_schedule_fire(pool.a, &fired, &wait));
        expect_text("a-refused-one");
    }
    assert_true(sql_row(pool.eye, &now, look));
    for (int i = 0; i < 3; i++)
        assert_string_equal(before.cell[i], now.cell[i]);
    assert_string_equal(now.cell[2], "");
    expect_number(rows_in("pending", pool.handler), rule->refuses_all ? 0 : 1);
    rule_lift();
    must(tp_schedule_fire(pool.a, &fired, &wait));
    expect_number(fired, 1);
    assert_true(sql_row(pool.eye, &now, look));
    expect_number(row_of(now.cell[2]).copies, 1);
}

TEST_AGAINST(rules_on_insert, test_owner_rules__a_refused_key_of_the_ledger_is_no_first_time_and_not_there) {
    const tp_task task = {.id = GIVEN_ID "3", .handler = pool.handler};
    rule_make(rule, "once", "handler", pool.handler);
    for (int i = 0; i < 2; i++)
        expect_refused(tp_once(pool.a, "order 7", &task));
    must(tp_begin(pool.a));
    effect(pool.a, task.id);
    expect_refused_inside(tp_once(pool.a, "order 7", &task));
    expect(TP_CONFLICT, tp_commit(pool.a));
    expect_number(effects_of(task.id), 0);
    rule_lift();
    must(tp_once(pool.a, "order 7", &task));
    expect(TP_EXISTS, tp_once(pool.b, "order 7", &task));
}

static const tp_task *put_refused_and_claim(void) {
    tp_new_task new = refused_task();
    must(tp_enqueue(pool.a, &new));
    return claim_this(pool.a, new.id);
}

static void expect_as_before(const tp_task *task, const struct row *before) {
    expect_same(task->id, before);
    expect_row(task->id, "pending", "handling", 0);
}

TEST_AGAINST(rules_on_insert, test_owner_rules__a_refused_completion_leaves_the_task_claimed) {
    const tp_task *task = put_refused_and_claim();
    tp_status answer = TP_OK;
    rule_make(rule, "finished", "biz_key", "refused");
    struct row before = row_of(task->id);
    for (int i = 0; i < 2; i++) {
        expect_refused(tp_complete(pool.a, task));
        expect_as_before(task, &before);
        expect_refused(tp_skip(pool.a, task, "why"));
        expect_as_before(task, &before);
        expect_refused(tp_complete_many(pool.a, &task, 1, &answer));
        expect_as_before(task, &before);
    }
    must(tp_begin(pool.a));
    effect(pool.a, task->id);
    expect_refused_inside(tp_complete(pool.a, task));
    expect(TP_CONFLICT, tp_commit(pool.a));
    expect_as_before(task, &before);
    expect_number(effects_of(task->id), 0);
    must(tp_extend(pool.a, task, 3600 * 1000));
    rule_lift();
    must(tp_complete(pool.a, task));
    expect_row(task->id, "finished", "done", 0);
}

TEST_AGAINST(rules_on_insert, test_owner_rules__of_many_completions_with_one_refused_none_is_kept) {
    tp_new_task tasks[3] = {task_new("x"), refused_task(), task_new("x")};
    const tp_task *claimed[3];
    must(tp_enqueue_many(pool.a, tasks, 3, NULL));
    tp_batch *batch = claim(pool.a, 3);
    for (size_t i = 0; i < 3; i++)
        claimed[i] = tp_batch_task(batch, i);
    rule_make(rule, "finished", "biz_key", "refused");
    for (int i = 0; i < 2; i++) {
        expect_refused(tp_complete_many(pool.a, claimed, 3, NULL));
        for (size_t t = 0; t < 3; t++)
            expect_number(row_of(claimed[t]->id).copies, 1);
        expect_row(tasks[1].id, "pending", "handling", 0);
        expect_number(rows_in("pending", pool.handler), 3);
        expect_number(rows_in("finished", pool.handler), 0);
    }
    rule_lift();
    must(tp_complete_many(pool.a, claimed, 3, NULL));
    expect_number(rows_in("finished", pool.handler), 3);
}

static const char *failed_table;

static void fail_against(const struct rule *rule) {
    static const tp_retry none = {.size = sizeof(tp_retry)};
    bool history = strcmp(failed_table, "history") == 0;
    const tp_task *task = put_refused_and_claim();
    rule_make(rule, failed_table, history ? "handler" : "biz_key", history ? pool.handler : "refused");
    struct row before = row_of(task->id);
    for (int i = 0; i < 2; i++) {
        if (history) {
            expect_refused(tp_fail(pool.a, task, "why", NULL));
            expect_as_before(task, &before);
        }
        expect_refused(tp_fail(pool.a, task, "why", &none));
        expect_as_before(task, &before);
        expect_refused(tp_give_up(pool.a, task, "why"));
        expect_as_before(task, &before);
    }
    rule_lift();
    expect(TP_EXHAUSTED, tp_fail(pool.a, task, "why", &none));
    expect_row(task->id, "failed", "failed", 1);
}

TEST(test_owner_rules__a_refused_move_to_the_failed_pool_leaves_the_task_claimed) {
    failed_table = "failed";
    rule_for_each(&rules_on_insert, fail_against);
}

TEST(test_owner_rules__a_failure_that_the_history_refuses_is_not_written) {
    failed_table = "history";
    rule_for_each(&rules_on_insert, fail_against);
}

TEST_AGAINST(rules_on_update,
             test_owner_rules__a_change_that_is_refused_leaves_the_claim_and_is_not_called_lost) {
    const tp_task *task;
    task = put_refused_and_claim();
    struct row before = row_of(task->id);
    tp_claim_request request = claim_request(1);
    char id[ID];
    rule_make_over(rule, "pending", "handler", pool.handler);
    for (int i = 0; i < 2; i++) {
        expect_refused(tp_extend(pool.a, task, 3600 * 1000));
        expect_refused(tp_release(pool.a, task, 0));
        expect_refused(tp_fail(pool.a, task, "why", NULL));
        expect_as_before(task, &before);
    }
    expect_number(count_of("tp_history"), 0);
    task_put("x", id);
    tp_status status = try_claim(pool.a, &request);
    assert_true(status == TP_DB || status == TP_NONE);
    expect_row(id, "pending", "pending", 0);
    rule_lift();
    must(tp_fail(pool.a, task, "why", NULL));
    expect_row(task->id, "pending", "failed", 1);
}

static void hold_against(const struct rule *rule) {
    tp_new_task new = refused_task();
    tp_claim_request request = request_with(.limit = 1, .plan = "hold");
    must(tp_enqueue(pool.a, &new));
    rule_make(rule, "finished", "biz_key", "refused");
    for (int i = 0; i < 4; i++) {
        if (i == 3) rule_lift();
        must(tp_begin(pool.a));
        effect(pool.a, new.id);
        tp_batch *batch = claim_by(pool.a, &request);
        const tp_task *task = tp_batch_task(batch, 0);
        if (i == 3) must(tp_complete(pool.a, task));
        if (i == 0) expect_refused_inside(tp_complete(pool.a, task));
        if (i == 1) expect_refused_inside(tp_skip(pool.a, task, "why"));
        if (i == 2) expect_refused_inside(tp_complete_many(pool.a, &task, 1, NULL));
        expect(i == 3 ? TP_OK : TP_CONFLICT, tp_commit(pool.a));
        expect_row(new.id, i == 3 ? "finished" : "pending", i == 3 ? "done" : "pending", 0);
        expect_number(effects_of(new.id), i == 3);
    }
}

TEST(test_owner_rules__a_refused_completion_of_a_held_task_gives_it_back) {
    if (!pool_plan_possible("hold")) skip();
    rule_for_each(&rules_on_insert, hold_against);
}

static void hold_many_against(const struct rule *rule) {
    tp_new_task new[3] = {task_new("x"), refused_task(), task_new("x")};
    must(tp_enqueue_many(pool.a, new, 3, NULL));
    rule_make(rule, "finished", "biz_key", "refused");
    for (int i = 0; i < 2; i++) {
        const tp_task *held[3];
        if (i == 1) rule_lift();
        must(tp_begin(pool.a));
        effect(pool.a, pool.handler);
        tasks_of(claim_with(pool.a, .limit = 3, .plan = "hold"), held);
        if (i == 0) expect_refused_inside(tp_complete_many(pool.a, held, 3, NULL));
        if (i == 1) must(tp_complete_many(pool.a, held, 3, NULL));
        expect(i == 1 ? TP_OK : TP_CONFLICT, tp_commit(pool.a));
        for (size_t t = 0; t < 3; t++)
            expect_row(new[t].id, i ? "finished" : "pending", i ? "done" : "pending", 0);
        expect_number(effects_of(pool.handler), i);
    }
}

TEST(test_owner_rules__of_held_tasks_with_one_refused_none_is_called_lost) {
    if (!pool_plan_possible("hold")) skip();
    rule_for_each(&rules_on_insert, hold_many_against);
}

static void mark_against(const struct rule *rule) {
    tp_new_task new = refused_task();
    must(tp_enqueue(pool.a, &new));
    rule_make_over(rule, "pending", "biz_key", "refused");
    for (int i = 0; i < 4; i++) {
        if (i == 3) rule_lift();
        must(tp_begin(pool.a));
        const tp_task *task = tp_batch_task(claim_with(pool.a, .limit = 1, .plan = "hold"), 0);
        if (i == 0) expect_refused(tp_skip(pool.a, task, "why"));
        if (i == 1) expect_refused(tp_fail(pool.a, task, "why", NULL));
        if (i == 2) expect_refused(tp_release(pool.a, task, 0));
        if (i == 3) must(tp_fail(pool.a, task, "why", NULL));
        expect(i == 3 ? TP_OK : TP_CONFLICT, tp_commit(pool.a));
        expect_row(new.id, "pending", i == 3 ? "failed" : "pending", i == 3);
    }
}

TEST(test_owner_rules__a_held_task_whose_change_is_refused_is_not_called_lost) {
    if (!pool_plan_possible("hold")) skip();
    rule_for_each(&rules_on_update, mark_against);
}

TEST_AGAINST(rules_on_insert,
             test_owner_rules__a_move_by_an_operator_that_is_refused_leaves_the_task_where_it_was) {
    const tp_task *task = put_refused_and_claim();
    tp_operated result = TP_OPERATED_INIT;
    tp_selection selection = selection_with(.limit = 0);
    expect(TP_EXHAUSTED, tp_give_up(pool.a, task, "why"));
    struct row before = row_of(task->id);
    rule_make(rule, "pending", "biz_key", "refused");
    tp_status status = tp_operate(pool.a, TP_ACTION_RETRY, &selection, &result);
    assert_true(status == TP_DB || (status == TP_OK && result.done == 0 && result.passed == 1));
    expect_same(task->id, &before);
    rule_lift();
    rule_make(rule, "finished", "biz_key", "refused");
    status = tp_operate(pool.a, TP_ACTION_SKIP, &selection, &result);
    assert_true(status == TP_DB || (status == TP_OK && result.done == 0 && result.passed == 1));
    expect_same(task->id, &before);
    rule_lift();
    must(tp_operate(pool.a, TP_ACTION_RETRY, &selection, &result));
    expect_number(result.done, 1);
    expect_row(task->id, "pending", "pending", 0);
}
