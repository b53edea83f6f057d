/* What a task gave back, read for who looks at it; see result.c. */
#ifndef TPI_OPS_RESULT_H
#define TPI_OPS_RESULT_H

#include "ops/batch.h"

/* The result of a task of the finished pool, into its slot. */
TP_CHECKED tp_status tpi_result_read(tp_conn *conn, struct tpi_slot *slot);

#endif
