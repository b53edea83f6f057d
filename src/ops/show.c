/* Whole tasks, for people. It changes nothing and takes no lock. Read next: list.c. */
#include "base/error.h"
#include "base/uuid.h"
#include "ops/batch.h"
#include "ops/result.h"

static tp_status read_tasks(tp_conn *conn, enum tpi_statement statement, struct tpi_args *args,
                            tp_batch **out) {
    struct tpi_stmt *stmt = NULL;
    tp_batch *batch = tpi_batch_new();
    if (!batch) return tpi_link_no_memory(&conn->store.link);
    tp_status status = tpi_store_query(&conn->store, statement, args, &stmt);
    if (status == TP_OK) status = tpi_batch_read_all(batch, stmt, TPI_ROWS_SHOW, TPI_POOL_PENDING, 0);
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
    tp_batch *shown = NULL;
    status = read_tasks(conn, TPI_S_show, &args, &shown);
    if (status == TP_OK && shown && shown->slots[0].pool == TPI_POOL_FINISHED)
        status = tpi_result_read(conn, &shown->slots[0]);
    if (status == TP_OK)
        *batch = shown;
    else
        tp_batch_free(shown);
    return status;
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
    return read_tasks(conn, TPI_S_show_key, &args, batch);
}
