/* What an enqueue does to another open task that has its dedup_key. Read next: duplicate.c. */
#ifndef TPI_OPS_DUPLICATE_H
#define TPI_OPS_DUPLICATE_H

#include "ops/conn.h"

/* Changes the task with the new one's key as its on_duplicate says, in the transaction that is open. TP_OK:
 * changed, now or by an earlier try. TP_EXISTS: it is in hand. Both note it in existing_id. TP_NONE: there is
 * none any more, or it has just changed: look again. args: of the new task. */
TP_CHECKED tp_status tpi_duplicate_change(tp_conn *conn, tp_new_task *task, const struct tpi_args *args,
                                          bool again);
/* Did an earlier try change a task? TP_OK: that one, noted in existing_id. TP_NONE: no. TP_MISUSE: with other
 * content. sure: by a locking read where what may be there is found by those; a search that finds nothing
 * then locks the gap in which others insert. */
TP_CHECKED tp_status tpi_duplicate_changed(tp_conn *conn, tp_new_task *task, bool sure);

#endif
