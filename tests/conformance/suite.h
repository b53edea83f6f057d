/* The conformance suite: what every database and every claim plan must do alike. A theme is one file of
 * tests; those of each plan run once for every plan with a lease that the database can do, and by plan hold
 * where they say so; the others once. A settle is the same statements whatever plan claimed: tests of a plan
 * run by one of them, neighbours and databases by others; with --only by each. */
#ifndef TESTS_CONFORMANCE_SUITE_H
#define TESTS_CONFORMANCE_SUITE_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/given.h"
#include "support/check.h"
#include "support/child.h"
#include "support/pool.h"
#include "support/session.h"
#include "support/sql.h"
#include "support/tasks.h"

/* ---- Themes and tests -------------------------------------------------------------------------------- */

enum suite_runs { ONCE, EACH_PLAN, EACH_PLAN_AND_HOLD, A_PLAN };

struct suite_test {
    const char *name;
    CMUnitTestFunction run;
    enum suite_runs runs;
    int line;
    struct suite_test *next;
};
struct suite_theme {
    const char *name;
    enum suite_runs runs;
    struct suite_test *tests; /* in the order of the file */
    struct suite_theme *next;
};
/* By name. */
extern struct suite_theme *suite_themes;

/* Begins a file of tests. */
#define THEME(name, runs) static struct suite_theme theme = {#name, runs, NULL, NULL}

/* TEST(test_claim__takes_what_is_due) { ... } is a test of the file's theme, where check.h's is of the
 * program. */
#undef TEST
#define TEST(name) SUITE_TEST(name, theme.runs)
/* Not on each plan, though its theme is. */
#define TEST_ONCE(name) SUITE_TEST(name, ONCE)

#define SUITE_TEST(name, runs)                                                                               \
    static void name(void **state);                                                                          \
    __attribute__((constructor)) static void name##_enter(void) {                                            \
        static struct suite_test test = {#name, name, ONCE, __LINE__, NULL};                                 \
        suite_enter(&theme, &test, runs);                                                                    \
    }                                                                                                        \
    static void name(__attribute__((unused)) void **state)
void suite_enter(struct suite_theme *theme, struct suite_test *test, enum suite_runs runs);

/* ---- Processes and lost calls ------------------------------------------------------------------------ */

struct tpi_link;

/* What a child process does in a role; see roles.c. Its exit status. */
int role_run(const char *role, char **arguments);

/* The next call that runs the statement (or commit; after: the one that ran before it) on any of the test's
 * sessions loses its connection: before it was made, or only its answer. Gone with the test. */
void lose_call(const char *statement, const char *after, bool made);
/* The same for the call number at from 0, whatever it runs. Did it come to that? Ends the hook. */
void lose_nth_call(int at, bool made);
bool lost_nth_call(void);

/* Before the next call that runs the statement, meet is called. It may use the test's other sessions. Gone
 * with the test. */
void meet_call(const char *statement, void (*meet)(struct tpi_link *link, void *arg), void *arg);

/* The five settles, for loops over them. */
struct settle {
    const char *name;
    tp_status (*call)(tp_conn *conn, const tp_task *task);
};
enum { SETTLES = 5 };
extern const struct settle settles[SETTLES]; /* complete, skip, fail, release, extend */

#endif
