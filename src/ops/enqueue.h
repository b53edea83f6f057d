/* Putting one task in as part of a transaction, and which open tasks have the keys of new ones: what
 * tp_enqueue and tp_enqueue_many share. */
#ifndef TPI_OPS_ENQUEUE_H
#define TPI_OPS_ENQUEUE_H

#include "ops/conn.h"

/* TP_EXISTS: it, or another with its key, was seen to be there. again: it may be there already. */
TP_CHECKED tp_status tpi_enqueue_insert(struct tpi_store *store, tp_new_task *task, bool again);
/* TP_MISUSE with text where asking again cannot be all or nothing. */
TP_CHECKED tp_status tpi_enqueue_may_ask_again(tp_conn *conn);
/* Notes in existing_id of each which open task has its key, itself perhaps. All have keys; sorts them by key.
 */
TP_CHECKED tp_status tpi_enqueue_find_keys(struct tpi_store *store, tp_new_task **tasks, size_t count);

#endif
