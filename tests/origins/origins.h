/* What the five designs share. A design is one file of tests with business tables of its own and the roles
 * that its child processes play; every test starts with empty pools and empty tables. */
#ifndef TESTS_ORIGINS_ORIGINS_H
#define TESTS_ORIGINS_ORIGINS_H

#include "support/check.h"
#include "support/child.h"
#include "support/pool.h"
#include "support/session.h"
#include "support/sql.h"
#include "support/tasks.h"
#include "worker/watch.h"

struct table {
    const char *name; /* with tp_ in front */
    const char *columns;
};

struct design {
    const char *name;
    const struct table *tables;
    size_t table_count;
    const struct CMUnitTest *tests;
    size_t test_count;
    /* In a child: plays the role, gives the exit status; -1: no such role. May be NULL. */
    int (*play)(const char *role, char **arguments);
};

/* X(design) */
#define DESIGN_LIST(X)                                                                                       \
    X(points_after_order)                                                                                    \
    X(salary_batch)                                                                                          \
    X(worker_column)                                                                                         \
    X(three_pools)                                                                                           \
    X(load_balance)

#define DESIGN_DECLARE(name) extern const struct design name##_design;
DESIGN_LIST(DESIGN_DECLARE)
#undef DESIGN_DECLARE

/* Ends a file, after an array tables: DESIGN(salary_batch, play, cmocka_unit_test(...), ...) */
#define DESIGN(name, play, ...)                                                                              \
    static const struct CMUnitTest name##_tests[] = {__VA_ARGS__};                                           \
    const struct design name##_design = {#name,                                                              \
                                         tables,                                                             \
                                         sizeof tables / sizeof tables[0],                                   \
                                         name##_tests,                                                       \
                                         sizeof name##_tests / sizeof name##_tests[0],                       \
                                         play}

/* ---- This test's ------------------------------------------------------------------------------------- */

struct scene {
    struct watch watch;
    struct gate gate;
    atomic_int runs; /* calls of a handler, where it counts them */
};
extern struct scene scene;

/* Waits until the condition holds; fails the test after 20 seconds. */
#define await(condition)                                                                                     \
    do {                                                                                                     \
        int await_left = 2000;                                                                               \
        while (!(condition)) {                                                                               \
            sure(await_left-- > 0, "waited in vain for: %s", #condition);                                    \
            breathe();                                                                                       \
        }                                                                                                    \
    } while (0)
void breathe(void);

/* ---- Tasks ------------------------------------------------------------------------------------------- */

/* Tasks of a handler, due long ago. key has a %d for their number (from 1), or is NULL. */
void put_tasks(const char *handler, size_t count, const char *key);
/* Rows of a table or pool, all or where. */
int64_t count_of(const char *table);
int64_t count_where(const char *table, const char *where);
/* Claims up to limit tasks of a handler under a plan; NULL: there were none. */
tp_batch *take(tp_conn *conn, const char *handler, const char *plan, size_t limit);
void complete_all(tp_conn *conn, tp_batch *batch);
/* No id may be in both. */
void expect_disjoint(const tp_batch *one, const tp_batch *other);
void advance(int64_t ms);

/* ---- Workers ----------------------------------------------------------------------------------------- */

/* Quick polls, events told to scene.watch. */
tp_worker_options worker_options(void);
/* Closed after the test at the latest. */
tp_worker *worker_open(const tp_worker_options *options);
void worker_close(tp_worker *worker);
/* Steps until nothing is due; gives how many tasks were handled. */
size_t step_all(tp_worker *worker);

tp_worker_info look(tp_worker *worker);
/* A worker whose tasks all wait: all threads and so many helpers are busy, the queue is as full as it gets,
 * and the rows that are marked are those in hand. */
void expect_in_hand(tp_worker_info info, size_t queue, int threads, size_t helpers);

/* ---- docs/origins.md --------------------------------------------------------------------------------- */

/* Runs the page's SQL block of that name (or of that name and this database), in one transaction. */
void run_block(const char *name);
/* SQL for a new id on this entry. */
const char *fresh_id(void);

#endif
