/* What is done with statements and transactions: the calls that have habits. */
#include "driver.h"

/* Hands a call on. */
#define CALL(object, name, ...)                                                                              \
    (!call_begin((object), #name) ? SQL_ERROR                                                                \
                                  : call_end((object), #name, (object)->dbc->call.name(__VA_ARGS__)))

SQLRETURN SQL_API SQLPrepare(SQLHSTMT h, SQLCHAR *text, SQLINTEGER length) {
    struct object *object = h;
    return CALL(object, SQLPrepare, object->real, text, length);
}

SQLRETURN SQL_API SQLExecute(SQLHSTMT h) {
    struct object *object = h;
    return CALL(object, SQLExecute, object->real);
}

SQLRETURN SQL_API SQLExecDirect(SQLHSTMT h, SQLCHAR *text, SQLINTEGER length) {
    struct object *object = h;
    return CALL(object, SQLExecDirect, object->real, text, length);
}

SQLRETURN SQL_API SQLBindParameter(SQLHSTMT h, SQLUSMALLINT i, SQLSMALLINT way, SQLSMALLINT c_type,
                                   SQLSMALLINT type, SQLULEN precision, SQLSMALLINT digits, SQLPOINTER value,
                                   SQLLEN size, SQLLEN *indicator) {
    struct object *object = h;
    return CALL(object, SQLBindParameter, object->real, i, way, c_type, type, precision, digits, value, size,
                indicator);
}

SQLRETURN SQL_API SQLBindCol(SQLHSTMT h, SQLUSMALLINT column, SQLSMALLINT type, SQLPOINTER value, SQLLEN size,
                             SQLLEN *indicator) {
    struct object *object = h;
    return CALL(object, SQLBindCol, object->real, column, type, value, size, indicator);
}

SQLRETURN SQL_API SQLFetch(SQLHSTMT h) {
    struct object *object = h;
    return CALL(object, SQLFetch, object->real);
}

SQLRETURN SQL_API SQLGetData(SQLHSTMT h, SQLUSMALLINT column, SQLSMALLINT type, SQLPOINTER value, SQLLEN size,
                             SQLLEN *left) {
    struct object *object = h;
    return CALL(object, SQLGetData, object->real, column, type, value, size, left);
}

SQLRETURN SQL_API SQLMoreResults(SQLHSTMT h) {
    struct object *object = h;
    return CALL(object, SQLMoreResults, object->real);
}

SQLRETURN SQL_API SQLRowCount(SQLHSTMT h, SQLLEN *count) {
    struct object *object = h;
    return CALL(object, SQLRowCount, object->real, count);
}

SQLRETURN SQL_API SQLFreeStmt(SQLHSTMT h, SQLUSMALLINT what) {
    struct object *object = h;
    return CALL(object, SQLFreeStmt, object->real, what);
}

SQLRETURN SQL_API SQLCloseCursor(SQLHSTMT h) {
    struct object *object = h;
    return CALL(object, SQLCloseCursor, object->real);
}

/* Comes from another thread: nothing of the handle is touched. */
SQLRETURN SQL_API SQLCancel(SQLHSTMT h) {
    const struct object *object = h;
    return object->dbc->call.SQLCancel(object->real);
}

SQLRETURN SQL_API SQLEndTran(SQLSMALLINT type, SQLHANDLE h, SQLSMALLINT how) {
    struct object *object = h;
    return CALL(object, SQLEndTran, type, object->real, how);
}
