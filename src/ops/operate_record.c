/* What is recorded of an operator's chunk: an event of the history for each task, and an act of the audit for
 * all of them. See operate_chunk.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/audit.h"
#include "ops/operate_chunk.h"

enum { EVENT_ROWS = TPI_ROWS_MAX, EVENT_FEW = 10 };
struct events {
    struct tpi_args args[EVENT_ROWS];
    char ids[EVENT_ROWS][TPI_UUID_SIZE];
};

/* What the history and the audit call it. */
static const char *word_of(const struct tpi_operation *op, const struct tpi_operate_step *step) {
    return op->word ? op->word : step->word;
}

/* In sets of a few sizes, so that few statements are prepared. */
tp_status tpi_chunk_write_history(struct tpi_operation *op, const struct tpi_operate_step *step,
                                  const struct tpi_operate_chunk *chunk) {
    struct events *events = malloc(sizeof *events);
    if (!events) return tpi_error(TP_NOMEM, "out of memory");
    tp_status status = TP_OK;
    for (size_t at = 0, set; at < chunk->count && status == TP_OK; at += set) {
        int64_t rows = 0;
        size_t left = chunk->count - at;
        set = left >= EVENT_ROWS ? EVENT_ROWS : left >= EVENT_FEW ? EVENT_FEW : 1;
        for (size_t i = 0; i < set; i++) {
            struct tpi_args *args = &events->args[i];
            const struct tpi_operate_row *row = &chunk->rows[at + i];
            *args = (struct tpi_args){0};
            tpi_uuid_ordered(events->ids[i]);
            tpi_args_text(args, TPI_P_history_id, events->ids[i]);
            tpi_args_text(args, TPI_P_id, row->id);
            tpi_args_text(args, TPI_P_handler, row->handler);
            tpi_args_text(args, TPI_P_event, word_of(op, step));
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

tp_status tpi_chunk_write_audit(struct tpi_operation *op, const struct tpi_operate_step *step,
                                const struct tpi_operate_chunk *chunk) {
    struct tpi_act act = {.action = word_of(op, step),
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
