/* Waits for the end of a task that was put in. Read next: enqueue.c. */
#ifndef CLI_WAIT_H
#define CLI_WAIT_H

#include "cli.h"

/* Prints what the task gave back and says by the exit code how it ended. wait_ms: how long it waits at most;
 * negative: until it has ended. inserted: is it new? retry_ms: how long a lost database is waited for. */
enum cli_exit wait_for_end(tp_conn *conn, const char *id, bool inserted, int64_t wait_ms, int64_t retry_ms);

#endif
