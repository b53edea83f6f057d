/* How far runs are, for who deletes tasks; see task_progress.c. */
#ifndef TPI_OPS_TASK_PROGRESS_H
#define TPI_OPS_TASK_PROGRESS_H

#include "ops/conn.h"

/* In the transaction that has deleted tasks of these ids: what killed runs of theirs left goes too. */
TP_CHECKED tp_status tpi_progress_erase(tp_conn *conn, const char *const *ids, size_t count);

#endif
