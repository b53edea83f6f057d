/* The claim plans. Each takes up to claim->limit due tasks for claim->token and puts them into claim->batch;
 * what it took before a failure stays taken and is found again by the token. */
#ifndef TPI_OPS_CLAIM_H
#define TPI_OPS_CLAIM_H

#include "ops/batch.h"

/* The furthest a claim looks down the list of due tasks when others hold the first ones. */
enum { TPI_WINDOW_MAX = TP_CLAIM_MAX };

struct tpi_claim {
    tp_conn *conn;
    const char *const *handlers;
    size_t handler_count;
    size_t limit;
    int64_t lease_ms;
    const tp_retry *retry;
    char *token; /* the request's */
    tp_batch *batch;
};

TP_CHECKED tp_status tpi_claim_by_row(struct tpi_claim *claim);
TP_CHECKED tp_status tpi_claim_by_batch(struct tpi_claim *claim);
TP_CHECKED tp_status tpi_claim_by_skip(struct tpi_claim *claim);
TP_CHECKED tp_status tpi_claim_by_cas(struct tpi_claim *claim);

/* Arguments that every claim statement may name. */
void tpi_claim_args(const struct tpi_claim *claim, size_t limit, struct tpi_args *args);
/* The rows that the token holds, into the batch. */
TP_CHECKED tp_status tpi_claim_read_back(struct tpi_claim *claim);
/* Decides by the state table whether a row as read (state, failures, due_at) may be claimed at now; makes the
 * task in the slot look as it will be written. A last lapse is taken as well: tp_claim moves it on. */
bool tpi_claim_decide(const struct tpi_claim *claim, struct tpi_slot *slot, int64_t now);
/* Ids of claim_pick, owned by the batch. */
TP_CHECKED tp_status tpi_claim_pick(struct tpi_claim *claim, size_t limit, const char **ids, size_t *count);

#endif
