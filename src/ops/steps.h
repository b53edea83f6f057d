/* The ledger of steps, for who deletes tasks; see steps.c. */
#ifndef TPI_OPS_STEPS_H
#define TPI_OPS_STEPS_H

#include "ops/conn.h"

/* Is a step of the task done? As it is committed by now. */
TP_CHECKED tp_status tpi_steps_any(tp_conn *conn, const char *id, bool *found);
/* In the transaction that has deleted tasks of these ids: their steps go too, but not those of a task that is
 * still there, or there again. */
TP_CHECKED tp_status tpi_steps_purge(tp_conn *conn, const char *const *ids, size_t count);

#endif
