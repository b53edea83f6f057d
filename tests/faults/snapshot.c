/* Reads all tables and compares two readings. See snapshot.h. */
#include "faults/snapshot.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/operation.h"

/* ---- Reading ------------------------------------------------------------------------------------------- */

static void lower_case(char *text) {
    for (; *text; text++)
        *text = (char)tolower((unsigned char)*text);
}

/* Columns: where it is, id, word, owner, number, time. */
static void add_row(const struct sql_row *cells, void *arg) {
    struct snapshot *snapshot = arg;
    size_t used = strlen(snapshot->text);
    for (int i = 0; i < 6; i++)
        used += (size_t)snprintf(snapshot->text + used, used < SNAPSHOT_TEXT ? SNAPSHOT_TEXT - used : 0,
                                 "%.48s%s", cells->cell[i], i < 5 ? " " : "\n");
    if (snapshot->count++ >= SNAPSHOT_ROWS) return;
    struct snapshot_row *row = &snapshot->rows[snapshot->count - 1];
    snprintf(row->pool, sizeof row->pool, "%.11s", cells->cell[0]);
    snprintf(row->id, sizeof row->id, "%.36s", cells->cell[1]);
    snprintf(row->state, sizeof row->state, "%.47s", cells->cell[2]);
    snprintf(row->owner, sizeof row->owner, "%.36s", cells->cell[3]);
    lower_case(row->id);
    lower_case(row->owner);
    row->number = (int)strtol(cells->cell[4], NULL, 10);
    row->due_at = strtoll(cells->cell[5], NULL, 10);
}

/* The rows of the audit are there for ever: those of earlier runs. */
static int64_t audit_base;

/* What a table is to be read for. */
struct part {
    const char *name, *id, *word, *owner, *number, *time, *from;
};

#define ID_OF(column) "CAST(" #column " AS CHAR(36))"
#define TASKS_OF(pool)                                                                                       \
    { #pool, ID_OF(id), "state", ID_OF(owner), "failures", "due_at", #pool }

/* Those with ids, which are of a type of their own on some databases. */
static const struct part of_ids[] = {
    TASKS_OF(pending),
    TASKS_OF(finished),
    TASKS_OF(failed),
    {"history", ID_OF(task_id), "event", ID_OF(owner), "attempt", "0", "history"},
    {"request", ID_OF(id), "state", "''", "tasks", "0", "request"},
    {"step", ID_OF(task_id), "step", "''", "0", "0", "step"},
    {"cancel", ID_OF(task_id), "who", "reason", "0", "0", "cancel"},
    {"behind", ID_OF(task_id), "gate", "''", "passed", "0", "gate_task"},
    {"placed", ID_OF(task_id), "group_name", "''", "waits", "0", "group_task"},
    {"of", ID_OF(request_id), "row_key", "''", "0", "0", "request_row"},
};
static const struct part of_names[] = {
    {"effect", "task_id", "note", "''", "0", "0", "fx"},
    {"once", "''", "once_key", "''", "0", "0", "once"},
    {"schedule", "''", "name", "''", "paused", "COALESCE(fire_at, next_at)", "schedule"},
    {"calendar", "''", "calendar", "kind", "0", "0", "calendar_day"},
    {"gate", "''", "name", "on_failure", "width", "let_through", "gate"},
    {"group", "''", "name", "state", "cancelled", "0", "group"},
    {"pause", "''", "handler", "''", "0", "0", "pause"},
    {"worker", "''", "state", "''", "0", "0", "worker"},
    {"activity", "''", "handler", "''", "done", "0", "activity"},
    {"meta", "''", "name", "value", "0", "0", "meta WHERE SUBSTR(name, 1, 4) = 'keep' OR name = 'four_eyes'"},
};

enum { SQL_MAX = 4000 };

static void add_sql(char *sql, const char *format, ...) {
    size_t used = strlen(sql);
    va_list list;
    va_start(list, format);
    vsnprintf(sql + used, SQL_MAX - used, format, list);
    va_end(list);
}

/* The readings are most of what a run costs. So the statements, one for all tables, are prepared once, on a
 * connection that lives as long as they. */
static struct pool_raw reader;
static SQLHSTMT read_ids, read_names, read_results, count_rows;

static SQLHSTMT prepare(const char *sql) {
    SQLHSTMT stmt = sql_prepare(reader.dbc, "%s", sql);
    sure(stmt, "%s", sql_reason());
    return stmt;
}

static SQLHSTMT prepare_parts(const struct part *parts, size_t count) {
    char sql[SQL_MAX] = "";
    for (size_t i = 0; i < count; i++) {
        const struct part *part = &parts[i];
        add_sql(sql, "%sSELECT '%s' AS name, %s, %s, %s, %s, %s FROM tp_%s", i ? " UNION ALL " : "",
                part->name, part->id, part->word, part->owner, part->number, part->time, part->from);
    }
    add_sql(sql, " ORDER BY 2, 1, 3, 5");
    return prepare(sql);
}

static const char *const wiped[] = {
    "pending",
    "finished",
    "failed",
    "history",
    "fx",
    "once",
    "schedule",
    "worker",
    "pause",
    "activity",
    "request",
    "request_row",
    "calendar",
    "calendar_day",
    "step",
    "gate_task",
    "group",
    "group_task",
    "cancel",
    "gate WHERE name <> '='",
    "meta WHERE SUBSTR(name, 1, 4) = 'keep' OR name = 'four_eyes'",
};
enum { WIPED = sizeof wiped / sizeof wiped[0] };

static SQLHSTMT prepare_counts(void) {
    char sql[SQL_MAX] = "";
    for (int i = 0; i < WIPED; i++)
        add_sql(sql, "%sSELECT %d, COUNT(*) FROM tp_%s", i ? " UNION ALL " : "", i, wiped[i]);
    return prepare(sql);
}

void snapshot_open(void) {
    sure(pool_raw_open(&reader), "cannot open a plain connection");
    read_ids = prepare_parts(of_ids, sizeof of_ids / sizeof of_ids[0]);
    read_names = prepare_parts(of_names, sizeof of_names / sizeof of_names[0]);
    /* A result may be too long a text for a union. */
    read_results = prepare("SELECT 'result', id, result, '', 0, 0 FROM tp_finished "
                           "WHERE result IS NOT NULL ORDER BY 2");
    count_rows = prepare_counts();
}

void snapshot_close(void) {
    SQLHSTMT prepared[] = {read_ids, read_names, read_results, count_rows};
    for (size_t i = 0; i < sizeof prepared / sizeof prepared[0]; i++)
        SQLFreeHandle(SQL_HANDLE_STMT, prepared[i]);
    pool_raw_close(&reader);
}

void snapshot_read(struct snapshot *snapshot) {
    snapshot->count = 0;
    snapshot->text[0] = '\0';
    bool read = sql_prepared_each(read_ids, add_row, snapshot) &&
                sql_prepared_each(read_names, add_row, snapshot) &&
                sql_prepared_each(read_results, add_row, snapshot);
    read = read && sql_raw_each(reader.dbc, add_row, snapshot,
                                "SELECT 'audit', NULL, action, NULL, changed, seq - %" PRId64
                                " FROM tp_audit WHERE seq > %" PRId64 " ORDER BY seq",
                                audit_base, audit_base);
    sure(read, "%s", sql_reason());
}

static void note_rows(const struct sql_row *cells, void *arg) {
    bool *has_rows = arg;
    has_rows[strtol(cells->cell[0], NULL, 10)] = strcmp(cells->cell[1], "0") != 0;
}

/* Few of them have any. */
void snapshot_wipe(void) {
    bool has_rows[WIPED] = {false};
    sure(sql_prepared_each(count_rows, note_rows, has_rows), "%s", sql_reason());
    must(tp_begin(pool.eye));
    for (size_t i = 0; i < WIPED; i++)
        if (has_rows[i]) sql_run(pool.eye, "DELETE FROM tp_%s", wiped[i]);
    must(tp_commit(pool.eye));
    audit_base = sql_number(pool.eye, "SELECT seq FROM tp_audit_head");
}

bool snapshot_same(const struct snapshot *a, const struct snapshot *b) {
    return strcmp(a->text, b->text) == 0;
}

static bool fits(const char *wanted, const char *got) {
    return !wanted || !*wanted || strcmp(wanted, got) == 0;
}

int snapshot_count(const struct snapshot *snapshot, const char *in, const char *id, const char *state) {
    int count = 0;
    for (size_t i = 0; i < snapshot->count && i < SNAPSHOT_ROWS; i++) {
        const struct snapshot_row *row = &snapshot->rows[i];
        count += fits(in, row->pool) && fits(id, row->id) && fits(state, row->state);
    }
    return count;
}

static bool is_task(const struct snapshot_row *row) {
    return strcmp(row->pool, "pending") == 0 || strcmp(row->pool, "finished") == 0 ||
           strcmp(row->pool, "failed") == 0;
}

const struct snapshot_row *snapshot_task(const struct snapshot *snapshot, const char *id) {
    for (size_t i = 0; i < snapshot->count && i < SNAPSHOT_ROWS; i++)
        if (is_task(&snapshot->rows[i]) && strcmp(snapshot->rows[i].id, id) == 0) return &snapshot->rows[i];
    return NULL;
}

/* ---- What holds after every run ------------------------------------------------------------------------ */

static bool is_ours(const struct work *work, const char *id) {
    for (size_t i = 0; i < work->id_count; i++)
        if (strcmp(work->ids[i], id) == 0) return true;
    return false;
}

void work_note_made(struct work *work) {
    snapshot_read(&work->now);
    work->id_count = 0;
    for (size_t r = 0; r < work->now.count && r < SNAPSHOT_ROWS; r++) {
        const struct snapshot_row *row = &work->now.rows[r];
        if (is_task(row) && !is_ours(work, row->id) && work->id_count < WORK_TASKS)
            memcpy(work->ids[work->id_count++], row->id, TP_ID_SIZE);
    }
}

static bool has_token(const struct work *work, const char *id, const char *token) {
    for (size_t b = 0; b < work->batch_count; b++)
        for (size_t i = 0; i < tp_batch_count(work->batches[b]); i++) {
            const tp_task *task = tp_batch_task(work->batches[b], i);
            if (strcmp(task->id, id) == 0 && strcmp(task->owner, token) == 0) return true;
        }
    return false;
}

static void judge_row(const struct work *work, const struct snapshot_row *row) {
    if (!is_ours(work, row->id)) wrong("task %s is there, and should not", row->id);
    if (strcmp(row->state, "handling") != 0) return;
    bool settled = strcmp(row->pool, "pending") != 0;
    if (settled) wrong("task %s is being handled in the %s pool", row->id, row->pool);
    if (!has_token(work, row->id, row->owner))
        wrong("task %s is held by the token %s, which nobody has", row->id, row->owner);
    if (row->due_at <= 0) wrong("task %s is held without a lease", row->id);
}

/* ---- What people did ----------------------------------------------------------------------------------- */

static void sum_acts(const struct snapshot *now, const char *action, int *rows, int *changed) {
    *rows = *changed = 0;
    for (size_t i = 0; i < now->count && i < SNAPSHOT_ROWS; i++) {
        const struct snapshot_row *row = &now->rows[i];
        if (strcmp(row->pool, "audit") != 0 || !fits(action, row->state)) continue;
        ++*rows;
        *changed += row->number;
    }
}

/* Each event by people is told of once, by a row for its transaction; no place in the chain is empty. */
static void judge_audit(const struct work *work) {
    static const char *const one_by_one[] = {"skipped", "released", "paused", "resumed",
                                             "edited",  "kept",     "drained"};
    static const char *const by_transaction[] = {"purged", "erased"};
    int rows, changed, events;
    for (size_t i = 0; i < sizeof one_by_one / sizeof one_by_one[0]; i++) {
        events = snapshot_count(&work->now, "history", NULL, one_by_one[i]);
        sum_acts(&work->now, one_by_one[i], &rows, &changed);
        if (changed != events)
            wrong("the audit tells of %d %s, the history of %d", changed, one_by_one[i], events);
    }
    for (size_t i = 0; i < sizeof by_transaction / sizeof by_transaction[0]; i++) {
        events = snapshot_count(&work->now, "history", NULL, by_transaction[i]);
        sum_acts(&work->now, by_transaction[i], &rows, &changed);
        if (rows != events) wrong("the audit has %d %s, the history %d", rows, by_transaction[i], events);
    }
    sum_acts(&work->now, "", &rows, &changed);
    int64_t head = sql_number(pool.eye, "SELECT seq FROM tp_audit_head");
    if (head >= audit_base) want_number(head - audit_base, rows); /* else the tables were made anew */
}

void snapshot_judge(const struct work *work) {
    const struct snapshot *now = &work->now;
    if (now->count > SNAPSHOT_ROWS) wrong("%zu rows", now->count);
    for (size_t i = 0; i < work->id_count; i++) {
        int copies = 0;
        for (size_t r = 0; r < now->count && r < SNAPSHOT_ROWS; r++)
            copies += is_task(&now->rows[r]) && strcmp(now->rows[r].id, work->ids[i]) == 0;
        if (copies != 1) wrong("task %zu is there %d times", i, copies);
    }
    for (size_t r = 0; r < now->count && r < SNAPSHOT_ROWS; r++)
        if (is_task(&now->rows[r])) judge_row(work, &now->rows[r]);
    judge_audit(work);
}

/* ---- What an operation wants --------------------------------------------------------------------------- */

void want_task(const struct work *work, size_t i, const char *in, const char *state, int failures) {
    const struct snapshot_row *row = snapshot_task(&work->now, work->ids[i]);
    if (!row) {
        wrong("task %zu is in no pool", i);
        return;
    }
    if (strcmp(row->pool, in) != 0 || strcmp(row->state, state) != 0 || row->number != failures)
        wrong("task %zu is %s in the %s pool with %d failures, not %s in the %s pool with %d", i, row->state,
              row->pool, row->number, state, in, failures);
    const tp_task *task = work->tasks[i];
    bool token_stays = strcmp(in, "pending") != 0 || strcmp(state, "handling") == 0;
    if (task && token_stays && strcmp(row->owner, task->owner) != 0)
        wrong("task %zu has the token %s, not %s", i, row->owner, task->owner);
}

void want_settled_by_us(const struct work *work, size_t i) {
    const struct snapshot_row *row = snapshot_task(&work->now, work->ids[i]);
    if (row && !has_token(work, row->id, row->owner))
        wrong("task %zu was settled by %s, which is no token of ours", i, row->owner);
}

static void want_count(const struct work *work, const char *in, const char *id, const char *state,
                       int count) {
    int there = snapshot_count(&work->now, in, id, state);
    if (there != count) wrong("%d rows of %s %s %s, not %d", there, in, id ? id : "", state, count);
}

void want_events(const struct work *work, size_t i, const char *event, int count) {
    want_count(work, "history", work->ids[i], event, count);
}

void want_events_in_all(const struct work *work, int count) {
    want_count(work, "history", NULL, "", count);
}

void want_events_of_all(const struct work *work, const char *event, int count) {
    want_count(work, "history", NULL, event, count);
}

void want_acts(const struct work *work, const char *action, int count) {
    int rows, changed;
    sum_acts(&work->now, action, &rows, &changed);
    if (changed != count) wrong("the audit tells of %d %s, not %d", changed, action, count);
}

void want_effects(const struct work *work, size_t i, int count) {
    want_count(work, "effect", work->ids[i], "", count);
}

void want_key(const struct work *work, int count) {
    want_count(work, "once", NULL, work->key, count);
}

/* ---- What several operations want ---------------------------------------------------------------------- */

void want_all(const struct work *work, const char *in, const char *state, int failures) {
    for (size_t i = 0; i < work->id_count; i++)
        want_task(work, i, in, state, failures);
}

void want_lapses(const struct work *work, size_t count) {
    /* What the database or the system refuses for good does not stop the claim. */
    bool may_be_missing = way_is_permanent() || way_is_allocation();
    for (size_t i = 0; i < count; i++) {
        int there = snapshot_count(&work->now, "history", work->ids[i], "lapsed");
        if (there != 1 && !(may_be_missing && there == 0)) wrong("%d lapses of task %zu", there, i);
    }
}

void nothing_changed(struct work *work) {
    if (!snapshot_same(&work->before, &work->now)) wrong("something was changed");
}
