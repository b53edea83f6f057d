/* Retry policies: which failure is the last, how long to wait before it, and what is no policy at all. */
#include "core/retry.h"
#include "support/test.h"

static const int64_t seconds[] = {1000, 10000, 60000};
static const tp_retry three = {.size = sizeof three, .delays_ms = seconds, .count = 3};
static const tp_retry none = {.size = sizeof none, .delays_ms = NULL, .count = 0};

static struct tpi_retry_say ask(const tp_retry *policy, int32_t task_max, int32_t failures, uint32_t random) {
    tp_task task = {.max_failures = task_max};
    return tpi_retry_ask(policy, &task, failures, "why", random);
}

static int64_t delay(const tp_retry *policy, int32_t failures) {
    struct tpi_retry_say say = ask(policy, INT32_MAX, failures, 0);
    assert_false(say.last);
    return say.delay_ms;
}

TEST(test_retry__the_default_ladder_is_1_5_and_20_minutes) {
    for (int32_t task_max = 0; task_max <= 100; task_max += 100) {
        assert_int_equal(ask(NULL, task_max, 1, 7).delay_ms, 60000);
        assert_int_equal(ask(NULL, task_max, 2, 7).delay_ms, 300000);
        assert_int_equal(ask(NULL, task_max, 3, 7).delay_ms, 1200000);
    }
    assert_false(ask(NULL, 0, 3, 7).last);
    assert_true(ask(NULL, 0, 4, 7).last);
    assert_int_equal(tpi_retry_max(NULL, 0), 4);
}

TEST(test_retry__each_failure_waits_for_its_own_rung) {
    for (int32_t i = 0; i < 3; i++)
        assert_int_equal(ask(&three, 0, i + 1, 0).delay_ms, seconds[i]);
}

TEST(test_retry__the_failure_behind_the_last_rung_is_the_last) {
    for (int32_t count = 0; count <= 3; count++) {
        tp_retry policy = {.size = sizeof policy, .delays_ms = seconds, .count = (size_t)count};
        assert_int_equal(tpi_retry_max(&policy, 0), count + 1);
        for (int32_t failures = 1; failures < 9; failures++)
            assert_int_equal(ask(&policy, 0, failures, 0).last, failures > count);
    }
}

TEST(test_retry__an_empty_ladder_means_no_retry) {
    assert_int_equal(tpi_retry_max(&none, 0), 1);
    assert_true(ask(&none, 0, 1, 0).last);
    assert_int_equal(delay(&none, 7), 0); /* a task that allows itself more is due at once */
}

TEST(test_retry__the_task_s_own_limit_overrides_every_policy) {
    static const tp_retry growing = {.size = sizeof growing, .first_ms = 10, .count = 5};
    static const tp_retry *const policies[] = {NULL, &three, &none, &growing};
    for (size_t p = 0; p < COUNT(policies); p++)
        for (int32_t task_max = 1; task_max < 12; task_max++) {
            assert_int_equal(tpi_retry_max(policies[p], task_max), task_max);
            for (int32_t failures = 1; failures < 14; failures++)
                assert_int_equal(ask(policies[p], task_max, failures, 0).last, failures >= task_max);
        }
    assert_int_equal(tpi_retry_max(NULL, INT32_MAX), INT32_MAX);
}

TEST(test_retry__a_limit_of_0_or_less_is_no_limit_of_the_task) {
    assert_int_equal(tpi_retry_max(&three, 0), 4);
    assert_int_equal(tpi_retry_max(&three, -1), 4);
    assert_int_equal(tpi_retry_max(&three, INT32_MIN), 4);
}

TEST(test_retry__beyond_the_ladder_the_last_rung_goes_on) {
    assert_int_equal(delay(&three, 4), 60000);
    assert_int_equal(delay(&three, INT32_MAX - 1), 60000);
    assert_int_equal(delay(NULL, 50), 1200000);
}

TEST(test_retry__a_failure_count_below_1_reads_the_first_rung) {
    assert_int_equal(delay(&three, 0), 1000);
    assert_int_equal(delay(&three, -5), 1000);
    assert_int_equal(delay(&three, INT32_MIN), 1000);
}

TEST(test_retry__a_count_longer_than_failures_can_be_does_not_overflow) {
    static const size_t counts[] = {SIZE_MAX, (size_t)INT32_MAX + 1, INT32_MAX, INT32_MAX - 1};
    for (size_t i = 0; i < COUNT(counts); i++) {
        tp_retry policy = {.size = sizeof policy, .first_ms = 1, .count = counts[i]};
        assert_int_equal(tpi_retry_max(&policy, 0), INT32_MAX);
        assert_true(ask(&policy, 0, INT32_MAX, 0).last);
        assert_false(ask(&policy, 0, INT32_MAX - 1, 0).last);
    }
}

TEST(test_retry__delays_double_unless_told_otherwise) {
    tp_retry policy = {.size = sizeof policy, .first_ms = 100, .count = 5};
    int64_t doubled = 100, tripled = 100;
    for (int32_t k = 1; k <= 20; k++, doubled *= 2, tripled *= 3) {
        policy.factor = 0;
        assert_int_equal(delay(&policy, k), doubled);
        policy.factor = 2;
        assert_int_equal(delay(&policy, k), doubled);
        policy.factor = 3;
        assert_int_equal(delay(&policy, k), tripled);
        policy.factor = 1;
        assert_int_equal(delay(&policy, k), 100);
    }
    for (int32_t k = 1; k < 9; k++)
        assert_int_equal(ask(&policy, 0, k, 0).last, k > 5);
}

TEST(test_retry__they_stop_growing_at_the_cap) {
    tp_retry policy = {.size = sizeof policy, .first_ms = 100, .last_ms = 750, .count = 5};
    static const int64_t expected[] = {100, 200, 400, 750, 750, 750};
    for (int32_t k = 1; k <= 6; k++)
        assert_int_equal(delay(&policy, k), expected[k - 1]);
    policy.last_ms = 800;
    assert_int_equal(delay(&policy, 4), 800);
    policy.last_ms = 100;
    assert_int_equal(delay(&policy, 2), 100);
}

TEST(test_retry__they_never_overflow) {
    static const int64_t firsts[] = {1, 3, 1000, TP_DURATION_MAX / 2, TP_DURATION_MAX - 1, TP_DURATION_MAX};
    static const int32_t factors[] = {0, 1, 2, 3, 10, 65536, INT32_MAX};
    static const int32_t failures[] = {1, 2, 3, 40, 41, 42, 62, 63, 64, 65, 1000, INT32_MAX - 1};
    for (size_t i = 0; i < COUNT(firsts); i++)
        for (size_t f = 0; f < COUNT(factors); f++) {
            tp_retry policy = {
                .size = sizeof policy, .first_ms = firsts[i], .factor = factors[f], .count = 1};
            int64_t before = 0;
            for (size_t k = 0; k < COUNT(failures); k++) {
                int64_t now = delay(&policy, failures[k]);
                assert_true(now >= before && now >= firsts[i] && now <= TP_DURATION_MAX);
                before = now;
            }
        }
}

TEST(test_retry__jitter_stays_within_its_percents_and_reaches_both_ends) {
    static const int64_t delays[] = {0, 1, 2, 99, 100, 101, 1000, 60000, 5000000000, TP_DURATION_MAX};
    for (size_t i = 0; i < COUNT(delays); i++)
        for (int32_t jitter = 0; jitter <= 100; jitter += 5) {
            tp_retry policy = {.size = sizeof policy, .delays_ms = &delays[i], .count = 1, .jitter = jitter};
            int64_t span = delays[i] / 100 * jitter + delays[i] % 100 * jitter / 100;
            int64_t most = delays[i] + span < TP_DURATION_MAX ? delays[i] + span : TP_DURATION_MAX;
            int64_t low = ask(&policy, 0, 1, 0).delay_ms, high = ask(&policy, 0, 1, UINT32_MAX).delay_ms;
            assert_int_equal(low, delays[i] - span);
            /* 2^32 steps do not reach each millisecond of a century */
            assert_true(high <= most && high >= most - (span >> 31));
            for (uint64_t random = 0; random <= UINT32_MAX; random += 0x1234567) {
                int64_t some = ask(&policy, 0, 1, (uint32_t)random).delay_ms;
                assert_true(some >= low && some <= high);
            }
        }
}

TEST(test_retry__jitter_is_even) {
    static const int64_t one[] = {1000};
    static const tp_retry policy = {.size = sizeof policy, .delays_ms = one, .count = 1, .jitter = 50};
    int below = 0, all = 0;
    for (uint64_t random = 0; random <= UINT32_MAX; random += 65537, all++)
        below += ask(&policy, 0, 1, (uint32_t)random).delay_ms < 1000;
    assert_in_range(below, all * 49 / 100, all * 51 / 100);
}

TEST(test_retry__only_jitter_asks_for_chance) {
    tp_retry policy = three;
    assert_false(tpi_retry_jitters(NULL));
    assert_false(tpi_retry_jitters(&policy));
    for (uint32_t random = 1; random; random <<= 1)
        assert_int_equal(ask(&policy, 0, 2, random).delay_ms, 10000);
    policy.jitter = 1;
    assert_true(tpi_retry_jitters(&policy));
}

struct asked {
    const tp_task *task;
    int32_t failures;
    const char *reason;
    int64_t answer;
    int times;
};

DELAY(answer) {
    struct asked *asked = arg;
    *asked = (struct asked){task, failures, reason, asked->answer, asked->times + 1};
    return asked->answer;
}

TEST(test_retry__a_callback_hears_what_failed_and_decides) {
    struct asked asked = {.answer = 1234};
    tp_retry policy = {.size = sizeof policy, .delay = answer, .arg = &asked};
    tp_task task = {.id = "x", .failures = 6};
    struct tpi_retry_say say = tpi_retry_ask(&policy, &task, 7, "no money", 99);
    assert_false(say.last);
    assert_int_equal(say.delay_ms, 1234);
    assert_ptr_equal(asked.task, &task);
    assert_int_equal(asked.failures, 7);
    assert_string_equal(asked.reason, "no money");
    asked.answer = -1;
    assert_true(tpi_retry_ask(&policy, &task, 1, "no money", 99).last);
    asked.answer = INT64_MIN;
    assert_true(tpi_retry_ask(&policy, &task, 1, "no money", 99).last);
    asked.answer = INT64_MAX;
    assert_int_equal(tpi_retry_ask(&policy, &task, 1, "no money", 99).delay_ms, TP_DURATION_MAX);
    asked.answer = 0;
    say = tpi_retry_ask(&policy, &task, 1, "no money", 99);
    assert_true(!say.last && say.delay_ms == 0);
}

TEST(test_retry__a_callback_is_not_asked_beyond_the_task_s_own_limit) {
    struct asked asked = {.answer = 5};
    tp_retry policy = {.size = sizeof policy, .delay = answer, .arg = &asked};
    assert_int_equal(tpi_retry_max(&policy, 0), INT32_MAX);
    assert_int_equal(tpi_retry_max(&policy, 3), 3);
    assert_false(ask(&policy, 3, 2, 0).last);
    assert_int_equal(asked.times, 1);
    assert_true(ask(&policy, 3, 3, 0).last);
    assert_int_equal(asked.times, 1);
}

static void expect_fault(tp_retry policy, const char *words) {
    policy.size = sizeof policy;
    const char *fault = tpi_retry_fault(&policy);
    if (!fault) fail_msg("taken, though it should be refused for: %s", words);
    if (!strstr(fault, words)) fail_msg("refused for '%s', not for '%s'", fault, words);
}

TEST(test_retry__what_is_no_policy_is_refused_with_its_reason) {
    static const int64_t negative[] = {5, -1}, endless[] = {TP_DURATION_MAX + 1};
    static const int64_t one[] = {1};
    expect_fault((tp_retry){.count = 1}, "delays_ms must be given");
    expect_fault((tp_retry){.delays_ms = negative, .count = 2}, "negative");
    expect_fault((tp_retry){.delays_ms = endless, .count = 1}, "100 years");
    expect_fault((tp_retry){.last_ms = 5}, "first_ms only");
    expect_fault((tp_retry){.delays_ms = one, .count = 1, .factor = 2}, "first_ms only");
    expect_fault((tp_retry){.first_ms = 5, .delays_ms = one, .count = 1}, "not both");
    expect_fault((tp_retry){.first_ms = 5}, "how many retries");
    expect_fault((tp_retry){.first_ms = -5, .count = 1}, "first_ms is negative");
    expect_fault((tp_retry){.first_ms = TP_DURATION_MAX + 1, .count = 1}, "first_ms is negative or longer");
    expect_fault((tp_retry){.first_ms = 5, .last_ms = -1, .count = 1}, "last_ms is negative");
    expect_fault((tp_retry){.first_ms = 5, .last_ms = 4, .count = 1}, "less than first_ms");
    expect_fault((tp_retry){.first_ms = 5, .factor = -1, .count = 1}, "factor is negative");
    expect_fault((tp_retry){.delays_ms = one, .count = 1, .jitter = 101}, "0 to 100");
    expect_fault((tp_retry){.jitter = -1}, "0 to 100");
    expect_fault((tp_retry){.delay = answer, .count = 1}, "a policy with delay");
    expect_fault((tp_retry){.delay = answer, .first_ms = 1}, "a policy with delay");
    expect_fault((tp_retry){.delay = answer, .jitter = 1}, "no jitter");
    expect_fault((tp_retry){.on_lapse = (tp_lapse)3}, "TP_LAPSE_SKIP");
    tp_retry shorter = TP_RETRY_INIT;
    shorter.size--;
    assert_non_null(strstr(tpi_retry_fault(&shorter), "TP_RETRY_INIT"));
}

TEST(test_retry__what_is_one_is_taken) {
    static const tp_retry start = TP_RETRY_INIT;
    static const tp_retry good[] = {
        {.first_ms = 1, .count = 1},
        {.first_ms = 1, .last_ms = 1, .factor = INT32_MAX, .count = SIZE_MAX, .jitter = 100},
        {.first_ms = TP_DURATION_MAX, .last_ms = TP_DURATION_MAX, .count = 3},
        {.delays_ms = seconds, .count = 3, .jitter = 1, .on_lapse = TP_LAPSE_SKIP},
        {.delays_ms = seconds},
        {.delay = answer, .on_lapse = TP_LAPSE_FAIL}};
    assert_null(tpi_retry_fault(NULL));
    assert_null(tpi_retry_fault(&start));
    for (size_t i = 0; i < COUNT(good); i++) {
        tp_retry policy = good[i];
        policy.size = sizeof policy;
        if (tpi_retry_fault(&policy)) fail_msg("policy %zu: %s", i, tpi_retry_fault(&policy));
    }
}
