/* What a statement's text becomes for one pool: prefix, places for parameters, lists, repeated rows, scripts.
 */
#include "store/render.h"
#include "support/test.h"

/* How a statement is rendered: with one row and no list, unless it is said. */
struct rendered {
    const char *prefix; /* NULL: pay_ */
    unsigned char params[6];
    size_t param_count;
    struct tpi_repeats places;
};

#define PARAMS(...) .params = {__VA_ARGS__}, .param_count = sizeof((unsigned char[]){__VA_ARGS__})
#define renders(text, wanted, ...)                                                                           \
    check_rendered((text), (wanted), &(struct rendered){.places.rows = 1, __VA_ARGS__}, __LINE__)
static void check_rendered(const char *text, const char *wanted, const struct rendered *how, int line) {
    struct tpi_sql sql = {.text = text, .params = how->params, .param_count = how->param_count};
    struct tpi_buf out = {0};
    tpi_render(&sql, how->prefix ? how->prefix : "pay_", how->places, &out);
    check_buf(&out, wanted, __FILE__, line);
}

TEST(test_render__the_prefix_stands_where_it_is_marked) {
    renders("SELECT 1", "SELECT 1", .param_count = 0);
    renders("SELECT id FROM \002pending, \002failed", "SELECT id FROM pay_pending, pay_failed",
            .param_count = 0);
    renders("", "", .param_count = 0);
}

TEST_AS(test_render__each_parameter_gets_one_place,
        renders("WHERE id = \001 AND n < \001 AND p = \001", "WHERE id = ? AND n < ? AND p = ?",
                PARAMS(TPI_P_id, TPI_P_limit, TPI_P_params)))

#define LISTED  "\001 IN (\001) LIMIT \001"
#define OF_LIST PARAMS(TPI_P_token, TPI_P_handlers, TPI_P_limit)

TEST(test_render__a_list_gets_as_many_places_as_it_has_items) {
    renders(LISTED, "? IN (?) LIMIT ?", OF_LIST, .places.list = 1);
    renders(LISTED, "? IN (?, ?) LIMIT ?", OF_LIST, .places.list = 2);
    renders(LISTED, "? IN (?, ?, ?, ?) LIMIT ?", OF_LIST, .places.list = 4);
}

TEST(test_render__a_list_of_500_has_500_places) {
    char wanted[2000] = "IN (?";
    size_t end = strlen(wanted);
    for (; end < strlen("IN (") + 500 + 499 * 2; end += 3)
        memcpy(wanted + end, ", ?", 3);
    wanted[end] = ')';
    renders("IN (\001)", wanted, PARAMS(TPI_P_ids), .places.list = 500);
}

#define INSERTED  "INSERT INTO \002pending \003 SELECT \001, \001 FROM \002meta \004 WHERE \001"
#define OF_INSERT PARAMS(TPI_P_id, TPI_P_handler, TPI_P_shard)

TEST(test_render__marked_rows_are_repeated_with_union_all) {
    renders(INSERTED, "INSERT INTO pay_pending  SELECT ?, ? FROM pay_meta  WHERE ?", OF_INSERT);
    renders(INSERTED,
            "INSERT INTO pay_pending  SELECT ?, ? FROM pay_meta UNION ALL SELECT ?, ? FROM pay_meta  WHERE ?",
            OF_INSERT, .places.rows = 2);
}

TEST_AS(test_render__rows_at_the_very_end_are_repeated_too,
        renders("\003 SELECT \001 \004", " SELECT ? UNION ALL SELECT ? UNION ALL SELECT ? ", PARAMS(TPI_P_id),
                .places.rows = 3))

#define SHARDS_IN_ROWS    "\001 (\003 \001 \005 s IN (\001) \006 \001 \004) \001"
#define OF_SHARDS_IN_ROWS PARAMS(TPI_P_token, TPI_P_handler, TPI_P_shards, TPI_P_limit, TPI_P_limit)

TEST(test_render__an_optional_part_may_be_in_the_repeated_one) {
    renders(SHARDS_IN_ROWS, "? ( ?  ? UNION ALL ?  ? ) ?", OF_SHARDS_IN_ROWS, .places.rows = 2);
    renders(SHARDS_IN_ROWS, "? ( ?  s IN (?)  ? UNION ALL ?  s IN (?)  ? ) ?", OF_SHARDS_IN_ROWS,
            .places.rows = 2, .places.numbers = 1);
}

#define NOT_FOR_0    "a\005 AND s IN (\001)\007 AND s <> 0\006 LIMIT \001"
#define OF_NOT_FOR_0 PARAMS(TPI_P_shards, TPI_P_limit)

TEST(test_render__what_is_not_for_0_is_left_out_when_0_is_in_the_list) {
    renders(NOT_FOR_0, "a AND s IN (?) AND s <> 0 LIMIT ?", OF_NOT_FOR_0, .places.numbers = 1);
    renders(NOT_FOR_0, "a AND s IN (?, ?) LIMIT ?", OF_NOT_FOR_0, .places.numbers = 2, .places.zero = true);
    renders(NOT_FOR_0, "a LIMIT ?", OF_NOT_FOR_0);
}

#define OPTIONAL "h IN (\001) \005 AND s IN (\001) \006 LIMIT \001"
#define OF_OPTIONAL(handlers, shards)                                                                        \
    PARAMS(TPI_P_handlers, TPI_P_shards, TPI_P_limit), .places.list = (handlers), .places.numbers = (shards)

TEST(test_render__an_optional_part_is_written_only_with_its_list) {
    renders(OPTIONAL, "h IN (?)  LIMIT ?", OF_OPTIONAL(1, 0));
    renders(OPTIONAL, "h IN (?, ?, ?, ?)  LIMIT ?", OF_OPTIONAL(4, 0));
    renders(OPTIONAL, "h IN (?)  AND s IN (?)  LIMIT ?", OF_OPTIONAL(1, 1));
    renders(OPTIONAL, "h IN (?, ?)  AND s IN (?, ?, ?, ?)  LIMIT ?", OF_OPTIONAL(2, 4));
}

TEST_AS(test_render__the_prefix_is_taken_as_it_is,
        renders("\002a", "a23456789012345_a", .prefix = "a23456789012345_"))

static void check_script(const char *text, const char *word, const char *replacement, const char *wanted) {
    struct tpi_buf out = {0};
    tpi_render_script(text, "pay_", word, replacement, &out);
    expect_buf(&out, wanted);
}

TEST(test_script__gets_the_prefix_and_no_places) {
    check_script("CREATE TABLE \002meta (a INT)", NULL, NULL, "CREATE TABLE pay_meta (a INT)");
    check_script(":NEW.id := \002new_id()", NULL, NULL, ":NEW.id := pay_new_id()");
    check_script("", NULL, NULL, "");
}

TEST(test_script__a_word_is_replaced_where_it_stands_alone) {
    check_script("params CLOB, x", "CLOB", "longtext", "params longtext, x");
    check_script("CLOB", "CLOB", "text", "text");
    check_script("(CLOB)CLOB", "CLOB", "text", "(text)text");
}

TEST_AS(test_script__a_word_inside_another_stays,
        check_script("NCLOB CLOBX CLOB_ _CLOB CLOB2", "CLOB", "text", "NCLOB CLOBX CLOB_ _CLOB CLOB2"))

static void check_names(const char *quote, SQLUSMALLINT stored, const char *text, const char *wanted) {
    struct tpi_names names = {.stored = stored};
    struct tpi_buf out = {0};
    snprintf(names.quote, sizeof names.quote, "%s", quote);
    tpi_buf_text(&out, text);
    tpi_render_names(&names, &out);
    expect_buf(&out, wanted);
}

TEST(test_names__are_quoted_and_words_texts_and_numbers_are_not) {
    check_names("\"", 0, "SELECT t.id, 12 FROM Pay_meta t WHERE x_1 = 'it''s my x' AND y=?",
                "SELECT \"t\".\"id\", 12 FROM \"Pay_meta\" \"t\" WHERE \"x_1\" = 'it''s my x' AND \"y\"=?");
    check_names("`", 0, "MIN(id)", "MIN(`id`)");
    check_names("\"", 0, "", "");
    check_names("\"", 0, "id", "\"id\"");
}

TEST(test_names__get_the_case_in_which_unquoted_ones_are_stored) {
    check_names("\"", SQL_IC_UPPER, "Pay_meta IN ('a')", "\"PAY_META\" IN ('a')");
    check_names("\"", SQL_IC_LOWER, "Pay_meta IN ('A')", "\"pay_meta\" IN ('A')");
    check_names("\"", SQL_IC_MIXED, "Pay_meta", "\"Pay_meta\"");
    check_names("\"", SQL_IC_SENSITIVE, "Pay_meta", "\"Pay_meta\"");
}

TEST_AS(test_names__stay_as_they_are_where_the_driver_has_no_quotes,
        check_names("", SQL_IC_UPPER, "SELECT id FROM Pay_meta", "SELECT id FROM Pay_meta"))
