/* UTF-8 against a reader that does it the other way round: decode by the bits, then ask whether the number
 * may be written so. */
#include "base/utf8.h"
#include "support/test.h"

static size_t length_by_lead(unsigned char lead) {
    if ((lead & 0x80) == 0) return 1;
    if ((lead & 0xe0) == 0xc0) return 2;
    if ((lead & 0xf0) == 0xe0) return 3;
    if ((lead & 0xf8) == 0xf0) return 4;
    return 0;
}

static size_t shortest(uint32_t point) {
    return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}

static size_t encode(uint32_t point, unsigned char out[4]) {
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t length = shortest(point);
    for (size_t i = length - 1; i > 0; i--, point >>= 6)
        out[i] = (unsigned char)(0x80 | (point & 0x3f));
    out[0] = (unsigned char)(marks[length] | point);
    return length;
}

static bool expected(const unsigned char *text, size_t length) {
    while (length) {
        size_t step = length_by_lead(*text);
        if (step == 0 || step > length) return false;
        uint32_t point = step == 1 ? *text : *text & (0x7fu >> step);
        for (size_t i = 1; i < step; i++) {
            if ((text[i] & 0xc0) != 0x80) return false;
            point = point << 6 | (text[i] & 0x3f);
        }
        bool surrogate = point >= 0xd800 && point <= 0xdfff;
        if (shortest(point) != step || surrogate || point > 0x10ffff) return false;
        text += step;
        length -= step;
    }
    return true;
}

static void check(const unsigned char *text, size_t length) {
    if (tpi_utf8_valid((const char *)text, length) != expected(text, length))
        fail_msg("%zu bytes, %02x %02x %02x %02x", length, text[0], text[1], text[2], text[3]);
}

/* Bytes at which anything changes. */
static const unsigned char edges[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
                                      0xc0, 0xc1, 0xc2, 0xe0, 0xed, 0xf0, 0xf4, 0xf5, 0xff};
enum { EDGES = sizeof edges };

TEST(test_utf8__every_pair_of_bytes_is_judged_as_the_standard_says) {
    for (unsigned a = 0; a < 256; a++)
        for (unsigned b = 0; b < 256; b++) {
            unsigned char text[4] = {(unsigned char)a, (unsigned char)b, 0, 0};
            check(text, 1);
            check(text, 2);
        }
}

TEST(test_utf8__three_and_four_bytes_are_judged_at_all_boundaries) {
    for (unsigned a = 0; a < 256; a++)
        for (unsigned b = 0; b < 256; b++)
            for (size_t c = 0; c < EDGES; c++)
                for (size_t d = 0; d < EDGES; d++) {
                    unsigned char text[4] = {(unsigned char)a, (unsigned char)b, edges[c], edges[d]};
                    if (d == 0) check(text, 3);
                    check(text, 4);
                }
}

TEST(test_utf8__every_code_point_is_valid_but_surrogates) {
    for (uint32_t point = 0; point <= 0x10ffff; point++) {
        unsigned char text[4] = {0};
        size_t length = encode(point, text);
        bool surrogate = point >= 0xd800 && point <= 0xdfff;
        if (tpi_utf8_valid((const char *)text, length) == surrogate) fail_msg("U+%04X", (unsigned)point);
    }
}

TEST(test_utf8__overlong_forms_are_refused) {
    static const char *const overlong[] = {
        "\xc0\x80",     "\xc0\xaf",         "\xc1\xbf",         "\xe0\x80\xaf",
        "\xe0\x9f\xbf", "\xf0\x80\x80\xaf", "\xf0\x8f\xbf\xbf", "\xf8\x88\x80\x80\x80"};
    for (size_t i = 0; i < COUNT(overlong); i++)
        assert_false(tpi_utf8_valid(overlong[i], strlen(overlong[i])));
}

TEST(test_utf8__surrogates_and_numbers_too_high_are_refused) {
    assert_false(tpi_utf8_valid("\xed\xa0\x80", 3));
    assert_false(tpi_utf8_valid("\xed\xbf\xbf", 3));
    assert_true(tpi_utf8_valid("\xed\x9f\xbf", 3));
    assert_true(tpi_utf8_valid("\xf4\x8f\xbf\xbf", 4));
    assert_false(tpi_utf8_valid("\xf4\x90\x80\x80", 4));
    assert_false(tpi_utf8_valid("\xf5\x80\x80\x80", 4));
}

TEST(test_utf8__a_character_cut_off_is_refused_and_not_read_past) {
    static const char whole[] = "a\xf0\x9f\x98\x80";
    for (size_t length = 2; length < 5; length++) {
        /* Exactly as long as told, so that a sanitizer sees a read beyond. */
        char *text = test_malloc(length);
        memcpy(text, whole, length);
        assert_false(tpi_utf8_valid(text, length));
        test_free(text);
    }
    assert_true(tpi_utf8_valid(whole, 5));
}

TEST(test_utf8__nothing_is_valid) {
    assert_true(tpi_utf8_valid("", 0));
    assert_true(tpi_utf8_valid("a\0b", 3));
}

/* 1, 2, 3 and 4 bytes: a, é, 工, 😀, then a again. */
static const char mixed[] = "a\xc3\xa9\xe5\xb7\xa5\xf0\x9f\x98\x80"
                            "a";
enum { MIXED = sizeof mixed - 1 };

TEST(test_utf8__a_cut_is_the_longest_that_splits_no_character) {
    static const size_t wanted[MIXED + 1] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11};
    for (size_t limit = 0; limit <= MIXED; limit++)
        assert_int_equal(tpi_utf8_cut(mixed, MIXED, limit), wanted[limit]);
    assert_int_equal(tpi_utf8_cut(mixed, MIXED, MIXED + 100), MIXED);
    assert_int_equal(tpi_utf8_cut("", 0, 0), 0);
}

TEST(test_utf8__copies_of_every_size_are_cut_on_a_character) {
    static const size_t wanted[MIXED + 1] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11};
    for (size_t size = 1; size <= MIXED + 1; size++) {
        char *out = test_malloc(size);
        tpi_utf8_copy(mixed, out, size);
        assert_int_equal(strlen(out), wanted[size - 1]);
        assert_memory_equal(out, mixed, strlen(out));
        test_free(out);
    }
}

TEST(test_utf8__a_copy_replaces_what_is_no_text) {
    static const struct {
        const char *text, *copy;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"a\nb\tc\r\n", "a?b?c??"},
        {"\x01\x1f ", "?? "},
        {"\xff\xfe", "??"},
        {"caf\xe9", "caf?"},
        {"\xc3\xa9t\xe9", "\xc3\xa9t?"},
        {"\xed\xa0\x80x", "???x"},
        {"cut \xf0\x9f\x98", "cut ???"},
        {"\xe5\xb7\xa5\x80", "\xe5\xb7\xa5?"},
    };
    char out[64];
    for (size_t i = 0; i < COUNT(cases); i++) {
        tpi_utf8_copy(cases[i].text, out, sizeof out);
        assert_string_equal(out, cases[i].copy);
        assert_true(tpi_utf8_valid(out, strlen(out)));
    }
}

TEST(test_utf8__a_copy_of_any_bytes_is_valid) {
    for (unsigned a = 1; a < 256; a++)
        for (unsigned b = 1; b < 256; b++)
            for (size_t size = 1; size < 6; size++) {
                char text[] = {(char)a, (char)b, 'x', (char)a, '\0'}, out[8];
                tpi_utf8_copy(text, out, size);
                assert_true(strlen(out) < size);
                assert_true(tpi_utf8_valid(out, strlen(out)));
            }
}

TEST(test_tame__leaves_nothing_that_a_terminal_obeys) {
    char text[] = "a\nb\x1b[m\x7f\xc2\x80\xc2\x9f\xc2\xa0\xe4\xbd\xa0\xc2";
    tpi_utf8_tame(text);
    assert_string_equal(text, "a b [m     \xc2\xa0\xe4\xbd\xa0\xc2");
}
