/* One call of the library in a thread of its own, so that a test can watch it wait for a lock; and a way to
 * see that a session waits. */
#ifndef TESTS_SUPPORT_SESSION_H
#define TESTS_SUPPORT_SESSION_H

#include <pthread.h>
#include <stdatomic.h>

#include "taskpool_odbc.h"

/* Fills answer, and error with the text of tp_last_error() when it is a failure. */
struct aside {
    pthread_t thread;
    tp_conn *conn;
    tp_status (*call)(tp_conn *conn, void *arg);
    void *arg;
    uint64_t statements; /* of conn, before the call */
    atomic_bool ended;
    tp_status answer;
    char error[400];
};

/* Starts call(conn, arg). Nobody else may use conn until aside_end. */
void aside_start(struct aside *aside, tp_conn *conn, tp_status (*call)(tp_conn *, void *), void *arg);
/* Waits for it. */
tp_status aside_end(struct aside *aside);

/* The database's number of conn's session; 0 where it is not to be seen. Ask before the session is busy. */
long session_number(tp_conn *conn);
/* The same of a plain connection that is not busy; 0 also when it is not connected. */
long session_number_of(SQLHDBC dbc);
/* Ends the session from outside, through the eye, and comes back when the database has forgotten it. */
void session_kill(long session);
/* Comes back when it has ended by itself. */
void session_await_end(long session);
/* Comes back when the session waits for a lock, or the call in it has ended. Where the database cannot tell
 * after a short while. */
void session_await_blocked(long session, struct aside *aside);
/* The same for a call of the library whose session is not to be seen: it has sent a statement, and for a
 * while no other. */
void session_await_quiet(struct aside *aside);

#endif
