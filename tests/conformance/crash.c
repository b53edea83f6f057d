/* Processes that die: their tasks come back when the lease lapses, and the crash counts. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "suite.h"

enum { LEASE_MS = 400, CLAIM_TRIES = 15000 };
#define LEASE "400"

/* Claims until there is something; a real lease must lapse meanwhile. */
static tp_batch *claim_when_lapsed(tp_conn *conn, const tp_retry *retry) {
    static const struct timespec pause = {.tv_nsec = 20 * 1000000};
    for (int i = 0; i < CLAIM_TRIES; i++) {
        tp_claim_request request = claim_request(10);
        tp_batch *batch = NULL;
        request.retry = retry;
        tp_status status = tp_claim(conn, &request, &batch);
        if (status == TP_OK) return batch;
        expect(TP_NONE, status);
        nanosleep(&pause, NULL);
    }
    sure(false, "the tasks of the dead process did not come back");
    return NULL;
}

/* A child takes the count tasks there are and is killed. */
static void kill_holder(const char *role, size_t count, char (*ids)[ID]) {
    struct child child = child_start(role, pool.plan, pool.handler, "10", LEASE, NULL);
    for (size_t i = 0; i < count; i++) {
        char line[CHILD_LINE] = "";
        child_listen(&child, line);
        sure(strlen(line) == ID - 1, "the child said '%s'", line);
        memcpy(ids[i], line, ID);
    }
    if (strcmp(role, "hold") == 0) child_expect(&child, "held");
    child_kill(&child);
}

static void test_crash__tasks_of_a_killed_process_come_back_with_one_failure_more(void **state) {
    char put[3][ID], held[3][ID];
    int64_t lapses[3];
    size_t back = 0;
    (void)state;
    task_put_many(3, put);
    kill_holder("hold", 3, held);
    for (int i = 0; i < 3; i++)
        lapses[i] = row_of(put[i]).due_at;
    while (back < 3) {
        tp_batch *batch = claim_when_lapsed(pool.a, NULL);
        for (size_t i = 0; i < tp_batch_count(batch); i++, back++) {
            const tp_task *task = tp_batch_task(batch, i);
            expect_number(task->failures, 1);
            assert_memory_equal(task->reason, "lease lapsed, held by ", 22);
            expect_row(task->id, "pending", "handling", 1);
            assert_string_equal(row_of(task->id).reason, task->reason);
        }
        tp_batch_free(batch);
    }
    for (int i = 0; i < 3; i++) /* and not a moment too soon */
        assert_true(row_of(put[i]).modified_at >= lapses[i]);
}

static void test_crash__an_effect_that_was_not_committed_is_not_there_twice(void **state) {
    char id[ID], held[1][ID];
    (void)state;
    task_put("x", id);
    kill_holder("pay", 1, held);
    assert_string_equal(held[0], id);
    tp_batch *batch = claim_when_lapsed(pool.a, NULL);
    expect_number(effects_of(id), 0);
    expect_row(id, "pending", "handling", 1);
    must(tp_begin(pool.a));
    effect(pool.a, id);
    must(tp_complete(pool.a, tp_batch_task(batch, 0)));
    must(tp_commit(pool.a));
    expect_number(effects_of(id), 1);
    expect_row(id, "finished", "done", 1);
    tp_batch_free(batch);
}

/* A claim whose lease lapsed, by moving the clock. */
static void lapse(tp_conn *conn, const char *id) {
    const tp_task *task;
    tp_batch_free(claim_this(conn, id, &task));
    row_make_due(id);
}

static void expect_spent(const char *id, int failures) {
    expect_row(id, "failed", "failed", failures);
    assert_memory_equal(row_of(id).reason, "lease lapsed, held by ", 22);
    expect_nothing(pool.a);
}

static void test_crash__the_last_allowed_failure_ends_in_the_failed_pool(void **state) {
    tp_new_task task = task_new("x");
    (void)state;
    task.max_failures = 1;
    must(tp_enqueue(pool.a, &task));
    lapse(pool.a, task.id);
    expect_nothing(pool.b);
    expect_spent(task.id, 1);
}

static void test_crash__the_claims_policy_says_which_failure_is_the_last(void **state) {
    static const int64_t delays[] = {1000};
    static const tp_retry once = {.size = sizeof once, .delays_ms = delays, .count = 1},
                          never = {.size = sizeof never, .delays_ms = NULL, .count = 0};
    tp_claim_request request = claim_request(5);
    tp_batch *batch = NULL;
    char one[ID], two[ID];
    (void)state;
    task_put("x", one);
    lapse(pool.a, one);
    request.retry = &never;
    expect(TP_NONE, tp_claim(pool.b, &request, &batch));
    expect_spent(one, 1);
    task_put("x", two);
    lapse(pool.a, two);
    request.retry = &once;
    must(tp_claim(pool.b, &request, &batch));
    expect_row(two, "pending", "handling", 1);
    tp_batch_free(batch);
    row_make_due(two);
    batch = NULL;
    expect(TP_NONE, tp_claim(pool.b, &request, &batch));
    expect_spent(two, 2);
}

static void test_crash__a_policy_may_fail_or_skip_what_lapsed(void **state) {
    static const tp_retry fails = {.size = sizeof fails,
                                   .count = 5,
                                   .first_ms = 1000,
                                   .on_lapse = TP_LAPSE_FAIL},
                          skips = {
                              .size = sizeof skips, .count = 5, .first_ms = 1000, .on_lapse = TP_LAPSE_SKIP};
    static const struct {
        const tp_retry *policy;
        const char *pool, *state;
    } cases[] = {{&fails, "failed", "failed"}, {&skips, "finished", "skipped"}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        tp_claim_request request = claim_request(5);
        tp_batch *batch = NULL;
        char lapsed[ID], waits[ID];
        task_put("x", lapsed);
        lapse(pool.a, lapsed);
        task_put("x", waits); /* what did not lapse is handled */
        request.retry = cases[i].policy;
        must(tp_claim(pool.b, &request, &batch));
        expect_number(tp_batch_count(batch), 1);
        assert_string_equal(tp_batch_task(batch, 0)->id, waits);
        expect_row(lapsed, cases[i].pool, cases[i].state, 1);
        assert_memory_equal(row_of(lapsed).reason, "lease lapsed, held by ", 22);
        must(tp_complete(pool.b, tp_batch_task(batch, 0)));
        tp_batch_free(batch);
    }
}

/* One handler's crashes are final, the other's are not. */
static void test_crash__each_handler_has_its_own_policy(void **state) {
    static const tp_retry skips = {
        .size = sizeof skips, .count = 5, .first_ms = 1000, .on_lapse = TP_LAPSE_SKIP};
    char name[TP_HANDLER_MAX], ids[2][ID];
    const char *handlers[] = {name, pool.handler};
    const tp_retry *retries[] = {&skips, NULL};
    tp_claim_request request = claim_request(5);
    tp_batch *batch = NULL;
    (void)state;
    snprintf(name, sizeof name, "%s.skips", pool.handler);
    for (int i = 0; i < 2; i++) {
        tp_new_task task = task_new("x");
        task.handler = handlers[i];
        must(tp_enqueue(pool.eye, &task));
        memcpy(ids[i], task.id, ID);
    }
    request.handlers = handlers;
    request.handler_count = 2;
    request.retries = retries;
    for (int round = 0; round < 2; round++) {
        must(tp_claim(pool.b, &request, &batch));
        expect_number(tp_batch_count(batch), 2 - round);
        tp_batch_free(batch);
        if (round == 0) row_make_due(ids[0]);
        if (round == 0) row_make_due(ids[1]);
    }
    expect_row(ids[0], "finished", "skipped", 1);
    expect_row(ids[1], "pending", "handling", 1);
}

static int64_t no_more_after(const tp_task *task, int32_t failures, const char *reason, void *arg) {
    assert_memory_equal(reason, "lease lapsed, held by ", 22);
    assert_non_null(task->id);
    return failures >= *(int *)arg ? -1 : 3600000;
}

static void test_crash__a_callback_is_asked_about_a_lapse_too(void **state) {
    int last = 2;
    tp_retry asks = {.size = sizeof asks, .delay = no_more_after, .arg = &last};
    tp_claim_request request = claim_request(5);
    tp_batch *batch = NULL;
    char id[ID];
    (void)state;
    task_put("x", id);
    lapse(pool.a, id);
    request.retry = &asks;
    must(tp_claim(pool.b, &request, &batch)); /* at once, whatever the delay */
    expect_row(id, "pending", "handling", 1);
    tp_batch_free(batch);
    batch = NULL;
    row_make_due(id);
    expect(TP_NONE, tp_claim(pool.b, &request, &batch));
    expect_row(id, "failed", "failed", 2);
}

static void test_crash__the_default_policy_gives_up_after_the_fourth(void **state) {
    char id[ID];
    (void)state;
    task_put("x", id);
    for (int failures = 0; failures < 4; failures++) {
        const tp_task *task;
        tp_batch *batch = claim_this(pool.a, id, &task);
        expect_number(task->failures, failures);
        tp_batch_free(batch);
        row_make_due(id);
    }
    expect_nothing(pool.a);
    expect_spent(id, 4);
}

static void test_crash__spent_tasks_do_not_stand_in_the_way_of_others(void **state) {
    tp_new_task bad = task_new("x");
    char good[ID];
    const tp_task *task;
    (void)state;
    bad.max_failures = 1;
    bad.priority = -5;
    must(tp_enqueue(pool.a, &bad));
    lapse(pool.a, bad.id);
    task_put("x", good);
    tp_batch_free(claim_this(pool.a, good, &task));
    expect_spent(bad.id, 1);
}

static void test_crash__a_failed_task_keeps_the_token_of_the_claim_that_gave_it_up(void **state) {
    tp_new_task task = task_new("x");
    const tp_task *held;
    (void)state;
    task.max_failures = 1;
    must(tp_enqueue(pool.a, &task));
    tp_batch *batch = claim_this(pool.a, task.id, &held);
    row_make_due(task.id);
    expect_nothing(pool.b);
    struct row before = row_of(task.id);
    assert_string_not_equal(before.owner, held->owner);
    expect(TP_LOST, tp_complete(pool.a, held));
    expect_same(task.id, &before);
    tp_batch_free(batch);
}

THEME(crash, true, cmocka_unit_test(test_crash__tasks_of_a_killed_process_come_back_with_one_failure_more),
      cmocka_unit_test(test_crash__an_effect_that_was_not_committed_is_not_there_twice),
      cmocka_unit_test(test_crash__the_last_allowed_failure_ends_in_the_failed_pool),
      cmocka_unit_test(test_crash__the_claims_policy_says_which_failure_is_the_last),
      cmocka_unit_test(test_crash__a_policy_may_fail_or_skip_what_lapsed),
      cmocka_unit_test(test_crash__each_handler_has_its_own_policy),
      cmocka_unit_test(test_crash__a_callback_is_asked_about_a_lapse_too),
      cmocka_unit_test(test_crash__the_default_policy_gives_up_after_the_fourth),
      cmocka_unit_test(test_crash__spent_tasks_do_not_stand_in_the_way_of_others),
      cmocka_unit_test(test_crash__a_failed_task_keeps_the_token_of_the_claim_that_gave_it_up));
