/* How many tasks there are, and what came lately, for people; and the database's clock. It changes nothing
 * and takes no lock. */
#include "base/error.h"
#include "base/uuid.h"
#include "core/fsm.h"
#include "ops/conn.h"
#include "store/cursor.h"

/* ---- Stats --------------------------------------------------------------------------------------------- */

static const struct tpi_column columns[] = {
    TPI_COLUMN(TEXT, tp_stat, handler),
    TPI_COLUMN(TEXT, tp_stat, state),
    TPI_COLUMN(NUMBER, tp_stat, count),
    TPI_COLUMN(NUMBER, tp_stat, due),
    TPI_COLUMN(NUMBER, tp_stat, oldest),
    TPI_COLUMN(NUMBER, tp_stat, oldest_due),
    TPI_COLUMN_END,
};

static tp_status pool_stats(tp_conn *conn, enum tpi_statement statement, enum tpi_pool pool, tp_stat_fn see,
                            void *arg) {
    struct tpi_args args = {0};
    struct tpi_cursor cursor;
    tp_stat stat = {.pool = tpi_pool_name(pool)};
    tpi_cursor_open(&cursor, &conn->store, statement, &args, columns, SIZE_MAX);
    while (tpi_cursor_next(&cursor, &stat))
        see(&stat, arg);
    tp_status status = tpi_cursor_close(&cursor);
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

/* ---- What came lately ---------------------------------------------------------------------------------- */

/* What was settled lately, by what became of it, and how much of that came lately, too. */
struct recent {
    tp_recent settled;
    int64_t enqueued;
};

static void see_recent(const struct recent *recent, tp_recent_fn see, void *arg, size_t *seen) {
    const tp_recent enqueued = {recent->settled.handler, "enqueued", recent->enqueued};
    if (recent->settled.count) see(&recent->settled, arg);
    if (recent->enqueued) see(&enqueued, arg);
    *seen += recent->settled.count || recent->enqueued;
}

static tp_status pool_recent(tp_conn *conn, enum tpi_statement statement, struct tpi_args *args,
                             tp_recent_fn see, void *arg, size_t *seen) {
    static const struct tpi_column recent_columns[] = {
        TPI_COLUMN(TEXT, struct recent, settled.handler),
        TPI_COLUMN(TEXT, struct recent, settled.event),
        TPI_COLUMN(NUMBER, struct recent, settled.count),
        TPI_COLUMN(NUMBER, struct recent, enqueued),
        TPI_COLUMN_END,
    };
    struct tpi_cursor cursor;
    struct recent recent = {.enqueued = 0};
    tpi_cursor_open(&cursor, &conn->store, statement, args, recent_columns, SIZE_MAX);
    while (tpi_cursor_next(&cursor, &recent))
        see_recent(&recent, see, arg, seen);
    tp_status status = tpi_cursor_close(&cursor);
    return status == TP_NONE ? TP_OK : status;
}

tp_status tp_recent_each(tp_conn *conn, int64_t window_ms, tp_recent_fn see, void *arg) {
    static const enum tpi_statement statements[] = {TPI_S_enqueued_lately, TPI_S_settled_lately_finished,
                                                    TPI_S_settled_lately_failed};
    /* COARSE: by so much may the clock of a database with whole seconds be late. */
    enum { HOUR_MS = 3600000, COARSE_MS = 1000, STATEMENTS = sizeof statements / sizeof statements[0] };
    char after[TPI_UUID_SIZE], last[TPI_UUID_SIZE];
    struct tpi_args args = {0};
    int64_t now = 0;
    size_t seen = 0;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see || window_ms < 1 || window_ms > HOUR_MS)
        return tpi_error(TP_MISUSE, "tp_recent_each: see is NULL, or window_ms is not from 1 to an hour");
    status = tpi_ask_now(conn, &now);
    tpi_uuid_at(now - window_ms, after);
    tpi_uuid_at(now + COARSE_MS, last);
    tpi_args_text(&args, TPI_P_after_id, after);
    tpi_args_text(&args, TPI_P_last_id, last);
    tpi_args_number(&args, TPI_P_settled_since, now - window_ms);
    for (size_t i = 0; i < STATEMENTS && status == TP_OK; i++)
        status = pool_recent(conn, statements[i], &args, see, arg, &seen);
    return status == TP_OK && !seen ? TP_NONE : status;
}

tp_status tp_now(tp_conn *conn, int64_t *now_ms) {
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK && !now_ms) status = tpi_error(TP_MISUSE, "tp_now: now_ms is NULL");
    return status == TP_OK ? tpi_ask_now(conn, now_ms) : status;
}
