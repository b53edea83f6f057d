/* What operators do to many tasks: retry, skip, release and cancel here, purge in purge.c. The state table
 * says which tasks an action takes and what becomes of them; each chunk of at most TPI_CHUNK tasks is one
 * transaction: lock, change, write the history and the audit. A chunk that another session gets in the way of
 * is done again one by one, so that only the tasks concerned are passed over. */
#include "ops/operate_chunk.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/cancel.h"
#include "ops/history.h"
#include "ops/refused.h"
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

static tp_status read_chunk(struct tpi_operation *op, enum tpi_statement statement, struct tpi_args *args,
                            size_t limit, struct tpi_operate_chunk *chunk) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(UUID, struct tpi_operate_row, id),
        TPI_COLUMN(TEXT, struct tpi_operate_row, handler),
        TPI_COLUMN(UUID, struct tpi_operate_row, owner),
        TPI_COLUMN(TEXT, struct tpi_operate_row, reason),
        TPI_COLUMN(TEXT, struct tpi_operate_row, gate),
        TPI_COLUMN(NUMBER, struct tpi_operate_row, due_at),
        TPI_COLUMN_END,
    };
    struct tpi_stmt *stmt = NULL;
    tp_status status = tpi_store_query(&op->conn->store, statement, args, &stmt);
    if (status != TP_OK) return status;
    status =
        tpi_record_all(stmt, columns, &chunk->texts, chunk->rows, sizeof *chunk->rows, limit, &chunk->count);
    tpi_chunk_list_ids(chunk);
    return status;
}

/* Takes out what fits the pattern of the reason and is not meant. */
static void drop_unlike(const struct tpi_operation *op, struct tpi_operate_chunk *chunk) {
    size_t kept = 0;
    for (size_t i = 0; i < chunk->count; i++)
        if (tpi_select_has(&op->select, chunk->rows[i].reason)) chunk->rows[kept++] = chunk->rows[i];
    chunk->count = kept;
    tpi_chunk_list_ids(chunk);
}

static void select_args(const struct tpi_operation *op, const struct tpi_operate_step *step,
                        struct tpi_args *args) {
    tpi_operate_args(op, args);
    tpi_args_text(args, TPI_P_state, tpi_state_name(step->state));
}

/* Takes those out of the chunk that an open task's dedup_key stands in the way of. */
static tp_status drop_blocked(struct tpi_operation *op, const struct tpi_operate_step *step,
                              struct tpi_operate_chunk *chunk) {
    static const struct tpi_column only[] = TPI_COLUMN_ONLY(UUID);
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    const char *id = NULL;
    if (step->event != TPI_EVENT_RETRY || step->pool != TPI_POOL_FAILED || !chunk->count) return TP_OK;
    tpi_args_list(&args, chunk->ids, chunk->count);
    tp_status status = tpi_store_query(&op->conn->store, TPI_S_operate_blocked, &args, &stmt);
    if (status != TP_OK) return status;
    while ((status = tpi_record_next(stmt, only, &chunk->texts, &id)) == TP_OK) {
        size_t kept = 0;
        for (size_t i = 0; i < chunk->count; i++)
            if (strcmp(chunk->rows[i].id, id) != 0) chunk->rows[kept++] = chunk->rows[i];
        chunk->count = kept;
    }
    tpi_stmt_close(stmt);
    tpi_chunk_list_ids(chunk);
    return status == TP_NONE ? TP_OK : status;
}

/* Takes those out that something stands in the way of. */
static tp_status drop_hindered(struct tpi_operation *op, const struct tpi_operate_step *step,
                               struct tpi_operate_chunk *chunk) {
    tp_status status = drop_blocked(op, step, chunk);
    return status == TP_OK ? tpi_chunk_drop_gateless(op, step, chunk) : status;
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

static tp_status write_change(struct tpi_operation *op, const struct tpi_operate_step *step,
                              const struct tpi_operate_chunk *chunk) {
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
static tp_status lock_and_change(struct tpi_operation *op, const struct tpi_operate_step *step,
                                 enum tpi_operate_part part, const char *const *ids, size_t count,
                                 struct tpi_operate_chunk *held) {
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
    tpi_chunk_drop_other_part(part, held);
    if (status == TP_OK) status = tpi_chunk_drop_wanted(op, held);
    if (status == TP_OK) status = drop_hindered(op, step, held);
    if (status != TP_OK || !held->count) return status;
    status = write_change(op, step, held);
    if (status == TP_OK) status = tpi_chunk_write_gates(op, step, held);
    if (status == TP_OK && step->event == TPI_EVENT_RETRY)
        status = tpi_cancel_retract(op->conn, held->ids, held->count);
    if (status == TP_OK && step->event == TPI_EVENT_CANCEL)
        status = tpi_cancel_forget(op->conn, held->ids, held->count);
    if (status == TP_OK) status = tpi_chunk_write_history(op, step, held);
    return status == TP_OK && !op->by_worker ? tpi_chunk_write_audit(op, step, held) : status;
}

/* Of a retry: what is done, and could only not be stored. */
static size_t count_unstored(const struct tpi_operate_step *step, const struct tpi_operate_chunk *chunk) {
    size_t count = 0;
    if (step->event != TPI_EVENT_RETRY) return 0;
    for (size_t i = 0; i < chunk->count; i++)
        count += strncmp(chunk->rows[i].reason, TP_REASON_DONE, sizeof TP_REASON_DONE - 1) == 0;
    return count;
}

/* In one transaction. *in_the_way: it failed, perhaps for one of the tasks only. */
static tp_status change_some(struct tpi_operation *op, const struct tpi_operate_step *step,
                             enum tpi_operate_part part, const char *const *ids, size_t count,
                             bool *in_the_way) {
    struct tpi_scope scope;
    struct tpi_operate_chunk held = {.count = 0};
    *in_the_way = false;
    tp_status status = tpi_ask_now(op->conn, &held.at);
    if (status == TP_OK) status = tpi_scope_begin(op->conn, &scope);
    if (status != TP_OK) return status;
    status = tpi_scope_end(op->conn, &scope, lock_and_change(op, step, part, ids, count, &held));
    if (status == TP_OK) {
        op->result.done += held.count;
        op->result.unstored += count_unstored(step, &held);
    }
    tpi_texts_free(&held.texts);
    *in_the_way = status == TP_CONFLICT || status == TP_TIMEOUT;
    return status;
}

/* As rows of a request, in its transaction. */
static tp_status note_chunk(struct tpi_operation *op, const struct tpi_operate_step *step,
                            struct tpi_operate_chunk *chunk) {
    struct tpi_args args = {0};
    size_t count = chunk->count, before = op->result.done, runs = 0;
    tp_status status = drop_hindered(op, step, chunk);
    tpi_args_text(&args, TPI_P_state, tpi_state_name(step->state));
    tpi_args_number(&args, TPI_P_since, -TPI_END_OF_TIME);
    tpi_args_number(&args, TPI_P_before, TPI_END_OF_TIME);
    if (status == TP_OK && step->state == TPI_STATE_HANDLING)
        status = tpi_request_note(op->conn, op->request_id, TPI_S_request_note_runs, &args, chunk->ids,
                                  chunk->count, &runs);
    if (status == TP_OK)
        status = tpi_request_note(op->conn, op->request_id, of_pool[step->pool].note, &args, chunk->ids,
                                  chunk->count, &op->result.done);
    size_t noted = op->result.done - before, unstored = count_unstored(step, chunk);
    op->result.unstored += unstored < noted ? unstored : noted;
    op->result.passed += count - noted;
    return status;
}

/* What is in one transaction's way may be in the way of a few tasks only: then each has its own. Not in an
 * approval, which is one for all of them. */
static tp_status change_part(struct tpi_operation *op, const struct tpi_operate_step *step,
                             enum tpi_operate_part part, const char *const *ids, size_t count) {
    bool in_the_way = false;
    tp_status status = count ? change_some(op, step, part, ids, count, &in_the_way) : TP_OK;
    if (!in_the_way || !tpi_conn_is_alone(op->conn)) return status;
    status = TP_OK;
    for (size_t i = 0; i < count && status == TP_OK; i++) {
        status = change_some(op, step, part, &ids[i], 1, &in_the_way);
        if (in_the_way) status = TP_OK;
    }
    return status;
}

/* Those of the chunk that are open, and not asked for before, become news. */
static tp_status ask_each(struct tpi_operation *op, const struct tpi_operate_chunk *chunk,
                          struct tpi_operate_chunk *news, size_t *asked) {
    static const struct tpi_operate_step step = {.word = TPI_HISTORY_CANCEL, .event = TPI_EVENT_CANCEL};
    tp_status status = TP_OK;
    for (size_t i = 0; i < chunk->count && status >= TP_OK; i++) {
        bool first = false;
        status = tpi_cancel_ask(op->conn, chunk->ids[i], op->who, op->selection->why, news->at, &first);
        *asked += status == TP_OK;
        if (status == TP_OK && first) news->rows[news->count++] = chunk->rows[i];
    }
    tpi_chunk_list_ids(news);
    if (status >= TP_OK && news->count) status = tpi_chunk_write_history(op, &step, news);
    if (status >= TP_OK && news->count) status = tpi_chunk_write_audit(op, &step, news);
    return status < TP_OK ? status : TP_OK;
}

/* Of a cancel: whoever has tasks of the chunk in hand is asked to end them, in one transaction. Those that
 * have ended are left alone. Somebody else may ask at the same time. */
static tp_status ask_holders(struct tpi_operation *op, const struct tpi_operate_chunk *chunk) {
    tp_status status = TP_CONFLICT;
    for (int i = 0; i < 2 && status == TP_CONFLICT; i++) {
        struct tpi_scope scope;
        struct tpi_operate_chunk news = {.count = 0};
        size_t asked = 0;
        status = tpi_ask_now(op->conn, &news.at);
        if (status == TP_OK) status = tpi_scope_begin(op->conn, &scope);
        if (status != TP_OK) return status;
        status = tpi_scope_end(op->conn, &scope, ask_each(op, chunk, &news, &asked));
        if (status == TP_OK) op->result.asked += asked;
        if (!tpi_conn_is_alone(op->conn)) break;
    }
    return tpi_refused_judge(&op->conn->store, status, "cancel", NULL, NULL);
}

static tp_status change_chunk(struct tpi_operation *op, const struct tpi_operate_step *step,
                              struct tpi_operate_chunk *chunk) {
    const char *waiting[TPI_CHUNK];
    size_t count = chunk->count, before = op->result.done, asked = op->result.asked, some = 0;
    bool writes = step->change.written, asks = step->event == TPI_EVENT_CANCEL && !op->by_worker;
    bool parts = step->pool == TPI_POOL_PENDING && step->change.pool != TPI_POOL_PENDING &&
                 tpi_conn_is_alone(op->conn);
    tp_status status = TP_OK;
    if (!count) return TP_OK;
    if (op->request_id) return note_chunk(op, step, chunk);
    if (op->selection->dry_run) {
        status = drop_hindered(op, step, chunk);
        *(writes ? &op->result.done : &op->result.asked) += chunk->count;
        op->result.unstored += count_unstored(step, chunk);
        op->result.passed += count - chunk->count;
        return status;
    }
    for (size_t i = 0; i < count && parts; i++)
        if (tpi_operate_waits(&chunk->rows[i])) waiting[some++] = chunk->ids[i];
    status = change_part(op, step, TPI_PART_WAITING, waiting, some);
    if (status == TP_OK && op->result.done - before < count && writes)
        status = change_part(op, step, parts ? TPI_PART_OTHERS : TPI_PART_ALL, chunk->ids, count);
    if (status == TP_OK && op->result.done - before < count && asks) status = ask_holders(op, chunk);
    op->result.passed += count - (op->result.done - before) - (op->result.asked - asked);
    return status;
}

/* ---- All of it ----------------------------------------------------------------------------------------- */

/* The selected ones of the given ids. */
static tp_status read_given(struct tpi_operation *op, const struct tpi_operate_step *step, const char *after,
                            struct tpi_operate_chunk *chunk, const char **last) {
    struct tpi_args args = {0};
    const char *ids[TPI_CHUNK];
    size_t count = tpi_ids_behind(&op->ids, after, TPI_CHUNK, ids);
    if (!count) return TP_OK;
    if (count == TPI_CHUNK) *last = ids[count - 1];
    select_args(op, step, &args);
    tpi_args_list(&args, ids, count);
    return read_chunk(op, of_pool[step->pool].read, &args, TPI_CHUNK, chunk);
}

static tp_status pick(struct tpi_operation *op, const struct tpi_operate_step *step, size_t most,
                      const char *after, struct tpi_operate_chunk *chunk, const char **last) {
    struct tpi_args args = {0};
    select_args(op, step, &args);
    tpi_args_text(&args, TPI_P_after_id, *after ? after : TPI_FIRST_ID);
    tpi_args_number(&args, TPI_P_limit, (int64_t)most);
    tp_status status = read_chunk(op, of_pool[step->pool].pick, &args, most, chunk);
    if (chunk->count == most) *last = chunk->ids[most - 1];
    return status;
}

/* The next tasks behind the id after ("": all), in the order of ids, at most room; after becomes the last
 * that was looked at. Not each that is read need be meant, of given ids and of reasons that are like another:
 * those are read 500 at a time. *more: there may be others. */
static tp_status next_chunk(struct tpi_operation *op, const struct tpi_operate_step *step, size_t room,
                            char after[TPI_UUID_SIZE], struct tpi_operate_chunk *chunk, bool *more) {
    const char *last = NULL;
    tp_status status = op->ids.narrowed /* to no task at all is no wish for all others */
                           ? read_given(op, step, after, chunk, &last)
                           : pick(op, step, *op->select.alike ? TPI_CHUNK : room, after, chunk, &last);
    drop_unlike(op, chunk);
    if (chunk->count > room) {
        chunk->count = room;
        last = chunk->ids[room - 1];
    }
    *more = last;
    if (last) tpi_utf8_copy(last, after, TPI_UUID_SIZE);
    return status;
}

static tp_status run_step(struct tpi_operation *op, const struct tpi_operate_step *step) {
    char after[TPI_UUID_SIZE] = "";
    size_t room;
    tp_status status = TP_OK;
    for (bool more = true; more && status == TP_OK && (room = tpi_operate_room(op)) > 0;) {
        struct tpi_operate_chunk chunk = {.count = 0};
        status = next_chunk(op, step, room, after, &chunk, &more);
        if (status == TP_OK) status = change_chunk(op, step, &chunk);
        tpi_texts_free(&chunk.texts);
    }
    return status;
}

static bool selected(const char *asked, const char *name) {
    return !asked || strcmp(asked, name) == 0;
}

/* Failed tasks are retried before those that wait for a retry: one of these that is run meanwhile may be
 * done, and could only not be stored, and would be retried once more. */
static enum tpi_pool pool_of_turn(tp_action action, int turn) {
    return (enum tpi_pool)(action == TP_ACTION_RETRY ? TPI_POOL_COUNT - 1 - turn : turn);
}

static tp_status move(struct tpi_operation *op, tp_action action) {
    static const struct tpi_operate_step actions[] = {
        [TP_ACTION_RETRY] = {.word = TPI_HISTORY_RETRIED, .event = TPI_EVENT_RETRY},
        [TP_ACTION_SKIP] = {.word = TPI_HISTORY_SKIPPED, .event = TPI_EVENT_DROP},
        [TP_ACTION_RELEASE] = {.word = TPI_HISTORY_RELEASED, .event = TPI_EVENT_FREE},
        [TP_ACTION_CANCEL] = {.word = TPI_HISTORY_CANCELED, .event = TPI_EVENT_CANCEL}};
    static const struct tpi_facts facts = {.failures = 1, .max_failures = 2};
    tp_status status = TP_OK;
    bool any = false;
    for (int turn = 0; turn < TPI_POOL_COUNT; turn++)
        for (int state = 0; state < TPI_STATE_COUNT && status == TP_OK; state++) {
            struct tpi_operate_step step = actions[action];
            step.pool = pool_of_turn(action, turn);
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
