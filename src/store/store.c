/* Runs statements by name and checks their row counts. See store.h. */
#include "store/store.h"

#include <stdlib.h>

#include "base/error.h"
#include "odbc/slot.h"
#include "odbc/types.h"
#include "store/execute.h"

/* What failed before the driver was asked, too, is missing in the transaction. */
static tp_status run(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                     size_t rows, bool changes, struct tpi_stmt **stmt) {
    tp_status status = tpi_execute(store, statement, args, rows, changes, tpi_clock_fill, stmt);
    if (status < TP_OK) tpi_link_doom(&store->link);
    return status;
}

tp_status tpi_store_change_rows(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                                size_t count, int64_t *rows) {
    struct tpi_stmt *stmt = NULL;
    bool alone = store->link.tx == TPI_TX_NONE;
    if (alone) tpi_write_slot_take(&store->link);
    tp_status status = run(store, statement, args, count, true, &stmt);
    if (alone) tpi_write_slot_give(&store->link);
    if (status != TP_OK) return status;
    status = tpi_stmt_changed(stmt, rows);
    if (store->dialect->sql[statement].returns) tpi_stmt_close(stmt);
    stmt->open = false; /* no result to close */
    return status;
}

tp_status tpi_store_change(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                           int64_t *rows) {
    return tpi_store_change_rows(store, statement, args, 1, rows);
}

tp_status tpi_store_change_one(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args) {
    int64_t rows = 0;
    tp_status status = tpi_store_change_rows(store, statement, args, 1, &rows);
    if (status != TP_OK || rows == 1) return status;
    if (rows == 0) return TP_NONE;
    tpi_link_doom(&store->link);
    return tpi_error(TP_DB,
                     "%s changed %lld rows where it must change one; the primary key of the table is missing",
                     tpi_statement_name(statement), (long long)rows);
}

tp_status tpi_store_query(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                          struct tpi_stmt **rows) {
    return run(store, statement, args, 1, false, rows);
}

tp_status tpi_store_query_rows(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                               size_t count, struct tpi_stmt **rows) {
    return run(store, statement, args, count, false, rows);
}

tp_status tpi_store_read(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                         const struct tpi_column *columns, struct tpi_texts *texts, void *record) {
    struct tpi_stmt *stmt = NULL;
    tp_status status = run(store, statement, args, 1, false, &stmt);
    if (status != TP_OK) return status;
    status = tpi_record_next(stmt, columns, texts, record);
    tpi_stmt_close(stmt);
    return status;
}

tp_status tpi_store_list(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                         const struct tpi_column *columns, struct tpi_texts *texts, size_t size, void **all,
                         size_t *count) {
    struct tpi_stmt *stmt = NULL;
    size_t room = 0;
    tp_status status = run(store, statement, args, 1, false, &stmt);
    if (status != TP_OK) return status;
    while (status == TP_OK) {
        if (*count == room) {
            void *more = realloc(*all, (room = room ? room * 2 : 8) * size);
            if (!more) {
                status = tpi_link_no_memory(&store->link);
                break;
            }
            *all = more;
        }
        status = tpi_record_next(stmt, columns, texts, (char *)*all + *count * size);
        if (status == TP_OK) ++*count;
    }
    tpi_stmt_close(stmt);
    if (status == TP_NONE) return TP_OK;
    free(*all);
    *all = NULL;
    *count = 0;
    return status;
}

tp_status tpi_store_keys(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                         struct tpi_keys *keys) {
    static const struct tpi_column only[] = TPI_COLUMN_ONLY(TEXT);
    void *all = NULL;
    tp_status status =
        tpi_store_list(store, statement, args, only, &keys->texts, sizeof *keys->all, &all, &keys->count);
    keys->all = all;
    return status;
}

void tpi_keys_free(struct tpi_keys *keys) {
    free(keys->all);
    tpi_texts_free(&keys->texts);
}

tp_status tpi_store_exists(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                           bool *found) {
    static const struct tpi_column none[] = {TPI_COLUMN_END};
    tp_status status = tpi_store_read(store, statement, args, none, NULL, NULL);
    if (status < TP_OK) return status;
    *found = status == TP_OK;
    return TP_OK;
}

tp_status tpi_store_long_text(struct tpi_store *store, struct tpi_buf *out) {
    return tpi_types_long_text(&store->link, out);
}

tp_status tpi_store_define_text(struct tpi_store *store, const char *name, struct tpi_buf *text,
                                const char *long_text) {
    struct tpi_buf sql = {0};
    const char *word = long_text ? store->dialect->long_text : NULL;
    tpi_render_names(&store->names, text);
    if (!text->failed) tpi_render_script(text->data, store->prefix, word, long_text, &sql);
    tp_status status = text->failed || sql.failed ? tpi_error(TP_NOMEM, "out of memory")
                                                  : tpi_stmt_direct(&store->link, name, sql.data);
    tpi_buf_free(&sql);
    return status;
}

tp_status tpi_store_define(struct tpi_store *store, enum tpi_statement statement) {
    struct tpi_buf long_text = {0}, text = {0};
    tp_status status = store->dialect->long_text ? tpi_store_long_text(store, &long_text) : TP_OK;
    tpi_render(&store->dialect->sql[statement], store->prefix, (struct tpi_repeats){0}, &text);
    if (status == TP_OK)
        status = tpi_store_define_text(store, tpi_statement_name(statement), &text, long_text.data);
    tpi_buf_free(&text);
    tpi_buf_free(&long_text);
    return status;
}
