/* tp_complete_many and tpi_extend_many: tasks of one claim token go in one statement, at most TPI_LIST_MAX at
 * a time. Each statement counts its rows. Completions are one transaction: when a count does not agree,
 * nothing is kept, one query finds which are still held, and those are tried again. Read settle.c first. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/for_workers.h"
#include "ops/hold.h"
#include "ops/refused.h"
#include "ops/settle.h"
#include "ops/settle_group.h"
#include "store/record.h"

enum { ROUNDS = 5 };

/* ---- Groups -------------------------------------------------------------------------------------------- */

static int by_token_and_id(const void *a, const void *b) {
    const struct tpi_settle_item *one = a, *two = b;
    int order = strcmp(one->task->owner, two->task->owner);
    return order ? order : strcmp(one->task->id, two->task->id);
}

/* In one order for all sessions; as they were claimed they mostly are in it. */
static void put_in_order(struct tpi_settle_item *items, size_t count) {
    size_t in_order = 1;
    while (in_order < count && by_token_and_id(&items[in_order - 1], &items[in_order]) <= 0)
        in_order++;
    if (in_order < count) qsort(items, count, sizeof *items, by_token_and_id);
}

/* The next group from item *at on, which moves behind it, without tasks behind gates. False: there is none.
 */
static bool next_group(const struct tpi_settle_many *many, size_t *at, struct tpi_settle_group *group) {
    group->count = 0;
    for (; *at < many->count && group->count < TPI_LIST_MAX; ++*at) {
        struct tpi_settle_item *item = &many->items[*at];
        if (!item->open || item->gate) continue;
        if (group->count && strcmp(item->task->owner, group->items[0]->task->owner) != 0) break;
        group->items[group->count] = item;
        group->ids[group->count++] = item->task->id;
    }
    return group->count > 0;
}

static void group_args(const struct tpi_settle_many *many, const struct tpi_settle_group *group,
                       struct tpi_args *args) {
    *args = (struct tpi_args){0};
    tpi_args_list(args, group->ids, group->count);
    tpi_args_text(args, TPI_P_token, group->items[0]->task->owner);
    tpi_args_number(args, TPI_P_lease_ms, many->lease_ms);
}

/* ---- What is held -------------------------------------------------------------------------------------- */

static void set_all(struct tpi_settle_group *group, bool open) {
    for (size_t i = 0; i < group->count; i++) {
        group->items[i]->open = open;
        group->items[i]->answer = TP_LOST;
    }
}

struct row {
    char id[TPI_UUID_SIZE];
    struct tpi_row_state state;
};

/* Answers the items that are not held, by where the row stands: what an earlier try has done, or lost. */
static tp_status read_group(struct tpi_settle_many *many, struct tpi_settle_group *group) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(ID, struct row, id),
        TPI_COLUMN(POOL, struct row, state.pool),
        TPI_COLUMN(STATE, struct row, state.state),
        TPI_COLUMN_END,
    };
    static const struct tpi_facts facts = {.max_failures = INT32_MAX, .holder = true};
    struct tpi_args args;
    struct tpi_stmt *stmt = NULL;
    struct row row;
    group_args(many, group, &args);
    tp_status status = tpi_store_query(&many->conn->store, TPI_S_settled_many, &args, &stmt);
    if (status != TP_OK) return status;
    set_all(group, false);
    while ((status = tpi_record_next(stmt, columns, NULL, &row)) == TP_OK) {
        size_t i = 0;
        stmt->link->tx_state.seen = true;
        while (i < group->count && strcmp(group->ids[i], row.id) != 0)
            i++;
        /* The pending pool comes first: while the task is held there, a copy elsewhere settles nothing. */
        if (i == group->count || group->items[i]->open) continue;
        struct tpi_change change = tpi_fsm_decide(row.state.pool, row.state.state, many->event, &facts);
        group->items[i]->open = change.verdict >= TP_OK && change.written;
        group->items[i]->answer = change.verdict;
    }
    tpi_stmt_close(stmt);
    if (status != TP_NONE) set_all(group, true); /* nothing is known */
    return status == TP_NONE ? TP_OK : status;
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

/* TP_NONE: not as many rows as there are tasks. */
static tp_status change_all(const struct tpi_settle_many *many, const struct tpi_settle_group *group,
                            enum tpi_statement statement, struct tpi_args *args) {
    int64_t rows = 0;
    tp_status status = tpi_store_change(&many->conn->store, statement, args, &rows);
    return status == TP_OK && rows != (int64_t)group->count ? TP_NONE : status;
}

static tp_status extend_group(struct tpi_settle_many *many, struct tpi_settle_group *group) {
    struct tpi_args args;
    group_args(many, group, &args);
    return change_all(many, group, TPI_S_settle_extend_many, &args);
}

/* The rows were copied, and not all went. TP_NONE: some are no longer held. */
static tp_status half_moved(struct tpi_settle_many *many, struct tpi_settle_group *group) {
    size_t held = 0;
    tp_status status = read_group(many, group);
    for (size_t i = 0; i < group->count; i++)
        held += group->items[i]->open;
    set_all(group, true);
    if (status != TP_OK || !held) return status == TP_OK ? TP_NONE : status;
    return tpi_refused_silently(&many->conn->store, "kept rows that were to be moved", "pending");
}

static tp_status store_results(struct tpi_settle_many *many, const struct tpi_settle_group *group) {
    tp_status status = TP_OK;
    for (size_t i = 0; many->with_results && i < group->count && status == TP_OK; i++)
        status = tpi_settle_result(many->conn, group->items[i]->task, group->items[i]->result);
    return status;
}

static tp_status complete_group(struct tpi_settle_many *many, struct tpi_settle_group *group) {
    struct tpi_args args;
    int64_t rows = 0;
    struct tpi_facts facts = {.max_failures = INT32_MAX, .holder = true};
    struct tpi_change change =
        tpi_fsm_decide(TPI_POOL_PENDING, TPI_STATE_HANDLING, TPI_EVENT_COMPLETE, &facts);
    group_args(many, group, &args);
    tpi_args_text(&args, TPI_P_state, tpi_state_name(change.state));
    tp_status status = tpi_store_change(&many->conn->store, TPI_S_move_finished_many, &args, &rows);
    if (status == TP_OK && rows != (int64_t)group->count)
        status = tpi_group_leave_out_gated(many, group, &args, rows);
    if (status != TP_OK || !group->count) return status;
    if (many->conn->store.caps & TPI_CAP_MOVE_IN_TWO)
        status = change_all(many, group, TPI_S_move_delete_many, &args);
    if (status == TP_NONE) return half_moved(many, group);
    return status == TP_OK ? store_results(many, group) : status;
}

typedef tp_status write_fn(struct tpi_settle_many *many, struct tpi_settle_group *group);

static tp_status for_groups(struct tpi_settle_many *many, write_fn *write) {
    struct tpi_settle_group group;
    tp_status status = TP_OK;
    for (size_t at = 0; status == TP_OK && next_group(many, &at, &group);)
        status = write(many, &group);
    return status;
}

/* One statement is a transaction of its own, and what it left out is not held. */
static bool needs_scope(const struct tpi_settle_many *many) {
    struct tpi_settle_group group;
    size_t at = 0;
    bool in_two = many->conn->store.caps & TPI_CAP_MOVE_IN_TWO;
    if (many->event == TPI_EVENT_COMPLETE && (in_two || many->with_results)) return true;
    bool first = next_group(many, &at, &group);
    return first && next_group(many, &at, &group);
}

/* TP_NONE: not all were held, and nothing is kept but by a statement that stood alone. */
static tp_status write_all(struct tpi_settle_many *many) {
    struct tpi_scope scope = {.own = false};
    bool extends = many->event == TPI_EVENT_EXTEND, scoped = needs_scope(many);
    tp_status status = scoped ? tpi_scope_begin(many->conn, &scope) : TP_OK;
    /* On a borrowed connection a move that came out short could not be taken back, so all rows are locked
     * first, by a lease that is not there any more when the move is done. */
    if (status == TP_OK && (extends || !many->conn->store.link.owned))
        status = for_groups(many, extend_group);
    if (status == TP_OK && !extends) status = for_groups(many, complete_group);
    /* Those behind gates each have a transaction of their own, where there can be one. */
    bool own = scoped && scope.own;
    if (status == TP_OK && !extends && !own) status = tpi_group_complete_gated(many);
    if (!scoped) return status;
    if (own && status == TP_NONE) {
        tpi_link_rollback(&many->conn->store.link);
        return TP_NONE;
    }
    status = tpi_scope_end(many->conn, &scope, status);
    return status == TP_OK && own && !extends ? tpi_group_complete_gated(many) : status;
}

/* ---- The rounds ---------------------------------------------------------------------------------------- */

static size_t count_open(const struct tpi_settle_many *many) {
    size_t open = 0;
    for (size_t i = 0; i < many->count; i++)
        open += many->items[i].open;
    return open;
}

static tp_status answer_open(const struct tpi_settle_many *many) {
    for (size_t i = 0; i < many->count; i++) {
        if (!many->items[i].open) continue;
        many->items[i].open = false;
        many->items[i].answer = TP_OK;
    }
    return TP_OK; /* the answers say which */
}

static tp_status one_by_one(const struct tpi_settle_many *many) {
    for (size_t i = 0; i < many->count; i++) {
        struct tpi_settle_item *item = &many->items[i];
        if (!item->open) continue;
        tp_status status = many->event == TPI_EVENT_EXTEND
                               ? tp_extend(many->conn, item->task, many->lease_ms)
                               : tp_complete_with(many->conn, item->task, item->result);
        if (status < TP_OK && status != TP_LOST) return status;
        item->answer = status;
        item->open = false;
    }
    return TP_OK;
}

/* Of tasks that met a row in the finished pool. TP_NONE: all are still held, no other try has moved one. */
static tp_status find_moves(struct tpi_store *store, void *arg) {
    struct tpi_settle_many *many = arg;
    size_t before = count_open(many);
    if (!(store->caps & TPI_CAP_MOVE_IN_TWO)) return TP_NONE; /* as in settle.c */
    tp_status status = for_groups(many, read_group);
    return status == TP_OK && count_open(many) == before ? TP_NONE : status;
}

/* Another session was in the way and the database chose this one; nothing is kept, the way is free now. */
static bool deadlocked(const struct tpi_settle_many *many, tp_status status) {
    return status == TP_CONFLICT && tpi_link_failed_as(TPI_CLASS_CONFLICT) &&
           many->conn->store.link.tx == TPI_TX_NONE;
}

/* Each group is a transaction of its own: what it extended stays extended, whatever became of the others, so
 * that a task settled meanwhile costs the rest no second try. What is read as held, the write found. */
static tp_status extend_alone(struct tpi_settle_many *many) {
    struct tpi_settle_group group;
    for (size_t at = 0; next_group(many, &at, &group);) {
        tp_status status = extend_group(many, &group);
        bool short_of = status == TP_NONE;
        if (short_of) status = read_group(many, &group);
        if (status != TP_OK) return status;
        for (size_t i = 0; i < group.count; i++) {
            if (!short_of || group.items[i]->open) group.items[i]->answer = TP_OK;
            group.items[i]->open = false;
        }
    }
    return TP_OK;
}

static tp_status settle_alone(struct tpi_settle_many *many) {
    if (many->event == TPI_EVENT_EXTEND) return extend_alone(many);
    for (int round = 0; round < ROUNDS && count_open(many); round++) {
        size_t before = count_open(many);
        tp_status status = write_all(many);
        if (status == TP_OK) return answer_open(many);
        if (deadlocked(many, status) && round + 1 < ROUNDS) continue;
        status = tpi_refused_judge(&many->conn->store, status, "finished", find_moves, many);
        if (status == TP_CONFLICT && count_open(many) < before) status = TP_OK;
        if (status == TP_NONE) status = for_groups(many, read_group);
        if (status != TP_OK) return status;
        if (count_open(many) == before) /* all are held, and not all were written */
            return tpi_refused_silently(&many->conn->store, "did not move all tasks", "finished");
    }
    return one_by_one(many);
}

/* Tasks of plan hold that this transaction has locked; a lock has no lease to extend. */
static tp_status settle_locked(struct tpi_settle_many *many) {
    const tp_task **locked = calloc(many->count, sizeof *locked);
    const char **gates = calloc(many->count, sizeof *gates);
    size_t count = 0, at = 0;
    tp_status status = locked && gates ? TP_OK : tpi_link_no_memory(&many->conn->store.link);
    for (size_t i = 0; i < many->count && locked && gates; i++) {
        struct tpi_settle_item *item = &many->items[i];
        if (!item->open || !tpi_hold_locked(many->conn, item->task)) continue;
        item->open = false;
        item->answer = TP_LOST; /* unless all goes well */
        locked[count++] = item->task;
    }
    if (status == TP_OK && many->event == TPI_EVENT_COMPLETE)
        status = tpi_hold_finish_many(many->conn, locked, count, &many->texts, gates);
    for (size_t i = 0; i < many->count && gates && status == TP_OK; i++) {
        struct tpi_settle_item *item = &many->items[i];
        if (item->open || at == count || item->task != locked[at]) continue;
        item->answer = TP_OK;
        item->gate = gates[at++];
        item->open = item->gate;
        many->gated += item->open;
        if (!item->gate) status = tpi_settle_result(many->conn, item->task, item->result);
    }
    free(gates);
    free(locked);
    return status;
}

/* In a transaction of the caller's nothing is taken back but by its end. What is found now are this try's own
 * writes as well, so a task that is found could have been settled; but one statement moves all that it holds.
 */
static tp_status settle_inside(struct tpi_settle_many *many) {
    tp_status status = settle_locked(many);
    bool locks_lost = status == TP_LOST, in_two = many->conn->store.caps & TPI_CAP_MOVE_IN_TWO;
    if (status == TP_OK) status = write_all(many);
    if (status == TP_OK || locks_lost) return answer_open(many);
    if (status != TP_NONE) return tpi_refused_judge(&many->conn->store, status, "finished", find_moves, many);
    status = for_groups(many, read_group);
    if (status != TP_OK) return status;
    tpi_link_doom(&many->conn->store.link);
    for (size_t i = 0; i < many->count; i++)
        if (!many->items[i].open && many->items[i].answer == TP_LOST) return answer_open(many);
    if (!in_two && count_open(many))
        return tpi_refused_silently(&many->conn->store, "did not move all tasks", "pending");
    return tpi_error(TP_CONFLICT, "an earlier transaction has settled some of the tasks; roll this one back");
}

/* ---- The calls ----------------------------------------------------------------------------------------- */

static tp_status settle_items(struct tpi_settle_many *many) {
    bool open = false;
    tp_status status = tpi_conn_in_transaction(many->conn, &open);
    if (status != TP_OK) return status;
    if (open) return settle_inside(many);
    return many->conn->store.link.owned ? settle_alone(many) : one_by_one(many);
}

static tp_status settle(struct tpi_settle_many *many, const tp_task *const *tasks, const char *const *results,
                        tp_status *answers) {
    const tp_task *lost = NULL;
    many->items = calloc(many->count, sizeof *many->items);
    if (!many->items) return tpi_link_no_memory(&many->conn->store.link);
    for (size_t i = 0; i < many->count; i++) {
        many->items[i] = (struct tpi_settle_item){
            .task = tasks[i], .result = results ? results[i] : NULL, .index = i, .open = true};
        many->with_results = many->with_results || many->items[i].result;
    }
    put_in_order(many->items, many->count);
    /* A task that is named twice is settled once. */
    for (size_t i = 1; i < many->count; i++) {
        struct tpi_settle_item *item = &many->items[i];
        item->repeated = by_token_and_id(item - 1, item) == 0;
        if (item->repeated) item->open = false;
    }
    tp_status status = settle_items(many);
    for (size_t i = 0; i < many->count && status == TP_OK; i++) {
        struct tpi_settle_item *item = &many->items[i];
        if (item->repeated) item->answer = many->items[i - 1].answer;
        if (answers) answers[item->index] = item->answer;
        if (item->answer == TP_LOST && !lost) lost = item->task;
    }
    tpi_texts_free(&many->texts);
    free(many->items);
    return lost ? tpi_settle_lost(many->conn, lost) : status;
}

static tp_status settle_many(struct tpi_settle_many *many, const tp_task *const *tasks,
                             const char *const *results, tp_status *answers) {
    tp_status status = tpi_conn_ready(many->conn);
    if (status == TP_OK && !tasks && many->count) status = tpi_error(TP_MISUSE, "tasks is NULL");
    for (size_t i = 0; tasks && i < many->count && status == TP_OK; i++)
        status = tpi_settle_check(tasks[i]);
    if (status == TP_OK) status = tpi_check_duration("lease_ms", many->lease_ms);
    if (status == TP_OK && many->count) status = tpi_conn_know_mode(many->conn);
    if (status != TP_OK) return tpi_conn_doom(many->conn, status);
    return tasks && many->count ? tpi_conn_answer(many->conn, settle(many, tasks, results, answers)) : TP_OK;
}

tp_status tpi_complete_many(tp_conn *conn, const tp_task *const *tasks, const char *const *results,
                            size_t count, tp_status *answers) {
    struct tpi_settle_many many = {.conn = conn, .event = TPI_EVENT_COMPLETE, .count = count};
    return settle_many(&many, tasks, results, answers);
}

tp_status tp_complete_many(tp_conn *conn, const tp_task *const *tasks, size_t count, tp_status *answers) {
    return tpi_complete_many(conn, tasks, NULL, count, answers);
}

tp_status tpi_extend_many(tp_conn *conn, const tp_task *const *tasks, size_t count, int64_t lease_ms,
                          tp_status *answers) {
    struct tpi_settle_many many = {
        .conn = conn, .event = TPI_EVENT_EXTEND, .lease_ms = lease_ms, .count = count};
    return settle_many(&many, tasks, NULL, answers);
}
