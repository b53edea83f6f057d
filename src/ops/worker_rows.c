/* Workers tell the pool of themselves: who is there, since when, what they did. For people; whoever reads it
 * must get along with rows that are late, wrong or missing. */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/ask.h"
#include "ops/for_workers.h"
#include "ops/refused.h"
#include "ops/schedule.h"
#include "store/record.h"

enum { SILENT_MS = 60000, FORGET_MS = 24 * 60 * 60 * 1000, NAME_MAX_BYTES = 128, HANDLERS_MAX_BYTES = 512 };

/* ---- Telling ------------------------------------------------------------------------------------------- */

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
    tpi_args_number(args, TPI_P_at, now);
    tpi_args_number(args, TPI_P_before, now);
}

/* TP_NONE: it is not there, or keeps as it is. */
static tp_status tell_again(struct tpi_store *store, void *args) {
    return tpi_store_change_one(store, TPI_S_worker_tell, args);
}

static tp_status write_row(tp_conn *conn, const tp_worker_row *presence, int64_t now) {
    struct texts texts;
    struct tpi_args args;
    fill_args(presence, now, &texts, &args);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_worker_tell, &args);
    if (status != TP_NONE) return status;
    fill_args(presence, now, &texts, &args);
    status = tpi_store_change_one(&conn->store, TPI_S_worker_add, &args);
    if (status == TP_NONE) return tpi_refused_silently(&conn->store, "stored no row", "worker");
    return tpi_refused_judge(&conn->store, status, "worker", tell_again, &args);
}

static tp_status sweep(tp_conn *conn, enum tpi_statement statement, int64_t before) {
    struct tpi_args args = {0};
    int64_t rows = 0;
    tpi_args_number(&args, TPI_P_before, before);
    return tpi_store_change(&conn->store, statement, &args, &rows);
}

tp_status tpi_worker_heartbeat(tp_conn *conn, const tp_worker_row *presence) {
    char id[TPI_UUID_SIZE];
    int64_t now = 0;
    tp_status status = tpi_conn_ready_alone(conn, "tpi_worker_heartbeat");
    if (status != TP_OK) return status;
    status = tpi_check_uuid("the worker's id", presence->id, id);
    if (status == TP_OK) status = tpi_ask_now(conn, &now);
    if (status == TP_OK) status = write_row(conn, presence, now);
    if (status == TP_OK) status = sweep(conn, TPI_S_worker_silent, now - SILENT_MS);
    if (status == TP_OK) status = sweep(conn, TPI_S_worker_forget, now - FORGET_MS);
    return status;
}

tp_status tpi_worker_died(tp_conn *conn, const char *id) {
    char normal[TPI_UUID_SIZE];
    struct tpi_args args = {0};
    tp_status status = tpi_conn_ready_alone(conn, "tpi_worker_died");
    if (status == TP_OK) status = tpi_check_uuid("the worker's id", id, normal);
    if (status != TP_OK) return status;
    tpi_args_text(&args, TPI_P_id, normal);
    return tpi_store_change_one(&conn->store, TPI_S_worker_gone, &args);
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

struct row {
    const char *id;
    tp_worker_row presence;
};

static const struct tpi_column columns[] = {
    TPI_COLUMN(TEXT, struct row, id),
    TPI_COLUMN(TEXT, struct row, presence.name),
    TPI_COLUMN(TEXT, struct row, presence.host),
    TPI_COLUMN(TEXT, struct row, presence.handlers),
    TPI_COLUMN(TEXT, struct row, presence.plan),
    TPI_COLUMN(TEXT, struct row, presence.state),
    TPI_COLUMN(INT, struct row, presence.pid),
    TPI_COLUMN(INT, struct row, presence.threads),
    TPI_COLUMN(INT, struct row, presence.running),
    TPI_COLUMN(NUMBER, struct row, presence.claimed),
    TPI_COLUMN(NUMBER, struct row, presence.done),
    TPI_COLUMN(NUMBER, struct row, presence.failed),
    TPI_COLUMN(NUMBER, struct row, presence.started_at),
    TPI_COLUMN(NUMBER, struct row, presence.seen_at),
    TPI_COLUMN_END,
};

static tp_status read_row(struct tpi_stmt *stmt, struct tpi_texts *texts, tp_worker_row *presence) {
    struct row row = {0};
    tpi_texts_clear(texts);
    tp_status status = tpi_record_next(stmt, columns, texts, &row);
    if (status != TP_OK) return status;
    *presence = row.presence;
    return tpi_uuid_normal(row.id, presence->id)
               ? TP_OK
               : tpi_error(TP_DB, "a worker's id is no UUID: %.40s", row.id);
}

tp_status tp_worker_each(tp_conn *conn, tp_worker_row_fn see, void *arg) {
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    struct tpi_texts texts = {0};
    tp_worker_row presence;
    int64_t now = 0;
    size_t seen = 0;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see) return tpi_error(TP_MISUSE, "tp_worker_each: see is NULL");
    status = tpi_ask_now(conn, &now);
    if (status == TP_OK) status = tpi_store_query(&conn->store, TPI_S_worker_list, &args, &stmt);
    if (status != TP_OK) return status;
    for (; (status = read_row(stmt, &texts, &presence)) == TP_OK; seen++) {
        presence.seen_ago_ms = now - presence.seen_at;
        see(&presence, arg);
    }
    tpi_stmt_close(stmt);
    tpi_texts_free(&texts);
    return status == TP_NONE && seen ? TP_OK : status;
}
