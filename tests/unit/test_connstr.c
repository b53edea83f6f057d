/* The reader and writer of ODBC connection strings. What tp_env_open makes of one: test_env.c. */
#include "odbc/connstr.h"
#include "support/test.h"

static struct tpi_connstr parsed(const char *text) {
    struct tpi_connstr cs = {0};
    if (tpi_connstr_parse(text, &cs) != TP_OK) fail_msg("'%s': %s", text, tp_last_error()->text);
    return cs;
}

/* The pairs as text, <key|value> each. */
static void check(const char *text, const char *wanted) {
    struct tpi_connstr cs = parsed(text);
    struct tpi_buf seen = {0};
    for (size_t i = 0; i < cs.count; i++) {
        tpi_buf_char(&seen, '<');
        tpi_buf_text(&seen, cs.pairs[i].key);
        tpi_buf_char(&seen, '|');
        tpi_buf_text(&seen, cs.pairs[i].value);
        tpi_buf_char(&seen, '>');
    }
    expect_buf(&seen, wanted);
    tpi_connstr_free(&cs);
}

TEST(test_parse__reads_keys_and_values) {
    check("Driver=SQLite3", "<Driver|SQLite3>");
    check("Driver=SQLite3;Database=/tmp/x.db;", "<Driver|SQLite3><Database|/tmp/x.db>");
    check("DSN=payroll;UID=me;PWD=secret", "<DSN|payroll><UID|me><PWD|secret>");
}

TEST(test_parse__drops_blanks_around_keys_and_values) {
    check("  Driver = SQLite3 ; Database =\t/tmp/x y.db \n;", "<Driver|SQLite3><Database|/tmp/x y.db>");
    check("Driver=PostgreSQL Unicode;Row Versioning=1", "<Driver|PostgreSQL Unicode><Row Versioning|1>");
}

TEST(test_parse__passes_over_empty_parts) {
    check(";;Driver=x;; ; ;Port=1;;", "<Driver|x><Port|1>");
}

TEST(test_parse__keeps_empty_values) {
    check("Driver=x;PWD=;Port=", "<Driver|x><PWD|><Port|>");
    check("Driver=x;PWD={};Port= ", "<Driver|x><PWD|><Port|>");
}

TEST(test_parse__takes_an_equals_sign_in_a_value) {
    check("Driver=x;PWD=a=b==;Port=1", "<Driver|x><PWD|a=b==><Port|1>");
}

TEST(test_parse__takes_special_characters_in_braces) {
    check("PWD={a;b=c};Port=1", "<PWD|a;b=c><Port|1>");
    check("PWD={ two blanks }", "<PWD| two blanks >");
    check("INITSTMT={SET sql_mode=CONCAT(@@sql_mode,',ORACLE')};UID=u",
          "<INITSTMT|SET sql_mode=CONCAT(@@sql_mode,',ORACLE')><UID|u>");
    check("PWD={a{b{{c}", "<PWD|a{b{{c>");
}

TEST(test_parse__keeps_a_brace_doubled_inside_braces) {
    check("PWD={a}}b}", "<PWD|a}b>");
    check("PWD={}}}", "<PWD|}>");
    check("PWD={}}}}};Port=1", "<PWD|}}><Port|1>");
    check("PWD={a}};b};Port=1", "<PWD|a};b><Port|1>");
}

TEST(test_parse__takes_a_brace_that_does_not_come_first_as_it_is) {
    check("PWD=a{b}c;Port=1", "<PWD|a{b}c><Port|1>");
    check("PWD=a}};Port=1", "<PWD|a}}><Port|1>");
}

TEST(test_parse__allows_blanks_around_braces) {
    check("PWD =  {a;b}  ; Port=1", "<PWD|a;b><Port|1>");
}

TEST(test_parse__keeps_bytes_beyond_ascii) {
    check("Database=\xe5\xb7\xa5\xe8\xb5\x84;PWD={\xf0\x9f\x98\x80;}",
          "<Database|\xe5\xb7\xa5\xe8\xb5\x84><PWD|\xf0\x9f\x98\x80;>");
}

static void refuse(const char *text, const char *part_of_error) {
    struct tpi_connstr cs = {0};
    assert_int_equal(tpi_connstr_parse(text, &cs), TP_MISUSE);
    assert_null(cs.pairs);
    assert_int_equal(cs.count, 0);
    if (!strstr(tp_last_error()->text, part_of_error))
        fail_msg("'%s' is told as: %s", text, tp_last_error()->text);
    if (strstr(tp_last_error()->text, "hunter")) fail_msg("password told: %s", tp_last_error()->text);
}

/* The place is told by key or by number. */
static void refuse_at(const char *text, int part, const char *key, const char *part_of_error) {
    char number[16];
    snprintf(number, sizeof number, "part %d", part);
    refuse(text, part_of_error);
    if (!strstr(tp_last_error()->text, key) && !strstr(tp_last_error()->text, number))
        fail_msg("the place is not told: %s", tp_last_error()->text);
}

TEST(test_parse__refuses_a_brace_that_is_never_closed) {
    refuse_at("Driver=x;PWD={hunter2;Port=1", 2, "PWD", "opens a brace { and never closes it");
    refuse("PWD={", "never closes it");
    refuse("PWD={hunter2}}", "never closes it");
    refuse("PWD={hunter2}};Port=1", "never closes it");
}

TEST(test_parse__refuses_text_behind_a_closing_brace) {
    refuse_at("Driver=x;PWD={hun}ter2;Port=1", 2, "PWD", "goes on behind its closing brace");
    refuse("PWD={hunter}2}", "goes on behind its closing brace");
    refuse("PWD={hunter2} x;Port=1", "goes on behind its closing brace");
    refuse("PWD={hunter2}{hunter3}", "goes on behind its closing brace");
}

TEST(test_parse__refuses_a_part_without_equals_sign_by_its_number) {
    refuse("Driver=x;hunter2;Port=1", "part 2");
    refuse("Driver=x;PWD=secret;hunter2", "part 3");
    refuse("hunter2", "part 1");
    refuse("Driver=x;=hunter2", "part 2");
    refuse("Driver=x; =hunter2", "part 2");
}

TEST(test_parse__refuses_an_empty_string) {
    refuse("", "empty");
    refuse("  \t\n", "empty");
    refuse(";;;", "empty");
}

static void is_written_as(const char *given, const char *wanted) {
    struct tpi_connstr cs = parsed(given);
    struct tpi_buf text = {0};
    tpi_connstr_write(&cs, &text);
    expect_buf(&text, wanted);
    tpi_connstr_free(&cs);
}

TEST(test_get__finds_a_key_in_any_case) {
    struct tpi_connstr cs = parsed("Driver=x;pwd=secret");
    assert_string_equal(tpi_connstr_get(&cs, "DRIVER"), "x");
    assert_string_equal(tpi_connstr_get(&cs, "PWD"), "secret");
    assert_null(tpi_connstr_get(&cs, "PW"));
    assert_null(tpi_connstr_get(&cs, "PWDX"));
    assert_null(tpi_connstr_get(&cs, ""));
    tpi_connstr_free(&cs);
}

TEST(test_get__of_a_key_given_twice_the_first_counts) {
    struct tpi_connstr cs = parsed("Port=1;PORT=2;port=3");
    assert_string_equal(tpi_connstr_get(&cs, "Port"), "1");
    tpi_connstr_free(&cs);
}

TEST(test_take__hands_over_the_value_and_leaves_the_others) {
    char *value = NULL;
    struct tpi_connstr cs = parsed("Driver=x;Dialect=oracle;Port=1");
    assert_true(tpi_connstr_take(&cs, "DIALECT", &value));
    assert_string_equal(value, "oracle");
    free(value);
    assert_false(tpi_connstr_take(&cs, "Dialect", &value));
    assert_true(tpi_connstr_take(&cs, "Driver", NULL));
    assert_int_equal(cs.count, 1);
    assert_string_equal(tpi_connstr_get(&cs, "Port"), "1");
    tpi_connstr_free(&cs);
}

TEST(test_set__changes_the_first_or_adds) {
    struct tpi_connstr cs = parsed("Port=1;PORT=2");
    assert_true(tpi_connstr_set(&cs, "port", "3"));
    assert_true(tpi_connstr_set(&cs, "Timeout", "5000"));
    assert_int_equal(cs.count, 3);
    assert_string_equal(tpi_connstr_get(&cs, "Port"), "3");
    assert_string_equal(cs.pairs[1].value, "2");
    assert_string_equal(tpi_connstr_get(&cs, "Timeout"), "5000");
    tpi_connstr_free(&cs);
}

TEST(test_copy__stands_by_itself) {
    struct tpi_connstr cs = parsed("Driver=x;PWD={a;}"), copy = {0};
    assert_true(tpi_connstr_copy(&cs, &copy));
    tpi_connstr_free(&cs);
    assert_int_equal(copy.count, 2);
    assert_string_equal(tpi_connstr_get(&copy, "PWD"), "a;");
    tpi_connstr_free(&copy);
}

static const char *const nasty[] =
    LIST("", "plain", "with space inside", " leading", "trailing ", "\ttabs\t", "line\nbreak", " ", ";",
         "a;b", "a;PWD=b", "=", "a=b", "{", "}", "{}", "}{", "{a}", "{a;b}", "a}b", "a}}b", "}}", "}}}", "};",
         "a};Port=1;x={", "{{{{", "a{b", "[x]", "(x),?*!@", "set a to 'b';set c to \"d\"", "back\\slash",
         "p%20w+&d#~`'\"", "\xe5\xb7\xa5\xe8\xb5\x84\xf0\x9f\x98\x80", "\xff\xfe");

TEST(test_write__what_it_writes_reads_back_the_same) {
    for (size_t i = 0; i < COUNT(nasty); i++) {
        struct tpi_connstr cs = {0}, back = {0};
        struct tpi_buf text = {0};
        assert_true(tpi_connstr_set(&cs, "Driver", "x y"));
        assert_true(tpi_connstr_set(&cs, "PWD", nasty[i]));
        assert_true(tpi_connstr_set(&cs, "Port", "1"));
        tpi_connstr_write(&cs, &text);
        if (tpi_connstr_parse(tpi_buf_str(&text), &back) != TP_OK) fail_msg("cannot read %s", text.data);
        assert_int_equal(back.count, 3);
        assert_string_equal(tpi_connstr_get(&back, "Driver"), "x y");
        assert_string_equal(tpi_connstr_get(&back, "PWD"), nasty[i]);
        assert_string_equal(tpi_connstr_get(&back, "Port"), "1");
        tpi_buf_free(&text);
        tpi_connstr_free(&cs);
        tpi_connstr_free(&back);
    }
}

/* psqlODBC would take braces for part of the first name and the last. */
TEST(test_write__what_came_without_braces_goes_without_them) {
    static const char list[] =
        "Server=10.0.0.1,10.0.0.2;Port=5432;UID=pay@roll;Database=my=db(1)!;PWD=a}b{c;";
    is_written_as(list, list);
}

TEST_AS(test_write__braces_only_what_needs_them,
        is_written_as("Driver={SQLite3};PWD={a}}b};Database=/tmp/x y.db",
                      "Driver=SQLite3;PWD={a}}b};Database=/tmp/x y.db;"))

TEST(test_alike__sees_typing_errors) {
    static const char *const pairs[][2] =
        LIST({"Dialct", "Dialect"}, {"dialekt", "Dialect"}, {"Dialects", "Dialect"}, {"Dailect", "Dialect"},
             {"Prefx", "Prefix"}, {"PREFIXX", "Prefix"}, {"Plan_", "Plan"}, {"Pln", "Plan"}, {"Plam", "Plan"},
             {"Databse", "Database"}, {"Pasword", "Password"}, {"Sever", "Server"}, {"Serverr", "Server"},
             {"JournalMod", "JournalMode"});
    for (size_t i = 0; i < COUNT(pairs); i++)
        if (!tpi_connstr_alike(pairs[i][0], pairs[i][1])) fail_msg("%s, %s", pairs[i][0], pairs[i][1]);
}

TEST(test_alike__tells_the_same_and_the_different_apart) {
    static const char *const pairs[][2] =
        LIST({"Dialect", "Dialect"}, {"DIALECT", "dialect"}, {"prefix", "Prefix"}, {"Driver", "Dialect"},
             {"Port", "Plan"}, {"Lang", "Plan"}, {"UID", "Plan"}, {"DSN", "Plan"}, {"Prefetch", "Prefix"},
             {"", "Plan"}, {"PWD", "Plan"}, {"Protocol", "Prefix"});
    for (size_t i = 0; i < COUNT(pairs); i++)
        if (tpi_connstr_alike(pairs[i][0], pairs[i][1])) fail_msg("%s, %s", pairs[i][0], pairs[i][1]);
}

TEST(test_alike__long_keys_are_not_alike) {
    char key[200];
    memset(key, 'x', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    assert_false(tpi_connstr_alike(key, "Dialect"));
    assert_false(tpi_connstr_alike("Dialect", key));
}
