/* Leases that lapse, of processes that are killed or because the test lets time pass: the task comes back
 * with one failure more, and the retry policy decides whether it is handled again, fails or is skipped. What
 * the processes do: roles.c. */
#include "suite.h"

THEME(crash, EACH_PLAN);

enum { CLAIM_TRIES = 15000 };
#define LEASE "60000"

static void lapse(void) {
    must(tp_test_advance(pool.eye, 62000)); /* clocks of sessions differ by a second */
}

/* Claims until there is something: the database may not have noticed yet that the process is dead. */
static tp_batch *claim_when_free(tp_conn *conn, const tp_retry *retry) {
    static const struct timespec pause = {.tv_nsec = 20 * 1000000};
    for (int i = 0; i < CLAIM_TRIES; i++) {
        tp_batch *batch = NULL;
        tp_claim_request request = request_with(.limit = 10, .retry = retry);
        tp_status status = claim_into(conn, &request, &batch);
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

TEST(test_crash__tasks_of_a_killed_process_come_back_with_one_failure_more) {
    char put[3][ID], held[3][ID];
    size_t back = 0;
    task_put_many(3, put);
    kill_holder("hold", 3, held);
    expect_nothing(pool.a); /* not a moment too soon */
    lapse();
    while (back < 3) {
        tp_batch *batch = claim_when_free(pool.a, NULL);
        for (size_t i = 0; i < tp_batch_count(batch); i++, back++) {
            const tp_task *task = tp_batch_task(batch, i);
            expect_number(task->failures, 1);
            assert_memory_equal(task->reason, "lease lapsed, held by ", 22);
            expect_row(task->id, "pending", "handling", 1);
            assert_string_equal(row_of(task->id).reason, task->reason);
        }
    }
}

TEST(test_crash__an_effect_that_was_not_committed_is_not_there_twice) {
    char held[1][ID];
    const char *id = put_one();
    kill_holder("pay", 1, held);
    assert_string_equal(held[0], id);
    lapse();
    tp_batch *batch = claim_when_free(pool.a, NULL);
    expect_number(effects_of(id), 0);
    expect_row(id, "pending", "handling", 1);
    must(tp_begin(pool.a));
    effect(pool.a, id);
    must(tp_complete(pool.a, tp_batch_task(batch, 0)));
    must(tp_commit(pool.a));
    expect_number(effects_of(id), 1);
    expect_row(id, "finished", "done", 1);
}

static void expect_spent(const char *id, int failures) {
    expect_row(id, "failed", "failed", failures);
    assert_memory_equal(row_of(id).reason, "lease lapsed, held by ", 22);
    expect_nothing(pool.a);
}

TEST(test_crash__the_last_allowed_failure_ends_in_the_failed_pool) {
    tp_new_task task = enqueue(pool.a, .max_failures = 1);
    claim_and_lapse(pool.a, task.id);
    expect_nothing(pool.b);
    expect_spent(task.id, 1);
}

TEST(test_crash__the_claims_policy_says_which_failure_is_the_last) {
    static const int64_t delays[] = {1000};
    static const tp_retry once = {.size = sizeof once, .delays_ms = delays, .count = 1};
    tp_batch *batch = NULL;
    const char *one = put_one();
    claim_and_lapse(pool.a, one);
    tp_claim_request request = request_with(.limit = 5, .retry = &never);
    expect(TP_NONE, claim_into(pool.b, &request, &batch));
    expect_spent(one, 1);
    const char *two = put_one();
    claim_and_lapse(pool.a, two);
    request.retry = &once;
    batch = claim_by(pool.b, &request);
    expect_row(two, "pending", "handling", 1);
    row_make_due(two);
    expect(TP_NONE, claim_into(pool.b, &request, &batch));
    expect_spent(two, 2);
}

TEST(test_crash__a_policy_may_fail_or_skip_what_lapsed) {
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
    for (size_t i = 0; i < 2; i++) {
        char waits[ID];
        const char *lapsed = put_one();
        claim_and_lapse(pool.a, lapsed);
        task_put("x", waits); /* what did not lapse is handled */
        tp_batch *batch = claim_with(pool.b, .limit = 5, .retry = cases[i].policy);
        expect_count(batch, 1);
        assert_string_equal(tp_batch_task(batch, 0)->id, waits);
        expect_row(lapsed, cases[i].pool, cases[i].state, 1);
        assert_memory_equal(row_of(lapsed).reason, "lease lapsed, held by ", 22);
        must(tp_complete(pool.b, tp_batch_task(batch, 0)));
    }
}

/* One handler's crashes are final, the other's are not. */
TEST(test_crash__each_handler_has_its_own_policy) {
    static const tp_retry skips = {
        .size = sizeof skips, .count = 5, .first_ms = 1000, .on_lapse = TP_LAPSE_SKIP};
    char name[TP_HANDLER_MAX], ids[2][ID];
    const char *handlers[] = {name, pool.handler};
    const tp_retry *retries[] = {&skips, NULL};
    tp_batch *batch = NULL;
    snprintf(name, sizeof name, "%s.skips", pool.handler);
    for (int i = 0; i < 2; i++) {
        tp_new_task task = enqueue(pool.eye, .handler = handlers[i]);
        memcpy(ids[i], task.id, ID);
    }
    for (int round = 0; round < 2; round++) {
        batch = claim_with(pool.b, .limit = 5, .handlers = handlers, .handler_count = 2, .retries = retries);
        expect_count(batch, 2 - round);
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

TEST(test_crash__a_callback_is_asked_about_a_lapse_too) {
    int last = 2;
    tp_retry asks = {.size = sizeof asks, .delay = no_more_after, .arg = &last};
    const char *id = put_one();
    claim_and_lapse(pool.a, id);
    tp_claim_request request = request_with(.limit = 5, .retry = &asks);
    must(try_claim(pool.b, &request)); /* at once, whatever the delay */
    expect_row(id, "pending", "handling", 1);
    row_make_due(id);
    expect(TP_NONE, try_claim(pool.b, &request));
    expect_row(id, "failed", "failed", 2);
}

TEST(test_crash__the_default_policy_gives_up_after_the_fourth) {
    const char *id = put_one();
    for (int failures = 0; failures < 4; failures++) {
        const tp_task *task = claim_this(pool.a, id);
        expect_number(task->failures, failures);
        row_make_due(id);
    }
    expect_nothing(pool.a);
    expect_spent(id, 4);
}

TEST(test_crash__spent_tasks_do_not_stand_in_the_way_of_others) {
    tp_new_task bad = enqueue(pool.a, .max_failures = 1, .priority = -5);
    claim_and_lapse(pool.a, bad.id);
    const char *good = put_one();
    claim_this(pool.a, good);
    expect_spent(bad.id, 1);
}

TEST(test_crash__a_failed_task_keeps_the_token_of_the_claim_that_gave_it_up) {
    tp_new_task task = enqueue(pool.a, .max_failures = 1);
    const tp_task *held = claim_this(pool.a, task.id);
    row_make_due(task.id);
    expect_nothing(pool.b);
    struct row before = row_of(task.id);
    assert_string_not_equal(before.owner, held->owner);
    expect(TP_LOST, tp_complete(pool.a, held));
    expect_same(task.id, &before);
}
