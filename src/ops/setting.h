/* Settings of the pool: rows of its meta table. It must not know what they mean. */
#ifndef TPI_OPS_SETTING_H
#define TPI_OPS_SETTING_H

#include "ops/conn.h"

enum { TPI_SETTING_SIZE = 64 }; /* more digits than any number has */

/* TP_NONE: it was never set. */
TP_CHECKED tp_status tpi_setting_get(tp_conn *conn, const char *name, char value[TPI_SETTING_SIZE]);
TP_CHECKED tp_status tpi_setting_set(tp_conn *conn, const char *name, const char *value);
/* Only if it is still old; "": never set. TP_CONFLICT: somebody else has set it. */
TP_CHECKED tp_status tpi_setting_swap(tp_conn *conn, const char *name, const char *old, const char *value);

#endif
