/* What a worker claims; see claims.c. */
#ifndef TPI_WORKER_CLAIMS_H
#define TPI_WORKER_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/wake.h"
#include "taskpool.h"

struct tpi_handler {
    char name[TP_HANDLER_MAX + 1];
    tp_handler_fn fn;
    void *arg;
    const tp_retry *retry;             /* NULL: the default ladder */
    int64_t deadline_ms, run_limit_ms; /* 0: none */
    tp_retry in_claims; /* the same, but its delay is left to the thread that would run the handler */
};

struct tpi_handler_table {
    struct tpi_handler all[TP_CLAIM_HANDLERS_MAX];
    size_t count;
    const char *names[TP_CLAIM_HANDLERS_MAX]; /* of all */
    bool timed;                               /* one has a deadline or a limit */
};

/* Fills in what is to be added. */
TP_CHECKED tp_status tpi_handler_read(const char *name, tp_handler_fn fn, void *arg,
                                      const tp_handler_options *options, struct tpi_handler *out);
/* Not while others look at it: before the worker's start. */
TP_CHECKED tp_status tpi_handler_add(struct tpi_handler_table *table, const struct tpi_handler *handler);
/* NULL: there is none of that name. */
const struct tpi_handler *tpi_handler_find(const struct tpi_handler_table *table, const char *name);

/* Not changed after the start. */
struct tpi_claims {
    const tp_worker_options *options;
    struct tpi_handler_table handlers;
    bool hold_wanted;        /* plan hold was chosen */
    const char *leased_plan; /* then: the plan to fall back to */
};

/* Claims of one thread: the request, and what a claim that got no answer is asked again with. */
struct tpi_claiming {
    tp_claim_request request;
    struct tpi_arrival
        known; /* the next claim takes these tasks alone, which have just come; handler NULL: all */
    const tp_retry *retries[TP_CLAIM_HANDLERS_MAX];
    tp_batch *batch;
    int64_t asked_ms; /* when the claim under this token was first asked; by tpi_clock_boot_ms */
    bool last;        /* of a worker that ends: what earlier tries took, and nothing new */
    bool more;        /* the last claim got all it asked for, so there may be more */
};

/* Before the start: the plan, which the environment may give. */
void tpi_claims_choose(struct tpi_claims *claims, tp_conn *conn);
void tpi_claiming_init(struct tpi_claiming *claiming, const struct tpi_claims *claims);

#endif
