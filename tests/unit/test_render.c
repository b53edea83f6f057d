/* What a statement's text becomes for one pool: prefix, places for parameters, lists, repeated rows, scripts.
 */
#include "store/render.h"
#include "support/test.h"

static void check(const char *text, const unsigned char *params, size_t count, size_t list, size_t rows,
                  const char *wanted) {
    struct tpi_sql sql = {.text = text, .params = params, .param_count = count};
    struct tpi_buf out = {0};
    tpi_render(&sql, "pay_", (struct tpi_places){.list = list, .rows = rows}, &out);
    expect_buf(&out, wanted);
}

TEST(test_render__the_prefix_stands_where_it_is_marked) {
    check("SELECT 1", NULL, 0, 0, 1, "SELECT 1");
    check("SELECT id FROM \002pending, \002failed", NULL, 0, 0, 1, "SELECT id FROM pay_pending, pay_failed");
    check("", NULL, 0, 0, 1, "");
}

TEST(test_render__each_parameter_gets_one_place) {
    static const unsigned char params[] = {TPI_P_id, TPI_P_limit, TPI_P_params};
    check("WHERE id = \001 AND n < \001 AND p = \001", params, 3, 0, 1, "WHERE id = ? AND n < ? AND p = ?");
}

TEST(test_render__a_list_gets_as_many_places_as_it_has_items) {
    static const unsigned char params[] = {TPI_P_token, TPI_P_handlers, TPI_P_limit};
    check("\001 IN (\001) LIMIT \001", params, 3, 1, 1, "? IN (?) LIMIT ?");
    check("\001 IN (\001) LIMIT \001", params, 3, 2, 1, "? IN (?, ?) LIMIT ?");
    check("\001 IN (\001) LIMIT \001", params, 3, 4, 1, "? IN (?, ?, ?, ?) LIMIT ?");
}

TEST(test_render__a_list_of_500_has_500_places) {
    static const unsigned char params[] = {TPI_P_ids};
    struct tpi_sql sql = {.text = "IN (\001)", .params = params, .param_count = 1};
    struct tpi_buf out = {0};
    size_t places = 0;
    tpi_render(&sql, "", (struct tpi_places){.list = 500, .rows = 1}, &out);
    for (size_t i = 0; i < out.length; i++)
        places += out.data[i] == '?';
    assert_int_equal(places, 500);
    assert_int_equal(out.length, strlen("IN ()") + 500 + 499 * 2);
    tpi_buf_free(&out);
}

TEST(test_render__marked_rows_are_repeated_with_union_all) {
    static const unsigned char params[] = {TPI_P_id, TPI_P_handler, TPI_P_shard};
    const char *text = "INSERT INTO \002pending \003 SELECT \001, \001 FROM \002meta \004 WHERE \001";
    check(text, params, 3, 0, 1, "INSERT INTO pay_pending  SELECT ?, ? FROM pay_meta  WHERE ?");
    check(text, params, 3, 0, 2,
          "INSERT INTO pay_pending  SELECT ?, ? FROM pay_meta UNION ALL SELECT ?, ? FROM pay_meta  WHERE ?");
}

TEST(test_render__rows_at_the_very_end_are_repeated_too) {
    static const unsigned char params[] = {TPI_P_id};
    check("\003 SELECT \001 \004", params, 1, 0, 3, " SELECT ? UNION ALL SELECT ? UNION ALL SELECT ? ");
}

static void check_shards_in_rows(size_t numbers, const char *wanted) {
    static const unsigned char params[] = {TPI_P_token, TPI_P_handler, TPI_P_shards, TPI_P_limit,
                                           TPI_P_limit};
    static const struct tpi_sql sql = {
        .text = "\001 (\003 \001 \005 s IN (\001) \006 \001 \004) \001", .params = params, .param_count = 5};
    struct tpi_buf out = {0};
    tpi_render(&sql, "", (struct tpi_places){.numbers = numbers, .rows = 2}, &out);
    expect_buf(&out, wanted);
}

TEST(test_render__an_optional_part_may_be_in_the_repeated_one) {
    check_shards_in_rows(0, "? ( ?  ? UNION ALL ?  ? ) ?");
    check_shards_in_rows(1, "? ( ?  s IN (?)  ? UNION ALL ?  s IN (?)  ? ) ?");
}

static void check_zero(struct tpi_places places, const char *wanted) {
    static const unsigned char params[] = {TPI_P_shards, TPI_P_limit};
    static const struct tpi_sql sql = {
        .text = "a\005 AND s IN (\001)\007 AND s <> 0\006 LIMIT \001", .params = params, .param_count = 2};
    struct tpi_buf out = {0};
    places.rows = 1;
    tpi_render(&sql, "", places, &out);
    expect_buf(&out, wanted);
}

TEST(test_render__what_is_not_for_0_is_left_out_when_0_is_in_the_list) {
    check_zero((struct tpi_places){.numbers = 1}, "a AND s IN (?) AND s <> 0 LIMIT ?");
    check_zero((struct tpi_places){.numbers = 2, .zero = true}, "a AND s IN (?, ?) LIMIT ?");
    check_zero((struct tpi_places){.numbers = 0}, "a LIMIT ?");
}

static void check_shards(size_t list, size_t numbers, const char *wanted) {
    static const unsigned char params[] = {TPI_P_handlers, TPI_P_shards, TPI_P_limit};
    static const struct tpi_sql sql = {
        .text = "h IN (\001) \005 AND s IN (\001) \006 LIMIT \001", .params = params, .param_count = 3};
    struct tpi_buf out = {0};
    tpi_render(&sql, "", (struct tpi_places){.list = list, .numbers = numbers, .rows = 1}, &out);
    expect_buf(&out, wanted);
}

TEST(test_render__an_optional_part_is_written_only_with_its_list) {
    check_shards(1, 0, "h IN (?)  LIMIT ?");
    check_shards(4, 0, "h IN (?, ?, ?, ?)  LIMIT ?");
    check_shards(1, 1, "h IN (?)  AND s IN (?)  LIMIT ?");
    check_shards(2, 4, "h IN (?, ?)  AND s IN (?, ?, ?, ?)  LIMIT ?");
}

TEST(test_render__the_prefix_is_taken_as_it_is) {
    static const struct tpi_sql sql = {.text = "\002a", .params = NULL, .param_count = 0};
    struct tpi_buf out = {0};
    tpi_render(&sql, "a23456789012345_", (struct tpi_places){.rows = 1}, &out);
    expect_buf(&out, "a23456789012345_a");
}

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

TEST(test_script__a_word_inside_another_stays) {
    check_script("NCLOB CLOBX CLOB_ _CLOB CLOB2", "CLOB", "text", "NCLOB CLOBX CLOB_ _CLOB CLOB2");
}

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

TEST(test_names__stay_as_they_are_where_the_driver_has_no_quotes) {
    check_names("", SQL_IC_UPPER, "SELECT id FROM Pay_meta", "SELECT id FROM Pay_meta");
}
