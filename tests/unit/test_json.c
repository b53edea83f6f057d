/* Text as a JSON string (RFC 8259): what must be escaped is, the rest stands as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"

static void check(const char *text, const char *wanted) {
    struct tpi_buf buf = {0};
    tpi_buf_json(&buf, text);
    assert_string_equal(tpi_buf_str(&buf), wanted);
    tpi_buf_free(&buf);
}

static void test_json__plain_text_stands_in_quotes(void **state) {
    (void)state;
    check("", "\"\"");
    check("points", "\"points\"");
    check("a/b's <&>", "\"a/b's <&>\"");
}

static void test_json__quotes_and_backslashes_are_escaped(void **state) {
    (void)state;
    check("\"", "\"\\\"\"");
    check("\\", "\"\\\\\"");
    check("say \"hi\" \\o/", "\"say \\\"hi\\\" \\\\o/\"");
    check("\\\"\\\"", "\"\\\\\\\"\\\\\\\"\"");
    check("{\"order\":7}", "\"{\\\"order\\\":7}\"");
}

static void test_json__every_control_character_is_escaped(void **state) {
    (void)state;
    for (unsigned c = 1; c < 0x20; c++) {
        char text[] = {'a', (char)c, 'b', '\0'}, wanted[16];
        snprintf(wanted, sizeof wanted, "\"a\\u%04xb\"", c);
        check(text, wanted);
    }
}

static void test_json__no_other_ascii_character_is_escaped(void **state) {
    (void)state;
    for (unsigned c = 0x20; c < 0x80; c++) {
        char text[] = {(char)c, '\0'}, wanted[] = {'"', (char)c, '"', '\0'};
        if (c != '"' && c != '\\') check(text, wanted);
    }
}

static void test_json__characters_beyond_ascii_stand_as_they_are(void **state) {
    (void)state;
    check("\xe5\xb7\xa5\xe8\xb5\x84", "\"\xe5\xb7\xa5\xe8\xb5\x84\"");
    check("\xf0\x9f\x98\x80\n", "\"\xf0\x9f\x98\x80\\u000a\"");
    check("\xc2\x80\xe2\x80\xa8", "\"\xc2\x80\xe2\x80\xa8\"");
}

static void test_json__is_appended_to_what_is_there(void **state) {
    struct tpi_buf buf = {0};
    (void)state;
    tpi_buf_char(&buf, '[');
    tpi_buf_json(&buf, "a");
    tpi_buf_char(&buf, ',');
    tpi_buf_json(&buf, "b\t");
    tpi_buf_char(&buf, ']');
    assert_string_equal(tpi_buf_str(&buf), "[\"a\",\"b\\u0009\"]");
    tpi_buf_free(&buf);
}

static void test_json__long_text_of_nothing_but_escapes_is_whole(void **state) {
    enum { MANY = 20000 };
    static char text[MANY + 1];
    struct tpi_buf buf = {0};
    (void)state;
    memset(text, '\n', MANY);
    tpi_buf_json(&buf, text);
    assert_int_equal(buf.length, MANY * 6 + 2);
    for (size_t i = 0; i < MANY; i++)
        assert_memory_equal(buf.data + 1 + 6 * i, "\\u000a", 6);
    tpi_buf_free(&buf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json__plain_text_stands_in_quotes),
        cmocka_unit_test(test_json__quotes_and_backslashes_are_escaped),
        cmocka_unit_test(test_json__every_control_character_is_escaped),
        cmocka_unit_test(test_json__no_other_ascii_character_is_escaped),
        cmocka_unit_test(test_json__characters_beyond_ascii_stand_as_they_are),
        cmocka_unit_test(test_json__is_appended_to_what_is_there),
        cmocka_unit_test(test_json__long_text_of_nothing_but_escapes_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
