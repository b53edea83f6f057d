/* What a worker's owner may choose; see options.c. */
#ifndef TPI_WORKER_OPTIONS_H
#define TPI_WORKER_OPTIONS_H

#include "taskpool.h"

/* Checks what was given and fills in the defaults. */
TP_CHECKED tp_status tpi_options_read(const tp_worker_options *given, tp_worker_options *out);
TP_CHECKED tp_status tpi_options_check_retry(const tp_retry *retry);

#endif
