/* What single alerts and alerts in groups share: notes of the history that say that an alert is due. Read
 * next: alert.c, alert_group.c. */
#ifndef TPI_OPS_ALERT_H
#define TPI_OPS_ALERT_H

#include "ops/conn.h"

/* Sessions of databases whose clock is carried on by the client differ by up to a second; an alert is due at
 * once by all. */
enum { TPI_ALERT_EARLY_MS = 1500 };

/* Whose alerts are asked for. */
struct tpi_alert_request {
    tp_conn *conn;
    const char *const *handlers;
    size_t handler_count, limit;
};

/* The notes that are due by early, the oldest first: by the statement alert_due or alert_group_due. */
TP_CHECKED tp_status tpi_alert_query(const struct tpi_alert_request *request, enum tpi_statement statement,
                                     int64_t early, struct tpi_stmt **stmt);
/* Takes a note (alert_take) or strikes it out (alert_done): it is due at from now on. TP_NONE: it is not due
 * at before any more. */
TP_CHECKED tp_status tpi_alert_change(tp_conn *conn, enum tpi_statement statement, const char *id, int64_t at,
                                      int64_t before);
/* Of a note that could not be taken, without an error. TP_NONE: another has taken it; TP_DB: it is due as it
 * was, so the database lets nobody take it. */
TP_CHECKED tp_status tpi_alert_judge(const struct tpi_alert_request *request, int64_t early, const char *id,
                                     int64_t due_at);

#endif
