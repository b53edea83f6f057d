/* Every call to the driver fails once. An operation is run again and again,
 * each time on tasks of its own; in run k the k-th call that can fail in the
 * way under test does so. Then it is asked again as an application would, and
 * the rows are judged over another connection. A point is one such run:
 * operation, plan, way, k. An operation is an entry in a table at the end of
 * its file. Read next: picture.h, what is judged; ops_enqueue.c, the simplest
 * operations. */
#ifndef TESTS_FAULTS_POINTS_H
#define TESTS_FAULTS_POINTS_H

#include "faults/picture.h"
#include "support/check.h"
#include "support/loan.h"
#include "support/session.h"
#include "support/sql.h"
#include "support/tasks.h"

/* X(enumerator, "column of the table at the end") */
#define WAY_LIST(X)                                                                                          \
    X(WAY_UNSENT, "unsent")           /* the connection is lost before the call is sent */                   \
    X(WAY_UNHEARD, "unheard")         /* it is done, and the connection is lost before its answer */         \
    X(WAY_KILLED, "killed")           /* the session was ended, and the driver finds out */                  \
    X(WAY_COMMIT_DONE, "done")        /* the session dies in a commit that is done */                        \
    X(WAY_COMMIT_UNDONE, "undone")    /* in one that is not */                                               \
    X(WAY_DEADLOCK, "deadlock")       /* with all that it takes back on the server */                        \
    X(WAY_LOCKED, "locked")           /* a lock was waited for too long */                                   \
    X(WAY_SERIALIZATION, "serial")    /* serialization failure */                                            \
    X(WAY_FALSE_COMMIT, "falsely ok") /* a commit that may report success and stores nothing */

enum way {
#define WAY_ENUM(id, name) id,
    WAY_LIST(WAY_ENUM)
#undef WAY_ENUM
        WAYS
};

enum { WORK_TASKS = 8, WORK_BATCHES = 4 };

/* What one run works on. Zeroed, but for the first lines, before prepare. */
struct work {
    tp_conn *conn; /* whose calls fail: ours, or the borrowed one */
    struct loan loan;
    const char *plan;                 /* NULL: the database's own choice */
    bool all;                         /* the long form */
    char ids[WORK_TASKS][TP_ID_SIZE]; /* all tasks that there may be after the run ... */
    size_t id_count;                  /* ... each of them once */
    tp_batch *batches[WORK_BATCHES];  /* freed after the run */
    size_t batch_count;
    const tp_task *tasks[WORK_TASKS]; /* claimed, in the order of ids */
    tp_new_task fresh[WORK_TASKS];
    size_t fresh_count;
    tp_claim_request request;
    char key[40];
    bool unsure; /* a commit got no answer */
    int calls;   /* of the operation so far, this one too */
    tp_status answer;
    struct picture before, now; /* before the operation; after the last call */
};

enum trait {
    TRAIT_BORROWED = 1,  /* on a borrowed connection, autocommit off; call ends by loan_commit */
    TRAIT_PIECEMEAL = 2, /* what a failure left may be half of the work */
    TRAIT_EACH_PLAN = 4, /* once for every plan with a lease */
    TRAIT_LAPSES = 8,    /* rows may be held by a token that nobody has: until their lease lapses */
    TRAIT_CONNECTS = 16, /* the call itself makes the connection anew */
    TRAIT_VARIANT = 32,  /* much like another operation: in the long form only */
};

struct operation {
    const char *name;
    unsigned traits;
    void (*prepare)(struct work *work); /* over sessions that never fail; may be NULL */
    tp_status (*call)(struct work *work);
    tp_status answer; /* when nothing fails */
    /* Compares work->now with what it must be. */
    void (*judge)(struct work *work);
    /* What the call must answer after a failure, by what is stored; NULL: the
     * same as without. */
    tp_status (*answer_again)(const struct work *work);
    /* The plan it is for; NULL: any. */
    const char *plan;
};

/* Runs all points of the operations. Fails the test when one of them was not as
 * it must be. */
void points_run(const struct operation *operations, size_t count);
#define POINTS_RUN(operations) points_run((operations), sizeof(operations) / sizeof(operations)[0])
/* One line for each operation and plan, and the totals. */
void points_print(void);
/* The long form: kills before every call, not only before those that go over
 * the wire. */
void points_all(bool all);
/* Each step-th call only, from another one for each way. */
void points_every(int step);
bool points_are_all(void);

/* ---- For operations of another form, see scene.h ------------------------------------------------------- */

/* Around them. */
void points_begin(void);
void points_end(void);
/* A line of the table, by way. */
int *points_line(const char *name);
/* The point that is tried now. */
void points_now(const char *name, enum way way, int k);

/* ---- For operations ------------------------------------------------------------------------------------ */

/* Notes what is wrong; the run goes on to its end. */
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Does the way under test speak of another session's locks? */
bool way_is_anothers(void);

/* Does it speak of what asking again does not mend? */
bool way_is_permanent(void);

/* Puts tasks; claims so many of those that are due; both. Notes their ids, and
 * the claimed tasks. */
void work_put(struct work *work, size_t count);
void work_take(struct work *work, size_t count);
void work_claimed(struct work *work, size_t count);
/* One more task to be enqueued by the operation; notes the ids of all of them.
 */
tp_new_task *work_fresh(struct work *work);
void work_note_fresh(struct work *work);

/* Judges of the first task: enqueued, completed or failed once, with its effect. */
void judge_ordered(struct work *work);
void judge_paid(struct work *work);
void judge_failed(struct work *work);
void judge_paid_by_key(struct work *work);

/* The application's own statement and commit on work->conn: calls that fail
 * like the library's. */
tp_status own_statement(struct work *work, const char *format, ...) __attribute__((format(printf, 2, 3)));
tp_status loan_commit(struct work *work);
/* Begins, calls body and commits. Sets work->unsure when the commit got no
 * answer. What body answered, or what failed. */
tp_status in_transaction(struct work *work, tp_status (*body)(struct work *work));

#endif
