/* The JSON-lines reader (jsonl.c on top of jsontext.c), always fed whole and in small chunks. */
#include "cli/jsonl.h"
#include "support/test.h"

#define LIMIT 400

#define READER jsonl
#include "unit/read_in_steps.h"

/* A record is NAME=VALUE; for each field that is there. */
static void show_record(struct seen *seen, const struct jsonl *jsonl) {
    for (int i = 0; i < FIELD_COUNT; i++)
        if (jsonl_value(jsonl, (enum field)i))
            see(seen, "%s=%s;", field_names[i], jsonl_value(jsonl, (enum field)i));
}

/* One line whose params, as a JSON value, are written so, and must come out so. */
static void expect_params(const char *written, const char *wanted) {
    char line[LIMIT], text[LIMIT];
    snprintf(line, sizeof line, "{\"params\":%s}\n", written);
    snprintf(text, sizeof text, "1:params=%s; ", wanted);
    reads_as(line, text);
}

static void expect_refused(const char *written, const char *why) {
    char line[LIMIT], text[LIMIT];
    snprintf(line, sizeof line, "{\"params\":%s}\n", written);
    snprintf(text, sizeof text, "1:%s", why);
    reads_as(line, text);
}

TEST(test_jsonl__reads_objects) {
    reads_as("{\"handler\":\"pay\",\"params\":\"x\"}\n{\"handler\":\"mail\"}\n",
             "1:handler=pay;params=x; 2:handler=mail; ");
    reads_as("{\"id\":\"u\",\"biz_key\":\"b\",\"dedup_key\":\"d\",\"shard\":1,\"priority\":-2,\"delay_ms\":3,"
             "\"due_at\":\"2025-01-01T00:00:00Z\",\"max_failures\":4,\"order_key\":\"k\",\"gate\":\"g\","
             "\"deadline_at\":5,\"deadline_ms\":6,\"group\":\"h\",\"after\":\"i\"}",
             "1:id=u;biz_key=b;dedup_key=d;shard=1;priority=-2;delay_ms=3;due_at=2025-01-01T00:00:00Z;"
             "max_failures=4;order_key=k;gate=g;deadline_at=5;deadline_ms=6;group=h;after=i; ");
    reads_as("{}\n", "1: ");
}

TEST(test_jsonl__takes_a_missing_final_newline) {
    reads_as("{\"handler\":\"a\"}", "1:handler=a; ");
}

/* The object is closed, or it is refused: wherever its writer was stopped. */
TEST(test_jsonl__refuses_a_last_line_that_is_cut_off) {
    static const char whole[] = "{\"handler\":\"a\",\"shard\":12,\"params\":{\"amount\":1250.00}}";
    for (size_t length = 1; length < sizeof whole - 1; length++) {
        struct seen seen;
        read_in_steps(&seen, whole, length, LIMIT);
        assert_null(strstr(seen.text, "handler="));
    }
}

TEST(test_jsonl__takes_crlf_blank_lines_and_a_mark) {
    reads_as("\xEF\xBB\xBF{\"handler\":\"a\"}\r\n\r\n \t\n{\"handler\":\"b\"}\r\n\n",
             "1:handler=a; 4:handler=b; ");
    reads_as("", "");
    reads_as("\xEF\xBB\xBF\n", "");
}

TEST(test_jsonl__takes_null_for_absent) {
    reads_as("{\"handler\":\"a\",\"params\":null,\"shard\":null}\n", "1:handler=a; ");
}

TEST(test_jsonl__takes_integers_as_text) {
    reads_as("{\"biz_key\":1001}\n", "1:biz_key=1001; ");
    reads_as("{\"shard\":\"7\"}\n", "1:shard=7; ");
}

TEST(test_jsonl__takes_params_strings_verbatim) {
    expect_params("\"{\\\"a\\\": 1.0}\"", "{\"a\": 1.0}");
    expect_params("\"\"", "");
    expect_params("\"a\\tb\\n\\u4e2d\\/\"", "a\tb\n中/");
}

TEST(test_jsonl__keeps_numbers_as_written) {
    expect_params("{\"a\":1.10,\"b\":1E5,\"c\":0.1000000000000000055,\"d\":1e400,\"e\":-0.0}",
                  "{\"a\":1.10,\"b\":1E5,\"c\":0.1000000000000000055,\"d\":1e400,\"e\":-0.0}");
    expect_params("[9223372036854775807,-9223372036854775808,18446744073709551615,0]",
                  "[9223372036854775807,-9223372036854775808,18446744073709551615,0]");
    expect_params("1.50", "1.50");
    expect_params("true", "true");
}

TEST(test_jsonl__keeps_member_order_and_text) {
    expect_params("{ \"b\" : [ 1 , {\"z\":\"/\"} ] , \"a\" : \"\\u00e9😀\" }",
                  "{\"b\":[1,{\"z\":\"/\"}],\"a\":\"é😀\"}");
    expect_params("{\"a\":{\"a\":1},\"b\":{\"a\":\":\"}}", "{\"a\":{\"a\":1},\"b\":{\"a\":\":\"}}");
}

TEST(test_jsonl__reads_every_escaped_character) {
    char written[64];
    char wanted[8];
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

TEST(test_jsonl__refuses_integers_beyond_64_bits) {
    static const char why[] = "an integer beyond 64 bits (write it as a string)";
    expect_refused("[18446744073709551616]", why);
    expect_refused("[-9223372036854775809]", why);
    expect_refused("{\"a\":{\"b\":99999999999999999999999999}}", why);
    reads_as("{\"biz_key\":99999999999999999999999}\n", "1:an integer beyond 64 bits (write it as a string)");
    expect_params("\"99999999999999999999999\"", "99999999999999999999999");
}

TEST(test_jsonl__refuses_what_is_no_number) {
    expect_refused("[1.]", "not a JSON number");
    expect_refused("[01]", "not a JSON number");
    expect_refused("[1e]", "not a JSON number");
    expect_refused("[-Infinity]", "not a JSON number");
}

TEST(test_jsonl__refuses_a_member_named_twice) {
    reads_as("{\"handler\":\"a\",\"handler\":\"b\"}\n", "1:an object names one member twice");
    expect_refused("{\"a\":{\"b\":1,\"b\":2}}", "an object names one member twice");
    expect_refused("[{\"b\":1,\"\\u0062\":2}]", "an object names one member twice");
}

TEST(test_jsonl__refuses_text_that_would_be_bent) {
    expect_refused("\"a\\u0000b\"", "\\u0000, which text in a database cannot hold");
    expect_refused("{\"a\\u0000\":1}", "\\u0000, which text in a database cannot hold");
    expect_refused("\"\\ud83d\"", "half of a surrogate pair, which is no character");
    expect_refused("\"\\ude00\\ud83d\"", "half of a surrogate pair, which is no character");
    expect_refused("\"\\ud83dx\\ude00\"", "half of a surrogate pair, which is no character");
    expect_refused("\"a\tb\"", "a raw control character in a string (escape it, a tab as \\t)");
    expect_params("\"\\ud83d\\ude00\"", "😀");
    expect_params("\"\\\\u0000\"", "\\u0000");
}

TEST(test_jsonl__refuses_unknown_fields) {
    reads_as("{\"handler\":\"a\"}\n{\"handler\":\"a\",\"bizkey\":\"x\"}\n",
             "1:handler=a; 2:\"bizkey\" is no field of a task (put it into params)");
}

TEST(test_jsonl__refuses_values_that_are_no_text) {
    reads_as("{\"handler\":[\"a\"]}\n", "1:\"handler\" must be a string or an integer");
    reads_as("{\"shard\":1.5}\n", "1:\"shard\" must be a string or an integer");
    reads_as("{\"biz_key\":true}\n", "1:\"biz_key\" must be a string or an integer");
}

TEST(test_jsonl__refuses_what_is_no_object) {
    reads_as("[1]\n", "1:not a JSON object");
    reads_as("\"a\"\n", "1:not a JSON object");
    reads_as("null\n", "1:not a JSON object");
    reads_as("{\"handler\":\"a\"} {\"handler\":\"b\"}\n", "1:not JSON: unexpected character at byte 17");
    reads_as("{\"handler\":\"a\"} \t\r\n", "1:handler=a; ");
    reads_as("{\"handler\":\"a\"}\f\n", "1:not JSON: unexpected character at byte 16");
    reads_as("{\"handler\":\"a\"}}\n", "1:not JSON: unexpected character at byte 16");
    reads_as("\n{\n\"handler\":\"a\"}\n",
             "2:not JSON: the line ends in the middle (each line must be a whole object)");
}

/* What json-c takes unless told to be strict. */
TEST(test_jsonl__refuses_what_is_nearly_json) {
    static const char quotes[] = "not JSON (strings stand in double quotes)";
    static const char words[] = "not JSON (its only words are true, false and null)";
    static const char comma[] = "not JSON (a comma with nothing behind it)";
    static const char comments[] = "not JSON (it has no comments)";
    reads_as("{'handler':\"a\"}\n", "1:not JSON (strings stand in double quotes)");
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
    reads_as("{\"handler\":\"a\"} // b\n", "1:not JSON (it has no comments)");
    expect_params("[true,false,null,\"/*\",\",]\",\"'NaN\"]", "[true,false,null,\"/*\",\",]\",\"'NaN\"]");
}

TEST(test_jsonl__refuses_deep_nesting) {
    char text[LIMIT / 2];
    memset(text, '[', 150);
    text[150] = '\0';
    expect_refused(text, "nested too deeply");
}

TEST(test_jsonl__refuses_broken_utf8_and_nul) {
    reads_as("{\"handler\":\"a\"}\n{\"params\":\"\xFF\"}\n",
             "1:handler=a; 2:broken UTF-8 (convert the file, for instance: iconv -f GB18030 -t UTF-8)");
    reads_as("{\"params\":\"\xED\xA0\x80\"}\n",
             "1:broken UTF-8 (convert the file, for instance: iconv -f GB18030 -t UTF-8)");
    bytes_read_as("{\"a\":\"\0\"}\n", 10,
                  "1:a NUL byte (is the file UTF-16? convert it: iconv -f UTF-16 -t UTF-8)");
}

TEST(test_jsonl__refuses_a_line_beyond_the_limit) {
    char line[LIMIT * 2] = "{\"params\":\"";
    memset(line + strlen(line), 'x', LIMIT);
    reads_as(line, "1:longer than 400 bytes");
    memset(line, ' ', sizeof line);
    bytes_read_as(line, sizeof line, "1:longer than 400 bytes");
}

TEST(test_jsonl__forgets_the_last_object) {
    reads_as("{\"handler\":\"a\",\"shard\":1}\n{\"priority\":2}\n", "1:handler=a;shard=1; 2:priority=2; ");
}

TEST_AS(test_jsonl__frees_null, jsonl_close(NULL))
