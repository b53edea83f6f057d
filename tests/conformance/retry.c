/* The retry ladder and the last failure. */
#include "suite.h"

THEME(retry, A_PLAN);

#define RETRY(delays)                                                                                        \
    { .size = sizeof(tp_retry), .delays_ms = delays, .count = sizeof(delays) / sizeof(delays)[0] }

/* Fails the task, due again after delay_ms, a minute at least; makes it due. */
static void fail_and_wait(const char *id, const tp_retry *retry, int failures, int64_t delay_ms) {
    const tp_task *task = claim_this(pool.a, id);
    expect_number(task->failures, failures - 1);
    must(tp_fail(pool.a, task, "again", retry));
    struct row row = row_of(id);
    expect_row(id, "pending", "failed", failures);
    int64_t delay = row.due_at - row.modified_at;
    if (delay < delay_ms - 50 || delay > delay_ms + 50) expect_number(delay, delay_ms);
    expect_nothing(pool.b);
    row_make_due(id);
}

static void fail_for_good(const char *id, const tp_retry *retry, int failures) {
    const tp_task *task = claim_this(pool.a, id);
    expect(TP_EXHAUSTED, tp_fail(pool.a, task, "the last", retry));
    expect_row(id, "failed", "failed", failures);
    assert_string_equal(row_of(id).reason, "the last");
    expect_nothing(pool.b);
}

TEST(test_retry__the_default_ladder_is_one_five_twenty_minutes) {
    const char *id = put_one();
    fail_and_wait(id, NULL, 1, 60000);
    fail_and_wait(id, NULL, 2, 300000);
    fail_and_wait(id, NULL, 3, 1200000);
    fail_for_good(id, NULL, 4);
}

TEST(test_retry__a_ladder_of_ones_own) {
    static const int64_t delays[] = {90000, 86400000};
    static const tp_retry ladder = RETRY(delays);
    const char *id = put_one();
    fail_and_wait(id, &ladder, 1, 90000);
    fail_and_wait(id, &ladder, 2, 86400000);
    fail_for_good(id, &ladder, 3);
}

TEST(test_retry__an_empty_ladder_gives_up_at_once) {
    const char *id = put_one();
    fail_for_good(id, &never, 1);
}

TEST(test_retry__the_task_itself_may_allow_fewer_failures) {
    tp_new_task task = enqueue(pool.a, .max_failures = 2);
    fail_and_wait(task.id, NULL, 1, 60000);
    fail_for_good(task.id, NULL, 2);
}

TEST(test_retry__or_more_and_then_the_last_delay_is_repeated) {
    static const int64_t delays[] = {60000, 120000};
    static const tp_retry ladder = RETRY(delays);
    tp_new_task task = enqueue(pool.a, .max_failures = 5);
    fail_and_wait(task.id, &ladder, 1, 60000);
    fail_and_wait(task.id, &ladder, 2, 120000);
    fail_and_wait(task.id, &ladder, 3, 120000);
    fail_and_wait(task.id, &ladder, 4, 120000);
    fail_for_good(task.id, &ladder, 5);
}

TEST(test_retry__a_crash_and_a_failure_count_alike) {
    tp_new_task new_task = enqueue(pool.a, .max_failures = 3);
    fail_and_wait(new_task.id, NULL, 1, 60000);
    claim_this(pool.a, new_task.id);
    row_make_due(new_task.id); /* a lapsed lease: the second */
    fail_for_good(new_task.id, NULL, 3);
}

TEST(test_retry__a_release_does_not_forget_the_failures) {
    const char *id = put_one();
    fail_and_wait(id, NULL, 1, 60000);
    const tp_task *task = claim_this(pool.a, id);
    must(tp_release(pool.a, task, 0));
    expect_row(id, "pending", "pending", 1);
    row_make_due(id);
    fail_and_wait(id, NULL, 2, 300000);
}

TEST(test_retry__a_task_that_failed_before_can_be_done) {
    const char *id = put_one();
    fail_and_wait(id, NULL, 1, 60000);
    const tp_task *task = claim_this(pool.a, id);
    assert_string_equal(task->reason, "again");
    must(tp_complete(pool.a, task));
    expect_row(id, "finished", "done", 1);
}

TEST(test_retry__exponential_delays_grow_to_their_cap) {
    static const tp_retry growing = {
        .size = sizeof growing, .first_ms = 60000, .last_ms = 300000, .factor = 3, .count = 3};
    const char *id = put_one();
    fail_and_wait(id, &growing, 1, 60000);
    fail_and_wait(id, &growing, 2, 180000);
    fail_and_wait(id, &growing, 3, 300000);
    fail_for_good(id, &growing, 4);
}

TEST(test_retry__jitter_moves_a_delay_within_its_percents) {
    static const int64_t hour[] = {3600000};
    static const tp_retry jittered = {.size = sizeof jittered, .delays_ms = hour, .count = 1, .jitter = 50};
    int64_t first = 0;
    bool differ = false;
    for (int i = 0; i < 5; i++) {
        const tp_task *task = put_and_claim(pool.a);
        must(tp_fail(pool.a, task, "again", &jittered));
        struct row row = row_of(task->id);
        int64_t delay = row.due_at - row.modified_at;
        assert_in_range(delay, 1799000, 5401000);
        differ = differ || (first && delay != first);
        first = delay;
    }
    assert_true(differ);
}

/* The answer counts the failure, so that 0 is not the same as no answer. */
static int64_t say(const tp_task *task, int32_t failures, const char *reason, void *arg) {
    assert_string_equal(reason, failures < 3 ? "again" : "the last");
    expect_number(task->failures, failures - 1);
    return failures < 3 ? failures * *(int64_t *)arg : -1;
}

TEST(test_retry__a_callback_decides_on_delay_and_end) {
    int64_t unit = 70000;
    tp_retry own = {.size = sizeof own, .delay = say, .arg = &unit};
    const char *id = put_one();
    fail_and_wait(id, &own, 1, 70000);
    fail_and_wait(id, &own, 2, 140000);
    fail_for_good(id, &own, 3);
}

TEST(test_retry__a_policy_that_is_none_is_refused_and_changes_nothing) {
    static const tp_retry bad = {.size = sizeof bad, .first_ms = 5, .count = 1, .jitter = 101};
    const tp_task *task = put_and_claim(pool.a);
    struct row before = row_of(task->id);
    expect(TP_MISUSE, tp_fail(pool.a, task, "x", &bad));
    expect_text("jitter is 0 to 100");
    expect_same(task->id, &before);
}
