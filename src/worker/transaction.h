/* Plan hold: claim to commit in one transaction; see transaction.c. */
#ifndef TPI_WORKER_TRANSACTION_H
#define TPI_WORKER_TRANSACTION_H

#include "worker/claims.h"
#include "worker/run.h"

/* One thread's. */
struct tpi_hold {
    struct tpi_session *session;
    size_t group;               /* tasks in the next claim; 0: 1 */
    bool rested;                /* nothing was found since its last claim that had tasks */
    bool alone;                 /* that claim came after a rest, and had one */
    bool found;                 /* its last claim had tasks */
    bool in_vain;               /* its last claim had none: what looks due may be others' */
    bool polls;                 /* it is the one that polls for tasks */
    struct tpi_arrival arrival; /* what woke it, or it saw; none after its next claim */
};

struct tpi_transactions {
    struct tpi_lifetime *life;
    struct tpi_notify *notify;
    struct tpi_record *record;
    struct tpi_jobs *jobs;
    struct tpi_completer *completer;
    struct tpi_runs *runs;
    const struct tpi_claims *claims;
    const tp_worker_options *options;
    /* It has claimed, and is about to run what it claimed. */
    void (*claimed)(void *arg, struct tpi_hold *hold);
    void *arg;
};

/* Claims, runs and settles in one transaction. TP_NONE: nothing was due. */
TP_CHECKED tp_status tpi_transaction_once(struct tpi_transactions *transactions, struct tpi_hold *hold,
                                          size_t *ran);
/* Nothing was found: after a task that came alone the next claim is of one. */
void tpi_transaction_none_due(struct tpi_hold *hold);
/* Nothing is claimed next: what the last commit began is not left open. */
void tpi_transaction_leave(struct tpi_session *session);

#endif
