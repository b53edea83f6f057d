/* The functions of ODBC that the driver has and asks of the real one. It has no W functions: so the driver
 * manager hands on narrow text as it is, as it does to sqliteodbc. */
#ifndef TOOLS_DRIVER_FUNCTIONS_H
#define TOOLS_DRIVER_FUNCTIONS_H

#include <sql.h>
#include <sqlext.h>

/* Handed on as they are. X(name, parameters, arguments); the handle is h. */
#define PASSED_FUNCTIONS(X)                                                                                  \
    X(SQLBulkOperations, (SQLHSTMT h, SQLSMALLINT what), (h, what))                                          \
    X(SQLColAttribute,                                                                                       \
      (SQLHSTMT h, SQLUSMALLINT column, SQLUSMALLINT field, SQLPOINTER text, SQLSMALLINT size,               \
       SQLSMALLINT * length, SQLLEN * number),                                                               \
      (h, column, field, text, size, length, number))                                                        \
    X(SQLColumns,                                                                                            \
      (SQLHSTMT h, SQLCHAR * a, SQLSMALLINT al, SQLCHAR * b, SQLSMALLINT bl, SQLCHAR * c, SQLSMALLINT cl,    \
       SQLCHAR * d, SQLSMALLINT dl),                                                                         \
      (h, a, al, b, bl, c, cl, d, dl))                                                                       \
    X(SQLCopyDesc, (SQLHDESC h, SQLHDESC to), (h, ((struct object *)to)->real))                              \
    X(SQLDescribeCol,                                                                                        \
      (SQLHSTMT h, SQLUSMALLINT column, SQLCHAR * name, SQLSMALLINT size, SQLSMALLINT * length,              \
       SQLSMALLINT * type, SQLULEN * precision, SQLSMALLINT * digits, SQLSMALLINT * nullable),               \
      (h, column, name, size, length, type, precision, digits, nullable))                                    \
    X(SQLDescribeParam,                                                                                      \
      (SQLHSTMT h, SQLUSMALLINT i, SQLSMALLINT * type, SQLULEN * precision, SQLSMALLINT * digits,            \
       SQLSMALLINT * nullable),                                                                              \
      (h, i, type, precision, digits, nullable))                                                             \
    X(SQLFetchScroll, (SQLHSTMT h, SQLSMALLINT way, SQLLEN offset), (h, way, offset))                        \
    X(SQLGetCursorName, (SQLHSTMT h, SQLCHAR * name, SQLSMALLINT size, SQLSMALLINT * length),                \
      (h, name, size, length))                                                                               \
    X(SQLGetDescField,                                                                                       \
      (SQLHDESC h, SQLSMALLINT i, SQLSMALLINT field, SQLPOINTER out, SQLINTEGER size, SQLINTEGER * length),  \
      (h, i, field, out, size, length))                                                                      \
    X(SQLGetDescRec,                                                                                         \
      (SQLHDESC h, SQLSMALLINT i, SQLCHAR * name, SQLSMALLINT size, SQLSMALLINT * length,                    \
       SQLSMALLINT * type, SQLSMALLINT * sub, SQLLEN * octets, SQLSMALLINT * precision, SQLSMALLINT * scale, \
       SQLSMALLINT * nullable),                                                                              \
      (h, i, name, size, length, type, sub, octets, precision, scale, nullable))                             \
    X(SQLGetTypeInfo, (SQLHSTMT h, SQLSMALLINT type), (h, type))                                             \
    X(SQLNativeSql, (SQLHDBC h, SQLCHAR * in, SQLINTEGER il, SQLCHAR * out, SQLINTEGER ol, SQLINTEGER * l),  \
      (h, in, il, out, ol, l))                                                                               \
    X(SQLNumParams, (SQLHSTMT h, SQLSMALLINT * count), (h, count))                                           \
    X(SQLNumResultCols, (SQLHSTMT h, SQLSMALLINT * count), (h, count))                                       \
    X(SQLParamData, (SQLHSTMT h, SQLPOINTER * value), (h, value))                                            \
    X(SQLPrimaryKeys,                                                                                        \
      (SQLHSTMT h, SQLCHAR * a, SQLSMALLINT al, SQLCHAR * b, SQLSMALLINT bl, SQLCHAR * c, SQLSMALLINT cl),   \
      (h, a, al, b, bl, c, cl))                                                                              \
    X(SQLPutData, (SQLHSTMT h, SQLPOINTER value, SQLLEN length), (h, value, length))                         \
    X(SQLSetCursorName, (SQLHSTMT h, SQLCHAR * name, SQLSMALLINT length), (h, name, length))                 \
    X(SQLSetDescField, (SQLHDESC h, SQLSMALLINT i, SQLSMALLINT field, SQLPOINTER value, SQLINTEGER length),  \
      (h, i, field, value, length))                                                                          \
    X(SQLSetDescRec,                                                                                         \
      (SQLHDESC h, SQLSMALLINT i, SQLSMALLINT type, SQLSMALLINT sub, SQLLEN length, SQLSMALLINT precision,   \
       SQLSMALLINT scale, SQLPOINTER data, SQLLEN * octets, SQLLEN * indicator),                             \
      (h, i, type, sub, length, precision, scale, data, octets, indicator))                                  \
    X(SQLSetPos, (SQLHSTMT h, SQLSETPOSIROW row, SQLUSMALLINT what, SQLUSMALLINT lock),                      \
      (h, row, what, lock))                                                                                  \
    X(SQLSpecialColumns,                                                                                     \
      (SQLHSTMT h, SQLUSMALLINT kind, SQLCHAR * a, SQLSMALLINT al, SQLCHAR * b, SQLSMALLINT bl, SQLCHAR * c, \
       SQLSMALLINT cl, SQLUSMALLINT scope, SQLUSMALLINT nullable),                                           \
      (h, kind, a, al, b, bl, c, cl, scope, nullable))                                                       \
    X(SQLStatistics,                                                                                         \
      (SQLHSTMT h, SQLCHAR * a, SQLSMALLINT al, SQLCHAR * b, SQLSMALLINT bl, SQLCHAR * c, SQLSMALLINT cl,    \
       SQLUSMALLINT unique, SQLUSMALLINT exact),                                                             \
      (h, a, al, b, bl, c, cl, unique, exact))                                                               \
    X(SQLTables,                                                                                             \
      (SQLHSTMT h, SQLCHAR * a, SQLSMALLINT al, SQLCHAR * b, SQLSMALLINT bl, SQLCHAR * c, SQLSMALLINT cl,    \
       SQLCHAR * d, SQLSMALLINT dl),                                                                         \
      (h, a, al, b, bl, c, cl, d, dl))

/* In calls.c, connect.c and handles.c: those with a habit, and those that know of handles. */
#define OWN_FUNCTIONS(X)                                                                                     \
    X(SQLAllocHandle)                                                                                        \
    X(SQLBindCol)                                                                                            \
    X(SQLBindParameter)                                                                                      \
    X(SQLCancel)                                                                                             \
    X(SQLCloseCursor)                                                                                        \
    X(SQLDisconnect)                                                                                         \
    X(SQLDriverConnect)                                                                                      \
    X(SQLEndTran)                                                                                            \
    X(SQLExecDirect)                                                                                         \
    X(SQLExecute)                                                                                            \
    X(SQLFetch)                                                                                              \
    X(SQLFreeHandle)                                                                                         \
    X(SQLFreeStmt)                                                                                           \
    X(SQLGetConnectAttr)                                                                                     \
    X(SQLGetData)                                                                                            \
    X(SQLGetDiagField)                                                                                       \
    X(SQLGetDiagRec)                                                                                         \
    X(SQLGetInfo)                                                                                            \
    X(SQLGetStmtAttr)                                                                                        \
    X(SQLMoreResults)                                                                                        \
    X(SQLPrepare)                                                                                            \
    X(SQLRowCount)                                                                                           \
    X(SQLSetConnectAttr)                                                                                     \
    X(SQLSetEnvAttr)                                                                                         \
    X(SQLSetStmtAttr)

/* The real driver's. */
struct functions {
#define OWN(name)                           __typeof__(name) *name;
#define PASSED(name, parameters, arguments) OWN(name)
    OWN_FUNCTIONS(OWN)
    PASSED_FUNCTIONS(PASSED)
#undef PASSED
#undef OWN
};

#endif
