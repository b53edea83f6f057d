/* Server-sent events: the overview of a pool, as often as its reader reads it. */
#ifndef CONSOLE_EVENTS_H
#define CONSOLE_EVENTS_H

#include <microhttpd.h>

#include "api.h"

/* NULL: too many listen already. */
struct MHD_Response *events_response(struct console *console, struct pool *pool, const struct call *call);

#endif
