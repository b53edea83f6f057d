/* See hold.h. How such tasks are taken: claim_hold.c. */
#include "ops/hold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/shard.h"
#include "ops/claim.h"
#include "ops/gate.h"
#include "ops/refused.h"

/* By its address a task, and any copy of it, is known to be of plan hold. */
static const char held_pool[] = "pending";

static struct tpi_slot *slot_of(const tp_task *task) {
    return (struct tpi_slot *)(uintptr_t)task;
}

size_t tpi_hold_count(const tp_conn *conn, const struct tpi_lane *lane) {
    const struct tpi_holds *holds = &conn->holds;
    uint32_t handler = lane ? tpi_shard_hash(lane->handler) : 0;
    size_t count = 0;
    if (holds->transaction != conn->transaction) return 0;
    for (size_t i = 0; i < holds->capacity; i++) {
        const struct tpi_held *held = &holds->entries[i];
        if (held->transaction != holds->transaction || held->completed) continue;
        count += !lane || (held->handler == handler && held->priority == lane->priority);
    }
    return count;
}

/* The entry of the id, or the free one where it would stand. */
static struct tpi_held *entry_of(const struct tpi_holds *holds, const char *id) {
    size_t i = tpi_shard_hash(id);
    for (;; i++) {
        struct tpi_held *held = &holds->entries[i & (holds->capacity - 1)];
        if (held->transaction != holds->transaction || strcmp(held->id, id) == 0) return held;
    }
}

bool tpi_hold_has(const tp_conn *conn, const char *id) {
    const struct tpi_holds *holds = &conn->holds;
    if (holds->capacity == 0 || holds->transaction != conn->transaction) return false;
    return entry_of(holds, id)->transaction == holds->transaction;
}

static bool make_room(struct tpi_holds *holds) {
    struct tpi_holds more = {.transaction = holds->transaction};
    if (holds->count < holds->capacity / 2) return true;
    more.capacity = holds->capacity ? holds->capacity * 2 : 64;
    more.entries = calloc(more.capacity, sizeof *more.entries);
    if (!more.entries) return false;
    for (size_t i = 0; i < holds->capacity; i++) {
        const struct tpi_held *held = &holds->entries[i];
        if (held->transaction != holds->transaction) continue;
        *entry_of(&more, held->id) = *held;
        more.count++;
    }
    free(holds->entries);
    *holds = more;
    return true;
}

/* TP_NONE: it is there. */
static tp_status add(tp_conn *conn, const tp_task *task) {
    struct tpi_holds *holds = &conn->holds;
    if (holds->transaction != conn->transaction) holds->count = 0;
    holds->transaction = conn->transaction;
    if (!make_room(holds)) return tpi_error(TP_NOMEM, "out of memory");
    struct tpi_held *held = entry_of(holds, task->id);
    if (held->transaction == holds->transaction) return TP_NONE;
    *held = (struct tpi_held){.transaction = holds->transaction,
                              .handler = tpi_shard_hash(task->handler),
                              .priority = task->priority};
    memcpy(held->id, task->id, strnlen(task->id, sizeof held->id - 1));
    holds->count++;
    return TP_OK;
}

static void complete(tp_conn *conn, const tp_task *task) {
    slot_of(task)->hold.stage = TPI_HOLD_SETTLED;
    entry_of(&conn->holds, task->id)->completed = true;
}

tp_status tpi_hold_begin(tp_conn *conn, struct tpi_slot *slot, const struct tpi_seen *seen) {
    tp_status status = add(conn, &slot->task);
    if (status != TP_OK) return status;
    slot->task.pool = held_pool;
    slot->hold = (struct tpi_hold){.stage = TPI_HOLD_LOCKED,
                                   .transaction = conn->transaction,
                                   .state = seen->state,
                                   .due_at = seen->due_at,
                                   .modified_at = seen->modified_at,
                                   .locked_at = seen->now};
    return TP_OK;
}

bool tpi_hold_is(const tp_task *task) {
    return task->pool == held_pool;
}

bool tpi_hold_locked(const tp_conn *conn, const tp_task *task) {
    if (!tpi_hold_is(task)) return false;
    const struct tpi_hold *hold = &slot_of(task)->hold;
    return hold->stage == TPI_HOLD_LOCKED && hold->transaction == conn->transaction &&
           conn->store.link.tx == TPI_TX_OPEN;
}

void tpi_hold_args(const tp_task *task, struct tpi_args *args) {
    const struct tpi_hold *hold = &slot_of(task)->hold;
    *args = (struct tpi_args){0};
    tpi_args_text(args, TPI_P_id, task->id);
    tpi_args_text(args, TPI_P_token, task->owner);
    tpi_args_text(args, TPI_P_state, hold->state);
    tpi_args_number(args, TPI_P_due_at, hold->due_at);
    tpi_args_number(args, TPI_P_modified_at, hold->modified_at);
}

/* Is the row as it was when it was locked? TP_NONE: it is not, or not there. */
static tp_status find_as_locked(tp_conn *conn, const tp_task *task) {
    struct tpi_args args;
    bool there = false;
    tpi_hold_args(task, &args);
    tp_status status = tpi_store_exists(&conn->store, TPI_S_hold_params, &args, &there);
    return status == TP_OK && !there ? TP_NONE : status;
}

/* Nothing was written, and nobody else can write the row: was that refused, or did this transaction change
 * it?
 */
static tp_status judge_unwritten(tp_conn *conn, const tp_task *task, const char *table) {
    tp_status status = find_as_locked(conn, task);
    if (status != TP_OK) return status;
    return tpi_refused_silently(&conn->store, "kept a held task that was to be settled", table);
}

/* The lease ends at once: what settles the task comes next in the same transaction. */
tp_status tpi_hold_mark(tp_conn *conn, const tp_task *task) {
    struct tpi_args args = {0};
    if (slot_of(task)->hold.stage == TPI_HOLD_MARKED) return TP_OK;
    if (!tpi_hold_locked(conn, task)) return TP_NONE;
    tpi_args_text(&args, TPI_P_id, task->id);
    tpi_args_text(&args, TPI_P_token, task->owner);
    tpi_args_number(&args, TPI_P_failures, task->failures);
    tpi_args_text(&args, TPI_P_reason, task->reason);
    tpi_args_number(&args, TPI_P_lease_ms, 0);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_claim_mark, &args);
    if (status == TP_OK) slot_of(task)->hold.stage = TPI_HOLD_MARKED;
    return status == TP_NONE ? judge_unwritten(conn, task, "pending") : status;
}

/* ---- Completing ---------------------------------------------------------------------------------------- */

static tp_status half_lost(tp_conn *conn) {
    tpi_link_doom(&conn->store.link);
    return tpi_error(TP_LOST, "a task that is held was changed by another statement of this transaction");
}

tp_status tpi_hold_unmoved(tp_conn *conn, const tp_task *task) {
    char pending[TP_PREFIX_MAX + sizeof "pending"];
    struct tpi_args args = {0};
    bool there = false;
    tp_status status = judge_unwritten(conn, task, "finished");
    if (status != TP_NONE || (conn->store.caps & TPI_CAP_MOVE_IN_TWO)) return status;
    snprintf(pending, sizeof pending, "%spending", conn->store.prefix);
    tpi_args_text(&args, TPI_P_id, task->id);
    tpi_args_text(&args, TPI_P_name, pending);
    status = tpi_store_exists(&conn->store, TPI_S_find_any, &args, &there);
    if (status == TP_OK && !there)
        return tpi_refused_silently(&conn->store, "dropped a held task that was to move", "finished");
    tpi_store_forget(&conn->store); /* what was prepared under a rule may go on moving nothing */
    return status == TP_OK ? TP_NONE : status;
}

tp_status tpi_hold_finish(tp_conn *conn, const tp_task *task) {
    struct tpi_args args;
    if (!tpi_hold_locked(conn, task)) return TP_NONE;
    tpi_hold_args(task, &args);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_hold_finish, &args);
    if (status == TP_OK && (conn->store.caps & TPI_CAP_MOVE_IN_TWO)) {
        status = tpi_store_change_one(&conn->store, TPI_S_hold_delete, &args);
        if (status == TP_NONE) status = judge_unwritten(conn, task, "pending");
        if (status == TP_NONE) return half_lost(conn);
    }
    if (status == TP_OK) complete(conn, task);
    return status;
}

/* Of tasks that are behind no gate not all were written; so many should be as they were, unless this
 * transaction changed one. */
static tp_status judge_some(tp_conn *conn, const tp_task *const *tasks, const char *const *gates,
                            size_t count, int64_t unwritten, const char *table) {
    int64_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        tp_status status = gates[i] ? TP_NONE : find_as_locked(conn, tasks[i]);
        if (status < TP_OK) return status;
        kept += status == TP_OK;
    }
    if (kept != unwritten) return half_lost(conn);
    return tpi_refused_silently(&conn->store, "kept held tasks that were to be settled", table);
}

/* Tasks of one claim, at most TPI_LIST_MAX. What was marked, by a settle of the original or of a copy, has
 * the token in its row, and is not completed over that. */
static tp_status finish_some(tp_conn *conn, const tp_task *const *tasks, size_t count,
                             struct tpi_texts *texts, const char **gates) {
    const char *ids[TPI_LIST_MAX];
    struct tpi_args args = {0};
    int64_t rows = 0;
    bool in_two = conn->store.caps & TPI_CAP_MOVE_IN_TWO;
    size_t gated = 0, plain = 0;
    for (size_t i = 0; i < count; i++) {
        if (!tpi_hold_locked(conn, tasks[i])) return half_lost(conn);
        ids[i] = tasks[i]->id;
    }
    tpi_args_list(&args, ids, count);
    tpi_args_text(&args, TPI_P_token, tasks[0]->owner);
    tp_status status = tpi_store_change(&conn->store, TPI_S_hold_finish_many, &args, &rows);
    if (status == TP_OK && rows != (int64_t)count)
        status = tpi_gate_of_each(conn, ids, count, texts, gates, &gated);
    if (status != TP_OK) return status;
    int64_t moved = in_two ? 0 : rows;
    if (rows + (int64_t)gated != (int64_t)count)
        return judge_some(conn, tasks, gates, count, (int64_t)(count - gated) - moved, "finished");
    for (size_t i = 0; i < count; i++)
        if (!gates[i]) ids[plain++] = tasks[i]->id;
    tpi_args_list(&args, ids, plain);
    if (plain && in_two) status = tpi_store_change(&conn->store, TPI_S_hold_delete_many, &args, &rows);
    if (status != TP_OK) return status;
    if (rows != (int64_t)plain)
        return judge_some(conn, tasks, gates, count, (int64_t)plain - rows, "pending");
    for (size_t i = 0; i < count; i++)
        if (!gates[i]) complete(conn, tasks[i]);
    return TP_OK;
}

tp_status tpi_hold_finish_many(tp_conn *conn, const tp_task *const *tasks, size_t count,
                               struct tpi_texts *texts, const char **gates) {
    tp_status status = TP_OK;
    for (size_t at = 0, some; at < count && status == TP_OK; at += some) {
        for (some = 1; at + some < count && some < TPI_LIST_MAX; some++)
            if (strcmp(tasks[at]->owner, tasks[at + some]->owner) != 0) break;
        if (some > 1) {
            status = finish_some(conn, tasks + at, some, texts, gates + at);
            continue;
        }
        status = tpi_hold_finish(conn, tasks[at]); /* by itself it needs no list */
        if (status != TP_NONE) continue;
        size_t gated = 0;
        status = tpi_gate_of_each(conn, &tasks[at]->id, 1, texts, &gates[at], &gated);
        if (status == TP_OK && !gated) status = tpi_hold_unmoved(conn, tasks[at]);
        if (status == TP_NONE) status = half_lost(conn);
    }
    return status;
}
