/* Retry, skip and release. The state table says which tasks an action takes and what becomes of them; each
 * piece of at most TPI_PIECE tasks is one transaction: lock, change, write the history. A piece that another
 * session gets in the way of is done again one by one, so that only the tasks concerned are passed over. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/ask.h"
#include "ops/history.h"
#include "ops/operate.h"
#include "store/record.h"

/* Tasks of one state in one pool, and the change that the action makes to them. */
struct pass {
    const char *word; /* the history's */
    enum tpi_event event;
    enum tpi_pool pool;
    enum tpi_state state;
    struct tpi_change change;
};

static const struct {
    enum tpi_statement pick, look, lock, touch, skip, drop;
} of_pool[TPI_POOL_COUNT] = {
    [TPI_POOL_PENDING] = {TPI_S_operate_pick_pending, TPI_S_operate_select_pending,
                          TPI_S_operate_lock_pending, TPI_S_operate_touch_pending, TPI_S_operate_skip_pending,
                          TPI_S_operate_delete_pending},
    [TPI_POOL_FAILED] = {TPI_S_operate_pick_failed, TPI_S_operate_select_failed, TPI_S_operate_lock_failed,
                         TPI_S_operate_touch_failed, TPI_S_operate_skip_failed, TPI_S_operate_delete_failed},
};

/* Tasks in hand. */
struct piece {
    struct tpi_texts texts;
    size_t count;
    const char *id[TPI_PIECE], *handler[TPI_PIECE], *owner[TPI_PIECE];
};

/* ---- Reading ------------------------------------------------------------------------------------------- */

struct row {
    const char *id, *handler, *owner;
};

static tp_status read_piece(struct tpi_operation *op, enum tpi_statement statement, struct tpi_args *args,
                            size_t limit, struct piece *piece) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(UUID, struct row, id),
        TPI_COLUMN(TEXT, struct row, handler),
        TPI_COLUMN(UUID, struct row, owner),
        TPI_COLUMN_END,
    };
    struct tpi_stmt *stmt = NULL;
    struct row row;
    tp_status status = tpi_store_query(&op->conn->store, statement, args, &stmt);
    if (status != TP_OK) return status;
    while (piece->count < limit && (status = tpi_record_next(stmt, columns, &piece->texts, &row)) == TP_OK) {
        piece->id[piece->count] = row.id;
        piece->handler[piece->count] = row.handler;
        piece->owner[piece->count++] = row.owner;
    }
    tpi_stmt_close(stmt);
    return status == TP_NONE ? TP_OK : status;
}

static void select_args(const struct tpi_operation *op, const struct pass *pass, struct tpi_args *args) {
    tpi_operate_args(op, args);
    tpi_args_text(args, TPI_P_state, tpi_state_name(pass->state));
}

/* Takes those out of the piece that an open task's dedup_key stands in the way of. */
static tp_status drop_blocked(struct tpi_operation *op, const struct pass *pass, struct piece *piece) {
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    static const struct tpi_column only[] = TPI_COLUMN_ONLY(UUID);
    const char *id = NULL;
    if (pass->event != TPI_EVENT_RETRY || pass->pool != TPI_POOL_FAILED || !piece->count) return TP_OK;
    tpi_args_list(&args, piece->id, piece->count);
    tp_status status = tpi_store_query(&op->conn->store, TPI_S_operate_blocked, &args, &stmt);
    if (status != TP_OK) return status;
    while ((status = tpi_record_next(stmt, only, &piece->texts, &id)) == TP_OK) {
        size_t i = 0;
        while (i < piece->count && strcmp(piece->id[i], id) != 0)
            i++;
        if (i == piece->count) continue;
        piece->count--;
        piece->id[i] = piece->id[piece->count];
        piece->handler[i] = piece->handler[piece->count];
        piece->owner[i] = piece->owner[piece->count];
    }
    tpi_stmt_close(stmt);
    return status == TP_NONE ? TP_OK : status;
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

static tp_status write_all(struct tpi_operation *op, enum tpi_statement statement, struct tpi_args *args,
                           size_t count) {
    int64_t rows = 0;
    tp_status status = tpi_store_change(&op->conn->store, statement, args, &rows);
    if (status != TP_OK || rows == (int64_t)count) return status;
    tpi_store_forget(&op->conn->store); /* as in refused.c */
    return tpi_error(TP_CONFLICT, "%s changed %lld tasks of %zu: another session got in the way",
                     tpi_statement_name(statement), (long long)rows, count);
}

static tp_status write_change(struct tpi_operation *op, const struct pass *pass, const struct piece *piece) {
    struct tpi_args args = {0};
    const struct tpi_change *change = &pass->change;
    tpi_args_list(&args, piece->id, piece->count);
    tpi_args_text(&args, TPI_P_state, tpi_state_name(pass->state));
    tpi_args_text(&args, TPI_P_to_state, tpi_state_name(change->state));
    /* A retried task keeps the reason of its last failure. */
    if (pass->event != TPI_EVENT_RETRY) tpi_args_text(&args, TPI_P_reason, op->why);
    tpi_args_number(&args, TPI_P_at, op->at);
    if (!change->failures) tpi_args_number(&args, TPI_P_failures, 0);
    if (change->pool == pass->pool) return write_all(op, TPI_S_operate_reset, &args, piece->count);
    enum tpi_statement copy =
        change->pool == TPI_POOL_FINISHED ? of_pool[pass->pool].skip : TPI_S_operate_retry_failed;
    tp_status status = write_all(op, copy, &args, piece->count);
    return status == TP_OK ? write_all(op, of_pool[pass->pool].drop, &args, piece->count) : status;
}

enum { NOTE_ROWS = TPI_ROWS_MAX, NOTE_FEW = 10 };
struct notes {
    struct tpi_args args[NOTE_ROWS];
    char ids[NOTE_ROWS][TPI_UUID_SIZE];
};

/* In sets of a few sizes, so that few statements are prepared. */
static tp_status write_notes(struct tpi_operation *op, const struct pass *pass, const struct piece *piece) {
    struct notes *notes = malloc(sizeof *notes);
    if (!notes) return tpi_error(TP_NOMEM, "out of memory");
    tp_status status = TP_OK;
    for (size_t at = 0, set; at < piece->count && status == TP_OK; at += set) {
        int64_t rows = 0;
        size_t left = piece->count - at;
        set = left >= NOTE_ROWS ? NOTE_ROWS : left >= NOTE_FEW ? NOTE_FEW : 1;
        for (size_t i = 0; i < set; i++) {
            struct tpi_args *args = &notes->args[i];
            *args = (struct tpi_args){0};
            tpi_uuid_ordered(notes->ids[i]);
            tpi_args_text(args, TPI_P_history_id, notes->ids[i]);
            tpi_args_text(args, TPI_P_id, piece->id[at + i]);
            tpi_args_text(args, TPI_P_handler, piece->handler[at + i]);
            tpi_args_text(args, TPI_P_event, pass->word);
            tpi_args_text(args, TPI_P_token, pass->event == TPI_EVENT_FREE ? piece->owner[at + i] : NULL);
            tpi_args_text(args, TPI_P_who, op->who);
            tpi_args_text(args, TPI_P_reason, op->why);
            tpi_args_number(args, TPI_P_at, op->at);
        }
        status = tpi_store_change_rows(&op->conn->store, TPI_S_operate_note, notes->args, set, &rows);
        if (status == TP_OK && rows != (int64_t)set)
            status = tpi_error(TP_DB, "the history took %lld rows of %zu", (long long)rows, set);
    }
    free(notes);
    return status;
}

/* ---- One piece ----------------------------------------------------------------------------------------- */

/* Locks what of the ids is still selected and not held by others, and changes it. */
static tp_status change_held(struct tpi_operation *op, const struct pass *pass, const char *const *ids,
                             size_t count, struct piece *held) {
    struct tpi_args args = {0};
    struct tpi_store *store = &op->conn->store;
    bool skip = store->caps & TPI_CAP_SKIP;
    int64_t rows = 0;
    select_args(op, pass, &args);
    tpi_args_list(&args, ids, count);
    tp_status status = skip ? TP_OK : tpi_store_change(store, of_pool[pass->pool].touch, &args, &rows);
    /* The touch made the rows younger by a millisecond. */
    if (!skip) tpi_args_number(&args, TPI_P_before, op->before + 1);
    enum tpi_statement look = skip ? of_pool[pass->pool].lock : of_pool[pass->pool].look;
    if (status == TP_OK) status = read_piece(op, look, &args, TPI_PIECE, held);
    if (status == TP_OK) status = drop_blocked(op, pass, held);
    if (status == TP_OK && held->count) status = write_change(op, pass, held);
    return status == TP_OK && held->count ? write_notes(op, pass, held) : status;
}

/* *began: a failure may be the fault of one of the tasks. */
static tp_status change_piece(struct tpi_operation *op, const struct pass *pass, const char *const *ids,
                              size_t count, bool *began) {
    struct tpi_scope scope;
    *began = false;
    tp_status status = tpi_ask_now(op->conn, &op->at);
    if (status == TP_OK) status = tpi_scope_begin(op->conn, &scope);
    if (status != TP_OK) return status;
    *began = true;
    struct piece held = {.count = 0};
    status = tpi_scope_end(op->conn, &scope, change_held(op, pass, ids, count, &held));
    if (status == TP_OK) {
        op->result.done += held.count;
        op->result.passed += count - held.count;
    }
    tpi_texts_free(&held.texts);
    return status;
}

static bool in_the_way(tp_status status, bool began) {
    return began && (status == TP_CONFLICT || status == TP_TIMEOUT);
}

/* What is in one transaction's way may be in the way of a few tasks only: then each has its own. */
static tp_status work(struct tpi_operation *op, const struct pass *pass, struct piece *piece) {
    size_t count = piece->count;
    bool began = false;
    if (!count) return TP_OK;
    if (op->selection->dry_run) {
        tp_status status = drop_blocked(op, pass, piece);
        op->result.done += piece->count;
        op->result.passed += count - piece->count;
        return status;
    }
    tp_status status = change_piece(op, pass, piece->id, count, &began);
    if (!in_the_way(status, began)) return status;
    status = TP_OK;
    for (size_t i = 0; i < count && status == TP_OK; i++) {
        status = change_piece(op, pass, &piece->id[i], 1, &began);
        if (!in_the_way(status, began)) continue;
        op->result.passed++;
        status = TP_OK;
    }
    return status;
}

/* ---- All of a pass ------------------------------------------------------------------------------------- */

static tp_status work_on_ids(struct tpi_operation *op, const struct pass *pass) {
    size_t count = op->selection->id_count, room = tpi_operate_room(op);
    tp_status status = TP_OK;
    for (size_t at = 0; at < count && room && status == TP_OK; at += TPI_PIECE) {
        struct tpi_args args = {0};
        const char *ids[TPI_PIECE];
        size_t some = count - at < TPI_PIECE ? count - at : TPI_PIECE;
        /* cppcheck-suppress knownConditionTrueFalse; it takes the bound for 0 */
        for (size_t i = 0; i < some; i++)
            ids[i] = op->ids[at + i];
        struct piece piece = {.count = 0};
        select_args(op, pass, &args);
        tpi_args_list(&args, ids, some);
        status = read_piece(op, of_pool[pass->pool].look, &args, room, &piece);
        if (status == TP_OK) status = work(op, pass, &piece);
        tpi_texts_free(&piece.texts);
        room = tpi_operate_room(op);
    }
    return status;
}

/* The next piece behind *after; *more: there may be others. */
static tp_status work_on_next(struct tpi_operation *op, const struct pass *pass, char after[TPI_UUID_SIZE],
                              bool *more) {
    struct tpi_args args = {0};
    size_t room = tpi_operate_room(op);
    *more = false;
    if (!room) return TP_OK;
    struct piece piece = {.count = 0};
    select_args(op, pass, &args);
    tpi_args_text(&args, TPI_P_after_id, after);
    tpi_args_number(&args, TPI_P_limit, (int64_t)room);
    tp_status status = read_piece(op, of_pool[pass->pool].pick, &args, room, &piece);
    if (status == TP_OK && piece.count) {
        const char *last = piece.id[piece.count - 1];
        memcpy(after, last, strlen(last) < TPI_UUID_SIZE ? strlen(last) + 1 : TPI_UUID_SIZE);
        after[TPI_UUID_SIZE - 1] = '\0';
        *more = piece.count == room;
        status = work(op, pass, &piece);
    }
    tpi_texts_free(&piece.texts);
    return status;
}

static tp_status run_pass(struct tpi_operation *op, const struct pass *pass) {
    char after[TPI_UUID_SIZE] = "00000000-0000-0000-0000-000000000000";
    tp_status status = TP_OK;
    if (op->ids) return work_on_ids(op, pass);
    for (bool more = true; status == TP_OK && more;)
        status = work_on_next(op, pass, after, &more);
    return status;
}

static bool selected(const char *asked, const char *name) {
    return !asked || strcmp(asked, name) == 0;
}

tp_status tpi_operate_move(struct tpi_operation *op, tp_action action) {
    static const struct pass actions[] = {
        [TP_ACTION_RETRY] = {.word = TPI_TOLD_RETRIED, .event = TPI_EVENT_RETRY},
        [TP_ACTION_SKIP] = {.word = TPI_TOLD_SKIPPED, .event = TPI_EVENT_DROP},
        [TP_ACTION_RELEASE] = {.word = TPI_TOLD_RELEASED, .event = TPI_EVENT_FREE}};
    static const struct tpi_facts facts = {.failures = 1, .max_failures = 2};
    tp_status status = TP_OK;
    bool any = false;
    for (int pool = 0; pool < TPI_POOL_COUNT; pool++)
        for (int state = 0; state < TPI_STATE_COUNT && status == TP_OK; state++) {
            struct pass pass = actions[action];
            pass.pool = (enum tpi_pool)pool;
            pass.state = (enum tpi_state)state;
            pass.change = tpi_fsm_decide(pass.pool, pass.state, pass.event, &facts);
            bool asked = selected(op->selection->pool, tpi_pool_name(pass.pool)) &&
                         selected(op->selection->state, tpi_state_name(pass.state));
            if (!asked || !pass.change.written) continue;
            any = true;
            status = run_pass(op, &pass);
        }
    if (any) return status;
    return tpi_error(TP_MISUSE,
                     "this action changes no task in state '%s'%s%s; taskpool fsm prints the states it takes",
                     op->selection->state, op->selection->pool ? " of pool " : "",
                     op->selection->pool ? op->selection->pool : "");
}
