/* What a lent connection has set: its attributes, and what the server says of its session. */
#ifndef TESTS_SUPPORT_SETTINGS_H
#define TESTS_SUPPORT_SETTINGS_H

#include <sql.h>

enum { SETTINGS_ATTRIBUTES = 10 };

struct settings {
    SQLULEN value[SETTINGS_ATTRIBUTES];
    SQLRETURN answer[SETTINGS_ATTRIBUTES];
    char catalog[256], session[1100];
};

void settings_read(SQLHDBC dbc, struct settings *settings);
/* Fails the test where they differ. */
void expect_settings(const struct settings *before, const struct settings *after);

#endif
