/* Workers tell the pool of themselves: who is there, since when, what they did. For people; whoever reads it
 * must get along with rows that are late, wrong or missing. */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/ask.h"
#include "ops/batch.h"
#include "ops/refused.h"
#include "ops/schedule.h"

enum { SILENT_MS = 60000, FORGET_MS = 24 * 60 * 60 * 1000, NAME_MAX_BYTES = 128, HANDLERS_MAX_BYTES = 512 };

/* ---- Telling ------------------------------------------------------------------------------------------- */

struct texts {
    char name[NAME_MAX_BYTES + 1], host[NAME_MAX_BYTES + 1], handlers[HANDLERS_MAX_BYTES + 1];
};

static const char *or_dash(const char *text) {
    return text && *text ? text : "-";
}

static void fill_args(const tp_presence *p, int64_t now, struct texts *texts, struct tpi_args *args) {
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

static tp_status write_row(tp_conn *conn, const tp_presence *presence, int64_t now) {
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

tp_status tp_presence_tell(tp_conn *conn, const tp_presence *given) {
    tp_presence presence;
    char id[TPI_UUID_SIZE];
    int64_t now = 0;
    tp_status status = tpi_conn_ready_alone(conn, "tp_presence_tell");
    if (status != TP_OK) return status;
    if (!given) return tpi_error(TP_MISUSE, "tp_presence_tell: presence is NULL");
    status = tpi_read_sized(TPI_SIZED_presence, given, &presence);
    if (status == TP_OK) status = tpi_check_uuid("the worker's id", presence.id, id);
    if (status == TP_OK) status = tpi_ask_now(conn, &now);
    if (status == TP_OK) status = write_row(conn, &presence, now);
    if (status == TP_OK) status = sweep(conn, TPI_S_worker_silent, now - SILENT_MS);
    if (status == TP_OK) status = sweep(conn, TPI_S_worker_forget, now - FORGET_MS);
    return status;
}

tp_status tp_presence_gone(tp_conn *conn, const char *id) {
    char normal[TPI_UUID_SIZE];
    struct tpi_args args = {0};
    tp_status status = tpi_conn_ready_alone(conn, "tp_presence_gone");
    if (status == TP_OK) status = tpi_check_uuid("the worker's id", id, normal);
    if (status != TP_OK) return status;
    tpi_args_text(&args, TPI_P_id, normal);
    return tpi_store_change_one(&conn->store, TPI_S_worker_gone, &args);
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

enum { TEXTS = 6, NUMBERS = 8 };

struct reading {
    struct tpi_buf text[TEXTS];
    tp_presence presence;
};

static tp_status read_numbers(struct tpi_stmt *stmt, tp_presence *presence) {
    int64_t number[NUMBERS] = {0};
    tp_status status = TP_OK;
    for (size_t i = 0; i < NUMBERS && status == TP_OK; i++)
        status = tpi_batch_number(stmt, TEXTS + 1 + i, &number[i]);
    presence->pid = (int32_t)number[0];
    presence->threads = (int32_t)number[1];
    presence->running = (int32_t)number[2];
    presence->claimed = number[3];
    presence->done = number[4];
    presence->failed = number[5];
    presence->started_at = number[6];
    presence->seen_at = number[7];
    return status;
}

static tp_status read_row(struct tpi_stmt *stmt, struct reading *reading) {
    tp_presence *p = &reading->presence;
    const char *id = NULL;
    const char **texts[TEXTS] = {&id, &p->name, &p->host, &p->handlers, &p->plan, &p->state};
    tp_status status = tpi_stmt_fetch(stmt);
    for (size_t i = 0; i < TEXTS && status == TP_OK; i++) {
        bool is_null = false;
        tpi_buf_clear(&reading->text[i]);
        status = tpi_stmt_column(stmt, i + 1, &reading->text[i], &is_null);
        *texts[i] = tpi_buf_str(&reading->text[i]);
    }
    if (status != TP_OK) return status;
    if (!tpi_uuid_normal(id, p->id)) return tpi_error(TP_DB, "a worker's id is no UUID: %.40s", id);
    return read_numbers(stmt, p);
}

tp_status tp_presence_each(tp_conn *conn, tp_presence_fn see, void *arg) {
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    struct reading reading = {.presence = {.size = sizeof(tp_presence)}};
    int64_t now = 0;
    size_t seen = 0;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see) return tpi_error(TP_MISUSE, "tp_presence_each: see is NULL");
    status = tpi_ask_now(conn, &now);
    if (status == TP_OK) status = tpi_store_query(&conn->store, TPI_S_worker_list, &args, &stmt);
    if (status != TP_OK) return status;
    for (; (status = read_row(stmt, &reading)) == TP_OK; seen++) {
        reading.presence.seen_ago_ms = now - reading.presence.seen_at;
        see(&reading.presence, arg);
    }
    tpi_stmt_close(stmt);
    for (size_t i = 0; i < TEXTS; i++)
        tpi_buf_free(&reading.text[i]);
    return status == TP_NONE && seen ? TP_OK : status;
}
