/* How paused handlers are shown, and which names may be misspelt. */
#ifndef CLI_PAUSED_H
#define CLI_PAUSED_H

#include "taskpool.h"

/* No open task, worker or schedule has the handler. Asks for what is read in a moment, whatever the pools
 * hold; what cannot be read says nothing against the name. */
bool handler_is_unheard_of(tp_conn *conn, const char *handler);

struct table;
struct table *paused_table(void);
/* For tp_paused_each; arg is such a table, or a json_object array. */
void paused_row(const tp_paused *paused, void *arg);
void paused_object(const tp_paused *paused, void *arg);

#endif
