/* The CSV reader, always fed whole and in small chunks. */
#include "cli/csv.h"
#include "support/test.h"

#define LIMIT 200

#define READER csv
#include "unit/read_in_steps.h"

/* A record is its fields in <>. */
static void show_record(struct seen *seen, const struct csv *csv) {
    for (size_t i = 0; i < csv_count(csv); i++)
        see(seen, "<%s>", csv_field(csv, i));
}

TEST_AS(test_csv__reads_plain_records, reads_as("a,b\n1,2\n3,4\n", "1:<a><b> 2:<1><2> 3:<3><4> "))

#define CUT_OFF "the last line has no line end, so it may have been cut off (if it is whole, add one)"

/* 1250.00 may have been written up to its third digit. */
TEST(test_csv__refuses_a_last_line_that_may_be_cut_off) {
    reads_as("a,b\n1,125", "1:<a><b> 2:" CUT_OFF);
    reads_as("a,b\n1,", "1:<a><b> 2:" CUT_OFF);
    reads_as("a\n\"x\"", "1:<a> 2:" CUT_OFF);
    reads_as("a\n\"\"", "1:<a> 2:" CUT_OFF);
    reads_as("a,b", "1:" CUT_OFF);
    reads_as("a\nx\n\n", "1:<a> 2:<x> ");
}

TEST_AS(test_csv__takes_crlf, reads_as("a,b\r\n1,2\r\n\"3\",\"4\"\r\n", "1:<a><b> 2:<1><2> 3:<3><4> "))

TEST(test_csv__keeps_empty_fields) {
    reads_as("a,b,c\n,,\n1,,\n,,3\n", "1:<a><b><c> 2:<><><> 3:<1><><> 4:<><><3> ");
    reads_as("a,b\n1,\n", "1:<a><b> 2:<1><> ");
    reads_as("a\n\"\"\n", "1:<a> 2:<> ");
}

TEST_AS(test_csv__keeps_blanks_in_fields, reads_as("a,b\n 1 ,\t2\n", "1:<a><b> 2:< 1 ><\t2> "))

TEST(test_csv__reads_quotes) {
    reads_as("a,b\n\"x,y\",\"say \"\"hi\"\"\"\n", "1:<a><b> 2:<x,y><say \"hi\"> ");
    reads_as("\"a\",\"b\"\n\"\"\"\",\"\"\n", "1:<a><b> 2:<\"><> ");
}

TEST(test_csv__counts_lines_inside_quotes) {
    reads_as("a,b\n\"1\n2\r\n3\",x\ny,z\n", "1:<a><b> 2:<1\n2\r\n3><x> 5:<y><z> ");
    reads_as("a,b\n\"1\n2\",x\ny\n", "1:<a><b> 2:<1\n2><x> 4:1 column where the header has 2");
}

TEST(test_csv__passes_over_blank_lines) {
    reads_as("\n\r\na,b\n\n1,2\n\r\n\n3,4\n\n", "3:<a><b> 5:<1><2> 8:<3><4> ");
    reads_as("", "");
    reads_as("\n\n", "");
}

TEST(test_csv__drops_a_byte_order_mark) {
    reads_as("\xEF\xBB\xBF"
             "a,b\n1,2\n",
             "1:<a><b> 2:<1><2> ");
    reads_as("\xEF\xBB\xBF\"a\",b\n", "1:<a><b> ");
    reads_as("\xEF\xBB\xBF", "");
}

TEST(test_csv__keeps_what_only_begins_like_a_mark) {
    /* U+FEFE, U+FF01 share its first bytes; in the middle of a file the mark is a character. */
    reads_as("\xEF\xBB\xBE,b\n", "1:<\xEF\xBB\xBE><b> ");
    reads_as("\xEF\xBC\x81,b\n", "1:<\xEF\xBC\x81><b> ");
    reads_as("a\n\xEF\xBB\xBF\n", "1:<a> 2:<\xEF\xBB\xBF> ");
    reads_as("\xEF\n",
             "1:broken UTF-8 in column 1 (convert the file, for instance: iconv -f GB18030 -t UTF-8)");
}

TEST_AS(test_csv__reads_chinese_and_four_byte_characters,
        reads_as("姓名,金额\n王小明,1.10\n𠮷野😀,2\n", "1:<姓名><金额> 2:<王小明><1.10> 3:<𠮷野😀><2> "))

TEST(test_csv__refuses_unequal_columns) {
    reads_as("a,b,c\n1,2,3\n1,2\n", "1:<a><b><c> 2:<1><2><3> 3:2 columns where the header has 3");
    reads_as("a,b\n1,2,3\n", "1:<a><b> 2:3 columns where the header has 2");
    reads_as("a,b\n\"\"\n", "1:<a><b> 2:1 column where the header has 2");
}

#define BROKEN " (convert the file, for instance: iconv -f GB18030 -t UTF-8)"

TEST(test_csv__refuses_broken_utf8) {
    reads_as("a,b\n1,\xFF\n", "1:<a><b> 2:broken UTF-8 in column 2" BROKEN);
    reads_as("a,b\n\xC3,x\n", "1:<a><b> 2:broken UTF-8 in column 1" BROKEN);      /* cut off by a comma */
    reads_as("a\n\xC0\xAF\n", "1:<a> 2:broken UTF-8 in column 1" BROKEN);         /* overlong */
    reads_as("a\n\xED\xA0\x80\n", "1:<a> 2:broken UTF-8 in column 1" BROKEN);     /* surrogate */
    reads_as("a\n\xF4\x90\x80\x80\n", "1:<a> 2:broken UTF-8 in column 1" BROKEN); /* beyond U+10FFFF */
    reads_as("a\n\"1\n2\"\n\xCD\xF5\n", "1:<a> 2:<1\n2> 4:broken UTF-8 in column 1" BROKEN); /* GB2312 */
    reads_as("a\n\xE7\x8E\n", "1:<a> 2:broken UTF-8 in column 1" BROKEN); /* cut off by the line's end */
}

#define NUL_BYTE "a NUL byte (is the file UTF-16? convert it: iconv -f UTF-16 -t UTF-8)"

TEST(test_csv__refuses_nul_bytes) {
    static const char data[] = "a\n1\0002\n";
    bytes_read_as(data, sizeof data - 1, "1:<a> 2:" NUL_BYTE);
    bytes_read_as("a\n\"\0\"\n", 6, "1:<a> 2:" NUL_BYTE);
}

TEST(test_csv__refuses_stray_quotes) {
    reads_as("a\nx\"y\n",
             "1:<a> 2:a quote inside an unquoted field (quote the whole field, double the quotes in it)");
    reads_as("a\n\"x\"y\n",
             "1:<a> 2:text after a closing quote (a quote inside a quoted field is written twice)");
    reads_as("a\n\"x\ny\n", "1:<a> 2:a quote is not closed before the end of the file");
}

TEST(test_csv__refuses_a_lone_carriage_return) {
    reads_as("a\rb\r", "1:a carriage return without a line feed");
    reads_as("a\nb\r", "1:<a> 2:a carriage return without a line feed");
    reads_as("a\n\"x\"\ry\n", "1:<a> 2:a carriage return without a line feed");
    reads_as("a\n\"x\ry\"\n", "1:<a> 2:<x\ry> ");
}

TEST(test_csv__refuses_a_record_beyond_the_limit) {
    char data[LIMIT * 3] = "a\n";
    char wanted[LIMIT * 3] = "1:<a> 2:<";
    /* The field and its NUL fill the limit. */
    memset(data + 2, 'x', LIMIT - 1);
    memset(wanted + 9, 'x', LIMIT - 1);
    memcpy(wanted + 9 + LIMIT - 1, "> ", 3);
    data[2 + LIMIT - 1] = '\n';
    reads_as(data, wanted);
    data[2 + LIMIT - 1] = 'x';
    data[2 + LIMIT] = '\n';
    reads_as(data, "1:<a> 2:longer than 200 bytes (is a quote not closed?)");
    data[2] = '"';
    memset(data + 3, '\n', LIMIT * 2);
    reads_as(data, "1:<a> 2:longer than 200 bytes (is a quote not closed?)");
}

TEST(test_csv__refuses_too_many_empty_fields) {
    char data[LIMIT * 2];
    memset(data, ',', sizeof data);
    bytes_read_as(data, sizeof data, "1:longer than 200 bytes (is a quote not closed?)");
}

TEST(test_csv__stays_bad) {
    struct csv *csv = csv_open(LIMIT);
    size_t used = 9;
    assert_int_equal(csv_feed(csv, "a\nb\"\n", 5, &used), READ_RECORD);
    assert_int_equal(used, 2);
    assert_int_equal(csv_feed(csv, "b\"\n", 3, &used), READ_BAD);
    assert_int_equal(csv_feed(csv, "c\n", 2, &used), READ_BAD);
    assert_int_equal(used, 0);
    assert_int_equal(csv_end(csv), READ_BAD);
    csv_close(csv);
}

TEST_AS(test_csv__frees_null, csv_close(NULL))
