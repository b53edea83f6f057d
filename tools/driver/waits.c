/* Waits for locks as on a server that never ends one. PostgreSQL's driver heeds a query timeout; for those of
 * MariaDB and MySQL, where it does not, the server's own limit is set to it. */
#include <stdio.h>
#include <string.h>

#include "driver.h"

enum { ENDLESS_S = 100000 };

static bool is_mysql(struct dbc *dbc) {
    char name[64] = "";
    SQLSMALLINT length = 0;
    dbc->call.SQLGetInfo(dbc->object.real, SQL_DBMS_NAME, name, sizeof name, &length);
    return strcmp(name, "MariaDB") == 0 || strcmp(name, "MySQL") == 0;
}

bool wait_setting(const struct stmt *stmt) {
    bool is_set = strncmp(stmt->text, "SET ", 4) == 0 || strncmp(stmt->text, "RESET ", 6) == 0;
    return stmt->object.dbc->habits.endless_waits && is_set &&
           (strstr(stmt->text, "lock_timeout") || strstr(stmt->text, "lock_wait_timeout"));
}

static bool set_wait(struct dbc *dbc, long seconds) {
    char sql[100];
    SQLHSTMT real = NULL;
    if (dbc->wait == seconds || !is_mysql(dbc)) return true;
    if (!SQL_SUCCEEDED(dbc->call.SQLAllocHandle(SQL_HANDLE_STMT, dbc->object.real, &real))) return false;
    snprintf(sql, sizeof sql, "SET SESSION innodb_lock_wait_timeout = %ld", seconds);
    SQLRETURN answer = dbc->call.SQLExecDirect(real, (SQLCHAR *)sql, SQL_NTS);
    dbc->call.SQLFreeHandle(SQL_HANDLE_STMT, real);
    dbc->wait = SQL_SUCCEEDED(answer) ? seconds : 0;
    return true; /* a connection that is lost says so itself */
}

bool wait_begins(struct stmt *stmt) {
    struct dbc *dbc = stmt->object.dbc;
    long most = dbc->habits.endless_waits;
    if (!most) return true;
    bool limited = stmt->timeout > 0;
    if (is_mysql(dbc)) return set_wait(dbc, limited ? most : ENDLESS_S);
    dbc->call.SQLSetStmtAttr(stmt->object.real, SQL_ATTR_QUERY_TIMEOUT,
                             (SQLPOINTER)(limited ? (SQLULEN)most : 0), 0);
    return true;
}
