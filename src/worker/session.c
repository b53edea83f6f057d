/* One thread's connection: opened when first needed; when lost it is reopened, for ever, with pauses that
 * grow. Every failure to open is retried, whatever its status: only the database's administrator can say
 * that it is final. A session that cannot write, or on which calls keep failing, is closed for a new one,
 * which may reach another server. */
#include "worker/session.h"

#include "base/clock.h"
#include "base/trace.h"
#include "ops/for_workers.h"
#include "worker/watchdog.h"

enum { LEAVE_AFTER = 5 }; /* failures in a row after which the connection itself may be to blame */

void tpi_session_init(struct tpi_session *session, struct tpi_sessions *sessions, const char *who) {
    *session = (struct tpi_session){.sessions = sessions, .who = who};
    /* Only spreads retries; the odd constant keeps the state from being zero. */
    session->random = ((uint64_t)tpi_clock_mono_us() ^ (uint64_t)(uintptr_t)session) | 1;
}

void tpi_session_take(struct tpi_session *session, tp_conn *conn) {
    session->conn = conn;
    session->unwritable = atomic_load(&session->sessions->unwritable);
    if (conn) atomic_fetch_add(&session->sessions->connections, 1);
}

/* It must be reopened before it is used, and counts as open only when it is. */
static void mark_broken(struct tpi_session *session) {
    if (session->conn && !session->broken) atomic_fetch_sub(&session->sessions->connections, 1);
    session->broken = true;
    session->begun = false;
}

/* Only the thread that has the connection may read its counters; others see their sum. */
static void count_work(struct tpi_session *session) {
    if (!session->conn) return;
    struct tpi_work *sum = &session->sessions->work_done;
    const tp_counters *now = tp_conn_counters(session->conn);
    atomic_fetch_add(&sum->odbc_calls, now->odbc_calls - session->counted.odbc_calls);
    atomic_fetch_add(&sum->statements, now->statements - session->counted.statements);
    atomic_fetch_add(&sum->round_trips, now->round_trips - session->counted.round_trips);
    atomic_fetch_add(&sum->commits, now->commits - session->counted.commits);
    atomic_fetch_add(&sum->rollbacks, now->rollbacks - session->counted.rollbacks);
    atomic_fetch_add(&sum->errors, now->errors - session->counted.errors);
    session->statements = (int64_t)(now->statements - session->counted.statements);
    session->counted = *now;
}

void tpi_session_close(struct tpi_session *session) {
    mark_broken(session);
    count_work(session);
    tp_conn_close(session->conn);
    session->conn = NULL;
    session->counted = (tp_counters){0};
}

/* ---- Outages ------------------------------------------------------------------------------------------- */

/* One OFFLINE and ONLINE for a whole outage, although each thread finds out by itself. seen: what was known
 * of outages when the connection that is found dead was made, or tried; if one has begun or ended since, this
 * is no new one. */
static void begin_outage(struct tpi_sessions *sessions, uint64_t seen, const char *text) {
    pthread_mutex_lock(&sessions->event_lock);
    if (!atomic_load(&sessions->offline) && seen == sessions->outage) {
        atomic_store(&sessions->offline, true);
        sessions->outage++;
        tpi_notify_send(sessions->notify, TP_EVENT_OFFLINE, NULL, text);
    }
    pthread_mutex_unlock(&sessions->event_lock);
}

static void end_outage(struct tpi_session *session) {
    struct tpi_sessions *sessions = session->sessions;
    pthread_mutex_lock(&sessions->event_lock);
    if (atomic_load(&sessions->offline)) {
        atomic_store(&sessions->offline, false);
        sessions->outage++;
        tpi_notify_send(sessions->notify, TP_EVENT_ONLINE, NULL, NULL);
    }
    session->outage_seen = sessions->outage;
    pthread_mutex_unlock(&sessions->event_lock);
}

static uint64_t outage_now(struct tpi_sessions *sessions) {
    pthread_mutex_lock(&sessions->event_lock);
    uint64_t now = sessions->outage;
    pthread_mutex_unlock(&sessions->event_lock);
    return now;
}

/* ---- Open and close ------------------------------------------------------------------------------------ */

bool tpi_session_is_outdated(const struct tpi_session *session) {
    return session->unwritable != atomic_load(&session->sessions->unwritable);
}

/* Opens or reopens if need be, one try. No transaction may be open. That one session found the database not
 * to be writable is enough: those that only read would never find out. */
static tp_status bring_ready(struct tpi_session *session) {
    bool good = !session->broken && !session->stale && !tpi_session_is_outdated(session);
    if (session->conn && good) return TP_OK;
    mark_broken(session);
    session->unwritable = atomic_load(&session->sessions->unwritable);
    uint64_t seen = outage_now(session->sessions);
    tpi_watchdog_begin(session->who);
    tp_status status =
        session->conn ? tp_conn_reopen(session->conn) : tp_conn_open(session->sessions->env, &session->conn);
    tpi_watchdog_end();
    tpi_trace(TPI_TRACE_WORKER, "%s connects: %s", session->who, tp_status_name(status));
    if (status < 0) {
        session->tries++;
        begin_outage(session->sessions, seen, tp_last_error()->text);
        return status;
    }
    session->broken = session->stale = false;
    atomic_fetch_add(&session->sessions->connections, 1);
    end_outage(session);
    return TP_OK;
}

void tpi_session_note(struct tpi_session *session, tp_status status) {
    count_work(session);
    if (status == TP_DISCONNECTED) {
        mark_broken(session);
        begin_outage(session->sessions, session->outage_seen, tp_last_error()->text);
    }
    /* A claim that was lost is an answer, not a failure of the connection. */
    if (status >= 0 || status == TP_LOST) {
        session->tries = 0;
        return;
    }
    session->tries++;
    session->lasting = !tp_status_may_retry(status);
    session->stale = session->stale || session->tries % LEAVE_AFTER == 0;
    if (status == TP_UNWRITABLE) atomic_fetch_add(&session->sessions->unwritable, 1);
}

/* What became of its statements nobody else knows. */
void tpi_session_note_run(struct tpi_session *session, bool failed) {
    session->failed_runs = failed ? session->failed_runs + 1 : 0;
    session->stale = session->stale || (failed && session->failed_runs % LEAVE_AFTER == 0);
}

bool tpi_session_may_retry(const struct tpi_session *session, tp_status status) {
    return status < 0 && (session->broken || tp_status_may_retry(status));
}

/* xorshift64 */
int64_t tpi_session_random(struct tpi_session *session, int64_t most) {
    uint64_t x = session->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    session->random = x;
    return (int64_t)(x % (uint64_t)most);
}

int64_t tpi_session_backoff_ms(struct tpi_session *session, unsigned failures, int64_t most_ms) {
    int64_t most = TPI_BACKOFF_FIRST_MS;
    for (unsigned i = 1; i < failures && most < most_ms; i++)
        most *= 2;
    if (most > most_ms) most = most_ms;
    return most / 2 + tpi_session_random(session, most / 2 + 1);
}

static void report(struct tpi_session *session) {
    tpi_notify_send(session->sessions->notify, TP_EVENT_ERROR, NULL, tp_last_error()->text);
}

void tpi_session_drop(struct tpi_session *session) {
    if (session->conn && session->broken) tpi_session_close(session);
}

void tpi_session_roll_back(struct tpi_session *session) {
    if (!session->broken) {
        if (tpi_conn_is_idle(session->conn)) return;
        tpi_watchdog_begin(session->who);
        tp_status status = tp_rollback(session->conn);
        tpi_watchdog_end();
        if (status == TP_OK) return;
        tpi_session_note(session, status);
        mark_broken(session);
    }
    tpi_session_drop(session);
}

void tpi_session_pause(struct tpi_session *session, enum tpi_deadline deadline) {
    bool was = deadline == TPI_UNTIL_GRACE && tpi_lifetime_stopping(session->sessions->life);
    /* Locks that never go away would otherwise be waited for in silence; an outage has its own event, and
     * what will not pass is reported by who asked. */
    if (session->tries == TPI_COMPLAIN_AFTER && !session->broken && !session->lasting) report(session);
    tpi_session_drop(session);
    int64_t most_ms = session->broken || session->lasting ? TPI_BACKOFF_LAST_MS : TPI_BACKOFF_BUSY_MS;
    tpi_lifetime_pause(session->sessions->life, tpi_session_backoff_ms(session, session->tries, most_ms),
                       was);
}

/* False: it may pass, or is none. */
static bool is_lasting(const struct tpi_session *session, tp_status status) {
    return status < 0 && !tpi_session_may_retry(session, status);
}

void tpi_session_recover(struct tpi_session *session, enum tpi_deadline deadline, tp_status status) {
    if (is_lasting(session, status)) report(session);
    tpi_session_pause(session, deadline);
}

void tpi_session_report_once(struct tpi_session *session, tp_status status, bool *reported) {
    bool worth_reporting = is_lasting(session, status) || status == TP_UNWRITABLE;
    if (status >= 0) *reported = false;
    if (!worth_reporting || *reported) return;
    *reported = true;
    report(session);
}

static bool is_past_deadline(struct tpi_session *session, enum tpi_deadline deadline, int64_t since) {
    if (!tpi_lifetime_stopping(session->sessions->life)) return false;
    return deadline == TPI_UNTIL_STOP || tpi_lifetime_grace_over(session->sessions->life, since);
}

tp_status tpi_session_call(struct tpi_session *session, tpi_ask_fn ask, void *arg) {
    tpi_watchdog_begin(session->who);
    tp_status status = ask(session->conn, arg);
    tpi_watchdog_end();
    tpi_session_note(session, status);
    return status;
}

tp_status tpi_session_try(struct tpi_session *session, tpi_ask_fn ask, void *arg) {
    tp_status status = bring_ready(session);
    if (status != TP_OK) return status;
    return tpi_session_call(session, ask, arg);
}

tp_status tpi_session_ask(struct tpi_session *session, enum tpi_deadline deadline, tpi_ask_fn ask,
                          void *arg) {
    int64_t since = tpi_clock_mono_ms();
    for (;;) {
        tp_status status = tpi_session_try(session, ask, arg);
        if (!tpi_session_may_retry(session, status) || is_past_deadline(session, deadline, since))
            return status;
        tpi_session_pause(session, deadline);
    }
}
