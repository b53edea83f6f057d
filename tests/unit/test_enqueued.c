/* What the console remembers of tasks that were put in. */
#include "console/enqueued.h"
#include "support/test.h"

enum { MINUTE = 60000 };
static const int64_t begin = INT64_C(29000000) * MINUTE;

static struct enqueued enqueued;

static int set_up(void **state) {
    (void)state;
    enqueued = (struct enqueued){{0}, {0}};
    return 0;
}

#define ENQUEUED_TEST(name) TEST_BETWEEN(name, set_up, NULL)

ENQUEUED_TEST(test_enqueued__the_first_count_after_a_minute_is_that_minutes) {
    enqueued_note(&enqueued, begin + 2000, 7);
    enqueued_note(&enqueued, begin + 4000, 9);
    enqueued_note(&enqueued, begin + MINUTE, 5);
    assert_int_equal(enqueued_sum(&enqueued, begin - MINUTE, begin), 7);
    assert_int_equal(enqueued_sum(&enqueued, begin, begin + MINUTE), 5);
    assert_int_equal(enqueued_sum(&enqueued, begin, begin + 1), 5); /* the minute that has just begun */
    assert_int_equal(enqueued_sum(&enqueued, begin - MINUTE, begin + MINUTE), 12);
}

ENQUEUED_TEST(test_enqueued__what_was_not_seen_is_not_known) {
    assert_int_equal(enqueued_sum(&enqueued, 0, begin), -1);
    assert_int_equal(enqueued_sum(&enqueued, 0, MINUTE), -1); /* an empty place is not the minute 0 */
    assert_int_equal(enqueued_sum(&enqueued, begin, begin), -1);
    enqueued_note(&enqueued, 1000, 3); /* a clock that is not set */
    enqueued_note(&enqueued, begin, 0);
    assert_int_equal(enqueued_sum(&enqueued, begin - MINUTE, begin), 0);
    assert_int_equal(enqueued_sum(&enqueued, begin, begin + MINUTE), -1);
}

ENQUEUED_TEST(test_enqueued__a_week_is_kept) {
    int64_t later = begin + (int64_t)ENQUEUED_MINUTES * MINUTE;
    enqueued_note(&enqueued, begin, 1);
    enqueued_note(&enqueued, begin + MINUTE, 2);
    enqueued_note(&enqueued, later, 4);
    assert_int_equal(enqueued_sum(&enqueued, 0, later), 6);
    assert_int_equal(enqueued_sum(&enqueued, begin - MINUTE, begin), -1);
    assert_int_equal(enqueued_sum(&enqueued, 0, later - MINUTE), 2);
}
