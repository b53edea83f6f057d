/* The history: what happened to tasks besides being claimed and done. It decides nothing; who does something
 * records it in the same transaction. Read next: settle.c. */
#ifndef TPI_OPS_HISTORY_H
#define TPI_OPS_HISTORY_H

#include "base/process_name.h"
#include "ops/conn.h"

/* Words of the column event, at most 8 bytes. */
#define TPI_HISTORY_FAILED   "failed"
#define TPI_HISTORY_GAVE_UP  "gave-up"
#define TPI_HISTORY_LAPSED   "lapsed"
#define TPI_HISTORY_RETRIED  "retried"
#define TPI_HISTORY_SKIPPED  "skipped"
#define TPI_HISTORY_RELEASED "released"
#define TPI_HISTORY_PURGED   "purged"
#define TPI_HISTORY_PAUSED   "paused"
#define TPI_HISTORY_RESUMED  "resumed"
#define TPI_HISTORY_KEPT     "kept"
#define TPI_HISTORY_EDITED   "edited"
#define TPI_HISTORY_ERASED   "erased"
#define TPI_HISTORY_REPLACED "replaced" /* by a producer who brought its dedup_key; so are those below */
#define TPI_HISTORY_DEFERRED "deferred"
#define TPI_HISTORY_DRAINED  "drained"
#define TPI_HISTORY_CANCEL   "cancel"   /* a task in hand: whoever has it is told */
#define TPI_HISTORY_CANCELED "canceled" /* and it ended so, or it waited, or its deadline had passed */
#define TPI_HISTORY_RECALLED "recalled" /* skipped by an adoption: its row is the old table's, or gone */
#define TPI_HISTORY_EYES     "eyes"     /* the setting of four eyes */
#define TPI_HISTORY_ASKED    "asked"
#define TPI_HISTORY_APPROVED "approved"

/* One event. Text NULL or "": SQL NULL. The texts must live until it is written. */
struct tpi_history_event {
    const char *task_id, *handler;
    const char *event; /* required */
    const char *owner; /* the claim token it is about */
    const char *who;   /* NULL: this process, host:pid */
    const char *reason;
    int32_t attempt; /* number of the failure; 0: not about one */
    bool alert;      /* people are to be alerted, now: alert_at is set */
    /* Made by tpi_history_args; an id that is there is kept. */
    char id[TPI_UUID_SIZE], writer[TPI_PROCESS_NAME_SIZE];
};

/* Makes the event's id and fills the parameters of history_add, for statements that write it themselves:
 * history_id, id, handler, event, token, who, reason, attempt, alert_ms. */
void tpi_history_args(struct tpi_history_event *event, struct tpi_args *args);
/* Writes it in the transaction that is open, or in one of its own. */
TP_CHECKED tp_status tpi_history_add(tp_conn *conn, struct tpi_history_event *event);
/* The same with the time of what it tells of, by the database's clock. */
TP_CHECKED tp_status tpi_history_note(tp_conn *conn, struct tpi_history_event *event, int64_t at);
/* The failure that a claim recorded which holds its task no more: *last says that it was gave-up, not failed.
 * TP_NONE: there is none. */
TP_CHECKED tp_status tpi_history_failed(tp_conn *conn, const char *task_id, const char *token, bool *last);

#endif
