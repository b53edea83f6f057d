/* See dsn.h. */
#include "support/dsn.h"

#include <stdio.h>
#include <string.h>

#include "odbc/connstr.h"
#include "support/check.h"

static void parse(const char *dsn, struct tpi_connstr *cs) {
    if (!dsn) fail_msg("no connection string: run this by tests/support/on_database.sh");
    assert_int_equal(tpi_connstr_parse(dsn, cs), TP_OK);
}

void dsn_with(const char *dsn, const char *key, const char *value, char *out, size_t size) {
    struct tpi_connstr cs = {0};
    struct tpi_buf text = {0};
    parse(dsn, &cs);
    if (value)
        assert_true(tpi_connstr_set(&cs, key, value));
    else
        while (tpi_connstr_take(&cs, key, NULL)) {
        }
    tpi_connstr_write(&cs, &text);
    assert_true(text.length < size);
    memcpy(out, tpi_buf_str(&text), text.length + 1);
    tpi_buf_free(&text);
    tpi_connstr_free(&cs);
}

void dsn_get(const char *dsn, const char *key, char *out, size_t size) {
    struct tpi_connstr cs = {0};
    parse(dsn, &cs);
    const char *value = tpi_connstr_get(&cs, key);
    snprintf(out, size, "%s", value ? value : "");
    tpi_connstr_free(&cs);
}
