/* What is left out of an operator's chunk (another part, gates that are gone, tasks that are wanted again),
 * and what its change means for gates. See operate_chunk.h. */
#include <string.h>

#include "ops/cancel.h"
#include "ops/gate.h"
#include "ops/operate_chunk.h"

void tpi_chunk_list_ids(struct tpi_operate_chunk *chunk) {
    for (size_t i = 0; i < chunk->count; i++)
        chunk->ids[i] = chunk->rows[i].id;
}

bool tpi_operate_waits(const struct tpi_operate_row *row) {
    return *row->gate && row->due_at == TPI_GATE_WAITS;
}

void tpi_chunk_drop_other_part(enum tpi_operate_part part, struct tpi_operate_chunk *chunk) {
    size_t kept = 0;
    for (size_t i = 0; i < chunk->count; i++)
        if (part == TPI_PART_ALL || tpi_operate_waits(&chunk->rows[i]) == (part == TPI_PART_WAITING))
            chunk->rows[kept++] = chunk->rows[i];
    chunk->count = kept;
    tpi_chunk_list_ids(chunk);
}

tp_status tpi_chunk_drop_gateless(struct tpi_operation *op, const struct tpi_operate_step *step,
                                  struct tpi_operate_chunk *chunk) {
    const char *known = "", *gone = "";
    size_t kept = 0;
    if (step->event != TPI_EVENT_RETRY || step->pool != TPI_POOL_FAILED) return TP_OK;
    for (size_t i = 0; i < chunk->count; i++) {
        const char *gate = chunk->rows[i].gate;
        if (strcmp(gate, gone) == 0 && *gate) continue;
        if (*gate && strcmp(gate, known) != 0) {
            tp_status status = tpi_gate_find(op->conn, gate);
            if (status < TP_OK) return status;
            *(status == TP_OK ? &known : &gone) = gate;
            if (status == TP_NONE) continue;
        }
        chunk->rows[kept++] = chunk->rows[i];
    }
    chunk->count = kept;
    tpi_chunk_list_ids(chunk);
    return TP_OK;
}

tp_status tpi_chunk_drop_wanted(struct tpi_operation *op, struct tpi_operate_chunk *chunk) {
    struct tpi_unwanted_list unwanted;
    size_t kept = 0;
    if (!op->by_worker || !chunk->count) return TP_OK;
    tp_status status = tpi_unwanted_find(op->conn, chunk->ids, chunk->count, &unwanted);
    for (size_t i = 0; i < chunk->count; i++)
        if (tpi_unwanted_of(&unwanted, chunk->ids[i])) chunk->rows[kept++] = chunk->rows[i];
    chunk->count = kept;
    tpi_chunk_list_ids(chunk);
    tpi_unwanted_free(&unwanted);
    return status;
}

tp_status tpi_chunk_write_gates(struct tpi_operation *op, const struct tpi_operate_step *step,
                                const struct tpi_operate_chunk *chunk) {
    struct tpi_gated gated[TPI_CHUNK];
    size_t count = 0;
    bool ends = step->change.pool == TPI_POOL_FINISHED, pending = step->pool == TPI_POOL_PENDING;
    tp_status status = TP_OK;
    for (size_t i = 0; i < chunk->count && step->change.pool != step->pool && status == TP_OK; i++) {
        const struct tpi_operate_row *row = &chunk->rows[i];
        bool waited = pending && tpi_operate_waits(row);
        if (!*row->gate) continue;
        gated[count] = (struct tpi_gated){.id = row->id, .gate = row->gate};
        if (waited) status = tpi_gate_forget(op->conn, &gated[count]);
        count += !waited;
    }
    if (status != TP_OK || !count) return status;
    return ends ? tpi_gates_leave(op->conn, gated, count) : tpi_gates_return(op->conn, gated, count);
}
