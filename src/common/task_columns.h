/* How a task is shown by list and show. */
#ifndef COMMON_TASK_COLUMNS_H
#define COMMON_TASK_COLUMNS_H

#include "records.h"
#include "taskpool.h"

#define TASK(type, member) COLUMN_OF(type, tp_task, member)
/* Of a list's table, and of both commands' JSON and CSV. */
extern const struct column task_columns[];
/* Is it in the pending pool, and not let through by its gate? */
bool task_waits_at_gate(const tp_task *task);
/* A state as people say it: failed-2. */
const char *task_state_text(const void *record, char text[RECORD_TEXT_SIZE]);

#endif
