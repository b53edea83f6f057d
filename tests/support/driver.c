/* Wraps three ODBC functions to imitate another driver. See driver.h. */
#include "support/driver.h"

#include <sql.h>
#include <sqlext.h>
#include <stdio.h>

#include "support/check.h"

static struct {
    const char *name;
    bool tells_old;
    SQLUINTEGER old_mode;
} driver;

void driver_call_it(const char *name) {
    driver.name = name;
}

void driver_tell_old_autocommit(bool old) {
    driver.tells_old = old;
}

WRAPPED(SQLRETURN, SQLGetInfo, SQLHDBC dbc, SQLUSMALLINT what, SQLPOINTER out, SQLSMALLINT size,
        SQLSMALLINT *length) {
    const char *name = driver.name;
    if (what != SQL_DRIVER_NAME || !name) return __real_SQLGetInfo(dbc, what, out, size, length);
    *length = (SQLSMALLINT)snprintf(out, (size_t)size, "%s", name);
    return SQL_SUCCESS;
}

WRAPPED(SQLRETURN, SQLGetConnectAttr, SQLHDBC dbc, SQLINTEGER attribute, SQLPOINTER out, SQLINTEGER size,
        SQLINTEGER *length) {
    if (attribute != SQL_ATTR_AUTOCOMMIT || !driver.tells_old)
        return __real_SQLGetConnectAttr(dbc, attribute, out, size, length);
    *(SQLUINTEGER *)out = driver.old_mode;
    return SQL_SUCCESS;
}

WRAPPED(SQLRETURN, SQLSetConnectAttr, SQLHDBC dbc, SQLINTEGER attribute, SQLPOINTER value, SQLINTEGER size) {
    if (attribute == SQL_ATTR_AUTOCOMMIT)
        (void)__real_SQLGetConnectAttr(dbc, attribute, &driver.old_mode, 0, NULL);
    return __real_SQLSetConnectAttr(dbc, attribute, value, size);
}
