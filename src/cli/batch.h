/* Tasks that are sent to the database together, with their texts, and a call that is repeated until an answer
 * comes. Must not know where tasks come from. Read next: import.c, which fills batches. */
#ifndef CLI_BATCH_H
#define CLI_BATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "taskpool.h"

struct batch {
    tp_new_task *tasks;
    char **texts; /* one block a task, which its pointers lead into */
    size_t count, room;
    size_t bytes; /* of all texts */
};

/* Copies task and its texts. */
void batch_add(struct batch *batch, const tp_new_task *task);
void batch_clear(struct batch *batch);
void batch_free(struct batch *batch);

/* Asks, and asks the same again while the failure may pass and less than retry_ms have gone by since the
 * first one; reopens the connection when it is lost. The answer is the last one. lost: was the connection
 * ever lost, so that after a failure nobody knows what an earlier try did. stop (may be NULL): not asked
 * again once it is set. */
typedef tp_status (*ask_fn)(tp_conn *conn, void *arg);
tp_status ask_until(tp_conn *conn, int64_t retry_ms, ask_fn ask, void *arg, bool *lost,
                    const volatile sig_atomic_t *stop);

#endif
