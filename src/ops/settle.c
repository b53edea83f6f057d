/* Settling: the state table decides what is to be written, a statement guarded by id, state and token writes
 * it, and its row count says whether the claim still held. When it did not, one query tells a lost claim from
 * a settle that an earlier try of the same call had done. */
#include "ops/settle.h"

#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "base/utf8.h"
#include "core/fsm.h"
#include "core/retry.h"
#include "ops/for_workers.h"
#include "ops/history.h"
#include "ops/hold.h"
#include "ops/refused.h"

/* One settle as asked. */
struct request {
    tp_conn *conn;
    const tp_task *task;
    enum tpi_event event;
    const tp_retry *retry;
    int64_t delay_ms, lease_ms;
    char reason[TP_REASON_MAX + 1];   /* "": keeps what is there */
    const char *result;               /* of a completion; NULL: none */
    struct tpi_history_event failure; /* as the history gets it */
};

static void fill_args(struct request *request, const struct tpi_change *change, struct tpi_args *args) {
    const tp_task *task = request->task;
    *args = (struct tpi_args){0};
    if (change->state == TPI_STATE_FAILED) {
        bool last = change->pool == TPI_POOL_FAILED;
        request->failure =
            (struct tpi_history_event){.task_id = task->id,
                                       .handler = task->handler,
                                       .event = last ? TPI_HISTORY_GAVE_UP : TPI_HISTORY_FAILED,
                                       .owner = task->owner,
                                       .reason = request->reason,
                                       .attempt = change->failures,
                                       .alert = last};
        tpi_history_args(&request->failure, args);
    }
    tpi_args_text(args, TPI_P_id, task->id);
    tpi_args_text(args, TPI_P_token, task->owner);
    tpi_args_text(args, TPI_P_state, tpi_state_name(change->state));
    tpi_args_number(args, TPI_P_failures, change->failures);
    tpi_args_text(args, TPI_P_reason, request->reason);
    tpi_args_number(args, TPI_P_delay_ms, request->delay_ms);
    tpi_args_number(args, TPI_P_lease_ms, request->lease_ms);
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

static enum tpi_statement statement_for(const struct tpi_change *change) {
    if (change->pool == TPI_POOL_FINISHED) return TPI_S_move_finished;
    if (change->pool == TPI_POOL_FAILED) return TPI_S_move_failed;
    if (change->state == TPI_STATE_FAILED) return TPI_S_settle_retry;
    return change->state == TPI_STATE_PENDING ? TPI_S_settle_release : TPI_S_settle_extend;
}

static bool moves(const struct tpi_change *change) {
    return change->pool != TPI_POOL_PENDING;
}

/* Failures are recorded in the history. */
static bool records(const struct tpi_change *change) {
    return change->state == TPI_STATE_FAILED;
}

/* The row did not go. What was written of its move is to be undone. */
static tp_status not_gone(const struct request *request) {
    struct tpi_row_state row = {.pool = TPI_POOL_FINISHED, .state = TPI_STATE_DONE};
    tp_status status = tpi_settled_find(request->conn, request->task, &row);
    if (status == TP_OK && row.pool == TPI_POOL_PENDING)
        return tpi_refused_silently(&request->conn->store, "kept a row that was to be moved", "pending");
    if (status < TP_OK) return status;
    return tpi_error(TP_LOST, "the claim was lost while the task was being moved");
}

tp_status tpi_settle_result(tp_conn *conn, const tp_task *task, const char *result) {
    if (!result) return TP_OK;
    struct tpi_args args = {0}; /* large, so not for the many without a result */
    tpi_args_text(&args, TPI_P_id, task->id);
    tpi_args_text(&args, TPI_P_token, task->owner);
    tpi_args_text(&args, TPI_P_result, result);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_result_set, &args);
    if (status == TP_NONE) return tpi_refused_silently(&conn->store, "stored no result", "finished");
    return status;
}

/* All statements of a change, of which this is the first, inside a transaction. half: between the two halves
 * of a move the row went, to another claim or with an earlier try of this settle; undo what was written. */
static tp_status write_parts(const struct request *request, const struct tpi_change *change,
                             enum tpi_statement first, struct tpi_args *args, bool *half) {
    struct tpi_store *store = &request->conn->store;
    bool moved = first == TPI_S_move_finished && !(store->caps & TPI_CAP_MOVE_IN_TWO);
    tp_status status = tpi_store_change_one(store, first, args);
    if (status == TP_OK && moves(change) && !moved) {
        status = tpi_store_change_one(store, TPI_S_move_delete, args);
        if (status == TP_NONE) status = not_gone(request);
        *half = status == TP_LOST;
    }
    if (status == TP_OK && records(change)) {
        status = tpi_store_change_one(store, TPI_S_history_add, args);
        if (status == TP_NONE) return tpi_refused_silently(store, "stored no row", "history");
    }
    return status == TP_OK ? tpi_settle_result(request->conn, request->task, request->result) : status;
}

/* On a borrowed connection half a move could not be taken back, so the row is locked first, by an extension
 * of the lease that is not there any more when the move is done. */
static tp_status write_borrowed(const struct request *request, const struct tpi_change *change,
                                struct tpi_args *args) {
    bool half = false;
    tp_conn *conn = request->conn;
    tp_status status = tpi_conn_needs_transaction(conn, "this settle takes several statements here");
    if (status == TP_OK && moves(change))
        status = tpi_store_change_one(&conn->store, TPI_S_settle_extend, args);
    return status == TP_OK ? write_parts(request, change, statement_for(change), args, &half) : status;
}

/* The end of a task that the claim holds behind a gate: locks its row, by an extension of the lease, moves
 * it, then lets the next through. TP_NONE: the claim holds it no more. */
static tp_status write_gated(struct request *request, const struct tpi_change *change, const char *gate) {
    struct tpi_args args;
    struct tpi_scope scope;
    bool half = false;
    tp_conn *conn = request->conn;
    const struct tpi_gated task = {.id = request->task->id, .gate = gate};
    bool failed = change->pool == TPI_POOL_FAILED;
    tp_status status =
        tpi_conn_needs_transaction(conn, "the end of a task behind a gate takes several statements");
    if (status == TP_OK) status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    fill_args(request, change, &args);
    status = tpi_store_change_one(&conn->store, TPI_S_settle_extend, &args);
    if (status == TP_OK)
        status = write_parts(request, change, failed ? TPI_S_move_failed_gated : TPI_S_move_finished_gated,
                             &args, &half);
    if (status == TP_OK) status = tpi_gate_leave(conn, &task, failed);
    status = tpi_scope_end(conn, &scope, status);
    return half && status == TP_LOST ? TP_NONE : status;
}

/* The statement that moves a task passes over one behind a gate, so that it found no row. TP_NONE: it is
 * behind none. */
static tp_status try_gated(struct request *request, const struct tpi_change *change,
                           const struct tpi_row_state *row) {
    bool held = row->pool == TPI_POOL_PENDING && row->state == TPI_STATE_HANDLING;
    return moves(change) && held && row->gate[0] ? write_gated(request, change, row->gate) : TP_NONE;
}

/* The same of one that is locked and not marked. */
static tp_status finish_gated(struct request *request, const struct tpi_change *change) {
    struct tpi_row_state row = {.pool = TPI_POOL_PENDING, .state = TPI_STATE_HANDLING};
    tp_status status = tpi_gate_of(request->conn, request->task->id, row.gate);
    if (status == TP_NONE) return tpi_hold_unmoved(request->conn, request->task);
    if (status == TP_OK) status = tpi_hold_mark(request->conn, request->task);
    return status == TP_OK ? try_gated(request, change, &row) : status;
}

/* TP_NONE: no row is held under this token. */
static tp_status write_change(struct request *request, const struct tpi_change *change) {
    struct tpi_args args;
    struct tpi_scope scope;
    bool half = false;
    tp_conn *conn = request->conn;
    bool in_two = conn->store.caps & TPI_CAP_MOVE_IN_TWO;
    bool several = request->result || (in_two && (moves(change) || records(change)));
    if (tpi_hold_is(request->task)) {
        if (request->event == TPI_EVENT_COMPLETE && tpi_hold_locked(conn, request->task)) {
            tp_status finished = tpi_hold_finish(conn, request->task);
            if (finished == TP_NONE) return finish_gated(request, change);
            return finished == TP_OK ? tpi_settle_result(conn, request->task, request->result) : finished;
        }
        tp_status marked = tpi_hold_mark(conn, request->task);
        if (marked != TP_OK) return marked;
    }
    fill_args(request, change, &args);
    if (!several) return tpi_store_change_one(&conn->store, statement_for(change), &args);
    if (!conn->store.link.owned) return write_borrowed(request, change, &args);
    tp_status status = tpi_scope_begin(conn, &scope);
    if (status == TP_OK) status = write_parts(request, change, statement_for(change), &args, &half);
    status = tpi_scope_end(conn, &scope, status);
    return half && status == TP_LOST ? TP_NONE : status;
}

/* ---- What became of it --------------------------------------------------------------------------------- */

/* What an earlier try of this failure answered, as the history has it when the task has gone on to another
 * claim. TP_NONE: there was none. */
static tp_status failed_before(const struct request *request) {
    bool last = false;
    if (request->event != TPI_EVENT_FAIL && request->event != TPI_EVENT_GIVE_UP) return TP_NONE;
    tp_status status = tpi_history_failed(request->conn, request->task->id, request->task->owner, &last);
    if (status != TP_OK) return status;
    if (last) return TP_EXHAUSTED;
    return request->event == TPI_EVENT_FAIL ? TP_OK : TP_NONE;
}

/* Where the row is now, and what the event does to it there. */
static tp_status look(const struct request *request, const struct tpi_facts *facts, struct tpi_row_state *row,
                      struct tpi_change *change) {
    *row = (struct tpi_row_state){.pool = TPI_POOL_PENDING, .state = TPI_STATE_PENDING};
    tp_status status = tpi_settled_find(request->conn, request->task, row);
    *change = (struct tpi_change){.verdict = TP_LOST};
    if (status == TP_OK) *change = tpi_fsm_decide(row->pool, row->state, request->event, facts);
    return status;
}

/* The write found no row. Is the task behind a gate? Or was it an earlier try of this very settle that took
 * it away? Then this one answers the same; in the caller's transaction may be effects that the earlier try's
 * has too, not to be committed again. What the claim still holds was not lost: it was refused unsaid. */
static tp_status answer_again(struct request *request, const struct tpi_facts *facts) {
    tp_conn *conn = request->conn;
    struct tpi_row_state row;
    struct tpi_change change;
    tp_status status = look(request, facts, &row, &change);
    if (status < TP_OK) return status;
    if (change.verdict >= TP_OK && change.written && moves(&change) && row.gate[0]) {
        status = try_gated(request, &change, &row);
        if (status != TP_NONE) return status == TP_OK ? change.verdict : status;
        status = look(request, facts, &row, &change); /* it went just now: with an earlier try? */
        if (status < TP_OK) return status;
        if (change.verdict >= TP_OK && change.written) return tpi_settle_lost(conn, request->task);
    }
    if (change.verdict >= TP_OK && change.written)
        return tpi_refused_silently(&conn->store, "wrote nothing of a settle", "'s tables");
    status = change.verdict >= TP_OK ? change.verdict : failed_before(request);
    if (status == TP_NONE) return tpi_settle_lost(conn, request->task);
    if (status < TP_OK || tpi_conn_is_alone(conn)) return status;
    tpi_link_doom(&conn->store.link);
    return tpi_error(TP_CONFLICT, "task %s: an earlier transaction has settled it; roll this one back",
                     request->task->id);
}

/* The other pool has a row of this id: put there by an earlier try that committed meanwhile, or by somebody
 * else. */
static bool met_a_copy(const struct request *request) {
    const struct tpi_link *link = &request->conn->store.link;
    return tpi_link_failed_as(TPI_CLASS_EXISTS) && link->tx == TPI_TX_NONE && link->owned;
}

/* TP_NONE: it has not moved. Where one statement moves it, it locks the row before it copies, so that a copy
 * that it meets is no other try's. */
static tp_status find_move(struct tpi_store *store, void *arg) {
    const struct request *request = arg;
    struct tpi_row_state row = {.pool = TPI_POOL_PENDING, .state = TPI_STATE_PENDING};
    if (!(store->caps & TPI_CAP_MOVE_IN_TWO)) return TP_NONE;
    tp_status status = tpi_settled_find(request->conn, request->task, &row);
    if (status == TP_NONE) return tpi_hold_is(request->task) ? TP_NONE : TP_LOST;
    return status == TP_OK && row.pool == TPI_POOL_PENDING ? TP_NONE : status;
}

static tp_status settle_met_copy(struct request *request, const struct tpi_facts *facts) {
    struct tpi_kept_error kept = tpi_error_keep();
    tp_status status = tp_settled(request->conn, request->task);
    if (status != TP_NONE) return status < TP_OK ? status : answer_again(request, facts);
    return tpi_error(TP_DB,
                     "task %s: the pool it should move to holds another row of this id, which is to be "
                     "removed, or an index of your own refuses it: %s",
                     request->task->id, kept.text);
}

/* ---- The settles --------------------------------------------------------------------------------------- */

/* The failure that is the last; sets the delay after one that is not. */
static int32_t ask_policy(struct request *request) {
    const tp_task *task = request->task;
    if (request->event != TPI_EVENT_FAIL) return INT32_MAX;
    int32_t failures = task->failures < INT32_MAX ? task->failures + 1 : INT32_MAX;
    uint32_t random = tpi_retry_jitters(request->retry) ? tpi_random() : 0;
    struct tpi_retry_say say = tpi_retry_ask(request->retry, task, failures, request->reason, random);
    request->delay_ms = say.delay_ms;
    return say.last ? failures : INT32_MAX;
}

static tp_status decide_and_write(struct request *request) {
    tp_status status = tpi_conn_ready(request->conn);
    if (status == TP_OK) status = tpi_settle_check(request->task);
    if (status == TP_OK) status = tpi_check_duration("delay_ms", request->delay_ms);
    if (status == TP_OK) status = tpi_check_duration("lease_ms", request->lease_ms);
    if (status == TP_OK) status = tpi_check_retry(request->retry);
    if (status == TP_OK) status = tpi_check_result("the result", request->result);
    if (status != TP_OK) return tpi_conn_doom(request->conn, status);
    const tp_task *task = request->task;
    struct tpi_facts facts = {
        .failures = task->failures, .max_failures = ask_policy(request), .holder = true};
    struct tpi_change change = tpi_fsm_decide(TPI_POOL_PENDING, TPI_STATE_HANDLING, request->event, &facts);
    /* A lock has no lease. */
    if (request->event == TPI_EVENT_EXTEND && tpi_hold_locked(request->conn, task)) return TP_OK;
    status = write_change(request, &change);
    if (status == TP_CONFLICT && met_a_copy(request)) return settle_met_copy(request, &facts);
    if (status == TP_NONE) return answer_again(request, &facts);
    status = tpi_refused_judge(&request->conn->store, status, "'s tables", find_move, request);
    return status == TP_OK ? change.verdict : status;
}

static tp_status settle(struct request *request) {
    return tpi_conn_answer(request->conn, decide_and_write(request));
}

/* Claims know a lapse by how its reason begins, and put a word in front of it later: a caller's text that
 * begins like it must not be taken for one, nor grow beyond what the column takes. */
static void set_reason(struct request *request, const char *reason, const char *otherwise) {
    struct tpi_buf text = {0};
    if (reason && tpi_reason_holder(reason)) {
        tpi_buf_text(&text, TPI_REASON_EARLIER);
        tpi_buf_text(&text, reason);
        reason = tpi_buf_str(&text);
    }
    tpi_utf8_copy(reason && *reason ? reason : otherwise, request->reason, sizeof request->reason);
    tpi_buf_free(&text);
}

tp_status tp_complete(tp_conn *conn, const tp_task *task) {
    return tp_complete_with(conn, task, NULL);
}

tp_status tp_complete_with(tp_conn *conn, const tp_task *task, const char *result) {
    struct request request = {
        .conn = conn, .task = task, .event = TPI_EVENT_COMPLETE, .result = result && *result ? result : NULL};
    return settle(&request);
}

tp_status tp_skip(tp_conn *conn, const tp_task *task, const char *reason) {
    struct request request = {.conn = conn, .task = task, .event = TPI_EVENT_SKIP};
    set_reason(&request, reason, "");
    return settle(&request);
}

tp_status tp_fail(tp_conn *conn, const tp_task *task, const char *reason, const tp_retry *retry) {
    struct request request = {.conn = conn, .task = task, .event = TPI_EVENT_FAIL, .retry = retry};
    set_reason(&request, reason, "no reason given");
    return settle(&request);
}

tp_status tp_give_up(tp_conn *conn, const tp_task *task, const char *reason) {
    struct request request = {.conn = conn, .task = task, .event = TPI_EVENT_GIVE_UP};
    set_reason(&request, reason, "no reason given");
    return settle(&request);
}

tp_status tp_release(tp_conn *conn, const tp_task *task, int64_t delay_ms) {
    struct request request = {.conn = conn, .task = task, .event = TPI_EVENT_RELEASE, .delay_ms = delay_ms};
    return settle(&request);
}

tp_status tp_extend(tp_conn *conn, const tp_task *task, int64_t lease_ms) {
    struct request request = {.conn = conn, .task = task, .event = TPI_EVENT_EXTEND, .lease_ms = lease_ms};
    return settle(&request);
}

/* The claim counted the failure already; the move only writes it where it belongs. */
tp_status tpi_settle_lapsed(tp_conn *conn, const tp_task *task, const struct tpi_change *change) {
    struct request request = {.conn = conn, .task = task, .event = TPI_EVENT_CLAIM};
    tpi_utf8_copy(task->reason, request.reason, sizeof request.reason);
    tp_status status = write_change(&request, change);
    if (status == TP_NONE) {
        struct tpi_row_state row = {.pool = TPI_POOL_FINISHED, .state = TPI_STATE_DONE};
        status = tpi_settled_find(conn, task, &row);
        if (status == TP_OK) status = try_gated(&request, change, &row);
    }
    status = tpi_refused_judge(&conn->store, status, "'s tables", find_move, &request);
    return status == TP_NONE ? not_gone(&request) : status;
}
