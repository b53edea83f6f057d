/* Shows the rows of a query one by one: open, next until it is false, close. Read next: record.h. */
#ifndef TPI_STORE_CURSOR_H
#define TPI_STORE_CURSOR_H

#include "store/store.h"

struct tpi_cursor {
    struct tpi_stmt *stmt;
    const struct tpi_column *columns;
    struct tpi_texts texts; /* of the row that was read last */
    size_t seen, limit;
    tp_status status;
};

/* Runs the query; whether that went well tpi_cursor_close tells. */
void tpi_cursor_open(struct tpi_cursor *cursor, struct tpi_store *store, enum tpi_statement statement,
                     struct tpi_args *args, const struct tpi_column *columns, size_t limit);
/* Reads the next row into the record; its texts live until the next call. False: there is none, as many as
 * the limit were read, or it failed. */
bool tpi_cursor_next(struct tpi_cursor *cursor, void *record);
/* Closes the result. TP_NONE: there was no row. */
TP_CHECKED tp_status tpi_cursor_close(struct tpi_cursor *cursor);

#endif
