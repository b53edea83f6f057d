/* What workers did, by minute: written by each worker for itself, read in buckets of time. Read next:
 * worker/tally.c. */
#include "base/error.h"
#include "core/sized.h"
#include "ops/conn.h"
#include "ops/for_workers.h"
#include "store/cursor.h"

enum { MINUTE_MS = 60000, HOUR_MS = 60 * MINUTE_MS };

#define HISTOGRAM(times)                                                                                     \
    TPI_COLUMN(NUMBER, tp_activity, times.sum_ms), TPI_COLUMN(NUMBER, tp_activity, times.max_ms),            \
        TPI_COLUMN(NUMBER, tp_activity, times.counts[0]), TPI_COLUMN(NUMBER, tp_activity, times.counts[1]),  \
        TPI_COLUMN(NUMBER, tp_activity, times.counts[2]), TPI_COLUMN(NUMBER, tp_activity, times.counts[3]),  \
        TPI_COLUMN(NUMBER, tp_activity, times.counts[4]), TPI_COLUMN(NUMBER, tp_activity, times.counts[5]),  \
        TPI_COLUMN(NUMBER, tp_activity, times.counts[6]), TPI_COLUMN(NUMBER, tp_activity, times.counts[7]),  \
        TPI_COLUMN(NUMBER, tp_activity, times.counts[8]), TPI_COLUMN(NUMBER, tp_activity, times.counts[9])

static const struct tpi_column columns[] = {
    TPI_COLUMN(NUMBER, tp_activity, since),
    TPI_COLUMN(TEXT, tp_activity, handler),
    TPI_COLUMN(ID, tp_activity, worker),
    TPI_COLUMN(NUMBER, tp_activity, done),
    TPI_COLUMN(NUMBER, tp_activity, failed),
    TPI_COLUMN(NUMBER, tp_activity, gave_up),
    TPI_COLUMN(NUMBER, tp_activity, skipped),
    TPI_COLUMN(NUMBER, tp_activity, released),
    TPI_COLUMN(NUMBER, tp_activity, lost),
    HISTOGRAM(wait),
    HISTOGRAM(run),
    TPI_COLUMN_END,
};

/* ---- Writing ------------------------------------------------------------------------------------------- */

static void times_args(struct tpi_args *args, const tp_histogram *times, enum tpi_param sum) {
    const enum tpi_param max = sum + 1, first = sum + 2;
    tpi_args_number(args, sum, times->sum_ms);
    tpi_args_number(args, max, times->max_ms);
    for (unsigned i = 0; i < TP_HISTOGRAM_BUCKETS; i++)
        tpi_args_number(args, first + i, times->counts[i]);
}
_Static_assert(TPI_P_wait_9 == TPI_P_wait_sum + 1 + TP_HISTOGRAM_BUCKETS &&
                   TPI_P_run_9 == TPI_P_run_sum + 1 + TP_HISTOGRAM_BUCKETS,
               "the parameters of a histogram follow one another");

static void row_args(const tp_activity *row, struct tpi_args *args) {
    *args = (struct tpi_args){0};
    tpi_args_number(args, TPI_P_at, row->since);
    tpi_args_text(args, TPI_P_id, row->worker);
    tpi_args_text(args, TPI_P_handler, row->handler);
    tpi_args_number(args, TPI_P_done, row->done);
    tpi_args_number(args, TPI_P_failed, row->failed);
    tpi_args_number(args, TPI_P_gave_up, row->gave_up);
    tpi_args_number(args, TPI_P_skipped, row->skipped);
    tpi_args_number(args, TPI_P_released, row->released);
    tpi_args_number(args, TPI_P_lost, row->lost);
    times_args(args, &row->wait, TPI_P_wait_sum);
    times_args(args, &row->run, TPI_P_run_sum);
}

/* A row that is there was written by an earlier try, and all others of it with it. */
static tp_status add_all(tp_conn *conn, const tp_activity *rows, size_t count) {
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(conn, &scope);
    for (size_t i = 0; i < count && status >= TP_OK; i++) {
        struct tpi_args args;
        row_args(&rows[i], &args);
        status = tpi_store_change_one(&conn->store, TPI_S_activity_add, &args);
    }
    return tpi_scope_end(conn, &scope, status < TP_OK ? status : TP_OK);
}

tp_status tpi_activity_write(tp_conn *conn, const tp_activity *rows, size_t count) {
    struct tpi_args args;
    bool there = false;
    tp_status status = tpi_conn_ready_alone(conn, "tpi_activity_write");
    if (status != TP_OK || count == 0) return status;
    status = add_all(conn, rows, count);
    if (status != TP_CONFLICT) return status;
    row_args(&rows[0], &args);
    tp_status known = tpi_store_exists(&conn->store, TPI_S_activity_find, &args, &there);
    return known == TP_OK && there ? TP_OK : status;
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

static int64_t minute_of(int64_t ms) {
    return ms - ms % MINUTE_MS;
}

static tp_status read_request(const tp_activity_request *given, int64_t now, tp_activity_request *request) {
    tp_status status = TP_OK;
    *request = (tp_activity_request)TP_ACTIVITY_INIT;
    if (given) status = tpi_read_sized(TPI_SIZED_activity_request, given, request);
    if (status == TP_OK && request->handler) status = tpi_check_handler(request->handler);
    if (status == TP_OK) status = tpi_check_duration("bucket_ms", request->bucket_ms);
    if (status != TP_OK) return status;
    if (request->since < 0 || request->until < 0)
        return tpi_error(TP_MISUSE, "tp_activity_each: a time before 1970");
    if (request->by_worker && request->together)
        return tpi_error(TP_MISUSE, "tp_activity_each: by_worker and together exclude each other");
    request->since = minute_of(request->since ? request->since : now - HOUR_MS);
    if (!request->until) request->until = INT64_MAX;
    request->bucket_ms = request->bucket_ms ? minute_of(request->bucket_ms + MINUTE_MS - 1) : MINUTE_MS;
    return TP_OK;
}

tp_status tp_activity_each(tp_conn *conn, const tp_activity_request *given, tp_activity_fn see, void *arg) {
    struct tpi_args args = {0};
    struct tpi_cursor cursor;
    tp_activity activity = {0};
    tp_activity_request request;
    int64_t now = 0;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see) return tpi_error(TP_MISUSE, "tp_activity_each: see is NULL");
    status = tpi_ask_now(conn, &now);
    if (status == TP_OK) status = read_request(given, now, &request);
    if (status != TP_OK) return status;
    tpi_args_text(&args, TPI_P_handler, request.handler);
    tpi_args_number(&args, TPI_P_since, request.since);
    tpi_args_number(&args, TPI_P_before, request.until);
    tpi_args_number(&args, TPI_P_bucket_ms, request.bucket_ms);
    enum tpi_statement statement = request.by_worker  ? TPI_S_activity_by_worker
                                   : request.together ? TPI_S_activity_total
                                                      : TPI_S_activity_sum;
    tpi_cursor_open(&cursor, &conn->store, statement, &args, columns, SIZE_MAX);
    while (tpi_cursor_next(&cursor, &activity)) {
        activity.until = activity.since + request.bucket_ms;
        see(&activity, arg);
    }
    return tpi_cursor_close(&cursor);
}
