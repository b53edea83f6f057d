/* For the worker: was it the handler that failed, or its transaction? */
#ifndef TPI_OPS_TX_LOST_H
#define TPI_OPS_TX_LOST_H

#include "taskpool.h"

/* Inside a transaction in which something failed. A failure: that of the transaction, which is lost or cannot
 * be written whatever its statements were: the connection, a deadlock, a database that became read-only.
 * TP_OK: nothing of the kind is known. Where a deadlock leaves the transaction open, and the statement was
 * the application's own, or that one met a database that cannot be written, nobody can tell. */
TP_CHECKED tp_status tpi_tx_lost(tp_conn *conn);

#endif
