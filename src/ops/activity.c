/* What workers did, by minute: written by each worker for itself, read in buckets of time. Read next:
 * worker/tally.c. */
#include "base/error.h"
#include "core/sized.h"
#include "ops/conn.h"
#include "store/record.h"

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
    request->since = minute_of(request->since ? request->since : now - HOUR_MS);
    if (!request->until) request->until = INT64_MAX;
    request->bucket_ms = request->bucket_ms ? minute_of(request->bucket_ms + MINUTE_MS - 1) : MINUTE_MS;
    return TP_OK;
}

tp_status tp_activity_each(tp_conn *conn, const tp_activity_request *given, tp_activity_fn see, void *arg) {
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    struct tpi_texts texts = {0};
    tp_activity_request request;
    int64_t now = 0;
    size_t seen = 0;
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
    status = tpi_store_query(&conn->store, request.by_worker ? TPI_S_activity_by_worker : TPI_S_activity_sum,
                             &args, &stmt);
    for (; status == TP_OK; seen++) {
        tp_activity activity = {0};
        status = tpi_record_next(stmt, columns, &texts, &activity);
        if (status != TP_OK) break;
        activity.until = activity.since + request.bucket_ms;
        see(&activity, arg);
        tpi_texts_clear(&texts);
    }
    tpi_stmt_close(stmt);
    tpi_texts_free(&texts);
    return status == TP_NONE && seen ? TP_OK : status;
}
