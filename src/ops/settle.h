/* Ending claims on tasks: one (settle.c), many (settle_many.c); what became of one (settled.c). Read next:
 * core/fsm.h. */
#ifndef TPI_OPS_SETTLE_H
#define TPI_OPS_SETTLE_H

#include "core/fsm.h"
#include "ops/gate.h"

/* What is known of a row that carries the claim's token. */
struct tpi_row_state {
    enum tpi_pool pool;
    enum tpi_state state;
    char gate[TPI_GATE_SIZE]; /* "": behind none */
};

/* The task was just claimed, by a lapse that is not followed by another try: to the pool that change says. */
TP_CHECKED tp_status tpi_settle_lapsed(tp_conn *conn, const tp_task *task, const struct tpi_change *change);

/* TP_MISUSE with text unless it is a task as claimed. */
TP_CHECKED tp_status tpi_settle_check(const tp_task *task);
/* In which pool and state the row of the task's claim is. TP_NONE: there is none under its token. */
TP_CHECKED tp_status tpi_settled_find(tp_conn *conn, const tp_task *task, struct tpi_row_state *row);
/* Stores the result of a task that this transaction has moved to the finished pool; NULL: there is none. */
TP_CHECKED tp_status tpi_settle_result(tp_conn *conn, const tp_task *task, const char *result);
/* TP_LOST with its text; dooms the transaction around. */
tp_status tpi_settle_lost(tp_conn *conn, const tp_task *task);

#endif
