/* What the first page shows of a pool, as JSON made of its figures. Must not know threads or HTTP. */
#ifndef CONSOLE_OVERVIEW_H
#define CONSOLE_OVERVIEW_H

#include "common/figures.h"

/* Reads what the figures lack, the schedules; *text gets the JSON, which the caller frees. */
tp_status overview_read(tp_conn *conn, const struct figures *figures, char **text);

#endif
