/* What a worker did, counted by handler and written once a minute; see tally.c. */
#ifndef TPI_WORKER_TALLY_H
#define TPI_WORKER_TALLY_H

#include <stdatomic.h>

#include "worker/claims.h"
#include "worker/session.h"

enum tpi_tally_outcome {
    TPI_TALLY_DONE,
    TPI_TALLY_FAILED,
    TPI_TALLY_GAVE_UP,
    TPI_TALLY_SKIPPED,
    TPI_TALLY_RELEASED,
    TPI_TALLY_LOST,
    TPI_TALLY_OUTCOMES
};

struct tpi_tally_times {
    atomic_int_least64_t sum, max, counts[TP_HISTOGRAM_BUCKETS];
};

struct tpi_tally {
    const struct tpi_handler_table *handlers;
    struct tpi_tally_counts { /* of the handler at the same place in the table; any thread */
        atomic_int_least64_t outcomes[TPI_TALLY_OUTCOMES];
        struct tpi_tally_times wait, run;
    } counts[TP_CLAIM_HANDLERS_MAX];
    /* Under the heartbeat's lock, as all below: rows to be written, the same until they are. */
    tp_activity rows[TP_CLAIM_HANDLERS_MAX];
    size_t row_count;
    int64_t minute; /* in which counting began; 0: not known yet. By the database's clock */
    bool failed;    /* and it was said */
};

/* A row is for so long. Only tests change it. */
extern int64_t tpi_tally_every_ms;

/* Any thread. handler NULL, or not in the table: not counted. */
void tpi_tally_outcome(struct tpi_tally *tally, const char *handler, enum tpi_tally_outcome outcome);
/* Of one claim of a task: how long it was due before its handler was called. */
void tpi_tally_wait(struct tpi_tally *tally, const char *handler, int64_t ms);
/* Of one call of a handler. */
void tpi_tally_run(struct tpi_tally *tally, const char *handler, int64_t ms);

/* How many outcomes were counted and not written yet: another number than before says that some were. */
int64_t tpi_tally_outcomes(const struct tpi_tally *tally);

/* Writes what is due to be written; last: all. worker: the id of its row; now: the database's clock. A
 * failure loses nothing: it is written by the next call. */
void tpi_tally_write(struct tpi_tally *tally, struct tpi_session *session, const char *worker, int64_t now,
                     bool last);

#endif
