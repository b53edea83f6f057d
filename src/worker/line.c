/* One thread's connection: opened when first needed, reopened for ever when lost, with pauses that grow. A
 * failure to open is always worth another try, whatever its status: only the database's administrator can say
 * that it will never come back. A session that cannot write, or on which nothing goes well any more, is left
 * for a new one, because the server behind it may have lost its part: the new one may reach its successor. */
#include "worker/worker.h"

#include "base/clock.h"
#include "worker/lookout.h"

void tpi_line_init(struct tpi_line *line, struct tp_worker *worker, const char *who) {
    *line = (struct tpi_line){.worker = worker, .who = who};
    /* Only spreads retries; the odd constant keeps the state from being zero. */
    line->random = ((uint64_t)tpi_clock_mono_us() ^ (uint64_t)(uintptr_t)line) | 1;
}

void tpi_line_adopt(struct tpi_line *line, tp_conn *conn) {
    line->conn = conn;
    line->unwritable = atomic_load(&line->worker->unwritable);
    if (conn) atomic_fetch_add(&line->worker->connections, 1);
}

/* One that is being reopened counts as open only when it is. */
void tpi_line_drop(struct tpi_line *line) {
    if (line->conn && !line->broken) atomic_fetch_sub(&line->worker->connections, 1);
    line->broken = true;
    line->begun = false;
}

/* Only the thread that has the connection may read its counters; others see their sum. */
static void count_work(struct tpi_line *line) {
    if (!line->conn) return;
    struct tpi_work *sum = &line->worker->work_done;
    const tp_counters *now = tp_conn_counters(line->conn);
    atomic_fetch_add(&sum->odbc_calls, now->odbc_calls - line->told.odbc_calls);
    atomic_fetch_add(&sum->statements, now->statements - line->told.statements);
    atomic_fetch_add(&sum->round_trips, now->round_trips - line->told.round_trips);
    atomic_fetch_add(&sum->commits, now->commits - line->told.commits);
    atomic_fetch_add(&sum->rollbacks, now->rollbacks - line->told.rollbacks);
    atomic_fetch_add(&sum->errors, now->errors - line->told.errors);
    line->statements = (int64_t)(now->statements - line->told.statements);
    line->told = *now;
}

void tpi_line_close(struct tpi_line *line) {
    tpi_line_drop(line);
    count_work(line);
    tp_conn_close(line->conn);
    line->conn = NULL;
    line->told = (tp_counters){0};
}

static tp_status bring_up(struct tpi_line *line) {
    if (line->conn) return tp_conn_reopen(line->conn);
    return tp_conn_open(line->worker->env, &line->conn);
}

/* One line's finding is enough: those that only look would never find out. */
static bool is_to_be_left(const struct tpi_line *line) {
    return line->broken || line->stale || line->unwritable != atomic_load(&line->worker->unwritable);
}

tp_status tpi_line_ready(struct tpi_line *line) {
    if (line->conn && !is_to_be_left(line)) return TP_OK;
    tpi_line_drop(line);
    line->unwritable = atomic_load(&line->worker->unwritable);
    tpi_lookout_begin(line->who);
    tp_status status = bring_up(line);
    tpi_lookout_end();
    tpi_trace(TPI_TRACE_WORKER, "%s connects: %s", line->who, tp_status_name(status));
    if (status < 0) {
        line->tries++;
        tpi_outage_begin(line, true, tp_last_error()->text);
        return status;
    }
    line->broken = line->stale = false;
    atomic_fetch_add(&line->worker->connections, 1);
    tpi_outage_end(line);
    return TP_OK;
}

void tpi_line_note(struct tpi_line *line, tp_status status) {
    count_work(line);
    if (status == TP_DISCONNECTED) {
        tpi_line_drop(line);
        tpi_outage_begin(line, false, tp_last_error()->text);
    }
    /* A claim that was lost is an answer, not a failure of the connection. */
    if (status >= 0 || status == TP_LOST) {
        line->tries = 0;
        return;
    }
    line->tries++;
    line->lasting = !tp_status_may_retry(status);
    line->stale = line->stale || line->tries % TPI_LEAVE_AFTER == 0;
    if (status == TP_UNWRITABLE) atomic_fetch_add(&line->worker->unwritable, 1);
}

/* What became of its statements nobody else knows. */
void tpi_line_note_run(struct tpi_line *line, bool failed) {
    line->failed_runs = failed ? line->failed_runs + 1 : 0;
    line->stale = line->stale || (failed && line->failed_runs % TPI_LEAVE_AFTER == 0);
}

bool tpi_line_hope(const struct tpi_line *line, tp_status status) {
    return status < 0 && (line->broken || tp_status_may_retry(status));
}

/* xorshift64 */
static uint64_t next_random(struct tpi_line *line) {
    uint64_t x = line->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    line->random = x;
    return x;
}

int64_t tpi_line_random(struct tpi_line *line, int64_t most) {
    return (int64_t)(next_random(line) % (uint64_t)most);
}

static int64_t backoff_ms(struct tpi_line *line) {
    int64_t cap = line->broken || line->lasting ? TPI_BACKOFF_LAST_MS : TPI_BACKOFF_BUSY_MS;
    int64_t most = TPI_BACKOFF_FIRST_MS;
    for (unsigned i = 1; i < line->tries && most < cap; i++)
        most *= 2;
    if (most > cap) most = cap;
    return most / 2 + tpi_line_random(line, most / 2 + 1);
}

static void tell(struct tpi_line *line) {
    tpi_notify_send(line->worker, TP_EVENT_ERROR, NULL, tp_last_error()->text);
}

/* Locks that never go away would otherwise be waited for in silence; an outage has its own event, and what
 * will not pass is told by who asked. */
static void complain(struct tpi_line *line) {
    if (line->tries == TPI_COMPLAIN_AFTER && !line->broken && !line->lasting) tell(line);
}

void tpi_line_let_go(struct tpi_line *line) {
    if (line->conn && line->broken) tpi_line_close(line);
}

void tpi_line_roll_back(struct tpi_line *line) {
    if (!line->broken) {
        tpi_lookout_begin(line->who);
        tp_status status = tp_rollback(line->conn);
        tpi_lookout_end();
        if (status == TP_OK) return;
        tpi_line_note(line, status);
        tpi_line_drop(line);
    }
    tpi_line_let_go(line);
}

void tpi_line_pause(struct tpi_line *line, enum tpi_patience patience) {
    bool was = patience == TPI_UNTIL_GRACE && tpi_worker_stopping(line->worker);
    complain(line);
    tpi_line_let_go(line);
    tpi_worker_pause(line->worker, backoff_ms(line), was);
}

/* False: it may pass, or is none. */
static bool is_lasting(const struct tpi_line *line, tp_status status) {
    return status < 0 && !tpi_line_hope(line, status);
}

void tpi_line_recover(struct tpi_line *line, enum tpi_patience patience, tp_status status) {
    if (is_lasting(line, status)) tell(line);
    tpi_line_pause(line, patience);
}

void tpi_line_tell_once(struct tpi_line *line, tp_status status, bool *told) {
    bool worth_telling = is_lasting(line, status) || status == TP_UNWRITABLE;
    if (status >= 0) *told = false;
    if (!worth_telling || *told) return;
    *told = true;
    tell(line);
}

static bool out_of_patience(struct tpi_line *line, enum tpi_patience patience, int64_t since) {
    if (!tpi_worker_stopping(line->worker)) return false;
    return patience == TPI_UNTIL_STOP || tpi_worker_grace_over(line->worker, since);
}

tp_status tpi_line_call(struct tpi_line *line, tpi_ask_fn ask, void *arg) {
    tpi_lookout_begin(line->who);
    tp_status status = ask(line->conn, arg);
    tpi_lookout_end();
    tpi_line_note(line, status);
    return status;
}

tp_status tpi_line_try(struct tpi_line *line, tpi_ask_fn ask, void *arg) {
    tp_status status = tpi_line_ready(line);
    if (status != TP_OK) return status;
    return tpi_line_call(line, ask, arg);
}

tp_status tpi_line_ask(struct tpi_line *line, enum tpi_patience patience, tpi_ask_fn ask, void *arg) {
    int64_t since = tpi_clock_mono_ms();
    for (;;) {
        tp_status status = tpi_line_try(line, ask, arg);
        if (!tpi_line_hope(line, status) || out_of_patience(line, patience, since)) return status;
        tpi_line_pause(line, patience);
    }
}
