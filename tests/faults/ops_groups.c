/* A task comes into its group once, a group ends once, and what waited for it is due then and not before:
 * whichever call fails. */
#include <string.h>

#include "faults/operation.h"

/* ---- Given --------------------------------------------------------------------------------------------- */

static void open_group(const char *name) {
    must(tp_group_open(pool.b, name, TP_GROUP_ALL_DONE, NULL));
}

static void fresh_with(struct work *work, const char *group, const char *after) {
    tp_new_task *task = work_fresh(work);
    task->due_at = 0;
    task->group = group;
    task->after = after;
}

static void fresh_in(struct work *work) {
    open_group("g");
    fresh_with(work, "g", NULL);
}

static void fresh_mixed(struct work *work) {
    open_group("g");
    open_group("h");
    fresh_with(work, "g", NULL);
    fresh_with(work, "g", "h");
    fresh_with(work, NULL, "h");
}

static void fresh_late(struct work *work) {
    open_group("h");
    must(tp_group_close(pool.b, "h"));
    must(tp_groups_end(pool.b, NULL));
    fresh_with(work, NULL, "h");
}

static void put(struct work *work, const char *group, const char *after) {
    tp_new_task task = task_new("x");
    task.due_at = 0;
    task.group = group;
    task.after = after;
    must(tp_enqueue(pool.b, &task));
    memcpy(work->ids[work->id_count++], task.id, TP_ID_SIZE);
}

/* One of the group and one that waits for its end. */
static void one_and_after(struct work *work) {
    open_group("g");
    put(work, "g", NULL);
    put(work, NULL, "g");
}

static void over(struct work *work) {
    open_group("g");
    put(work, NULL, "g");
    must(tp_group_close(pool.b, "g"));
}

static void gone(struct work *work) {
    over(work);
    must(tp_groups_end(pool.b, NULL));
}

/* ---- Calls --------------------------------------------------------------------------------------------- */

static tp_status once(struct work *work, tp_status status, tp_status again) {
    return status == again && work->calls > 1 ? TP_OK : status;
}

static void see(const tp_group *group, void *arg) {
    struct work *work = arg;
    work->number = group->tasks * 10 + group->after;
}

CALL(open_it, once(work, tp_group_open(work->conn, "g", TP_GROUP_ALL_DONE, NULL), TP_EXISTS))
CALL(close_it, once(work, tp_group_close(work->conn, "g"), TP_EXISTS))
CALL(end_all, once(work, tp_groups_end(work->conn, NULL), TP_NONE))
CALL(look, tp_group_each(work->conn, "g", see, work))
static tp_status count(struct work *work) {
    int64_t groups = 0;
    tp_status status = tp_groups_waiting(work->conn, &groups, &work->number);
    if (status == TP_OK) want_number(groups, 1);
    return status;
}
CALL(cancel, tp_group_cancel(work->conn, "g", "ann", "wrong month", NULL))
CALL(forget, once(work, tp_group_remove(work->conn, "g", "ann"), TP_NONE))

static tp_status list(struct work *work) {
    tp_list_request request = TP_LIST_INIT;
    tp_batch *batch = UNTOUCHED(tp_batch);
    const char *id = work->ids[0];
    request.pool = "all";
    request.group = "g";
    request.ids = &id;
    request.id_count = 1;
    tp_status status = tp_list(work->conn, &request, &batch);
    want_untouched(status, batch);
    if (status != TP_OK) return status;
    want_number(tp_batch_count(batch), 1);
    tp_batch_free(batch);
    return status;
}

static tp_status skip_some(struct work *work) {
    tp_selection selection = TP_SELECTION_INIT;
    const char *id = work->ids[0];
    selection.group = "g";
    selection.ids = &id;
    selection.id_count = 1;
    selection.who = "ann";
    return tp_operate(work->conn, TP_ACTION_SKIP, &selection, NULL);
}

/* ---- What must be there -------------------------------------------------------------------------------- */

static void want_placed(struct work *work, size_t i, const char *group, int waits) {
    size_t found = 0;
    for (size_t r = 0; r < work->now.count && r < SNAPSHOT_ROWS; r++) {
        const struct snapshot_row *row = &work->now.rows[r];
        if (strcmp(row->pool, "placed") != 0 || strcmp(row->id, work->ids[i]) != 0) continue;
        found += strcmp(row->state, group) == 0 && row->number == waits;
    }
    if (found != 1) wrong("task %zu is %zu times in group %s as %d", i, found, group, waits);
}

static void want_waiting(struct work *work, size_t i, bool waits) {
    want_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pending WHERE id = '%s' AND due_at = %lld",
                           work->ids[i], (long long)TP_TIME_MAX),
                waits);
}

static void want_state(const char *name, const char *state) {
    want_number(
        sql_number(pool.eye, "SELECT COUNT(*) FROM tp_group WHERE name = '%s' AND state = '%s'", name, state),
        1);
}

static void is_in(struct work *work) {
    are_pending(work);
    want_placed(work, 0, "g", 0);
}

static void are_in(struct work *work) {
    are_pending(work);
    want_placed(work, 0, "g", 0);
    want_placed(work, 1, "g", 0);
    want_placed(work, 1, "h", 1);
    want_placed(work, 2, "h", 1);
    want_waiting(work, 2, true);
}

static void is_due(struct work *work) {
    are_pending(work);
    want_waiting(work, 0, false);
}

static void is_open(struct work *work) {
    (void)work;
    want_state("g", "open");
}

static void is_closed(struct work *work) {
    want_state("g", "closed");
    want_waiting(work, 1, true);
}

static void has_ended(struct work *work) {
    want_state("g", "over");
    want_placed(work, 0, "g", 2);
    want_waiting(work, 0, false);
}

static void is_seen(struct work *work) {
    nothing_changed(work);
    want_number(work->number, 11);
}

static void one_waits(struct work *work) {
    nothing_changed(work);
    want_number(work->number, 1);
}

static void is_skipped(struct work *work) {
    want_state("g", "open");
    want_task(work, 0, "finished", "skipped", 0);
    want_waiting(work, 1, true);
}

static void is_cancelled(struct work *work) {
    want_state("g", "closed");
    want_task(work, 0, "finished", "skipped", 0);
    want_waiting(work, 1, true);
    want_acts(work, "group-cancelled", 1);
}

static void is_forgotten(struct work *work) {
    want_number(snapshot_count(&work->now, "group", "", "g"), 0);
    want_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_group_task"), 0);
    want_task(work, 0, "pending", "pending", 0);
}

static const struct operation operations[] = {
    {"enqueue into a group", 0, fresh_in, enqueue_fresh, TP_OK, is_in, there_or_not},
    {"enqueue into a group, in a transaction", TRAIT_TRANSACTION, fresh_in, enqueue_fresh, TP_OK, is_in,
     there_or_not},
    {"borrowed: enqueue into a group", TRAIT_BORROWED, fresh_in, enqueue_fresh, TP_OK, is_in, there_or_not},
    {"enqueue_many into and after groups", 0, fresh_mixed, enqueue_all_fresh, TP_OK, are_in},
    {"enqueue after a group that has ended", 0, fresh_late, enqueue_fresh, TP_OK, is_due, there_or_not},
    {"group_open", 0, NULL, open_it, TP_OK, is_open},
    {"group_close", 0, one_and_after, close_it, TP_OK, is_closed},
    {"groups_end", TRAIT_PIECEMEAL, over, end_all, TP_OK, has_ended},
    {"list, of a group", 0, one_and_after, list, TP_OK, nothing_changed},
    {"skip, of a group", TRAIT_PIECEMEAL, one_and_after, skip_some, TP_OK, is_skipped},
    {"group_each", 0, one_and_after, look, TP_OK, is_seen},
    {"groups_waiting", 0, one_and_after, count, TP_OK, one_waits},
    {"group_cancel", TRAIT_PIECEMEAL, one_and_after, cancel, TP_OK, is_cancelled},
    {"group_remove", 0, gone, forget, TP_OK, is_forgotten},
};

OPERATION_GROUP(groups, test_faults__a_group_ends_once_and_not_too_early_whichever_call_fails, operations);
