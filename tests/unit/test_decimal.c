/* Sums of money: src/common/decimal.c. */
#include "support/test.h"

#include "common/decimal.h"

static const char *sum_of(const char *const *texts, char text[DECIMAL_TEXT_SIZE]) {
    struct decimal sum = {0}, value;
    for (; *texts; texts++) {
        assert_true(decimal_read(*texts, &value));
        assert_true(decimal_add(&sum, &value));
    }
    return decimal_text(&sum, text);
}
#define SUM(...) sum_of((const char *const[]){__VA_ARGS__, NULL}, text)

TEST(test_decimal__adds_exactly) {
    char text[DECIMAL_TEXT_SIZE];
    assert_string_equal(SUM("0.1", "0.2"), "0.3");
    assert_string_equal(SUM("0.10", "0.2"), "0.30");
    assert_string_equal(SUM("1", "-0.5"), "0.5");
    assert_string_equal(SUM("-1", "0.5"), "-0.5");
    assert_string_equal(SUM("-0.5", "-0.75"), "-1.25");
    assert_string_equal(SUM("0.999999999", "0.000000001"), "1.000000000");
    assert_string_equal(SUM("12.50", "-12.50"), "0.00");
    assert_string_equal(SUM("999999999999999998.99", "0.01"), "999999999999999999.00");
    assert_string_equal(SUM("007", "-0"), "7");
}

TEST(test_decimal__refuses_what_is_no_such_number) {
    static const char *const bad[] = {"",
                                      "-",
                                      ".5",
                                      "5.",
                                      "1e3",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1,5",
                                      "0x1",
                                      "--1",
                                      "1.2.3",
                                      "nan",
                                      "1234567890123456789",
                                      "0.1234567890",
                                      NULL};
    struct decimal value;
    for (const char *const *text = bad; *text; text++)
        assert_false(decimal_read(*text, &value));
}

TEST(test_decimal__says_when_a_sum_is_too_long) {
    struct decimal sum, one;
    char text[DECIMAL_TEXT_SIZE];
    assert_true(decimal_read("-999999999999999999.9", &sum) && decimal_read("-0.1", &one));
    assert_false(decimal_add(&sum, &one));
    assert_string_equal(decimal_text(&sum, text), "-999999999999999999.9");
}
