/* Which word a mistyped one may have meant. */
#include "common/nearest.h"
#include "support/test.h"

TEST(test_nearest__counts_letters_and_swaps) {
    assert_int_equal(nearest_distance("list", "list"), 0);
    assert_int_equal(nearest_distance("lsit", "list"), 1);
    assert_int_equal(nearest_distance("lst", "list"), 1);
    assert_int_equal(nearest_distance("", "list"), 4);
    assert_int_equal(nearest_distance("handlr", "handler"), 1);
    assert_int_equal(nearest_distance("kitten", "sitting"), 3);
}

TEST(test_nearest__takes_what_is_near_enough) {
    struct nearest near = {.word = "retension"}, far = {.word = "frobnicate"};

    nearest_try(&near, "retry");
    nearest_try(&near, "retention");
    nearest_try(&far, "fsm");
    nearest_try(&far, "release");
    assert_string_equal(near.found, "retention");
    assert_true(far.found == NULL);
}
