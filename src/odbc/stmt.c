/* See stmt.h. Every statement is sent here, and every row read. Must not know what a statement is about: text
 * goes in and text comes out. Read next: diag.c, for what becomes of errors. */
#include "odbc/stmt.h"

#include <assert.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/trace.h"

static_assert(TPI_SQL_BIGINT == SQL_BIGINT && TPI_SQL_DECIMAL == SQL_DECIMAL,
              "driver.h names ODBC's numbers");

enum { CHUNK = 1024, ANSWER = 512, CELL_FIRST = 64, CELL_MAX = 16 * 1024 };

/* An application of ODBC 2 may have set on its connection what new statements begin with. */
static void set_own_options(const struct tpi_stmt *stmt) {
    static const struct {
        SQLINTEGER option;
        uintptr_t value;
    } own[] = {{SQL_ATTR_MAX_ROWS, 0}, {SQL_ATTR_MAX_LENGTH, 0}, {SQL_ATTR_RETRIEVE_DATA, SQL_RD_ON}};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        TPI_ODBC_SURE(stmt->link, SQLSetStmtAttr, stmt->handle, own[i].option, (SQLPOINTER)own[i].value, 0);
}

static tp_status allocate(struct tpi_link *link, const char *name, struct tpi_stmt *stmt) {
    *stmt = (struct tpi_stmt){.link = link, .name = name};
    tp_status status = tpi_link_usable(link);
    if (status != TP_OK) return status;
    link->statement = name;
    SQLRETURN answer = TPI_ODBC(link, SQLAllocHandle, SQL_HANDLE_STMT, link->dbc, &stmt->handle);
    if (!SQL_SUCCEEDED(answer)) return tpi_link_failed(link, SQL_HANDLE_DBC, link->dbc);
    if (link->driver->scans_escapes)
        TPI_ODBC_SURE(link, SQLSetStmtAttr, stmt->handle, SQL_ATTR_NOSCAN, (SQLPOINTER)SQL_NOSCAN_ON, 0);
    if (!link->owned) set_own_options(stmt);
    return TP_OK;
}

static tp_status failed(struct tpi_stmt *stmt) {
    stmt->link->statement = stmt->name;
    tp_status status = tpi_link_failed(stmt->link, SQL_HANDLE_STMT, stmt->handle);
    tpi_stmt_close(stmt);
    return status;
}

tp_status tpi_stmt_prepare(struct tpi_link *link, const char *name, const char *sql, struct tpi_stmt *stmt) {
    tp_status status = allocate(link, name, stmt);
    if (status != TP_OK) return status;
    stmt->prepared = true;
    link->counters.round_trips += link->driver->trips.prepare;
    if (SQL_SUCCEEDED(TPI_ODBC(link, SQLPrepare, stmt->handle, (SQLCHAR *)sql, SQL_NTS))) return TP_OK;
    status = failed(stmt);
    tpi_stmt_free(stmt);
    return status;
}

static void free_cells(struct tpi_stmt *stmt) {
    for (size_t i = 0; stmt->cells && i < stmt->cell_count; i++)
        free(stmt->cells[i].text);
    free(stmt->cells);
    stmt->cells = NULL;
    stmt->cell_count = 0;
}

void tpi_stmt_free(struct tpi_stmt *stmt) {
    if (stmt->handle) TPI_ODBC_SURE(stmt->link, SQLFreeHandle, SQL_HANDLE_STMT, stmt->handle);
    stmt->handle = NULL;
    free_cells(stmt);
}

static SQLSMALLINT sql_type(const struct tpi_driver *driver, enum tpi_bind kind, size_t length) {
    if (kind == TPI_BIND_NUMBER) return driver->number_type;
    bool fits = driver->varchar_max && length <= driver->varchar_max;
    return kind == TPI_BIND_TEXT || fits ? SQL_VARCHAR : SQL_LONGVARCHAR;
}

tp_status tpi_stmt_bind(struct tpi_stmt *stmt, size_t i, enum tpi_bind kind, const char *text, size_t length,
                        SQLLEN *indicator) {
    SQLSMALLINT type = sql_type(stmt->link->driver, kind, length);
    *indicator = text ? (SQLLEN)length : SQL_NULL_DATA;
    SQLRETURN answer = TPI_ODBC(stmt->link, SQLBindParameter, stmt->handle, (SQLUSMALLINT)i, SQL_PARAM_INPUT,
                                SQL_C_CHAR, type, kind == TPI_BIND_NUMBER ? 19 : (length ? length : 1), 0,
                                (SQLPOINTER)text, (SQLLEN)length, indicator);
    return SQL_SUCCEEDED(answer) ? TP_OK : failed(stmt);
}

tp_status tpi_stmt_bind_number(struct tpi_stmt *stmt, size_t i, const int64_t *number, SQLLEN *indicator) {
    *indicator = sizeof *number;
    SQLRETURN answer =
        TPI_ODBC(stmt->link, SQLBindParameter, stmt->handle, (SQLUSMALLINT)i, SQL_PARAM_INPUT, SQL_C_SBIGINT,
                 stmt->link->driver->number_type, 19, 0, (SQLPOINTER)number, sizeof *number, indicator);
    return SQL_SUCCEEDED(answer) ? TP_OK : failed(stmt);
}

/* A driver that cannot leaves it. */
void tpi_stmt_limit_wait(struct tpi_stmt *stmt) {
    struct tpi_link *link = stmt->link;
    SQLULEN seconds = link->driver->change_timeout_s;
    if (!seconds || stmt->limited) return;
    stmt->limited = true;
    TPI_ODBC_SURE(link, SQLSetStmtAttr, stmt->handle, SQL_ATTR_QUERY_TIMEOUT, (SQLPOINTER)seconds, 0);
}

/* What is counted and traced of a statement before it is sent. */
static void note_run(struct tpi_stmt *stmt, unsigned trips) {
    struct tpi_link *link = stmt->link;
    link->statement = stmt->name;
    link->counters.statements++;
    link->counters.round_trips += trips;
    tpi_trace(TPI_TRACE_STATEMENTS, "%p %s", (void *)link, stmt->name);
}

/* What the answer to it means. Some servers make a function that does not compile, or end the wait of a
 * commit, and say so in a warning. */
static tp_status ran(struct tpi_stmt *stmt, SQLRETURN answer) {
    if (!SQL_SUCCEEDED(answer) && answer != SQL_NO_DATA) return failed(stmt);
    if (answer == SQL_SUCCESS_WITH_INFO) {
        enum tpi_class class = tpi_link_warning(stmt->link, SQL_HANDLE_STMT, stmt->handle);
        if (class == TPI_CLASS_INVALID || class == TPI_CLASS_DEAD) return failed(stmt);
    }
    stmt->open = true;
    stmt->link->tx_state.used = true;
    return TP_OK;
}

tp_status tpi_stmt_execute(struct tpi_stmt *stmt) {
    struct tpi_link *link = stmt->link;
    tp_status status = tpi_link_usable(link);
    if (status != TP_OK) return status;
    note_run(stmt, stmt->executed ? link->driver->trips.execute : link->driver->trips.first_execute);
    status = ran(stmt, TPI_ODBC(link, SQLExecute, stmt->handle));
    if (status == TP_OK) stmt->executed = true;
    return status;
}

/* ---- Columns that come with the row ------------------------------------------------------------------ */

static tp_status bind_cell(struct tpi_stmt *stmt, size_t i, size_t size) {
    struct tpi_cell *cell = &stmt->cells[i];
    char *text = realloc(cell->text, size);
    if (!text) return tpi_link_no_memory(stmt->link);
    cell->text = text;
    cell->size = size;
    SQLRETURN answer = TPI_ODBC(stmt->link, SQLBindCol, stmt->handle, (SQLUSMALLINT)(i + 1), SQL_C_CHAR, text,
                                (SQLLEN)size, &cell->length);
    return SQL_SUCCEEDED(answer) ? TP_OK : failed(stmt);
}

/* After a failure no column stays bound: the driver must not write to what is freed. */
static tp_status unbind_if_failed(struct tpi_stmt *stmt, tp_status status) {
    if (status == TP_OK) return TP_OK;
    TPI_ODBC_SURE(stmt->link, SQLFreeStmt, stmt->handle, SQL_UNBIND);
    free_cells(stmt);
    return status;
}

static tp_status add_cells(struct tpi_stmt *stmt) {
    SQLSMALLINT count = 0;
    if (!SQL_SUCCEEDED(TPI_ODBC(stmt->link, SQLNumResultCols, stmt->handle, &count))) return failed(stmt);
    stmt->cells = calloc((size_t)count + 1, sizeof *stmt->cells);
    if (!stmt->cells) return tpi_link_no_memory(stmt->link);
    stmt->cell_count = (size_t)count;
    tp_status status = TP_OK;
    for (size_t i = 0; i < stmt->cell_count && status == TP_OK; i++)
        status = bind_cell(stmt, i, CELL_FIRST);
    return status;
}

/* The value was cut, and those of the next rows may be as long. */
static tp_status widen(struct tpi_stmt *stmt, size_t i, size_t length) {
    size_t size = stmt->cells[i].size;
    while (size <= length && size < CELL_MAX)
        size *= 2;
    return size > length ? unbind_if_failed(stmt, bind_cell(stmt, i, size)) : TP_OK;
}

/* ---- Rows ---------------------------------------------------------------------------------------------- */

tp_status tpi_stmt_fetch(struct tpi_stmt *stmt) {
    if (!stmt->cells && stmt->prepared && stmt->link->driver->binds_columns) {
        tp_status status = unbind_if_failed(stmt, add_cells(stmt));
        if (status != TP_OK) return status;
    }
    SQLRETURN answer = TPI_ODBC(stmt->link, SQLFetch, stmt->handle);
    if (SQL_SUCCEEDED(answer)) return TP_OK;
    if (answer != SQL_NO_DATA) return failed(stmt);
    tpi_stmt_close(stmt);
    return TP_NONE;
}

/* The driver reported no error, and yet nothing can be relied on. */
static tp_status give_up(struct tpi_stmt *stmt, tp_status status, const char *why) {
    tpi_stmt_close(stmt);
    tpi_link_doom(stmt->link);
    return tpi_error(status, "%s: the driver %s", stmt->name, why);
}

/* What was executed may return the rows that it changed. */
static tp_status count_returned(struct tpi_stmt *stmt, bool counted, int64_t *rows) {
    SQLSMALLINT columns = 0;
    if (!SQL_SUCCEEDED(TPI_ODBC(stmt->link, SQLNumResultCols, stmt->handle, &columns))) return failed(stmt);
    if (!columns && !counted)
        return give_up(stmt, TP_UNSUPPORTED,
                       "does not say how many rows a statement changed (SQLRowCount is -1), which is how "
                       "taskpool knows who won; use another driver");
    tp_status status = columns ? tpi_stmt_fetch(stmt) : TP_NONE;
    for (*rows = 0; status == TP_OK; ++*rows)
        status = tpi_stmt_fetch(stmt);
    return status == TP_NONE ? TP_OK : status;
}

tp_status tpi_stmt_changed(struct tpi_stmt *stmt, int64_t *rows) {
    SQLLEN count = 0;
    if (!SQL_SUCCEEDED(TPI_ODBC(stmt->link, SQLRowCount, stmt->handle, &count))) return failed(stmt);
    *rows = count > 0 ? count : 0;
    return *rows ? TP_OK : count_returned(stmt, count == 0, rows);
}

/* A chunk ends with a NUL: in the last byte of its room, which was no NUL before, or before that where a
 * driver cuts between characters. */
static size_t chunk_length(const char *chunk, size_t room) {
    return chunk[room - 1] == '\0' ? room - 1 : strnlen(chunk, room - 1);
}

/* Room for the rest and its NUL, when the driver says how much that is. */
static size_t next_room(SQLLEN left, size_t length, size_t room) {
    return left > (SQLLEN)length ? (size_t)left - length + 1 : room * 2;
}

/* A long value comes in chunks, each answer but the last with a warning or with more left than there was
 * room.
 */
static tp_status read_column(struct tpi_stmt *stmt, size_t i, struct tpi_buf *out, bool *is_null) {
    size_t room = CHUNK;
    *is_null = false;
    for (;;) {
        SQLLEN left = 0;
        if (!tpi_buf_reserve(out, room)) return tpi_link_no_memory(stmt->link);
        char *chunk = out->data + out->length;
        chunk[room - 1] = ' ';
        SQLRETURN answer = TPI_ODBC(stmt->link, SQLGetData, stmt->handle, (SQLUSMALLINT)i, SQL_C_CHAR, chunk,
                                    (SQLLEN)room, &left);
        if (!SQL_SUCCEEDED(answer) && answer != SQL_NO_DATA) return failed(stmt);
        /* With nothing to give, the driver may leave anything in the room. */
        if (answer == SQL_NO_DATA || left == SQL_NULL_DATA) {
            *chunk = '\0';
            *is_null = answer != SQL_NO_DATA;
            return TP_OK;
        }
        bool whole = answer == SQL_SUCCESS && left != SQL_NO_TOTAL && (size_t)left < room;
        size_t length = whole ? (size_t)left : chunk_length(chunk, room);
        out->length += length;
        out->data[out->length] = '\0';
        if (whole) return TP_OK;
        if (length == 0 && left != 0)
            return give_up(stmt, TP_DB, "says that there is more of a text and gives nothing");
        room = next_room(left, length, room);
    }
}

static bool came_whole(const struct tpi_cell *cell) {
    return cell->length == SQL_NULL_DATA || (cell->length >= 0 && (size_t)cell->length < cell->size);
}

tp_status tpi_stmt_value(struct tpi_stmt *stmt, size_t i, struct tpi_buf *scratch, struct tpi_value *out) {
    const struct tpi_cell *cell = stmt->cells ? &stmt->cells[i - 1] : NULL;
    if (cell && came_whole(cell)) {
        out->is_null = cell->length == SQL_NULL_DATA;
        out->text = out->is_null ? "" : cell->text;
        out->length = out->is_null ? 0 : (size_t)cell->length;
        return TP_OK;
    }
    tpi_buf_clear(scratch);
    tp_status status = read_column(stmt, i, scratch, &out->is_null);
    if (status == TP_OK && cell) status = widen(stmt, i - 1, scratch->length);
    out->text = tpi_buf_str(scratch);
    out->length = scratch->length;
    return status;
}

tp_status tpi_stmt_column(struct tpi_stmt *stmt, size_t i, struct tpi_buf *out, bool *is_null) {
    struct tpi_buf scratch = {0};
    struct tpi_value value;
    tp_status status = tpi_stmt_value(stmt, i, &scratch, &value);
    if (status == TP_OK) {
        *is_null = value.is_null;
        tpi_buf_add(out, value.text, value.length);
        if (out->failed) status = tpi_link_no_memory(stmt->link);
    }
    tpi_buf_free(&scratch);
    return status;
}

/* What was read stands even when closing fails; but the connection may be lost, or the transaction over. The
 * handle may have its cursor still, and would refuse to be executed: it is given up. */
void tpi_stmt_close(struct tpi_stmt *stmt) {
    if (!stmt) return;
    bool open = stmt->open && stmt->handle;
    stmt->open = false;
    if (!open || SQL_SUCCEEDED(TPI_ODBC(stmt->link, SQLFreeStmt, stmt->handle, SQL_CLOSE))) return;
    struct tpi_kept_error kept = tpi_error_keep();
    (void)!tpi_link_failed(stmt->link, SQL_HANDLE_STMT, stmt->handle);
    tpi_error_restore(&kept);
    tpi_stmt_free(stmt);
}

static tp_status execute_direct(struct tpi_stmt *stmt, const char *sql) {
    note_run(stmt, stmt->link->driver->trips.direct);
    return ran(stmt, TPI_ODBC(stmt->link, SQLExecDirect, stmt->handle, (SQLCHAR *)sql, SQL_NTS));
}

tp_status tpi_stmt_direct(struct tpi_link *link, const char *name, const char *sql) {
    struct tpi_stmt stmt;
    tp_status status = allocate(link, name, &stmt);
    if (status == TP_OK) status = execute_direct(&stmt, sql);
    tpi_stmt_free(&stmt);
    return status;
}

/* After an error the handle is given up, whatever state it is in. */
tp_status tpi_stmt_tx(struct tpi_link *link, const char *name, const char *sql) {
    struct tpi_stmt stmt = {.link = link, .name = name, .handle = link->tx_handle};
    tp_status status = stmt.handle ? tpi_link_usable(link) : allocate(link, name, &stmt);
    if (status == TP_OK) status = execute_direct(&stmt, sql);
    if (status != TP_OK) tpi_stmt_free(&stmt);
    link->tx_handle = stmt.handle;
    return status;
}

void tpi_stmt_forget_tx(struct tpi_link *link) {
    struct tpi_stmt stmt = {.link = link, .handle = link->tx_handle};
    tpi_stmt_free(&stmt);
    link->tx_handle = NULL;
}

/* Needs no memory of its own: what is asked here, such as whether a transaction is open, must not be guessed
 * for want of it. */
tp_status tpi_stmt_ask(struct tpi_link *link, const char *name, const char *sql, char *out, size_t size) {
    struct tpi_stmt stmt;
    char text[ANSWER] = "";
    SQLLEN left = 0;
    tp_status status = allocate(link, name, &stmt);
    if (status == TP_OK) status = execute_direct(&stmt, sql);
    if (status == TP_OK) status = tpi_stmt_fetch(&stmt);
    if (status == TP_OK) {
        SQLRETURN answer =
            TPI_ODBC(link, SQLGetData, stmt.handle, 1, SQL_C_CHAR, text, (SQLLEN)sizeof text, &left);
        if (!SQL_SUCCEEDED(answer) && answer != SQL_NO_DATA) status = failed(&stmt);
        if (answer == SQL_NO_DATA || left == SQL_NULL_DATA) text[0] = '\0';
    }
    if (status >= TP_OK) snprintf(out, size, "%s", text);
    tpi_stmt_close(&stmt);
    tpi_stmt_free(&stmt);
    return status == TP_NONE ? TP_OK : status;
}
