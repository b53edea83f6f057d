/* What TP_STEP and TP_SETTLE share: the task in hand. */
#ifndef COBOL_STEP_H
#define COBOL_STEP_H

#include "call.h"

/* Opens a lost connection again. */
TP_CHECKED tp_status step_reconnect(struct call *call);
/* The task in hand is no longer this program's. */
void step_forget(struct conn_handle *conn, struct task_block *block);

#endif
