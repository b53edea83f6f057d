/* tpi_secret_hide: no password of the connection string, and none that stands behind a word like PWD=, is
 * left in what a driver says. */
#include "odbc/secret.h"
#include "support/test.h"

static void hides(const char *given, const char *said, const char *wanted) {
    struct tpi_connstr cs = {0};
    char text[600];
    if (tpi_connstr_parse(given, &cs) != TP_OK) fail_msg("%s: %s", given, tp_last_error()->text);
    snprintf(text, sizeof text, "%s", said);
    tpi_secret_hide(&cs, text);
    tpi_connstr_free(&cs);
    assert_string_equal(text, wanted);
}

TEST(test_secret__every_key_of_a_password_is_known) {
    static const char *const secret[] = {"PWD",       "pwd",         "Password",    "PASSWORD", "PWD1",
                                         "TLSKEYPWD", "SSLPassword", "AccessToken", "Passwd"};
    static const char *const open[] = {"UID", "Server", "PWDX", "Database", "", "WD", "Port"};
    for (size_t i = 0; i < COUNT(secret); i++)
        if (!tpi_secret_key(secret[i])) fail_msg("%s", secret[i]);
    for (size_t i = 0; i < COUNT(open); i++)
        if (tpi_secret_key(open[i])) fail_msg("%s", open[i]);
}

TEST(test_secret__is_hidden_wherever_it_stands) {
    hides("Driver=x;PWD=hunter2", "bad hunter2", "bad ***");
    hides("Driver=x;pwd=hunter2", "hunter2hunter2 and hunter2", "****** and ***");
    hides("Driver=x;PASSWORD={hunter2};UID=u", "login u:hunter2 failed", "login u:*** failed");
    hides("Driver=x", "nothing to hide", "nothing to hide");
    hides("Driver=x;PWD=", "nothing to hide", "nothing to hide");
}

TEST(test_secret__all_of_several_are_hidden) {
    hides("PWD=hunter2;Password=jumper3;TLSKEYPWD=runner4", "hunter2 jumper3 runner4", "*** *** ***");
    hides("PWD=hunter2;PWD=jumper3", "hunter2 jumper3", "*** ***");
}

TEST(test_secret__with_special_characters_is_hidden_as_it_is_and_as_braces_write_it) {
    hides("PWD={a}}b;c}", "in a}b;c or {a}}b;c}", "in *** or {***}");
    hides("PWD={p*ss*word}", "p*ss*word p*ss*word", "*** ***");
    hides("PWD={*****}", "a ***** b", "a *** b");
    hides("PWD={%s%n\\'\"}", "got %s%n\\'\"!", "got ***!");
    hides("PWD=\xe5\xaf\x86\xe7\xa0\x81", "\xe5\xaf\x86\xe7\xa0\x81?", "***?");
}

/* It would shine through by what is missing. */
TEST(test_secret__of_few_bytes_is_hidden_only_where_it_stands_alone) {
    hides("PWD=he", "the end he said, 'he'", "the end ** said, '**'");
    hides("PWD=5", "error 1055: 5", "error 1055: *");
}

TEST(test_secret__is_hidden_behind_its_word_though_unknown) {
    hides("DSN=x", "in UID=u;PWD=hunter2;Port=1", "in UID=u;PWD=***;Port=1");
    hides("DSN=x", "can't open lib 'x PWD=hunter2' : file not found",
          "can't open lib 'x PWD=***' : file not found");
    hides("DSN=x", "pwd={a;b}};c};Port=1", "pwd={***};Port=1");
    hides("DSN=x", "pwd={a;b", "pwd={***");
    hides("DSN=x", "Password = 'a b' for", "Password = '***' for");
    hides("DSN=x", "sslpassword=hunter2", "sslpassword=***");
    hides("DSN=x", "postgresql://u:hun@ter2@h:5432/d", "postgresql://u:***@h:5432/d");
    hides("DSN=x", "see http://h:80/a@b and http://x@h", "see http://h:80/a@b and http://x@h");
    hides("DSN=x", "(using password: YES) a = b, ==", "(using password: YES) a = b, ==");
    hides("DSN=x", "PWD=", "PWD=");
}
