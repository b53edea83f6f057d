/* The retry ladder: which failure is the last, and how long to wait before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/retry.h"

static const int64_t seconds[] = {1000, 10000, 60000};
static const tp_retry three = {.size = sizeof three, .delays_ms = seconds, .count = 3};
static const tp_retry none = {.size = sizeof none, .delays_ms = NULL, .count = 0};

static void test_retry__the_default_ladder_is_1_5_and_20_minutes(void **state) {
    (void)state;
    assert_int_equal(tpi_retry_delay(NULL, 1), 60000);
    assert_int_equal(tpi_retry_delay(NULL, 2), 300000);
    assert_int_equal(tpi_retry_delay(NULL, 3), 1200000);
    assert_int_equal(tpi_retry_max(NULL, 0), 4);
}

static void test_retry__each_failure_waits_for_its_own_rung(void **state) {
    (void)state;
    for (int32_t i = 0; i < 3; i++)
        assert_int_equal(tpi_retry_delay(&three, i + 1), seconds[i]);
}

static void test_retry__the_failure_behind_the_last_rung_is_the_last(void **state) {
    (void)state;
    assert_int_equal(tpi_retry_max(&three, 0), 4);
    assert_int_equal(tpi_retry_max(&(tp_retry){.size = sizeof three, .delays_ms = seconds, .count = 1}, 0),
                     2);
}

static void test_retry__an_empty_ladder_means_no_retry(void **state) {
    (void)state;
    assert_int_equal(tpi_retry_max(&none, 0), 1);
    assert_int_equal(tpi_retry_delay(&none, 1), 0);
    assert_int_equal(tpi_retry_delay(&none, 7), 0);
}

static void test_retry__the_task_s_own_limit_overrides_the_ladder(void **state) {
    (void)state;
    assert_int_equal(tpi_retry_max(&three, 1), 1);
    assert_int_equal(tpi_retry_max(&three, 9), 9);
    assert_int_equal(tpi_retry_max(&none, 3), 3);
    assert_int_equal(tpi_retry_max(NULL, INT32_MAX), INT32_MAX);
}

static void test_retry__a_limit_of_0_or_less_is_no_limit_of_the_task(void **state) {
    (void)state;
    assert_int_equal(tpi_retry_max(&three, 0), 4);
    assert_int_equal(tpi_retry_max(&three, -1), 4);
    assert_int_equal(tpi_retry_max(&three, INT32_MIN), 4);
}

static void test_retry__beyond_the_ladder_the_last_rung_goes_on(void **state) {
    (void)state;
    assert_int_equal(tpi_retry_delay(&three, 4), 60000);
    assert_int_equal(tpi_retry_delay(&three, INT32_MAX), 60000);
    assert_int_equal(tpi_retry_delay(NULL, 50), 1200000);
}

static void test_retry__a_failure_count_below_1_reads_the_first_rung(void **state) {
    (void)state;
    assert_int_equal(tpi_retry_delay(&three, 0), 1000);
    assert_int_equal(tpi_retry_delay(&three, -5), 1000);
    assert_int_equal(tpi_retry_delay(&three, INT32_MIN), 1000);
}

static void test_retry__a_ladder_longer_than_a_count_can_be_does_not_overflow(void **state) {
    (void)state;
    assert_int_equal(
        tpi_retry_max(&(tp_retry){.size = sizeof three, .delays_ms = seconds, .count = SIZE_MAX}, 0),
        INT32_MAX);
    assert_int_equal(
        tpi_retry_max(&(tp_retry){.size = sizeof three, .delays_ms = seconds, .count = INT32_MAX}, 0),
        INT32_MAX);
    assert_int_equal(
        tpi_retry_max(&(tp_retry){.size = sizeof three, .delays_ms = seconds, .count = INT32_MAX - 1}, 0),
        INT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retry__the_default_ladder_is_1_5_and_20_minutes),
        cmocka_unit_test(test_retry__each_failure_waits_for_its_own_rung),
        cmocka_unit_test(test_retry__the_failure_behind_the_last_rung_is_the_last),
        cmocka_unit_test(test_retry__an_empty_ladder_means_no_retry),
        cmocka_unit_test(test_retry__the_task_s_own_limit_overrides_the_ladder),
        cmocka_unit_test(test_retry__a_limit_of_0_or_less_is_no_limit_of_the_task),
        cmocka_unit_test(test_retry__beyond_the_ladder_the_last_rung_goes_on),
        cmocka_unit_test(test_retry__a_failure_count_below_1_reads_the_first_rung),
        cmocka_unit_test(test_retry__a_ladder_longer_than_a_count_can_be_does_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
