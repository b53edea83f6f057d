/* The growing byte string: content, growth, and failure for want of memory. */
#include "base/buf.h"
#include "support/test.h"

TEST(test_buf__an_empty_one_reads_as_empty_text) {
    struct tpi_buf buf = {0};
    expect_buf(&buf, "");
    tpi_buf_free(&buf);
}

TEST(test_buf__what_is_added_stands_in_order) {
    struct tpi_buf buf = {0};
    tpi_buf_text(&buf, "one");
    tpi_buf_char(&buf, ' ');
    tpi_buf_add(&buf, "two of three", 3);
    tpi_buf_int(&buf, 3);
    tpi_buf_text(&buf, "");
    tpi_buf_add(&buf, NULL, 0);
    assert_string_equal(tpi_buf_str(&buf), "one two3");
    assert_int_equal(buf.length, 8);
    tpi_buf_free(&buf);
}

TEST(test_buf__numbers_of_every_size_are_written_whole) {
    static const struct {
        int64_t number;
        const char *text;
    } cases[] = LIST({0, "0"}, {-1, "-1"}, {INT64_MAX, "9223372036854775807"},
                     {INT64_MIN, "-9223372036854775808"}, {1700000000123, "1700000000123"});
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tpi_buf buf = {0};
        tpi_buf_int(&buf, cases[i].number);
        expect_buf(&buf, cases[i].text);
    }
}

TEST(test_buf__numbers_are_read_as_strtoll_reads_them) {
    static const char *const texts[] =
        LIST("0", "-1", "", "-", "12.5", " 7", "+7", "word", "1700000000123", "999999999999999999",
             "-99999999999999999", "9223372036854775807", "-9223372036854775808", "99999999999999999999");
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_int_equal(tpi_number(texts[i]), strtoll(texts[i], NULL, 10));
}

TEST(test_buf__numbers_with_exponents_are_read_whole) {
    static const struct {
        const char *text;
        int64_t number;
    } cases[] = {{"1E+3", 1000},       {"1.700000000123E+12", INT64_C(1700000000123)},
                 {"-2.5e1", -25},      {"15e-1", 1},
                 {"1e300", INT64_MAX}, {"-1e300", INT64_MIN}};
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_true(tpi_number(cases[i].text) == cases[i].number);
}

TEST(test_buf__a_number_is_exact_when_nothing_else_is_there) {
    static const char *const others[] = {"", "-", "1.0", "1.7E+12", "12 ", "word", "9223372036854775808"};
    int64_t number = 0;
    assert_true(tpi_number_exact("-9223372036854775808", &number));
    assert_true(number == INT64_MIN);
    assert_true(tpi_number_exact("0", &number));
    assert_true(number == 0);
    for (size_t i = 0; i < COUNT(others); i++)
        if (tpi_number_exact(others[i], &number)) fail_msg("'%s' is taken for a whole number", others[i]);
}

TEST(test_buf__grows_byte_by_byte_and_always_ends_in_nul) {
    struct tpi_buf buf = {0};
    for (size_t i = 0; i < 5000; i++) {
        tpi_buf_char(&buf, (char)('a' + i % 26));
        assert_int_equal(buf.length, i + 1);
        assert_true(buf.capacity > buf.length);
        assert_int_equal(buf.data[buf.length], '\0');
    }
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(buf.data[i], 'a' + i % 26);
    tpi_buf_free(&buf);
}

TEST(test_buf__room_that_was_reserved_is_there) {
    struct tpi_buf buf = {0};
    tpi_buf_text(&buf, "x");
    assert_true(tpi_buf_reserve(&buf, 100000));
    assert_true(buf.capacity >= 100002);
    assert_string_equal(tpi_buf_str(&buf), "x");
    memset(buf.data + 1, 'y', 100000);
    tpi_buf_free(&buf);
}

TEST(test_buf__nul_bytes_are_kept) {
    struct tpi_buf buf = {0};
    tpi_buf_add(&buf, "a\0b", 3);
    assert_int_equal(buf.length, 3);
    assert_memory_equal(buf.data, "a\0b", 4);
    tpi_buf_free(&buf);
}

TEST(test_buf__clearing_empties_it_and_keeps_the_room) {
    struct tpi_buf buf = {0};
    tpi_buf_clear(&buf);
    tpi_buf_text(&buf, "something long enough to be allocated");
    size_t capacity = buf.capacity;
    tpi_buf_clear(&buf);
    assert_string_equal(tpi_buf_str(&buf), "");
    assert_int_equal(buf.capacity, capacity);
    tpi_buf_text(&buf, "new");
    expect_buf(&buf, "new");
}

/* More than any memory, and so much that adding 1 would wrap. */
static const size_t impossible[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, SIZE_MAX / 2 - 4};

TEST(test_buf__what_no_memory_holds_fails_without_wrapping) {
    for (size_t i = 0; i < COUNT(impossible); i++) {
        struct tpi_buf buf = {0};
        tpi_buf_text(&buf, "kept");
        assert_false(tpi_buf_reserve(&buf, impossible[i]));
        assert_true(buf.failed);
        assert_null(tpi_buf_str(&buf));
        assert_memory_equal(buf.data, "kept", 5);
        tpi_buf_free(&buf);
    }
}

TEST(test_buf__a_failure_is_remembered_until_cleared) {
    struct tpi_buf buf = {0};
    tpi_buf_text(&buf, "before");
    assert_false(tpi_buf_reserve(&buf, SIZE_MAX));
    tpi_buf_text(&buf, "after");
    tpi_buf_int(&buf, 1);
    tpi_buf_json(&buf, "after");
    assert_int_equal(buf.length, 6);
    assert_null(tpi_buf_str(&buf));
    tpi_buf_clear(&buf);
    tpi_buf_text(&buf, "again");
    expect_buf(&buf, "again");
    assert_false(buf.failed);
}
