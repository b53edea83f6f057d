/* What the five designs share. A design is one file of tests, or more whose names begin like the first's,
 * with business tables of its own and roles of child processes; every test starts with empty pools and
 * tables. */
#ifndef TESTS_ORIGINS_ORIGINS_H
#define TESTS_ORIGINS_ORIGINS_H

#include "support/child.h"
#include "support/pool.h"
#include "support/roles.h"
#include "support/session.h"
#include "support/sql.h"
#include "support/tasks.h"
#include "support/test.h"
#include "worker/watch.h"

struct table {
    const char *name; /* with tp_ in front */
    const char *columns;
};

struct design {
    const char *name;
    const struct table *tables;
    size_t table_count;
};

/* DESIGN(salary_batch, {"payments", "pay_key VARCHAR(40)"}, ...): its tables. */
#define DESIGN(name, ...)                                                                                    \
    __attribute__((constructor)) static void enrol_design(void) {                                            \
        static const struct table tables[] = {__VA_ARGS__};                                                  \
        design_enrol(&(struct design){#name, tables, COUNT(tables)});                                        \
    }                                                                                                        \
    struct design
void design_enrol(const struct design *design);

/* This test's. */
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
#define await_done(count)    assert_true(watch_wait(&scene.watch, TP_EVENT_DONE, (count)))
#define await_arrived(count) assert_true(gate_wait_arrived(&scene.gate, (count)))
void advance(int64_t ms);

/* Tasks of a handler, due long ago. key has a %d for their number (from 1), or is NULL. */
void put_tasks(const char *handler, size_t count, const char *key);
void put_task(const char *handler, const char *params, char id[ID]);
/* Rows of a table or pool, all or where. */
int64_t count_of(const char *table);
int64_t count_where(const char *table, const char *format, ...) SQL_FORMAT(2);
/* Claims up to limit tasks of a handler under a plan; NULL: there were none. */
tp_batch *take(tp_conn *conn, const char *handler, const char *plan, size_t limit);
/* The same for children. */
tp_status try_to_take(tp_conn *conn, const char *handler, const char *plan, size_t limit, tp_batch **batch);
void complete_all(tp_conn *conn, tp_batch *batch);
/* The claim has so many tasks, and they are completed. */
void complete_so_many(tp_conn *conn, tp_batch *batch, size_t count);
/* No id may be in both. */
void expect_disjoint(const tp_batch *one, const tp_batch *other);

/* A worker with quick polls that handles by fn, its events told to scene.watch; the second with more options.
 * It is closed after the test at the latest. */
tp_worker *worker_for(const char *handler, tp_handler_fn fn);
#define worker_with(handler, fn, ...) worker_by(&WORKER_OPTIONS(__VA_ARGS__), (handler), (fn))
tp_worker *worker_by(const tp_worker_options *options, const char *handler, tp_handler_fn fn);
#define WORKER_OPTIONS(...)                                                                                  \
    ((tp_worker_options){.size = sizeof(tp_worker_options),                                                  \
                         .poll_ms = 10,                                                                      \
                         .lease_ms = 600000, /* a slow claim stops before its first leases run down */       \
                         .on_event = watch_event,                                                            \
                         .event_arg = &scene.watch,                                                          \
                         __VA_ARGS__})
tp_worker *worker_open(const tp_worker_options *options);
void worker_close(tp_worker *worker);
/* Steps until nothing is due; gives how many tasks were handled. */
size_t step_all(tp_worker *worker);
tp_worker_info look(tp_worker *worker);
/* A worker whose tasks all wait: all threads and so many helpers are busy, the queue is as full as it gets,
 * and the rows that are marked are those in hand. */
void expect_in_hand(tp_worker_info info, size_t queue, int threads, size_t helpers);
/* Waits at the gate of the scene; counts in scene.runs. */
tp_verdict wait_at_gate(tp_run *run, void *arg);
tp_verdict count_and_do(tp_run *run, void *arg);

/* So many children in a role with one argument or NULL: each says ready, all go at once. */
void start_together(struct child *children, int count, const char *role, const char *argument);
void go_together(struct child *children, int count);
/* Waits until they end; gives the sum of the numbers that they say, and shows what else they say. */
int end_together(struct child *children, int count);

/* Runs the block of SQL of that name (or of that name and this database) in docs/origins.md, in one
 * transaction. */
void run_block(const char *name);
/* SQL for a new id on this entry. */
const char *fresh_id(void);

#endif
