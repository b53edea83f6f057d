/* When a worker claims next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "worker/claimer.h"

static struct tpi_pace pace_of(tp_pace kind, int64_t poll_ms, int64_t idle_ms) {
    struct tpi_pace pace;
    tp_worker_options o = TP_WORKER_INIT;
    o.pace = kind;
    o.poll_ms = poll_ms;
    o.idle_ms = idle_ms;
    tpi_pace_init(&pace, &o, 1000);
    return pace;
}

static void test_pace__a_delay_counts_from_the_end_of_the_claim(void **state) {
    (void)state;
    struct tpi_pace pace = pace_of(TP_PACE_DELAY, 500, 500);
    assert_int_equal(tpi_pace_next(&pace, 1700, true, 0), 2200);
    assert_int_equal(tpi_pace_next(&pace, 9000, true, 0), 9500);
}

static void test_pace__a_rate_keeps_its_times_however_long_claims_take(void **state) {
    (void)state;
    struct tpi_pace pace = pace_of(TP_PACE_RATE, 500, 500);
    assert_int_equal(tpi_pace_next(&pace, 1100, true, 0), 1500);
    assert_int_equal(tpi_pace_next(&pace, 1999, true, 0), 2000);
    assert_int_equal(tpi_pace_next(&pace, 3700, true, 0), 4000); /* 2500 to 3500 are left out */
}

static void test_pace__pauses_double_while_nothing_comes_up_to_the_longest(void **state) {
    (void)state;
    struct tpi_pace pace = pace_of(TP_PACE_DELAY, 100, 350);
    assert_int_equal(tpi_pace_next(&pace, 0, false, 0), 100);
    assert_int_equal(tpi_pace_next(&pace, 0, false, 0), 200);
    assert_int_equal(tpi_pace_next(&pace, 0, false, 0), 350);
    assert_int_equal(tpi_pace_next(&pace, 0, false, 0), 350);
    assert_int_equal(tpi_pace_next(&pace, 0, true, 0), 100);
}

static void test_pace__is_shorter_at_random_by_a_tenth_at_most(void **state) {
    (void)state;
    struct tpi_pace delay = pace_of(TP_PACE_DELAY, 1000, 1000), rate = pace_of(TP_PACE_RATE, 1000, 1000);
    for (int random = 0; random < 100; random++) {
        int64_t after = tpi_pace_next(&delay, 0, true, random);
        assert_true(after > 900 && after <= 1000);
    }
    assert_int_equal(tpi_pace_next(&rate, 1000, true, 99), 1901);
    assert_int_equal(tpi_pace_next(&rate, 1901, true, 0), 3000); /* it does not add up */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pace__a_delay_counts_from_the_end_of_the_claim),
        cmocka_unit_test(test_pace__a_rate_keeps_its_times_however_long_claims_take),
        cmocka_unit_test(test_pace__pauses_double_while_nothing_comes_up_to_the_longest),
        cmocka_unit_test(test_pace__is_shorter_at_random_by_a_tenth_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
