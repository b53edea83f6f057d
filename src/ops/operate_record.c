/* What is written beside the tasks that an operator changes: gates, the history, the audit. Read next:
 * operate.c. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/audit.h"
#include "ops/gate.h"
#include "ops/operate_chunk.h"

tp_status tpi_chunk_write_gates(struct tpi_operation *op, const struct tpi_step *step,
                                const struct tpi_chunk *chunk) {
    struct tpi_gated gated[TPI_CHUNK];
    size_t count = 0;
    bool ends = step->change.pool == TPI_POOL_FINISHED, pending = step->pool == TPI_POOL_PENDING;
    tp_status status = TP_OK;
    for (size_t i = 0; i < chunk->count && step->change.pool != step->pool && status == TP_OK; i++) {
        const struct tpi_operated_row *row = &chunk->rows[i];
        bool waits = pending && row->due_at == TPI_GATE_WAITS;
        if (!*row->gate) continue;
        gated[count] = (struct tpi_gated){row->id, row->gate};
        if (waits) status = tpi_gate_forget(op->conn, &gated[count]);
        count += !waits;
    }
    if (status != TP_OK || !count) return status;
    return ends ? tpi_gates_leave(op->conn, gated, count) : tpi_gates_return(op->conn, gated, count);
}

enum { EVENT_ROWS = TPI_ROWS_MAX, EVENT_FEW = 10 };
struct events {
    struct tpi_args args[EVENT_ROWS];
    char ids[EVENT_ROWS][TPI_UUID_SIZE];
};

/* In sets of a few sizes, so that few statements are prepared. */
tp_status tpi_chunk_write_history(struct tpi_operation *op, const struct tpi_step *step,
                                  const struct tpi_chunk *chunk) {
    struct events *events = malloc(sizeof *events);
    if (!events) return tpi_error(TP_NOMEM, "out of memory");
    tp_status status = TP_OK;
    for (size_t at = 0, set; at < chunk->count && status == TP_OK; at += set) {
        int64_t rows = 0;
        size_t left = chunk->count - at;
        set = left >= EVENT_ROWS ? EVENT_ROWS : left >= EVENT_FEW ? EVENT_FEW : 1;
        for (size_t i = 0; i < set; i++) {
            struct tpi_args *args = &events->args[i];
            const struct tpi_operated_row *row = &chunk->rows[at + i];
            *args = (struct tpi_args){0};
            tpi_uuid_ordered(events->ids[i]);
            tpi_args_text(args, TPI_P_history_id, events->ids[i]);
            tpi_args_text(args, TPI_P_id, row->id);
            tpi_args_text(args, TPI_P_handler, row->handler);
            tpi_args_text(args, TPI_P_event, step->word);
            tpi_args_text(args, TPI_P_token, step->event == TPI_EVENT_FREE ? row->owner : NULL);
            tpi_args_text(args, TPI_P_who, op->who);
            tpi_args_text(args, TPI_P_reason, op->why);
            tpi_args_number(args, TPI_P_at, chunk->at);
        }
        status = tpi_store_change_rows(&op->conn->store, TPI_S_operate_note, events->args, set, &rows);
        if (status == TP_OK && rows != (int64_t)set)
            status = tpi_error(TP_DB, "the history took %lld rows of %zu", (long long)rows, set);
    }
    free(events);
    return status;
}

tp_status tpi_chunk_write_audit(struct tpi_operation *op, const struct tpi_step *step,
                                const struct tpi_chunk *chunk) {
    struct tpi_act act = {.action = step->word,
                          .who = op->who,
                          .why = op->selection->why,
                          .subject = chunk->count == 1 ? chunk->ids[0] : NULL,
                          .detail = op->detail,
                          .changed = (int64_t)chunk->count,
                          .ids = chunk->ids,
                          .id_count = chunk->count,
                          .at = chunk->at};
    memcpy(act.id, op->act, sizeof act.id);
    return tpi_audit_add(op->conn, &act);
}
