/* Reads what a lent connection has set. See settings.h. */
#include "support/settings.h"

#include <sqlext.h>

#include "support/check.h"
#include "support/engine.h"

static const SQLINTEGER attributes[SETTINGS_ATTRIBUTES] = {
    SQL_ATTR_AUTOCOMMIT,      SQL_ATTR_TXN_ISOLATION, SQL_ATTR_ACCESS_MODE,  SQL_ATTR_CONNECTION_TIMEOUT,
    SQL_ATTR_LOGIN_TIMEOUT,   SQL_ATTR_METADATA_ID,   SQL_ATTR_ASYNC_ENABLE, SQL_ATTR_PACKET_SIZE,
    SQL_ATTR_CONNECTION_DEAD, SQL_ATTR_TRACE};

void settings_read(SQLHDBC dbc, struct settings *settings) {
    SQLHSTMT stmt = NULL;
    SQLLEN length = 0;
    SQLINTEGER bytes = 0;
    *settings = (struct settings){0};
    assert_true(SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt)));
    if (!SQL_SUCCEEDED(SQLExecDirect(stmt, (SQLCHAR *)(uintptr_t)engine->settings, SQL_NTS)) ||
        !SQL_SUCCEEDED(SQLFetch(stmt)) ||
        !SQL_SUCCEEDED(SQLGetData(stmt, 1, SQL_C_CHAR, settings->session, sizeof settings->session, &length)))
        not_tried("settings of a lent session");
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    /* After a statement: before it a driver may tell the mode that was. */
    for (int i = 0; i < SETTINGS_ATTRIBUTES; i++)
        settings->answer[i] =
            SQLGetConnectAttr(dbc, attributes[i], &settings->value[i], sizeof(SQLULEN), NULL);
    SQLGetConnectAttr(dbc, SQL_ATTR_CURRENT_CATALOG, settings->catalog, sizeof settings->catalog, &bytes);
}

void expect_settings(const struct settings *before, const struct settings *after) {
    assert_memory_equal(before->value, after->value, sizeof before->value);
    assert_memory_equal(before->answer, after->answer, sizeof before->answer);
    assert_string_equal(before->catalog, after->catalog);
    assert_string_equal(before->session, after->session);
}
