/* What each way of failing does to a call, and to the session and the server
 * behind it. It must not know what the operation is. */
#ifndef TESTS_FAULTS_STRIKE_H
#define TESTS_FAULTS_STRIKE_H

#include "faults/points.h"
#include "odbc/link.h"

/* Before the first point of a test. */
void strike_open(void);
void strike_all(bool all);
/* The connection under test has this session now. */
void strike_know_session(SQLHDBC dbc);
void strike_forget_session(void);
long strike_session(void);

/* The k-th call from now on that can fail in this way does. link: whose calls are meant; NULL:
 * those of any session but the tests' own. */
void strike_arm(enum way way, int k, const struct tpi_link *link);
/* The operation has answered: what the way does afterwards. */
void strike_end_call(void);
/* Is the application's own call, which comes now, the one? */
bool strike_own_call(bool commit);
/* Makes it fail. What the application learns. */
tp_status strike_own_failure(tp_conn *conn, bool (*call)(void *arg), void *arg);
/* Did it come to that? */
bool strike_disarm(void);
/* Which call was struck, for people. */
const char *strike_where(void);

#endif
