/*
 * taskpool.h: a task pool inside the database that an application already has.
 *
 * A task is a row: a handler name, parameters and a due time. Many workers on many machines claim tasks;
 * each claim carries a lease and a fresh token, and everything that ends a task names that token, so a worker
 * that was given up for dead can never finish over its successor. Finished rows leave the pending pool in
 * the transaction that settles them.
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
#define TP_VERSION_MINOR 1
#define TP_VERSION_PATCH 0
#define TP_VERSION       "0.1.0"

#if defined(__GNUC__)
#define TP_API     __attribute__((visibility("default")))
#define TP_CHECKED __attribute__((warn_unused_result))
#else
#define TP_API
#define TP_CHECKED
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, number, "name", may the same call be asked again with hope, "meaning") */
#define TP_STATUS_LIST(X)                                                                                    \
    X(TP_OK, 0, "ok", 0, "done")                                                                             \
    X(TP_NONE, 1, "none", 0, "nothing was there to take or to show")                                         \
    X(TP_EXISTS, 2, "exists", 0, "already there; nothing was written")                                       \
    X(TP_SPENT, 3, "spent", 0, "retries are spent; the task is in the failed pool")                          \
    X(TP_LOST, -1, "lost", 0, "the claim is no longer yours; nothing was changed")                           \
    X(TP_CONFLICT, -2, "conflict", 1, "another session got in the way; nothing was changed")                 \
    X(TP_TIMEOUT, -3, "timeout", 1, "a lock or the server did not answer in time; nothing was changed")      \
    X(TP_DISCONNECTED, -4, "disconnected", 1, "no connection; reopen it and ask again")                      \
    X(TP_SCHEMA, -5, "schema", 0, "the pool's tables are missing or of another version")                     \
    X(TP_UNSUPPORTED, -6, "unsupported", 0, "this database, driver or plan cannot do it")                    \
    X(TP_TOOBIG, -7, "toobig", 0, "a value is longer than its limit; nothing was written")                   \
    X(TP_MISUSE, -8, "misuse", 0, "an argument or the order of calls is wrong")                              \
    X(TP_NOMEM, -9, "nomem", 0, "out of memory")                                                             \
    X(TP_DB, -10, "db", 0, "the database or its driver reported an error")

typedef enum tp_status {
#define TP_STATUS_ENUM(id, number, name, again, text) id = number,
    TP_STATUS_LIST(TP_STATUS_ENUM)
#undef TP_STATUS_ENUM
        TP_STATUS_FORCE_INT = 0x7fffffff
} tp_status;

/* Names and meanings of the list above; never NULL. */
TP_API const char *tp_status_name(tp_status status);
TP_API const char *tp_status_text(tp_status status);
/* 1 when the failure may pass by itself, so that asking again makes sense. */
TP_API int tp_status_may_retry(tp_status status);

/* The version of the library that is loaded, "0.1.0". */
TP_API const char *tp_version(void);

#define TP_ID_SIZE            37            /* a UUID as text, and its NUL */
#define TP_HANDLER_MAX        64            /* bytes; letters, digits and . _ : - */
#define TP_KEY_MAX            128           /* bytes of biz_key and dedup_key */
#define TP_REASON_MAX         512           /* bytes; longer reasons are cut on a character boundary */
#define TP_PARAMS_MAX         (1024 * 1024) /* bytes of params */
#define TP_PREFIX_MAX         16            /* bytes of the table prefix */
#define TP_DURATION_MAX       INT64_C(3155760000000)   /* ms; 100 years */
#define TP_TIME_MAX           INT64_C(253402300799999) /* the end of the year 9999 */
#define TP_CLAIM_MAX          1000                     /* tasks in one claim */
#define TP_CLAIM_HANDLERS_MAX 64                       /* handlers in one claim */

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
 *   Plan=row|batch|skip|cas                        absent: the dialect's own choice
 * Values with special characters stand in braces, }} is one closing brace. Nothing is connected yet.
 * TP_MISUSE: the string cannot be read, or a key or value is not known. */
TP_API TP_CHECKED tp_status tp_env_open(const char *connection_string, tp_env **env);
/* Every connection and worker of the environment must have been closed before. */
TP_API void tp_env_close(tp_env *env);

/* ---- Connections ------------------------------------------------------------------------------------- */

typedef struct tp_conn tp_conn;

/* Opens a connection of its own and sets the session up so that the driver tells the truth (read committed,
 * UTF-8, durable commits). Does not look at the schema: see tp_schema_check.
 * TP_DISCONNECTED: unreachable or refused, the text says which. TP_UNSUPPORTED: dialect, plan or a driver
 * setting that cannot work. A borrowed connection: taskpool_odbc.h. */
TP_API TP_CHECKED tp_status tp_conn_open(tp_env *env, tp_conn **conn);
/* Drops the session and makes a new one; an open transaction is rolled back by the database. */
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
    const char *dbms_name;
    const char *dbms_version;
    const char *driver_name;
    const char *driver_version;
    const char *profile; /* the driver profile in use */
} tp_conn_info;
TP_API const tp_conn_info *tp_conn_about(const tp_conn *conn);

/* Work done on a connection since it was opened; reopening goes on counting. round_trips are counted by
 * the driver profile's knowledge of its driver, not measured. */
typedef struct tp_counters {
    uint64_t odbc_calls;
    uint64_t statements;
    uint64_t round_trips;
    uint64_t commits;
    uint64_t rollbacks;
    uint64_t errors;
} tp_counters;
TP_API const tp_counters *tp_conn_counters(const tp_conn *conn);

/* ---- Schema ------------------------------------------------------------------------------------------ */

/* The schema version this library works with. */
TP_API int tp_schema_version(void);
/* Creates what is missing, up to tp_schema_version(). Drops nothing, may be asked again.
 * TP_SCHEMA: the tables there are of a newer version. */
TP_API TP_CHECKED tp_status tp_schema_install(tp_conn *conn);
/* TP_SCHEMA when the tables are missing or of another version. */
TP_API TP_CHECKED tp_status tp_schema_check(tp_conn *conn);
/* Hands the dialect's scripts to write, piece by piece, in the order in which they would run, with the
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
    int32_t failures;     /* so far */
    int32_t max_failures; /* of the task itself, 0: the worker's policy decides */
    int64_t due_at;       /* while handling: when the lease lapses */
    int64_t created_at;
    int64_t modified_at; /* only from tp_list and tp_show */
    int64_t settled_at;  /* 0 in the pending pool; only from tp_list and tp_show */
} tp_task;

typedef struct tp_batch tp_batch;

TP_API size_t tp_batch_count(const tp_batch *batch);
/* NULL when i is not below the count. */
TP_API const tp_task *tp_batch_task(const tp_batch *batch, size_t i);
TP_API void tp_batch_free(tp_batch *batch);

/* ---- Enqueue ----------------------------------------------------------------------------------------- */

/* Filled by the caller; start from TP_NEW_TASK_INIT. Zero and NULL mean default. */
typedef struct tp_new_task {
    size_t size;
    const char *handler;   /* required */
    const char *params;    /* "" when NULL */
    const char *biz_key;   /* the business row it is about */
    const char *dedup_key; /* at most one open task per key */
    int32_t shard;
    int32_t priority;     /* -32768 to 32767 */
    int32_t max_failures; /* 0: the worker's policy */
    int64_t delay_ms;     /* due that long after now, by the database's clock */
    int64_t due_at;       /* or due at that time; not both */
    const char *own_id;   /* the caller's own UUID for it; NULL: the library makes one */
    char id[TP_ID_SIZE];  /* set by the library, before it asks the database */
    uint64_t answered;    /* set by the library: 0 while there is no answer */
} tp_new_task;
#define TP_NEW_TASK_INIT                                                                                     \
    { sizeof(tp_new_task), NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, NULL, {0}, 0 }

/* Puts one task into the pending pool. After a failure, the same call with the same struct asks again: it
 * first finds out whether the task is there, in any pool. So it does after a tp_commit on this connection
 * that got no answer. After any other answer the struct stands for a new task, unless own_id says which. On a
 * borrowed connection only the caller knows what was committed: ask again with own_id set to id. TP_EXISTS: a
 * task with this id, or an open one with this dedup_key, is there; nothing was written. */
TP_API TP_CHECKED tp_status tp_enqueue(tp_conn *conn, tp_new_task *task);
/* The same for many, all or none, set-based. inserted (may be NULL) gets how many were new; the rest were
 * there. */
TP_API TP_CHECKED tp_status tp_enqueue_many(tp_conn *conn, tp_new_task *tasks, size_t count,
                                            size_t *inserted);

/* ---- Retry policy ------------------------------------------------------------------------------------ */

/* After failure k the task is due again after delays_ms[k-1]; after the last delay it goes to the failed pool
 * with the next failure. NULL where a policy is asked for: 1, 5, 20 minutes. count 0: no retry. */
typedef struct tp_retry {
    size_t size;
    const int64_t *delays_ms;
    size_t count;
} tp_retry;

/* ---- Claim ------------------------------------------------------------------------------------------- */

/* Filled by the caller; start from TP_CLAIM_INIT. */
typedef struct tp_claim_request {
    size_t size;
    const char *const *handlers; /* required: the handlers to take tasks of */
    size_t handler_count;
    size_t limit;           /* at most so many tasks; 0: 100 */
    int64_t lease_ms;       /* 0: 60,000 */
    const tp_retry *retry;  /* says when a lapsed lease was the last failure */
    const char *plan;       /* NULL: the environment's */
    char token[TP_ID_SIZE]; /* "": the library makes one before it asks, and empties it when it has the answer
                             */
} tp_claim_request;
#define TP_CLAIM_INIT                                                                                        \
    {                                                                                                        \
        sizeof(tp_claim_request), NULL, 0, 0, 0, NULL, NULL, {                                               \
            0                                                                                                \
        }                                                                                                    \
    }

/* Takes the first due tasks in (priority, due_at, id) order; a plan that marks many at once hands them out in
 * (priority, id) order. A task whose lease lapsed is taken with one failure more, or moved to the failed pool
 * when that was the last. TP_NONE: nothing due. With the token left from a failed try, returns first what
 * that try took; what the server is still at then comes back when its lease lapses. Outside an explicit
 * transaction only (TP_MISUSE). */
TP_API TP_CHECKED tp_status tp_claim(tp_conn *conn, tp_claim_request *request, tp_batch **batch);

/* The whole parameters of a claimed task (the pointer that tp_batch_task gave, not a copy), read now if the
 * claim left them out. The text lives as long as the batch. TP_LOST: the claim is gone. */
TP_API TP_CHECKED tp_status tp_task_params(tp_conn *conn, const tp_task *task, const char **params,
                                           size_t *length);

/* ---- Settle ------------------------------------------------------------------------------------------ */

/* Each names id, state and token of the task as claimed, and is one transaction (or part of the explicit one)
 * with the move to the other pool. TP_LOST: the claim lapsed and another has the task, or it is settled
 * otherwise; nothing was changed. When this very settle was done by an earlier try that got no answer: TP_OK;
 * but TP_CONFLICT inside an explicit transaction, which can then only be rolled back, because what it wrote
 * is in the earlier one too. reason may be NULL. */
TP_API TP_CHECKED tp_status tp_complete(tp_conn *conn, const tp_task *task);
TP_API TP_CHECKED tp_status tp_skip(tp_conn *conn, const tp_task *task, const char *reason);
/* Counts a failure. TP_SPENT: it was the last, the task is in the failed pool. */
TP_API TP_CHECKED tp_status tp_fail(tp_conn *conn, const tp_task *task, const char *reason,
                                    const tp_retry *retry);
/* Puts the task back without counting a failure, due after delay_ms. */
TP_API TP_CHECKED tp_status tp_release(tp_conn *conn, const tp_task *task, int64_t delay_ms);
/* The lease now lapses lease_ms from now, if that is later than before. */
TP_API TP_CHECKED tp_status tp_extend(tp_conn *conn, const tp_task *task, int64_t lease_ms);
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
    int64_t due;    /* of these, claimable now */
    int64_t oldest; /* smallest created_at */
} tp_stat;
/* One call of see per pool, handler and state. The finished pool is counted only when asked for: it holds
 * history. see must not use conn. */
typedef void (*tp_stat_fn)(const tp_stat *stat, void *arg);
TP_API TP_CHECKED tp_status tp_stats(tp_conn *conn, int with_finished, tp_stat_fn see, void *arg);

/* Filled by the caller; start from TP_LIST_INIT. NULL means any. */
typedef struct tp_list_request {
    size_t size;
    const char *pool; /* pending (default), finished, failed */
    const char *handler;
    const char *state;
    const char *biz_key;
    const char *after_id; /* tasks with a greater id only: the last id of the page before */
    size_t limit;         /* 0: 100; at most 1000 */
} tp_list_request;
#define TP_LIST_INIT                                                                                         \
    { sizeof(tp_list_request), NULL, NULL, NULL, NULL, NULL, 0 }
/* Tasks of one pool in id order, long params left out. TP_NONE: no such task. */
TP_API TP_CHECKED tp_status tp_list(tp_conn *conn, const tp_list_request *request, tp_batch **batch);
/* One task with its whole params, from whichever pool holds it. TP_NONE: no such id. */
TP_API TP_CHECKED tp_status tp_show(tp_conn *conn, const char *id, tp_batch **batch);

/* ---- Worker ------------------------------------------------------------------------------------------ */

/* Runs handlers on threads of its own. One thread claims and feeds a bounded queue, one extends the leases of
 * tasks in hand, the others run handlers; each has its own connection, opened when first needed and
 * reopened for ever when lost. */
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

/* What a worker tells its owner. X(enumerator, "name") */
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
    X(TP_EVENT_ERROR, "error")
typedef enum tp_event {
#define TP_EVENT_ENUM(id, name) id,
    TP_EVENT_LIST(TP_EVENT_ENUM)
#undef TP_EVENT_ENUM
        TP_EVENT_COUNT
} tp_event;
TP_API const char *tp_event_name(tp_event event);
/* task is NULL where the event is not about one. text is a reason or "". Called from the worker's threads,
 * one call at a time. It may call tp_worker_stop, and must not join or close; text is valid during the call
 * only. */
typedef void (*tp_event_fn)(tp_event event, const tp_task *task, const char *text, void *arg);

/* Filled by the caller; start from TP_WORKER_INIT. Zero means default. */
typedef struct tp_worker_options {
    size_t size;
    int threads;           /* handler threads; 0: 4 */
    size_t batch;          /* tasks in one claim; 0: 100 */
    int64_t lease_ms;      /* 0: 60,000; extended in the background while a task is in hand */
    int64_t poll_ms;       /* pause after a claim that found less than a batch; 0: 1,000 */
    const tp_retry *retry; /* must live as long as the worker */
    int drain;             /* 1: end by itself when no task of its handlers is open */
    tp_event_fn on_event;  /* may be NULL */
    void *event_arg;
} tp_worker_options;
#define TP_WORKER_INIT                                                                                       \
    { sizeof(tp_worker_options), 0, 0, 0, 0, NULL, 0, NULL, NULL }

/* options may be NULL. Nothing is connected yet. */
TP_API TP_CHECKED tp_status tp_worker_open(tp_env *env, const tp_worker_options *options, tp_worker **worker);
/* Before the start only. arg is handed to fn. */
TP_API TP_CHECKED tp_status tp_worker_handle(tp_worker *worker, const char *handler, tp_handler_fn fn,
                                             void *arg);
/* Connects, checks the schema and starts the threads. */
TP_API TP_CHECKED tp_status tp_worker_start(tp_worker *worker);
/* Asks the worker to end: nothing more is claimed, running handlers end, tasks not started are released.
 * Safe in a signal handler, from any thread, and more than once. */
TP_API void tp_worker_stop(tp_worker *worker);
/* Waits until the worker has ended, by tp_worker_stop or by drain. TP_MISUSE: never started, or called from a
 * handler. */
TP_API TP_CHECKED tp_status tp_worker_join(tp_worker *worker);
/* Stops and joins if need be. */
TP_API void tp_worker_close(tp_worker *worker);

TP_API const tp_task *tp_run_task(const tp_run *run);
/* The whole parameters; the text lives until the handler returns. */
TP_API TP_CHECKED tp_status tp_run_params(tp_run *run, const char **params, size_t *length);
/* The connection of this task, with its transaction begun: what the handler writes there commits together
 * with the settle and the move to the finished pool, or not at all. The handler must not commit or roll back.
 * When the handler does not return TP_RUN_DONE or TP_RUN_SKIPPED, it is rolled back. */
TP_API TP_CHECKED tp_status tp_run_conn(tp_run *run, tp_conn **conn);
/* Why it failed or was skipped; copied. */
TP_API void tp_run_reason(tp_run *run, const char *reason);
/* For TP_RUN_LATER. */
TP_API void tp_run_delay(tp_run *run, int64_t delay_ms);
/* 1 when the worker is to stop or the claim was lost: end soon, the result of a lost claim is thrown away. */
TP_API int tp_run_should_stop(const tp_run *run);

#ifdef __cplusplus
}
#endif

#endif
