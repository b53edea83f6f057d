/* Tasks that are due at a calendar's next cut-off. Read next: business_day.c. */
#ifndef TPI_OPS_CUT_OFF_H
#define TPI_OPS_CUT_OFF_H

#include "ops/new_task.h"

/* Fills in due_at of those that have a cut_off_calendar. TP_MISUSE with text: one of them has a time too, or
 * there is no such calendar, or it does not know the day, unless the task comes with its id and is there.
 * Costs nothing where there are none. */
TP_CHECKED tp_status tpi_cut_offs_fill(tp_conn *conn, const struct tpi_new_tasks *tasks);
/* Takes it back, after any answer. */
void tpi_cut_offs_clear(const struct tpi_new_tasks *tasks);

#endif
