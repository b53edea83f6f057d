/* What the console remembers of tasks that were put in. */
#include "console/intake.h"
#include "support/test.h"

enum { MINUTE = 60000 };
static const int64_t begin = INT64_C(29000000) * MINUTE;

static struct intake intake;

static int set_up(void **state) {
    (void)state;
    intake = (struct intake){{0}, {0}};
    return 0;
}

#define INTAKE_TEST(name) TEST_BETWEEN(name, set_up, NULL)

INTAKE_TEST(test_intake__the_first_count_after_a_minute_is_that_minutes) {
    intake_note(&intake, begin + 2000, 7);
    intake_note(&intake, begin + 4000, 9);
    intake_note(&intake, begin + MINUTE, 5);
    assert_int_equal(intake_sum(&intake, begin - MINUTE, begin), 7);
    assert_int_equal(intake_sum(&intake, begin, begin + MINUTE), 5);
    assert_int_equal(intake_sum(&intake, begin - MINUTE, begin + MINUTE), 12);
}

INTAKE_TEST(test_intake__what_was_not_seen_is_not_known) {
    assert_int_equal(intake_sum(&intake, 0, begin), -1);
    assert_int_equal(intake_sum(&intake, begin, begin), -1);
    intake_note(&intake, 1000, 3); /* a clock that is not set */
    intake_note(&intake, begin, 0);
    assert_int_equal(intake_sum(&intake, begin - MINUTE, begin), 0);
    assert_int_equal(intake_sum(&intake, begin, begin + MINUTE), -1);
}

INTAKE_TEST(test_intake__a_week_is_kept) {
    int64_t later = begin + (int64_t)INTAKE_MINUTES * MINUTE;
    intake_note(&intake, begin, 1);
    intake_note(&intake, begin + MINUTE, 2);
    intake_note(&intake, later, 4);
    assert_int_equal(intake_sum(&intake, 0, later), 6);
    assert_int_equal(intake_sum(&intake, begin - MINUTE, begin), -1);
    assert_int_equal(intake_sum(&intake, 0, later - MINUTE), 2);
}
