/* Short ways to enqueue tasks, claim them and read their rows. All fail the test when a call does not
 * succeed; threads and children must use the library itself. */
#ifndef TESTS_SUPPORT_TASKS_H
#define TESTS_SUPPORT_TASKS_H

#include "support/check.h"
#include "support/pool.h"
#include "support/sql.h"

enum { ID = TP_ID_SIZE };
/* Long ago: due whatever a driver or dialect makes of the clock's last second. */
#define LONG_AGO INT64_C(1000000000000)

/* ---- Enqueue ----------------------------------------------------------------------------------------- */

/* This test's handler, due long ago. */
tp_new_task task_new(const char *params);
/* The struct stands for the task with this id. */
void task_set_id(tp_new_task *task, const char *id);
/* Enqueues it; id receives its id. */
void task_put(const char *params, char id[ID]);
/* count tasks whose ids are in rising order. */
void task_put_many(size_t count, char (*ids)[ID]);

/* ---- Claim ------------------------------------------------------------------------------------------- */

/* This test's handler and plan. */
tp_claim_request claim_request(size_t limit);
/* Claims exactly so many. */
tp_batch *claim(tp_conn *conn, size_t count);
/* Claims at least one and at most so many. */
tp_batch *claim_up_to(tp_conn *conn, size_t limit);
/* Claims one that must be this. The task lives as long as the batch. */
tp_batch *claim_this(tp_conn *conn, const char *id, const tp_task **task);
/* Puts a task and claims it by conn. */
tp_batch *put_and_claim(tp_conn *conn, const tp_task **task);
/* Nothing may be there to claim. */
#define expect_nothing(conn) check_nothing((conn), __FILE__, __LINE__)
void check_nothing(tp_conn *conn, const char *file, int line);
bool batch_holds(const tp_batch *batch, const char *id);

/* ---- Rows -------------------------------------------------------------------------------------------- */

/* A task as the tables have it. */
struct row {
    int copies; /* rows with this id in all pools together: 1 */
    char pool[12], state[12], owner[40];
    char reason[SQL_CELL];
    int failures;
    int64_t due_at, modified_at, settled_at;
};
struct row row_of(const char *id);
/* It must be in exactly one pool, in this state, with so many failures. */
#define expect_row(id, pool, state, failures) check_row((id), (pool), (state), (failures), __FILE__, __LINE__)
void check_row(const char *id, const char *pool, const char *state, int failures, const char *file, int line);
/* Nothing about it may have changed. */
#define expect_same(id, before) check_same((id), (before), __FILE__, __LINE__)
void check_same(const char *id, const struct row *before, const char *file, int line);

/* Makes the task due, or its lease lapsed, by moving due_at. */
void row_make_due(const char *id);
/* All of this test's handler. */
int64_t rows_in(const char *pool, const char *handler);
int64_t effects_of(const char *id);
/* Inserts an effect through conn. */
void effect(tp_conn *conn, const char *id);
/* Every task is in one pool only and legal there. */
void expect_sound_pools(void);

#endif
