/* What the raw programs have in common: the command line, the rounds, the clock and what is printed. They
 * send the statements of sql/ over the database's own client library, as fast as a careful programmer would,
 * and so show what the database can do with those statements. raw_sqlite.c and raw_mariadb.c know the client
 * libraries; raw.c knows neither. */
#ifndef TOOLS_BENCH_RAW_H
#define TOOLS_BENCH_RAW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RAW_ID_SIZE = 37,
    RAW_STATE_SIZE = 9,
    RAW_CLAIM_MAX = 1000,
    RAW_LIST_MAX = 500,
    RAW_CONNECTIONS_MAX = 64
};
#define RAW_HANDLER "bench"

/* One task as the claim read it. Long parameters are read past: the handlers do nothing. The rest is what
 * settles it by itself, where it is only locked. */
struct raw_task {
    char id[RAW_ID_SIZE], state[RAW_STATE_SIZE];
    int64_t due_at, modified_at;
};

/* A connection of a client library; raw.c gives each to one thread. */
struct raw_session;

struct raw_options {
    const char *prefix;
    const char
        *target; /* SQLite: a file; MariaDB: HOST:PORT:USER:DATABASE, with the password in RAW_PASSWORD */
    long tasks;
    long batch;  /* tasks in one enqueue and in one claim */
    long settle; /* tasks moved in one transaction */
    long bytes;  /* of parameters */
    long connections;
};
extern struct raw_options raw_options;
extern atomic_long raw_statements; /* sent up to now; counted by the programs */

/* What each program does for its database; each ends the program with a message when something is wrong. */
struct raw_session *raw_open(void);
void raw_close(struct raw_session *session);
/* Stores count tasks that the document holds, in one transaction. */
void raw_enqueue(struct raw_session *session, const char *document, size_t count);
/* Takes up to limit tasks under the token, in a transaction of its own. */
size_t raw_claim(struct raw_session *session, const char *token, size_t limit, struct raw_task *tasks);
/* Moves them to the finished pool, in a transaction of its own. */
void raw_settle(struct raw_session *session, const char *token, const struct raw_task *tasks, size_t count);
/* One transaction: locks up to limit tasks, moves them, commits. */
size_t raw_hold(struct raw_session *session, const char *token, size_t limit, struct raw_task *tasks);

/* ---- For those programs ---- */

_Noreturn void raw_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void raw_expect_rows(const char *statement, uint64_t rows, size_t expected);

/* What the parameters of a statement are given. */
struct raw_values {
    const char *token, *document;
    size_t limit, window;
    const struct raw_task *tasks; /* for a list of ids: as many as it has places */
    size_t count;                 /* of tasks, for a document of ids */
    const struct raw_task *task;  /* the one that is settled by itself, or NULL */
};
/* The value of this name is a number; false: it is a text. */
bool raw_number(const char *name, const struct raw_values *values, int64_t *number);
/* Valid until the thread's next call. */
const char *raw_text(const char *name, const struct raw_values *values);

#endif
