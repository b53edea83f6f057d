/* Tasks in hand of an operator's action, what gates have to do with it, and what is recorded of it. Read
 * next: operate.c, operate_gates.c, operate_record.c. */
#ifndef TPI_OPS_OPERATE_CHUNK_H
#define TPI_OPS_OPERATE_CHUNK_H

#include "ops/operate.h"

/* An action on the tasks of one state in one pool, and the change that it makes to them. */
struct tpi_operate_step {
    const char *word; /* the history's */
    enum tpi_event event;
    enum tpi_pool pool;
    enum tpi_state state;
    struct tpi_change change;
};

struct tpi_operate_row {
    const char *id, *handler, *owner, *reason, *gate;
    int64_t due_at;
};

/* Tasks in hand. */
struct tpi_operate_chunk {
    struct tpi_texts texts;
    size_t count;
    struct tpi_operate_row rows[TPI_CHUNK];
    const char *ids[TPI_CHUNK]; /* theirs */
    int64_t at;                 /* the database's clock when they were to be changed */
};

/* A gate that is locked locks tasks that wait at it, to let them through. So those that wait are skipped in
 * one transaction, which locks no gate, and the others in another, which locks none that waits. */
enum tpi_operate_part { TPI_PART_ALL, TPI_PART_WAITING, TPI_PART_OTHERS };

void tpi_chunk_list_ids(struct tpi_operate_chunk *chunk);
/* Does it wait at a gate? */
bool tpi_operate_waits(const struct tpi_operate_row *row);
void tpi_chunk_drop_other_part(enum tpi_operate_part part, struct tpi_operate_chunk *chunk);
/* Of a retry: takes those out whose gate was removed. */
TP_CHECKED tp_status tpi_chunk_drop_gateless(struct tpi_operation *op, const struct tpi_operate_step *step,
                                             struct tpi_operate_chunk *chunk);
/* Of a worker's: takes those out that are wanted again, by a retry that came before the lock. */
TP_CHECKED tp_status tpi_chunk_drop_wanted(struct tpi_operation *op, struct tpi_operate_chunk *chunk);
/* The tasks were changed. Those that ended make room, unless they waited; those that came back are behind
 * their gate again. */
TP_CHECKED tp_status tpi_chunk_write_gates(struct tpi_operation *op, const struct tpi_operate_step *step,
                                           const struct tpi_operate_chunk *chunk);
/* What was done to the tasks, in its transaction. */
TP_CHECKED tp_status tpi_chunk_write_history(struct tpi_operation *op, const struct tpi_operate_step *step,
                                             const struct tpi_operate_chunk *chunk);
TP_CHECKED tp_status tpi_chunk_write_audit(struct tpi_operation *op, const struct tpi_operate_step *step,
                                           const struct tpi_operate_chunk *chunk);

#endif
