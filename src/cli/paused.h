/* The columns by which paused handlers are shown, and whether a handler's name may be misspelt. Shared by
 * pause, stats and the commands of operate.c. */
#ifndef CLI_PAUSED_H
#define CLI_PAUSED_H

#include "common/listing.h"
#include "taskpool.h"

/* No open task, worker or schedule has the handler. A failed read is not taken as such an answer. */
bool handler_is_unknown(tp_conn *conn, const char *handler);

/* For tp_paused_each, whose arg is a listing of these columns. */
extern const struct column paused_columns[];
void paused_add(const tp_paused *paused, void *arg);

#endif
