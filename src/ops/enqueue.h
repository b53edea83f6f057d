/* What tp_enqueue and tp_enqueue_many share: putting one task in as part of a transaction, and finding the
 * open tasks that have the dedup_keys of new ones. Read next: enqueue.c. */
#ifndef TPI_OPS_ENQUEUE_H
#define TPI_OPS_ENQUEUE_H

#include "ops/conn.h"

/* TP_EXISTS: it, or another with its key, was seen to be there. TP_OK: put in or, with existing_id, that task
 * was changed instead. again: it may be there already. */
TP_CHECKED tp_status tpi_enqueue_insert(tp_conn *conn, tp_new_task *task, bool again);
/* Tasks that were just put in: they get their deadlines, and take their places behind gates, in groups or
 * after them, in this order. again: an earlier task may have had one of their ids. */
TP_CHECKED tp_status tpi_enqueue_enter(tp_conn *conn, tp_new_task *const *tasks, size_t count, bool again);
extern const char tpi_enqueue_placed_text[]; /* what needs a transaction then */
/* May it be searched for what is there: by id because it is asked again, by key, or to be changed? TP_MISUSE
 * or TP_UNSUPPORTED with text where that cannot be all or nothing, or would see what was. */
TP_CHECKED tp_status tpi_enqueue_may_search(tp_conn *conn, bool again, bool keyed, bool changes);
/* Notes in existing_id of each which open task has its key, itself perhaps. All have keys; sorts them by key.
 * On a borrowed connection its transaction's level may hide some, which an insert then meets. */
TP_CHECKED tp_status tpi_enqueue_find_keys(struct tpi_store *store, tp_new_task **tasks, size_t count);

/* By key; of the same key, those that stand first in the caller's array come first. */
void tpi_enqueue_sort_by_key(tp_new_task **tasks, size_t count);
/* Of tasks sorted by key the first with this one's key; NULL: it has no key, or none has it. */
const tp_new_task *tpi_enqueue_first_with_key(tp_new_task **tasks, size_t count, const tp_new_task *task);

#endif
