/* Which tasks are being handled, since when, and by which worker. Read next: worker_list.c. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/sized.h"
#include "ops/worker_rows.h"
#include "store/cursor.h"

enum { LIMIT = 100, LIMIT_MAX = 100000 };

static const struct tpi_column columns[] = {
    TPI_COLUMN(ID, tp_running, id),
    TPI_COLUMN(TEXT, tp_running, handler),
    TPI_COLUMN(TEXT, tp_running, biz_key),
    TPI_COLUMN(ID, tp_running, owner),
    TPI_COLUMN(INT, tp_running, failures),
    TPI_COLUMN(NUMBER, tp_running, wanted_at),
    TPI_COLUMN(NUMBER, tp_running, lapses_at),
    TPI_COLUMN(INT, tp_running, percent),
    TPI_COLUMN_END,
};

static bool names(const char *list, const char *handler) {
    size_t length = strlen(handler);
    for (const char *at = list; (at = strstr(at, handler)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
    return false;
}

/* Of several workers in one process one that has the handler. */
static const tp_worker_row *find_worker(const struct tpi_worker_rows *rows, const tp_running *running) {
    const tp_worker_row *found = NULL;
    if (!*running->owner) return NULL;
    for (size_t i = 0; i < rows->count; i++) {
        const tp_worker_row *row = &rows->all[i];
        if (strcmp(row->token_tag, tpi_uuid_tag(running->owner)) != 0) continue;
        if (names(row->handlers, running->handler)) return row;
        if (!found) found = row;
    }
    return found;
}

static tp_status read_request(const tp_running_request *given, tp_running_request *request) {
    tp_status status = TP_OK;
    *request = (tp_running_request)TP_RUNNING_INIT;
    if (given) status = tpi_read_sized(TPI_SIZED_running_request, given, request);
    if (status == TP_OK && request->handler) status = tpi_check_handler(request->handler);
    if (status == TP_OK && request->limit > LIMIT_MAX)
        return tpi_error(TP_TOOBIG, "a limit of %zu; at most %d", request->limit, LIMIT_MAX);
    if (!request->limit) request->limit = LIMIT;
    return status;
}

static void fill(tp_running *running, const struct tpi_worker_rows *workers) {
    int64_t time = tpi_uuid_time(running->owner);
    running->claimed_at = time < 0 ? 0 : time;
    running->now = workers->now;
    running->worker = find_worker(workers, running);
}

tp_status tp_running_each(tp_conn *conn, const tp_running_request *given, tp_running_fn see, void *arg) {
    struct tpi_worker_rows workers = {0};
    struct tpi_args args = {0};
    struct tpi_cursor cursor;
    tp_running_request request;
    tp_running running = {0};
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see) return tpi_error(TP_MISUSE, "tp_running_each: see is NULL");
    status = read_request(given, &request);
    if (status != TP_OK) return status;
    tpi_args_text(&args, TPI_P_handler, request.handler);
    tpi_args_number(&args, TPI_P_limit, (int64_t)request.limit);
    status = tpi_worker_rows_read(conn, INT64_MIN, NULL, &workers);
    if (status == TP_OK) {
        tpi_cursor_open(&cursor, &conn->store, TPI_S_running_list, &args, columns, request.limit);
        while (tpi_cursor_next(&cursor, &running)) {
            fill(&running, &workers);
            see(&running, arg);
        }
        status = tpi_cursor_close(&cursor);
    }
    tpi_worker_rows_free(&workers);
    return status;
}
