/* What plan hold claims, runs and settles in one transaction; see transaction.c and cycle.c. */
#ifndef TPI_WORKER_CYCLE_H
#define TPI_WORKER_CYCLE_H

#include "worker/transaction.h"

/* A group holds its locks until its last handler is done, so it grows only while that is soon. What the
 * database takes does not count: with smaller groups it would have more to do. */
enum { TPI_GROUP_MAX = TP_CLAIM_MAX, TPI_GROUP_MS = 50 };

struct tpi_cycle {
    struct tpi_transactions *part;
    struct tpi_hold *hold;
    struct tpi_session *session;
    tp_batch *batch;
    int64_t took_ms;   /* the handlers */
    size_t claimed;    /* tasks */
    size_t count, ran; /* of these, in progress here by this claim, and those whose handler was called */
    struct tpi_job *jobs[TPI_GROUP_MAX];
    bool whole;   /* all in it ran */
    bool asked;   /* the last that ran used the connection */
    bool apart;   /* it failed without running, which is to be written by a claim of its own */
    bool doomed;  /* and something failed in it */
    bool lost;    /* the transaction failed, through no fault of the handler */
    bool refused; /* the last one's commit was, for good: it failed, if that is so */
    bool commits; /* its commit was asked for */
    char why[TPI_TEXT_SIZE];
};

/* Settles what ran: in the transaction, or, when that is rolled back, each by a claim of its own. */
void tpi_cycle_settle(struct tpi_cycle *cycle);
/* By a claim of its own, outside of any transaction. True: it turned out to be stored, so all that ran is. */
bool tpi_cycle_settle_apart(struct tpi_cycle *cycle, size_t i);

#endif
