/* How paused handlers are shown. */
#ifndef CLI_PAUSED_H
#define CLI_PAUSED_H

#include "taskpool.h"

struct table;
struct table *paused_table(void);
/* For tp_paused_each; arg is such a table, or a json_object array. */
void paused_row(const tp_paused *paused, void *arg);
void paused_object(const tp_paused *paused, void *arg);

#endif
