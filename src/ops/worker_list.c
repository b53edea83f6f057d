/* Reads the rows of workers: all, those heard of lately, those of a claim token. Read next: worker_rows.c. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/for_workers.h"
#include "ops/worker_rows.h"
#include "store/record.h"

static const struct tpi_column columns[] = {
    TPI_COLUMN(ID, tp_worker_row, id),
    TPI_COLUMN(TEXT, tp_worker_row, name),
    TPI_COLUMN(TEXT, tp_worker_row, host),
    TPI_COLUMN(TEXT, tp_worker_row, handlers),
    TPI_COLUMN(TEXT, tp_worker_row, plan),
    TPI_COLUMN(TEXT, tp_worker_row, state),
    TPI_COLUMN(INT, tp_worker_row, pid),
    TPI_COLUMN(INT, tp_worker_row, threads),
    TPI_COLUMN(INT, tp_worker_row, running),
    TPI_COLUMN(NUMBER, tp_worker_row, claimed),
    TPI_COLUMN(NUMBER, tp_worker_row, done),
    TPI_COLUMN(NUMBER, tp_worker_row, failed),
    TPI_COLUMN(NUMBER, tp_worker_row, started_at),
    TPI_COLUMN(NUMBER, tp_worker_row, seen_at),
    TPI_COLUMN(TEXT, tp_worker_row, token_tag),
    TPI_COLUMN(NUMBER, tp_worker_row, drain_at),
    TPI_COLUMN(TEXT, tp_worker_row, drain_who),
    TPI_COLUMN_END,
};

void tpi_worker_rows_free(struct tpi_worker_rows *rows) {
    tpi_texts_free(&rows->texts);
    free(rows->all);
    *rows = (struct tpi_worker_rows){0};
}

tp_status tpi_worker_rows_read(tp_conn *conn, int64_t since, const char *tag, struct tpi_worker_rows *rows) {
    struct tpi_args args = {0};
    void *all = NULL;
    *rows = (struct tpi_worker_rows){0};
    tp_status status = tpi_ask_now(conn, &rows->now);
    if (status != TP_OK) return status;
    tpi_args_number(&args, TPI_P_since, since);
    tpi_args_text(&args, TPI_P_tag, tag);
    status = tpi_store_list(&conn->store, tag ? TPI_S_worker_of : TPI_S_worker_list, &args, columns,
                            &rows->texts, sizeof *rows->all, &all, &rows->count);
    rows->all = all;
    for (size_t i = 0; i < rows->count && status == TP_OK; i++) {
        rows->all[i].seen_ago_ms = rows->now - rows->all[i].seen_at;
        if (!*rows->all[i].id)
            status = tpi_error(TP_DB, "the id of a worker on host %.40s is no UUID", rows->all[i].host);
    }
    return status;
}

static tp_status see_each(tp_conn *conn, int64_t since, const char *tag, tp_worker_row_fn see, void *arg) {
    struct tpi_worker_rows rows;
    tp_status status = tpi_worker_rows_read(conn, since, tag, &rows);
    for (size_t i = 0; i < rows.count && status == TP_OK; i++)
        see(&rows.all[i], arg);
    if (status == TP_OK && rows.count == 0) status = TP_NONE;
    tpi_worker_rows_free(&rows);
    return status;
}

tp_status tp_worker_each(tp_conn *conn, tp_worker_row_fn see, void *arg) {
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see) return tpi_error(TP_MISUSE, "tp_worker_each: see is NULL");
    return see_each(conn, INT64_MIN, NULL, see, arg);
}

tp_status tpi_worker_each_lately(tp_conn *conn, int64_t ms, tp_worker_row_fn see, void *arg) {
    int64_t now = 0;
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK) status = tpi_ask_now(conn, &now);
    return status == TP_OK ? see_each(conn, now - ms, NULL, see, arg) : status;
}

tp_status tp_worker_of(tp_conn *conn, const char *token, tp_worker_row_fn see, void *arg) {
    char normal[TPI_UUID_SIZE];
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see) return tpi_error(TP_MISUSE, "tp_worker_of: see is NULL");
    status = tpi_check_uuid("the token", token, normal);
    return status == TP_OK ? see_each(conn, INT64_MIN, tpi_uuid_tag(normal), see, arg) : status;
}

tp_status tp_token_time(const char *token, int64_t *ms) {
    char normal[TPI_UUID_SIZE];
    if (!ms) return tpi_error(TP_MISUSE, "tp_token_time: ms is NULL");
    tp_status status = tpi_check_uuid("the token", token, normal);
    if (status != TP_OK) return status;
    int64_t time = tpi_uuid_time(normal);
    if (time < 0) return tpi_error(TP_MISUSE, "%s is no claim token: it holds no time", normal);
    *ms = time;
    return TP_OK;
}
