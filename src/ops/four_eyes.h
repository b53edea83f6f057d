/* The pool's setting by which some acts need a second person. Read next: request.h. */
#ifndef TPI_OPS_FOUR_EYES_H
#define TPI_OPS_FOUR_EYES_H

#include "ops/conn.h"

/* As it is in the database; off where it was never set. */
TP_CHECKED tp_status tpi_four_eyes_read(tp_conn *conn, tp_four_eyes *eyes);
/* Writes the setting as a request's text has it, with its event, in the transaction that is open. */
TP_CHECKED tp_status tpi_four_eyes_write(tp_conn *conn, const char *value, const char *who, const char *why);

#endif
