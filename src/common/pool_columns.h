/* How what the library tells of a pool is listed: history, schedules, workers, failures; of tasks see
 * task_columns.h. From one list come the command line's tables and JSON, and the console's JSON. */
#ifndef COMMON_POOL_COLUMNS_H
#define COMMON_POOL_COLUMNS_H

#include "records.h"
#include "taskpool.h"

/* Of tp_history, tp_audit, tp_request (in a list, and one with its content) and tp_schedule. */
extern const struct column history_columns[];
extern const struct column audit_columns[];
extern const struct column request_columns[];
extern const struct column request_details[];
extern const struct column schedule_columns[];
enum { MISSED_NAMES = 3, CLOSED_NAMES = 3 };
extern const char *const schedule_missed_names[MISSED_NAMES]; /* by tp_missed */
extern const char *const schedule_closed_names[CLOSED_NAMES]; /* by tp_closed */

enum { WORKER_SILENT_MS = 60000 };
/* A worker's row, and what is worked out of it. */
struct worker_shown {
    tp_worker_row row;
    const char *state, *id;
    int64_t age_ms;
    const char *oldest_task, *oldest_handler; /* the task that it has had longest; NULL: none is known */
    int64_t oldest_claimed_at, oldest_ms;
};
extern const struct column worker_columns[];
bool worker_is_gone(const tp_worker_row *row);
/* Fills shown. False: it ended, or died more than an hour ago, and is shown only when all are asked for. */
bool worker_is_shown(const tp_worker_row *row, int64_t now, struct worker_shown *shown);

/* A group of failures, the command that retries it, and what must be known before (NULL: nothing). Of tasks
 * that are known to be done the command skips it. */
struct failure_shown {
    int64_t count, waiting, first, last;
    const char *handler, *reason, *example, *retry, *warning;
};
extern const struct column failure_columns[];
struct failure_shown failure_shown(const tp_failure *failure, const char *command);
/* For a shell, with all by which its failures were selected; the caller frees it. */
char *failure_command(const tp_failure *failure, const tp_list_request *request);
/* The same warning for a retry of one task; NULL: nothing more is known, or it has not failed. */
const char *task_warning(const tp_task *task);

#endif
