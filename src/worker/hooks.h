/* The owner's hooks around the call of a handler. Read next: run.c. */
#ifndef TPI_WORKER_HOOKS_H
#define TPI_WORKER_HOOKS_H

#include "worker/run.h"

/* Calls the handler between its hooks, of which there is at least one. *handler_ms: what the handler took;
 * -1: it was not called. */
tp_verdict tpi_hooks_call(struct tp_run *run, int64_t *handler_ms);

#endif
