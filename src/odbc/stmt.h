/* One statement: prepared, its parameters bound as text, executed, its rows read as text. Long text is read
 * whole, NULL as NULL. Must not know what a statement is about. Read next: link.h. */
#ifndef TPI_ODBC_STMT_H
#define TPI_ODBC_STMT_H

#include "base/buf.h"
#include "odbc/link.h"

enum tpi_bind { TPI_BIND_TEXT, TPI_BIND_LONG_TEXT, TPI_BIND_NUMBER };

/* Where a fetch puts one column. Its size grows with what it meets. */
struct tpi_cell {
    char *text;
    size_t size;
    SQLLEN length; /* the whole value's; SQL_NULL_DATA */
};

struct tpi_stmt {
    struct tpi_link *link;
    SQLHSTMT handle;        /* NULL: given up after a failure, to be prepared anew */
    const char *name;       /* a constant */
    bool prepared;          /* worth binding columns for */
    bool limited;           /* the driver was asked to end its waits */
    bool executed;          /* once: the first time costs more round trips */
    bool open;              /* has a result that is not closed */
    struct tpi_cell *cells; /* NULL: each column is asked for by itself */
    size_t cell_count;
};

/* name must live for ever. */
TP_CHECKED tp_status tpi_stmt_prepare(struct tpi_link *link, const char *name, const char *sql,
                                      struct tpi_stmt *stmt);
void tpi_stmt_free(struct tpi_stmt *stmt);
/* Parameter number i from 1. text NULL: SQL NULL. text and *indicator must live until the execution. */
TP_CHECKED tp_status tpi_stmt_bind(struct tpi_stmt *stmt, size_t i, enum tpi_bind kind, const char *text,
                                   size_t length, SQLLEN *indicator);
/* The same for a number, where the driver's profile says binds_int64. */
TP_CHECKED tp_status tpi_stmt_bind_number(struct tpi_stmt *stmt, size_t i, const int64_t *number,
                                          SQLLEN *indicator);
TP_CHECKED tp_status tpi_stmt_execute(struct tpi_stmt *stmt);
/* Where only the driver can end a wait for a lock, it is asked to. For what may wait: a query may take its
 * time. */
void tpi_stmt_limit_wait(struct tpi_stmt *stmt);
/* Rows changed by the last execution; where it returns rows, how many, and the result is closed. */
TP_CHECKED tp_status tpi_stmt_changed(struct tpi_stmt *stmt, int64_t *rows);
/* TP_NONE behind the last row; the result is then closed. */
TP_CHECKED tp_status tpi_stmt_fetch(struct tpi_stmt *stmt);
/* Column i from 1, in rising order, appended to out; *is_null and nothing appended for NULL. */
TP_CHECKED tp_status tpi_stmt_column(struct tpi_stmt *stmt, size_t i, struct tpi_buf *out, bool *is_null);
/* The same without a copy where the fetch put the value already; scratch is for where it did not. The text
 * ends with a NUL and is valid until the next call with the statement or scratch. */
struct tpi_value {
    const char *text; /* "" for NULL */
    size_t length;
    bool is_null;
};
TP_CHECKED tp_status tpi_stmt_value(struct tpi_stmt *stmt, size_t i, struct tpi_buf *scratch,
                                    struct tpi_value *out);
void tpi_stmt_close(struct tpi_stmt *stmt);

/* A statement without parameters and result. */
TP_CHECKED tp_status tpi_stmt_direct(struct tpi_link *link, const char *name, const char *sql);
/* The same for what begins and ends a transaction, so often that the handle is kept. */
TP_CHECKED tp_status tpi_stmt_tx(struct tpi_link *link, const char *name, const char *sql);
void tpi_stmt_forget_tx(struct tpi_link *link);
/* The first column of the first row, cut to size; "" when there is none. */
TP_CHECKED tp_status tpi_stmt_ask(struct tpi_link *link, const char *name, const char *sql, char *out,
                                  size_t size);

#endif
