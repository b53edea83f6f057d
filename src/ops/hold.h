/* Tasks of plan hold: locked in an explicit transaction, not marked. A settle of one is a write of that
 * transaction, guarded by what the row looked like when it was locked; its token goes into the settled row,
 * so that the settle can be asked again. Once marked, such a task is like any other. */
#ifndef TPI_OPS_HOLD_H
#define TPI_OPS_HOLD_H

#include "ops/batch.h"

struct tpi_seen;
struct tpi_lane;

/* Was the open transaction given it? */
bool tpi_hold_has(const tp_conn *conn, const char *id);
/* How many tasks that the open transaction was given a claim may find again, since its own locks do not keep
 * it from them: those of the lane (NULL: of any) that are not completed. Never too few. */
size_t tpi_hold_count(const tp_conn *conn, const struct tpi_lane *lane);
/* Makes the slot a held task of the open transaction, its row as seen under the lock. TP_NONE: it was given
 * that task before. */
TP_CHECKED tp_status tpi_hold_begin(tp_conn *conn, struct tpi_slot *slot, const struct tpi_seen *seen);
/* Is the task held, not marked and not settled, by the transaction that is open on conn? */
bool tpi_hold_locked(const tp_conn *conn, const tp_task *task);
/* Was it claimed by plan hold? True also of a copy, which the others here do not take. */
bool tpi_hold_is(const tp_task *task);

/* Before a settle's guarded write: prepares the row for it. TP_NONE: the transaction that held it is over, so
 * no row is held; or it has changed the row itself. TP_DB also: a rule of the application's own kept it. */
TP_CHECKED tp_status tpi_hold_mark(tp_conn *conn, const tp_task *task);
/* Completes a locked task by one move. TP_NONE: the row is not as it was, or behind a gate. */
TP_CHECKED tp_status tpi_hold_finish(tp_conn *conn, const tp_task *task);
/* Behind no gate, and not completed. TP_DB: a rule of the application's own kept the row, or did not let it
 * into the other pool. TP_NONE: the row is not as it was. */
TP_CHECKED tp_status tpi_hold_unmoved(tp_conn *conn, const tp_task *task);
/* Completes tasks, each of them locked, in few statements, but those behind gates: gates gets the gate of
 * each, kept in texts, or NULL. After TP_LOST, at least one row was not as it was, and TP_DB, a rule of the
 * application's own kept one, the transaction can only be rolled back. */
TP_CHECKED tp_status tpi_hold_finish_many(tp_conn *conn, const tp_task *const *tasks, size_t count,
                                          struct tpi_texts *texts, const char **gates);
/* The arguments of a statement that is guarded by what the row looked like. */
void tpi_hold_args(const tp_task *task, struct tpi_args *args);

#endif
