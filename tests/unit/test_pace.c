/* When a worker claims next: the three ways of pace.c. */
#include "support/test.h"
#include "worker/options.h"
#include "worker/pace.h"

static struct tpi_pace pace_of(tp_pace kind, int64_t poll_ms, int64_t idle_ms) {
    struct tpi_pace pace;
    tp_worker_options o = TP_WORKER_INIT;
    o.pace = kind;
    o.poll_ms = poll_ms;
    o.idle_ms = idle_ms;
    tpi_pace_init(&pace, &o, 1000);
    return pace;
}

/* After a claim that took no time. */
static int64_t next(struct tpi_pace *pace, int64_t now, bool found, int random) {
    return tpi_pace_next(pace, now, now, found, random);
}

TEST(test_pace__a_delay_counts_from_the_end_of_the_claim) {
    struct tpi_pace pace = pace_of(TP_PACE_DELAY, 500, 500);
    assert_int_equal(next(&pace, 1700, true, 0), 2200);
    assert_int_equal(next(&pace, 9000, true, 0), 9500);
}

TEST(test_pace__a_rate_keeps_its_times_however_long_claims_take) {
    struct tpi_pace pace = pace_of(TP_PACE_RATE, 500, 500);
    assert_int_equal(next(&pace, 1100, true, 0), 1500);
    assert_int_equal(next(&pace, 1999, true, 0), 2000);
    assert_int_equal(next(&pace, 3700, true, 0), 4000); /* 2500 to 3500 are left out */
}

TEST(test_pace__pauses_double_while_nothing_comes_up_to_the_longest) {
    struct tpi_pace pace = pace_of(TP_PACE_DELAY, 100, 350);
    assert_int_equal(next(&pace, 0, false, 0), 100);
    assert_int_equal(next(&pace, 0, false, 0), 200);
    assert_int_equal(next(&pace, 0, false, 0), 350);
    assert_int_equal(next(&pace, 0, false, 0), 350);
    assert_int_equal(next(&pace, 0, true, 0), 100);
}

TEST(test_pace__is_shorter_at_random_by_a_tenth_at_most) {
    struct tpi_pace delay = pace_of(TP_PACE_DELAY, 1000, 1000), rate = pace_of(TP_PACE_RATE, 1000, 1000);
    for (int random = 0; random < 100; random++) {
        int64_t after = next(&delay, 0, true, random);
        assert_true(after > 900 && after <= 1000);
    }
    assert_int_equal(next(&rate, 1000, true, 99), 1901);
    assert_int_equal(next(&rate, 1901, true, 0), 3000); /* it does not add up */
}

enum { HOT_MS = 1, REST_MS = 500 };

static struct tpi_pace hot_pace(void) {
    struct tpi_pace pace;
    tp_worker_options o = TP_WORKER_INIT;
    o.hot_ms = HOT_MS;
    o.poll_ms = REST_MS;
    tpi_pace_init(&pace, &o, 1000);
    return pace;
}

/* Looks between from and until, each after its pause; *now ends at the first one not before until. */
static int looks(struct tpi_pace *pace, int64_t *now, int64_t until) {
    int count = 0;
    for (; *now < until; count++)
        *now = next(pace, *now, false, 0);
    return count;
}

TEST(test_pace__after_a_task_the_next_poll_comes_very_soon) {
    struct tpi_pace pace = hot_pace();
    assert_int_equal(next(&pace, 1000, false, 0), 1000 + REST_MS);
    assert_int_equal(next(&pace, 2000, true, 0), 2000 + HOT_MS);
    assert_int_equal(next(&pace, 2010, false, 0), 2010 + HOT_MS);
    tpi_pace_warm(&pace, 9000);
    assert_int_equal(next(&pace, 9000, false, 0), 9000 + HOT_MS);
}

TEST(test_pace__a_task_waits_a_sixteenth_of_the_time_since_the_last) {
    for (int64_t apart = 10; apart < 60 * 1000; apart += 7) {
        struct tpi_pace pace = hot_pace();
        int64_t now = next(&pace, 1000, true, 0), most = apart / TPI_PACE_COOLING;
        (void)looks(&pace, &now, 1000 + apart);
        assert_true(now - 1000 - apart <= (most > HOT_MS ? most : HOT_MS));
    }
}

TEST(test_pace__tasks_far_apart_cost_few_polls_and_none_costs_two_a_second) {
    struct tpi_pace pace = hot_pace();
    int64_t now = next(&pace, 1000, true, 0), cold = 1000 + TPI_PACE_COOLING * REST_MS;
    int cooling = looks(&pace, &now, cold);
    assert_in_range(cooling, 50, 150);
    assert_in_range(looks(&pace, &now, cold + 60 * 1000), 119, 121);
    struct tpi_pace fresh = hot_pace();
    now = 1000;
    assert_int_equal(looks(&fresh, &now, 1000 + 60 * 1000), 120);
}

TEST(test_pace__a_slow_database_is_asked_half_of_the_time_at_most) {
    struct tpi_pace pace = hot_pace();
    assert_int_equal(tpi_pace_next(&pace, 1000, 1040, true, 0), 1080);
    assert_int_equal(tpi_pace_next(&pace, 2000, 4000, false, 0), 4000 + REST_MS);
}

/* One who asks for many handlers and shards takes several statements to find nothing. */
TEST(test_pace__at_rest_a_poll_of_many_statements_comes_less_often) {
    for (int64_t statements = 1; statements <= 16; statements++) {
        struct tpi_pace pace = hot_pace();
        pace.statements = statements;
        assert_int_equal(next(&pace, 1000, true, 0), 1000 + HOT_MS);
        int64_t now = 1000 * 1000, count = looks(&pace, &now, 1060 * 1000);
        assert_true(count * statements <= 4 * 60);
    }
}

TEST(test_pace__a_drain_polls_ever_less_often_while_nothing_comes) {
    struct tpi_pace pace;
    tp_worker_options o = TP_WORKER_INIT;
    o.poll_ms = 3600000;
    o.drain = 1;
    tpi_pace_init(&pace, &o, 1000);
    assert_int_equal(tpi_pace_drain(&pace, 1000), TPI_DRAIN_POLL_MS);
    assert_int_equal(tpi_pace_drain(&pace, 1000 + 16 * 200), 200);
    assert_int_equal(tpi_pace_drain(&pace, 1000 + 3600000), TPI_DRAIN_REST_MS);
    tpi_pace_warm(&pace, 9000000);
    assert_int_equal(tpi_pace_drain(&pace, 9000000), TPI_DRAIN_POLL_MS);
}

static tp_worker_options filled(int64_t hot_ms, int64_t poll_ms, int64_t idle_ms, tp_pace kind) {
    tp_worker_options o = TP_WORKER_INIT, out;
    o.hot_ms = hot_ms;
    o.poll_ms = poll_ms;
    o.idle_ms = idle_ms;
    o.pace = kind;
    assert_int_equal(tpi_options_read(&o, &out), TP_OK);
    return out;
}

static void expect_pace(tp_worker_options o, int64_t hot_ms, int64_t poll_ms, int64_t idle_ms) {
    assert_int_equal(o.hot_ms, hot_ms);
    assert_int_equal(o.poll_ms, poll_ms);
    assert_int_equal(o.idle_ms, idle_ms);
}

TEST(test_options__a_pause_that_was_chosen_is_fixed_and_the_default_follows_what_comes) {
    tp_worker_options o = TP_WORKER_INIT, out;
    expect_pace(filled(0, 0, 0, TP_PACE_DELAY), 1, 500, 500);
    expect_pace(filled(0, 0, 2000, TP_PACE_DELAY), 1, 2000, 2000);
    expect_pace(filled(4, 0, 0, TP_PACE_DELAY), 4, 500, 500);
    expect_pace(filled(4, 1000, 0, TP_PACE_DELAY), 4, 1000, 1000);
    expect_pace(filled(0, 1000, 0, TP_PACE_DELAY), 0, 1000, 1000);
    expect_pace(filled(0, 1000, 8000, TP_PACE_DELAY), 0, 1000, 8000);
    expect_pace(filled(0, 0, 0, TP_PACE_RATE), 0, 500, 500);
    o.hot_ms = 1;
    o.pace = TP_PACE_RATE;
    assert_int_equal(tpi_options_read(&o, &out), TP_MISUSE);
    o.hot_ms = -1;
    o.pace = TP_PACE_DELAY;
    assert_int_equal(tpi_options_read(&o, &out), TP_MISUSE);
}
