/* How the events of a worker are printed: as they come, on standard error or, with --json, on standard
 * output; in the end how many of each there were. Must not know why they came. */
#ifndef CLI_WORK_EVENTS_H
#define CLI_WORK_EVENTS_H

#include "cli.h"
#include "common/json.h"

/* A tp_event_fn. */
void work_on_event(tp_event event, const tp_task *task, const char *text, void *arg);
/* An event as an object, for --json or --log-format json; task may be NULL. */
void work_print_object(const char *event, const tp_task *task, const char *text);
/* What the worker says of itself, unless --quiet: a line, or an object of these members. */
void work_print_report(const char *event, const char *line, const struct member *members);
/* Is the log JSON? Then messages and what programs write to standard error become objects, too. */
bool work_log_is_json(void);
void work_log_begin(void);
/* A line, or a part of one, that a program wrote to standard error. */
void work_log_line(const char *text, size_t length);

/* After the join. */
long long work_event_count(tp_event event);
void work_print_summary(void);

#endif
