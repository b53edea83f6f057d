/* TP_EXECUTE: a statement of the program's own in the transaction that is open, for programs without embedded
 * SQL. Values are bound, never put into the text. Each call to the driver here is the application's. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include <sqlext.h>

#include "call.h"
#include "fields.h"
#include "taskpool_odbc.h"

struct run {
    struct call *call;
    struct sql_block *block;
    SQLHSTMT stmt;
    char text[SQL_FIELD + 1];
    char value[BLOCK_VALUES][VALUE_FIELD + 1];
    SQLLEN length[BLOCK_VALUES];
    char shown[VALUE_FIELD + 2];
};

/* ---- Errors ---------------------------------------------------------------------------------------------
 */

/* By class, as every driver gives it; the library sees more at its next call. */
static tp_status status_of(const char *sqlstate) {
    if (strncmp(sqlstate, "08", 2) == 0) return TP_DISCONNECTED;
    if (strncmp(sqlstate, "40", 2) == 0) return TP_CONFLICT;
    if (strncmp(sqlstate, "HYT", 3) == 0) return TP_TIMEOUT;
    return TP_DB;
}

static tp_status driver_failed(struct run *run) {
    SQLCHAR state[6] = "", text[600] = "";
    SQLINTEGER native = 0;
    SQLSMALLINT length = 0;
    if (!SQL_SUCCEEDED(
            SQLGetDiagRec(SQL_HANDLE_STMT, run->stmt, 1, state, &native, text, sizeof text, &length)))
        return call_refuse(run->call, TP_DB, "the driver gives no reason");
    return call_refuse(run->call, status_of((const char *)state), "%s (%s, %ld)", (const char *)text,
                       (const char *)state, (long)native);
}

/* ---- Values ---------------------------------------------------------------------------------------------
 */

/* 12 and -12.50 and nothing else, without the blanks of an edited field. */
static bool trim_number(char *text) {
    const char *from = text + strspn(text, " ");
    memmove(text, from, strlen(from) + 1);
    const char *at = text + (*text == '-' || *text == '+');
    size_t digits = strspn(at, "0123456789");
    at += digits;
    if (*at == '.') digits += strspn(at + 1, "0123456789"), at += 1 + strspn(at + 1, "0123456789");
    return digits && !*at;
}

static tp_status read_value(struct run *run, int32_t i) {
    int32_t kind = run->block->kind[i];
    char *text = run->value[i];
    if (kind != SQL_KIND_TEXT && kind != SQL_KIND_NUMBER && kind != SQL_KIND_NULL)
        return call_refuse(run->call, TP_MISUSE, "TPQ-KIND (%d) is %d, must be 0, 1 or 2", (int)i + 1,
                           (int)kind);
    tp_status status = call_text(run->call, "a TPQ-VALUE", run->block->value[i], VALUE_FIELD, text);
    if (status != TP_OK) return status;
    if (kind == SQL_KIND_NUMBER && !trim_number(text))
        return call_refuse(run->call, TP_MISUSE, "TPQ-VALUE (%d) is no number as 12 or -12.50", (int)i + 1);
    run->length[i] = kind == SQL_KIND_NULL ? SQL_NULL_DATA : (SQLLEN)strlen(text);
    return TP_OK;
}

/* How many digits stand behind the point. */
static SQLSMALLINT scale_of(const char *text) {
    const char *point = strchr(text, '.');
    return point ? (SQLSMALLINT)strlen(point + 1) : 0;
}

static tp_status bind_value(struct run *run, int32_t i) {
    bool number = run->block->kind[i] == SQL_KIND_NUMBER;
    size_t width = number ? 38 : strlen(run->value[i]);
    SQLRETURN bound = SQLBindParameter(run->stmt, (SQLUSMALLINT)(i + 1), SQL_PARAM_INPUT, SQL_C_CHAR,
                                       number ? SQL_NUMERIC : SQL_VARCHAR, width ? width : 1,
                                       number ? scale_of(run->value[i]) : 0, run->value[i], VALUE_FIELD + 1,
                                       &run->length[i]);
    return SQL_SUCCEEDED(bound) ? TP_OK : driver_failed(run);
}

/* ---- A query's row --------------------------------------------------------------------------------------
 */

static tp_status read_column(struct run *run, int32_t i) {
    SQLLEN length = 0;
    SQLRETURN got =
        SQLGetData(run->stmt, (SQLUSMALLINT)(i + 1), SQL_C_CHAR, run->shown, sizeof run->shown, &length);
    if (!SQL_SUCCEEDED(got)) return driver_failed(run);
    run->block->is_null[i] = length == SQL_NULL_DATA;
    if (length == SQL_NULL_DATA) return TP_OK;
    if (got == SQL_SUCCESS_WITH_INFO || !field_fill(run->block->result[i], VALUE_FIELD, run->shown))
        return call_refuse(run->call, TP_TOOBIG, "column %d is longer than the %d bytes of TPQ-RESULT",
                           (int)i + 1, VALUE_FIELD);
    return TP_OK;
}

static tp_status read_row(struct run *run) {
    SQLRETURN got = SQLFetch(run->stmt);
    if (got == SQL_NO_DATA) return TP_NONE;
    if (!SQL_SUCCEEDED(got)) return driver_failed(run);
    tp_status status = TP_OK;
    for (int32_t i = 0; i < run->block->columns && status == TP_OK; i++)
        status = read_column(run, i);
    if (status != TP_OK) return status;
    run->block->rows = 1;
    if (SQLFetch(run->stmt) == SQL_NO_DATA) return TP_OK;
    return call_refuse(run->call, TP_MISUSE, "the query has more than one row");
}

static tp_status read_answer(struct run *run) {
    SQLSMALLINT columns = 0;
    SQLLEN rows = 0;
    if (!SQL_SUCCEEDED(SQLNumResultCols(run->stmt, &columns))) return driver_failed(run);
    if (columns > BLOCK_VALUES)
        return call_refuse(run->call, TP_TOOBIG, "the query has %d columns; %d are the most", columns,
                           BLOCK_VALUES);
    run->block->columns = columns;
    if (columns) return read_row(run);
    if (!SQL_SUCCEEDED(SQLRowCount(run->stmt, &rows))) return driver_failed(run);
    run->block->rows = rows < 0 ? -1 : rows > INT32_MAX ? INT32_MAX : (int32_t)rows;
    return TP_OK;
}

/* ---- The statement --------------------------------------------------------------------------------------
 */

static tp_status run_statement(struct run *run) {
    tp_status status = TP_OK;
    for (int32_t i = 0; i < run->block->count && status == TP_OK; i++)
        status = bind_value(run, i);
    if (status != TP_OK) return status;
    SQLRETURN done = SQLExecDirect(run->stmt, (SQLCHAR *)run->text, (SQLINTEGER)strlen(run->text));
    if (!SQL_SUCCEEDED(done) && done != SQL_NO_DATA) return driver_failed(run);
    return read_answer(run);
}

static tp_status read_block(struct run *run) {
    struct sql_block *block = run->block;
    if (block->count < 0 || block->count > BLOCK_VALUES)
        return call_refuse(run->call, TP_MISUSE, "TPQ-COUNT is %d, must be 0 to %d", (int)block->count,
                           BLOCK_VALUES);
    block->rows = block->columns = 0;
    memset(block->is_null, 0, sizeof block->is_null);
    memset(block->result, ' ', sizeof block->result);
    tp_status status = call_text(run->call, "TPQ-TEXT", block->text, sizeof block->text, run->text);
    for (int32_t i = 0; i < block->count && status == TP_OK; i++)
        status = read_value(run, i);
    return status;
}

static tp_status execute(struct call *call, struct sql_block *block) {
    struct run *run = calloc(1, sizeof *run);
    if (!run) return call_refuse(call, TP_NOMEM, "out of memory");
    run->call = call;
    run->block = block;
    SQLHDBC dbc = tp_conn_dbc(call->conn->conn);
    tp_status status = read_block(run);
    if (status == TP_OK && (!dbc || !SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, dbc, &run->stmt))))
        status = call_refuse(call, TP_DISCONNECTED, "no connection");
    if (status == TP_OK) status = run_statement(run);
    if (run->stmt) SQLFreeHandle(SQL_HANDLE_STMT, run->stmt);
    free(run);
    return status;
}

/* Without a transaction a statement would be stored alone, whatever becomes of the task. */
static tp_status check(struct call *call) {
    if (call->conn->borrowed)
        return call_refuse(call, TP_MISUSE, "the connection is borrowed: use it yourself");
    if (call->conn->transaction == TRANSACTION_NONE)
        return call_refuse(call, TP_MISUSE, "no transaction is open: CALL TP_BEGIN first");
    return call_may_write(call);
}

int TP_EXECUTE(void *area, void *conn, void *sql_block) {
    struct call call;
    struct sql_block block;
    tp_status status = call_begin_on(&call, area, "TP_EXECUTE", conn);
    if (status == TP_OK) status = check(&call);
    if (status == TP_OK) status = call_block(&call, &block, sql_block, sizeof block, "TPSTMT");
    if (status == TP_OK) {
        status = execute(&call, &block);
        memcpy(sql_block, &block, sizeof block);
    }
    return call_end(&call, status);
}
