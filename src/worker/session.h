/* One thread's connection, and what is known over all connections of a worker; see session.c. */
#ifndef TPI_WORKER_SESSION_H
#define TPI_WORKER_SESSION_H

#include "taskpool.h"
#include "worker/lifetime.h"
#include "worker/notify.h"

enum {
    TPI_BACKOFF_FIRST_MS = 100, /* doubled by each failure in a row ... */
    TPI_BACKOFF_LAST_MS = 5000, /* ... up to this if lost or refused; the upper half is random */
    TPI_BACKOFF_BUSY_MS = 1000, /* ... up to this when others are in the way */
    TPI_MISSES_MAX = 3,         /* of many calls, those in a row without an answer before the rest waits */
    TPI_COMPLAIN_AFTER = 5,     /* failures in a row that would pass by themselves, and did not */
};

/* tp_counters of all connections of a worker together. */
struct tpi_work {
    atomic_uint_fast64_t odbc_calls, statements, round_trips, commits, rollbacks, errors;
};

/* What is common to all sessions of a worker. */
struct tpi_sessions {
    tp_env *env;
    struct tpi_lifetime *life;
    struct tpi_notify *notify;
    struct tpi_work work_done;
    atomic_int connections;
    atomic_uint unwritable;     /* how many times the database was found so: sessions of before are left */
    atomic_bool offline;        /* written under event_lock */
    pthread_mutex_t event_lock; /* keeps OFFLINE and ONLINE in their order */
    uint64_t outage;            /* under event_lock: how many times OFFLINE or ONLINE was sent */
};

/* One thread's connection. Used by that thread only. */
struct tpi_session {
    struct tpi_sessions *sessions;
    const char *who;      /* a constant, for traces and texts */
    tp_conn *conn;        /* NULL until first needed */
    bool broken;          /* must be reopened before it is used */
    bool stale;           /* it answers, but is left for a new one at rest */
    unsigned unwritable;  /* sessions->unwritable when it was opened */
    unsigned tries;       /* failures in a row */
    bool lasting;         /* the last of them will not pass by itself */
    unsigned failed_runs; /* handlers in a row that had the connection and failed */
    uint64_t outage_seen; /* sessions->outage when it was opened */
    uint64_t random;
    bool begun;          /* the next transaction was begun with the last commit */
    tp_counters counted; /* of conn, what is in sessions->work_done already */
    int64_t statements;  /* of the last call */
};

typedef tp_status (*tpi_ask_fn)(tp_conn *conn, void *arg);

/* UNTIL_STOP: a failure is final once the worker is to stop. UNTIL_GRACE: tried on for TPI_STOP_GRACE_MS. */
enum tpi_deadline { TPI_UNTIL_STOP, TPI_UNTIL_GRACE };

void tpi_session_init(struct tpi_session *session, struct tpi_sessions *sessions, const char *who);
void tpi_session_close(struct tpi_session *session);
/* Takes an open connection over. */
void tpi_session_take(struct tpi_session *session, tp_conn *conn);
/* What a call on the connection answered. */
void tpi_session_note(struct tpi_session *session, tp_status status);
/* A handler that had the connection failed, or what it wrote was committed. */
void tpi_session_note_run(struct tpi_session *session, bool failed);
/* True when the failure may pass: worth asking again after a pause. */
bool tpi_session_may_retry(const struct tpi_session *session, tp_status status);
/* Was the database found not to be writable since this one was opened, by whichever session? */
bool tpi_session_is_outdated(const struct tpi_session *session);
/* After so many failures in a row: doubled by each, up to most_ms, the upper half at random. */
int64_t tpi_session_backoff_ms(struct tpi_session *session, unsigned failures, int64_t most_ms);
/* Right after a failure: sleeps by the number of them in a row; the stop ends it early. */
void tpi_session_pause(struct tpi_session *session, enum tpi_deadline deadline);
/* The same, and reports what will not pass: never silent, never busy. */
void tpi_session_recover(struct tpi_session *session, enum tpi_deadline deadline, tp_status status);
/* Of what is tried now and then: reports once that it fails and will not pass, and again when it went well in
 * between; of a standby too, because a worker to which nothing comes writes nothing else. */
void tpi_session_report_once(struct tpi_session *session, tp_status status, bool *reported);
/* Before its thread turns to something else: a connection that is lost is closed, because what it had locked
 * may be locked until then. */
void tpi_session_drop(struct tpi_session *session);
/* Unless a commit that failed has done so. What the connection knows, such as which tasks a rule refuses, is
 * kept. A session whose rollback failed may still be inside the transaction: it is not used again. */
void tpi_session_roll_back(struct tpi_session *session);
/* On a session that is ready: ask, note. */
TP_CHECKED tp_status tpi_session_call(struct tpi_session *session, tpi_ask_fn ask, void *arg);
/* One try: ready, ask, note. No transaction may be open. */
TP_CHECKED tp_status tpi_session_try(struct tpi_session *session, tpi_ask_fn ask, void *arg);
/* Asks until there is an answer other than a failure that may pass; at least once. */
TP_CHECKED tp_status tpi_session_ask(struct tpi_session *session, enum tpi_deadline deadline, tpi_ask_fn ask,
                                     void *arg);
/* 0 to most - 1, only to spread things out. most is above 0. */
int64_t tpi_session_random(struct tpi_session *session, int64_t most);

#endif
