/* Whose claim a task's row is under; see owner.c. */
#ifndef TPI_WORKER_OWNER_H
#define TPI_WORKER_OWNER_H

#include "worker/session.h"

/* The claim under which the row is: TP_OK: one of this process. TP_NONE: of another, or none. */
TP_CHECKED tp_status tpi_owner_ask(struct tpi_session *session, const tp_task *task);

#endif
