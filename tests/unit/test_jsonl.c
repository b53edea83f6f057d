/* The JSON-lines reader, always fed whole and in small pieces. Needs jsonl.c and jsontext.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/jsonl.h"

#define LIMIT 400

/* What came out: LINE:name=value; for each field that is there, then what ended it. */
struct seen {
    char text[4096];
    size_t used;
};

static void see(struct seen *seen, const char *format, ...) {
    va_list args;

    va_start(args, format);
    seen->used += (size_t)vsnprintf(seen->text + seen->used, sizeof seen->text - seen->used, format, args);
    va_end(args);
    assert_true(seen->used < sizeof seen->text);
}

static enum read_status see_answer(struct seen *seen, const struct jsonl *jsonl, enum read_status status) {
    if (status == READ_BAD) see(seen, "%lld:%s", jsonl_line(jsonl), jsonl_error(jsonl));
    if (status != READ_RECORD) return status;
    see(seen, "%lld:", jsonl_line(jsonl));
    for (int i = 0; i < FIELD_COUNT; i++)
        if (jsonl_value(jsonl, (enum field)i))
            see(seen, "%s=%s;", field_names[i], jsonl_value(jsonl, (enum field)i));
    see(seen, " ");
    return status;
}

static void read_in_steps(struct seen *seen, const char *data, size_t length, size_t step) {
    struct jsonl *jsonl = jsonl_open(LIMIT);
    enum read_status status = READ_MORE;

    assert_non_null(jsonl);
    seen->used = 0;
    seen->text[0] = '\0';
    for (size_t at = 0; at < length && status != READ_BAD;) {
        size_t used = 0;
        size_t piece = length - at < step ? length - at : step;

        status = see_answer(seen, jsonl, jsonl_feed(jsonl, data + at, piece, &used));
        assert_true(used <= piece);
        assert_true(used == piece || status != READ_MORE);
        at += used;
    }
    if (status != READ_BAD) (void)see_answer(seen, jsonl, jsonl_end(jsonl));
    jsonl_close(jsonl);
}

static void expect_bytes(const char *data, size_t length, const char *wanted) {
    static const size_t steps[] = {1, 2, 3, 7, 4096};
    struct seen seen;

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        read_in_steps(&seen, data, length, steps[i]);
        assert_string_equal(seen.text, wanted);
    }
}

static void expect(const char *data, const char *wanted) {
    expect_bytes(data, strlen(data), wanted);
}

/* One line whose params, as a JSON value, are written so, and must come out so. */
static void expect_params(const char *written, const char *wanted) {
    char line[LIMIT];
    char text[LIMIT];

    snprintf(line, sizeof line, "{\"params\":%s}\n", written);
    snprintf(text, sizeof text, "1:params=%s; ", wanted);
    expect(line, text);
}

static void expect_refused(const char *written, const char *why) {
    char line[LIMIT];
    char text[LIMIT];

    snprintf(line, sizeof line, "{\"params\":%s}\n", written);
    snprintf(text, sizeof text, "1:%s", why);
    expect(line, text);
}

static void test_jsonl__reads_objects(void **state) {
    (void)state;
    expect("{\"handler\":\"pay\",\"params\":\"x\"}\n{\"handler\":\"mail\"}\n",
           "1:handler=pay;params=x; 2:handler=mail; ");
    expect("{\"id\":\"u\",\"biz_key\":\"b\",\"dedup_key\":\"d\",\"shard\":1,\"priority\":-2,\"delay_ms\":3,"
           "\"due_at\":\"2025-01-01T00:00:00Z\",\"max_failures\":4}",
           "1:id=u;biz_key=b;dedup_key=d;shard=1;priority=-2;delay_ms=3;due_at=2025-01-01T00:00:00Z;"
           "max_failures=4; ");
    expect("{}\n", "1: ");
}

static void test_jsonl__takes_a_missing_final_newline(void **state) {
    (void)state;
    expect("{\"handler\":\"a\"}", "1:handler=a; ");
}

static void test_jsonl__takes_crlf_blank_lines_and_a_mark(void **state) {
    (void)state;
    expect("\xEF\xBB\xBF{\"handler\":\"a\"}\r\n\r\n \t\n{\"handler\":\"b\"}\r\n\n",
           "1:handler=a; 4:handler=b; ");
    expect("", "");
    expect("\xEF\xBB\xBF\n", "");
}

static void test_jsonl__takes_null_for_absent(void **state) {
    (void)state;
    expect("{\"handler\":\"a\",\"params\":null,\"shard\":null}\n", "1:handler=a; ");
}

static void test_jsonl__takes_integers_as_text(void **state) {
    (void)state;
    expect("{\"biz_key\":1001}\n", "1:biz_key=1001; ");
    expect("{\"shard\":\"7\"}\n", "1:shard=7; ");
}

static void test_jsonl__takes_params_strings_verbatim(void **state) {
    (void)state;
    expect_params("\"{\\\"a\\\": 1.0}\"", "{\"a\": 1.0}");
    expect_params("\"\"", "");
    expect_params("\"a\\tb\\n\\u4e2d\\/\"", "a\tb\n中/");
}

static void test_jsonl__keeps_numbers_as_written(void **state) {
    (void)state;
    expect_params("{\"a\":1.10,\"b\":1E5,\"c\":0.1000000000000000055,\"d\":1e400,\"e\":-0.0}",
                  "{\"a\":1.10,\"b\":1E5,\"c\":0.1000000000000000055,\"d\":1e400,\"e\":-0.0}");
    expect_params("[9223372036854775807,-9223372036854775808,18446744073709551615,0]",
                  "[9223372036854775807,-9223372036854775808,18446744073709551615,0]");
    expect_params("1.50", "1.50");
    expect_params("true", "true");
}

static void test_jsonl__keeps_member_order_and_text(void **state) {
    (void)state;
    expect_params("{ \"b\" : [ 1 , {\"z\":\"/\"} ] , \"a\" : \"\\u00e9😀\" }",
                  "{\"b\":[1,{\"z\":\"/\"}],\"a\":\"é😀\"}");
    expect_params("{\"a\":{\"a\":1},\"b\":{\"a\":\":\"}}", "{\"a\":{\"a\":1},\"b\":{\"a\":\":\"}}");
}

static void test_jsonl__reads_every_escaped_character(void **state) {
    char written[64];
    char wanted[8];

    (void)state;
    /* Some that json-c alone would turn into U+FFFD: their last 16 bits look like a surrogate. */
    for (unsigned c = 0x10000; c < 0x110000; c += 0x3F1) {
        snprintf(written, sizeof written, "\"\\u%04x\\u%04X\"", 0xD800 + ((c - 0x10000) >> 10),
                 0xDC00 + (c & 0x3FF));
        snprintf(wanted, sizeof wanted, "%c%c%c%c", 0xF0 | (c >> 18), 0x80 | ((c >> 12) & 0x3F),
                 0x80 | ((c >> 6) & 0x3F), 0x80 | (c & 0x3F));
        expect_params(written, wanted);
    }
    expect_params("{\"\\ud876\\udc00\":\"\\\\ud876\\\\\\ud876\\udc00\"}", "{\"𭠀\":\"\\\\ud876\\\\𭠀\"}");
}

static void test_jsonl__refuses_integers_beyond_64_bits(void **state) {
    static const char why[] = "an integer beyond 64 bits (write it as a string)";

    (void)state;
    expect_refused("[18446744073709551616]", why);
    expect_refused("[-9223372036854775809]", why);
    expect_refused("{\"a\":{\"b\":99999999999999999999999999}}", why);
    expect("{\"biz_key\":99999999999999999999999}\n", "1:an integer beyond 64 bits (write it as a string)");
    expect_params("\"99999999999999999999999\"", "99999999999999999999999");
}

static void test_jsonl__refuses_what_is_no_number(void **state) {
    (void)state;
    expect_refused("[1.]", "not a JSON number");
    expect_refused("[01]", "not a JSON number");
    expect_refused("[1e]", "not a JSON number");
    expect_refused("[-Infinity]", "not a JSON number");
}

static void test_jsonl__refuses_a_member_named_twice(void **state) {
    (void)state;
    expect("{\"handler\":\"a\",\"handler\":\"b\"}\n", "1:an object names one member twice");
    expect_refused("{\"a\":{\"b\":1,\"b\":2}}", "an object names one member twice");
    expect_refused("[{\"b\":1,\"\\u0062\":2}]", "an object names one member twice");
}

static void test_jsonl__refuses_text_that_would_be_bent(void **state) {
    (void)state;
    expect_refused("\"a\\u0000b\"", "\\u0000, which text in a database cannot hold");
    expect_refused("{\"a\\u0000\":1}", "\\u0000, which text in a database cannot hold");
    expect_refused("\"\\ud83d\"", "half of a surrogate pair, which is no character");
    expect_refused("\"\\ude00\\ud83d\"", "half of a surrogate pair, which is no character");
    expect_refused("\"\\ud83dx\\ude00\"", "half of a surrogate pair, which is no character");
    expect_refused("\"a\tb\"", "a raw control character in a string (escape it, a tab as \\t)");
    expect_params("\"\\ud83d\\ude00\"", "😀");
    expect_params("\"\\\\u0000\"", "\\u0000");
}

static void test_jsonl__refuses_unknown_fields(void **state) {
    (void)state;
    expect("{\"handler\":\"a\"}\n{\"handler\":\"a\",\"bizkey\":\"x\"}\n",
           "1:handler=a; 2:\"bizkey\" is no field of a task (put it into params)");
}

static void test_jsonl__refuses_values_that_are_no_text(void **state) {
    (void)state;
    expect("{\"handler\":[\"a\"]}\n", "1:\"handler\" must be a string or an integer");
    expect("{\"shard\":1.5}\n", "1:\"shard\" must be a string or an integer");
    expect("{\"biz_key\":true}\n", "1:\"biz_key\" must be a string or an integer");
}

static void test_jsonl__refuses_what_is_no_object(void **state) {
    (void)state;
    expect("[1]\n", "1:not a JSON object");
    expect("\"a\"\n", "1:not a JSON object");
    expect("null\n", "1:not a JSON object");
    expect("{\"handler\":\"a\"} {\"handler\":\"b\"}\n", "1:not JSON: unexpected character at byte 17");
    expect("{\"handler\":\"a\"} \t\r\n", "1:handler=a; ");
    expect("{\"handler\":\"a\"}\f\n", "1:not JSON: unexpected character at byte 16");
    expect("{\"handler\":\"a\"}}\n", "1:not JSON: unexpected character at byte 16");
    expect("\n{\n\"handler\":\"a\"}\n",
           "2:not JSON: the line ends in the middle (each line must be a whole object)");
}

/* What json-c takes unless told to be strict. */
static void test_jsonl__refuses_what_is_nearly_json(void **state) {
    static const char quotes[] = "not JSON (strings stand in double quotes)";
    static const char words[] = "not JSON (its only words are true, false and null)";
    static const char comma[] = "not JSON (a comma with nothing behind it)";
    static const char comments[] = "not JSON (it has no comments)";

    (void)state;
    expect("{'handler':\"a\"}\n", "1:not JSON (strings stand in double quotes)");
    expect_refused("'a'", quotes);
    expect_refused("True", words);
    expect_refused("[NULL]", words);
    expect_refused("[truefalse]", words);
    expect_refused("[NaN]", words);
    expect_refused("nan", words);
    expect_refused("[Infinity]", words);
    expect_refused("infinity", words);
    expect_refused("[1,]", comma);
    expect_refused("{\"a\":1, \t}", comma);
    expect_refused("/* 1 */ 1", comments);
    expect("{\"handler\":\"a\"} // b\n", "1:not JSON (it has no comments)");
    expect_params("[true,false,null,\"/*\",\",]\",\"'NaN\"]", "[true,false,null,\"/*\",\",]\",\"'NaN\"]");
}

static void test_jsonl__refuses_deep_nesting(void **state) {
    char text[LIMIT / 2];

    (void)state;
    memset(text, '[', 150);
    text[150] = '\0';
    expect_refused(text, "nested too deeply");
}

static void test_jsonl__refuses_broken_utf8_and_nul(void **state) {
    (void)state;
    expect("{\"handler\":\"a\"}\n{\"params\":\"\xFF\"}\n",
           "1:handler=a; 2:broken UTF-8 (convert the file, for instance: iconv -f GB18030 -t UTF-8)");
    expect("{\"params\":\"\xED\xA0\x80\"}\n",
           "1:broken UTF-8 (convert the file, for instance: iconv -f GB18030 -t UTF-8)");
    expect_bytes("{\"a\":\"\0\"}\n", 10,
                 "1:a NUL byte (is the file UTF-16? convert it: iconv -f UTF-16 -t UTF-8)");
}

static void test_jsonl__refuses_a_line_beyond_the_limit(void **state) {
    char line[LIMIT * 2] = "{\"params\":\"";

    (void)state;
    memset(line + strlen(line), 'x', LIMIT);
    expect(line, "1:longer than 400 bytes");
    memset(line, ' ', sizeof line);
    expect_bytes(line, sizeof line, "1:longer than 400 bytes");
}

static void test_jsonl__forgets_the_last_object(void **state) {
    (void)state;
    expect("{\"handler\":\"a\",\"shard\":1}\n{\"priority\":2}\n", "1:handler=a;shard=1; 2:priority=2; ");
}

static void test_jsonl__frees_null(void **state) {
    (void)state;
    jsonl_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jsonl__reads_objects),
        cmocka_unit_test(test_jsonl__takes_a_missing_final_newline),
        cmocka_unit_test(test_jsonl__takes_crlf_blank_lines_and_a_mark),
        cmocka_unit_test(test_jsonl__takes_null_for_absent),
        cmocka_unit_test(test_jsonl__takes_integers_as_text),
        cmocka_unit_test(test_jsonl__takes_params_strings_verbatim),
        cmocka_unit_test(test_jsonl__keeps_numbers_as_written),
        cmocka_unit_test(test_jsonl__keeps_member_order_and_text),
        cmocka_unit_test(test_jsonl__reads_every_escaped_character),
        cmocka_unit_test(test_jsonl__refuses_integers_beyond_64_bits),
        cmocka_unit_test(test_jsonl__refuses_what_is_no_number),
        cmocka_unit_test(test_jsonl__refuses_a_member_named_twice),
        cmocka_unit_test(test_jsonl__refuses_text_that_would_be_bent),
        cmocka_unit_test(test_jsonl__refuses_unknown_fields),
        cmocka_unit_test(test_jsonl__refuses_values_that_are_no_text),
        cmocka_unit_test(test_jsonl__refuses_what_is_no_object),
        cmocka_unit_test(test_jsonl__refuses_what_is_nearly_json),
        cmocka_unit_test(test_jsonl__refuses_deep_nesting),
        cmocka_unit_test(test_jsonl__refuses_broken_utf8_and_nul),
        cmocka_unit_test(test_jsonl__refuses_a_line_beyond_the_limit),
        cmocka_unit_test(test_jsonl__forgets_the_last_object),
        cmocka_unit_test(test_jsonl__frees_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
