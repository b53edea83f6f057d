/* Workers' rows: each worker process says that it is there, since when, and what it did. For people; whoever
 * reads them must get along with rows that are late, wrong or missing. Read next: worker_list.c,
 * worker/heartbeat.c. */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "ops/for_workers.h"
#include "ops/refused.h"
#include "ops/schedule.h"
#include "store/record.h"

static const int64_t FORGET_MS = INT64_C(30) * 24 * 60 * 60 * 1000;
enum { SILENT_MS = 60000, NAME_MAX_BYTES = 128, HANDLERS_MAX_BYTES = 512 };

struct texts {
    char name[NAME_MAX_BYTES + 1], host[NAME_MAX_BYTES + 1], handlers[HANDLERS_MAX_BYTES + 1];
};

static const char *or_dash(const char *text) {
    return text && *text ? text : "-";
}

static void fill_args(const tp_worker_row *p, int64_t now, struct texts *texts, struct tpi_args *args) {
    *args = (struct tpi_args){0};
    tpi_utf8_copy(or_dash(p->name), texts->name, sizeof texts->name);
    tpi_utf8_copy(or_dash(p->host), texts->host, sizeof texts->host);
    tpi_utf8_copy(or_dash(p->handlers), texts->handlers, sizeof texts->handlers);
    tpi_args_text(args, TPI_P_id, p->id);
    tpi_args_text(args, TPI_P_name, texts->name);
    tpi_args_text(args, TPI_P_host, texts->host);
    tpi_args_text(args, TPI_P_handler_names, texts->handlers);
    tpi_args_text(args, TPI_P_plan, or_dash(p->plan));
    tpi_args_text(args, TPI_P_state, p->state && *p->state ? p->state : "running");
    tpi_args_number(args, TPI_P_pid, p->pid);
    tpi_args_number(args, TPI_P_threads, p->threads);
    tpi_args_number(args, TPI_P_running, p->running);
    tpi_args_number(args, TPI_P_claimed, p->claimed);
    tpi_args_number(args, TPI_P_done, p->done);
    tpi_args_number(args, TPI_P_failed, p->failed);
    tpi_args_text(args, TPI_P_tag, tpi_uuid_process());
    tpi_args_number(args, TPI_P_at, now);
    tpi_args_number(args, TPI_P_before, now);
}

/* TP_NONE: it is not there, or stays as it is. */
static tp_status update_row(struct tpi_store *store, void *args) {
    return tpi_store_change_one(store, TPI_S_worker_update, args);
}

static tp_status write_row(tp_conn *conn, const tp_worker_row *info, int64_t now) {
    struct texts texts;
    struct tpi_args args;
    fill_args(info, now, &texts, &args);
    tp_status status = update_row(&conn->store, &args);
    if (status != TP_NONE) return status;
    status = tpi_store_change_one(&conn->store, TPI_S_worker_add, &args);
    if (status == TP_NONE) return tpi_refused_silently(&conn->store, "stored no row", "worker");
    return tpi_refused_judge(&conn->store, status, "worker", update_row, &args);
}

static tp_status change_older(tp_conn *conn, enum tpi_statement statement, int64_t before) {
    struct tpi_args args = {0};
    int64_t rows = 0;
    tpi_args_number(&args, TPI_P_before, before);
    return tpi_store_change(&conn->store, statement, &args, &rows);
}

static tp_status read_mark(tp_conn *conn, const char *id, struct tpi_worker_news *news) {
    struct mark {
        int64_t at;
        char who[NAME_MAX_BYTES + 1];
    } mark = {0};
    static const struct tpi_column columns[] = {TPI_COLUMN(NUMBER, struct mark, at),
                                                TPI_COLUMN(CHARS, struct mark, who), TPI_COLUMN_END};
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_id, id);
    tp_status status = tpi_store_read(&conn->store, TPI_S_worker_asked, &args, columns, NULL, &mark);
    if (status < TP_OK) return status;
    news->drain = status == TP_OK;
    memcpy(news->drain_who, mark.who, sizeof mark.who);
    return TP_OK;
}

tp_status tpi_worker_heartbeat(tp_conn *conn, const tp_worker_row *info, struct tpi_worker_news *out) {
    char id[TPI_UUID_SIZE];
    int64_t now = 0;
    struct tpi_worker_news news = {0};
    tp_status status = tpi_conn_ready_alone(conn, "tpi_worker_heartbeat");
    if (status == TP_OK) status = tpi_check_uuid("the worker's id", info->id, id);
    if (status == TP_OK) status = tpi_ask_now(conn, &now);
    if (status == TP_OK) status = write_row(conn, info, now);
    news.now = now;
    if (status == TP_OK) status = read_mark(conn, id, &news);
    if (status == TP_OK) status = change_older(conn, TPI_S_worker_silent, now - SILENT_MS);
    if (status == TP_OK) status = change_older(conn, TPI_S_worker_forget, now - FORGET_MS);
    if (status == TP_OK && out) *out = news;
    return status;
}

tp_status tpi_worker_died(tp_conn *conn, const char *id) {
    char normal[TPI_UUID_SIZE];
    struct tpi_args args = {0};
    tp_status status = tpi_conn_ready_alone(conn, "tpi_worker_died");
    if (status == TP_OK) status = tpi_check_uuid("the worker's id", id, normal);
    if (status != TP_OK) return status;
    tpi_args_text(&args, TPI_P_id, normal);
    return tpi_store_change_one(&conn->store, TPI_S_worker_died, &args);
}
