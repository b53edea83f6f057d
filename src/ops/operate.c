/* What operators do to many tasks: retry, skip, release and cancel here, purge in purge.c. The state table
 * says which tasks an action takes and what becomes of them; each chunk of at most TPI_CHUNK tasks is one
 * transaction: lock, change, write the history and the audit. A chunk that another session gets in the way of
 * is done again one by one, so that only the tasks concerned are passed over. */
#include "ops/operate_chunk.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/cancel.h"
#include "ops/history.h"
#include "ops/request.h"
#include "store/record.h"

static const struct {
    enum tpi_statement pick, read, lock, touch, skip, drop, note;
} of_pool[TPI_POOL_COUNT] = {
    [TPI_POOL_PENDING] = {TPI_S_operate_pick_pending, TPI_S_operate_select_pending,
                          TPI_S_operate_lock_pending, TPI_S_operate_touch_pending, TPI_S_operate_skip_pending,
                          TPI_S_operate_delete_pending, TPI_S_request_rows_pending},
    [TPI_POOL_FAILED] = {TPI_S_operate_pick_failed, TPI_S_operate_select_failed, TPI_S_operate_lock_failed,
                         TPI_S_operate_touch_failed, TPI_S_operate_skip_failed, TPI_S_operate_delete_failed,
                         TPI_S_request_rows_failed},
};

/* ---- Reading ------------------------------------------------------------------------------------------- */

static void list_ids(struct tpi_chunk *chunk) {
    for (size_t i = 0; i < chunk->count; i++)
        chunk->ids[i] = chunk->rows[i].id;
}

static tp_status read_chunk(struct tpi_operation *op, enum tpi_statement statement, struct tpi_args *args,
                            size_t limit, struct tpi_chunk *chunk) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(UUID, struct tpi_operated_row, id),
        TPI_COLUMN(TEXT, struct tpi_operated_row, handler),
        TPI_COLUMN(UUID, struct tpi_operated_row, owner),
        TPI_COLUMN(TEXT, struct tpi_operated_row, reason),
        TPI_COLUMN(TEXT, struct tpi_operated_row, gate),
        TPI_COLUMN(NUMBER, struct tpi_operated_row, due_at),
        TPI_COLUMN_END,
    };
    struct tpi_stmt *stmt = NULL;
    tp_status status = tpi_store_query(&op->conn->store, statement, args, &stmt);
    if (status != TP_OK) return status;
    status =
        tpi_record_all(stmt, columns, &chunk->texts, chunk->rows, sizeof *chunk->rows, limit, &chunk->count);
    list_ids(chunk);
    return status;
}

/* Takes out what fits the pattern of the reason and is not meant. */
static void drop_unlike(const struct tpi_operation *op, struct tpi_chunk *chunk) {
    size_t kept = 0;
    for (size_t i = 0; i < chunk->count; i++)
        if (tpi_select_has(&op->select, chunk->rows[i].reason)) chunk->rows[kept++] = chunk->rows[i];
    chunk->count = kept;
    list_ids(chunk);
}

static void select_args(const struct tpi_operation *op, const struct tpi_step *step, struct tpi_args *args) {
    tpi_operate_args(op, args);
    tpi_args_text(args, TPI_P_state, tpi_state_name(step->state));
}

/* Takes those out of the chunk that an open task's dedup_key stands in the way of. */
static tp_status drop_blocked(struct tpi_operation *op, const struct tpi_step *step,
                              struct tpi_chunk *chunk) {
    static const struct tpi_column only[] = TPI_COLUMN_ONLY(UUID);
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    const char *id = NULL;
    if (step->event != TPI_EVENT_RETRY || step->pool != TPI_POOL_FAILED || !chunk->count) return TP_OK;
    tpi_args_list(&args, chunk->ids, chunk->count);
    tp_status status = tpi_store_query(&op->conn->store, TPI_S_operate_blocked, &args, &stmt);
    if (status != TP_OK) return status;
    while ((status = tpi_record_next(stmt, only, &chunk->texts, &id)) == TP_OK)
        for (size_t i = 0; i < chunk->count;) {
            if (strcmp(chunk->rows[i].id, id) == 0)
                chunk->rows[i] = chunk->rows[--chunk->count];
            else
                i++;
        }
    tpi_stmt_close(stmt);
    list_ids(chunk);
    return status == TP_NONE ? TP_OK : status;
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

/* Changes as many rows as the arguments list. */
static tp_status change_all(struct tpi_operation *op, enum tpi_statement statement, struct tpi_args *args) {
    int64_t rows = 0;
    tp_status status = tpi_store_change(&op->conn->store, statement, args, &rows);
    if (status != TP_OK || rows == (int64_t)args->list_count) return status;
    tpi_store_forget(&op->conn->store); /* as in refused.c */
    return tpi_error(TP_CONFLICT, "%s changed %lld tasks of %zu: another session got in the way",
                     tpi_statement_name(statement), (long long)rows, args->list_count);
}

static tp_status write_change(struct tpi_operation *op, const struct tpi_step *step,
                              const struct tpi_chunk *chunk) {
    struct tpi_args args = {0};
    const struct tpi_change *change = &step->change;
    tpi_args_list(&args, chunk->ids, chunk->count);
    tpi_args_text(&args, TPI_P_state, tpi_state_name(step->state));
    tpi_args_text(&args, TPI_P_to_state, tpi_state_name(change->state));
    /* A retried task keeps the reason of its last failure. */
    if (step->event != TPI_EVENT_RETRY) tpi_args_text(&args, TPI_P_reason, op->why);
    tpi_args_number(&args, TPI_P_at, chunk->at);
    if (!change->failures) tpi_args_number(&args, TPI_P_failures, 0);
    if (change->pool == step->pool) return change_all(op, TPI_S_operate_reset, &args);
    enum tpi_statement copy =
        change->pool == TPI_POOL_FINISHED ? of_pool[step->pool].skip : TPI_S_operate_retry_failed;
    tp_status status = change_all(op, copy, &args);
    return status == TP_OK ? change_all(op, of_pool[step->pool].drop, &args) : status;
}

/* ---- One chunk ----------------------------------------------------------------------------------------- */

/* Locks what of the ids is still selected and not held by others, and changes it. */
static tp_status lock_and_change(struct tpi_operation *op, const struct tpi_step *step,
                                 const char *const *ids, size_t count, struct tpi_chunk *held) {
    struct tpi_args args = {0};
    struct tpi_store *store = &op->conn->store;
    bool skip = store->caps & TPI_CAP_SKIP;
    int64_t rows = 0;
    select_args(op, step, &args);
    tpi_args_list(&args, ids, count);
    tp_status status = skip ? TP_OK : tpi_store_change(store, of_pool[step->pool].touch, &args, &rows);
    /* The touch made the rows younger by a millisecond. */
    if (!skip && op->before < TPI_END_OF_TIME) tpi_args_number(&args, TPI_P_before, op->before + 1);
    enum tpi_statement read = skip ? of_pool[step->pool].lock : of_pool[step->pool].read;
    if (status == TP_OK) status = read_chunk(op, read, &args, TPI_CHUNK, held);
    drop_unlike(op, held);
    if (status == TP_OK) status = drop_blocked(op, step, held);
    if (status != TP_OK || !held->count) return status;
    status = write_change(op, step, held);
    if (status == TP_OK) status = tpi_chunk_write_gates(op, step, held);
    bool forgets = step->event == TPI_EVENT_RETRY || step->event == TPI_EVENT_CANCEL;
    if (status == TP_OK && forgets) status = tpi_cancel_forget(op->conn, held->ids, held->count);
    if (status == TP_OK) status = tpi_chunk_write_history(op, step, held);
    return status == TP_OK && !op->by_worker ? tpi_chunk_write_audit(op, step, held) : status;
}

static bool holds(const struct tpi_chunk *chunk, const char *id) {
    for (size_t i = 0; i < chunk->count; i++)
        if (strcmp(chunk->rows[i].id, id) == 0) return true;
    return false;
}

/* Of a cancel: asks whoever has the others in hand to end. Those that have ended are left alone. */
static tp_status ask_others(struct tpi_operation *op, const struct tpi_operated_row *rows, size_t count,
                            const struct tpi_chunk *held, size_t *asked) {
    static const struct tpi_step step = {.word = TPI_HISTORY_CANCEL, .event = TPI_EVENT_CANCEL};
    struct tpi_chunk news = {.count = 0, .at = held->at};
    tp_status status = TP_OK;
    for (size_t i = 0; i < count && status >= TP_OK; i++) {
        bool first = false;
        if (holds(held, rows[i].id)) continue;
        status = tpi_cancel_ask(op->conn, rows[i].id, op->who, op->selection->why, held->at, &first);
        *asked += status == TP_OK;
        if (status == TP_OK && first) news.rows[news.count++] = rows[i];
    }
    list_ids(&news);
    if (status >= TP_OK && news.count) status = tpi_chunk_write_history(op, &step, &news);
    if (status >= TP_OK && news.count) status = tpi_chunk_write_audit(op, &step, &news);
    return status < TP_OK ? status : TP_OK;
}

static tp_status change_or_ask(struct tpi_operation *op, const struct tpi_step *step,
                               const struct tpi_operated_row *rows, size_t count, struct tpi_chunk *held,
                               size_t *asked) {
    const char *ids[TPI_CHUNK];
    tp_status status = TP_OK;
    for (size_t i = 0; i < count; i++)
        ids[i] = rows[i].id;
    if (step->change.written) status = lock_and_change(op, step, ids, count, held);
    if (status != TP_OK || step->event != TPI_EVENT_CANCEL || op->by_worker) return status;
    return ask_others(op, rows, count, held, asked);
}

/* In one transaction. *in_the_way: it failed, perhaps for one of the tasks only. */
static tp_status change_some(struct tpi_operation *op, const struct tpi_step *step,
                             const struct tpi_operated_row *rows, size_t count, bool *in_the_way) {
    struct tpi_scope scope;
    struct tpi_chunk held = {.count = 0};
    size_t asked = 0;
    *in_the_way = false;
    tp_status status = tpi_ask_now(op->conn, &held.at);
    if (status == TP_OK) status = tpi_scope_begin(op->conn, &scope);
    if (status != TP_OK) return status;
    status = tpi_scope_end(op->conn, &scope, change_or_ask(op, step, rows, count, &held, &asked));
    if (status == TP_OK) {
        op->result.done += held.count;
        op->result.asked += asked;
        op->result.passed += count - held.count - asked;
    }
    tpi_texts_free(&held.texts);
    *in_the_way = status == TP_CONFLICT || status == TP_TIMEOUT;
    return status;
}

/* As rows of a request, in its transaction. */
static tp_status note_chunk(struct tpi_operation *op, const struct tpi_step *step, struct tpi_chunk *chunk) {
    struct tpi_args args = {0};
    size_t count = chunk->count, before = op->result.done;
    tp_status status = drop_blocked(op, step, chunk);
    tpi_args_text(&args, TPI_P_state, tpi_state_name(step->state));
    tpi_args_number(&args, TPI_P_since, -TPI_END_OF_TIME);
    tpi_args_number(&args, TPI_P_before, TPI_END_OF_TIME);
    if (status == TP_OK)
        status = tpi_request_note(op->conn, op->request_id, of_pool[step->pool].note, &args, chunk->ids,
                                  chunk->count, &op->result.done);
    op->result.passed += count - (op->result.done - before);
    return status;
}

/* What is in one transaction's way may be in the way of a few tasks only: then each has its own. Not in an
 * approval, which is one for all of them. */
static tp_status change_chunk(struct tpi_operation *op, const struct tpi_step *step,
                              struct tpi_chunk *chunk) {
    size_t count = chunk->count;
    bool in_the_way = false;
    if (!count) return TP_OK;
    if (op->request_id) return note_chunk(op, step, chunk);
    if (op->selection->dry_run) {
        tp_status status = drop_blocked(op, step, chunk);
        *(step->change.written ? &op->result.done : &op->result.asked) += chunk->count;
        op->result.passed += count - chunk->count;
        return status;
    }
    tp_status status = change_some(op, step, chunk->rows, count, &in_the_way);
    if (!in_the_way || !tpi_conn_is_alone(op->conn)) return status;
    status = TP_OK;
    for (size_t i = 0; i < count && status == TP_OK; i++) {
        status = change_some(op, step, &chunk->rows[i], 1, &in_the_way);
        /* Of a cancel nothing is left open. */
        if (!in_the_way || step->event == TPI_EVENT_CANCEL) continue;
        op->result.passed++;
        status = TP_OK;
    }
    return status;
}

/* ---- All of it ----------------------------------------------------------------------------------------- */

/* Chunk by chunk: of the ids that were given, or in the order of ids behind the last one. */
static tp_status run_step(struct tpi_operation *op, const struct tpi_step *step) {
    char after[TPI_UUID_SIZE] = "00000000-0000-0000-0000-000000000000";
    size_t at = 0, room;
    /* A business row without tasks is no wish for those of all others. */
    bool given = op->ids || op->selection->biz_key;
    tp_status status = TP_OK;
    for (bool more = true; more && status == TP_OK && (room = tpi_operate_room(op)) > 0;) {
        struct tpi_args args = {0};
        struct tpi_chunk chunk = {.count = 0};
        const char *ids[TPI_CHUNK];
        size_t some = 0;
        select_args(op, step, &args);
        if (given) {
            for (; at < op->id_count && some < TPI_CHUNK; at++)
                ids[some++] = op->ids[at];
            tpi_args_list(&args, ids, some);
            more = at < op->id_count;
        } else {
            tpi_args_text(&args, TPI_P_after_id, after);
            tpi_args_number(&args, TPI_P_limit, (int64_t)room);
        }
        enum tpi_statement read = given ? of_pool[step->pool].read : of_pool[step->pool].pick;
        status = read_chunk(op, read, &args, room, &chunk);
        if (!given) more = chunk.count == room;
        if (more && !given) tpi_utf8_copy(chunk.ids[room - 1], after, sizeof after);
        drop_unlike(op, &chunk);
        if (status == TP_OK) status = change_chunk(op, step, &chunk);
        tpi_texts_free(&chunk.texts);
    }
    return status;
}

static bool selected(const char *asked, const char *name) {
    return !asked || strcmp(asked, name) == 0;
}

static tp_status move(struct tpi_operation *op, tp_action action) {
    static const struct tpi_step actions[] = {
        [TP_ACTION_RETRY] = {.word = TPI_HISTORY_RETRIED, .event = TPI_EVENT_RETRY},
        [TP_ACTION_SKIP] = {.word = TPI_HISTORY_SKIPPED, .event = TPI_EVENT_DROP},
        [TP_ACTION_RELEASE] = {.word = TPI_HISTORY_RELEASED, .event = TPI_EVENT_FREE},
        [TP_ACTION_CANCEL] = {.word = TPI_HISTORY_CANCELED, .event = TPI_EVENT_CANCEL}};
    static const struct tpi_facts facts = {.failures = 1, .max_failures = 2};
    tp_status status = TP_OK;
    bool any = false;
    for (int pool = 0; pool < TPI_POOL_COUNT; pool++)
        for (int state = 0; state < TPI_STATE_COUNT && status == TP_OK; state++) {
            struct tpi_step step = actions[action];
            step.pool = (enum tpi_pool)pool;
            step.state = (enum tpi_state)state;
            step.change = tpi_fsm_decide(step.pool, step.state, step.event, &facts);
            const char *only = op->selection->pool;
            if (only && strcmp(only, "all") == 0) only = NULL;
            bool asked = selected(only, tpi_pool_name(step.pool)) &&
                         selected(op->selection->state, tpi_state_name(step.state));
            bool asks = step.event == TPI_EVENT_CANCEL && step.change.verdict == TP_OK && !op->by_worker;
            if (!asked || (!step.change.written && !asks)) continue;
            any = true;
            status = run_step(op, &step);
        }
    if (any) return status;
    return tpi_error(TP_MISUSE,
                     "this action changes no task in state '%s'%s%s; taskpool fsm prints the states it takes",
                     op->selection->state, op->selection->pool ? " of pool " : "",
                     op->selection->pool ? op->selection->pool : "");
}

tp_status tpi_operate_run(struct tpi_operation *op, tp_action action) {
    return action == TP_ACTION_PURGE ? tpi_purge(op) : move(op, action);
}
