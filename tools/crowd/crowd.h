/* A crowd: processes with threads that all live on one pool at the same time. What becomes of a task is
 * decided by its id alone, so the end is known before: most are done with one effect, some fail once before,
 * some are given up and some skipped. Now and then a claim is put back or extended. */
#ifndef TOOLS_CROWD_CROWD_H
#define TOOLS_CROWD_CROWD_H

#include "crowd/board.h"
#include "support/pool.h"

/* What a task is to come to. X(enumerator, how many of 1000 ids) */
#define CROWD_FATE_LIST(X)                                                                                   \
    X(CROWD_FAIL_FIRST, 40)                                                                                  \
    X(CROWD_GIVE_UP, 5)                                                                                      \
    X(CROWD_SKIP, 5)                                                                                         \
    X(CROWD_DO, 950)

enum crowd_fate {
#define CROWD_FATE_ENUM(id, share) id,
    CROWD_FATE_LIST(CROWD_FATE_ENUM)
#undef CROWD_FATE_ENUM
        CROWD_FATES
};
enum crowd_fate crowd_fate(const char *id);
/* Of workers' tasks only these have an effect when they are done. */
bool crowd_pays(const char *id);

/* So that no lease lapses, whatever the machine is busy with. */
enum { CROWD_LEASE_MS = 1800000 };

/* The tasks' two handlers: pool.handler and one more. */
enum { CROWD_HANDLERS = 2 };
void crowd_handlers(char other[TP_HANDLER_MAX], const char *handlers[CROWD_HANDLERS]);
extern const tp_retry crowd_retry; /* at once, for ever */

/* The effect of a task; counts what goes wrong. */
bool crowd_effect(tp_conn *conn, const tp_task *task);

/* Something is broken: tells the parent and has all end. */
void crowd_break(struct board *board, const char *what);

/* In a child: until all tasks are settled. form is "threads" or "worker". Its exit status. */
int crowd_child(char **arguments);
void crowd_threads(struct board *board, int threads);
void crowd_worker(struct board *board, int threads);

/* ---- Judging, when it has ended: the board by itself, the tables by plain SQL, and both together ---------
 */

/* How the tasks put are to end. */
struct judge_sums {
    size_t tasks, fates[CROWD_FATES], effects;
};

void judge_expect(struct judge_sums *sums, const char *id, bool worker);
/* Fails the test when anything is not as it must be. Sorts the board. */
void judge(struct board *board, const struct judge_sums *sums, bool worker);
/* One line of figures, and one for each kind of failure. */
void judge_report(const struct board *board, const char *form, double seconds);

#endif
