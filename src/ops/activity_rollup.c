/* Rolls up what workers did a while ago: the rows of a worker and handler in a bucket of time become one,
 * whose key is as many milliseconds behind the bucket's beginning as it has minutes, so that it is told from
 * those of minutes. Whoever inserts that key first does it; until he commits others wait for the key, and
 * then are refused. Rows are inserted and deleted, but never changed. So when as many are deleted as were
 * counted at first, they are those that were summed. Read next: activity.c. */
#include "base/error.h"
#include "ops/conn.h"
#include "ops/for_workers.h"
#include "ops/refused.h"

enum { MINUTE_MS = 60000, HOUR_MS = 60 * MINUTE_MS };

/* Buckets that ended so long ago. */
static const struct level {
    int64_t age_ms, bucket_ms;
} levels[TPI_ROLLUP_LEVELS] = {{6 * HOUR_MS, 10 * MINUTE_MS}, {48 * HOUR_MS, HOUR_MS}};

/* What is to be rolled up. */
struct counted {
    int64_t sums, minutes;
};

static tp_status replace(tp_conn *conn, struct tpi_args *args) {
    static const struct tpi_column columns[] = {TPI_COLUMN(NUMBER, struct counted, sums),
                                                TPI_COLUMN(NUMBER, struct counted, minutes), TPI_COLUMN_END};
    struct counted counted = {0};
    int64_t summed = 0, deleted = 0;
    tp_status status =
        tpi_store_read(&conn->store, TPI_S_activity_rollup_count, args, columns, NULL, &counted);
    if (status == TP_OK) status = tpi_store_change(&conn->store, TPI_S_activity_rollup_add, args, &summed);
    if (status == TP_OK)
        status = tpi_store_change(&conn->store, TPI_S_activity_rollup_delete, args, &deleted);
    if (status == TP_OK && deleted != counted.minutes)
        return tpi_error(TP_CONFLICT, "a worker wrote late what it did in a time that was rolled up");
    return status == TP_OK && summed != counted.sums
               ? tpi_refused_silently(&conn->store, "stored fewer sums than there were", "activity")
               : status;
}

static tp_status roll_up(tp_conn *conn, const struct level *level, int64_t bucket) {
    struct tpi_args args = {0};
    struct tpi_scope scope;
    tpi_args_number(&args, TPI_P_since, bucket);
    tpi_args_number(&args, TPI_P_before, bucket + level->bucket_ms);
    tpi_args_number(&args, TPI_P_bucket_ms, level->bucket_ms);
    tp_status status = tpi_scope_begin(conn, &scope);
    if (status == TP_OK) status = replace(conn, &args);
    return tpi_scope_end(conn, &scope, status);
}

/* The first minute from since on that is to be rolled up. Between two levels an hour is left alone: whoever
 * rolls up the last of one is not met by who, a moment later, counts it to the other. TP_NONE: there is none.
 */
static tp_status find(tp_conn *conn, const struct level *level, int64_t now, int64_t since, int64_t *minute) {
    static const struct tpi_column only[] = TPI_COLUMN_ONLY(NUMBER);
    struct tpi_args args = {0};
    int64_t from = 0;
    if (level + 1 < levels + TPI_ROLLUP_LEVELS) from = (now - level[1].age_ms) / HOUR_MS * HOUR_MS + HOUR_MS;
    tpi_args_number(&args, TPI_P_since, since > from ? since : from);
    tpi_args_number(&args, TPI_P_before, (now - level->age_ms) / level->bucket_ms * level->bucket_ms);
    tpi_args_number(&args, TPI_P_bucket_ms, level->bucket_ms);
    tpi_args_number(&args, TPI_P_limit, 1);
    return tpi_store_read(&conn->store, TPI_S_activity_rollup_find, &args, only, NULL, minute);
}

static tp_status roll_next_up(tp_conn *conn, const struct level *level, int64_t now, int64_t *since) {
    int64_t minute = 0;
    tp_status status = find(conn, level, now, *since, &minute);
    if (status != TP_OK) return status;
    int64_t bucket = minute / level->bucket_ms * level->bucket_ms;
    status = roll_up(conn, level, bucket);
    /* Another does it, or did; what came late then stays by the minute, and so does what a rule of the
     * owner's on the table refuses: it is not in the way of all that comes after it. */
    if (status == TP_OK || status == TP_CONFLICT || status == TP_DB) *since = bucket + level->bucket_ms;
    return status;
}

tp_status tpi_activity_roll_up(tp_conn *conn, int64_t since[TPI_ROLLUP_LEVELS]) {
    int64_t now = 0;
    tp_status status = tpi_conn_ready_alone(conn, "tpi_activity_roll_up");
    if (status == TP_OK) status = tpi_ask_now(conn, &now);
    if (status != TP_OK) return status;
    status = TP_NONE;
    for (size_t i = TPI_ROLLUP_LEVELS; i-- > 0 && status == TP_NONE;)
        status = roll_next_up(conn, &levels[i], now, &since[i]);
    return status;
}
