/*
 * taskpool.h: a task pool inside the database that an application already has.
 *
 * A task is a row: a handler name, parameters and a due time. Many workers on many machines claim tasks;
 * each claim carries a lease and a fresh token, and everything that ends a task names that token, so a worker
 * that was given up for dead can never finish over its successor. Finished rows leave the pending pool in
 * the transaction that settles them.
 *
 * A first program makes nine calls, in this order (examples/first.c has them with their errors):
 *
 *   tp_env_open(connection_string, &env)      reads an ODBC connection string
 *   tp_conn_open(env, &conn)                  connects
 *   tp_schema_install(conn)                   creates the tables that are missing
 *   tp_enqueue(conn, &task)                   puts a task in: task.handler says who does it, task.params what
 *   tp_claim(conn, &request, &batch)          takes due tasks of request.handlers: tp_batch_task(batch, i)
 *   tp_complete(conn, tp_batch_task(batch, 0))    when its work is done; tp_fail when that failed
 *   tp_batch_free(batch)
 *   tp_conn_close(conn)
 *   tp_env_close(env)
 *
 * A service leaves claims, threads, leases and retries to a tp_worker: tp_worker_open, tp_worker_handle for
 * each handler, tp_worker_start, tp_worker_join, tp_worker_close (examples/worker.c).
 *
 * Text is UTF-8 and ends in NUL. Times are milliseconds since 1970-01-01 UTC, by the database's clock.
 * Durations end in _ms. Library limits are the TP_..._MAX constants; longer values get TP_TOOBIG.
 *
 * Threads: a tp_env may be used by any thread at any time. A tp_conn, and each tp_batch taken from it, may be
 * used by one thread at a time. A tp_worker brings its own threads; see there. The library changes no process
 * state: no signal handlers, no locale, no environment.
 *
 * Ownership: what an ..._open function gives is ended by its ..._close, a tp_batch by tp_batch_free; both
 * accept NULL. Pointers inside a tp_task live as long as its batch. Text the library hands out belongs to the
 * library.
 *
 * Structs: one that the caller provides begins with size; start from its TP_..._INIT. The library takes one
 * of an older program, which is shorter: what it lacks is default, and nothing is written behind its end. It
 * takes one of a newer program, which is longer, when all that this library does not know is zero, else
 * TP_MISUSE. The others (tp_error, tp_conn_info, tp_task, tp_stat, tp_history, tp_worker_row, tp_running,
 * tp_activity, tp_paused, tp_finding) the library hands out by pointer; they grow at their end, so a program
 * makes none, and hands a tp_task back as it got it.
 *
 * Errors: a function that can fail returns a tp_status. 0 is done, positive is an answer that is no error,
 * negative is a failure; on a failure out-parameters are untouched. tp_last_error() then says what was wrong
 * and what to do. "Ask again" in the list below means: the same call with the same arguments finds out what
 * the first one did and never does it twice, on the same connection or, after TP_DISCONNECTED, when
 * tp_conn_reopen() has brought it back.
 */
#ifndef TASKPOOL_H
#define TASKPOOL_H

#include <stddef.h>
#include <stdint.h>

#define TP_VERSION_MAJOR 0
#define TP_VERSION_MINOR 2
#define TP_VERSION_PATCH 0
#define TP_VERSION       "0.2.0"

#if defined(_WIN32) && defined(TP_BUILDING)
#define TP_API __declspec(dllexport)
#elif defined(_WIN32)
#define TP_API __declspec(dllimport)
#elif defined(__GNUC__)
#define TP_API __attribute__((visibility("default")))
#else
#define TP_API
#endif
#if defined(__GNUC__)
#define TP_CHECKED __attribute__((warn_unused_result))
#else
#define TP_CHECKED
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, number, "name", is it retryable: may the same call succeed later, "meaning") */
#define TP_STATUS_LIST(X)                                                                                    \
    X(TP_OK, 0, "ok", 0, "done")                                                                             \
    X(TP_NONE, 1, "none", 0, "nothing was there to take or to show")                                         \
    X(TP_EXISTS, 2, "exists", 0, "already there; nothing was written")                                       \
    X(TP_EXHAUSTED, 3, "exhausted", 0, "retries are exhausted; the task is in the failed pool")              \
    X(TP_REQUESTED, 4, "requested", 0, "written as a request; a second person is to approve it")             \
    X(TP_STALE, 5, "stale", 0, "the request was refused, expired, or its rows have changed")                 \
    X(TP_LOST, -1, "lost", 0, "the claim is no longer yours; nothing was changed")                           \
    X(TP_CONFLICT, -2, "conflict", 1, "another session got in the way; nothing was changed")                 \
    X(TP_TIMEOUT, -3, "timeout", 1, "a lock or the server did not answer in time; nothing was changed")      \
    X(TP_DISCONNECTED, -4, "disconnected", 1, "no connection; reopen it and ask again")                      \
    X(TP_SCHEMA, -5, "schema", 0, "the pool's tables are missing or of another version")                     \
    X(TP_UNSUPPORTED, -6, "unsupported", 0, "this database, driver or plan cannot do it")                    \
    X(TP_TOOBIG, -7, "toobig", 0, "a value is longer than its limit; nothing was written")                   \
    X(TP_MISUSE, -8, "misuse", 0, "an argument or the order of calls is wrong")                              \
    X(TP_NOMEM, -9, "nomem", 0, "out of memory")                                                             \
    X(TP_DB, -10, "db", 0, "the database or its driver reported an error")                                   \
    X(TP_UNWRITABLE, -11, "unwritable", 1, "the database is full or read-only now; nothing was changed")

typedef enum tp_status {
#define TP_STATUS_ENUM(id, number, name, retryable, text) id = number,
    TP_STATUS_LIST(TP_STATUS_ENUM)
#undef TP_STATUS_ENUM
        TP_STATUS_FORCE_INT = 0x7fffffff
} tp_status;

/* Names and meanings of the list above; never NULL. */
TP_API const char *tp_status_name(tp_status status);
TP_API const char *tp_status_text(tp_status status);
/* 1 when the failure may pass by itself, so that asking again makes sense. */
TP_API int tp_status_may_retry(tp_status status);

/* The version of the library that is loaded, "0.2.0". */
TP_API const char *tp_version(void);

#define TP_ID_SIZE            37            /* a UUID as text, and its NUL */
#define TP_HANDLER_MAX        64            /* bytes; letters, digits and . _ : - */
#define TP_KEY_MAX            128           /* bytes of biz_key, dedup_key and order_key */
#define TP_REASON_MAX         512           /* bytes; longer reasons are cut on a character boundary */
#define TP_PARAMS_MAX         (1024 * 1024) /* bytes of params */
#define TP_PREFIX_MAX         16            /* bytes of the table prefix */
#define TP_DURATION_MAX       INT64_C(3155760000000)   /* ms; 100 years */
#define TP_TIME_MAX           INT64_C(253402300799999) /* the end of the year 9999 */
#define TP_CLAIM_MAX          1000                     /* tasks in one claim */
#define TP_CLAIM_HANDLERS_MAX 64                       /* handlers in one claim */
#define TP_CLAIM_SHARDS_MAX   64                       /* shards in one claim */
#define TP_STEP_NAME_MAX      64                       /* bytes; letters, digits and . _ : - */
#define TP_STEPS_MAX          1000                     /* steps that one call of a handler may ask for */
/* So begins the reason of a failed task whose handler has ended well: a retry would do it again. */
#define TP_REASON_DONE "done, but the database refuses to store that: "

/* ---- Errors ------------------------------------------------------------------------------------------ */

/* What went wrong. text is one line for a person and never holds a password. sqlstate is "" and native 0
 * where the database was not asked; statement names the file under sql/ that was running, or is "". */
typedef struct tp_error {
    tp_status status;
    int32_t native;
    char sqlstate[6];
    const char *statement;
    const char *text;
} tp_error;

/* The last failure in the calling thread; valid until the thread's next taskpool call. Never NULL. */
TP_API const tp_error *tp_last_error(void);

/* ---- Environment ------------------------------------------------------------------------------------- */

typedef struct tp_env tp_env;

/* Reads an ODBC connection string. taskpool's own keys are taken out before the driver sees it:
 *   Dialect=oracle|mysql|postgres|sqlite|generic   absent: found from the database at the first connection
 *   Prefix=tp_                                     [A-Za-z][A-Za-z0-9_]{0,15}, in front of every table name
 *   Plan=row|batch|skip|hold|cas                   absent: the dialect's own choice
 * Values with special characters stand in braces, }} is one closing brace. Nothing is connected yet.
 * A tp_env belongs to the process that opened it: after a fork the child opens its own. TP_MISUSE: the string
 * cannot be read, or a key or value is not known. */
TP_API TP_CHECKED tp_status tp_env_open(const char *connection_string, tp_env **env);
/* Every connection and worker of the environment must have been closed before. */
TP_API void tp_env_close(tp_env *env);

/* ---- Connections ------------------------------------------------------------------------------------- */

typedef struct tp_conn tp_conn;

/* Opens a connection of its own and sets the session up so that the driver's answers are true (read
 * committed, UTF-8, durable commits). Does not look at the schema: see tp_schema_check. TP_DISCONNECTED:
 * unreachable or refused, the text says which. TP_MISUSE: a key or value that the driver or the database
 * cannot work with. TP_UNSUPPORTED: a plan, driver or session that cannot work. A borrowed connection:
 * taskpool_odbc.h. */
TP_API TP_CHECKED tp_status tp_conn_open(tp_env *env, tp_conn **conn);
/* Drops the session and makes a new one; an open transaction is rolled back by the database. Worth a try
 * after TP_UNWRITABLE too: another server may have taken the place of one that became read-only. */
TP_API TP_CHECKED tp_status tp_conn_reopen(tp_conn *conn);
TP_API void tp_conn_close(tp_conn *conn);

/* An explicit transaction, for operations and the application's own statements (taskpool_odbc.h) together.
 * Without one, each operation is its own transaction. After any failure inside it, TP_LOST included, it can
 * only be rolled back: tp_commit then rolls back and answers TP_CONFLICT. TP_DISCONNECTED from tp_commit:
 * reopen and ask tp_settled, or the enqueue again. */
TP_API TP_CHECKED tp_status tp_begin(tp_conn *conn);
TP_API TP_CHECKED tp_status tp_commit(tp_conn *conn);
TP_API TP_CHECKED tp_status tp_rollback(tp_conn *conn);

/* What is known of a connection; the texts live as long as it. */
typedef struct tp_conn_info {
    const char *dialect;
    const char *plan;
    const char *leased_plan; /* the dialect's own choice, which is not hold */
    const char *dbms_name;
    const char *dbms_version;
    const char *driver_name;
    const char *driver_version;
    const char *profile; /* the driver profile in use */
    const char *prefix;  /* of the tables */
    /* Which server and which database (of SQLite: the file), as the driver names them; "": it does not, or
     * the connection is lent. No secret is in them. */
    const char *server;
    const char *database;
} tp_conn_info;
TP_API const tp_conn_info *tp_conn_about(const tp_conn *conn);

/* Work done on a connection since it was opened; reopening goes on counting. round_trips are counted by
 * the driver profile's knowledge of its driver, not measured. */
typedef struct tp_counters {
    size_t size;
    uint64_t odbc_calls;
    uint64_t statements;
    uint64_t round_trips;
    uint64_t commits;
    uint64_t rollbacks;
    uint64_t errors;
} tp_counters;
#define TP_COUNTERS_INIT                                                                                     \
    { sizeof(tp_counters), 0, 0, 0, 0, 0, 0 }
TP_API const tp_counters *tp_conn_counters(const tp_conn *conn);

/* ---- Schema ------------------------------------------------------------------------------------------ */

/* The schema version this library works with. */
TP_API int tp_schema_version(void);
/* Creates what is missing, up to tp_schema_version(). Drops nothing, may be asked again.
 * TP_SCHEMA: the tables there are of a newer version. */
TP_API TP_CHECKED tp_status tp_schema_install(tp_conn *conn);
/* TP_SCHEMA when the tables are missing or of another version. */
TP_API TP_CHECKED tp_status tp_schema_check(tp_conn *conn);
/* Hands the dialect's scripts to write, one part at a time, in the order in which they would run, with the
 * environment's prefix. TP_MISUSE: the environment has no Dialect= and never connected. */
typedef void (*tp_text_fn)(const char *text, size_t length, void *arg);
TP_API TP_CHECKED tp_status tp_schema_print(tp_env *env, tp_text_fn write, void *arg);

/* ---- Tasks in memory --------------------------------------------------------------------------------- */

/* One task as read from the database. Text that is NULL in the database is "" here. */
typedef struct tp_task {
    const char *id;
    const char *handler;
    const char *biz_key;
    const char *dedup_key; /* only from tp_list and tp_show */
    const char *params;    /* NULL when too long to be read with the claim: tp_task_params() */
    const char *reason;    /* last failure, or why skipped */
    const char *state;     /* pending, handling, failed, done, skipped */
    const char *pool;      /* pending, finished, failed */
    const char *owner;     /* the claim token */
    int32_t shard;
    int32_t priority;     /* smaller is sooner */
    int32_t failures;     /* since the last retry by a person; 0 does not say that no handler began it */
    int32_t max_failures; /* of the task itself, 0: the worker's policy decides */
    int64_t due_at;       /* while handling: when the lease lapses */
    int64_t created_at;
    int64_t modified_at; /* only from tp_list and tp_show */
    int64_t settled_at;  /* 0 in the pending pool; only from tp_list and tp_show */
    int64_t wanted_at;   /* while handling: since when it had been due when it was claimed, 0: not known. Of
                          * what is settled due_at says so. While it waits at its gate: when it wants to be due,
                          * and due_at is TP_TIME_MAX */
    const char *gate;    /* that it is behind, = and the key for an order_key, > and the group for which it
                          * waits; only from tp_list and tp_show */
    const char *result;  /* what it gave back, when it is done; only from tp_show and tp_await */
    int64_t deadline_at; /* it is not begun from then on; 0: never set, or its end was asked for, or it has
                          * ended; only from tp_list, tp_show and tp_show_key */
} tp_task;

typedef struct tp_batch tp_batch;

TP_API size_t tp_batch_count(const tp_batch *batch);
/* NULL when i is not below the count. */
TP_API const tp_task *tp_batch_task(const tp_batch *batch, size_t i);
TP_API void tp_batch_free(tp_batch *batch);

/* ---- Enqueue ----------------------------------------------------------------------------------------- */

/* How the library chooses a shard from 1 to shards, so that servers can split the tasks of one handler. */
typedef enum tp_sharding {
    TP_SHARDING_NONE = 0,        /* shard as given */
    TP_SHARDING_KEY = 1,         /* tp_shard_of(biz_key): tasks about one business row stay together */
    TP_SHARDING_ROUND_ROBIN = 2, /* one after the other, counted by handler in this process from anywhere */
    TP_SHARDING_RANDOM = 3
} tp_sharding;
/* 1 to shards, the same on every machine: 1 + the 32-bit FNV-1a hash of key's bytes modulo shards. 0 when
 * shards is less than 1; "" when key is NULL. */
TP_API int32_t tp_shard_of(const char *key, int32_t shards);

/* What an enqueue does when an open task has its dedup_key. */
typedef enum tp_on_duplicate {
    TP_DUPLICATE_KEEP = 0,     /* nothing: TP_EXISTS */
    TP_DUPLICATE_REPLACE = 1,  /* that task gets the new one's params, biz_key, shard, priority, max_failures,
                                * due time and deadline, and keeps its id and its failures */
    TP_DUPLICATE_PUSH_BACK = 2 /* that task is due when the new one would be, if that is later than it was; of
                                * the new one nothing else is taken */
} tp_on_duplicate;

/* Filled by the caller; start from TP_NEW_TASK_INIT. Zero and NULL mean default. */
typedef struct tp_new_task {
    size_t size;
    const char *handler;   /* required */
    const char *params;    /* "" when NULL */
    const char *biz_key;   /* the business row it is about */
    const char *dedup_key; /* at most one open task per key */
    int32_t shard;
    tp_sharding sharding; /* how the library chooses the shard; then shard must be 0 ... */
    int32_t shards;       /* ... and this says of how many; tp_show says which it was */
    int32_t priority;     /* -32768 to 32767 */
    int32_t max_failures; /* 0: the worker's policy */
    int64_t delay_ms;     /* due that long after now, by the database's clock */
    int64_t due_at;       /* or due at that time; not both */
    char id[TP_ID_SIZE];  /* which task this struct stands for: a UUID of the caller's own, or "" and the
                           * library makes one, before it asks the database */
    char existing_id[TP_ID_SIZE]; /* set by the library: the task that is there, or was changed; else "" */
    uint64_t content;             /* set by the library with the id: a hash of what was asked for */
    const char *cut_off_calendar; /* due at the next cut-off of this calendar, by the database's clock, with
                                   * neither delay_ms nor due_at */
    int64_t cut_off_lead_ms;      /* or so long before it, at once when that has passed */
    tp_on_duplicate on_duplicate; /* not KEEP: with dedup_key only */
    int32_t reserved;             /* 0 */
    const char *order_key;        /* one task at a time for each key, in the order in which they were put in
                                   * (committed), retries included: docs/gates.md */
    const char *gate;             /* or behind this gate of tp_gate_set; then it is due at once */
    const char *group;            /* one of the tasks of this group of tp_group_open, which is open */
    const char *after;            /* it is not due before this group has ended; docs/groups.md */
    int64_t deadline_at; /* it is of no use from then on: not begun, and whoever has it in hand is told;
                          * docs/deadlines.md */
    int64_t deadline_ms; /* or so long after it is first due, by the database's clock; not both */
} tp_new_task;
#define TP_NEW_TASK_INIT                                                                                     \
    {                                                                                                        \
        sizeof(tp_new_task), NULL, NULL, NULL, NULL, 0, TP_SHARDING_NONE, 0, 0, 0, 0, 0, {0}, {0}, 0, NULL,  \
            0, TP_DUPLICATE_KEEP, 0, NULL, NULL, NULL, NULL, 0, 0                                            \
    }

/* Puts one task into the pending pool. One struct, one task: with its id set, by the first call or by the
 * caller, the struct stands for that task, on any connection and, if the caller keeps the id, in any process.
 * The same call asks again, whatever became of earlier tries and their commits: the task is put in unless it
 * is there, in any pool. For another task start from TP_NEW_TASK_INIT.
 * TP_EXISTS: this task, or another open one with this dedup_key, is there; existing_id says which, and
 * nothing was written. TP_MISUSE also: the struct was changed since it got its id; or, where the user may
 * read params, the task with this id is there with another handler, key, shard, priority, max_failures, other
 * params or, until it is first claimed, another time, the text says which; but what an edit or another
 * producer has replaced since is not compared. To ask again on a borrowed connection needs a transaction
 * there. An id that the call made is taken out of the struct again when it was refused there with an error
 * and the database has confirmed that nothing is left of it. on_duplicate says what becomes of another open
 * task with this dedup_key. TP_OK with existing_id set: that task waited, was changed as it says in this
 * transaction, and the history has it as replaced or deferred, under this struct's id. Asked again it is
 * found there, so it is done once, also when that task was handled and purged meanwhile, as long as the
 * history has the event. TP_EXISTS: that task is in hand, or one is to be replaced of which a step is done
 * (tp_run_step) or whose end a person asked for; nothing was written, and what it does may have begun before:
 * ask again when it has ended, or put in one without the key. A task that is done or in the failed pool is
 * no open one, so a new one is put in. A session that has changed the task, or holds it by
 * plan hold, is waited for. TP_MISUSE also: the task with the key is of another handler; or it is to be
 * replaced while four eyes is on: there tp_edit changes params, with a second person. It takes several
 * statements, and so a transaction on a borrowed connection, which must read what others committed (else
 * TP_UNSUPPORTED), and rights beyond a producer's: docs/producing.md. */
TP_API TP_CHECKED tp_status tp_enqueue(tp_conn *conn, tp_new_task *task);
/* The same for many, all or none, set-based. inserted (may be NULL) gets how many were new; the rest were
 * there. All are of the same size. */
TP_API TP_CHECKED tp_status tp_enqueue_many(tp_conn *conn, tp_new_task *tasks, size_t count,
                                            size_t *inserted);

/* ---- Idempotency ledger ------------------------------------------------------------------------------ */

/* The first time for this key: TP_OK, and the ledger has it once the transaction commits. TP_EXISTS: it was
 * there. Call it in the transaction of the effect, so that both are stored or neither; another session that
 * asks for the same key meanwhile waits for the end of that transaction; inside a transaction of its own it
 * may then hear TP_CONFLICT (mysql, oracle, generic). Alone it is a transaction of its own, and after a
 * failure the next call with this key, on any connection of this tp_env, finds out whether the failed try did
 * it (of one database: of connections that were borrowed in several it would know the wrong try). Elsewhere,
 * in another process above all, TP_EXISTS may be your own lost try; so it may here, once more than a thousand
 * unanswered tries are kept and the oldest is forgotten. key: at most TP_KEY_MAX bytes. task (may be NULL):
 * on whose behalf, for people to read. Old keys leave by tp_operate(TP_ACTION_PURGE) with pool "once". */
TP_API TP_CHECKED tp_status tp_once(tp_conn *conn, const char *key, const tp_task *task);

/* ---- Retry policy ------------------------------------------------------------------------------------ */

/* What a lapsed lease (the worker died or was cut off) means. It always counts as a failure. */
typedef enum tp_lapse {
    TP_LAPSE_RETRY = 0, /* claimed again, until the retries are exhausted */
    TP_LAPSE_FAIL = 1,  /* to the failed pool */
    TP_LAPSE_SKIP = 2   /* to the finished pool, as skipped */
} tp_lapse;

/* The delay in ms after failure number failures (1 and up); negative: no more retries. Called in the thread
 * that ran the handler, or would run it again after a lease that lapsed, or that settles; must not use its
 * connection. tp_claim calls it for a lease that lapsed, with tasks locked: there it is to answer at once. */
typedef int64_t (*tp_delay_fn)(const tp_task *task, int32_t failures, const char *reason, void *arg);

/* When a failed task is tried again, and when it goes to the failed pool. Start from TP_RETRY_INIT; where a
 * policy is asked for, NULL means a ladder of 1, 5, 20 minutes. One of three forms:
 *   a ladder      after failure k the task is due after delays_ms[k-1]; the failure after the last is final
 *   exponential   first_ms, then each time factor times as long, at most last_ms; count retries
 *   a callback    delay says
 * A ladder with count 0 means no retry. A task's own max_failures replaces count: beyond a ladder its last
 * rung is used. */
typedef struct tp_retry {
    size_t size;
    const int64_t *delays_ms;
    size_t count;
    int64_t first_ms; /* not 0: exponential */
    int64_t last_ms;  /* 0: no cap */
    int32_t factor;   /* 0: 2 */
    int32_t jitter;   /* percent, 0 to 100: delays, last_ms too, are shorter or longer at random */
    tp_lapse on_lapse;
    tp_delay_fn delay;
    void *arg; /* for delay */
} tp_retry;
#define TP_RETRY_INIT                                                                                        \
    { sizeof(tp_retry), NULL, 0, 0, 0, 0, 0, TP_LAPSE_RETRY, NULL, NULL }

/* ---- Claim ------------------------------------------------------------------------------------------- */

/* Filled by the caller; start from TP_CLAIM_INIT. */
typedef struct tp_claim_request {
    size_t size;
    const char *const *handlers; /* required: the handlers to take tasks of */
    size_t handler_count;
    size_t limit;          /* at most so many tasks; 0: 100; TP_CLAIM_MAX is the most */
    int64_t lease_ms;      /* 0: 60,000 */
    const tp_retry *retry; /* says when a lapsed lease was the last failure */
    const char *plan;      /* NULL: the environment's */
    const int32_t *shards; /* only tasks of these shards; NULL: of all */
    size_t shard_count;
    int in_order; /* 1: handlers in the order given, each before the next; 0: all together by priority */
    char token[TP_ID_SIZE]; /* "": the library makes one before it asks, and empties it when it has the answer
                             */
    const tp_retry *const *retries; /* one for each handler, in their order, instead of retry; may be NULL */
} tp_claim_request;
#define TP_CLAIM_INIT                                                                                        \
    { sizeof(tp_claim_request), NULL, 0, 0, 0, NULL, NULL, NULL, 0, 0, {0}, NULL }

/* Takes up to limit due tasks of these handlers, the first by priority, then due_at, then id. Each is the
 * caller's for lease_ms, and longer if it is extended; after that another claim may take it, with one failure
 * more, or moves it to the failed pool when that was the last. Tasks of a paused handler are passed over.
 * TP_NONE: nothing is due. After a failure ask again with the same request: by the token that it left there
 * the call first returns what that try took. Not inside an explicit transaction and not on a borrowed
 * connection (TP_MISUSE); but plan hold, which locks tasks until the transaction ends instead of leasing
 * them, inside one only. docs/claiming.md has the plans, and the order in full. */
TP_API TP_CHECKED tp_status tp_claim(tp_conn *conn, tp_claim_request *request, tp_batch **batch);

/* The whole parameters of a claimed task (the pointer that tp_batch_task gave, not a copy), read now if the
 * claim left them out. The text lives as long as the batch. TP_LOST: the claim is gone. */
TP_API TP_CHECKED tp_status tp_task_params(tp_conn *conn, const tp_task *task, const char **params,
                                           size_t *length);

/* Gives back the memory of long parameters that tp_task_params read; they are read again when asked for. */
TP_API void tp_task_params_free(const tp_task *task);

/* ---- Settle ------------------------------------------------------------------------------------------ */

/* Each names id, state and token of the task as claimed, and is one transaction (or part of the explicit one)
 * with the move to the other pool. TP_LOST: the claim lapsed and another has the task, or it is settled
 * otherwise; nothing was changed. When this very settle was done by an earlier try that got no answer: TP_OK;
 * but TP_CONFLICT inside an explicit transaction, which can then only be rolled back, because what it wrote
 * is in the earlier one too. reason may be NULL. */
TP_API TP_CHECKED tp_status tp_complete(tp_conn *conn, const tp_task *task);
/* The same with a result: what the work gave back, at most TP_PARAMS_MAX bytes; NULL and "" are none. It is
 * stored with the finished row, in the same transaction, for tp_show and tp_await. Asked again with the same
 * result; what an earlier try has stored stays. Takes one statement more, and so a transaction on a borrowed
 * connection. TP_SCHEMA: the tables are of before version 9. */
TP_API TP_CHECKED tp_status tp_complete_with(tp_conn *conn, const tp_task *task, const char *result);
TP_API TP_CHECKED tp_status tp_skip(tp_conn *conn, const tp_task *task, const char *reason);
/* Counts a failure. TP_EXHAUSTED: it was the last, the task is in the failed pool. */
TP_API TP_CHECKED tp_status tp_fail(tp_conn *conn, const tp_task *task, const char *reason,
                                    const tp_retry *retry);
/* Counts a failure that no retry can mend: to the failed pool at once. TP_EXHAUSTED. */
TP_API TP_CHECKED tp_status tp_give_up(tp_conn *conn, const tp_task *task, const char *reason);
/* Puts the task back without counting a failure, due after delay_ms. */
TP_API TP_CHECKED tp_status tp_release(tp_conn *conn, const tp_task *task, int64_t delay_ms);
/* The lease now lapses lease_ms from now, if that is later than before. */
TP_API TP_CHECKED tp_status tp_extend(tp_conn *conn, const tp_task *task, int64_t lease_ms);
/* tp_complete for many, in few statements; the tasks may be of several claims of this process. answers (may
 * be NULL) gets what the single call would have answered for each. TP_LOST: at least one was lost, the others
 * are done; but inside an explicit transaction nothing is. Any other failure: ask again; no task is completed
 * (but on a borrowed connection in autocommit mode, where they go one by one; those behind gates, which go
 * one by one after the others, may be). */
TP_API TP_CHECKED tp_status tp_complete_many(tp_conn *conn, const tp_task *const *tasks, size_t count,
                                             tp_status *answers);
/* What became of a claim whose settle or commit got no answer. TP_OK: settled under its token. TP_NONE: still
 * held, do the work again; should the server still be at the earlier commit, the settle will say so. TP_LOST:
 * neither. */
TP_API TP_CHECKED tp_status tp_settled(tp_conn *conn, const tp_task *task);

/* ---- Looking ----------------------------------------------------------------------------------------- */

typedef struct tp_stat {
    const char *pool;
    const char *handler;
    const char *state;
    int64_t count;
    int64_t due;        /* of these, claimable now */
    int64_t oldest;     /* smallest created_at */
    int64_t oldest_due; /* smallest due_at of those that are claimable now; 0: none is */
} tp_stat;
/* One call of see per pool, handler and state. The finished pool is counted only when asked for: it holds
 * history. see must not use conn. */
typedef void (*tp_stat_fn)(const tp_stat *stat, void *arg);
TP_API TP_CHECKED tp_status tp_stats(tp_conn *conn, int with_finished, tp_stat_fn see, void *arg);

typedef struct tp_recent {
    const char *handler;
    const char *event; /* enqueued; done, skipped, failed (for good) */
    int64_t count;
} tp_recent;
/* How many tasks were put in and settled during the last window_ms (at most an hour), also by operators and
 * by programs without a tp_worker: one or more calls of see per handler and event, whose counts add up. It
 * reads these tasks only, by parts of indexes. When a task was put in is read from its id, where the library
 * wrote the producer's clock: when that differs from the database's, what is counted is as much earlier or
 * later, and of a clock that is late by more than the window nothing is; of one that is ahead, not what was
 * settled before the window. Not counted: tasks with an id of the application's own or of the database (plain
 * SQL) as enqueued, and what was purged. see must not use conn.
 * TP_NONE: there were none. */
typedef void (*tp_recent_fn)(const tp_recent *recent, void *arg);
TP_API TP_CHECKED tp_status tp_recent_each(tp_conn *conn, int64_t window_ms, tp_recent_fn see, void *arg);

/* The database's clock now. */
TP_API TP_CHECKED tp_status tp_now(tp_conn *conn, int64_t *now_ms);

/* Filled by the caller; start from TP_LIST_INIT. NULL or 0 means any; all that is given must hold. */
typedef struct tp_list_request {
    size_t size;
    const char *pool; /* pending (default), finished, failed, all */
    const char *handler;
    const char *state;
    const char *biz_key;  /* not "" */
    const char *after_id; /* the last id of the page before: see tp_list_next */
    size_t limit;         /* 0: 100; at most 1000 */
    const char *dedup_key;
    const char *reason;      /* has this in it */
    const char *reason_like; /* is this one but for digits and ids: see tp_failures_each */
    const char
        *worker; /* held or settled by it: a claim token, or the 12 digits at the end of all its tokens */
    int64_t since, until;   /* changed last in these ms; a settled task was when it was settled */
    const char *const *ids; /* these only */
    size_t id_count;
    int64_t after_at;  /* see tp_list_next */
    size_t read_max;   /* end the page when about so many finished tasks were read; 0: no bound */
    const char *group; /* tasks of this group; see tp_group_open */
    const char *gate;  /* those behind this gate: that wait at it, or that it let through and that keep their
                        * place; = and the key: of an order key; > and its name: that wait for a group */
} tp_list_request;
#define TP_LIST_INIT                                                                                         \
    {                                                                                                        \
        sizeof(tp_list_request), NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, 0, 0,  \
            0, NULL, NULL                                                                                    \
    }
/* A page of tasks, long params left out, in the order of their ids; with since or until (and none of
 * biz_key, ids, group and gate) in that of their last change. ids, biz_key, group and gate are found by
 * index, and the time by an index on settled tasks. With anything else the open and failed tasks are all read
 * at worst; the finished pool is read in parts, until the page is full or read_max is reached.
 *
 * Each page is what one statement sees: a task that moves to another pool meanwhile is there once. From page
 * to page in the order of ids none comes twice and none that was there before is missed, in whichever pool it
 * is by then. In the order of changes a task that changes meanwhile may come a second time, as it is then;
 * none is missed. Not so in the dialect generic over a database whose statements do not read as of one time.
 * TP_NONE: no such task (there may be more to read when read_max was given: then it is TP_OK with a count of
 * 0). TP_MISUSE also: dedup_key alone, or gate, in the finished pool, which has no index of
 * it. */
TP_API TP_CHECKED tp_status tp_list(tp_conn *conn, const tp_list_request *request, tp_batch **batch);
/* Makes of the request that gave the page the one for the next: sets after_id, which lives as long as the
 * batch, and after_at. TP_NONE: the page was the last. */
TP_API TP_CHECKED tp_status tp_list_next(const tp_batch *batch, tp_list_request *request);
/* One task with its whole params, from whichever pool holds it. TP_NONE: no such id. */
TP_API TP_CHECKED tp_status tp_show(tp_conn *conn, const char *id, tp_batch **batch);
/* The same for the open task with this dedup_key. TP_NONE: no open task has it. */
TP_API TP_CHECKED tp_status tp_show_key(tp_conn *conn, const char *dedup_key, tp_batch **batch);

/* Waits until the task has ended: is done, skipped, or in the failed pool; at most timeout_ms, 0: looks once.
 * ended gets a batch of it, with id, pool, state, failures, reason, settled_at and result as it ended; its
 * other texts are "", and params is NULL: see tp_show. TP_TIMEOUT: it has not ended; ask again to wait on.
 * One that waits for a retry has not ended. TP_NONE: no such id, or it was purged meanwhile. Polls by its
 * key, at once, then with pauses of an eighth of the time waited so far, from 25 ms to a second, in the
 * calling thread; and at once when a worker of this process has stored its end. On a borrowed connection in
 * autocommit mode only; nowhere inside a transaction (TP_MISUSE). Who may read params may wait, and others by
 * docs/results.md. */
TP_API TP_CHECKED tp_status tp_await(tp_conn *conn, const char *id, int64_t timeout_ms, tp_batch **ended);

/* How far the run of a task is that is in hand. */
typedef struct tp_progress {
    const char *message; /* "": none */
    char owner[TP_ID_SIZE];
    int32_t percent; /* 0 to 100; -1: not said */
    int64_t at;      /* when that was written */
} tp_progress;
typedef void (*tp_progress_fn)(const tp_progress *progress, void *arg);
/* Calls see with what the run of a task said last (tp_run_progress); task as tp_show gave it. By plan hold,
 * whose tasks are not marked, it is the run that claimed last, and may be one that was killed less than two
 * days ago: at says since when nothing was said. see must not use conn. TP_NONE: nothing was said, or the
 * task is not in the pending pool. */
TP_API TP_CHECKED tp_status tp_progress_of(tp_conn *conn, const tp_task *task, tp_progress_fn see, void *arg);
/* Says how far the work on a claimed task is, for programs that claim without a worker: percent and message
 * as tp_run_progress takes them; a negative percent without a message takes back what was said, to be called
 * when the work is over. task: as tp_claim gave it. Outside an explicit transaction only: over a second
 * connection while the work has its transaction on conn, and before that transaction writes where only one
 * can write at a time (sqlite: TP_TIMEOUT). Its failure is none of the task's. TP_SCHEMA: the tables are of
 * before version 9. docs/results.md. */
TP_API TP_CHECKED tp_status tp_progress_set(tp_conn *conn, const tp_task *task, int percent,
                                            const char *message);

/* A step of a task that is done: see tp_run_step. */
typedef struct tp_step_row {
    const char *name;
    const char *result; /* "": none */
    int64_t at;
} tp_step_row;
typedef void (*tp_step_row_fn)(const tp_step_row *step, void *arg);
/* The steps of a task that are done, in the order of their times; task as tp_show gave it. see must not use
 * conn. TP_NONE: there are none. */
TP_API TP_CHECKED tp_status tp_step_each(tp_conn *conn, const tp_task *task, tp_step_row_fn see, void *arg);

/* Steps for programs that claim without a worker; handlers have tp_run_step. Before the work of a step: calls
 * see with it if it is done. TP_NONE: it is not; do the work in an explicit transaction, call tp_step_add as
 * its last, and commit. TP_LOST: the claim was lost. task: as tp_claim gave it, or its id and owner. Not by
 * plan hold (TP_UNSUPPORTED). see must not use conn. TP_SCHEMA: the tables are of before version 8.
 * docs/steps.md. */
TP_API TP_CHECKED tp_status tp_step_find(tp_conn *conn, const tp_task *task, const char *name,
                                         tp_step_row_fn see, void *arg);
/* Records that the step is done, and its result (NULL and "": none), in the transaction that is open; behind
 * tp_extend by lease_ms, which keeps the task for this claim until the commit. So the record and what was
 * written before are one commit. After a commit without an answer reopen and ask tp_step_find; when the
 * server is still at that commit, and the work is done again, this waits for it and answers TP_CONFLICT, and
 * the transaction can only be rolled back. Without an explicit transaction it is one of its own; TP_EXISTS
 * then: it is recorded already. TP_LOST: another has the task. */
TP_API TP_CHECKED tp_status tp_step_add(tp_conn *conn, const tp_task *task, const char *name,
                                        const char *result, int64_t lease_ms);

/* A task that was put in within a period. Text that is NULL in the database is "". */
typedef struct tp_created {
    const char *pool; /* where it is now: pending, finished, failed */
    const char *id;
    const char *handler;
    const char *state;
    const char *params; /* all of it */
    int64_t created_at;
    int32_t failures;
} tp_created;
typedef void (*tp_created_fn)(const tp_created *task, void *arg);
/* Each task that was put in at from or later and before until (milliseconds since 1970 UTC, by the database's
 * clock), in whichever pool it is: of handler, or NULL for all. They are those of one moment, in no order; so
 * that sums over them can be checked. Reads the pending pool and what was settled since from. Some drivers
 * keep all of them, with their params, in memory. see must not use conn. TP_NONE: there are none. */
TP_API TP_CHECKED tp_status tp_created_each(tp_conn *conn, int64_t from, int64_t until, const char *handler,
                                            tp_created_fn see, void *arg);

/* Tasks that failed for one reason, but for digits and ids. */
typedef struct tp_failure {
    const char *handler;
    const char *reason_like; /* the reason with a # for them, - for none: selects just this group */
    const char *example;     /* the id of the one that failed last */
    int64_t count;
    int64_t waiting;     /* of these, waiting for a retry; the others are in the failed pool */
    int64_t first, last; /* when the first and the last of them failed */
} tp_failure;
typedef void (*tp_failure_fn)(const tp_failure *failure, void *arg);
/* Groups what failed by handler and reason, the largest group first: tasks of the failed pool, and those that
 * wait for a retry (request->pool: failed, pending, all: the default). At most limit groups (0: 100; at most
 * 1000), of the newest read_max tasks of each pool (0: 100000). *cut (may be NULL): there are more groups, or
 * more tasks. see must not use conn. TP_NONE: nothing failed. TP_MISUSE also: ids, after_id or another state.
 */
TP_API TP_CHECKED tp_status tp_failures_each(tp_conn *conn, const tp_list_request *request, tp_failure_fn see,
                                             void *arg, int *cut);
/* The same of the failed tasks of a batch, without the database; of more than 1000 groups, 1000. TP_NONE:
 * none of them failed. */
TP_API TP_CHECKED tp_status tp_batch_failures(const tp_batch *batch, tp_failure_fn see, void *arg);

/* ---- History ----------------------------------------------------------------------------------------- */

/* What happened to a task besides being claimed and done. Text that is NULL in the database is "" here. */
typedef struct tp_history {
    const char *task_id; /* "": not about one task */
    const char *handler;
    const char *event; /* failed, gave-up, lapsed; retried, skipped, released, purged, paused, resumed, kept,
                        * edited, erased, eyes; asked, approved, refused, stale, expired; replaced, deferred;
                        * cancel (of a task in hand), canceled */
    const char
        *owner; /* the claim token that failed or lapsed. Tokens of one process end in the same 12 digits */
    const char *who; /* who wrote it: host:pid, or the operator */
    const char *reason;
    int32_t attempt; /* number of the failure; 0: not about one */
    int64_t at;
} tp_history;
typedef void (*tp_history_fn)(const tp_history *event, void *arg);
/* The events of one task, oldest first; task_id NULL: the newest limit (0: 100) of the whole pool, newest
 * first. see must not use conn. TP_NONE: there are none. */
TP_API TP_CHECKED tp_status tp_history_each(tp_conn *conn, const char *task_id, size_t limit,
                                            tp_history_fn see, void *arg);

/* ---- Audit ------------------------------------------------------------------------------------------- */

/* Start from TP_ACTOR_INIT. */
typedef struct tp_actor {
    size_t size;
    const char *who;        /* NULL: this process, host:pid */
    const char *why;        /* NULL: no reason */
    const char *request_id; /* of the request that somebody else approved; NULL: none */
} tp_actor;
#define TP_ACTOR_INIT                                                                                        \
    { sizeof(tp_actor), NULL, NULL, NULL }
/* Who acts on this connection from now on, and why: for the audit, of calls that do not say it themselves
 * (the schedules', tp_resume, tp_drain's why, ...), and what was approved, of all. Stays through
 * tp_conn_reopen; actor NULL: nobody. */
TP_API TP_CHECKED tp_status tp_conn_actor(tp_conn *conn, const tp_actor *actor);

/* What somebody did in one transaction: a row of a chain that shows whether it was changed. Written in that
 * transaction by tp_operate, tp_edit, tp_erase, tp_pause, tp_resume, tp_drain, tp_retention_set, tp_adopt,
 * tp_schedule_add, _remove and _pause (and _fire, when tp_conn_actor named somebody), each time that they
 * change something. So two that act wait for each other until they commit; workers and producers for none.
 * On a borrowed connection these calls need a transaction (TP_MISUSE). Text that is NULL in the database is
 * "". */
typedef struct tp_audit {
    int64_t seq;     /* 1, 2, 3 ...: its place in the chain */
    const char *act; /* the same of all rows of one call */
    int64_t at;
    const char *who;
    const char *action;     /* as tp_history.event; schedule-added, schedule-removed, schedule-paused,
                             * schedule-resumed, fired; adopted, copied, adopt-removed */
    const char *subject;    /* the task, handler, schedule, worker or pool; "" when there were several */
    const char *detail;     /* what was selected or set; no keys, no params */
    int64_t changed;        /* tasks, or rows */
    const char *ids_hash;   /* SHA-256 over the ids of the tasks */
    const char *request_id; /* of tp_conn_actor */
    const char *why;
    const char *prev_hash; /* the hash of the row before */
    const char *hash;      /* SHA-256 over all of this: docs/audit.md */
} tp_audit;
/* Records an act of the application's own, such as a task that somebody put in by hand, by the connection's
 * actor: in the explicit or borrowed transaction that does it, once (else TP_MISUSE). action: a word of at
 * most 16 letters, digits and hyphens, none of the above. subject and detail may be NULL. */
TP_API TP_CHECKED tp_status tp_audit_add(tp_conn *conn, const char *action, const char *subject,
                                         const char *detail, int64_t changed);
typedef void (*tp_audit_fn)(const tp_audit *row, void *arg);
/* Start from TP_AUDIT_INIT. NULL or 0 means any. */
typedef struct tp_audit_request {
    size_t size;
    const char *who;
    const char *action;
    const char *subject;
    int64_t since, until;
    int64_t seq;      /* go on behind this one, in the order that is asked for */
    int oldest_first; /* 1: in the order of the chain; 0: the newest first */
    size_t limit;     /* 0: 100 */
} tp_audit_request;
#define TP_AUDIT_INIT                                                                                        \
    { sizeof(tp_audit_request), NULL, NULL, NULL, 0, 0, 0, 0, 0 }
/* request may be NULL. see must not use conn. TP_NONE: there are none. */
TP_API TP_CHECKED tp_status tp_audit_each(tp_conn *conn, const tp_audit_request *request, tp_audit_fn see,
                                          void *arg);
#define TP_ANCHOR_SIZE 96
/* The end of the chain as a word, to be kept where nobody who can change the database can change it: place
 * and hash of the last row, such as 17:9f86d081... Of an empty chain the place is 0. */
TP_API TP_CHECKED tp_status tp_audit_anchor(tp_conn *conn, char anchor[TP_ANCHOR_SIZE]);

/* ---- Operating --------------------------------------------------------------------------------------- */

typedef enum tp_action {
    TP_ACTION_RETRY = 0,   /* failed pool, or waiting for a retry: pending again, failures 0, due now */
    TP_ACTION_SKIP = 1,    /* pending, waiting for a retry, or failed pool: to the finished pool as skipped */
    TP_ACTION_RELEASE = 2, /* handling: pending again, no failure counted; whoever held it gets TP_LOST. The
                            * task's reason is who and why */
    TP_ACTION_PURGE = 3,   /* deletes from the finished or failed pool, the ledger or the history */
    TP_ACTION_CANCEL = 4   /* pending, or waiting for a retry: to the finished pool as skipped. handling:
                            * whoever has the task is told within two seconds (tp_run_stop_cause), and
                            * decides; if it is not done then, it is skipped. docs/cancel.md */
} tp_action;

/* Filled by the caller; start from TP_SELECTION_INIT. NULL means any; all that is given must hold. */
typedef struct tp_selection {
    size_t size;
    const char *const *ids;
    size_t id_count;
    const char *pool; /* purge: finished (default), failed, once, history. Others: pending, failed; all, the
                         default */
    const char *handler;
    const char *state;
    const char *reason; /* tasks whose reason has this in it, not ""; not for once and history */
    int64_t older_ms;   /* not changed for that long, by the database's clock; 0: any age */
    size_t limit;       /* of this call, and of what is done, not of what is passed over; 0: all */
    int dry_run;        /* 1: only count; what other sessions hold is counted as done */
    const char *who;    /* required: recorded in the history */
    const char *why;    /* recorded; for skip also the task's reason */
    /* As in tp_list_request. Not for once and history, but since and until. biz_key, group and gate are found
     * by index. A purge takes gate with pool failed alone. */
    const char *biz_key;
    const char *dedup_key;
    const char *reason_like;
    const char *worker;
    int64_t since, until;
    const char *group;
    const char *gate;
} tp_selection;
#define TP_SELECTION_INIT                                                                                    \
    {                                                                                                        \
        sizeof(tp_selection), NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL,  \
            0, 0, NULL, NULL                                                                                 \
    }

/* done: changed, or to be changed. passed: left alone, because another session holds the row, an open task
 * has its dedup_key, its gate was removed, or a trigger of your own keeps it without an error. */
typedef struct tp_operated {
    size_t size;
    size_t done;
    size_t passed;
    char request_id[40]; /* of TP_REQUESTED: "": not asked before. done says how many the request is about */
    size_t asked;        /* of a cancel: tasks in hand, whose workers are told */
    size_t unstored;     /* of a retry: those of done whose reason begins with TP_REASON_DONE: it does again
                          * what is done */
} tp_operated;
#define TP_OPERATED_INIT                                                                                     \
    { sizeof(tp_operated), 0, 0, "", 0, 0 }

/* Acts on what is selected, in transactions of at most 500 tasks, each recorded in the history: one event a
 * task, but one a transaction for purges, whose reason says how many. A failure leaves what was committed
 * before it, and result says how much that is (a commit without an answer not counted); asked again it goes
 * on. A limit is of one call: who asks again after a failure takes off what was done. retry and skip do not
 * touch a task that is being handled. What is purged is waited for when another session holds it
 * (TP_TIMEOUT). result may be NULL. Outside an explicit transaction only (TP_MISUSE). TP_REQUESTED, TP_STALE:
 * see "Four eyes". */
TP_API TP_CHECKED tp_status tp_operate(tp_conn *conn, tp_action action, const tp_selection *selection,
                                       tp_operated *result);

/* What became of a task that was to be cancelled. */
typedef enum tp_cancel_answer {
    TP_CANCEL_UNKNOWN = 0, /* there is no such task */
    TP_CANCEL_SKIPPED =
        1, /* it waited, or was asked before and has ended so: it is skipped, and was not done */
    TP_CANCEL_ASKED = 2, /* it is in hand: whoever has it is told within two seconds, and decides. Ask again
                          * for how it ended */
    TP_CANCEL_LATE = 3   /* it has ended: state says how, done or failed (a skip ends a failed one) */
} tp_cancel_answer;
/* Start from TP_CANCELLED_INIT. */
typedef struct tp_cancelled {
    size_t size;
    tp_cancel_answer answer;
    int32_t reserved;
    char state[16];      /* skipped, handling, done, failed; "": unknown */
    char request_id[40]; /* of TP_REQUESTED: "": not asked before */
} tp_cancelled;
#define TP_CANCELLED_INIT                                                                                    \
    { sizeof(tp_cancelled), TP_CANCEL_UNKNOWN, 0, "", "" }
/* TP_ACTION_CANCEL for one task; result says what became of it, and asked again the same, or how it ended
 * since. Recorded in the history and the audit. TP_NONE: no such id. Outside an explicit transaction only.
 * TP_REQUESTED, TP_STALE: see "Four eyes". */
TP_API TP_CHECKED tp_status tp_cancel(tp_conn *conn, const char *id, const char *who, const char *why,
                                      tp_cancelled *result);

/* What tp_edit writes into. */
enum {
    TP_EDIT_PARAMS = 1,
    TP_EDIT_BIZ_KEY = 2,
    TP_EDIT_DEDUP_KEY = 4,
    TP_EDIT_PRIORITY = 8,
    TP_EDIT_DUE_AT = 16,
    TP_EDIT_MAX_FAILURES = 32,
    TP_EDIT_SHARD = 64,
    TP_EDIT_DEADLINE_AT = 128
};

/* Start from TP_EDIT_INIT. fields says which of the values are written; NULL and "" there: none. due_at is of
 * a task of the pending pool, and so is deadline_at, unless it is retried. edit_id stands for this edit: made
 * by the first call, and found by the next. */
typedef struct tp_edit_request {
    size_t size;
    const char *params;
    const char *biz_key;
    const char *dedup_key;
    int64_t due_at;
    int32_t fields; /* TP_EDIT_... | ... */
    int32_t priority;
    int32_t max_failures; /* 0: the worker's policy decides */
    int32_t retry;        /* 1: pending again in the same transaction, failures 0 */
    char edit_id[40];     /* "": not asked before */
    int32_t shard;
    int32_t reserved;    /* 0 */
    int64_t deadline_at; /* of no use any more from then on; 0: none */
    int64_t
        modified_at; /* the task's, as it was looked at: TP_CONFLICT when it has changed since; 0: whatever */
} tp_edit_request;
#define TP_EDIT_INIT                                                                                         \
    { sizeof(tp_edit_request), NULL, NULL, NULL, 0, 0, 0, 0, 0, "", 0, 0, 0, 0 }

/* New content for one task that waits (for its time, for a worker or for a retry) or is in the failed pool:
 * moves it to another time, deadline, priority or shard, or gives it other params or keys; recorded in the
 * history as edited, with who and why. A task in hand, or one that is done, is left alone (TP_MISUSE); a
 * transaction that has it by plan hold is waited for as any lock is. Params and keys may be private, so the
 * history holds their lengths before and after, no text. The task is changed only as it was read: when
 * somebody else changes it meanwhile, it is left alone and the answer is TP_CONFLICT. Asked again with the
 * same struct finds by edit_id that it was done; who and why do not matter then. Asked again with other
 * content is TP_MISUSE; of texts that somebody wrote over since only the lengths are compared. TP_EXISTS: an
 * open task has the dedup_key; nothing was written. TP_NONE: no such task. TP_MISUSE also: edit_id is that of
 * another task's event. Outside an explicit transaction only. TP_REQUESTED, TP_STALE: see "Four eyes";
 * edit_id is the request's id. */
TP_API TP_CHECKED tp_status tp_edit(tp_conn *conn, const char *id, tp_edit_request *edit, const char *who,
                                    const char *why);

/* Start from TP_ERASED_INIT. */
typedef struct tp_erased {
    size_t size;
    size_t finished, failed; /* tasks deleted, or to be deleted */
    size_t events, keys;     /* of the history and of the ledger; 0 in a dry run */
    size_t open;             /* tasks that are not settled; nothing is deleted while there are such */
    size_t schedules;        /* that make tasks with the key; left alone */
    char request_id[40];     /* of TP_REQUESTED: "": not asked before */
} tp_erased;
#define TP_ERASED_INIT                                                                                       \
    { sizeof(tp_erased), 0, 0, 0, 0, 0, 0, "" }

/* Deletes the traces of one business row: its finished and failed tasks, what the history and the ledger say
 * of them, and the ledger's key that is the same. While a task of it is open nothing is deleted, and open
 * says so: a key of the ledger may be what keeps that task from doing an effect a second time. Let it end, or
 * skip it, and ask again. Found by index. In transactions of at most 500 tasks, each recorded in the history
 * as erased, with who and why and how many, without the key; asked again goes on, and so it does when a task
 * of it came meanwhile, which ends the call, and open says so. Not found: keys of the
 * ledger that name no task, and events of tasks that were purged before; params of other tasks. dry_run: only
 * count. Outside an explicit transaction only. TP_NONE: there was nothing. TP_REQUESTED, TP_STALE: see "Four
 * eyes". */
TP_API TP_CHECKED tp_status tp_erase(tp_conn *conn, const char *biz_key, const char *who, const char *why,
                                     int dry_run, tp_erased *result);

/* An old task table of the application as the producer of tasks: docs/adopting.md has the mapping, its text
 * is given. Makes one transaction or several of its own. who: for the history. report (may be NULL) gets what
 * was counted: in the old table, and in the pool, both the same where only one number is meant. */
typedef enum tp_adopt_step {
    TP_ADOPT_APPLY = 0,   /* makes the table of links; asked again it changes nothing */
    TP_ADOPT_COPY = 1,    /* one round: results into rows, then open rows into the pool */
    TP_ADOPT_COMPARE = 2, /* TP_CONFLICT: the old table and the pool differ */
    TP_ADOPT_REMOVE = 3   /* returns what no worker has begun, then drops the links; TP_CONFLICT: tasks are
                             being handled, ask again when they have ended, or are in no pool, as the text says.
                             Without links it changes nothing */
} tp_adopt_step;
typedef void (*tp_adopt_fn)(const char *what, int64_t in_old, int64_t in_pool, void *arg);
TP_API TP_CHECKED tp_status tp_adopt(tp_conn *conn, const char *mapping, tp_adopt_step step, const char *who,
                                     tp_adopt_fn report, void *arg);
/* Hands the SQL of all steps to write, without a database. TP_MISUSE names the mapping's line, or says that
 * the environment has no Dialect= and never connected. */
TP_API TP_CHECKED tp_status tp_adopt_print(tp_env *env, const char *mapping, tp_text_fn write, void *arg);

/* A paused handler's tasks are not claimed, by anybody, from a second later on; running ones end. TP_EXISTS,
 * TP_NONE: it is paused already, or not paused. */
TP_API TP_CHECKED tp_status tp_pause(tp_conn *conn, const char *handler, const char *who, const char *why);
TP_API TP_CHECKED tp_status tp_resume(tp_conn *conn, const char *handler, const char *who);

typedef struct tp_paused {
    const char *handler;
    const char *who;
    const char *why;
    int64_t since;
} tp_paused;
typedef void (*tp_paused_fn)(const tp_paused *paused, void *arg);
/* TP_NONE: nothing is paused. */
TP_API TP_CHECKED tp_status tp_paused_each(tp_conn *conn, tp_paused_fn see, void *arg);

/* How long settled rows are kept: pool "finished" or "failed", retention_ms 0: for ever (the default); and
 * what workers did: "activity", by default 30 days. Workers delete older ones in the background, a few at a
 * time, but no failed task of a group that is not over, and none that keeps its place at a gate. Keep
 * finished rows longer than any client may take to ask again: an operation finds out by them what its first
 * try did. With four eyes TP_REQUESTED: the same asked again by the same person, while the request waits,
 * finds it. */
TP_API TP_CHECKED tp_status tp_retention_set(tp_conn *conn, const char *pool, int64_t retention_ms,
                                             const char *who);
TP_API TP_CHECKED tp_status tp_retention_get(tp_conn *conn, const char *pool, int64_t *retention_ms);
/* Deletes at most limit rows that are past their time, in one transaction, and at most as many of "activity"
 * (but whole minutes) in another. deleted (may be NULL) gets how many. TP_DB also: the database's clock has
 * gone ahead by more than a day since the environment's last such call, less than a day ago; nothing was
 * deleted. A new environment deletes at once. */
TP_API TP_CHECKED tp_status tp_retention_apply(tp_conn *conn, size_t limit, size_t *deleted);

/* ---- Four eyes --------------------------------------------------------------------------------------- */

/* When it is on for a pool, these acts need a second person: skip, cancel, purge, edit, erase, a retry of
 * more than retry_max tasks, a retention, and a change of this setting. The calls then change nothing, write
 * a request with the rows that are meant as they are, and answer TP_REQUESTED; request_id or edit_id in the
 * caller's struct stands for the request, so that asked again they find it: TP_REQUESTED while it waits,
 * TP_OK once it was carried out, TP_STALE when it was not. Nobody approves what he asked for himself; names
 * are compared up to their @, so that ann@desk is ann@server, and without regard to the case of ASCII
 * letters. Dry runs, release, pause and what workers do are as always, and so is the deleting of what is past
 * its retention. A library that knows no four eyes does not obey; docs/approvals.md says how the database
 * refuses it. */
enum { TP_REQUEST_ROWS_MAX = 100000 }; /* TP_TOOBIG for more; limit in tp_selection makes parts */

/* Start from TP_FOUR_EYES_INIT. */
typedef struct tp_four_eyes {
    size_t size;
    int64_t retry_max; /* so many tasks may be retried in one call without a second person */
    int64_t expire_ms; /* a request that nobody decided for that long is expired; 0: 7 days */
    int32_t on;
    char request_id[44]; /* of a change that needs a second person: "": not asked before */
} tp_four_eyes;
#define TP_FOUR_EYES_INIT                                                                                    \
    { sizeof(tp_four_eyes), 0, 0, 0, "" }
/* Sets it; counts from the next call of everybody on. While it is on, any change is a request (TP_REQUESTED),
 * also switching it off. Outside an explicit transaction only. */
TP_API TP_CHECKED tp_status tp_four_eyes_set(tp_conn *conn, tp_four_eyes *eyes, const char *who,
                                             const char *why);
/* eyes->expire_ms is never 0 then. */
TP_API TP_CHECKED tp_status tp_four_eyes_get(tp_conn *conn, tp_four_eyes *eyes);

/* What one person asked for. Text that is NULL in the database is "" here. */
typedef struct tp_request {
    const char *id;
    const char *act;   /* retry, skip, cancel, purge, edit, erase, retention, four-eyes */
    const char *state; /* waiting, done, refused, stale (its rows had changed), expired */
    const char *pool;
    const char *selection; /* what was selected, for people; the task of an edit; a setting's new value */
    const char *asked_by;
    const char *why;
    const char *decided_by;
    const char *decision; /* why it was decided so */
    /* The new content of an edit, and whose traces are to be erased; only while it waits. */
    const char *params;
    const char *biz_key;
    const char *dedup_key;
    int64_t tasks; /* rows that it is about */
    int64_t done;  /* rows that were changed */
    int64_t created_at, expires_at, decided_at;
    int64_t due_at;
    int32_t fields; /* TP_EDIT_... | ... */
    int32_t priority;
    int32_t max_failures;
    int32_t retry;
} tp_request;
typedef void (*tp_request_fn)(const tp_request *request, void *arg);
/* The request of this id; id NULL: the newest limit (0: 100) in that state (NULL: any), the newest first.
 * see must not use conn. TP_NONE: there is none. */
TP_API TP_CHECKED tp_status tp_request_each(tp_conn *conn, const char *id, const char *state, size_t limit,
                                            tp_request_fn see, void *arg);
/* How many wait for a second person, and since when the oldest (0: none does); oldest_at may be NULL. */
TP_API TP_CHECKED tp_status tp_requests_waiting(tp_conn *conn, int64_t *count, int64_t *oldest_at);
/* Carries out what was asked for, in one transaction with the approval: the very rows that it was written
 * with, or nothing. TP_OK: done; also when this person approved it before, so it is asked again after a lost
 * answer; of several who approve at once one carries it out. TP_STALE: rows are gone or changed; of a retry,
 * an open task has the dedup_key of one of them; of an erasure, a task with the business key is open; of a
 * cancel of a task in hand, another run has begun since, or a person retried or edited the task. Nothing was
 * changed, and the request is over; when another run has a task in hand, tp_last_error() names it.
 * TP_EXISTS: somebody decided it before, or it expired. TP_NONE: no such request. TP_MISUSE: it is his own
 * (names are compared up to an @, without case). Other failures, such as TP_TIMEOUT when a row is locked,
 * leave it waiting. who and why are recorded; result may be NULL. Outside an explicit transaction only. */
TP_API TP_CHECKED tp_status tp_approve(tp_conn *conn, const char *id, const char *who, const char *why,
                                       tp_operated *result);
/* Ends a request, and changes nothing else; one's own may be taken back. TP_OK, TP_EXISTS, TP_NONE: as
 * above. */
TP_API TP_CHECKED tp_status tp_refuse(tp_conn *conn, const char *id, const char *who, const char *why);
/* Do both names stand for one person? 1: up to their @ they are the same, without regard to the case of ASCII
 * letters. Else 0, also when one is NULL. By this rule nobody approves his own request. Needs no connection.
 */
TP_API TP_CHECKED int tp_same_person(const char *one, const char *other);

/* One thing that tp_check or tp_doctor looked at. */
typedef struct tp_finding {
    const char *name;
    int ok;
    int64_t count;      /* rows concerned */
    const char *text;   /* what was found */
    const char *remedy; /* what to do; "" when ok */
} tp_finding;
typedef void (*tp_finding_fn)(const tp_finding *finding, void *arg);
/* Looks whether every task is in one pool only and every row is legal for its pool; changes nothing. One call
 * of see per check. TP_OK also when something was found: *bad (may be NULL) says how many. */
TP_API TP_CHECKED tp_status tp_check(tp_conn *conn, tp_finding_fn see, void *arg, int *bad);
/* Reads the whole chain of the audit and says whether a row was changed, inserted or deleted, whether it
 * still has the row of an anchor (NULL: none is asked for; a hash alone will do), whether people did what is
 * not in it (with a library of before version 4, or by plain SQL that wrote to the history), and whether this
 * user could change it, which is tried and undone. Otherwise like tp_check, but outside an explicit
 * transaction only. Without an anchor nobody can tell whether somebody who can change everything made the
 * chain anew. TP_MISUSE also: the anchor is none. */
TP_API TP_CHECKED tp_status tp_audit_check(tp_conn *conn, const char *anchor, tp_finding_fn see, void *arg,
                                           int *bad);
/* Says what is connected and why it is used as it is, then shows with two sessions, on a table of its own
 * that it removes (PREFIXdoctor; one that it did not make is left alone), that locks, waits, rechecks, row
 * counts, text and clocks of this database and driver do what the plans rely on. Needs no pool, takes about a
 * second, one at a time for a prefix. A connection string or session that tp_conn_open refuses is a finding
 * too; a server that cannot be reached is TP_DISCONNECTED. */
TP_API TP_CHECKED tp_status tp_doctor(tp_env *env, tp_finding_fn see, void *arg, int *bad);

/* ---- Calendars --------------------------------------------------------------------------------------- */

#define TP_DATE_SIZE         11    /* "2026-12-24", and its NUL */
#define TP_CALENDAR_DAYS_MAX 10000 /* special days of one calendar */

typedef enum tp_day_kind {
    TP_DAY_CLOSED = 0,
    TP_DAY_HALF = 1, /* open until a cut-off of its own, if its weekday is */
    TP_DAY_OPEN = 2
} tp_day_kind;

/* A day that is not as its weekday says. Start from TP_CALENDAR_DAY_INIT. */
typedef struct tp_calendar_day {
    size_t size;
    const char *date; /* "2026-12-24" */
    const char
        *cut_off;     /* "12:00"; "24:00" is the day's end. NULL: as on a whole day; a half day needs one */
    const char *name; /* for people, at most TP_KEY_MAX bytes; may be NULL */
    tp_day_kind kind;
    int32_t reserved; /* 0 */
} tp_calendar_day;
#define TP_CALENDAR_DAY_INIT                                                                                 \
    { sizeof(tp_calendar_day), NULL, NULL, NULL, TP_DAY_CLOSED, 0 }

/* Which days are business days, and until when they are open. Start from TP_CALENDAR_INIT. What is not one of
 * first_date to last_date is not known: nothing is worked out from it (docs/calendars.md). */
typedef struct tp_calendar {
    size_t size;
    const char *name;            /* letters, digits and . _ : -, at most TP_HANDLER_MAX */
    const char *time_zone;       /* of its days and cut-offs, a name in the system's tz database; NULL: UTC */
    const char *weekdays;        /* those that are open: "SUN-THU", "MON,WED-FRI", "NONE"; NULL: "MON-FRI" */
    const char *cut_off;         /* of a whole day; NULL: "24:00" */
    const char *first_date;      /* NULL: the first of January of the first special day's year; without */
    const char *last_date;       /* any 1970-01-01. NULL: the last of December likewise, or 9999-12-31 */
    const tp_calendar_day *days; /* of the same size, each date once */
    size_t day_count;
    /* From here on set by the library. */
    int64_t changed_at;
    const char *changed_by;
} tp_calendar;
#define TP_CALENDAR_INIT                                                                                     \
    { sizeof(tp_calendar), NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL }

/* Stores the calendar in place of the one of its name, whole, in one transaction. TP_EXISTS: the one that is
 * there is the same; nothing was written. who may be NULL. Schedules that go by it plan anew what has not
 * fired. */
TP_API TP_CHECKED tp_status tp_calendar_set(tp_conn *conn, const tp_calendar *calendar, const char *who);
/* TP_NONE: no such calendar. TP_MISUSE: a schedule goes by it; the text names one. */
TP_API TP_CHECKED tp_status tp_calendar_remove(tp_conn *conn, const char *name);
typedef void (*tp_calendar_fn)(const tp_calendar *calendar, void *arg);
/* All calendars by name, each with its days by date; name: that one only. see must not use conn. TP_NONE:
 * there is none. */
TP_API TP_CHECKED tp_status tp_calendar_each(tp_conn *conn, const char *name, tp_calendar_fn see, void *arg);

/* One day of a calendar. Start from TP_BUSINESS_DAY_INIT. */
typedef struct tp_business_day_info {
    size_t size;
    char date[16];
    tp_day_kind kind;
    int32_t reserved;
    int64_t begins_at;  /* when the day begins in the calendar's zone */
    int64_t cut_off_at; /* 0: it is closed */
} tp_business_day_info;
#define TP_BUSINESS_DAY_INIT                                                                                 \
    { sizeof(tp_business_day_info), {0}, TP_DAY_CLOSED, 0, 0, 0 }
/* n 0: this day; TP_NONE: it is closed. n above 0: the n-th business day after it; below 0: before it. date
 * NULL: today, by the database's clock and the calendar's zone. day (may be NULL) gets it. TP_MISUSE: there
 * is no such calendar, or it does not know the days; the text says which. */
TP_API TP_CHECKED tp_status tp_business_day(tp_conn *conn, const char *calendar, const char *date, int32_t n,
                                            tp_business_day_info *day);
/* The first cut-off after a time; after_ms 0: after now, by the database's clock. TP_MISUSE: as above. */
TP_API TP_CHECKED tp_status tp_next_cut_off(tp_conn *conn, const char *calendar, int64_t after_ms,
                                            int64_t *cut_off_at);

/* ---- Gates ------------------------------------------------------------------------------------------- */

/* What a gate does when a task that it let through goes to the failed pool. */
typedef enum tp_gate_failure {
    TP_GATE_BLOCK = 0, /* its place is taken until it was retried and ended, skipped, or purged */
    TP_GATE_PASS = 1   /* the next comes; a retry is the last behind the gate */
} tp_gate_failure;
enum { TP_GATE_WIDTH_MAX = 1000000 };

/* Makes a gate, or changes it: width tasks are let through at a time (0: none), over all processes. A wider
 * one lets more through in the same transaction, a narrower one when tasks end. name: letters, digits and . _
 * : -, at most TP_HANDLER_MAX. With * behind it, tenant-*, it is a pattern: gates whose names begin likewise
 * are made so with the first task that names them, and removed with their last; a change of the pattern
 * changes those that are there, too. "=" is the pattern of order keys, width 1 as long as nobody says
 * otherwise. who may be NULL. TP_EXISTS: it is so already. docs/gates.md. */
TP_API TP_CHECKED tp_status tp_gate_set(tp_conn *conn, const char *name, int32_t width,
                                        tp_gate_failure on_failure, const char *who);

/* With tokens at most so many tasks run in any period of this length: each that is let through has a token
 * until it has ended and the period after its end is over. */
typedef struct tp_gate_options {
    size_t size;
    int64_t period_ms; /* with tokens: TP_GATE_PERIOD_MIN to TP_DURATION_MAX */
    int32_t tokens;    /* 0: as many as come */
    int32_t width;     /* 0: 1, or as many as there are tokens; TP_GATE_CLOSED: lets nothing through */
    tp_gate_failure on_failure;
    int32_t keeps; /* bits TP_GATE_KEEPS_...: what stays as it is, where the gate is there; 0: nothing */
} tp_gate_options;
#define TP_GATE_INIT                                                                                         \
    { sizeof(tp_gate_options), 0, 0, 0, TP_GATE_BLOCK, 0 }
enum { TP_GATE_CLOSED = -1, TP_GATE_PERIOD_MIN = 1000 };
enum {
    TP_GATE_KEEPS_WIDTH = 1,
    TP_GATE_KEEPS_TOKENS = 2,
    TP_GATE_KEEPS_PERIOD = 4,
    TP_GATE_KEEPS_ON_FAILURE = 8
};
/* tp_gate_set with all that a gate can be. options NULL: the default of each. */
TP_API TP_CHECKED tp_status tp_gate_set_with(tp_conn *conn, const char *name, const tp_gate_options *options,
                                             const char *who);
/* TP_NONE: no such gate. TP_MISUSE: tasks are behind it; the text says how many. */
TP_API TP_CHECKED tp_status tp_gate_remove(tp_conn *conn, const char *name, const char *who);

typedef struct tp_gate {
    const char *name;
    int64_t through; /* were let through and have not ended */
    int64_t waiting;
    int64_t changed_at;
    const char *changed_by;
    int32_t width;
    tp_gate_failure on_failure;
    int64_t period_ms;   /* of its tokens; 0: it has none */
    int64_t token_at;    /* when the next comes back, while tasks wait for it; 0: they do not */
    int32_t tokens;      /* how many there are */
    int32_t tokens_left; /* and are not held by tasks */
    const char *pattern; /* by which it was made; "": by people */
} tp_gate;
typedef void (*tp_gate_fn)(const tp_gate *gate, void *arg);
/* All gates that people made, and "="; name: that one only, = and the key for an order key. Of a pattern,
 * through and waiting are those of the gates that it made. see must not use conn. TP_NONE: there is none. */
TP_API TP_CHECKED tp_status tp_gate_each(tp_conn *conn, const char *name, tp_gate_fn see, void *arg);

/* ---- Groups ------------------------------------------------------------------------------------------ */

/* When a group that was closed has ended. Groups within it have ended by then in any case. */
typedef enum tp_group_rule {
    TP_GROUP_ALL_DONE = 0, /* all its tasks are done or skipped: one in the failed pool holds up the end until
                            * a person retries, skips or purges it */
    TP_GROUP_ALL_ENDED = 1 /* none is open any more, however each ended */
} tp_group_rule;

/* Opens a group: tasks come into it by tp_new_task.group until tp_group_close. name: at most TP_KEY_MAX
 * bytes, of one group as long as that is kept. parent: the open group within which it is, NULL: none. A task
 * with tp_new_task.after waits for its end, and may be put in before the group's own tasks, in the same
 * transaction. TP_EXISTS: it is there, open or not. TP_MISUSE also: it is there with another rule or parent.
 * docs/groups.md. */
TP_API TP_CHECKED tp_status tp_group_open(tp_conn *conn, const char *name, tp_group_rule rule,
                                          const char *parent);
/* No task and no group comes into it any more, so that it may end. Waits for transactions that put some in.
 * TP_EXISTS: it is closed already. TP_NONE: there is none. */
TP_API TP_CHECKED tp_status tp_group_close(tp_conn *conn, const char *name);
/* Ends the groups that have ended, each in a transaction in which what waited for it becomes due. Workers do
 * this within a second of a group's last settle; a program that claims without a worker calls it after its
 * settles. *ended (may be NULL) gets how many. TP_NONE: no group is open or closed. TP_CONFLICT, TP_TIMEOUT:
 * others were in the way of some. TP_DB: a rule of your own refuses the end of one; the others have ended.
 * Outside an explicit transaction only. */
TP_API TP_CHECKED tp_status tp_groups_end(tp_conn *conn, size_t *ended);

typedef struct tp_group {
    const char *name, *parent; /* parent "": none */
    const char *state;         /* open, closed, ended */
    tp_group_rule rule;
    int32_t cancelled;                       /* 1: by tp_group_cancel */
    int64_t created_at, closed_at, ended_at; /* 0: it was not */
    /* Only where one group is asked for, else -1. Those of its tasks that are in no pool any more were
     * purged. */
    int64_t tasks, waiting, handling, done, skipped, failed;
    int64_t after; /* tasks that wait for its end */
} tp_group;
typedef void (*tp_group_fn)(const tp_group *group, void *arg);
/* All groups by name; name: that one only, with what became of its tasks. see must not use conn. TP_NONE:
 * there is none. */
TP_API TP_CHECKED tp_status tp_group_each(tp_conn *conn, const char *name, tp_group_fn see, void *arg);
/* How many groups have not ended, and how many open tasks wait for that. */
TP_API TP_CHECKED tp_status tp_groups_waiting(tp_conn *conn, int64_t *groups, int64_t *tasks);
/* Closes the group and skips its tasks that wait or are in the failed pool, in chunks; those that run end as
 * they do. When these and the groups within it, which go on, have ended, it ends, and what waited for it is
 * skipped, too, unless its rule is TP_GROUP_ALL_ENDED. who is required, why may be NULL; skipped (may be
 * NULL) gets how many of its tasks. Asked again it goes on. TP_NONE: there is no such group, or it has ended.
 * TP_MISUSE also: with four eyes, where each skip needs a second person. Outside an explicit transaction
 * only. */
TP_API TP_CHECKED tp_status tp_group_cancel(tp_conn *conn, const char *name, const char *who, const char *why,
                                            size_t *skipped);
/* Forgets a group that has ended, and which tasks it had; they stay. The same is done to those that ended
 * longer ago than finished tasks are kept (tp_retention_set). TP_NONE: there is none, or it has not ended.
 * who may be NULL. Outside an explicit transaction only. */
TP_API TP_CHECKED tp_status tp_group_remove(tp_conn *conn, const char *name, const char *who);

/* ---- Schedules --------------------------------------------------------------------------------------- */

/* What happens to planned times that passed while nothing fired. The task of several stands for the latest.
 */
typedef enum tp_missed {
    TP_MISSED_ONCE = 0, /* one task for all of them */
    TP_MISSED_SKIP = 1, /* none for what is older than a minute; the next is in the future */
    TP_MISSED_ALL = 2   /* one for each, at most missed_max: the latest */
} tp_missed;

/* What becomes of a planned time on a day on which the schedule's calendar is closed. */
typedef enum tp_closed {
    TP_CLOSED_SKIP = 0,   /* it is left out */
    TP_CLOSED_BEFORE = 1, /* it fires on the business day before, at the same time of day */
    TP_CLOSED_AFTER = 2   /* on the business day after */
} tp_closed;

/* Start from TP_SCHEDULE_INIT. rule is one of
 *   "0-59/5 8-17 * * 1-5"   Unix cron: minute hour day month weekday
 *   "0 0/5 * * * ?"         Quartz cron: second minute hour day month weekday [year]
 *   "every 5m"              fixed rate: planned times are that far apart
 *   "after 5m"              fixed delay: that long after the last task ended
 * with units ms s m h d. docs/schedules.md has the whole syntax and what happens when clocks are changed. */
typedef struct tp_schedule {
    size_t size;
    const char *name; /* letters, digits and . _ : -, at most TP_HANDLER_MAX */
    const char *rule;
    const char *time_zone; /* name in the system's tz database; NULL: UTC */
    const char *handler;
    const char *params;
    const char *biz_key;
    int32_t shard;
    int32_t priority;
    int32_t max_failures;
    tp_missed missed;
    int32_t missed_max; /* 0: 100; at most 1000 */
    int alone;          /* 1: no new task while the last is open; the planned time is passed over */
    /* From here on set by the library. */
    int paused;
    int64_t next_at;       /* the next planned time; 0: none, or (after ...) the last task is open */
    int64_t last_at;       /* the last planned time that fired; 0: none */
    const char *last_task; /* of the last task that was made, by a planned time or by a person */
    /* Given by the caller again. */
    const char *calendar; /* decides which days are closed, in the schedule's zone; NULL: none is */
    tp_closed closed;     /* every and after: TP_CLOSED_SKIP only */
    int32_t reserved;     /* 0 */
} tp_schedule;
#define TP_SCHEDULE_INIT                                                                                     \
    {                                                                                                        \
        sizeof(tp_schedule), NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, TP_MISSED_ONCE, 0, 0, 0, 0, 0,     \
            NULL, NULL, TP_CLOSED_SKIP, 0                                                                    \
    }

/* The first planned time is the first after now. TP_EXISTS: a schedule of this name is there; nothing was
 * changed. */
TP_API TP_CHECKED tp_status tp_schedule_add(tp_conn *conn, const tp_schedule *schedule);
/* TP_NONE: no such schedule. Removing leaves its tasks. Resuming continues from now: what passed meanwhile is
 * not missed. */
TP_API TP_CHECKED tp_status tp_schedule_remove(tp_conn *conn, const char *name);
TP_API TP_CHECKED tp_status tp_schedule_pause(tp_conn *conn, const char *name, int paused);
typedef void (*tp_schedule_fn)(const tp_schedule *schedule, void *arg);
/* All schedules by name. see must not use conn. TP_NONE: there are none. */
TP_API TP_CHECKED tp_status tp_schedule_each(tp_conn *conn, tp_schedule_fn see, void *arg);
/* The first planned time of rule after the time after_ms; needs no database. time_zone NULL: UTC. TP_NONE:
 * never again. TP_MISUSE: the rule or the time zone cannot be read, the text says where. */
TP_API TP_CHECKED tp_status tp_schedule_next(const char *rule, const char *time_zone, int64_t after_ms,
                                             int64_t *next_ms);
/* The same of a schedule that need not be in the pool, whose calendar is: the first time after after_ms at
 * which it fires. Reads name (for texts), rule, time_zone, calendar and closed. TP_MISUSE also: the calendar
 * is not there, or does not know the days. */
TP_API TP_CHECKED tp_status tp_schedule_planned(tp_conn *conn, const tp_schedule *schedule, int64_t after_ms,
                                                int64_t *next_ms);
/* Fires what is due; due_at of a task is its planned time. Each planned time fires once, however many
 * processes ask: the task is inserted and the schedule advanced in one transaction, so not inside an explicit
 * one (TP_MISUSE). fired (may be NULL) gets the number of tasks. wait_ms (may be NULL): until the next one,
 * -1 when there is none. TP_MISUSE also: a row that somebody changed cannot be read; TP_DB also: the database
 * refuses its task; TP_TIMEOUT, TP_CONFLICT also: another session has its row. The text names it; the others
 * were fired (after a few such waits the next call goes on), and fired and wait_ms are set. Workers do this
 * by themselves (tp_worker_options.schedules). */
TP_API TP_CHECKED tp_status tp_schedule_fire(tp_conn *conn, size_t *fired, int64_t *wait_ms);
/* Makes one task of the schedule now, due at once, which is its last task from then on; also of one that is
 * paused. What is planned stays as it is. id is a UUID that the task gets: asked again with it the call makes
 * no second task. TP_CONFLICT: its last task is open, and it is alone (after ... is so by itself), or
 * somebody fired it meanwhile. TP_NONE: no such schedule. TP_EXISTS: another task has the id. dry_run: only
 * looks; id may be NULL. Recorded as fired when tp_conn_actor named somebody; else asked again finds its task
 * only while it is the last. Outside an explicit transaction only. */
TP_API TP_CHECKED tp_status tp_schedule_fire_one(tp_conn *conn, const char *name, const char *id,
                                                 int dry_run);

/* ---- The state table -------------------------------------------------------------------------------- */

/* Hands the table by which every state is decided to write, line by line, as a Markdown table. What no line
 * names changes nothing. Needs no database. */
TP_API void tp_fsm_print(tp_text_fn write, void *arg);

/* ---- Tests of applications --------------------------------------------------------------------------- */

/* Lets time pass for the pool without waiting: every due time, lease, planned time and age there moves ms
 * into the past, as if the database's clock had been set forward. For tests. */
TP_API TP_CHECKED tp_status tp_test_advance(tp_conn *conn, int64_t ms);

/* ---- Worker ------------------------------------------------------------------------------------------ */

/* Runs handlers on threads of its own. One thread claims and feeds a bounded queue, one extends leases, one
 * settles what ended, the others run handlers. Connections: one each for these three (and one for alerts),
 * one that handlers share to read long parameters, and one for each thread whose handlers ask for the task's
 * own (tp_run_conn); each is opened when first needed and reopened for ever when lost. An enqueue in the same
 * process, or the tp_commit of its transaction, wakes it at once. With plan hold each handler thread claims
 * for itself, on its own connection. docs/worker.md has the whole. */
typedef struct tp_worker tp_worker;
typedef struct tp_run tp_run; /* one call of a handler; valid during that call, in its thread */

typedef enum tp_verdict {
    TP_RUN_DONE = 0,
    TP_RUN_FAILED = 1,
    TP_RUN_SKIPPED = 2,
    TP_RUN_LATER = 3
} tp_verdict;
/* TP_RUN_LATER puts the task back without counting a failure, due after tp_run_delay. */
typedef tp_verdict (*tp_handler_fn)(tp_run *run, void *arg);

/* The events that a worker sends to its owner. X(enumerator, "name") */
#define TP_EVENT_LIST(X)                                                                                     \
    X(TP_EVENT_CLAIMED, "claimed")                                                                           \
    X(TP_EVENT_DONE, "done")                                                                                 \
    X(TP_EVENT_RETRY, "retry")                                                                               \
    X(TP_EVENT_GAVE_UP, "gave-up")                                                                           \
    X(TP_EVENT_SKIPPED, "skipped")                                                                           \
    X(TP_EVENT_RELEASED, "released")                                                                         \
    X(TP_EVENT_LOST, "lost")                                                                                 \
    X(TP_EVENT_OFFLINE, "offline")                                                                           \
    X(TP_EVENT_ONLINE, "online")                                                                             \
    X(TP_EVENT_ERROR, "error")                                                                               \
    X(TP_EVENT_DRAIN, "drain")
typedef enum tp_event {
#define TP_EVENT_ENUM(id, name) id,
    TP_EVENT_LIST(TP_EVENT_ENUM)
#undef TP_EVENT_ENUM
        TP_EVENT_COUNT
} tp_event;
TP_API const char *tp_event_name(tp_event event);
/* task is NULL where the event is not about one; else a copy without params (NULL). text is a reason or "".
 * Called in a thread of its own, in order, one call at a time; the worker never waits for it. Events that
 * come while 4 MiB of others wait are not delivered; TP_EVENT_ERROR then says how many, and tp_worker_about.
 * It may call tp_worker_stop and tp_worker_about, and must not join or close; task and text are valid during
 * the call only. In tp_worker_step it is called at once, in the thread that steps. */
typedef void (*tp_event_fn)(tp_event event, const tp_task *task, const char *text, void *arg);

/* A task reached the failed pool. Called at least once for each, by a worker that has the task's handler,
 * after the commit: a process that dies in between leaves it to another. 0: the alert was given; anything
 * else: to be called again a minute later. text is the reason. In a worker's own thread for it, one call at a
 * time, beside events and handlers; one that does not return holds up other alerts and tp_worker_join, and
 * nothing else.
 */
typedef int (*tp_alert_fn)(const tp_task *task, const char *text, void *arg);

/* Calls fn for tasks of these handlers that reached the failed pool and of which no alert was given yet, at
 * most limit (0: 50; at most 50), and notes those for which it answers 0. The others, and those of a process
 * that died meanwhile, are due again after a minute; of two that ask at the same time each gets others.
 * alerted (may be NULL) gets the number of calls. fn must not use conn. Outside an explicit transaction only
 * (TP_MISUSE). Workers with on_alert or on_alert_group do this by themselves. */
TP_API TP_CHECKED tp_status tp_alert_each(tp_conn *conn, const char *const *handlers, size_t handler_count,
                                          size_t limit, tp_alert_fn fn, void *arg, size_t *alerted);

/* Tasks that reached the failed pool, many in one call: what tp_alert_fn says holds for all of them together.
 * The tasks are as they failed, about in that order, without params (NULL; see tp_show) and, when one has
 * left the failed pool again, with no more than id, handler, failures, reason and modified_at, when it
 * failed. tp_batch_failures counts them by handler and reason. 0: all were alerted about; anything else:
 * called again for all of them, two minutes after they were taken. One that takes longer than that may be
 * called again for the same tasks, by another worker. */
typedef int (*tp_alert_group_fn)(const tp_batch *tasks, void *arg);

/* A row that a worker keeps about itself, for people to read. Nothing is decided by it, but that workers
 * with plan hold claim by leases for a while after one of them died. */
typedef struct tp_worker_row {
    char id[TP_ID_SIZE];
    const char *name;
    const char *host;
    const char *handlers; /* with blanks between, cut when they are too long */
    const char *plan;
    const char *state; /* running, stopping, ended, died */
    int32_t pid;
    int32_t threads;
    int32_t running; /* handlers being called */
    int64_t claimed, done, failed;
    int64_t started_at;
    int64_t seen_at;
    int64_t seen_ago_ms;
    const char *token_tag; /* the last 12 digits of all claim tokens of its process; "": an older library's */
    int64_t drain_at;      /* when somebody asked it to end; 0: nobody did */
    const char *drain_who;
} tp_worker_row;
/* All that are known, the last heard of first; those that ended or died are kept for 30 days. see must not
 * use conn. TP_NONE: there are none. */
typedef void (*tp_worker_row_fn)(const tp_worker_row *row, void *arg);
TP_API TP_CHECKED tp_status tp_worker_each(tp_conn *conn, tp_worker_row_fn see, void *arg);
/* The workers of the process that made this claim token (the owner of a task, open or settled), the last
 * heard of first; mostly one. TP_NONE: none is known. see must not use conn. */
TP_API TP_CHECKED tp_status tp_worker_of(tp_conn *conn, const char *token, tp_worker_row_fn see, void *arg);
/* When the claim of this token was made, by the clock of the machine that made it; needs no database.
 * TP_MISUSE: it is no token of a claim. */
TP_API TP_CHECKED tp_status tp_token_time(const char *token, int64_t *ms);
/* Asks workers to end as after tp_worker_stop: those that run on this host, or have this name or id. Each
 * sees it within ten seconds, one that is stepped with its first tp_worker_step after them. Workers that
 * start later are not asked. Recorded in the history. asked (may be NULL) gets how many. TP_NONE: no such
 * worker runs. Outside an explicit transaction only (TP_MISUSE). */
TP_API TP_CHECKED tp_status tp_drain(tp_conn *conn, const char *host_or_worker, const char *who,
                                     size_t *asked);

/* A task that is being handled. */
typedef struct tp_running {
    char id[TP_ID_SIZE];
    const char *handler;
    const char *biz_key;
    char owner[TP_ID_SIZE]; /* the claim token */
    int32_t failures;
    int64_t wanted_at;  /* since when it had been due when it was claimed; 0: claimed by an older library */
    int64_t claimed_at; /* tp_token_time of owner; 0: not a token */
    int64_t lapses_at;  /* when its lease lapses */
    int64_t now;        /* the database's clock */
    const tp_worker_row *worker; /* who has it; NULL: not known */
    int32_t percent;             /* how far it is, by tp_run_progress; -1: not said */
} tp_running;
typedef void (*tp_running_fn)(const tp_running *running, void *arg);
/* Filled by the caller; start from TP_RUNNING_INIT. NULL means any. */
typedef struct tp_running_request {
    size_t size;
    const char *handler;
    size_t limit; /* 0: 100; at most 100,000 */
} tp_running_request;
#define TP_RUNNING_INIT                                                                                      \
    { sizeof(tp_running_request), NULL, 0 }
/* Tasks that are being handled, those claimed first in front. Tasks of plan hold are locked and not marked,
 * so they are not among them; tp_worker_row.running counts them. request may be NULL. see must not use conn.
 * TP_NONE: there are none. */
TP_API TP_CHECKED tp_status tp_running_each(tp_conn *conn, const tp_running_request *request,
                                            tp_running_fn see, void *arg);

/* Times are counted in these buckets: up to so many ms. X(number of the bucket, ms) */
#define TP_HISTOGRAM_LIST(X)                                                                                 \
    X(0, 5)                                                                                                  \
    X(1, 20)                                                                                                 \
    X(2, 100)                                                                                                \
    X(3, 500)                                                                                                \
    X(4, 2000)                                                                                               \
    X(5, 10000)                                                                                              \
    X(6, 60000)                                                                                              \
    X(7, 600000)                                                                                             \
    X(8, 3600000)                                                                                            \
    X(9, INT64_MAX)
#define TP_HISTOGRAM_BUCKETS 10
typedef struct tp_histogram {
    int64_t sum_ms, max_ms;
    int64_t counts[TP_HISTOGRAM_BUCKETS];
} tp_histogram;

/* What workers did of one handler in a bucket of time. Each task counts once for each time it was handled. */
typedef struct tp_activity {
    int64_t since, until; /* the bucket; until is not in it */
    const char *handler;
    char worker[TP_ID_SIZE]; /* "": all together */
    int64_t done, failed, gave_up, skipped, released, lost;
    tp_histogram wait; /* from when the task was due to the start of its handler */
    tp_histogram run;  /* the handler's time */
} tp_activity;
typedef void (*tp_activity_fn)(const tp_activity *activity, void *arg);
/* Filled by the caller; start from TP_ACTIVITY_INIT. */
typedef struct tp_activity_request {
    size_t size;
    int64_t since;       /* from the minute of this time on, by the database's clock; 0: an hour ago */
    int64_t until;       /* minutes that began before this time; 0: all */
    int64_t bucket_ms;   /* rounded up to whole minutes; 0: one minute */
    int by_worker;       /* 1: each worker by itself */
    const char *handler; /* NULL: any */
    int32_t together;    /* 1: all handlers together, of which the name is ""; not with by_worker */
    int32_t reserved;    /* 0 */
} tp_activity_request;
#define TP_ACTIVITY_INIT                                                                                     \
    { sizeof(tp_activity_request), 0, 0, 0, 0, NULL, 0, 0 }
/* What workers did, by time and handler (and worker), in this order. Each worker writes what it did once a
 * minute and when it stops, so the last 70 seconds may be missing, and what a process did then that was
 * killed stays missing. Kept for 30 days, see tp_retention_set: by the minute for six hours, by ten minutes
 * up to two days, then by the hour. What was done in ten minutes, or in an hour, counts as done in the first
 * minute of it, so ask for buckets of at least that length. request may be NULL. see must not use conn.
 * TP_NONE: nothing was done. */
TP_API TP_CHECKED tp_status tp_activity_each(tp_conn *conn, const tp_activity_request *request,
                                             tp_activity_fn see, void *arg);

#define TP_HOOKS_MAX 16
/* What a program does around each call of a handler, whichever it is: to time it, set up context, trace.
 * Start from TP_HOOK_INIT. Both run in the handler's thread and may ask of run what a handler may; while they
 * run the lease is extended and the thread is busy, and nobody ends one that blocks, as with handlers. The
 * time of hooks is not part of the handler's time in tp_activity. */
typedef struct tp_hook {
    size_t size;
    /* May be NULL. TP_RUN_DONE: go on. Another verdict is that of the task: neither later hooks nor the
     * handler are called (with TP_RUN_FAILED the reason is that of tp_run_reason, else that a hook refused
     * it). *context is NULL, for this hook and this call. */
    tp_verdict (*before)(tp_run *run, void **context, void *arg);
    /* May be NULL. For each hook whose before went on (or is NULL), the last first, with the verdict, which
     * it cannot change; the task is not settled yet, and what is committed may be another: where the
     * transaction of the task was lost, handler and hooks are called again. */
    void (*after)(tp_run *run, tp_verdict verdict, void *context, void *arg);
    void *arg; /* of both */
} tp_hook;
#define TP_HOOK_INIT                                                                                         \
    { sizeof(tp_hook), NULL, NULL, NULL }

/* What is done when the queue fills up. */
typedef enum tp_full {
    TP_FULL_EXTRA_THREAD = 0, /* one handler thread more than threads_max helps while more than half of the
                               * queue is taken, and no more is claimed than there is room for */
    TP_FULL_CALLER_RUNS = 0,  /* the same, by its name in 0.2.0: no caller runs tasks any more */
    TP_FULL_ABORT = 1         /* while there is any room it claims a whole batch, and puts back what finds no
                               * place: without a failure, due again after poll_ms, for others to take */
} tp_full;

typedef enum tp_pace {
    TP_PACE_DELAY = 0, /* a pause from the end of one claim to the next */
    TP_PACE_RATE = 1   /* every poll_ms, however long the claim takes */
} tp_pace;

/* Filled by the caller; start from TP_WORKER_INIT. Zero means default. What pointers point to must live as
 * long as the worker. */
typedef struct tp_worker_options {
    size_t size;
    int threads;           /* handler threads that are always there; 0: 4; 1,000 at most */
    int threads_max;       /* up to so many while the queue is not empty (see when_full); 0: as threads */
    int64_t keep_alive_ms; /* idle threads above threads end after; 0: 60,000 */
    size_t queue;          /* tasks claimed that wait for a thread, at most; 0: 1,000; at most 1,000,000 */
    tp_full when_full;
    size_t batch;     /* tasks in one claim at most; 0: 1,000 */
    int64_t lease_ms; /* 0: 60,000; 100 at least; extended in the background while a task is in hand */
    tp_pace pace;
    int64_t poll_ms;          /* the pause; 0: 500, and hot_ms. After a full batch the next claim comes at
                               * once. Pauses are up to a tenth shorter at random */
    int64_t idle_ms;          /* while claims find nothing the pause doubles up to this; 0: as poll_ms */
    int64_t initial_delay_ms; /* before the first claim */
    const int32_t *shards;    /* only tasks of these; NULL: of all */
    size_t shard_count;
    int in_order;          /* 1: handlers in the order in which they were registered, each before the next */
    const char *plan;      /* NULL: the environment's */
    size_t settle_count;   /* completions in one transaction, 1,000 at most; 0: 100, 1: each its own */
    int64_t settle_ms;     /* how long a completion may wait for others; 0: 5 */
    const tp_retry *retry; /* for handlers without their own */
    int64_t stop_ms;       /* how long running handlers may take to end after the stop; 0: for ever */
    int schedules;         /* 1: fires schedules too */
    int drain;             /* 1: end by itself when no task of its handlers and shards is open */
    const char *name;      /* how people see it; NULL: host:pid */
    tp_event_fn on_event;  /* may be NULL */
    void *event_arg;
    tp_alert_fn on_alert; /* may be NULL */
    void *alert_arg;
    int64_t hot_ms; /* the pause follows what comes: it begins with this after a claim that found something,
                     * and is a 16th of the time since then, at most poll_ms or idle_ms (or 270 for each
                     * statement of a claim that finds nothing, if that is longer). With TP_PACE_DELAY only.
                     * 0: 1 when poll_ms is 0 too, else none, the pause is fixed */
    tp_alert_group_fn on_alert_group; /* instead of on_alert, with alert_arg; may be NULL */
    size_t alert_group_max;           /* tasks in one call at most; 0: 10,000, and no more */
    int64_t alert_group_ms; /* it is called when the first of them has waited so long, and when the worker
                             * ends; 0: for what is there at once */
    const tp_hook *hooks;   /* of the same size, the first begins; NULL: none, which costs nothing */
    size_t hook_count;      /* at most TP_HOOKS_MAX */
} tp_worker_options;
#define TP_WORKER_INIT                                                                                       \
    {                                                                                                        \
        sizeof(tp_worker_options), 0, 0, 0, 0, TP_FULL_EXTRA_THREAD, 0, 0, TP_PACE_DELAY, 0, 0, 0, NULL, 0,  \
            0, NULL, 0, 0, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, 0, NULL, 0               \
    }

/* options may be NULL. Nothing is connected yet. */
TP_API TP_CHECKED tp_status tp_worker_open(tp_env *env, const tp_worker_options *options, tp_worker **worker);
/* Before the start only. arg is handed to fn. */
TP_API TP_CHECKED tp_status tp_worker_handle(tp_worker *worker, const char *handler, tp_handler_fn fn,
                                             void *arg);
/* The same with a retry policy of its own, which also says what a crash means (on_lapse). */
TP_API TP_CHECKED tp_status tp_worker_handle_with(tp_worker *worker, const char *handler, tp_handler_fn fn,
                                                  void *arg, const tp_retry *retry);
/* Filled by the caller; start from TP_HANDLER_INIT. Zero and NULL mean default. */
typedef struct tp_handler_options {
    size_t size;
    const tp_retry *retry; /* as tp_worker_handle_with; NULL: the worker's */
    int64_t deadline_ms;   /* a task that has been due for so long is of no use any more: it is not begun, but
                            * skipped, and a handler that has it is told (TP_STOP_DEADLINE). Each retry is due
                            * anew; for all tries together give the task a deadline. 0: none */
    int64_t run_limit_ms;  /* a call that lasts longer is told (TP_STOP_TIME); five seconds later its lease is
                            * not extended any more, so that others have the task when it has lapsed, which
                            * counts as a failure. By plan hold it is told only. 0: none */
} tp_handler_options;
#define TP_HANDLER_INIT                                                                                      \
    { sizeof(tp_handler_options), NULL, 0, 0 }
/* The same with these options; NULL: none. docs/deadlines.md */
TP_API TP_CHECKED tp_status tp_worker_handle_by(tp_worker *worker, const char *handler, tp_handler_fn fn,
                                                void *arg, const tp_handler_options *options);
/* Connects, checks the schema and starts the threads. */
TP_API TP_CHECKED tp_status tp_worker_start(tp_worker *worker);
/* Asks the worker to end: nothing more is claimed, running handlers end, tasks not started are released.
 * Safe in a signal handler, from any thread, and more than once. */
TP_API void tp_worker_stop(tp_worker *worker);
/* Waits until the worker has ended, by tp_worker_stop or by drain. TP_TIMEOUT: stop_ms has passed and
 * handlers still run; their leases are not extended any more, and waiting again is allowed. So it is when
 * on_alert or on_event has not returned; alerts and events that wait then are left out. TP_MISUSE: never
 * started, or called from a handler. TP_OK does not say that all was stored: ask tp_worker_about for
 * unstored. */
TP_API TP_CHECKED tp_status tp_worker_join(tp_worker *worker);
/* Stops and joins if need be, however long handlers, on_alert and on_event take. */
TP_API void tp_worker_close(tp_worker *worker);
/* Instead of start, for tests and for programs with a loop of their own: in the calling thread fires what is
 * scheduled (if asked for), claims once, handles and settles what was claimed, and returns. handled (may be
 * NULL) gets how many tasks. TP_NONE: nothing was due. */
TP_API TP_CHECKED tp_status tp_worker_step(tp_worker *worker, size_t *handled);

typedef struct tp_worker_info {
    size_t size;
    const char *state; /* open, running, offline, stopping, ended */
    int threads;       /* handler threads now */
    int connections;   /* open now */
    size_t queued;
    size_t running;
    uint64_t claimed, done, failed, skipped, released, lost;
    uint64_t events_dropped; /* that could not be delivered, because on_event did not return in time */
    int64_t waiting_ms; /* how long the thread that waits longest has waited for the database; 0: none does */
    uint64_t unstored; /* tasks, since the start, of which it could not be stored in time what became of them,
                        * or is not known whether it was: those still open come back when their leases end,
                        * and what was done outside a transaction, as its event says, is done again then */
} tp_worker_info;
#define TP_WORKER_INFO_INIT                                                                                  \
    { sizeof(tp_worker_info), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
/* From any thread, between open and close. */
TP_API TP_CHECKED tp_status tp_worker_about(tp_worker *worker, tp_worker_info *info);
/* The work done on all connections of the worker since it was opened, lost ones too; a call counts when it
 * has ended. After tp_worker_join it is the whole. From any thread, between open and close. */
TP_API TP_CHECKED tp_status tp_worker_counters(tp_worker *worker, tp_counters *counters);

TP_API const tp_task *tp_run_task(const tp_run *run);
/* The whole parameters; the text lives until the handler returns. */
TP_API TP_CHECKED tp_status tp_run_params(tp_run *run, const char **params, size_t *length);
/* The connection of this task, with its transaction begun: what the handler writes there commits together
 * with the settle and the move to the finished pool, or not at all. The handler must not commit or roll back:
 * tp_commit, tp_rollback and tp_conn_reopen answer TP_MISUSE. Nor by a statement of its own, which nobody can
 * refuse; on MariaDB and MySQL these are TRUNCATE, CREATE, ALTER, DROP and LOCK TABLES too: what it wrote
 * before is stored then, and the handler may be called again (docs/guarantees.md).
 * When the handler does not return TP_RUN_DONE or TP_RUN_SKIPPED, it is rolled back. TP_RUN_FAILED after the
 * transaction was lost (the session, a deadlock, a database that became read-only) is no failure of the task:
 * the handler is called again, up to three times for one claim; then it counts. */
TP_API TP_CHECKED tp_status tp_run_conn(tp_run *run, tp_conn **conn);
/* Does a step's work: what it writes on conn is in the step's own transaction, which is committed when it
 * answers TP_OK, and else rolled back. It must not end the transaction, ask for tp_run_conn, or begin another
 * step. A step may be called again when its transaction was lost. */
typedef tp_status (*tp_step_fn)(tp_run *run, tp_conn *conn, void *arg);
/* A step of the handler, by its name in this task. The first time it calls fn and commits, together, what fn
 * wrote, the record that the step is done, and its result. Once that is committed it calls fn no more, not in
 * a retry and not in another process: *result (may be NULL) is then what was recorded, and lives until the
 * handler returns; "" when there was none. The commit needs the claim: a worker whose claim was lost does not
 * record a step (TP_LOST). A commit that gets no answer is looked up. After TP_LOST and after a failure that
 * may be retried it is open whether the step was done: return TP_RUN_FAILED; a later call finds out. After
 * any other failure it was not done. What fn answered, if not TP_OK, is given back. Not in plan hold
 * (TP_UNSUPPORTED), where the whole handler is one transaction; not after tp_run_conn in the same call of the
 * handler (TP_MISUSE), which may come after the steps. TP_SCHEMA: the tables are of before version 8.
 * docs/steps.md. */
TP_API TP_CHECKED tp_status tp_run_step(tp_run *run, const char *name, tp_step_fn fn, void *arg,
                                        const char **result);
/* In a step only: its result, copied, at most TP_PARAMS_MAX bytes. After a failure the step fails too. */
TP_API TP_CHECKED tp_status tp_run_step_result(tp_run *run, const char *result);
/* What the task gives back, copied, at most TP_PARAMS_MAX bytes: stored with the finished row in the
 * transaction that settles it, when the handler returns TP_RUN_DONE; else it is thrown away. The last call
 * counts; NULL and "": nothing. After a failure what was given before stays. docs/results.md. */
TP_API TP_CHECKED tp_status tp_run_result(tp_run *run, const char *result);
/* How far the task is: percent from 0 to 100 (negative: not said), and a message, cut after TP_REASON_MAX
 * bytes; NULL: none. A thread of the worker writes what was said last, at most once a second, beside the task
 * and its transaction: seen at once by tp_progress_of, also by plan hold, and removed when the run ends. It
 * does not wait for the database; that it cannot be written fails no task. Nothing is written while the run's
 * transaction is open where that lets nobody else write (sqlite). In the handler's thread, as all of run. */
TP_API void tp_run_progress(tp_run *run, int percent, const char *message);
/* Why it failed or was skipped; copied. */
TP_API void tp_run_reason(tp_run *run, const char *reason);
/* For TP_RUN_LATER. */
TP_API void tp_run_delay(tp_run *run, int64_t delay_ms);
/* With TP_RUN_FAILED: no retry can mend it, to the failed pool at once. */
TP_API void tp_run_no_retry(tp_run *run);
/* 1 when there is a cause to end soon: see tp_run_stop_cause. */
TP_API int tp_run_should_stop(const tp_run *run);
/* Why a handler should end soon; the first that holds. X(enumerator, number, "name") */
#define TP_STOP_LIST(X)                                                                                      \
    X(TP_STOP_NONE, 0, "none")           /* there is no cause */                                             \
    X(TP_STOP_LOST, 1, "lost")           /* the claim was lost: the result is thrown away */                 \
    X(TP_STOP_CANCELLED, 2, "cancelled") /* somebody cancelled the task */                                   \
    X(TP_STOP_DEADLINE, 3, "deadline")   /* the task's deadline has passed */                                \
    X(TP_STOP_TIME, 4, "time")           /* it runs for longer than its handler may */                       \
    X(TP_STOP_WORKER, 5, "worker")       /* the worker is to stop */
typedef enum tp_stop {
#define TP_STOP_ENUM(id, number, name) id = number,
    TP_STOP_LIST(TP_STOP_ENUM)
#undef TP_STOP_ENUM
        TP_STOP_FORCE_INT = 0x7fffffff
} tp_stop;
TP_API const char *tp_stop_name(tp_stop stop);
/* *text (may be NULL) gets words for people, such as who cancelled it and why; it lives until the handler
 * returns. Of a task that was cancelled, or is past its deadline, the handler decides: TP_RUN_DONE counts, it
 * is done; any other verdict ends it as skipped, for that reason and with no retry. A task that runs for less
 * than a second may not be told, and one that is stepped (tp_worker_step) is not. */
TP_API tp_stop tp_run_stop_cause(const tp_run *run, const char **text);
/* 1 when the claim was lost: another has the task, or will have. */
TP_API int tp_run_lost(const tp_run *run);

/* For programs that claim without a worker: *cause gets why the work on the claimed task should end soon,
 * TP_STOP_LOST, TP_STOP_CANCELLED, TP_STOP_DEADLINE or TP_STOP_NONE; text (may be NULL) has room for
 * TP_REASON_MAX + 1 bytes and gets words for people. After a cancel or a deadline the program decides, as a
 * handler does: tp_complete counts, and tp_fail and tp_release end the task as skipped. Asks the database by
 * two statements, by one under plan hold or when the claim is lost, so not more often than once a second.
 * conn: that of the claim; in a transaction of which the database shows what was there when it began
 * (REPEATABLE READ) later cancels are not seen. */
TP_API TP_CHECKED tp_status tp_stop_cause(tp_conn *conn, const tp_task *task, tp_stop *cause, char *text);

#ifdef __cplusplus
}
#endif

#endif
