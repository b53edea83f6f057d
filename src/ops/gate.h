/* Gates: how many tasks of a kind, or of a key, are let through at a time, and in which order. A task behind
 * a gate that has no room waits in the pending pool and is not due, so that claims know nothing of gates. All
 * that is written of a gate is written under the lock of its row, which every change of it takes by an
 * update; the order of locks is task, then gate, and of several gates by name. What the calls write is part
 * of the transaction that is open. Read next: gate.c, gate_set.c, docs/gates.md. */
#ifndef TPI_OPS_GATE_H
#define TPI_OPS_GATE_H

#include "base/texts.h"
#include "ops/conn.h"

/* due_at of a task that waits at its gate. */
#define TPI_GATE_WAITS TP_TIME_MAX
/* In the tables an order key is the gate of this name: = and the key. */
#define TPI_GATE_KEY '='
/* A gate whose name ends so is a pattern: gates whose names begin likewise are made by it with their first
 * task, and removed with their last. The row = is the pattern of order keys. */
#define TPI_GATE_PATTERN '*'
enum { TPI_GATE_SIZE = TP_KEY_MAX + 2 };

/* A task and the gate that it is behind. at: where it stands among those of a call, which sets it. */
struct tpi_gated {
    const char *id, *gate;
    size_t at;
};

/* The gate of a new task as the tables have it; "": none. TP_MISUSE or TP_TOOBIG with text when it can have
 * none. */
void tpi_gate_name(const tp_new_task *task, char name[TPI_GATE_SIZE]);
TP_CHECKED tp_status tpi_gate_check(const tp_new_task *task);
TP_CHECKED tp_status tpi_check_gate_name(const char *name);

/* Is the gate there, or will it be made with its first task? TP_NONE: no. */
TP_CHECKED tp_status tpi_gate_find(tp_conn *conn, const char *name);
/* Rows that this transaction has just put in: they take their places, in their order, and what there is room
 * for is let through. TP_MISUSE: there is no such gate. Sorts the tasks by gate. */
TP_CHECKED tp_status tpi_gates_enter(tp_conn *conn, struct tpi_gated *tasks, size_t count);
/* A task has left the pending pool for good, or, failed, for the failed pool, where a gate that blocks counts
 * it on. The next are let through. */
TP_CHECKED tp_status tpi_gate_leave(tp_conn *conn, const struct tpi_gated *task, bool failed);
/* A task that waited has ended. */
TP_CHECKED tp_status tpi_gate_forget(tp_conn *conn, const struct tpi_gated *task);
/* Tasks that were let through have ended. Sorts them by gate. */
TP_CHECKED tp_status tpi_gates_leave(tp_conn *conn, struct tpi_gated *tasks, size_t count);
/* Tasks were deleted from the failed pool, at most TPI_LIST_MAX: those that kept their place there leave it.
 */
TP_CHECKED tp_status tpi_gates_deleted(tp_conn *conn, const char *const *ids, size_t count);
/* Tasks have come back from the failed pool: those that kept their place go on, the others are the last, in
 * the order in which they are given. Sorts the tasks by gate. */
TP_CHECKED tp_status tpi_gates_return(tp_conn *conn, struct tpi_gated *tasks, size_t count);

/* Behind which gate is the task of the pending pool? TP_NONE: behind none, or it is not there. */
TP_CHECKED tp_status tpi_gate_of(tp_conn *conn, const char *id, char gate[TPI_GATE_SIZE]);
/* The same of many: the gate of each, kept in texts, or NULL, and how many are behind one. */
TP_CHECKED tp_status tpi_gate_of_each(tp_conn *conn, const char *const *ids, size_t count,
                                      struct tpi_texts *texts, const char **gates, size_t *found);

/* Takes the places of tasks that have ended unnoticed, counts anew, and lets through what there is room for.
 * For sessions that read what others committed. TP_OK also where there is no such gate. */
TP_CHECKED tp_status tpi_gate_mend(tp_conn *conn, const char *name);
/* For tests: tokens that are held come back so much earlier. */
TP_CHECKED tp_status tpi_gates_advance(tp_conn *conn, int64_t ms);

#endif
