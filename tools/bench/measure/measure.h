/* What the parts of the program measure share: the tasks that they put in, claim and complete on the pool's
 * session a, and the clock. Knows nothing of what is measured. A part is a test, so that a call that fails
 * ends it with a message. Read next: main.c. */
#ifndef TOOLS_BENCH_MEASURE_H
#define TOOLS_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "taskpool.h"

/* X(name, "what it measures"). Each has a file with name_option and name_run. */
#define PART_LIST(X)                                                                                         \
    X(cost, "what the client and the server do for a task")                                                  \
    X(gates, "what a task with an order key, a gate or a group costs beside one without")                    \
    X(growth, "what a claim reads in pools of growing size")                                                 \
    X(snapshot, "a steady load while a transaction stays open")                                              \
    X(memory, "what the process holds while a worker runs, or while tasks queue")

/* Reads one option and its value; false: the part has none of that name. */
#define PART_DECLARE(name, text)                                                                             \
    bool name##_option(const char *option, const char *value);                                               \
    void name##_run(void **state);
PART_LIST(PART_DECLARE)
#undef PART_DECLARE

/* Puts in count tasks of the handler, at most TP_CLAIM_MAX in one call. */
void put_tasks(const char *handler, size_t count);

struct claimed {
    tp_batch *batch;
    const tp_task *task[TP_CLAIM_MAX];
    size_t count;
};
void claim_tasks(struct claimed *claimed, tp_claim_request *request);
/* Completes the tasks from the first on, and frees the batch. */
void complete_tasks(struct claimed *claimed, size_t first);
/* Claims and completes up to limit tasks, with plan hold in one transaction. plan NULL: the dialect's.
 * Returns how many. */
size_t take_tasks(const char *handler, const char *plan, size_t limit);

/* Seconds of a clock that only goes on. */
double seconds_now(void);

#endif
