/* Opening and closing groups, and putting tasks into them and after them. See group.h. Read next:
 * group_end.c. */
#include "ops/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/refused.h"

static const char *const rule_names[] = {[TP_GROUP_ALL_DONE] = "done", [TP_GROUP_ALL_ENDED] = "ended"};

bool tpi_group_is(const struct tpi_group *group, const char *state) {
    return strcmp(group->state, state) == 0;
}

static bool given(const char *name) {
    return name && *name;
}

/* ---- The group's row ----------------------------------------------------------------------------------- */

static tp_status read_by(tp_conn *conn, enum tpi_statement statement, const char *name,
                         struct tpi_group *group) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(CHARS, struct tpi_group, state),  TPI_COLUMN(CHARS, struct tpi_group, rule),
        TPI_COLUMN(CHARS, struct tpi_group, parent), TPI_COLUMN(NUMBER, struct tpi_group, cancelled),
        TPI_COLUMN(ID, struct tpi_group, seen_id),   TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    return tpi_store_read(&conn->store, statement, &args, columns, NULL, group);
}

tp_status tpi_group_lock(tp_conn *conn, const char *name, struct tpi_group *group) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    tp_status locked = tpi_store_change_one(&conn->store, TPI_S_group_lock, &args);
    if (locked < TP_OK) return locked;
    tp_status status = read_by(conn, TPI_S_group_read, name, group);
    if (locked != TP_NONE || status != TP_OK) return status;
    return tpi_refused_silently(&conn->store, "kept a group as it was", "group");
}

/* Keeps it from being closed or ended. What shares no locks has one who writes at a time, or takes the row
 * for itself. */
static tp_status share(tp_conn *conn, const char *name, struct tpi_group *group) {
    bool shares = conn->store.caps & (TPI_CAP_SKIP | TPI_CAP_ONE_WRITER);
    tp_status status =
        shares ? read_by(conn, TPI_S_group_share, name, group) : tpi_group_lock(conn, name, group);
    if (status != TP_NONE) return status;
    return tpi_error(TP_MISUSE, "there is no group %s; tp_group_open or 'taskpool group open' opens one",
                     name);
}

/* ---- Putting tasks in ---------------------------------------------------------------------------------- */

/* A task, one of its groups, and what it is to that. */
struct placing {
    const char *group, *id;
    enum tpi_group_part part;
};

static int by_group(const void *left, const void *right) {
    const struct placing *a = left, *b = right;
    int order = strcmp(a->group, b->group);
    if (!order) order = (a->part > b->part) - (a->part < b->part);
    return order ? order : strcmp(a->id, b->id);
}

static tp_status join(tp_conn *conn, const char *name, enum tpi_group_part part, const char *const *ids,
                      size_t count) {
    struct tpi_args args = {0};
    int64_t rows = 0;
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_number(&args, TPI_P_waits, part);
    if (count == 1) tpi_args_text(&args, TPI_P_id, ids[0]);
    if (count > 1) tpi_args_list(&args, ids, count);
    tp_status status =
        tpi_store_change(&conn->store, count == 1 ? TPI_S_group_join : TPI_S_group_join_many, &args, &rows);
    if (status != TP_OK || rows == (int64_t)count) return status;
    return tpi_refused_silently(&conn->store, "stored no row", "group_task");
}

/* Fewer were released than wait: others were skipped, or a rule of the application's own keeps them. */
static tp_status check_released(tp_conn *conn, const char *gate, const char *const *ids, size_t count) {
    const char *gates[TPI_LIST_MAX];
    struct tpi_texts texts = {0};
    size_t found = 0;
    bool kept = false;
    tp_status status = tpi_gate_of_each(conn, ids, count, &texts, gates, &found);
    for (size_t i = 0; i < count && status == TP_OK; i++)
        kept = kept || (gates[i] && strcmp(gates[i], gate) == 0);
    tpi_texts_free(&texts);
    if (!kept) return status;
    return tpi_refused_silently(&conn->store, "kept a task that waits for a group as it was", "pending");
}

tp_status tpi_group_release(tp_conn *conn, const char *name, const char *const *ids, size_t count) {
    struct tpi_args args = {0};
    char gate[TPI_GATE_SIZE] = {TPI_GROUP_AFTER};
    int64_t rows = 0;
    memcpy(gate + 1, name, strnlen(name, sizeof gate - 2));
    tpi_args_list(&args, ids, count);
    tpi_args_text(&args, TPI_P_gate, gate);
    tpi_conn_let_through(conn);
    tp_status status = tpi_store_change(&conn->store, TPI_S_group_release, &args, &rows);
    if (status != TP_OK || rows == (int64_t)count) return status;
    return check_released(conn, gate, ids, count);
}

/* Tasks that are the same to one group, which is locked. */
static tp_status place(tp_conn *conn, const struct placing *placings, size_t count,
                       const struct tpi_group *group) {
    const char *ids[TPI_LIST_MAX], *name = placings[0].group;
    enum tpi_group_part part = placings[0].part;
    bool open = tpi_group_is(group, "open"), ended = !open && !tpi_group_is(group, "closed");
    tp_status status = TP_OK;
    if (part == TPI_GROUP_IN && !open)
        return tpi_error(TP_MISUSE, "group %s is %s: no task comes into it any more", name,
                         ended ? "over" : "closed");
    if (part == TPI_GROUP_WAITS && group->cancelled == TPI_GROUP_SKIPS)
        return tpi_error(TP_MISUSE, "group %s was cancelled: what waited for it was skipped", name);
    for (size_t at = 0, some; at < count && status == TP_OK; at += some) {
        for (some = 0; some < TPI_LIST_MAX && at + some < count; some++)
            ids[some] = placings[at + some].id;
        bool late = part == TPI_GROUP_WAITS && ended;
        status = join(conn, name, late ? TPI_GROUP_WAITED : part, ids, some);
        if (status == TP_OK && late) status = tpi_group_release(conn, name, ids, some);
    }
    return status;
}

static tp_status enter(tp_conn *conn, const struct placing *placings, size_t count) {
    tp_status status = TP_OK;
    struct tpi_group group = {.cancelled = 0};
    for (size_t at = 0, some; at < count && status == TP_OK; at += some) {
        bool first = !at || strcmp(placings[at - 1].group, placings[at].group) != 0;
        for (some = 1; at + some < count && placings[at].part == placings[at + some].part; some++)
            if (strcmp(placings[at].group, placings[at + some].group) != 0) break;
        if (first) status = share(conn, placings[at].group, &group);
        if (status == TP_OK) status = place(conn, placings + at, some, &group);
    }
    return status;
}

tp_status tpi_groups_enter(tp_conn *conn, tp_new_task *const *tasks, size_t count) {
    size_t placed = 0;
    struct placing *placings = calloc(count * 2, sizeof *placings);
    if (!placings) return tpi_link_no_memory(&conn->store.link);
    for (size_t i = 0; i < count; i++) {
        const tp_new_task *task = tasks[i];
        if (tpi_group_in(task)) placings[placed++] = (struct placing){task->group, task->id, TPI_GROUP_IN};
        if (tpi_group_after(task))
            placings[placed++] = (struct placing){task->after, task->id, TPI_GROUP_WAITS};
    }
    if (placed) qsort(placings, placed, sizeof *placings, by_group);
    tp_status status = enter(conn, placings, placed);
    free(placings);
    return status;
}

/* ---- Opening ------------------------------------------------------------------------------------------- */

struct asked {
    const char *name, *parent;
    tp_group_rule rule;
    bool alone; /* no transaction is open: it may be asked again */
};

static tp_status check_name(tp_conn *conn, const char *operation, const char *name) {
    tp_status status = tpi_conn_ready_to_put(conn);
    if (status == TP_OK && !given(name)) status = tpi_error(TP_MISUSE, "%s: a group needs a name", operation);
    if (status == TP_OK) status = tpi_check_key("the group's name", name);
    if (status == TP_OK)
        status = tpi_conn_needs_transaction(conn, "what is done to a group takes several statements");
    return status;
}

/* One of this name is there. */
static tp_status compare(const struct tpi_group *there, const struct asked *asked) {
    const char *what = strcmp(there->rule, rule_names[asked->rule]) != 0 && !there->cancelled ? "rule"
                       : strcmp(there->parent, asked->parent ? asked->parent : "") != 0       ? "parent"
                                                                                              : NULL;
    if (!what) return TP_EXISTS;
    return tpi_error(TP_MISUSE, "group %s is there with another %s; a name stands for one group", asked->name,
                     what);
}

/* Its parent keeps open meanwhile. Of two who open it at the same time one is there first. */
/* Nothing was stored, without an error: another session has opened it, or a rule of the application's own
 * refuses it. Through an old snapshot, which a lent session may have, that cannot be told. */
static tp_status not_added(tp_conn *conn, const struct asked *asked) {
    struct tpi_group there = {.cancelled = 0};
    if (!conn->store.link.owned)
        return tpi_error(TP_CONFLICT, "another session has just opened the group; ask again");
    tp_status status = read_by(conn, TPI_S_group_read, asked->name, &there);
    if (status == TP_OK) return compare(&there, asked);
    return status == TP_NONE ? tpi_refused_silently(&conn->store, "stored no row", "group") : status;
}

static tp_status open_group(tp_conn *conn, const struct asked *asked) {
    struct tpi_args args = {0};
    struct tpi_group there = {.cancelled = 0}, parent = {.cancelled = 0};
    tp_status status = read_by(conn, TPI_S_group_read, asked->name, &there);
    if (status != TP_NONE) return status == TP_OK ? compare(&there, asked) : status;
    tpi_args_text(&args, TPI_P_name, asked->name);
    tpi_args_text(&args, TPI_P_rule, rule_names[asked->rule]);
    tpi_args_text(&args, TPI_P_parent, asked->parent);
    status = tpi_store_change_one(&conn->store, TPI_S_group_add, &args);
    if (status == TP_NONE) return not_added(conn, asked);
    if (!asked->alone && tpi_refused_as_there(status))
        return tpi_error(TP_CONFLICT, "another session has just opened the group; ask again");
    if (status != TP_OK || !given(asked->parent)) return status;
    status = share(conn, asked->parent, &parent);
    if (status == TP_OK && !tpi_group_is(&parent, "open"))
        status = tpi_error(TP_MISUSE, "group %s is closed: no group comes into it any more", asked->parent);
    return status;
}

static tp_status open_in_scope(tp_conn *conn, const struct asked *asked) {
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(conn, &scope);
    if (status == TP_OK) status = open_group(conn, asked);
    return tpi_scope_end(conn, &scope, status);
}

tp_status tp_group_open(tp_conn *conn, const char *name, tp_group_rule rule, const char *parent) {
    struct asked asked = {.name = name, .parent = given(parent) ? parent : NULL, .rule = rule};
    tp_status status = check_name(conn, "tp_group_open", name);
    if (status == TP_OK) status = tpi_check_key("parent", parent);
    if (status == TP_OK && rule != TP_GROUP_ALL_DONE && rule != TP_GROUP_ALL_ENDED)
        status = tpi_error(TP_MISUSE, "rule is neither TP_GROUP_ALL_DONE nor TP_GROUP_ALL_ENDED");
    if (status == TP_OK && given(parent) && strcmp(name, parent) == 0)
        status = tpi_error(TP_MISUSE, "a group is not within itself");
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    asked.alone = tpi_conn_is_alone(conn);
    status = open_in_scope(conn, &asked);
    if (status == TP_CONFLICT && asked.alone) status = open_in_scope(conn, &asked);
    return tpi_refused_judge(&conn->store, status, "group", NULL, NULL);
}

/* ---- Closing ------------------------------------------------------------------------------------------- */

/* Waits for those who are putting tasks in. */
static tp_status close_group(tp_conn *conn, const char *name) {
    struct tpi_args args = {0};
    struct tpi_group group = {.cancelled = 0};
    tp_status status = tpi_group_lock(conn, name, &group);
    if (status != TP_OK) return status;
    if (!tpi_group_is(&group, "open")) return TP_EXISTS;
    tpi_args_text(&args, TPI_P_name, name);
    status = tpi_store_change_one(&conn->store, TPI_S_group_close, &args);
    return status == TP_NONE ? tpi_refused_silently(&conn->store, "kept a group open", "group") : status;
}

tp_status tp_group_close(tp_conn *conn, const char *name) {
    struct tpi_scope scope;
    tp_status status = check_name(conn, "tp_group_close", name);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    status = tpi_scope_begin(conn, &scope);
    if (status == TP_OK) status = close_group(conn, name);
    return tpi_scope_end(conn, &scope, status);
}
