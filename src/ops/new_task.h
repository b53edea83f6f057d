/* What a tp_new_task asks for: checked, given its id, written as parameters, compared with what is stored. It
 * asks the database for nothing but the stored task. Read next: enqueue.c. */
#ifndef TPI_OPS_NEW_TASK_H
#define TPI_OPS_NEW_TASK_H

#include "ops/conn.h"

/* TP_MISUSE or TP_TOOBIG with text when it cannot be put in. */
TP_CHECKED tp_status tpi_new_task_check(const tp_new_task *task);
/* Makes its id, or brings the caller's into lower case. True: it had one, so that it may be there already. */
bool tpi_new_task_identify(tp_new_task *task);
bool tpi_new_task_has_key(const tp_new_task *task);
void tpi_new_task_args(const tp_new_task *task, struct tpi_args *args);
/* Looks for its id in every pool. TP_EXISTS: there, as asked for, and noted in existing_id. TP_NONE: not
 * there. TP_MISUSE: there with other content. */
TP_CHECKED tp_status tpi_new_task_find(struct tpi_store *store, tp_new_task *task);

#endif
