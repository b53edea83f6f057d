/* What a claim takes, and what it writes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

static void test_claim__none_when_nothing_is_there(void **state) {
    (void)state;
    expect_nothing(pool.a);
}

static void test_claim__marks_the_row_with_token_lease_and_state(void **state) {
    tp_claim_request request = claim_request(1);
    tp_batch *batch = NULL;
    char id[ID];
    (void)state;
    task_put("x", id);
    request.lease_ms = 90000;
    must(tp_claim(pool.a, &request, &batch));
    const tp_task *task = tp_batch_task(batch, 0);
    struct row row = row_of(id);
    expect_row(id, "pending", "handling", 0);
    assert_string_equal(row.owner, task->owner);
    assert_string_equal(task->state, "handling");
    assert_string_equal(request.token, "");
    /* generic: a clock of whole seconds must not shorten a lease */
    int late_ms = pool_on_generic() ? 1100 : 100;
    assert_in_range(row.due_at - row.modified_at, 89900, 90000 + late_ms);
    tp_batch_free(batch);
}

static void test_claim__each_has_a_token_of_its_own(void **state) {
    const tp_task *one, *two;
    (void)state;
    tp_batch *first = put_and_claim(pool.a, &one), *second = put_and_claim(pool.a, &two);
    assert_string_not_equal(one->owner, two->owner);
    assert_int_equal(strlen(one->owner), ID - 1);
    tp_batch_free(first);
    tp_batch_free(second);
}

static void test_claim__hands_out_all_that_was_enqueued(void **state) {
    tp_new_task task = task_new("what to do");
    (void)state;
    task.biz_key = "order-17";
    task.shard = 7;
    task.priority = -3;
    task.max_failures = 9;
    must(tp_enqueue(pool.a, &task));
    tp_batch *batch = claim(pool.a, 1);
    const tp_task *got = tp_batch_task(batch, 0);
    assert_string_equal(got->id, task.id);
    assert_string_equal(got->handler, pool.handler);
    assert_string_equal(got->params, "what to do");
    assert_string_equal(got->biz_key, "order-17");
    assert_string_equal(got->reason, "");
    expect_number(got->shard, 7);
    expect_number(got->priority, -3);
    expect_number(got->max_failures, 9);
    expect_number(got->failures, 0);
    assert_true(got->created_at > LONG_AGO);
    tp_batch_free(batch);
}

static void test_claim__takes_what_is_claimed_only_once(void **state) {
    const tp_task *task;
    (void)state;
    tp_batch *batch = put_and_claim(pool.a, &task);
    expect_nothing(pool.b);
    expect_nothing(pool.a);
    tp_batch_free(batch);
}

static void test_claim__future_tasks_wait(void **state) {
    tp_new_task later = task_new("x"), at = task_new("x"), now = task_new("x");
    (void)state;
    later.due_at = 0;
    later.delay_ms = 3600000;
    must(tp_enqueue(pool.a, &later));
    at.due_at = row_of(later.id).due_at + 5000;
    must(tp_enqueue(pool.a, &at));
    expect_number(row_of(at.id).due_at, at.due_at);
    expect_nothing(pool.a);
    must(tp_enqueue(pool.a, &now));
    const tp_task *task;
    tp_batch_free(claim_this(pool.a, now.id, &task));
    expect_nothing(pool.a);
    row_make_due(later.id);
    tp_batch_free(claim_this(pool.a, later.id, &task));
    expect_nothing(pool.a);
}

static void test_claim__a_delay_counts_from_the_databases_now(void **state) {
    tp_new_task task = task_new("x");
    (void)state;
    task.due_at = 0;
    task.delay_ms = 7000;
    must(tp_enqueue(pool.a, &task));
    int64_t created = sql_number(pool.eye, "SELECT created_at FROM tp_pending WHERE id = '%s'", task.id);
    assert_in_range(row_of(task.id).due_at - created, 6950, 7050);
}

static void test_claim__takes_only_the_handlers_it_was_given(void **state) {
    enum { KINDS = 3 };
    char names[KINDS][TP_HANDLER_MAX], ids[KINDS][ID];
    (void)state;
    for (int i = 0; i < KINDS; i++) {
        tp_new_task task = task_new("x");
        snprintf(names[i], sizeof names[i], "%s.%c", pool.handler, 'a' + i);
        task.handler = names[i];
        must(tp_enqueue(pool.a, &task));
        memcpy(ids[i], task.id, ID);
    }
    const char *two[] = {names[0], names[2]};
    tp_claim_request request = claim_request(10);
    tp_batch *batch = NULL;
    request.handlers = two;
    request.handler_count = 2;
    must(tp_claim(pool.a, &request, &batch));
    expect_number(tp_batch_count(batch), 2);
    assert_true(batch_holds(batch, ids[0]) && batch_holds(batch, ids[2]));
    expect_row(ids[1], "pending", "pending", 0);
    tp_batch_free(batch);
}

static void test_claim__handler_names_are_told_apart_by_case_and_in_full(void **state) {
    tp_new_task task = task_new("x");
    char upper[TP_HANDLER_MAX], longer[TP_HANDLER_MAX];
    (void)state;
    snprintf(upper, sizeof upper, "T%s", pool.handler + 1);
    snprintf(longer, sizeof longer, "%s.x", pool.handler);
    task.handler = upper;
    must(tp_enqueue(pool.a, &task));
    task = task_new("x");
    task.handler = longer;
    must(tp_enqueue(pool.a, &task));
    expect_nothing(pool.a);
}

static void test_claim__takes_sixty_four_handlers_and_no_more(void **state) {
    char names[TP_CLAIM_HANDLERS_MAX + 1][TP_HANDLER_MAX];
    const char *list[TP_CLAIM_HANDLERS_MAX + 1];
    tp_claim_request request = claim_request(10);
    tp_batch *batch = NULL;
    tp_new_task task = task_new("x");
    (void)state;
    for (int i = 0; i <= TP_CLAIM_HANDLERS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "%s.%d", pool.handler, i);
        list[i] = names[i];
    }
    task.handler = names[TP_CLAIM_HANDLERS_MAX - 1];
    must(tp_enqueue(pool.a, &task));
    request.handlers = list;
    request.handler_count = TP_CLAIM_HANDLERS_MAX + 1;
    expect(TP_TOOBIG, tp_claim(pool.a, &request, &batch));
    request.handler_count = TP_CLAIM_HANDLERS_MAX;
    must(tp_claim(pool.a, &request, &batch));
    assert_true(batch_holds(batch, task.id));
    tp_batch_free(batch);
}

static void test_claim__the_limit_holds_up_to_a_thousand(void **state) {
    tp_claim_request request = claim_request(TP_CLAIM_MAX + 1);
    tp_batch *batch = NULL;
    (void)state;
    expect(TP_TOOBIG, tp_claim(pool.a, &request, &batch));
    task_put_many(TP_CLAIM_MAX + 5, NULL);
    request.limit = TP_CLAIM_MAX;
    request.lease_ms = 10 * 60 * 1000; /* a slow claim stops before its first leases have run down */
    must(tp_claim(pool.a, &request, &batch));
    expect_number(tp_batch_count(batch), TP_CLAIM_MAX);
    tp_batch_free(batch);
    tp_batch_free(claim(pool.b, 3));
    batch = claim_up_to(pool.a, 10);
    expect_number(tp_batch_count(batch), 2);
    tp_batch_free(batch);
}

static void test_claim__is_refused_inside_a_transaction(void **state) {
    tp_claim_request request = claim_request(1);
    tp_batch *batch = NULL;
    char id[ID];
    (void)state;
    task_put("x", id);
    must(tp_begin(pool.a));
    expect(TP_MISUSE, tp_claim(pool.a, &request, &batch));
    must(tp_rollback(pool.a));
    expect_row(id, "pending", "pending", 0);
    tp_batch_free(claim(pool.a, 1));
}

/* How many statements a claim takes that finds nothing. Now and then one more says what is paused. */
static uint64_t cost_of_nothing(tp_claim_request *request) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        tp_batch *batch = NULL;
        uint64_t before = tp_conn_counters(pool.a)->statements;
        expect(TP_NONE, tp_claim(pool.a, request, &batch));
        uint64_t cost = tp_conn_counters(pool.a)->statements - before;
        if (cost < least) least = cost;
    }
    return least;
}

static void test_claim__that_finds_nothing_is_one_statement(void **state) {
    const char *handlers[] = {pool.handler, "another", "a-third"};
    tp_claim_request request = claim_request(100);
    (void)state;
    request.handlers = handlers;
    for (request.handler_count = 1; request.handler_count <= 3; request.handler_count += 2)
        for (request.in_order = 0; request.in_order < 2; request.in_order++)
            expect_number(cost_of_nothing(&request), 1);
}

THEME(claim, true, cmocka_unit_test(test_claim__none_when_nothing_is_there),
      cmocka_unit_test(test_claim__marks_the_row_with_token_lease_and_state),
      cmocka_unit_test(test_claim__each_has_a_token_of_its_own),
      cmocka_unit_test(test_claim__hands_out_all_that_was_enqueued),
      cmocka_unit_test(test_claim__takes_what_is_claimed_only_once),
      cmocka_unit_test(test_claim__future_tasks_wait),
      cmocka_unit_test(test_claim__a_delay_counts_from_the_databases_now),
      cmocka_unit_test(test_claim__takes_only_the_handlers_it_was_given),
      cmocka_unit_test(test_claim__handler_names_are_told_apart_by_case_and_in_full),
      cmocka_unit_test(test_claim__takes_sixty_four_handlers_and_no_more),
      cmocka_unit_test(test_claim__the_limit_holds_up_to_a_thousand),
      cmocka_unit_test(test_claim__is_refused_inside_a_transaction),
      cmocka_unit_test(test_claim__that_finds_nothing_is_one_statement));
