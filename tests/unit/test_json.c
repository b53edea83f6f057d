/* Text as a JSON string (RFC 8259): what must be escaped is, the rest stands as it is. */
#include "base/buf.h"
#include "support/test.h"

static void check(const char *text, const char *wanted) {
    struct tpi_buf buf = {0};
    tpi_buf_json(&buf, text);
    expect_buf(&buf, wanted);
}

TEST(test_json__plain_text_stands_in_quotes) {
    check("", "\"\"");
    check("points", "\"points\"");
    check("a/b's <&>", "\"a/b's <&>\"");
}

TEST(test_json__quotes_and_backslashes_are_escaped) {
    check("\"", "\"\\\"\"");
    check("\\", "\"\\\\\"");
    check("say \"hi\" \\o/", "\"say \\\"hi\\\" \\\\o/\"");
    check("\\\"\\\"", "\"\\\\\\\"\\\\\\\"\"");
    check("{\"order\":7}", "\"{\\\"order\\\":7}\"");
}

TEST(test_json__every_control_character_is_escaped) {
    for (unsigned c = 1; c < 0x20; c++) {
        char text[] = {'a', (char)c, 'b', '\0'}, wanted[16];
        snprintf(wanted, sizeof wanted, "\"a\\u%04xb\"", c);
        check(text, wanted);
    }
}

TEST(test_json__no_other_ascii_character_is_escaped) {
    for (unsigned c = 0x20; c < 0x80; c++) {
        char text[] = {(char)c, '\0'}, wanted[] = {'"', (char)c, '"', '\0'};
        if (c != '"' && c != '\\') check(text, wanted);
    }
}

TEST(test_json__characters_beyond_ascii_stand_as_they_are) {
    check("\xe5\xb7\xa5\xe8\xb5\x84", "\"\xe5\xb7\xa5\xe8\xb5\x84\"");
    check("\xf0\x9f\x98\x80\n", "\"\xf0\x9f\x98\x80\\u000a\"");
    check("\xc2\x80\xe2\x80\xa8", "\"\xc2\x80\xe2\x80\xa8\"");
}

TEST(test_json__is_appended_to_what_is_there) {
    struct tpi_buf buf = {0};
    tpi_buf_char(&buf, '[');
    tpi_buf_json(&buf, "a");
    tpi_buf_char(&buf, ',');
    tpi_buf_json(&buf, "b\t");
    tpi_buf_char(&buf, ']');
    expect_buf(&buf, "[\"a\",\"b\\u0009\"]");
}

TEST(test_json__long_text_of_nothing_but_escapes_is_whole) {
    enum { MANY = 20000 };
    static char text[MANY + 1];
    struct tpi_buf buf = {0};
    memset(text, '\n', MANY);
    tpi_buf_json(&buf, text);
    assert_int_equal(buf.length, MANY * 6 + 2);
    for (size_t i = 0; i < MANY; i++)
        assert_memory_equal(buf.data + 1 + 6 * i, "\\u000a", 6);
    tpi_buf_free(&buf);
}
