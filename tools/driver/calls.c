/* What is done with statements and transactions: the calls that have habits, and those that are handed on as
 * they are. */
#include "driver.h"

/* Hands a call on. */
#define CALL(object, name, ...)                                                                              \
    (!call_begin((object), #name) ? SQL_ERROR                                                                \
                                  : call_end((object), #name, (object)->dbc->call.name(__VA_ARGS__)))

SQLRETURN SQL_API SQLPrepare(SQLHSTMT h, SQLCHAR *text, SQLINTEGER length) {
    struct stmt *stmt = h;
    struct object *object = h;
    if (!statement_opens(stmt, (const char *)text, length)) return SQL_ERROR;
    SQLRETURN answer = CALL(object, SQLPrepare, object->real, (SQLCHAR *)stmt->text, SQL_NTS);
    stmt->prepared = SQL_SUCCEEDED(answer);
    return answer;
}

SQLRETURN SQL_API SQLExecute(SQLHSTMT h) {
    struct stmt *stmt = h;
    struct object *object = h;
    if (!call_begin(object, "SQLExecute") || !statement_begins(stmt, true)) return SQL_ERROR;
    SQLRETURN answer = object->dbc->call.SQLExecute(object->real);
    return call_end(object, "SQLExecute", statement_ends(stmt, answer));
}

SQLRETURN SQL_API SQLExecDirect(SQLHSTMT h, SQLCHAR *text, SQLINTEGER length) {
    struct stmt *stmt = h;
    struct object *object = h;
    if (!call_begin(object, "SQLExecDirect") || !statement_opens(stmt, (const char *)text, length) ||
        !statement_begins(stmt, false))
        return SQL_ERROR;
    if (stmt->unmade) return SQL_SUCCESS;
    SQLRETURN answer = object->dbc->call.SQLExecDirect(object->real, (SQLCHAR *)stmt->text, SQL_NTS);
    return call_end(object, "SQLExecDirect", statement_ends(stmt, answer));
}

/* "Features Not Supported" of Oracle's manual has both. */
static bool is_refused(struct object *object, SQLSMALLINT c_type) {
    bool big = c_type == SQL_C_SBIGINT || c_type == SQL_C_UBIGINT;
    if (!big || !object->dbc->habits.no_bigint) return false;
    fail(object, "HY004", 0, "Invalid SQL data type <%d>", (int)c_type);
    return true;
}

SQLRETURN SQL_API SQLBindParameter(SQLHSTMT h, SQLUSMALLINT i, SQLSMALLINT way, SQLSMALLINT c_type,
                                   SQLSMALLINT type, SQLULEN precision, SQLSMALLINT digits, SQLPOINTER value,
                                   SQLLEN size, SQLLEN *indicator) {
    struct object *object = h;
    if (is_refused(object, c_type)) return SQL_ERROR;
    return CALL(object, SQLBindParameter, object->real, i, way, c_type, type, precision, digits, value, size,
                parameter_binds(h, i, type, indicator));
}

SQLRETURN SQL_API SQLBindCol(SQLHSTMT h, SQLUSMALLINT column, SQLSMALLINT type, SQLPOINTER value, SQLLEN size,
                             SQLLEN *indicator) {
    struct object *object = h;
    if (is_refused(object, type)) return SQL_ERROR;
    if (value_changes(h, type)) return fail(object, "HYC00", 0, "with these habits no columns are bound");
    return CALL(object, SQLBindCol, object->real, column, type, value, size, indicator);
}

SQLRETURN SQL_API SQLFetch(SQLHSTMT h) {
    struct object *object = h;
    value_forget(h);
    SQLRETURN answer = CALL(object, SQLFetch, object->real);
    if (answer == SQL_NO_DATA) statement_closes(h);
    return answer;
}

SQLRETURN SQL_API SQLGetData(SQLHSTMT h, SQLUSMALLINT column, SQLSMALLINT type, SQLPOINTER value, SQLLEN size,
                             SQLLEN *left) {
    struct object *object = h;
    if (is_refused(object, type)) return SQL_ERROR;
    if (value_changes(h, type))
        return call_begin(object, "SQLGetData")
                   ? call_end(object, "SQLGetData", value_get(h, column, value, size, left))
                   : SQL_ERROR;
    return CALL(object, SQLGetData, object->real, column, type, value, size, left);
}

SQLRETURN SQL_API SQLMoreResults(SQLHSTMT h) {
    struct object *object = h;
    return CALL(object, SQLMoreResults, object->real);
}

SQLRETURN SQL_API SQLRowCount(SQLHSTMT h, SQLLEN *count) {
    const struct stmt *stmt = h;
    struct object *object = h;
    const struct habits *habits = &object->dbc->habits;
    SQLSMALLINT columns = 0;
    if (stmt->unmade) *count = 0;
    if (stmt->unmade) return SQL_SUCCESS;
    SQLRETURN answer = CALL(object, SQLRowCount, object->real, count);
    if (habits->no_query_counts) object->dbc->call.SQLNumResultCols(object->real, &columns);
    if ((stmt->prepared && (habits->no_counts || columns)) || habits->no_counts > 1) *count = -1;
    return answer;
}

SQLRETURN SQL_API SQLFreeStmt(SQLHSTMT h, SQLUSMALLINT what) {
    struct object *object = h;
    if (what == SQL_CLOSE) statement_closes(h);
    return CALL(object, SQLFreeStmt, object->real, what);
}

SQLRETURN SQL_API SQLCloseCursor(SQLHSTMT h) {
    struct object *object = h;
    statement_closes(h);
    return CALL(object, SQLCloseCursor, object->real);
}

/* Comes from another thread: nothing of the handle is touched. */
SQLRETURN SQL_API SQLCancel(SQLHSTMT h) {
    const struct object *object = h;
    return object->dbc->call.SQLCancel(object->real);
}

SQLRETURN SQL_API SQLEndTran(SQLSMALLINT type, SQLHANDLE h, SQLSMALLINT how) {
    struct object *object = h;
    object->dbc->busy = NULL;
    return CALL(object, SQLEndTran, type, object->real, how);
}

/* ---- Handed on as they are ----------------------------------------------------------------------------- */

#define FUNCTION(name, parameters, arguments)                                                                \
    SQLRETURN SQL_API name parameters {                                                                      \
        struct object *object = h;                                                                           \
        if (!call_begin(object, #name)) return SQL_ERROR;                                                    \
        h = object->real;                                                                                    \
        return call_end(object, #name, object->dbc->call.name arguments);                                    \
    }
PASSED_FUNCTIONS(FUNCTION)
