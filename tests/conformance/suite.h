/* The conformance suite: what every database and every claim plan must do alike. A theme is one file of
 * tests; those of each plan run once for every plan that the database can do, the others once. */
#ifndef TESTS_CONFORMANCE_SUITE_H
#define TESTS_CONFORMANCE_SUITE_H

#include "support/check.h"
#include "support/child.h"
#include "support/pool.h"
#include "support/session.h"
#include "support/sql.h"
#include "support/tasks.h"

struct theme {
    const char *name;
    bool each_plan;
    const struct CMUnitTest *tests;
    size_t count;
};

/* X(theme) */
#define THEME_LIST(X)                                                                                        \
    X(plans)                                                                                                 \
    X(claim)                                                                                                 \
    X(claim_order)                                                                                           \
    X(claim_lanes)                                                                                           \
    X(claim_states)                                                                                          \
    X(claim_again)                                                                                           \
    X(claim_locks)                                                                                           \
    X(claim_choice)                                                                                          \
    X(claim_rivals)                                                                                          \
    X(hostile)                                                                                               \
    X(hostile_once)                                                                                          \
    X(pause)                                                                                                 \
    X(hold)                                                                                                  \
    X(hold_locks)                                                                                            \
    X(crash)                                                                                                 \
    X(stale)                                                                                                 \
    X(settle)                                                                                                \
    X(settle_again)                                                                                          \
    X(in_flight)                                                                                             \
    X(settle_states)                                                                                         \
    X(settle_many)                                                                                           \
    X(move)                                                                                                  \
    X(transaction)                                                                                           \
    X(doomed)                                                                                                \
    X(conflict)                                                                                              \
    X(retry)                                                                                                 \
    X(reason)                                                                                                \
    X(history)                                                                                               \
    X(enqueue)                                                                                               \
    X(enqueue_again)                                                                                         \
    X(enqueue_many)                                                                                          \
    X(text)                                                                                                  \
    X(injection)                                                                                             \
    X(params)                                                                                                \
    X(look)                                                                                                  \
    X(operate)                                                                                               \
    X(pool_check)                                                                                            \
    X(purge)                                                                                                 \
    X(once)                                                                                                  \
    X(lost)                                                                                                  \
    X(counts)                                                                                                \
    X(schedule)                                                                                              \
    X(owner_rules)                                                                                           \
    X(owner_moves)                                                                                           \
    X(owner_services)                                                                                        \
    X(sizes)                                                                                                 \
    X(borrow)

#define THEME_DECLARE(name) extern const struct theme name##_theme;
THEME_LIST(THEME_DECLARE)
#undef THEME_DECLARE

/* Ends a file: theme(claim, true, cmocka_unit_test(...), ...) */
#define THEME(name, each_plan, ...)                                                                          \
    static const struct CMUnitTest name##_tests[] = {__VA_ARGS__};                                           \
    const struct theme name##_theme = {#name, each_plan, name##_tests,                                       \
                                       sizeof name##_tests / sizeof name##_tests[0]}

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
