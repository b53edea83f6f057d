/* A pool in a real database for one test program: schema under a prefix of its own, a small effect table
 * beside it, and the few looks into both that the tests need. Failures end the program with the reason. */
#ifndef TESTS_WORKER_POOL_DB_H
#define TESTS_WORKER_POOL_DB_H

#include "taskpool.h"

/* Connects to TASKPOOL_TEST_DSN and installs. 0: the variable is not set. */
int db_open(void);
/* Drops what db_open made. */
void db_close(void);
tp_env *db_env(void);

/* Ends the program when status is a failure. */
void db_must(tp_status status, const char *what);
void db_put(const char *handler, int count, const char *params);
/* Tasks of the handler in the pool. */
int db_count(const char *pool, const char *handler);
/* All failures of the handler's tasks in the pool. */
int db_failures(const char *pool, const char *handler);
/* Rows in the effect table, and different tasks among them. */
int db_effects(const char *handler);
int db_effect_tasks(const char *handler);
/* Inserts an effect through the connection, in whatever transaction it is in. 0: it failed. */
int db_effect(tp_conn *on, const tp_task *task);
/* Gives the claim on the task to somebody else, from a session of its own. */
void db_steal(const tp_task *task);

#endif
