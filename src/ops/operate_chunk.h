/* Tasks in hand of an operation, and what is written beside them. For operate.c only. */
#ifndef TPI_OPS_OPERATE_CHUNK_H
#define TPI_OPS_OPERATE_CHUNK_H

#include "base/texts.h"
#include "ops/operate.h"

/* An action on the tasks of one state in one pool, and the change that it makes to them. */
struct tpi_step {
    const char *word; /* the history's */
    enum tpi_event event;
    enum tpi_pool pool;
    enum tpi_state state;
    struct tpi_change change;
};

struct tpi_operated_row {
    const char *id, *handler, *owner, *reason, *gate;
    int64_t due_at;
};

/* Tasks in hand. */
struct tpi_chunk {
    struct tpi_texts texts;
    size_t count;
    struct tpi_operated_row rows[TPI_CHUNK];
    const char *ids[TPI_CHUNK]; /* theirs */
    int64_t at;                 /* the database's clock when they were to be changed */
};

/* In the transaction that changes them. Of tasks behind gates: those that ended make room, unless they
 * waited, and those that came back are behind their gate again. */
TP_CHECKED tp_status tpi_chunk_write_gates(struct tpi_operation *op, const struct tpi_step *step,
                                           const struct tpi_chunk *chunk);
/* An event for each of them. */
TP_CHECKED tp_status tpi_chunk_write_history(struct tpi_operation *op, const struct tpi_step *step,
                                             const struct tpi_chunk *chunk);
/* One row for all of them; the last that is written. */
TP_CHECKED tp_status tpi_chunk_write_audit(struct tpi_operation *op, const struct tpi_step *step,
                                           const struct tpi_chunk *chunk);

#endif
