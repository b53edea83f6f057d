/* One thread's connection, and what was done over all sessions of a worker; see session.c. */
#ifndef TPI_WORKER_SESSION_H
#define TPI_WORKER_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/wake.h"
#include "taskpool.h"

struct tp_worker;

/* One thread's connection. Used by that thread only. */
struct tpi_session {
    struct tp_worker *worker;
    const char *who;      /* for traces and texts: dispatcher, lease renewer, executor */
    tp_conn *conn;        /* NULL until first needed */
    bool broken;          /* must be reopened before it is used */
    bool stale;           /* it answers, but is left for a new one at rest */
    unsigned unwritable;  /* worker->unwritable when it was opened */
    unsigned tries;       /* failures in a row */
    bool lasting;         /* the last of them will not pass by itself */
    unsigned failed_runs; /* handlers in a row that had the connection and failed */
    uint64_t outage_seen; /* worker->outage when it was opened */
    uint64_t random;
    size_t hold_group;          /* plan hold: tasks in the next claim; 0: 1 */
    bool hold_found;            /* its last claim had tasks */
    bool polls;                 /* it is the one that looks for tasks */
    bool begun;                 /* the next transaction was begun with the last commit */
    struct tpi_arrival arrival; /* plan hold: what woke this thread; none after its next claim */
    tp_counters counted;        /* of conn, what is in worker->work_done already */
    int64_t statements;         /* of the last call */
};

/* tp_counters of all connections of a worker together. */
struct tpi_work {
    atomic_uint_fast64_t odbc_calls, statements, round_trips, commits, rollbacks, errors;
};

typedef tp_status (*tpi_ask_fn)(tp_conn *conn, void *arg);

/* UNTIL_STOP: a failure is final once the worker is to stop. UNTIL_GRACE: tried on for TPI_STOP_GRACE_MS. */
enum tpi_deadline { TPI_UNTIL_STOP, TPI_UNTIL_GRACE };

void tpi_session_init(struct tpi_session *session, struct tp_worker *worker, const char *who);
void tpi_session_close(struct tpi_session *session);
/* It must be reopened before it is used. */
void tpi_session_break(struct tpi_session *session);
/* Takes an open connection over. */
void tpi_session_take(struct tpi_session *session, tp_conn *conn);
/* Opens or reopens if need be, one try. No transaction may be open. */
TP_CHECKED tp_status tpi_session_ready(struct tpi_session *session);
/* What a call on the connection answered. */
void tpi_session_note(struct tpi_session *session, tp_status status);
/* A handler that had the connection failed, or what it wrote was committed. */
void tpi_session_note_run(struct tpi_session *session, bool failed);
/* True when the failure may pass: worth asking again after a pause. */
bool tpi_session_may_retry(const struct tpi_session *session, tp_status status);
/* Right after a failure: sleeps by the number of them in a row; the stop ends it early. */
void tpi_session_pause(struct tpi_session *session, enum tpi_deadline deadline);
/* The same, and tells of what will not pass: never silent, never busy. */
void tpi_session_recover(struct tpi_session *session, enum tpi_deadline deadline, tp_status status);
/* Of what is tried now and then: reports once that it fails and will not pass, and again when it went well in
 * between; of a standby too, because a worker to which nothing comes writes nothing else. told: of this one.
 */
void tpi_session_report_once(struct tpi_session *session, tp_status status, bool *counted);
/* Before its thread turns to something else: a connection that is lost is closed, because what it had locked
 * may be locked until then. */
void tpi_session_drop(struct tpi_session *session);
/* A session whose rollback failed may still be inside the transaction: it is not used again. */
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
