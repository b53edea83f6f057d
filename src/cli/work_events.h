/* How the events of a worker are printed: as they come, on standard error or, with --json, on standard
 * output; in the end how many of each there were. Must not know why they came. */
#ifndef CLI_WORK_EVENTS_H
#define CLI_WORK_EVENTS_H

#include "cli.h"

/* A tp_event_fn. */
void work_on_event(tp_event event, const tp_task *task, const char *text, void *arg);
/* An event as an object; task may be NULL. */
void work_print_object(const char *event, const tp_task *task, const char *text);

/* After the join. */
long long work_event_count(tp_event event);
void work_print_summary(void);

#endif
