/* Asks the driver for its type of long text, for a schema script that cannot name one. Read next: stmt.h. */
#ifndef TPI_ODBC_TYPES_H
#define TPI_ODBC_TYPES_H

#include "base/buf.h"
#include "odbc/link.h"

/* The name of the longest text type, one that needs no length if there is one, appended to out. */
TP_CHECKED tp_status tpi_types_long_text(struct tpi_link *link, struct tpi_buf *out);

#endif
