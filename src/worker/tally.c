/* Counts what a worker did by handler, and writes one row a minute and handler: the minute in which counting
 * began, and all that was counted until the first heartbeat of a later one. So each row has a key of its own,
 * and a try that got no answer is made again with the same figures. Times are differences of one clock: the
 * database's until the claim, the monotonic one here from then on. Read next: heartbeat.c, ops/activity.c. */
#include "worker/tally.h"

#include <string.h>

#include "ops/for_workers.h"

int64_t tpi_tally_every_ms = 60000;

/* ---- Counting, in any thread --------------------------------------------------------------------------- */

static struct tpi_tally_counts *counts_of(struct tpi_tally *tally, const char *name) {
    const struct tpi_handler *handler = name ? tpi_handler_find(tally->handlers, name) : NULL;
    return handler ? &tally->counts[handler - tally->handlers->all] : NULL;
}

void tpi_tally_outcome(struct tpi_tally *tally, const char *handler, enum tpi_tally_outcome outcome) {
    struct tpi_tally_counts *counts = counts_of(tally, handler);
    if (counts) atomic_fetch_add_explicit(&counts->outcomes[outcome], 1, memory_order_relaxed);
}

static void count_time(struct tpi_tally_times *times, int64_t ms) {
    static const int64_t bounds[] = {
#define BOUND(number, ms) ms,
        TP_HISTOGRAM_LIST(BOUND)
#undef BOUND
    };
    int64_t most = atomic_load_explicit(&times->max, memory_order_relaxed);
    size_t bucket = 0;
    if (ms < 0) ms = 0;
    while (ms > bounds[bucket])
        bucket++;
    atomic_fetch_add_explicit(&times->counts[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&times->sum, ms, memory_order_relaxed);
    while (ms > most && !atomic_compare_exchange_weak(&times->max, &most, ms)) {
    }
}

void tpi_tally_wait(struct tpi_tally *tally, const char *handler, int64_t ms) {
    struct tpi_tally_counts *counts = counts_of(tally, handler);
    if (counts) count_time(&counts->wait, ms);
}

void tpi_tally_run(struct tpi_tally *tally, const char *handler, int64_t ms) {
    struct tpi_tally_counts *counts = counts_of(tally, handler);
    if (counts) count_time(&counts->run, ms);
}

int64_t tpi_tally_outcomes(const struct tpi_tally *tally) {
    int64_t sum = 0;
    for (size_t i = 0; i < tally->handlers->count; i++)
        for (size_t k = 0; k < TPI_TALLY_OUTCOMES; k++)
            sum += atomic_load_explicit(&tally->counts[i].outcomes[k], memory_order_relaxed);
    return sum;
}

/* ---- Writing, under the heartbeat's lock --------------------------------------------------------------- */

/* What is counted meanwhile goes into the next row. */
static int64_t take(atomic_int_least64_t *count) {
    return atomic_exchange(count, 0);
}

/* Gives how many were counted. */
static int64_t take_times(struct tpi_tally_times *from, tp_histogram *to) {
    int64_t count = 0;
    for (size_t i = 0; i < TP_HISTOGRAM_BUCKETS; i++)
        count += to->counts[i] = take(&from->counts[i]);
    to->sum_ms = take(&from->sum);
    to->max_ms = take(&from->max);
    return count;
}

/* False: nothing was done. */
static bool take_row(struct tpi_tally_counts *counts, tp_activity *row) {
    int64_t count = take_times(&counts->wait, &row->wait) + take_times(&counts->run, &row->run);
    count += row->done = take(&counts->outcomes[TPI_TALLY_DONE]);
    count += row->failed = take(&counts->outcomes[TPI_TALLY_FAILED]);
    count += row->gave_up = take(&counts->outcomes[TPI_TALLY_GAVE_UP]);
    count += row->skipped = take(&counts->outcomes[TPI_TALLY_SKIPPED]);
    count += row->released = take(&counts->outcomes[TPI_TALLY_RELEASED]);
    count += row->lost = take(&counts->outcomes[TPI_TALLY_LOST]);
    return count > 0;
}

static void take_rows(struct tpi_tally *tally, const char *worker) {
    for (size_t i = 0; i < tally->handlers->count; i++) {
        tp_activity *row = &tally->rows[tally->row_count];
        *row = (tp_activity){.since = tally->minute, .handler = tally->handlers->names[i]};
        memcpy(row->worker, worker, sizeof row->worker);
        if (take_row(&tally->counts[i], row)) tally->row_count++;
    }
}

static tp_status ask_write(tp_conn *conn, void *arg) {
    const struct tpi_tally *tally = arg;
    return tpi_activity_write(conn, tally->rows, tally->row_count);
}

/* True: nothing is left to be written. */
static bool write_rows(struct tpi_tally *tally, struct tpi_session *session) {
    if (tally->row_count == 0) return true;
    tp_status status = tpi_session_try(session, ask_write, tally);
    tpi_session_report_once(session, status, &tally->failed);
    if (status < TP_OK) return false;
    tally->row_count = 0;
    return true;
}

void tpi_tally_write(struct tpi_tally *tally, struct tpi_session *session, const char *worker, int64_t now,
                     bool last) {
    int64_t minute = now - now % tpi_tally_every_ms;
    if (tally->minute == 0) tally->minute = minute;
    if (!write_rows(tally, session)) return;
    /* A clock that was set back begins no new row: its key may have been used. */
    if (minute <= tally->minute && !last) return;
    take_rows(tally, worker);
    if (minute > tally->minute) tally->minute = minute;
    (void)write_rows(tally, session);
}
