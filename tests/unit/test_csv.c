/* The CSV reader, always fed twice: all at once, and byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/csv.h"

#define LIMIT 200

/* What came out, as text: fields in <>, records as LINE:<a><b>, then what ended it. */
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

static enum read_status see_answer(struct seen *seen, const struct csv *csv, enum read_status status) {
    if (status == READ_BAD) see(seen, "%lld:%s", csv_line(csv), csv_error(csv));
    if (status != READ_RECORD) return status;
    see(seen, "%lld:", csv_line(csv));
    for (size_t i = 0; i < csv_count(csv); i++)
        see(seen, "<%s>", csv_field(csv, i));
    see(seen, " ");
    return status;
}

static void read_in_steps(struct seen *seen, const char *data, size_t length, size_t step) {
    struct csv *csv = csv_open(LIMIT);
    enum read_status status = READ_MORE;

    assert_non_null(csv);
    seen->used = 0;
    seen->text[0] = '\0';
    for (size_t at = 0; at < length && status != READ_BAD;) {
        size_t used = 0;
        size_t piece = length - at < step ? length - at : step;

        status = see_answer(seen, csv, csv_feed(csv, data + at, piece, &used));
        assert_true(used <= piece);
        assert_true(used == piece || status != READ_MORE);
        at += used;
    }
    if (status != READ_BAD) (void)see_answer(seen, csv, csv_end(csv));
    csv_close(csv);
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

static void test_csv__reads_plain_records(void **state) {
    (void)state;
    expect("a,b\n1,2\n3,4\n", "1:<a><b> 2:<1><2> 3:<3><4> ");
}

static void test_csv__takes_a_missing_final_newline(void **state) {
    (void)state;
    expect("a,b\n1,2", "1:<a><b> 2:<1><2> ");
    expect("a\n\"x\"", "1:<a> 2:<x> ");
}

static void test_csv__takes_crlf(void **state) {
    (void)state;
    expect("a,b\r\n1,2\r\n\"3\",\"4\"\r\n", "1:<a><b> 2:<1><2> 3:<3><4> ");
}

static void test_csv__keeps_empty_fields(void **state) {
    (void)state;
    expect("a,b,c\n,,\n1,,\n,,3", "1:<a><b><c> 2:<><><> 3:<1><><> 4:<><><3> ");
    expect("a,b\n1,", "1:<a><b> 2:<1><> ");
    expect("a\n\"\"\n", "1:<a> 2:<> ");
}

static void test_csv__keeps_blanks_in_fields(void **state) {
    (void)state;
    expect("a,b\n 1 ,\t2\n", "1:<a><b> 2:< 1 ><\t2> ");
}

static void test_csv__reads_quotes(void **state) {
    (void)state;
    expect("a,b\n\"x,y\",\"say \"\"hi\"\"\"\n", "1:<a><b> 2:<x,y><say \"hi\"> ");
    expect("\"a\",\"b\"\n\"\"\"\",\"\"\n", "1:<a><b> 2:<\"><> ");
}

static void test_csv__counts_lines_inside_quotes(void **state) {
    (void)state;
    expect("a,b\n\"1\n2\r\n3\",x\ny,z\n", "1:<a><b> 2:<1\n2\r\n3><x> 5:<y><z> ");
    expect("a,b\n\"1\n2\",x\ny\n", "1:<a><b> 2:<1\n2><x> 4:1 column where the header has 2");
}

static void test_csv__passes_over_blank_lines(void **state) {
    (void)state;
    expect("\n\r\na,b\n\n1,2\n\r\n\n3,4\n\n", "3:<a><b> 5:<1><2> 8:<3><4> ");
    expect("", "");
    expect("\n\n", "");
}

static void test_csv__drops_a_byte_order_mark(void **state) {
    (void)state;
    expect("\xEF\xBB\xBF"
           "a,b\n1,2\n",
           "1:<a><b> 2:<1><2> ");
    expect("\xEF\xBB\xBF\"a\",b\n", "1:<a><b> ");
    expect("\xEF\xBB\xBF", "");
}

static void test_csv__keeps_what_only_begins_like_a_mark(void **state) {
    (void)state;
    /* U+FEFE, U+FF01 share its first bytes; in the middle of a file the mark is a character. */
    expect("\xEF\xBB\xBE,b\n", "1:<\xEF\xBB\xBE><b> ");
    expect("\xEF\xBC\x81,b\n", "1:<\xEF\xBC\x81><b> ");
    expect("a\n\xEF\xBB\xBF\n", "1:<a> 2:<\xEF\xBB\xBF> ");
    expect("\xEF", "1:broken UTF-8 in column 1 (convert the file, for instance: iconv -f GB18030 -t UTF-8)");
}

static void test_csv__reads_chinese_and_four_byte_characters(void **state) {
    (void)state;
    expect("姓名,金额\n王小明,1.10\n𠮷野😀,2\n", "1:<姓名><金额> 2:<王小明><1.10> 3:<𠮷野😀><2> ");
}

static void test_csv__refuses_unequal_columns(void **state) {
    (void)state;
    expect("a,b,c\n1,2,3\n1,2\n", "1:<a><b><c> 2:<1><2><3> 3:2 columns where the header has 3");
    expect("a,b\n1,2,3\n", "1:<a><b> 2:3 columns where the header has 2");
    expect("a,b\n\"\"\n", "1:<a><b> 2:1 column where the header has 2");
}

#define BROKEN " (convert the file, for instance: iconv -f GB18030 -t UTF-8)"

static void test_csv__refuses_broken_utf8(void **state) {
    (void)state;
    expect("a,b\n1,\xFF\n", "1:<a><b> 2:broken UTF-8 in column 2" BROKEN);
    expect("a,b\n\xC3,x\n", "1:<a><b> 2:broken UTF-8 in column 1" BROKEN);      /* cut off by a comma */
    expect("a\n\xC0\xAF\n", "1:<a> 2:broken UTF-8 in column 1" BROKEN);         /* overlong */
    expect("a\n\xED\xA0\x80\n", "1:<a> 2:broken UTF-8 in column 1" BROKEN);     /* surrogate */
    expect("a\n\xF4\x90\x80\x80\n", "1:<a> 2:broken UTF-8 in column 1" BROKEN); /* beyond U+10FFFF */
    expect("a\n\"1\n2\"\n\xCD\xF5\n", "1:<a> 2:<1\n2> 4:broken UTF-8 in column 1" BROKEN); /* GB2312 */
    expect("a\n\xE7\x8E", "1:<a> 2:broken UTF-8 in column 1" BROKEN); /* cut off by the end */
}

static void test_csv__refuses_nul_bytes(void **state) {
    static const char data[] = "a\n1\0002\n";

    (void)state;
    expect_bytes(data, sizeof data - 1,
                 "1:<a> 2:a NUL byte (is the file UTF-16? convert it: iconv -f UTF-16 -t UTF-8)");
    expect_bytes("a\n\"\0\"\n", 6,
                 "1:<a> 2:a NUL byte (is the file UTF-16? convert it: iconv -f UTF-16 -t UTF-8)");
}

static void test_csv__refuses_stray_quotes(void **state) {
    (void)state;
    expect("a\nx\"y\n",
           "1:<a> 2:a quote inside an unquoted field (quote the whole field, double the quotes in it)");
    expect("a\n\"x\"y\n",
           "1:<a> 2:text after a closing quote (a quote inside a quoted field is written twice)");
    expect("a\n\"x\ny\n", "1:<a> 2:a quote is not closed before the end of the file");
}

static void test_csv__refuses_a_lone_carriage_return(void **state) {
    (void)state;
    expect("a\rb\r", "1:a carriage return without a line feed");
    expect("a\nb\r", "1:<a> 2:a carriage return without a line feed");
    expect("a\n\"x\"\ry\n", "1:<a> 2:a carriage return without a line feed");
    expect("a\n\"x\ry\"\n", "1:<a> 2:<x\ry> ");
}

static void test_csv__refuses_a_record_beyond_the_limit(void **state) {
    char data[LIMIT * 3] = "a\n";
    char wanted[LIMIT * 3] = "1:<a> 2:<";

    (void)state;
    /* The field and its NUL fill the limit. */
    memset(data + 2, 'x', LIMIT - 1);
    memset(wanted + 9, 'x', LIMIT - 1);
    memcpy(wanted + 9 + LIMIT - 1, "> ", 3);
    expect(data, wanted);
    data[2 + LIMIT - 1] = 'x';
    expect(data, "1:<a> 2:longer than 200 bytes (is a quote not closed?)");
    data[2] = '"';
    memset(data + 3, '\n', LIMIT * 2);
    expect(data, "1:<a> 2:longer than 200 bytes (is a quote not closed?)");
}

static void test_csv__refuses_too_many_empty_fields(void **state) {
    char data[LIMIT * 2];

    (void)state;
    memset(data, ',', sizeof data);
    expect_bytes(data, sizeof data, "1:longer than 200 bytes (is a quote not closed?)");
}

static void test_csv__stays_bad(void **state) {
    struct csv *csv = csv_open(LIMIT);
    size_t used = 9;

    (void)state;
    assert_int_equal(csv_feed(csv, "a\nb\"\n", 5, &used), READ_RECORD);
    assert_int_equal(used, 2);
    assert_int_equal(csv_feed(csv, "b\"\n", 3, &used), READ_BAD);
    assert_int_equal(csv_feed(csv, "c\n", 2, &used), READ_BAD);
    assert_int_equal(used, 0);
    assert_int_equal(csv_end(csv), READ_BAD);
    csv_close(csv);
}

static void test_csv__frees_null(void **state) {
    (void)state;
    csv_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv__reads_plain_records),
        cmocka_unit_test(test_csv__takes_a_missing_final_newline),
        cmocka_unit_test(test_csv__takes_crlf),
        cmocka_unit_test(test_csv__keeps_empty_fields),
        cmocka_unit_test(test_csv__keeps_blanks_in_fields),
        cmocka_unit_test(test_csv__reads_quotes),
        cmocka_unit_test(test_csv__counts_lines_inside_quotes),
        cmocka_unit_test(test_csv__passes_over_blank_lines),
        cmocka_unit_test(test_csv__drops_a_byte_order_mark),
        cmocka_unit_test(test_csv__keeps_what_only_begins_like_a_mark),
        cmocka_unit_test(test_csv__reads_chinese_and_four_byte_characters),
        cmocka_unit_test(test_csv__refuses_unequal_columns),
        cmocka_unit_test(test_csv__refuses_broken_utf8),
        cmocka_unit_test(test_csv__refuses_nul_bytes),
        cmocka_unit_test(test_csv__refuses_stray_quotes),
        cmocka_unit_test(test_csv__refuses_a_lone_carriage_return),
        cmocka_unit_test(test_csv__refuses_a_record_beyond_the_limit),
        cmocka_unit_test(test_csv__refuses_too_many_empty_fields),
        cmocka_unit_test(test_csv__stays_bad),
        cmocka_unit_test(test_csv__frees_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
