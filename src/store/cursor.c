/* See cursor.h. */
#include "store/cursor.h"

void tpi_cursor_open(struct tpi_cursor *cursor, struct tpi_store *store, enum tpi_statement statement,
                     struct tpi_args *args, const struct tpi_column *columns, size_t limit) {
    *cursor = (struct tpi_cursor){.columns = columns, .limit = limit};
    cursor->status = tpi_store_query(store, statement, args, &cursor->stmt);
}

bool tpi_cursor_next(struct tpi_cursor *cursor, void *record) {
    tpi_texts_clear(&cursor->texts);
    if (cursor->status != TP_OK || cursor->seen == cursor->limit) return false;
    cursor->status = tpi_record_next(cursor->stmt, cursor->columns, &cursor->texts, record);
    cursor->seen += cursor->status == TP_OK;
    return cursor->status == TP_OK;
}

tp_status tpi_cursor_close(struct tpi_cursor *cursor) {
    tpi_stmt_close(cursor->stmt);
    tpi_texts_free(&cursor->texts);
    if (cursor->status < TP_OK) return cursor->status;
    return cursor->seen ? TP_OK : TP_NONE;
}
