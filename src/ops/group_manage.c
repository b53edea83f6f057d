/* Groups as people manage them: shown with their progress, cancelled and forgotten. See group.h. Read next:
 * group_end.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/audit.h"
#include "ops/four_eyes.h"
#include "ops/group.h"
#include "ops/operate.h"
#include "ops/refused.h"
#include "store/cursor.h"

struct id {
    char text[TPI_UUID_SIZE];
};
static const struct tpi_column id_only[] = {TPI_COLUMN(ID, struct id, text), TPI_COLUMN_END};

static tp_status check(tp_conn *conn, const char *operation, const char *name) {
    tp_status status = tpi_conn_ready_alone(conn, operation);
    if (status == TP_OK && (!name || !*name))
        status = tpi_error(TP_MISUSE, "%s: a group needs a name", operation);
    return status;
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

struct line {
    const char *name, *state, *rule, *parent;
    int64_t cancelled, created_at, closed_at, ended_at;
};

static void open_lines(struct tpi_cursor *cursor, tp_conn *conn, const char *name) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(TEXT, struct line, name),
        TPI_COLUMN(TEXT, struct line, state),
        TPI_COLUMN(TEXT, struct line, rule),
        TPI_COLUMN(TEXT, struct line, parent),
        TPI_COLUMN(NUMBER, struct line, cancelled),
        TPI_COLUMN(NUMBER, struct line, created_at),
        TPI_COLUMN(NUMBER, struct line, closed_at),
        TPI_COLUMN(NUMBER, struct line, ended_at),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    tpi_cursor_open(cursor, &conn->store, name ? TPI_S_group_find : TPI_S_group_list, &args, columns,
                    SIZE_MAX);
}

/* One that is opening has ended, for people. The rule of a cancelled one is that by which it was opened. */
static tp_group group_of(const struct line *line) {
    bool ended = strcmp(line->state, "over") == 0 || strcmp(line->state, "opening") == 0;
    bool anyhow = line->cancelled ? line->cancelled == 2 : strcmp(line->rule, "ended") == 0;
    return (tp_group){.name = line->name,
                      .parent = line->parent,
                      .state = ended ? "ended" : line->state,
                      .rule = anyhow ? TP_GROUP_ALL_ENDED : TP_GROUP_ALL_DONE,
                      .cancelled = line->cancelled != 0,
                      .created_at = line->created_at,
                      .closed_at = line->closed_at,
                      .ended_at = line->ended_at,
                      .tasks = -1,
                      .waiting = -1,
                      .handling = -1,
                      .done = -1,
                      .skipped = -1,
                      .failed = -1,
                      .after = -1};
}

struct part {
    const char *pool, *state;
    int64_t tasks;
};

static void add_part(tp_group *group, const struct part *part) {
    bool pending = strcmp(part->pool, "pending") == 0, all = strcmp(part->pool, "all") == 0;
    if (all)
        *(strcmp(part->state, "all") == 0 ? &group->tasks : &group->after) = part->tasks;
    else if (pending)
        *(strcmp(part->state, "handling") == 0 ? &group->handling : &group->waiting) += part->tasks;
    else if (strcmp(part->pool, "failed") == 0)
        group->failed += part->tasks;
    else
        *(strcmp(part->state, "skipped") == 0 ? &group->skipped : &group->done) += part->tasks;
}

static tp_status count_tasks(tp_conn *conn, const char *name, tp_group *group) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(TEXT, struct part, pool),
        TPI_COLUMN(TEXT, struct part, state),
        TPI_COLUMN(NUMBER, struct part, tasks),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    struct tpi_cursor cursor;
    struct part part;
    group->waiting = group->handling = group->done = group->skipped = group->failed = 0;
    tpi_args_text(&args, TPI_P_name, name);
    tpi_cursor_open(&cursor, &conn->store, TPI_S_group_count, &args, columns, SIZE_MAX);
    while (tpi_cursor_next(&cursor, &part))
        add_part(group, &part);
    return tpi_cursor_close(&cursor);
}

/* The row's texts live as long as its cursor, which is to be closed before the tasks are counted. */
static tp_status see_one(tp_conn *conn, const char *name, tp_group_fn see, void *arg) {
    struct tpi_cursor cursor;
    struct line line;
    char state[16] = "", parent[TP_KEY_MAX + 1] = "";
    tp_group group = {.name = name};
    open_lines(&cursor, conn, name);
    if (tpi_cursor_next(&cursor, &line)) {
        group = group_of(&line);
        snprintf(state, sizeof state, "%s", group.state);
        snprintf(parent, sizeof parent, "%s", group.parent);
    }
    tp_status status = tpi_cursor_close(&cursor);
    if (status == TP_OK) status = count_tasks(conn, name, &group);
    group.name = name;
    group.state = state;
    group.parent = parent;
    if (status == TP_OK) see(&group, arg);
    return status;
}

tp_status tp_group_each(tp_conn *conn, const char *name, tp_group_fn see, void *arg) {
    struct tpi_cursor cursor;
    struct line line;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see) return tpi_error(TP_MISUSE, "tp_group_each: see is NULL");
    if (name) return see_one(conn, name, see, arg);
    open_lines(&cursor, conn, NULL);
    while (tpi_cursor_next(&cursor, &line)) {
        tp_group group = group_of(&line);
        see(&group, arg);
    }
    return tpi_cursor_close(&cursor);
}

tp_status tp_groups_waiting(tp_conn *conn, int64_t *groups, int64_t *tasks) {
    struct counts {
        int64_t groups, tasks;
    } counts;
    static const struct tpi_column columns[] = {
        TPI_COLUMN(NUMBER, struct counts, groups),
        TPI_COLUMN(NUMBER, struct counts, tasks),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!groups || !tasks) return tpi_error(TP_MISUSE, "tp_groups_waiting: groups or tasks is NULL");
    status = tpi_store_read(&conn->store, TPI_S_groups_waiting, &args, columns, NULL, &counts);
    if (status != TP_OK) return status;
    *groups = counts.groups;
    *tasks = counts.tasks;
    return TP_OK;
}

/* ---- Cancelling ---------------------------------------------------------------------------------------- */

struct cancelling {
    tp_conn *conn;
    const char *name;
    char who[TPI_WHO_MAX + 1], why[TP_REASON_MAX + 1];
    char after[TPI_UUID_SIZE];
};

/* TP_NONE: it has ended. */
static tp_status mark(const struct cancelling *asked) {
    struct tpi_args args = {0};
    struct tpi_group group = {.cancelled = 0};
    tp_status status = tpi_group_lock(asked->conn, asked->name, &group);
    if (status != TP_OK || group.cancelled) return status;
    tpi_args_text(&args, TPI_P_name, asked->name);
    status = tpi_store_change_one(&asked->conn->store, TPI_S_group_cancel, &args);
    struct tpi_act act = {.action = TPI_AUDIT_GROUP_CANCELLED,
                          .who = asked->who,
                          .why = asked->why,
                          .subject = asked->name,
                          .changed = 1};
    return status == TP_OK ? tpi_audit_add(asked->conn, &act) : status;
}

/* One chunk of its tasks. What runs, or is locked, is passed over. */
static tp_status skip_some(struct cancelling *asked, size_t *found, size_t *skipped) {
    struct id tasks[TPI_CHUNK];
    const char *ids[TPI_CHUNK];
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    *found = 0;
    tpi_args_text(&args, TPI_P_name, asked->name);
    tpi_args_text(&args, TPI_P_after_id, asked->after);
    tpi_args_number(&args, TPI_P_limit, TPI_CHUNK);
    tp_status status = tpi_store_query(&asked->conn->store, TPI_S_group_open_tasks, &args, &stmt);
    if (status == TP_OK) status = tpi_record_all(stmt, id_only, NULL, tasks, sizeof *tasks, TPI_CHUNK, found);
    if (status != TP_OK || !*found) return status;
    for (size_t i = 0; i < *found; i++)
        ids[i] = tasks[i].text;
    memcpy(asked->after, ids[*found - 1], sizeof asked->after);
    return tpi_operate_given(asked->conn, TP_ACTION_SKIP, NULL, ids, *found, asked->who, asked->why, skipped);
}

static tp_status skip_in_scope(struct cancelling *asked, size_t *found, size_t *skipped) {
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(asked->conn, &scope);
    if (status == TP_OK) status = skip_some(asked, found, skipped);
    return tpi_scope_end(asked->conn, &scope, status);
}

static tp_status mark_in_scope(const struct cancelling *asked) {
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(asked->conn, &scope);
    if (status == TP_OK) status = mark(asked);
    return tpi_scope_end(asked->conn, &scope, status);
}

tp_status tp_group_cancel(tp_conn *conn, const char *name, const char *who, const char *why,
                          size_t *skipped) {
    struct cancelling asked = {.conn = conn, .name = name, .after = "00000000-0000-0000-0000-000000000000"};
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    size_t found = TPI_CHUNK, all = 0;
    tp_status status = check(conn, "tp_group_cancel", name);
    if (status == TP_OK && (!who || !*who))
        status = tpi_error(TP_MISUSE, "tp_group_cancel: who is required; it is recorded in the history");
    if (status == TP_OK) status = tpi_four_eyes_read(conn, &eyes);
    if (status == TP_OK && eyes.on)
        status = tpi_error(TP_MISUSE, "four eyes is on: close the group and skip its tasks, which a second "
                                      "person approves");
    if (status != TP_OK) return status;
    snprintf(asked.who, sizeof asked.who, "%s", who);
    snprintf(asked.why, sizeof asked.why, "%.400s", why && *why ? why : "its group was cancelled");
    status = mark_in_scope(&asked);
    while (status == TP_OK && found == TPI_CHUNK) {
        size_t some = 0;
        status = skip_in_scope(&asked, &found, &some);
        if (status == TP_OK) all += some;
    }
    if (status == TP_OK && skipped) *skipped = all;
    return status;
}

/* ---- Forgetting ---------------------------------------------------------------------------------------- */

/* *count: of how many tasks. */
static tp_status forget_some(tp_conn *conn, const char *name, size_t *count) {
    struct id tasks[TPI_CHUNK];
    const char *ids[TPI_CHUNK];
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    int64_t rows = 0;
    *count = 0;
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_number(&args, TPI_P_limit, TPI_CHUNK);
    tp_status status = tpi_store_query(&conn->store, TPI_S_group_tasks, &args, &stmt);
    if (status == TP_OK) status = tpi_record_all(stmt, id_only, NULL, tasks, sizeof *tasks, TPI_CHUNK, count);
    if (status != TP_OK || !*count) return status;
    for (size_t i = 0; i < *count; i++)
        ids[i] = tasks[i].text;
    tpi_args_list(&args, ids, *count);
    return tpi_store_change(&conn->store, TPI_S_group_forget, &args, &rows);
}

/* The row goes with the last of its tasks. *more: there are others. */
static tp_status remove_some(tp_conn *conn, const char *name, size_t *count, bool *more) {
    struct tpi_args args = {0};
    struct tpi_group group = {.cancelled = 0};
    *more = false;
    tp_status status = tpi_group_lock(conn, name, &group);
    if (status != TP_OK || !tpi_group_is(&group, "over")) return status == TP_OK ? TP_NONE : status;
    status = forget_some(conn, name, count);
    *more = status == TP_OK && *count == TPI_CHUNK;
    if (status != TP_OK || *more) return status;
    tpi_args_text(&args, TPI_P_name, name);
    return tpi_store_change_one(&conn->store, TPI_S_group_remove, &args);
}

static tp_status remove_all(tp_conn *conn, const char *name, size_t limit, size_t *removed, const char *who) {
    bool more = true;
    tp_status status = TP_OK;
    while (status == TP_OK && more && *removed < limit) {
        struct tpi_scope scope;
        size_t count = 0;
        status = tpi_scope_begin(conn, &scope);
        if (status == TP_OK) status = remove_some(conn, name, &count, &more);
        struct tpi_act act = {.action = TPI_AUDIT_GROUP_REMOVED, .who = who, .subject = name, .changed = 1};
        if (status == TP_OK && !more && who) status = tpi_audit_add(conn, &act);
        status = tpi_scope_end(conn, &scope, status);
        if (status == TP_OK) *removed += count + !more;
    }
    return status;
}

tp_status tp_group_remove(tp_conn *conn, const char *name, const char *who) {
    char writer[TPI_WHO_MAX + 1];
    size_t removed = 0;
    tp_status status = check(conn, "tp_group_remove", name);
    if (status != TP_OK) return status;
    (void)tpi_audit_who(conn, who, writer);
    return remove_all(conn, name, SIZE_MAX, &removed, writer);
}

tp_status tpi_groups_purge(tp_conn *conn, int64_t before, size_t limit, size_t *removed) {
    static const struct tpi_column only[] = {{TPI_READ_CHARS, 0, TP_KEY_MAX + 1}, TPI_COLUMN_END};
    char name[TP_KEY_MAX + 1];
    tp_status status = TP_OK;
    while (status == TP_OK && *removed < limit) {
        struct tpi_args args = {0};
        tpi_args_number(&args, TPI_P_before, before);
        tpi_args_number(&args, TPI_P_limit, 1);
        status = tpi_store_read(&conn->store, TPI_S_group_old, &args, only, NULL, name);
        if (status == TP_OK) status = remove_all(conn, name, limit, removed, NULL);
    }
    return status == TP_NONE ? TP_OK : status;
}
