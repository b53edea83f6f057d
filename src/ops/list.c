/* Reading the pools for people: stats and show. It changes nothing and takes no lock. Read next:
 * list_pages.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/batch.h"
#include "store/record.h"

/* ---- Stats --------------------------------------------------------------------------------------------- */

static const struct tpi_column columns[] = {
    TPI_COLUMN(TEXT, tp_stat, handler),  TPI_COLUMN(TEXT, tp_stat, state),
    TPI_COLUMN(NUMBER, tp_stat, count),  TPI_COLUMN(NUMBER, tp_stat, due),
    TPI_COLUMN(NUMBER, tp_stat, oldest), TPI_COLUMN_END,
};

static tp_status pool_stats(tp_conn *conn, enum tpi_statement statement, enum tpi_pool pool, tp_stat_fn see,
                            void *arg) {
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    struct tpi_texts texts = {0};
    tp_stat stat = {.pool = tpi_pool_name(pool)};
    tp_status status = tpi_store_query(&conn->store, statement, &args, &stmt);
    if (status != TP_OK) return status;
    while ((status = tpi_record_next(stmt, columns, &texts, &stat)) == TP_OK) {
        see(&stat, arg);
        tpi_texts_clear(&texts);
    }
    tpi_stmt_close(stmt);
    tpi_texts_free(&texts);
    return status == TP_NONE ? TP_OK : status;
}

tp_status tp_stats(tp_conn *conn, int with_finished, tp_stat_fn see, void *arg) {
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see) return tpi_error(TP_MISUSE, "tp_stats: see is NULL");
    status = pool_stats(conn, TPI_S_stats_pending, TPI_POOL_PENDING, see, arg);
    if (status == TP_OK) status = pool_stats(conn, TPI_S_stats_failed, TPI_POOL_FAILED, see, arg);
    if (status == TP_OK && with_finished)
        status = pool_stats(conn, TPI_S_stats_finished, TPI_POOL_FINISHED, see, arg);
    return status;
}

/* ---- Show ---------------------------------------------------------------------------------------------- */

static tp_status read_tasks(tp_conn *conn, enum tpi_statement statement, struct tpi_args *args,
                            enum tpi_rows rows, enum tpi_pool pool, size_t limit, tp_batch **out) {
    struct tpi_stmt *stmt = NULL;
    tp_batch *batch = tpi_batch_new();
    if (!batch) return tpi_link_no_memory(&conn->store.link);
    tp_status status = tpi_store_query(&conn->store, statement, args, &stmt);
    if (status == TP_OK) status = tpi_batch_read_all(batch, stmt, rows, pool, limit);
    if (status == TP_OK && batch->count == 0) status = TP_NONE;
    if (status == TP_OK)
        *out = batch;
    else
        tp_batch_free(batch);
    return status;
}

tp_status tp_show(tp_conn *conn, const char *id, tp_batch **batch) {
    char normal[TPI_UUID_SIZE];
    struct tpi_args args = {0};
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!batch) return tpi_error(TP_MISUSE, "tp_show: batch is NULL");
    status = tpi_check_uuid("the id", id, normal);
    if (status != TP_OK) return status;
    tpi_args_text(&args, TPI_P_id, normal);
    return read_tasks(conn, TPI_S_show, &args, TPI_ROWS_SHOW, TPI_POOL_PENDING, 0, batch);
}

tp_status tp_show_key(tp_conn *conn, const char *dedup_key, tp_batch **batch) {
    struct tpi_args args = {0};
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!batch) return tpi_error(TP_MISUSE, "tp_show_key: batch is NULL");
    if (!dedup_key || !*dedup_key) return tpi_error(TP_MISUSE, "tp_show_key needs a dedup_key");
    status = tpi_check_key("dedup_key", dedup_key);
    if (status != TP_OK) return status;
    tpi_args_text(&args, TPI_P_dedup_key, dedup_key);
    return read_tasks(conn, TPI_S_show_key, &args, TPI_ROWS_SHOW, TPI_POOL_PENDING, 0, batch);
}
