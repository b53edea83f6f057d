/* One call to the driver, or one allocation, fails in an operation. An operation is run again and again, each
 * time on an empty pool; in run k the k-th call that can fail in the way under test does so. Then it is
 * called again as an application would, and the tables are judged over another connection. A point is one
 * such run: operation, plan, way, k. In a pair the next try fails too. Operations are entries in a table at
 * the end of their files, ops_NAME.c. Read next: ops_enqueue.c, the simplest operations; snapshot.h, what is
 * judged; points.h, what runs them. */
#ifndef TESTS_FAULTS_OPERATION_H
#define TESTS_FAULTS_OPERATION_H

#include "faults/snapshot.h"
#include "support/check.h"
#include "support/session.h"
#include "support/sql.h"
#include "support/tasks.h"

/* X(enumerator, "its name in --ways and in the table at the end") */
#define WAY_LIST(X)                                                                                          \
    X(WAY_UNSENT, "unsent")         /* the connection is lost before the call is sent */                     \
    X(WAY_UNHEARD, "unheard")       /* it is done, and the connection is lost before its answer */           \
    X(WAY_KILLED, "killed")         /* the session was ended, and the driver finds out */                    \
    X(WAY_COMMIT_DONE, "done")      /* the session dies in a commit that is done */                          \
    X(WAY_COMMIT_UNDONE, "undone")  /* in one that is not */                                                 \
    X(WAY_DEADLOCK, "deadlock")     /* with all that it takes back on the server */                          \
    X(WAY_LOCKED, "locked")         /* a lock was waited for too long */                                     \
    X(WAY_SERIALIZATION, "serial")  /* serialization failure */                                              \
    X(WAY_FALSE_COMMIT, "false-ok") /* a commit that may report success and stores nothing */                \
    X(WAY_FORGOTTEN, "forgotten")   /* the server no longer knows what was prepared */                       \
    X(WAY_ALLOCATION, "allocation") /* no call to the driver: the system gives no memory, file or thread */

enum way {
#define WAY_ENUM(id, name) id,
    WAY_LIST(WAY_ENUM)
#undef WAY_ENUM
        WAYS
};

enum { WORK_TASKS = 64, WORK_BATCHES = 8 };

/* What one run works on. Zeroed before prepare, but for conn, plan, key and request. */
struct work {
    tp_conn *conn; /* whose calls fail: ours, or the borrowed one */
    struct loan loan;
    const char *plan;                 /* NULL: the database's own choice */
    char key[40];                     /* of this run only: for a key, a schedule, a worker */
    char ids[WORK_TASKS][TP_ID_SIZE]; /* all tasks that there may be after the run ... */
    size_t id_count;                  /* ... each of them once */
    tp_batch *batches[WORK_BATCHES];  /* freed after the run */
    size_t batch_count;
    const tp_task *tasks[WORK_TASKS]; /* claimed, in the order of ids */
    tp_new_task fresh[WORK_TASKS];
    size_t fresh_count;
    tp_new_task asked[WORK_TASKS]; /* what an application stores: fresh before the first call, ... */
    tp_task stored[WORK_TASKS];    /* ... and of a claimed task what a settle needs */
    tp_claim_request request;
    tp_env *env; /* these are closed after the run */
    tp_conn *other;
    tp_worker *worker;
    struct pool_raw raw;
    char file[512];
    int64_t number; /* what the call has counted */
    bool unsure;    /* a commit got no answer */
    int calls;      /* of the operation so far, this one too */
    tp_status answer;
    struct snapshot before, now; /* before the operation; after the last call */
};

enum trait {
    /* How it is called. */
    TRAIT_TRANSACTION = 1 << 0, /* in an explicit transaction, which is committed when the call went well */
    TRAIT_BORROWED = 1 << 1,    /* in a transaction of the application's, on its own connection */
    TRAIT_SETTLES = 1 << 2,     /* the transaction settles the first task: after a commit without an answer it
                                   is asked whether it did, before it is begun again */
    TRAIT_IGNORES_ANSWER = 1 << 3, /* the call does not look at all answers; that of the commit tells */
    TRAIT_CONNECTS = 1 << 4,       /* it makes the connection anew */
    TRAIT_SESSIONS = 1 << 5,       /* it opens sessions, and any call of any of them is meant */
    TRAIT_SHARED = 1 << 6,    /* the application has had the handle of the connection, so the library looks
                                whether a statement of the application's has ended the transaction */
    TRAIT_POINTERS = 1 << 15, /* it takes the pointers that the claim gave */
    /* What is left out, and what comes more than once. */
    TRAIT_ALLOCATIONS = 1 << 7, /* no call to the driver is made to fail, for the reason that stands there */
    TRAIT_SQLITE = 1 << 8,      /* SQLite alone: it is the same on every database */
    TRAIT_EXPENSIVE = 1 << 9,   /* long, or much like another: see points.h */
    TRAIT_EACH_PLAN = 1 << 10,  /* once for every plan with a lease */
    TRAIT_ALSO_HOLD = 1 << 11,  /* once more by plan hold */
    /* What cannot be judged. */
    TRAIT_PIECEMEAL = 1 << 12, /* what a failure left may be half of the work */
    TRAIT_OWN_IDS = 1 << 16,   /* the dialect must make ids: generic is left out */
    TRAIT_NO_TABLES = 1 << 13  /* tables are missing before it has answered: nothing can be compared */
};

/* One operation. An entry of a table ends where the rest is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
struct operation {
    const char *name;
    unsigned traits;
    void (*prepare)(struct work *work); /* over sessions that never fail; may be NULL */
    tp_status (*call)(struct work *work);
    tp_status answer; /* when nothing fails */
    /* Compares work->now with what it must be. */
    void (*judge)(struct work *work);
    /* What the call must answer after a failure, by what is stored; NULL: the same as without. */
    tp_status (*answer_again)(const struct work *work);
    const char *plan; /* NULL: any; else only where that plan is possible */
    /* What comes next in the application once there is an answer; nothing fails any more. May be NULL. */
    void (*finish)(struct work *work);
    void (*clear)(struct work *work); /* after the run; may be NULL */
};

static inline bool operation_is(const struct operation *operation, enum trait trait) {
    return operation->traits & trait;
}

/* A call, and what is prepared or judged, where that is one expression of work. */
#define CALL(name, expression)                                                                               \
    static tp_status name(__attribute__((unused)) struct work *work) {                                       \
        return expression;                                                                                   \
    }
#define STEP(name, expression)                                                                               \
    static void name(__attribute__((unused)) struct work *work) {                                            \
        expression;                                                                                          \
    }

/* ---- The groups ---------------------------------------------------------------------------------------- */

struct group {
    const char *name;
    void (*test)(void **state); /* an operation */
    const struct operation *operations;
    size_t count;
};

/* X(group) */
#define GROUP_LIST(X)                                                                                        \
    X(enqueue)                                                                                               \
    X(settle)                                                                                                \
    X(gates)                                                                                                 \
    X(groups)                                                                                                \
    X(cancel)                                                                                                \
    X(deadline)                                                                                              \
    X(claim)                                                                                                 \
    X(hold)                                                                                                  \
    X(tx)                                                                                                    \
    X(borrow)                                                                                                \
    X(look)                                                                                                  \
    X(operators)                                                                                             \
    X(adopt)                                                                                                 \
    X(changes)                                                                                               \
    X(approvals)                                                                                             \
    X(schedules)                                                                                             \
    X(schema)                                                                                                \
    X(workers)

#define GROUP_DECLARE(name) extern const struct group name##_group;
GROUP_LIST(GROUP_DECLARE)
#undef GROUP_DECLARE

/* Ends a file: its operations, and the name of the test that runs one of them in every way in which calls
 * fail. */
#define OPERATION_GROUP(name, test, operations)                                                              \
    static void test(void **state) {                                                                         \
        points_of_calls(*state);                                                                             \
    }                                                                                                        \
    const struct group name##_group = {#name, (test), (operations),                                          \
                                       sizeof(operations) / sizeof(operations)[0]}

/* In the test of a group: all points of one operation, in those ways of the run in which calls fail. Fails
 * the test when one of them was not as it must be. */
void points_of_calls(const struct operation *operation);

/* ---- What calls and judges ask ------------------------------------------------------------------------- */

/* Notes what is wrong; the run goes on to its end. */
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define want_number(got, wanted) judge_number((int64_t)(got), (int64_t)(wanted), #got)
void judge_number(int64_t got, int64_t wanted, const char *what);

/* An address that nobody has, and a number: what a call must not touch when it fails. */
#define UNTOUCHED(type) ((type *)(void *)&untouched_mark)
extern char untouched_mark;
enum { MARK = -77 };
#define want_untouched(status, pointer)                                                                      \
    judge_untouched((status), (const void *)(pointer) == (const void *)&untouched_mark, #pointer)
#define want_untouched_number(status, number) judge_untouched((status), (int64_t)(number) == MARK, #number)
void judge_untouched(tp_status status, bool untouched, const char *what);

/* Does the way under test speak of another session's locks? */
bool way_is_anothers(void);
/* Does it speak of what calling again does not mend? */
bool way_is_permanent(void);
bool way_is_allocation(void);
/* Has something failed in this run? */
bool has_failed(void);

/* ---- What operations prepare, over sessions that never fail -------------------------------------------- */

/* Puts tasks; claims so many of those that are due; both. Notes their ids, and the claimed tasks. */
void work_put(struct work *work, size_t count);
void work_put_long(struct work *work, size_t length);
void work_take(struct work *work, size_t count);
void work_claimed(struct work *work, size_t count);
/* Their leases have lapsed, and nobody knows their tokens. */
void work_lapsed(struct work *work, size_t count);
/* One more task to be enqueued by the operation; notes the ids of all of them. */
tp_new_task *work_fresh(struct work *work);
void work_note_fresh(struct work *work);
/* Notes the ids of tasks that the operation has made by itself. */
void work_note_made(struct work *work);
void one_put(struct work *work);
void three_put(struct work *work);
void one_claimed(struct work *work);
void three_claimed(struct work *work); /* by two claims */
void one_failed(struct work *work);    /* once */
void one_given_up(struct work *work);
void three_given_up(struct work *work);
void one_finished(struct work *work);
void three_finished(struct work *work);
void three_in_order(struct work *work); /* one of them with long params; the claim asks for the order */
void two_lapsed(struct work *work);
/* Text of so many letters x. */
const char *long_text(size_t length);
/* Takes from the session what it keeps of earlier calls, so that call k is the same in every run. */
void forget_all(tp_conn *conn);

/* Longer than sixty-four bytes, so that any buffer has to grow; the second is rewritten, so that it is not
 * taken for a lapse. */
extern const char long_reason[], reason_like_a_lapse[];
extern const tp_retry no_retry;

/* ---- Calls of several groups --------------------------------------------------------------------------- */

tp_status enqueue_fresh(struct work *work);     /* the first alone */
tp_status enqueue_all_fresh(struct work *work); /* in one call */
tp_status claim_nothing(struct work *work);
tp_status sweep_cancelled(struct work *work);

/* ---- What several must find stored ----------------------------------------------------------------------
 */

void are_pending(struct work *work);    /* all tasks, and there is no event */
void lapses_gave_up(struct work *work); /* both lapses were the last */
/* TP_EXISTS: the first task is stored. */
tp_status there_or_not(const struct work *work);

/* ---- The application's own calls ----------------------------------------------------------------------- */

/* A statement and a commit on work->conn: calls that fail like the library's. */
tp_status own_statement(struct work *work, const char *format, ...) __attribute__((format(printf, 2, 3)));
tp_status own_commit(struct work *work);
/* Its effect of the task. */
tp_status own_effect(struct work *work, const char *task_id);

#endif
