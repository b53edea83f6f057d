/* Deadlines of tasks: when they are of no use any more. One is a row of tp_cancel without a person
 * (cancel.h), written in the transaction that puts the task in; a task without one costs nothing. Claims,
 * maintenance and workers obey the row like a cancel. Read next: cancel.h, worker/canceller.c. */
#ifndef TPI_OPS_DEADLINE_H
#define TPI_OPS_DEADLINE_H

#include "ops/conn.h"

bool tpi_deadline_given(const tp_new_task *task);
/* TP_MISUSE with text when the deadline cannot be. */
TP_CHECKED tp_status tpi_deadline_check(const tp_new_task *task);
/* Of those of the tasks that have one, which were just put in, in the transaction that is open. again: an
 * earlier task may have had one of their ids. */
TP_CHECKED tp_status tpi_deadlines_set(tp_conn *conn, tp_new_task *const *tasks, size_t count, bool again);
/* Gives the open task, which nobody cancelled, another deadline (0: none). had: was there one, or a row of an
 * earlier task with its id? */
TP_CHECKED tp_status tpi_deadline_replace(tp_conn *conn, const char *id, int64_t deadline_at, bool had);
/* The deadline of the task with this id; 0: it has none, or its end was asked for. */
TP_CHECKED tp_status tpi_deadline_read(struct tpi_store *store, const char *id, int64_t *deadline_at);
/* *what becomes its name when the task that is there has another deadline. A deadline in ms is not compared:
 * from when it counts may be gone. */
TP_CHECKED tp_status tpi_deadline_compare(struct tpi_store *store, const tp_new_task *task,
                                          const char **what);

#endif
