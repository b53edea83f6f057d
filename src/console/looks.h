/* What can be looked at in a pool: each asks the database by the calls that the command line makes, and
 * answers with the same names. Must not change anything. */
#ifndef CONSOLE_LOOKS_H
#define CONSOLE_LOOKS_H

#include "pool.h"

/* X(name in the path, function, does it take a selection, its other parameters). tasks/ID is task. */
#define LOOK_LIST(X)                                                                                         \
    X("tasks", look_tasks, true, "after", "limit")                                                           \
    X("failures", look_failures, true, "limit", NULL)                                                        \
    X("workers", look_workers, false, "all", NULL)                                                           \
    X("schedules", look_schedules, false, NULL, NULL)                                                        \
    X("history", look_history, false, "after", "limit", "who", "what")                                       \
    X("requests", look_requests, false, "state", "limit")                                                    \
    X("audit", look_audit, false, "after", "limit", "who", "what")                                           \
    X("activity", look_activity, false, "since", "until", "handler")

#define LOOK_DECLARE(name, function, ...) ask_function function;
typedef void ask_function(tp_conn *conn, const struct request *request, struct answer *answer);
LOOK_LIST(LOOK_DECLARE)
#undef LOOK_DECLARE
ask_function look_task;

struct json_object;
/* Adds the params of a task to its object, as far as this person may see them; or that they are hidden. */
void look_show_params(struct json_object *object, const struct request *request, const char *params);
void look_hide_params(struct json_object *object);

#endif
