/* Decides what the end of a handler program means for its task, and what the worker does when a program
 * cannot be run. Must not know how a program is run. Read next: child.h. */
#ifndef CLI_HANDLE_H
#define CLI_HANDLE_H

#include "cli.h"

#include <stdatomic.h>

/* X(number, "meaning"): what a handler program says with its exit code. All others: failed. */
#define HANDLER_EXIT_LIST(X)                                                                                 \
    X(0, "done")                                                                                             \
    X(75, "not now: put back without counting a failure (see --later)")                                      \
    X(100, "skip: nothing to do, the task goes to the finished pool as skipped")

/* Set before the worker starts; stops and broken by any thread. */
struct work {
    tp_worker *worker;
    atomic_int stops;  /* how often we were asked to stop: 1 gently, 2 handlers are ended, 3 all is killed */
    atomic_int broken; /* the exit code when the worker must end by itself, else 0 */
};
extern struct work work;

/* Ends the worker, and says so: standard output is gone. */
void work_output_failed(void);

/* A tp_handler_fn; arg is the program's path. */
tp_verdict handle_task(tp_run *run, void *arg);

/* A tp_alert_fn; arg is the program's path. What does not end with 0 within a minute is asked again later. */
int handle_alert(const tp_task *task, const char *text, void *arg);
/* A tp_alert_group_fn likewise: one run for all of them. */
int handle_alert_group(const tp_batch *tasks, void *arg);

#endif
