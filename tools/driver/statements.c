/* Habits of statements: how many there may be, what the server forgets, what it does on the side, how long it
 * waits. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "driver.h"

/* ---- Texts --------------------------------------------------------------------------------------------- */

static bool keep_text(struct stmt *stmt, const char *text, SQLINTEGER length) {
    size_t size = length == SQL_NTS ? strlen(text) : (size_t)length;
    free(stmt->text);
    stmt->text = malloc(size + 1);
    if (!stmt->text) return fail(&stmt->object, "HY001", 0, "no memory") == SQL_SUCCESS;
    memcpy(stmt->text, text, size);
    stmt->text[size] = '\0';
    return true;
}

/* Those of the application's; Oracle's server counts each that it has parsed until it is given back. */
static long count_cursors(const struct dbc *dbc) {
    long count = 0;
    for (const struct stmt *stmt = dbc->stmts; stmt; stmt = stmt->next)
        count += stmt->text != NULL;
    return count;
}

bool statement_opens(struct stmt *stmt, const char *text, SQLINTEGER length) {
    const struct dbc *dbc = stmt->object.dbc;
    bool too_many = dbc->habits.cursors && !stmt->text && count_cursors(dbc) >= dbc->habits.cursors;
    if (too_many) {
        fail(&stmt->object, "HY000", 1000, "ORA-01000: maximum open cursors exceeded");
        return false;
    }
    stmt->prepared = stmt->lost = stmt->unmade = false;
    return keep_text(stmt, text, length);
}

void statement_frees(struct stmt *stmt) {
    statement_closes(stmt);
    value_forget(stmt);
    free(stmt->params);
    free(stmt->text);
}

/* ---- Before -------------------------------------------------------------------------------------------- */

static bool is_free(struct stmt *stmt) {
    const struct dbc *dbc = stmt->object.dbc;
    if (!dbc->habits.one_statement || !dbc->busy || dbc->busy == stmt) return true;
    fail(&stmt->object, "HY000", 0, "Connection is busy with results for another command");
    return false;
}

/* Counted over all connections. What was lost stays so until it is prepared anew. */
static bool is_known(struct stmt *stmt) {
    static atomic_long executions;
    const struct dbc *dbc = stmt->object.dbc;
    if (!dbc->habits.lost_prepares) return true;
    if (++executions % dbc->habits.lost_prepares == 0) stmt->lost = true;
    if (!stmt->lost) return true;
    if (dbc->habits.mysql_codes)
        fail(&stmt->object, "HY000", 1243, "Unknown prepared statement handler (1) given to EXECUTE");
    else
        fail(&stmt->object, "26000", 0, "prepared statement does not exist");
    return false;
}

/* The parameters stay bound. */
static bool prepare_again(struct stmt *stmt) {
    const struct dbc *dbc = stmt->object.dbc;
    if (!dbc->habits.rownum_afresh || !strstr(stmt->text, "ROWNUM")) return true;
    if (SQL_SUCCEEDED(dbc->call.SQLPrepare(stmt->object.real, (SQLCHAR *)stmt->text, SQL_NTS))) return true;
    keep_diag(&stmt->object);
    code_translate(&stmt->object);
    return false;
}

/* The words of Oracle's own that no real driver beneath knows. */
static bool is_oracles(const struct stmt *stmt) {
    return strncasecmp(stmt->text, "ALTER SESSION ", strlen("ALTER SESSION ")) == 0;
}

bool statement_begins(struct stmt *stmt, bool prepared) {
    stmt->object.dbc->told_late = false;
    if (!is_free(stmt)) return false;
    if (!prepared) {
        stmt->unmade = wait_setting(stmt) || is_oracles(stmt);
        return stmt->unmade || wait_begins(stmt);
    }
    return is_known(stmt) && parameters_fit(stmt) && prepare_again(stmt) && wait_begins(stmt);
}

/* ---- Behind -------------------------------------------------------------------------------------------- */

/* CREATE [OR REPLACE] FUNCTION ... */
static bool makes_code(const char *text) {
    static const char *const kinds[] = {"FUNCTION ", "TRIGGER ", "PROCEDURE "};
    static const char replaced[] = "OR REPLACE ";
    if (strncasecmp(text, "CREATE ", 7) != 0) return false;
    text += 7;
    if (strncasecmp(text, replaced, sizeof replaced - 1) == 0) text += sizeof replaced - 1;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncasecmp(text, kinds[i], strlen(kinds[i])) == 0) return true;
    return false;
}

static void roll_back(struct dbc *dbc) {
    dbc->call.SQLEndTran(SQL_HANDLE_DBC, dbc->object.real, SQL_ROLLBACK);
    dbc->busy = NULL;
}

SQLRETURN statement_ends(struct stmt *stmt, SQLRETURN answer) {
    struct dbc *dbc = stmt->object.dbc;
    SQLSMALLINT columns = 0;
    if (answer == SQL_ERROR && dbc->habits.fatal_duplicates) {
        keep_diag(&stmt->object);
        bool is_duplicate = code_is_duplicate(&stmt->object);
        code_translate(&stmt->object);
        stmt->object.diag.is_real = false;
        if (is_duplicate) roll_back(dbc);
    }
    if (!SQL_SUCCEEDED(answer)) return answer;
    dbc->call.SQLNumResultCols(stmt->object.real, &columns);
    if (columns) dbc->busy = stmt;
    if (!dbc->habits.compile_warning || !makes_code(stmt->text)) return answer;
    fail(&stmt->object, "HY000", 24344, "ORA-24344: success with compilation error");
    return SQL_SUCCESS_WITH_INFO;
}

void statement_closes(struct stmt *stmt) {
    struct dbc *dbc = stmt->object.dbc;
    if (dbc->busy == stmt) dbc->busy = NULL;
}

/* ---- Waits for locks ----------------------------------------------------------------------------------- */

/* As on a server that never ends one. PostgreSQL's driver heeds a query timeout; for those of MariaDB and
 * MySQL, where it does not, the server's own limit is set to it. */
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
