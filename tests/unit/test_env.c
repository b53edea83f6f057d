/* tp_env_open: which connection strings it refuses, what it says of them, and that no password gets into it.
 */
#include "base/buf.h"
#include "support/test.h"

#define SECRET "hunter2"

/* Every prefix of the password from three characters on would be a part of it. */
static void assert_keeps_secret(const char *text) {
    if (strstr(text, "hun") || strstr(text, "nter") || strstr(text, "er2"))
        fail_msg("password told: %s", text);
}

static void refuse(const char *text, const char *part_of_error) {
    char untouched;
    tp_env *env = (tp_env *)&untouched;
    tp_status status = tp_env_open(text, &env);
    const tp_error *error = tp_last_error();
    if (status != TP_MISUSE) fail_msg("'%s': %s", text, tp_status_name(status));
    assert_ptr_equal(env, &untouched);
    assert_int_equal(error->status, TP_MISUSE);
    if (!strstr(error->text, part_of_error)) fail_msg("'%s' is told as: %s", text, error->text);
    assert_null(strchr(error->text, '\n'));
    assert_keeps_secret(error->text);
}

static void accept(const char *text) {
    tp_env *env = NULL;
    if (tp_env_open(text, &env) != TP_OK) fail_msg("'%s': %s", text, tp_last_error()->text);
    tp_env_close(env);
}

TEST(test_env__an_unknown_dialect_is_refused_and_the_known_are_listed) {
    refuse("Driver=x;PWD=" SECRET ";Dialect=db2", "Dialect=db2 is not known");
    refuse("Driver=x;Dialect=db2", "oracle, mysql, postgres, sqlite, generic");
    refuse("Driver=x;Dialect=", "one of");
    refuse("Driver=x;Dialect={oracle;}", "one of");
}

TEST(test_env__every_dialect_is_taken_in_any_case) {
    accept("Driver=x;Dialect=oracle");
    accept("Driver=x;Dialect=MySQL");
    accept("Driver=x;dialect=POSTGRES");
    accept("Driver=x;DIALECT={sqlite}");
    accept("Driver=x;Dialect=generic");
}

TEST(test_env__an_unknown_plan_is_refused_and_the_known_are_listed) {
    refuse("Driver=x;PWD=" SECRET ";Plan=fast", "Plan=fast is not known");
    refuse("Driver=x;Plan=fast", "row, batch, skip, hold, cas");
    refuse("Driver=x;Plan=", "row, batch, skip, hold, cas");
    accept("Driver=x;Plan=CAS");
    accept("Driver=x;plan=row");
}

TEST(test_env__a_prefix_that_is_no_name_is_refused) {
    static const char *const wrong[] = {"tp'",
                                        "tp\"",
                                        "tp`",
                                        "t p",
                                        "",
                                        "1tp_",
                                        "_tp",
                                        "tp-",
                                        "tp.",
                                        "tp;",
                                        "tp\\",
                                        "tp--",
                                        "tp/*",
                                        "tp%",
                                        "tp_pool_0123456789",
                                        "tp_\t",
                                        "\xc3\xa9",
                                        "t\xc3\xa9",
                                        "tp?",
                                        "tp:",
                                        "tp)",
                                        "a23456789012345_7"};
    char text[100];
    for (size_t i = 0; i < COUNT(wrong); i++) {
        snprintf(text, sizeof text, "Driver=x;PWD=" SECRET ";Prefix={%s}", wrong[i]);
        refuse(text, "Prefix must be a letter and up to 15 letters, digits and _");
    }
    refuse("Driver=x;Prefix=", "Prefix must be");
}

TEST(test_env__a_prefix_of_1_to_16_characters_is_taken) {
    accept("Driver=x;Prefix=t");
    accept("Driver=x;Prefix=Pay2_");
    accept("Driver=x;Prefix=a23456789012345_");
}

static void add_text(const char *text, size_t length, void *arg) {
    tpi_buf_add(arg, text, length);
}

static struct tpi_buf schema_of(const char *text) {
    struct tpi_buf script = {0};
    tp_env *env = NULL;
    must(tp_env_open(text, &env));
    must(tp_schema_print(env, add_text, &script));
    tp_env_close(env);
    return script;
}

TEST(test_env__of_a_key_given_twice_the_first_counts) {
    struct tpi_buf script = schema_of("Driver=x;Dialect=sqlite;Prefix=one_;Prefix=two_;Dialect=oracle");
    if (!strstr(tpi_buf_str(&script), "for SQLite")) fail_msg("the second Dialect= counted");
    if (!strstr(tpi_buf_str(&script), "CREATE TABLE IF NOT EXISTS one_meta"))
        fail_msg("the second Prefix= counted");
    tpi_buf_free(&script);
}

TEST(test_env__misspelled_keys_are_refused_with_the_right_one) {
    refuse("Driver=x;PWD=" SECRET ";Dialct=oracle", "unknown key 'Dialct'; did you mean Dialect?");
    refuse("Driver=x;Prefx=pay_;PWD=" SECRET, "unknown key 'Prefx'; did you mean Prefix?");
    refuse("Driver=x;PREFIXES=pay_", "did you mean Prefix?");
    refuse("Driver=x;Plann=row", "did you mean Plan?");
}

TEST(test_env__keys_of_drivers_are_left_alone) {
    accept("Driver=PostgreSQL Unicode;Server=h;Port=5432;Database=d;UID=u;PWD=" SECRET
           ";Protocol=7.4-0;SSLmode=require;Fetch=100;UseDeclareFetch=1;BoolsAsChar=0;TextAsLongVarchar=1");
    accept("Driver=MariaDB Unicode;SERVER=h;UID=u;PWD=p;OPTION=2;CHARSET=utf8mb4;PLUGIN_DIR=/x;SSLCA=/y");
    accept("Driver=Oracle;DBQ=//h/x;UID=u;PWD=p;QTO=F;FRC=10;FDL=10;BAM=IfAllSuccessful;LOB=T;PFC=10");
    accept("Driver=SQLite3;Database=/x;Timeout=100;NoTXN=0;LongNames=0;StepAPI=0;NoWCHAR=1;BigInt=1");
    accept("DSN=payroll");
}

TEST(test_env__a_string_that_cannot_be_read_is_told_by_its_place) {
    refuse("Driver=x;PWD={" SECRET ";Dialect=oracle", "opens a brace");
    refuse("Driver=x;PWD={hun}ter2;Dialect=oracle", "goes on behind its closing brace");
    refuse("Driver=x;PWD=a;" SECRET ";Dialect=oracle", "part 3");
    refuse("", "empty");
    refuse(" ; ", "empty");
}

/* The commonest typing error of all: the ; is missing, and the password stands in another key's value. */
TEST(test_env__a_password_that_slid_into_another_value_is_not_told) {
    refuse("Driver=x;Dialect=oracle PWD=" SECRET, "Dialect");
    refuse("Driver=x;Plan=row,PWD=" SECRET ";UID=u", "Plan");
    refuse("Driver=x;Prefix=tp_ PWD=" SECRET ";UID=u", "Prefix");
}

/* A password with a ; in it, and no braces around it: its rest looks like a key. */
TEST(test_env__a_password_that_looks_like_a_key_is_not_told) {
    refuse("Driver=x;PWD=abc;" SECRET "={y;UID=u", "brace");
    refuse("Driver=x;PWD=abc;" SECRET "={y}z;UID=u", "brace");
}

TEST(test_env__arguments_that_are_null_are_misuse) {
    tp_env *env = NULL;
    assert_int_equal(tp_env_open(NULL, &env), TP_MISUSE);
    assert_non_null(strstr(tp_last_error()->text, "if it comes from getenv, set that variable"));
    assert_int_equal(tp_env_open("Driver=x", NULL), TP_MISUSE);
    assert_null(env);
    tp_env_close(NULL);
}

TEST(test_env__scripts_of_a_named_dialect_need_no_connection) {
    struct tpi_buf script = schema_of("Driver=no such driver;Dialect=postgres;Prefix=Pay_");
    assert_non_null(strstr(tpi_buf_str(&script), "CREATE TABLE IF NOT EXISTS Pay_meta"));
    assert_null(strstr(tpi_buf_str(&script), " tp_meta"));
    tpi_buf_free(&script);
}

TEST(test_env__scripts_of_no_dialect_are_misuse_that_says_what_to_do) {
    struct tpi_buf script = {0};
    tp_env *env = NULL;
    assert_int_equal(tp_env_open("Driver=no such driver", &env), TP_OK);
    assert_int_equal(tp_schema_print(env, add_text, &script), TP_MISUSE);
    assert_non_null(strstr(tp_last_error()->text, "say Dialect="));
    assert_int_equal(tp_schema_print(env, NULL, NULL), TP_MISUSE);
    assert_int_equal(tp_schema_print(NULL, add_text, &script), TP_MISUSE);
    assert_string_equal(tpi_buf_str(&script), "");
    tp_env_close(env);
}
