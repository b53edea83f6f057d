/* The row of one gate, for the files that are about gates: locking it, and letting through what there is room
 * for. See gate.h. */
#ifndef TPI_OPS_GATE_ROW_H
#define TPI_OPS_GATE_ROW_H

#include "core/tokens.h"
#include "ops/gate.h"

/* A row of tp_gate. tokens 0: it has none. now: the database's clock when it was read. */
struct tpi_gate_row {
    int64_t width, next_place, through, tokens, period_ms, token_at, now;
    char on_failure[16], pattern[TPI_GATE_SIZE], held[TPI_TOKENS_TEXT];
};

/* TP_NONE: there is no such gate. */
TP_CHECKED tp_status tpi_gate_read(tp_conn *conn, const char *name, struct tpi_gate_row *gate);
/* Locks it by an update, and takes count places; gate->next_place is then the one behind the last of them.
 * TP_NONE: there is no gate. */
TP_CHECKED tp_status tpi_gate_lock(tp_conn *conn, const char *name, size_t count, struct tpi_gate_row *gate);
/* The same, and makes it by its pattern first where there is none. */
TP_CHECKED tp_status tpi_gate_lock_or_make(tp_conn *conn, const char *name, size_t count,
                                           struct tpi_gate_row *gate);
/* The longest pattern by which a gate of this name is made: of an order key the row =. TP_NONE: there is
 * none. made is what is made by it. */
TP_CHECKED tp_status tpi_gate_pattern(tp_conn *conn, const char *name, struct tpi_gate_row *made);
/* A change of one row that is named by the gate, the task, or both. */
TP_CHECKED tp_status tpi_gate_change(tp_conn *conn, enum tpi_statement statement, const char *name,
                                     const char *id);
/* With the gate locked, ended of the tasks that it let through have left it. Lets through what there is room
 * for: workers of this process look for tasks when the transaction commits. Nothing is left of a gate that
 * was made by a pattern when nothing is behind it and no token of it is held. */
TP_CHECKED tp_status tpi_gate_fill(tp_conn *conn, const char *name, const struct tpi_gate_row *gate,
                                   int64_t ended);

#endif
