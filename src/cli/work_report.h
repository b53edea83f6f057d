/* What taskpool work says of itself: with what it started, and, while it stops, for how many programs it
 * waits. Must not know what becomes of tasks. Read next: work_events.h. */
#ifndef CLI_WORK_REPORT_H
#define CLI_WORK_REPORT_H

#include "cli.h"

/* What stands in the first line; conn is a connection of the worker's pool. Before the worker starts. */
void work_report_keep(const tp_worker_options *options, const tp_conn *conn);
/* Prints it. */
void work_report_started(void);

/* A program runs for this handler, one of the worker's; or it has ended. Any thread. */
void work_report_begin(const char *handler);
void work_report_end(const char *handler);
/* To be called again and again by who waits for a program while the worker stops: prints how many run, at
 * the first call and then every ten seconds. Any thread. */
void work_report_stopping(void);

#endif
