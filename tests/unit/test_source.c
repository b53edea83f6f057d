/* What a driver profile makes of a connection string before the driver sees it. No database is asked. */
#include "odbc/source.h"
#include "support/test.h"

static void open_source(const char *text, struct tpi_source *source) {
    struct tpi_connstr cs = {0};
    assert_int_equal(tpi_connstr_parse(text, &cs), TP_OK);
    assert_int_equal(tpi_source_open(source, &cs), TP_OK);
}

static void completes_to(const char *text, const char *module, const char *wanted) {
    struct tpi_source source;
    bool is_complete = false;
    open_source(text, &source);
    if (tpi_source_complete(&source, tpi_driver_for_module(module)) != TP_OK)
        fail_msg("%s: %s", text, tp_last_error()->text);
    char *complete = tpi_source_text(&source, &is_complete);
    assert_true(is_complete);
    assert_string_equal(complete, wanted);
    free(complete);
    tpi_source_close(&source);
}

static void refuses(const char *text, const char *module, const char *part_of_error) {
    struct tpi_source source;
    open_source(text, &source);
    if (tpi_source_complete(&source, tpi_driver_for_module(module)) != TP_MISUSE)
        fail_msg("%s was not refused", text);
    if (!strstr(tp_last_error()->text, part_of_error)) fail_msg("%s: %s", text, tp_last_error()->text);
    if (strstr(tp_last_error()->text, "hunter2")) fail_msg("password told: %s", tp_last_error()->text);
    tpi_source_close(&source);
}

static void begins_as(const char *given, const char *wanted) {
    struct tpi_source source;
    bool is_complete = true;
    open_source(given, &source);
    char *text = tpi_source_text(&source, &is_complete);
    assert_false(is_complete);
    assert_string_equal(text, wanted);
    free(text);
    tpi_source_close(&source);
}

TEST(test_source__stands_as_given_but_for_a_time_limit_until_the_driver_is_known) {
    begins_as("Driver=MariaDB Unicode;PWD={a;b}", "Driver=MariaDB Unicode;PWD={a;b};CONN_TIMEOUT=10;");
    begins_as("DSN=x;conn_timeout=3", "DSN=x;conn_timeout=3;");
}

TEST(test_source__gets_the_keys_without_which_the_driver_lies) {
    completes_to("Driver=x;Port=1", "libmaodbc.so",
                 "Driver=x;Port=1;OPTION=2;CONN_TIMEOUT=10;PSCACHESIZE=0;");
    completes_to("Driver=x;Database=/f", "sqlite3odbc.so",
                 "Driver=x;Database=/f;SyncPragma=FULL;JournalMode=WAL;Timeout=5000;");
    completes_to("Driver=x", "libtdsodbc.so", "Driver=x;");
}

TEST(test_source__keeps_what_was_given) {
    completes_to("Driver=x;database=y;timeout=100;JOURNALMODE=DELETE", "sqlite3odbc.so",
                 "Driver=x;database=y;timeout=100;JOURNALMODE=DELETE;SyncPragma=FULL;");
}

TEST(test_source__puts_its_session_settings_in_front_of_given_ones) {
    struct tpi_source source;
    struct tpi_connstr complete = {0};
    bool is_complete = false;
    open_source("Driver=x;ConnSettings={set application_name to 'pay'}", &source);
    assert_int_equal(tpi_source_complete(&source, tpi_driver_for_module("psqlodbcw.so")), TP_OK);
    char *text = tpi_source_text(&source, &is_complete);
    assert_int_equal(tpi_connstr_parse(text, &complete), TP_OK);
    const char *settings = tpi_connstr_get(&complete, "ConnSettings");
    assert_ptr_equal(strstr(settings, "set client_encoding to 'UTF8'"), settings);
    assert_non_null(strstr(settings, ";set application_name to 'pay'"));
    assert_string_equal(tpi_connstr_get(&complete, "Protocol"), "7.4-0");
    assert_string_equal(tpi_connstr_get(&complete, "KeepaliveTime"), "30");
    assert_string_equal(tpi_connstr_get(&complete, "KeepaliveInterval"), "10");
    free(text);
    tpi_connstr_free(&complete);
    tpi_source_close(&source);
}

TEST(test_source__refuses_what_makes_the_driver_lie) {
    refuses("Driver=x;PWD=hunter2;AUTO_RECONNECT=1", "libmaodbc.so", "AUTO_RECONNECT");
    refuses("Driver=x;auto_reconnect=1", "libmaodbc.so", "take it out");
    refuses("Driver=x;AUTO_RECONNECT=1", "libmyodbc8w.so", "AUTO_RECONNECT");
    refuses("Driver=x;PREPONCLIENT=1", "libmaodbc.so", "numbers in quotes");
    completes_to("Driver=x;PREPONCLIENT=0;PSCACHESIZE=5", "libmaodbc.so",
                 "Driver=x;PREPONCLIENT=0;PSCACHESIZE=5;OPTION=2;CONN_TIMEOUT=10;");
    refuses("Driver=x;NoTXN=true", "sqlite3odbc.so", "NoTXN");
    refuses("Driver=x", "sqlite3odbc.so", "name yours by Database=");
    completes_to("DSN=x", "sqlite3odbc.so", "DSN=x;SyncPragma=FULL;JournalMode=WAL;Timeout=5000;");
    completes_to("Driver=x;AUTO_RECONNECT=0", "libmaodbc.so",
                 "Driver=x;AUTO_RECONNECT=0;OPTION=2;CONN_TIMEOUT=10;PSCACHESIZE=0;");
}

/* Without them an update that changes nothing has found nothing, and no approval is carried out. */
TEST(test_source__counts_rows_found_whatever_else_is_asked_for) {
    completes_to("Driver=x;option=67108864;PSCACHESIZE=0;CONN_TIMEOUT=9", "libmaodbc.so",
                 "Driver=x;option=67108866;PSCACHESIZE=0;CONN_TIMEOUT=9;");
    completes_to("Driver=x;OPTION=0;PSCACHESIZE=0;CONN_TIMEOUT=9", "libmaodbc.so",
                 "Driver=x;OPTION=2;PSCACHESIZE=0;CONN_TIMEOUT=9;");
    completes_to("Driver=x;OPTION=3;PSCACHESIZE=0;CONN_TIMEOUT=9", "libmaodbc.so",
                 "Driver=x;OPTION=3;PSCACHESIZE=0;CONN_TIMEOUT=9;");
    completes_to("Driver=x;OPTION=0x8;PSCACHESIZE=0;CONN_TIMEOUT=9", "libmaodbc.so",
                 "Driver=x;OPTION=10;PSCACHESIZE=0;CONN_TIMEOUT=9;");
    completes_to("Driver=x;FOUND_ROWS=1;OPTION=8", "libmyodbc8w.so",
                 "Driver=x;FOUND_ROWS=1;OPTION=10;CHARSET=utf8mb4;AUTO_RECONNECT=0;");
    refuses("Driver=x;FOUND_ROWS=0", "libmyodbc8w.so", "FOUND_ROWS=0");
}

/* In the string, so that odbc.ini cannot switch it on. */
TEST(test_source__says_that_the_driver_must_not_reconnect) {
    completes_to("DSN=pay", "libmyodbc8w.so", "DSN=pay;FOUND_ROWS=1;CHARSET=utf8mb4;AUTO_RECONNECT=0;");
}

TEST(test_source__refuses_misspelled_keys_of_the_driver) {
    refuses("Driver=x;PWD=hunter2;Databse=d", "libmaodbc.so", "did you mean Database?");
    refuses("Driver=x;Pasword=hunter2", "psqlodbcw.so", "did you mean Password?");
    refuses("Driver=x;Sever=h", "psqlodbcw.so", "did you mean Server?");
    refuses("Driver=x;JournalMod=WAL", "sqlite3odbc.so", "did you mean JournalMode?");
}

/* The commonest typing error of all: the ; is missing. */
TEST(test_source__tells_no_password_that_slid_into_a_refused_value) {
    refuses("Driver=x;AUTO_RECONNECT=1 PWD=hunter2", "libmaodbc.so", "AUTO_RECONNECT=...");
    refuses("Driver=x;Protocol=7.4-2,PWD=hunter2", "psqlodbcw.so", "Protocol=...");
    refuses("Driver=x;Protocol=7.4-2", "psqlodbcw.so", "Protocol=7.4-2");
}

/* Dialect= alone is enough to print a schema: nothing is left for the driver manager, which then says so. */
TEST(test_source__of_no_keys_is_an_empty_text) {
    struct tpi_source source = {0};
    struct tpi_connstr none = {0};
    bool is_complete = true;
    assert_int_equal(tpi_source_open(&source, &none), TP_OK);
    char *text = tpi_source_text(&source, &is_complete);
    assert_non_null(text);
    assert_string_equal(text, "");
    assert_false(is_complete);
    free(text);
    assert_int_equal(tpi_source_complete(&source, tpi_driver_for_module("any")), TP_OK);
    text = tpi_source_text(&source, &is_complete);
    assert_non_null(text);
    assert_true(is_complete);
    free(text);
    tpi_source_close(&source);
}
