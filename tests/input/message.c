/* Checks that an error message can help a person. See message.h. */
#include "input/message.h"

#include <string.h>

#include "base/utf8.h"
#include "support/check.h"

enum { SECRETS = 8, LIMIT_MS = 300000 };

static const char *secrets[SECRETS];
static size_t secret_count;

void message_hides(const char *secret) {
    assert_true(secret_count < SECRETS);
    if (strlen(secret) > 2) secrets[secret_count++] = secret;
}

void message_is(const char *what, tp_status status, tp_status wanted, const char *wrong, const char *remedy) {
    const tp_error *error = tp_last_error();
    if (status != wanted)
        fail_msg("%s: %s (%s)", what, tp_status_name(status), status < TP_OK ? error->text : "");
    assert_int_equal(error->status, wanted);
    assert_true(strlen(error->text) > 10);
    if (strpbrk(error->text, "\r\n\t")) fail_msg("%s: more than one line: %s", what, error->text);
    if (!tpi_utf8_valid(error->text, strlen(error->text))) fail_msg("%s: not UTF-8: %s", what, error->text);
    if (wrong && !strstr(error->text, wrong)) fail_msg("%s: '%s' is not in: %s", what, wrong, error->text);
    if (remedy && !strstr(error->text, remedy)) fail_msg("%s: '%s' is not in: %s", what, remedy, error->text);
    for (size_t i = 0; i < secret_count; i++)
        if (strstr(error->text, secrets[i])) fail_msg("%s: a password is told", what);
}

void open_fails(const char *dsn, tp_status wanted, const char *wrong, const char *remedy) {
    char untouched;
    tp_env *env = NULL;
    tp_conn *conn = (tp_conn *)&untouched;
    int64_t began = tpi_clock_mono_ms();
    tp_status status = tp_env_open(dsn, &env);
    if (status == TP_OK) status = tp_conn_open(env, &conn);
    if (status == TP_OK) tp_conn_close(conn);
    /* The password stands in the string, so the string is not shown. */
    message_is("opening", status, wanted, wrong, remedy);
    assert_ptr_equal(conn, &untouched);
    assert_true(tpi_clock_mono_ms() - began < LIMIT_MS);
    tp_env_close(env);
}
