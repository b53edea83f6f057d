/* What each way of failing does to a call, and to the session and the server behind it. It must not know what
 * the operation is. Read next: support/faults.h. */
#ifndef TESTS_FAULTS_INJECT_H
#define TESTS_FAULTS_INJECT_H

#include "faults/operation.h"
#include "odbc/link.h"

/* Before the first point of an operation. all: sessions are killed before every call. */
void inject_open(bool all);
/* The connection under test has this session now. */
void inject_set_session(SQLHDBC dbc);
void inject_forget_session(void);
/* What is yet to fail waits while a session is made, link NULL, and is then looked for in that one. */
void inject_follow(const struct tpi_link *link);
long inject_session(void);

/* From now on nothing fails, and it is counted what could: points, by way. link: whose calls are meant; NULL:
 * those of any session but the tests' own. */
void inject_count(const struct tpi_link *link);
void inject_end_count(int points[WAYS]);

/* The k-th call from now on that can fail in this way does. */
void inject_arm(enum way way, int k, const struct tpi_link *link);
/* The operation has answered: what the way does afterwards. */
void inject_end_call(void);
/* No call fails any more. True: one has. */
bool inject_disarm(void);
/* Has one failed already? */
bool inject_has_hit(void);
/* Which, for people. */
const char *inject_where(void);

/* The application's own call: makes it, or makes it fail when it is the one. What the application learns. */
tp_status inject_own(tp_conn *conn, bool commit, tp_status (*call)(void *arg), void *arg);

#endif
