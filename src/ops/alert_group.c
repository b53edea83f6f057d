/* Alerts in groups: many tasks that reached the failed pool, one call. It takes all of them before the call
 * and strikes them out after it, each time chunk by chunk; so two workers call for the same task only when
 * the first died, or took longer than its time. Must not know how people are alerted. Read next: alert.c. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/alert.h"
#include "ops/batch.h"
#include "ops/for_workers.h"
#include "ops/refused.h"
#include "store/record.h"

/* How long whoever took a group has for it, before it is due again for others. */
enum { TAKEN_MS = 120000 };

struct note {
    char id[TPI_UUID_SIZE];
    int64_t due_at;
};

struct group {
    struct tpi_alert_request of;
    int64_t early, until; /* due are those until early; taken, they are due again at until */
    int64_t oldest;       /* when the first of their tasks failed */
    struct note *notes;   /* as many as tasks, in their order */
    tp_batch *tasks;
    struct tpi_kept_error
        *refused; /* what a rule of the application's own said of one; status TP_OK: nothing */
};

/* ---- Reading ------------------------------------------------------------------------------------------- */

static tp_status read_row(struct tpi_stmt *stmt, struct group *group) {
    static const struct tpi_column note_columns[] = {
        TPI_COLUMN(CHARS, struct note, id),
        TPI_COLUMN(NUMBER, struct note, due_at),
        TPI_COLUMN_END,
    };
    static const struct tpi_column task_columns[] = {
        TPI_COLUMN(UUID, struct tpi_slot, task.id),
        TPI_COLUMN(TEXT, struct tpi_slot, task.handler),
        TPI_COLUMN(TEXT, struct tpi_slot, task.reason),
        TPI_COLUMN(INT, struct tpi_slot, task.failures),
        TPI_COLUMN(NUMBER, struct tpi_slot, task.modified_at),
        TPI_COLUMN(TEXT, struct tpi_slot, task.biz_key),
        TPI_COLUMN(TEXT, struct tpi_slot, task.dedup_key),
        TPI_COLUMN(INT, struct tpi_slot, task.shard),
        TPI_COLUMN(INT, struct tpi_slot, task.priority),
        TPI_COLUMN(INT, struct tpi_slot, task.max_failures),
        TPI_COLUMN(NUMBER, struct tpi_slot, task.created_at),
        TPI_COLUMN_END,
    };
    tp_status status = tpi_stmt_fetch(stmt);
    if (status != TP_OK) return status;
    struct note *note = &group->notes[group->tasks->count];
    struct tpi_slot *slot = tpi_batch_add(group->tasks);
    if (!slot) return tpi_link_no_memory(stmt->link);
    slot->pool = TPI_POOL_FAILED;
    slot->long_params = 1;
    status = tpi_record_read(stmt, 1, note_columns, NULL, note);
    if (status == TP_OK) status = tpi_record_read(stmt, 3, task_columns, &group->tasks->texts, slot);
    if (status != TP_OK) {
        tpi_batch_drop_last(group->tasks);
        return status;
    }
    slot->task.state = tpi_state_name(TPI_STATE_FAILED);
    slot->task.pool = tpi_pool_name(TPI_POOL_FAILED);
    slot->task.settled_at = slot->task.modified_at;
    if (group->tasks->count == 1 || slot->task.modified_at < group->oldest)
        group->oldest = slot->task.modified_at;
    return TP_OK;
}

static tp_status read_due(struct group *group) {
    struct tpi_stmt *stmt = NULL;
    tp_status status = tpi_alert_query(&group->of, TPI_S_alert_group_due, group->early, &stmt);
    if (status != TP_OK) return status;
    while (status == TP_OK && group->tasks->count < group->of.limit)
        status = read_row(stmt, group);
    tpi_stmt_close(stmt);
    return status == TP_NONE ? TP_OK : status;
}

/* ---- Taking and striking out --------------------------------------------------------------------------- */

/* Those from first on, in one statement. */
static tp_status change_many(struct group *group, enum tpi_statement statement, size_t first, size_t count,
                             int64_t at, int64_t before, int64_t *rows) {
    const char *ids[TPI_LIST_MAX];
    struct tpi_args args = {0};
    for (size_t i = 0; i < count; i++)
        ids[i] = group->notes[first + i].id;
    tpi_args_list(&args, ids, count);
    tpi_args_number(&args, TPI_P_at, at);
    tpi_args_number(&args, TPI_P_before, before);
    return tpi_store_change(&group->of.conn->store, statement, &args, rows);
}

/* A rule of the application's own, or another session: about one of them, or about some. */
static bool concerns_few(tp_status status) {
    return status == TP_DB || status == TP_CONFLICT;
}

/* All of them or none: TP_CONFLICT when some are not due any more, TP_NONE when all. */
static tp_status take_many(struct group *group, size_t first, size_t count) {
    struct tpi_scope scope;
    int64_t rows = 0;
    tp_status status = tpi_scope_begin(group->of.conn, &scope);
    if (status == TP_OK)
        status = change_many(group, TPI_S_alert_take_many, first, count, group->until, group->early, &rows);
    if (status == TP_OK && rows && rows != (int64_t)count)
        status = tpi_error(TP_CONFLICT, "another worker took some of the alerts");
    status = tpi_scope_end(group->of.conn, &scope, status);
    return status == TP_OK && !rows ? TP_NONE : status;
}

/* Those that were taken come first, *taken of them up to here. */
static tp_status take_each(struct group *group, size_t first, size_t count, size_t *taken) {
    tp_status status = TP_OK;
    for (size_t i = first; i < first + count && status >= TP_OK; i++) {
        status = tpi_alert_change(group->of.conn, TPI_S_alert_take, group->notes[i].id, group->until,
                                  group->notes[i].due_at);
        if (status == TP_OK) {
            group->notes[*taken] = group->notes[i];
            group->tasks->slots[(*taken)++] = group->tasks->slots[i];
        }
        if (!concerns_few(status)) continue;
        if (status == TP_DB) *group->refused = tpi_error_keep();
        status = TP_OK;
    }
    return status == TP_NONE ? TP_OK : status;
}

static tp_status take(struct group *group) {
    size_t count = 0, taken = 0, all = group->tasks->count;
    tp_status status = TP_OK;
    for (size_t at = 0; at < all && status >= TP_OK; at += count) {
        count = all - at < TPI_LIST_MAX ? all - at : TPI_LIST_MAX;
        status = take_many(group, at, count);
        if (concerns_few(status))
            status = take_each(group, at, count, &taken);
        else if (status == TP_OK) {
            memmove(&group->notes[taken], &group->notes[at], count * sizeof *group->notes);
            memmove(&group->tasks->slots[taken], &group->tasks->slots[at],
                    count * sizeof *group->tasks->slots);
            taken += count;
        }
    }
    group->tasks->count = taken;
    return status == TP_NONE ? TP_OK : status;
}

/* Those that were taken once more meanwhile are struck out by who took them. */
static tp_status strike_out(struct group *group) {
    size_t count = 0, all = group->tasks->count;
    int64_t rows = 0;
    tp_status status = TP_OK;
    for (size_t at = 0; at < all && status >= TP_OK; at += count) {
        count = all - at < TPI_LIST_MAX ? all - at : TPI_LIST_MAX;
        status = change_many(group, TPI_S_alert_done_many, at, count, 0, group->until, &rows);
        if (!concerns_few(status)) continue;
        status = TP_OK;
        for (size_t i = at; i < at + count && status >= TP_OK; i++) {
            status = tpi_alert_change(group->of.conn, TPI_S_alert_done, group->notes[i].id, 0, group->until);
            if (!concerns_few(status)) continue;
            *group->refused = tpi_error_keep();
            status = TP_OK;
        }
    }
    return status == TP_NONE ? TP_OK : status;
}

/* ---- The call ------------------------------------------------------------------------------------------ */

static tp_status give(struct group *group, tp_alert_group_fn fn, void *arg, size_t *alerted) {
    tp_status status = take(group);
    if (status != TP_OK) return status;
    if (group->tasks->count == 0) {
        if (group->refused->error.status != TP_OK) return TP_OK;
        status = tpi_alert_judge(&group->of, group->early, group->notes[0].id, group->notes[0].due_at);
        return status == TP_NONE ? TP_OK : status;
    }
    *alerted = group->tasks->count;
    return fn(group->tasks, arg) == 0 ? strike_out(group) : TP_OK;
}

static tp_status give_due(struct group *group, int64_t wait_ms, tp_alert_group_fn fn, void *arg,
                          size_t *alerted, int64_t *next_ms) {
    int64_t now = 0;
    tp_status status = tpi_ask_now(group->of.conn, &now);
    group->early = now + TPI_ALERT_EARLY_MS;
    group->until = now + TAKEN_MS;
    if (status == TP_OK) status = read_due(group);
    if (status != TP_OK || group->tasks->count == 0) return status;
    /* At once is at once, though the failures may be later than this session's clock. */
    if (wait_ms > 0 && group->tasks->count < group->of.limit && now - group->oldest < wait_ms) {
        *next_ms = wait_ms - (now - group->oldest);
        return TP_OK;
    }
    status = give(group, fn, arg, alerted);
    if (status != TP_OK || group->refused->error.status == TP_OK) return status;
    tpi_error_restore(group->refused);
    return TP_DB;
}

tp_status tpi_alert_group(tp_conn *conn, const char *const *handlers, size_t handler_count, int64_t wait_ms,
                          size_t limit, tp_alert_group_fn fn, void *arg, size_t *alerted, int64_t *next_ms) {
    struct tpi_kept_error refused = {.error = {.status = TP_OK}};
    struct group group = {.of = {conn, handlers, handler_count, limit}, .refused = &refused};
    *alerted = 0;
    *next_ms = -1;
    tp_status status = tpi_conn_ready_alone(conn, "tpi_alert_group");
    if (status != TP_OK) return status;
    group.notes = calloc(limit, sizeof *group.notes);
    group.tasks = tpi_batch_new();
    status = group.notes && group.tasks ? give_due(&group, wait_ms, fn, arg, alerted, next_ms)
                                        : tpi_error(TP_NOMEM, "out of memory");
    free(group.notes);
    tp_batch_free(group.tasks);
    return status;
}
