/* The history: what happened to tasks besides being claimed and done. */
#ifndef TPI_OPS_HISTORY_H
#define TPI_OPS_HISTORY_H

#include "base/who.h"
#include "ops/conn.h"

/* Words of the column event, at most 8 bytes. */
#define TPI_TOLD_FAILED   "failed"
#define TPI_TOLD_GAVE_UP  "gave-up"
#define TPI_TOLD_LAPSED   "lapsed"
#define TPI_TOLD_RETRIED  "retried"
#define TPI_TOLD_SKIPPED  "skipped"
#define TPI_TOLD_RELEASED "released"
#define TPI_TOLD_PURGED   "purged"
#define TPI_TOLD_PAUSED   "paused"
#define TPI_TOLD_RESUMED  "resumed"
#define TPI_TOLD_KEPT     "kept"

/* When somebody is first to be told of a task in the failed pool; whoever is first to take it, tells. */
enum { TPI_ALERT_MS = 0 };

/* One event. Text NULL or "": SQL NULL. The texts must live until it is written. */
struct tpi_told {
    const char *task_id, *handler;
    const char *event; /* required */
    const char *owner; /* the claim token it is about */
    const char *who;   /* NULL: this process, host:pid */
    const char *reason;
    int32_t attempt; /* number of the failure; 0: not about one */
    bool alert;      /* somebody must be told: alert_at is set */
    /* Made by tpi_told_args. */
    char id[TPI_UUID_SIZE], writer[TPI_WHO_SIZE];
};

/* Makes the event's id and fills the parameters of history_add, for statements that write it themselves:
 * history_id, id, handler, event, token, who, reason, attempt, alert_ms. */
void tpi_told_args(struct tpi_told *told, struct tpi_args *args);
/* Writes it in the transaction that is open, or in one of its own. */
TP_CHECKED tp_status tpi_history_add(tp_conn *conn, struct tpi_told *told);
/* What a claim that holds its task no more had written of a failure: *last tells gave-up from failed.
 * TP_NONE: nothing. */
TP_CHECKED tp_status tpi_history_failed(tp_conn *conn, const char *task_id, const char *token, bool *last);

#endif
