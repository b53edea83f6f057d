/* What the worker's tests share: the pool of tests/support, one watched worker or more, and the usual
 * handlers. Each test has a handler name of its own, pool.handler, so none sees another's tasks. Handlers run
 * in the worker's threads and check nothing themselves: what they saw is in the tables and in struct rig.
 * rig.c has the main of these programs. */
#ifndef TESTS_WORKER_RIG_H
#define TESTS_WORKER_RIG_H

#include <stdatomic.h>
#include <time.h>

#include "support/faults.h"
#include "support/pool.h"
#include "support/roles.h"
#include "support/sql.h"
#include "support/test.h"
#include "worker/watch.h"

struct rig {
    struct watch watch;
    struct gate gate;
    atomic_int runs;                   /* calls of the handlers below */
    void *arg;                         /* what handlers get; NULL before each test */
    const tp_handler_options *options; /* of handlers; NULL before each test */
    const char *argument;              /* the program's; NULL when it has none */
};
extern struct rig rig;

/* By every session's clock a lease is over by then, and whatever else has a minute. */
enum { RIG_LEASE_OVER_MS = 90000 };

/* Around each test. The second fails when events of a worker that was alone overlapped, or connections were
 * left open. */
int rig_set_up(void **state);
int rig_tear_down(void **state);
/* ROLE(name) { ... } is what this program does as a child process, with the pool and the handler name of the
 * test that started it: the first argument. */

/* Leave the test where the database cannot do what it needs, and say so. */
void rig_needs_hold(void);
void rig_needs_sessions_that_can_be_ended(void);

/* ---- Workers ------------------------------------------------------------------------------------------ */

extern const tp_retry rig_quick_retries; /* ten, after a millisecond each */
extern const tp_retry rig_no_retries;
/* A policy with these delays, for the rest of the block. */
#define RIG_DELAYS(...)                                                                                      \
    (&(const tp_retry){.size = sizeof(tp_retry),                                                             \
                       .delays_ms = (const int64_t[]){__VA_ARGS__},                                          \
                       .count = sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)})

/* Draining, three threads, claims of ten; then the fields that are named. */
#define RIG_OPTIONS(...)                                                                                     \
    ((tp_worker_options){.size = sizeof(tp_worker_options),                                                  \
                         .threads = 3,                                                                       \
                         .batch = 10,                                                                        \
                         .poll_ms = 20,                                                                      \
                         .retry = &rig_quick_retries,                                                        \
                         .drain = 1,                                                                         \
                         .on_event = watch_event,                                                            \
                         .event_arg = &rig.watch,                                                            \
                         __VA_ARGS__})

/* A worker that handles pool.handler by fn and goes on until it is stopped; the second with more options. */
tp_worker *rig_open(tp_handler_fn fn);
#define rig_open_with(fn, ...) rig_open_by(&RIG_OPTIONS(.drain = 0, __VA_ARGS__), (fn))
tp_worker *rig_open_by(const tp_worker_options *o, tp_handler_fn fn);
/* The same, which is started when so many tasks (0: none) have been put. */
tp_worker *rig_start(int tasks, tp_handler_fn fn);
#define rig_start_with(tasks, fn, ...) rig_start_by((tasks), &RIG_OPTIONS(.drain = 0, __VA_ARGS__), (fn))
tp_worker *rig_start_by(int tasks, const tp_worker_options *o, tp_handler_fn fn);
/* Closes, which stops what runs. */
void rig_close(tp_worker *worker);
/* Joins and closes. */
void rig_finish(tp_worker *worker);
/* The same, once who waits at rig.gate goes on; after a stop; and a stop whose deadline is over. */
void rig_let_finish(tp_worker *worker);
void rig_stop(tp_worker *worker);
void rig_finish_late(tp_worker *worker);
tp_worker_info rig_info(tp_worker *worker);

/* A worker from start to end, for so many tasks: it drains. */
void rig_run(int tasks, tp_handler_fn fn);
#define rig_run_with(tasks, fn, ...) rig_finish(rig_start_by((tasks), &RIG_OPTIONS(__VA_ARGS__), (fn)))
/* It is stopped by its first event of that kind. */
#define rig_run_until(event, tasks, fn, ...)                                                                 \
    rig_finish_at((event), (tasks), rig_open_by(&RIG_OPTIONS(.drain = 0, __VA_ARGS__), (fn)))
/* Starts the worker, which ends at that event. */
void rig_finish_at(tp_event event, int tasks, tp_worker *worker);

/* A step handles so many tasks; 0: it answers that there is none. */
#define rig_step(worker, count) rig_check_step((worker), (count), __FILE__, __LINE__)
void rig_check_step(tp_worker *worker, size_t count, const char *file, int line);

#define rig_await(event, count)       assert_true(watch_wait(&rig.watch, (event), (count)))
#define rig_await_arrived(count)      assert_true(gate_wait_arrived(&rig.gate, (count)))
#define rig_await_seen(number, count) assert_true(faults_wait_seen((number), (count)))
void rig_pause_10_ms(void);
/* tp_test_advance, again where a deadlock with a worker has undone it. */
tp_status rig_advance(tp_conn *conn, int64_t ms);
/* For the rest of the test: leases are as long as ever, a minute, but extended five times a second; and no
 * look whether a task was cancelled comes, which takes a connection where a task lasts for a second. */
void rig_extend_often(void);
void rig_look_for_no_cancels(void);
/* So many of the tasks that it has are known not to be wanted any more. */
void rig_await_unwanted(tp_worker *worker, int count);
/* To this process the leases of the first worker's tasks, of which there are so many, are over; to the
 * database they are not. For handlers, too. */
void rig_let_leases_run_out(int tasks);
/* So many wait in its queue: a task that the database has as handling may be on its way there. */
void rig_await_queued(tp_worker *worker, size_t count);

/* ---- Tasks -------------------------------------------------------------------------------------------- */

void rig_put(int count, const char *params);
/* One task of this test's handler; the fields of tp_new_task are named. */
#define rig_put_one(...)                                                                                     \
    must(tp_enqueue(pool.a,                                                                                  \
                    &(tp_new_task){.size = sizeof(tp_new_task), .handler = pool.handler, __VA_ARGS__}))
/* Makes the test's pending tasks due at that time; gives how many. */
int64_t rig_set_due(int64_t due_at);
/* Claims up to limit of this test's tasks, for ten minutes; NULL when there are none. */
tp_batch *rig_claim(tp_conn *conn, size_t limit);
/* The test's tasks in the pool, those of them in that state, and the sum of their failures. */
int rig_count(const char *in);
int rig_count_state(const char *in, const char *state);
int rig_failures(const char *in);
/* How many of this test's rows of a table are so. */
int rig_count_where(const char *table, const char *condition);
int rig_effects(void);
int rig_tasks_with_effect(void);
/* Takes the test's pending tasks away, which nobody is to find. */
void rig_delete_pending(void);
/* Gives the claim on the task to somebody else. */
bool rig_steal(const tp_task *task);

/* ---- What came of it ----------------------------------------------------------------------------------- */

/* rig_expect(0, 5, 0, .runs = 5, .lost = 0): no task is pending, five are finished, none failed; and so many
 * calls and events. What is not named may be as it is. rig_expect_paid(5, ...): five are finished, each with
 * one effect and without a failure, and nothing is left. */
#define rig_expect(...)                                                                                      \
    rig_check(&(struct rig_outcome){RIG_ANY_OUTCOME, .begin = 0, __VA_ARGS__}, __FILE__, __LINE__)
#define rig_expect_paid(...)                                                                                 \
    rig_check(&(struct rig_outcome){RIG_ANY_OUTCOME, .begin_paid = 0, __VA_ARGS__}, __FILE__, __LINE__)
enum { RIG_ANY = -1 };
struct rig_outcome {
    int begin; /* of no meaning: numbers without a name are those of the members behind it */
    int pending, finished, failed;
    int failures, effects; /* failures of the tasks in all pools */
    int runs;              /* rig.runs */
    int hits;              /* of all aims together */
    int claimed, done, retried, gave_up, skipped, released, lost, offline, online, errors; /* events */
    int begin_paid;                                                                        /* as begin */
    int paid;
};
#define RIG_ANY_OUTCOME                                                                                      \
    .pending = RIG_ANY, .finished = RIG_ANY, .failed = RIG_ANY, .failures = RIG_ANY, .effects = RIG_ANY,     \
    .runs = RIG_ANY, .hits = RIG_ANY, .claimed = RIG_ANY, .done = RIG_ANY, .retried = RIG_ANY,               \
    .gave_up = RIG_ANY, .skipped = RIG_ANY, .released = RIG_ANY, .lost = RIG_ANY, .offline = RIG_ANY,        \
    .online = RIG_ANY, .errors = RIG_ANY, .paid = RIG_ANY
void rig_check(const struct rig_outcome *outcome, const char *file, int line);
int rig_told(tp_event event);
/* The last text of such an event has these words. */
#define rig_expect_told(event, words) rig_check_told((event), (words), __FILE__, __LINE__)
void rig_check_told(tp_event event, const char *words, const char *file, int line);
/* A task's commit is stored, but nobody can find that out: the worker of that plan counts it as unstored. */
void rig_expect_unstored(struct faults_aim commit, const char *plan);

/* ---- Aims that depend on the database ------------------------------------------------------------------ */

/* The call that makes a settle durable, its move being move_finished or move_failed. */
struct faults_aim rig_aim_at_settle(const char *move);
/* The call that makes a claim of several tasks durable. */
struct faults_aim rig_aim_at_claim(void);
/* A claim's first statement. */
const char *rig_claim_statement(void);

/* ---- Handlers ----------------------------------------------------------------------------------------- */

tp_verdict rig_done(tp_run *run, void *arg);
/* Writes an effect in the task's transaction. */
tp_verdict rig_pay(tp_run *run, void *arg);
tp_verdict rig_fail(tp_run *run, void *arg);
/* The same, and is not to be tried again. */
tp_verdict rig_fail_for_good(tp_run *run, void *arg);
/* Waits at the gate. */
tp_verdict rig_wait(tp_run *run, void *arg);
/* For handlers of a test's own: the effect, then the verdict; failed when the effect cannot be written. */
tp_verdict rig_effect(tp_run *run, tp_verdict verdict);

#endif
