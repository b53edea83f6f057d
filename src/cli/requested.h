/* What commands say whose act needs a second person. */
#ifndef CLI_REQUESTED_H
#define CLI_REQUESTED_H

#include <stddef.h>

#include "common/messages.h"

/* TP_REQUESTED: where the request is; TP_STALE: that it is over. id: its id, or "": unknown. */
enum cli_exit requested(tp_status status, const char *id, size_t tasks);

#endif
