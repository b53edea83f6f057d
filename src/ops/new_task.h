/* One tp_new_task on its way into the pool: checks it, gives it an id, binds it to parameters, and compares
 * it with what is stored under its id. Its only query is for the stored task. Read next: enqueue.c. */
#ifndef TPI_OPS_NEW_TASK_H
#define TPI_OPS_NEW_TASK_H

#include "ops/conn.h"

/* The caller's array. Those of an older program are copied, and what became of them is written back. */
struct tpi_new_tasks {
    tp_new_task *given;
    size_t count;
    tp_new_task *copies; /* NULL: the given ones have all fields */
};
/* TP_MISUSE with text when a size is wrong. */
TP_CHECKED tp_status tpi_new_tasks_open(struct tpi_new_tasks *tasks, tp_new_task *given, size_t count);
tp_new_task *tpi_new_task_at(const struct tpi_new_tasks *tasks, size_t i);
void tpi_new_tasks_close(struct tpi_new_tasks *tasks);

/* TP_MISUSE or TP_TOOBIG with text when it cannot be put in. */
TP_CHECKED tp_status tpi_new_task_check(const tp_new_task *task);
/* Makes its id, or brings the caller's into lower case. True: it had one, so that it may be there already. */
bool tpi_new_task_identify(tp_new_task *task);
/* After a call that made its id and, for sure, stored nothing: asked again, it is as new. */
void tpi_new_task_unidentify(tp_new_task *task);
/* Is it due at a cut-off? Then due_at is filled in while the call works (cut_off.h), and is none of its
 * content. */
bool tpi_new_task_at_cut_off(const tp_new_task *task);
/* Is it to wait, behind a gate or for a group? And does it have more to be written than its row: a place
 * there or in a group, or a deadline? */
bool tpi_new_task_gated(const tp_new_task *task);
bool tpi_new_task_placed(const tp_new_task *task);
bool tpi_new_task_has_key(const tp_new_task *task);
/* Does it change another task that has its key? */
bool tpi_new_task_changes(const tp_new_task *task);
void tpi_new_task_args(const tp_new_task *task, struct tpi_args *args);
/* Searches every pool for its id. TP_EXISTS: there, as asked for, and noted in existing_id. TP_NONE: not
 * there. TP_MISUSE: there with other content. */
TP_CHECKED tp_status tpi_new_task_find(struct tpi_store *store, tp_new_task *task);
/* The same before it is inserted. By locking reads only what a plain one shows is searched for: a search that
 * finds nothing would lock the gap in which others insert. */
TP_CHECKED tp_status tpi_new_task_find_earlier(struct tpi_store *store, tp_new_task *task);

#endif
