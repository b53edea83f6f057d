/* What an operator selected, as the statements take it: shared by those who do something to many tasks. Read
 * next: operate.c. */
#ifndef TPI_OPS_OPERATE_H
#define TPI_OPS_OPERATE_H

#include "core/fsm.h"
#include "ops/conn.h"
#include "ops/select.h"

/* TPI_CHUNK: rows in one transaction. */
enum { TPI_CHUNK = TPI_LIST_MAX };

struct tpi_operation {
    tp_conn *conn;
    const tp_selection *selection;
    struct tpi_select select;
    struct tpi_ids ids; /* those that are looked at, in lower case, if it was narrowed down to some */
    char who[TPI_WHO_MAX + 1];
    /* Of a release and of a cancel it begins with who did it: the task keeps it as its reason. */
    char why[TP_REASON_MAX + 1];
    int64_t before;                 /* what changed later than that is not selected */
    char detail[TP_REASON_MAX + 1]; /* what was selected, for the audit: without keys and reasons */
    char act[TPI_UUID_SIZE];        /* of this call */
    /* Not NULL: what would be changed is noted as the rows of this request. */
    const char *request_id;
    const char *word; /* of the history and the audit; NULL: the action's */
    bool by_worker;   /* not a person's act: no audit, and nobody is asked to end what he has in hand */
    tp_operated result;
};

/* TP_MISUSE or TP_TOOBIG with text unless the action can be done to the selection. */
TP_CHECKED tp_status tpi_operate_check(tp_action action, const tp_selection *selection);
/* Fills the operation from its selection; op->ids.all is to be freed, also after a failure. */
TP_CHECKED tp_status tpi_operate_begin(struct tpi_operation *op, tp_action action);
/* Arguments that every selecting statement may name. */
void tpi_operate_args(const struct tpi_operation *op, struct tpi_args *args);
/* How many more the selection's limit allows, at most TPI_CHUNK; 0: no more. */
size_t tpi_operate_room(const struct tpi_operation *op);
/* The action on what is selected (operate.c, purge.c). */
TP_CHECKED tp_status tpi_operate_run(struct tpi_operation *op, tp_action action);
/* For an act that was approved (approve.c), in the transaction that is open: the action on the rows of these
 * ids or keys, of a pool of purge's or, NULL, whichever. *done: how many. Nothing else is asked. */
TP_CHECKED tp_status tpi_operate_given(tp_conn *conn, tp_action action, const char *pool,
                                       const char *const *keys, size_t count, const char *who,
                                       const char *why, size_t *done);
/* A skip, in the transaction that is open, that is recorded as TPI_HISTORY_RECALLED: it needs no second
 * person (the triggers of four eyes refuse TPI_HISTORY_SKIPPED without a request). */
TP_CHECKED tp_status tpi_operate_recall(tp_conn *conn, const char *pool, const char *const *ids, size_t count,
                                        const char *who, const char *why, size_t *done);
/* Purge (purge.c), and of just these keys. */
TP_CHECKED tp_status tpi_purge_keys(struct tpi_operation *op, const char *const *keys, size_t count);
TP_CHECKED tp_status tpi_purge(struct tpi_operation *op);
/* Deletes the oldest of a pool, at most limit and at most TPI_CHUNK, in whatever transaction is open;
 * op->before says which are old enough. Nothing is recorded. */
TP_CHECKED tp_status tpi_purge_oldest(struct tpi_operation *op, const char *pool, size_t limit);

#endif
