/* The pool of a test program: the database of TASKPOOL_TEST_DSN, tables under a prefix of their own, and
 * three sessions: a and b for the two sides of a test, and eye, which only reads rows and moves their times.
 * Every test gets a handler name of its own, so tests need not clean up after each other. */
#ifndef TESTS_SUPPORT_POOL_H
#define TESTS_SUPPORT_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odbc/driver.h"
#include "support/engine.h"
#include "taskpool_odbc.h"

enum { PLANS = 5, DSN_MAX = 2048 };

struct pool {
    const char *entry; /* of the matrix: sqlite, postgres, ... */
    char dsn[DSN_MAX]; /* with Prefix= */
    const char *user;  /* producer, worker: sessions a and b are such a user's; NULL: the owner's */
    char prefix[TP_PREFIX_MAX + 1];
    const char *plan; /* the plan under test */
    tp_env *env;
    tp_env *user_env; /* of a and b */
    tp_conn *a, *b, *eye;
    tp_conn *taker;          /* a, or where its user only puts in, eye: who claims what was put in */
    char handler[24];        /* this test's own */
    const char *handlers[1]; /* the same, for claim requests */
};
extern struct pool pool;

extern const char *const pool_plans[PLANS];
/* Is the plan possible on this entry, by what the project promises? */
bool pool_plan_possible(const char *plan);
/* Does it claim in a transaction that is open, and mark nothing? */
bool pool_plan_holds(const char *plan);
/* What the SQL of the entry runs on. */
bool pool_on_sqlite(void);
bool pool_on_postgres(void);
bool pool_on_mariadb(void); /* or MySQL, which differs in little */
bool pool_on_mysql(void);   /* MySQL's own server */
bool pool_on_oracle(void);  /* Oracle's own, or what a test takes for it; not oramode */
bool pool_on_generic(void); /* by the dialect of that name */
bool pool_speaks(const char *dialect);
/* The profile of the driver in use. */
const struct tpi_driver *pool_driver(void);

/* What a pool needs before its schema can be installed is made by the program that TASKPOOL_TEST_PREPARE
 * names: where MariaDB stands in for Oracle, Oracle's functions. Is there such a program? The database has
 * then functions that are not the schema's. */
bool prepared(void);
/* Runs it. Ends the program with a message when that fails. */
void prepare_pool(const char *prefix);

/* dsn with one key set to value (taken out when value is NULL). out may be dsn. Fails the test when it
 * cannot, as the next. */
void dsn_with(const char *dsn, const char *key, const char *value, char *out, size_t size);
/* The value of a key, "" when absent. */
void dsn_get(const char *dsn, const char *key, char *out, size_t size);

/* Connects, installs the schema and makes the effect table tp_fx (task_id not null, note). Ends the program
 * with a message when that fails. */
void pool_open(void);
/* For tests of the schema itself: connects a and eye under a prefix (NULL: one of its own), and installs
 * nothing. */
void pool_open_bare(const char *prefix);
void pool_install(void);
/* The tables and the view, not the functions. */
void pool_drop_tables(void);
/* The main of a program all of whose tests have the pool. */
int pool_test_main(const char *program);
/* In a child: the parent's pool, through session a. */
void pool_join(void);
/* Drops all that pool_open made. */
void pool_close(void);

/* Before each test: no transaction open, all sessions up, a new handler name. */
int pool_fresh(void **state);

/* A plain ODBC connection to the same database, without taskpool's keys; NULL henv gets one. Ends with
 * pool_raw_close. */
struct pool_raw {
    SQLHENV env;
    SQLHDBC dbc;
};
bool pool_raw_open(struct pool_raw *raw);
/* As an application may have it: SQL_OV_ODBC2 or 3, a key of its connection string (or NULL), and whatever
 * level the server gives. */
bool pool_raw_open_as(struct pool_raw *raw, SQLULEN version, const char *key, const char *value);
void pool_raw_close(struct pool_raw *raw);

/* Such a connection, and taskpool on it. */
struct loan {
    struct pool_raw raw;
    tp_conn *conn;
};
/* autocommit: SQL_AUTOCOMMIT_ON or SQL_AUTOCOMMIT_OFF. */
struct loan loan_open(SQLULEN autocommit);
void loan_close(struct loan *loan);
/* SQL_COMMIT or SQL_ROLLBACK. */
void loan_end(struct loan *loan, SQLSMALLINT how);

/* A further session, whose waits for locks end after a second at most. */
struct pool_guest {
    tp_env *env;
    tp_conn *conn;
};
struct pool_guest pool_guest_open(void);
void pool_guest_close(struct pool_guest *guest);
/* From now to the end of the test, a wait for a lock on conn is a failure after seconds at most. */
void pool_fail_waits(tp_conn *conn);
/* Empties the pending pool, so that nothing is left of the space of earlier rows where plans hang on that. */
void pool_empty(void);
/* Has the database look how large the tables are, where its plans hang on that. */
void pool_measure(void);

#endif
