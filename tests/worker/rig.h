/* What the worker's tests share: the pool of tests/support, one watched worker or more, and the usual
 * handlers. Each test has a handler name of its own, pool.handler, so none sees another's tasks. Handlers run
 * in the worker's threads and check nothing themselves: what they saw is in the tables and in struct rig. */
#ifndef TESTS_WORKER_RIG_H
#define TESTS_WORKER_RIG_H

#include <stdatomic.h>

#include "support/check.h"
#include "support/faults.h"
#include "support/pool.h"
#include "support/sql.h"
#include "worker/watch.h"

struct rig {
    struct watch watch;
    struct gate gate;
    atomic_int runs; /* calls of the handlers below */
};
extern struct rig rig;

/* In main, around the tests. TASKPOOL_TEST_FILTER=*outage* runs some of them only. */
void rig_begin(void);
void rig_end(void);
/* Around each test. The second fails when events of a worker that was alone overlapped, or connections were
 * left open. */
int rig_set_up(void **state);
int rig_tear_down(void **state);
#define RIG_TEST(name) cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)

/* ---- Workers ------------------------------------------------------------------------------------------ */

/* Draining, three threads, claims of ten, a ladder of milliseconds. */
tp_worker_options rig_options(void);
/* The same, but it goes on until it is stopped. */
tp_worker_options rig_undrained(void);
/* Opened with fn for pool.handler. */
tp_worker *rig_open(const tp_worker_options *o, tp_handler_fn fn, void *arg);
tp_worker *rig_start(const tp_worker_options *o, tp_handler_fn fn);
/* Joins and closes. */
void rig_finish(tp_worker *worker);
/* The same after a stop; who waits at rig.gate goes on. */
void rig_stop_and_finish(tp_worker *worker);
tp_worker_info rig_info(tp_worker *worker);
/* A worker with rig_options, from start to end. */
void rig_run(tp_handler_fn fn);
/* The same, each completion settled on its own. */
void rig_run_singly(tp_handler_fn fn);

/* ---- Tasks -------------------------------------------------------------------------------------------- */

void rig_put(int count, const char *params);
/* The test's tasks in the pool, those of them in that state, and the sum of their failures. */
int rig_count(const char *in);
int rig_count_state(const char *in, const char *state);
int rig_failures(const char *in);
int rig_effects(void);
#define rig_expect(pending, finished, failed) rig_check((pending), (finished), (failed), __FILE__, __LINE__)
void rig_check(int pending, int finished, int failed, const char *file, int line);
/* So many tasks are finished, each with one effect and without a failure, and nothing is left. */
#define rig_expect_paid(count) rig_check_paid((count), __FILE__, __LINE__)
void rig_check_paid(int count, const char *file, int line);
int rig_told(tp_event event);
/* Gives the claim on the task to somebody else. */
bool rig_steal(const tp_task *task);

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
/* Waits at the gate. */
tp_verdict rig_wait(tp_run *run, void *arg);
/* For handlers of a test's own: the effect, then the verdict; failed when the effect cannot be written. */
tp_verdict rig_effect(tp_run *run, tp_verdict verdict);

#endif
