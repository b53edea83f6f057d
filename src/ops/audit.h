/* The audit: a chain of rows that say what people did. Whoever does something records it in the transaction
 * that does it, last, because who records waits for all others who do until they have committed; so it is not
 * for what workers do. Read next: audit_check.c. */
#ifndef TPI_OPS_AUDIT_H
#define TPI_OPS_AUDIT_H

#include "base/sha256.h"
#include "ops/history.h"

/* Words of the column action that are not also of an event in the history. */
#define TPI_AUDIT_SCHEDULE_ADDED   "schedule-added"
#define TPI_AUDIT_SCHEDULE_REMOVED "schedule-removed"
#define TPI_AUDIT_SCHEDULE_PAUSED  "schedule-paused"
#define TPI_AUDIT_SCHEDULE_RESUMED "schedule-resumed"
#define TPI_AUDIT_FIRED            "fired"
#define TPI_AUDIT_CALENDAR_SET     "calendar-set"
#define TPI_AUDIT_CALENDAR_REMOVED "calendar-removed"
#define TPI_AUDIT_GATE_SET         "gate-set"
#define TPI_AUDIT_GATE_REMOVED     "gate-removed"
#define TPI_AUDIT_GROUP_CANCELLED  "group-cancelled"
#define TPI_AUDIT_GROUP_REMOVED    "group-removed"
#define TPI_AUDIT_ADOPTED          "adopted"
#define TPI_AUDIT_COPIED           "copied"
#define TPI_AUDIT_ADOPT_REMOVED    "adopt-removed"

/* What somebody did in one transaction. Text NULL or "": none. The texts must live until it is recorded. */
struct tpi_act {
    const char *action;  /* required */
    const char *who;     /* NULL: the connection's actor, or this process */
    const char *why;     /* NULL: the connection's */
    const char *subject; /* the one thing that it was done to */
    const char *detail;  /* what was selected or set; no keys, no params */
    int64_t changed;
    const char *const *ids; /* of the tasks, when they are known */
    size_t id_count;
    int64_t at; /* the database's clock, as in the events of the same transaction; 0: to be asked */
    char id[TPI_UUID_SIZE]; /* the same for all transactions of one call; "": to be made */
};

/* Is somebody named on the connection? What a person and a worker do alike is recorded only then. */
bool tpi_audit_has_actor(const tp_conn *conn);
/* The name under which what is done on the connection is recorded; given wins when it is not "". */
const char *tpi_audit_who(const tp_conn *conn, const char *given, char name[TPI_WHO_MAX + 1]);
/* TP_MISUSE with text on a borrowed connection without a transaction. */
TP_CHECKED tp_status tpi_audit_ready(tp_conn *conn);
/* Records the act in the transaction that is open. */
TP_CHECKED tp_status tpi_audit_add(tp_conn *conn, struct tpi_act *act);
/* The same, with one event of the history before it, which gets the act's time. */
TP_CHECKED tp_status tpi_audit_event(tp_conn *conn, struct tpi_act *act, struct tpi_history_event *event);

/* The hash of a row over its other columns. False: out of memory. */
bool tpi_audit_hash(const tp_audit *row, char out[TPI_SHA256_SIZE]);
/* What stands for the hash of the row before the first. */
extern const char tpi_audit_no_hash[TPI_SHA256_SIZE];

/* How audit_last, audit_next and audit_chain are read. */
extern const struct tpi_column tpi_audit_columns[];
/* Their arguments. */
void tpi_audit_args(const tp_audit_request *request, struct tpi_args *args);

#endif
