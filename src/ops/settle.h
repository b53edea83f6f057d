/* Ending a claim on a task. */
#ifndef TPI_OPS_SETTLE_H
#define TPI_OPS_SETTLE_H

#include "ops/conn.h"

/* The task, just claimed, had lapsed once too often: to the failed pool it goes. */
TP_CHECKED tp_status tpi_settle_lapsed(tp_conn *conn, const tp_task *task);

#endif
