/* The handlers of a worker; see handler_table.c. */
#ifndef TPI_WORKER_HANDLER_TABLE_H
#define TPI_WORKER_HANDLER_TABLE_H

#include <stddef.h>

#include "taskpool.h"

struct tpi_handler {
    char name[TP_HANDLER_MAX + 1];
    tp_handler_fn fn;
    void *arg;
    const tp_retry *retry; /* NULL: the default ladder */
    tp_retry in_claims;    /* the same, but its delay is left to the thread that would run the handler */
};

struct tpi_handler_table {
    struct tpi_handler all[TP_CLAIM_HANDLERS_MAX];
    size_t count;
    const char *names[TP_CLAIM_HANDLERS_MAX]; /* of all */
};

/* Fills in what is to be added. */
TP_CHECKED tp_status tpi_handler_read(const char *name, tp_handler_fn fn, void *arg, const tp_retry *retry,
                                      struct tpi_handler *out);
/* Not while others look at it: before the worker's start. */
TP_CHECKED tp_status tpi_handler_add(struct tpi_handler_table *table, const struct tpi_handler *handler);
/* NULL: there is none of that name. */
const struct tpi_handler *tpi_handler_find(const struct tpi_handler_table *table, const char *name);

#endif
