/* What the operations share: the environment, the connection, transactions of their own, and checks of
 * arguments. */
#ifndef TPI_OPS_CONN_H
#define TPI_OPS_CONN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/uuid.h"
#include "core/sized.h"
#include "store/store.h"
#include "taskpool.h"

/* A tp_once outside a transaction that got no answer. */
struct tpi_once_try {
    struct tpi_once_try *next;
    char key[TP_KEY_MAX + 1];
    char mark[TPI_UUID_SIZE]; /* what it wrote into the ledger, if it did */
};

/* The newest first; one that is asked again is not among them meanwhile. */
struct tpi_once_tries {
    pthread_mutex_t lock;
    struct tpi_once_try *first; /* under lock, as below */
    size_t count;
};

struct tp_env {
    struct tpi_source source;
    _Atomic(const struct tpi_dialect *) dialect; /* NULL until given or found */
    bool dialect_given;
    bool plan_given;
    enum tpi_plan plan;
    char prefix[TP_PREFIX_MAX + 1];
    atomic_bool gate_tokens; /* a gate has tokens, as far as this process knows */
    struct tpi_once_tries once;
    /* When retention last looked at the database's clock, by this machine's, 0: never; and how much further
     * that of the database was. */
    _Atomic int64_t clock_boot_ms, clock_gap_ms;
};

struct tpi_pauses;

/* A task that plan hold has given out. */
struct tpi_held {
    uint64_t transaction; /* the entry is free in any other one */
    char id[TPI_UUID_SIZE];
    uint32_t handler; /* its hash */
    int32_t priority;
    bool completed; /* so that its row is gone */
};

/* All that one transaction was given: a hash table, at most half of it in use. */
struct tpi_holds {
    uint64_t transaction;
    struct tpi_held *entries;
    size_t count, capacity; /* a power of two, or 0 */
};

/* Tasks that claims of plan hold have moved on, or were to. One that is there again was refused by a rule of
 * the application's own, perhaps at the commit: for a while the connection's claims leave it alone, for the
 * others' sake. */
struct tpi_left_alone {
    struct tpi_left {
        char id[TPI_UUID_SIZE];
        bool refused;     /* with its commit, or by a statement; else the next transaction may meet it */
        int64_t until_ms; /* on this machine's monotonic clock */
    } * all;
    size_t count;
};

/* The lane that filled the last claim (claim_lanes.c). */
struct tpi_known_lane {
    char handler[TP_HANDLER_MAX + 1]; /* "": none */
    int64_t priority;
    int64_t since;    /* see struct tpi_lane */
    int64_t until_ms; /* on this machine's monotonic clock */
};

enum { TPI_WHO_MAX = 128 }; /* bytes of an operator's name */

/* Who acts on the connection, for calls that do not say so; "": nobody was named. */
struct tpi_actor {
    char who[TPI_WHO_MAX + 1];
    char why[TP_REASON_MAX + 1];
    char request_id[TPI_UUID_SIZE];
};

struct tp_conn {
    struct tpi_store store;
    tp_env *env;
    enum tpi_plan plan;
    tp_conn_info info;
    uint64_t transaction; /* number of the last explicit one, 2 and up, never used twice in a process */
    struct tpi_holds holds;
    struct tpi_left_alone left_alone;
    struct tpi_known_lane known_lane;
    struct tpi_pauses *pauses; /* of pause.h; NULL: to be read before the next claim */
    struct tpi_actor actor;
    /* Whose workers in this process are to be woken by the commit: "" nobody's, "*" all. */
    char enqueued[TP_HANDLER_MAX + 1];
    int32_t enqueued_priority;
    bool guarded; /* a function of the application has it: the transaction is ended by who called that */
};

/* The operation's own transaction, unless one is open or the connection is borrowed. tpi_scope_end may be
 * called also when tpi_scope_begin failed, with that failure. */
struct tpi_scope {
    bool own;
    bool savepoint; /* in the transaction of a borrowed connection */
    bool undone;    /* set at the end: what was done since the savepoint is taken back, and nothing else */
};
TP_CHECKED tp_status tpi_scope_begin(tp_conn *conn, struct tpi_scope *scope);
/* The same for putting in; keyed: by a key that another session may bring. Where the level of a borrowed
 * connection makes an error of that, it does not end the application's transaction. */
TP_CHECKED tp_status tpi_scope_begin_put(tp_conn *conn, struct tpi_scope *scope, bool keyed);
/* Commits when status is no failure, else rolls back (or dooms the transaction around). Gives status, or what
 * the commit said. */
TP_CHECKED tp_status tpi_scope_end(tp_conn *conn, struct tpi_scope *scope, tp_status status);

/* tp_conn_borrow without ODBC types. */
TP_CHECKED tp_status tpi_conn_borrow(tp_env *env, void *dbc, tp_conn **out);

/* Tasks of this handler and priority were stored: wakes workers in this process, now or at the end of the
 * explicit transaction. The end of a borrowed connection's transaction is not known; there it is a hint too
 * early. */
void tpi_conn_enqueued(tp_conn *conn, const tp_new_task *task);
/* A gate has let tasks through, of whatever handler: wakes all workers in this process when the transaction
 * that is open is committed by the library. */
void tpi_conn_let_through(tp_conn *conn);

/* To be called before tpi_conn_in_transaction: on a borrowed connection whose driver gives an old answer
 * until a statement has run, runs one. After a failure nothing may be done. */
TP_CHECKED tp_status tpi_conn_know_mode(tp_conn *conn);
/* Is a transaction of the caller's open: explicit, or on a borrowed connection without autocommit or with a
 * BEGIN of the caller's own, where the driver lets that be known? TP_CONFLICT: the server has rolled it back.
 */
TP_CHECKED tp_status tpi_conn_in_transaction(tp_conn *conn, bool *open);
/* Ours, and no transaction is open: an operation has one of its own, and may do it again. */
bool tpi_conn_is_alone(const tp_conn *conn);
/* TP_MISUSE with text unless what takes several statements can be all or nothing. */
TP_CHECKED tp_status tpi_conn_needs_transaction(tp_conn *conn, const char *what);

/* Runs a query whose answer is one number. No row is TP_SCHEMA: such statements read the pool's meta table.
 */
TP_CHECKED tp_status tpi_ask_number(tp_conn *conn, enum tpi_statement statement, struct tpi_args *args,
                                    int64_t *number);
/* The database's clock: milliseconds since 1970 UTC. */
TP_CHECKED tp_status tpi_ask_now(tp_conn *conn, int64_t *now_ms);

/* TP_MISUSE with text unless conn can run an operation now; TP_UNSUPPORTED on a borrowed one whose session
 * does not read what others committed, or mistakes text. */
TP_CHECKED tp_status tpi_conn_ready(tp_conn *conn);
/* The same for what only puts in: whatever the session, as long as the text is ASCII or arrives whole. */
TP_CHECKED tp_status tpi_conn_ready_to_put(tp_conn *conn);
/* The same, and no transaction may be open and the connection must be ours. */
TP_CHECKED tp_status tpi_conn_ready_alone(tp_conn *conn, const char *operation);

/* What a call could not do is missing in the transaction around it, which can then only be rolled back: of a
 * failure that the database was not asked for. conn may be NULL. Gives status. */
TP_CHECKED tp_status tpi_conn_doom(tp_conn *conn, tp_status status);

/* For the answer of a call outside a transaction that rests on rows it read: where a cluster's nodes may show
 * rows before others have them, waits until they have. Gives status, or why that failed. */
TP_CHECKED tp_status tpi_conn_answer(tp_conn *conn, tp_status status);

/* What the server says of those beside it: TPI_MANY_WRITERS, or words for people; "": it cannot be asked. */
TP_CHECKED tp_status tpi_cluster_ask(struct tpi_link *link, char *answer, size_t size);

/* TP_MISUSE or TP_TOOBIG with text when it is no handler name, key, or params. */
TP_CHECKED tp_status tpi_check_handler(const char *handler);
TP_CHECKED tp_status tpi_check_key(const char *what, const char *key);
TP_CHECKED tp_status tpi_check_params(const char *params);
/* Reads a struct of the caller's into ours. */
TP_CHECKED tp_status tpi_read_sized(enum tpi_sized kind, const void *given, void *ours);
TP_CHECKED tp_status tpi_check_retry(const tp_retry *retry);
TP_CHECKED tp_status tpi_check_duration(const char *what, int64_t ms);
/* The lower-case form of a UUID the caller gave; TP_MISUSE when it is none. */
TP_CHECKED tp_status tpi_check_uuid(const char *what, const char *text, char out[TPI_UUID_SIZE]);

#endif
