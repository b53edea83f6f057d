/* Tasks that are not wanted any more: somebody asked for their end, or their deadline has passed. A row of
 * tp_cancel says so, and what waits is skipped by whoever comes first: the operator, a claim, or the
 * maintenance of any worker. Whoever has a task in hand is told, and decides (worker/canceller.c). Claims
 * look for such rows only when there are any (pause.h). Read next: core/fsm.h, operate.c,
 * cancel_one.c, cancel_sweep.c. */
#ifndef TPI_OPS_CANCEL_H
#define TPI_OPS_CANCEL_H

#include "base/texts.h"
#include "core/fsm.h"
#include "ops/conn.h"
#include "store/record.h"

struct tpi_unwanted {
    const char *id;
    const char *who; /* "": its deadline has passed */
    const char *why; /* then: which it was */
    int64_t due_at;
};

struct tpi_unwanted_list {
    struct tpi_texts texts;
    struct tpi_unwanted *all; /* by id */
    size_t count;
};
/* As tpi_record_all; each row begins with a struct tpi_unwanted, whose why says which deadline it was. */
TP_CHECKED tp_status tpi_unwanted_read(struct tpi_stmt *stmt, const struct tpi_column *columns,
                                       struct tpi_texts *texts, void *rows, size_t size, size_t limit,
                                       size_t *count);
/* Those of the tasks that are not wanted any more by now. To be freed, also after a failure. */
TP_CHECKED tp_status tpi_unwanted_find(tp_conn *conn, const char *const *ids, size_t count,
                                       struct tpi_unwanted_list *list);
/* NULL: the task is not among them. */
const struct tpi_unwanted *tpi_unwanted_of(const struct tpi_unwanted_list *list, const char *id);
void tpi_unwanted_free(struct tpi_unwanted_list *list);

/* Asks for the end of an open task, in the transaction that is open. at: the database's clock. *news: nobody
 * had asked before. TP_NONE: it is not open. */
TP_CHECKED tp_status tpi_cancel_ask(tp_conn *conn, const char *id, const char *who, const char *why,
                                    int64_t at, bool *news);
/* A person wants these tasks again: what was asked of them is forgotten, and so are deadlines that have
 * passed.
 */
TP_CHECKED tp_status tpi_cancel_retract(tp_conn *conn, const char *const *ids, size_t count);
/* These tasks were ended, or get another deadline: nothing is asked of them any more. */
TP_CHECKED tp_status tpi_cancel_forget(tp_conn *conn, const char *const *ids, size_t count);
/* The claimed task has been skipped for it, in the transaction that is open: removes the row, and records it.
 */
TP_CHECKED tp_status tpi_cancel_record(tp_conn *conn, const tp_task *task,
                                       const struct tpi_unwanted *unwanted);

#endif
