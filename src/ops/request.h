/* Requests: what one person asked for and another is to approve, in the database, with the rows that it is
 * about. It must not know how an act is done. Read next: approve.c, four_eyes.h. */
#ifndef TPI_OPS_REQUEST_H
#define TPI_OPS_REQUEST_H

#include "ops/operate.h"

/* Words of the columns act and state. */
#define TPI_ACT_RETRY       "retry"
#define TPI_ACT_SKIP        "skip"
#define TPI_ACT_CANCEL      "cancel"
#define TPI_ACT_PURGE       "purge"
#define TPI_ACT_EDIT        "edit"
#define TPI_ACT_ERASE       "erase"
#define TPI_ACT_RETENTION   "retention"
#define TPI_ACT_FOUR_EYES   "four-eyes"
#define TPI_REQUEST_WAITING "waiting"
#define TPI_REQUEST_RUNNING "running"
#define TPI_REQUEST_DONE    "done"
#define TPI_REQUEST_REFUSED "refused"
#define TPI_REQUEST_STALE   "stale"
#define TPI_REQUEST_EXPIRED "expired"

enum { TPI_SELECTION_SIZE = 2001 };

/* One that is to be written. */
struct tpi_new_request {
    const char *act, *pool, *selection; /* pool may be NULL */
    const char *who, *why;
    const char *biz_key;         /* whose traces are to be erased, or NULL */
    const tp_edit_request *edit; /* the new content, or NULL */
    int64_t expire_ms;
    bool empty; /* it may be about no rows */
};

/* Notes the rows that the request is about, by tpi_request_note, and counts them. */
typedef tp_status tpi_request_rows_fn(tp_conn *conn, const char *id, void *arg, size_t *count);

/* What became of the request that an earlier try wrote under this id. TP_REQUESTED: it waits. TP_OK: it was
 * carried out. TP_STALE: it was not, and will not be. TP_MISUSE: the id stands for another. TP_NONE: there is
 * none, or id is "". *count: its rows. */
TP_CHECKED tp_status tpi_request_earlier(tp_conn *conn, const struct tpi_new_request *asked, const char *id,
                                         size_t *count);
/* Writes the request and its rows in one transaction. id: "" or one under which there is none; made before
 * anything is written. TP_REQUESTED and the others of tpi_request_earlier; TP_NONE: no row was found, and
 * nothing was written. note may be NULL. */
TP_CHECKED tp_status tpi_request_put(tp_conn *conn, const struct tpi_new_request *asked, char *id,
                                     tpi_request_rows_fn *note, void *arg, size_t *count);
/* Notes those of the keys that the statement selects; *count grows by them. TP_TOOBIG: they are too many. */
TP_CHECKED tp_status tpi_request_note(tp_conn *conn, const char *id, enum tpi_statement statement,
                                      struct tpi_args *args, const char *const *keys, size_t key_count,
                                      size_t *count);

/* Reads one; its texts are kept in texts. TP_NONE: there is none. */
TP_CHECKED tp_status tpi_request_find(tp_conn *conn, const char *id, struct tpi_texts *texts,
                                      tp_request *request);
/* Ends the request in the transaction that is open: its state was from, and it keeps no content and no rows.
 * TP_NONE: its state was another. */
TP_CHECKED tp_status tpi_request_end(tp_conn *conn, const tp_request *request, const char *from,
                                     const char *state, const char *who, const char *why, size_t done);
/* What is recorded in the audit from now on is of this request; outer (may be NULL) gets which it was. */
void tpi_request_enter(tp_conn *conn, const char *id, char outer[TPI_UUID_SIZE]);
/* Ends those that nobody decided in time. */
TP_CHECKED tp_status tpi_request_expire(tp_conn *conn);
/* What an act was asked of, for people, and so that another can be told from it. */
TP_CHECKED tp_status tpi_request_selection(const struct tpi_operation *op, char out[TPI_SELECTION_SIZE]);

/* For acts that were approved (approve.c), in the transaction that is open. The setting that the text of a
 * request names (retention.c). */
TP_CHECKED tp_status tpi_retention_write(tp_conn *conn, const char *value, const char *who);
/* Erases what is there of the key, of which the request has so many tasks and, or not, the key of the ledger
 * (erase.c). TP_STALE: there are others, or a task with the key is open. */
TP_CHECKED tp_status tpi_erase_given(tp_conn *conn, const char *biz_key, size_t tasks, bool key,
                                     const char *who, const char *why, size_t *done);
/* Edits the task as the request says, whose id is the event's (edit.c). */
TP_CHECKED tp_status tpi_edit_given(tp_conn *conn, const char *task_id, const tp_request *request,
                                    const char *who, const char *why);

#endif
