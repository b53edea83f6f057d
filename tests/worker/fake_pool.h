/* The public operations that a worker uses, over an array in memory instead of a database, so that each of
 * them can fail at a chosen call: before it did anything, or after it did it and before the answer arrived.
 * Linked instead of src/ops. It follows the header's promises, no more. */
#ifndef TESTS_WORKER_FAKE_POOL_H
#define TESTS_WORKER_FAKE_POOL_H

#include <stdbool.h>

#include "taskpool.h"

enum fake_op {
    FAKE_OPEN, /* tp_conn_open and tp_conn_reopen */
    FAKE_SCHEMA,
    FAKE_BEGIN,
    FAKE_COMMIT,
    FAKE_ROLLBACK,
    FAKE_CLAIM,
    FAKE_PARAMS,
    FAKE_COMPLETE,
    FAKE_SKIP,
    FAKE_FAIL,
    FAKE_RELEASE,
    FAKE_EXTEND,
    FAKE_SETTLED,
    FAKE_STATS,
    FAKE_OP_COUNT
};

enum fake_state { FAKE_FREE, FAKE_HANDLING, FAKE_DONE, FAKE_SKIPPED, FAKE_FAILED };

void fake_reset(void);
/* Puts count due tasks there. */
void fake_put(const char *handler, int count);
/* From the call after skip more calls on, fails times calls with status. done: the call takes effect
 * nevertheless, only its answer is lost. */
void fake_script(enum fake_op op, int skip, int times, tp_status status, bool done);
/* Each call of any operation fails with TP_DISCONNECTED with this chance of 1000; one half with effect. */
void fake_noise(int per_mille);
/* While down every call, connecting too, answers TP_DISCONNECTED. */
void fake_down(bool down);
/* Another worker takes the task now. */
void fake_steal(const char *id);
/* What a handler writes through its connection: it counts when the transaction commits. */
void fake_effect(tp_conn *conn, const tp_task *task);

int fake_calls(enum fake_op op);
/* Waits until the operation was called so many times. */
void fake_wait_calls(enum fake_op op, int count);
/* Tasks in that state. */
int fake_count(enum fake_state state);
/* Tasks whose number of effects is not wanted. */
int fake_effects_other_than(int wanted);
/* All failures counted, and all lapsed leases. */
int fake_failures(void);
int fake_lapses(void);
/* The connections open now. */
int fake_connections(void);
/* Batches not freed. */
int fake_batches(void);

#endif
