/* taskpool show: whole tasks and what is known of their lives. Read next: common/life.h. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/escape.h"
#include "common/life.h"
#include "common/listing.h"
#include "common/pool_columns.h"
#include "common/task_columns.h"
#include "common/values.h"
#include "selection.h"

enum { SHOWN = 100 };

static char *limit_text;

static struct poptOption show_table[] = {
    SELECTION_OPTIONS, OPTION_TEXT("limit", '\0', &limit_text, "N", "at most so many (100)"),
    OPTION_CSV,        COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage show_usage = {
    "[ID...]",
    "Shows tasks with their whole parameters, from whichever pool holds them, and their lives: when each "
    "was\n"
    "put in, claimed, failed, changed by operators, settled; who holds it since when. --dedup-key by itself\n"
    "finds the open task with this key. Claims that ended well before the last one leave no trace. Control\n"
    "characters are shown escaped; --json gives the exact text.\n"
    "Exit code 1: no such task.\n",
    "  taskpool show 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f\n"
    "  taskpool show --biz-key order-4711\n"
    "  taskpool show --json 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f | jq -r .params\n",
    show_table,
    0,
    1000,
};

/* ---- What it told -------------------------------------------------------------------------------------- */

#define STEP(type, member) COLUMN_OF(type, tp_step_row, member)
static const struct column step_columns[] = {
    {"STEP", "name", STEP(TEXT, name), .whole = true},
    {"DONE", "at", STEP(TIME, at)},
    {"RESULT", "result", STEP(EXACT, result)},
    COLUMNS_END,
};

#define PROGRESS(type, member) COLUMN_OF(type, tp_progress, member)
static const struct column progress_columns[] = {
    {NULL, "percent", PROGRESS(NUMBER, percent)},
    {NULL, "message", PROGRESS(TEXT, message)},
    {NULL, "at", PROGRESS(TIME, at)},
    COLUMNS_END,
};

static void print_progress(const tp_progress *progress, void *arg) {
    char *message = cli_must(escape_text(progress->message));
    char at[RECORD_TEXT_SIZE], percent[32] = "";

    (void)arg;
    if (progress->percent >= 0) snprintf(percent, sizeof percent, "%d %%", (int)progress->percent);
    out_text("%-13s %s%s%s (%s)\n", "progress", percent, *percent && *message ? " " : "", message,
             record_time(progress->at, at));
    free(message);
}

static void add_progress(const tp_progress *progress, void *arg) {
    json_add(arg, MEMBERS(MEMBER_JSON("progress", record_object(progress_columns, progress))));
}

static void add_step(const tp_step_row *step, void *arg) {
    listing_add(arg, step);
}

/* ---- One task ------------------------------------------------------------------------------------------ */

/* Of one that is handled also whether it is there still. */
static void print_worker(const struct life *life) {
    char *worker = cli_must(escape_text(life->worker)), ago[TIME_TEXT_SIZE];
    bool running = strcmp(life->worker_state, "running") == 0 || strcmp(life->worker_state, "stopping") == 0;

    out_text("%-13s %s", "worker", worker);
    if (life->now && (!running || life->worker_seen_ago_ms >= WORKER_SILENT_MS))
        out_text(" (%s, last heard of %s ago)", running ? "silent" : life->worker_state,
                 value_age_text(life->worker_seen_ago_ms, ago));
    out_text("\n");
    free(worker);
}

static void print_held(const tp_task *task, const struct life *life) {
    char since[RECORD_TEXT_SIZE], until[RECORD_TEXT_SIZE];
    int64_t claimed = life_token_time(task->owner);

    if (*life->worker) print_worker(life);
    if (life->now)
        out_text("%-13s since %s, lease %s %s\n", "held", record_time(claimed, since),
                 task->due_at > life->now ? "until" : "lapsed", record_time(task->due_at, until));
    if (strcmp(task->state, "done") != 0 || !claimed) return;
    if (task->due_at <= claimed)
        out_text("%-13s %s\n", "waited", value_duration_text(claimed - task->due_at, since));
    if (task->settled_at >= claimed)
        out_text("%-13s %s\n", "ran", value_duration_text(task->settled_at - claimed, since));
}

/* A task that waits for a group has > and its name for a gate. */
static bool is_after_group(const tp_task *task) {
    return task->gate && task->gate[0] == '>';
}

static const char *gate_label(const tp_task *task) {
    if (is_after_group(task)) return "after group";
    return task_waits_at_gate(task) ? "waits at gate" : "gate";
}

static const char *gate_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    const tp_task *task = record;

    (void)text;
    return is_after_group(task) ? task->gate + 1 : task->gate;
}

/* The reason says who. */
static void print_asked(const struct moment *asked) {
    char *reason = cli_must(escape_text(asked->reason)), at[RECORD_TEXT_SIZE];

    out_text("%-13s %s (%s)\n", "cancel asked", reason, record_time(asked->at, at));
    free(reason);
}

static const char *warning_text(const void *task, char text[RECORD_TEXT_SIZE]) {
    (void)text;
    return task_warning(task);
}

static tp_status print_task(tp_conn *conn, const tp_task *task, struct life *life) {
    const char *due = strcmp(task->state, "handling") == 0 ? "lease until" : "due_at";
    const struct column lines[] = {
        {"id", NULL, TASK(TEXT, id)},
        {"pool", NULL, TASK(TEXT, pool)},
        {"state", NULL, .shown = task_state_text},
        {"handler", NULL, TASK(TEXT, handler)},
        {"biz_key", NULL, TASK(TEXT, biz_key)},
        {"dedup_key", NULL, TASK(TEXT, dedup_key)},
        {gate_label(task), NULL, .type = VALUE_TEXT, .shown = gate_text},
        {"shard", NULL, TASK(NUMBER, shard)},
        {"priority", NULL, TASK(NUMBER, priority)},
        {"failures", NULL, TASK(NUMBER, failures)},
        {"max_failures", NULL, TASK(NUMBER, max_failures), .may_miss = true},
        {"reason", NULL, TASK(TEXT, reason)},
        {"warning", NULL, .type = VALUE_TEXT, .shown = warning_text, .may_miss = true},
        {"owner", NULL, TASK(TEXT, owner)},
        {due, NULL, TASK(TIME, due_at)},
        {"deadline", NULL, TASK(TIME, deadline_at), .may_miss = true},
        {"created_at", NULL, TASK(TIME, created_at)},
        {"modified_at", NULL, TASK(TIME, modified_at)},
        {"settled_at", NULL, TASK(TIME, settled_at)},
        {"params", NULL, TASK(TEXT, params)},
        {*task->result ? "result" : NULL, NULL, TASK(TEXT, result)},
        COLUMNS_END,
    };
    struct listing *moments = listing_open(life_columns);
    struct listing *steps = listing_open(step_columns);
    tp_status status;

    record_print(lines, task);
    print_held(task, life);
    if (life_asked(life, task)) print_asked(life_asked(life, task));
    status = tp_progress_of(conn, task, print_progress, NULL);
    if (status >= 0) status = tp_step_each(conn, task, add_step, steps);
    if (status == TP_OK) {
        out_text("\n");
        listing_print(steps);
    }
    listing_free(steps);
    out_text("\n");
    for (size_t i = 0; i < life->count; i++)
        listing_add(moments, &life->moments[i]);
    listing_print(moments);
    if (life->cut) out_text("... more: taskpool history %s\n", task->id);
    listing_free(moments);
    return status < 0 ? status : TP_OK;
}

static tp_status print_json(tp_conn *conn, const tp_task *task, const struct life *life) {
    struct json_object *object = record_object(task_columns, task);
    struct listing *moments = listing_open_list(life_columns);
    struct listing *steps = listing_open_list(step_columns);
    const struct moment *asked = life_asked(life, task);
    tp_status status = tp_progress_of(conn, task, add_progress, object);

    if (status >= 0) status = tp_step_each(conn, task, add_step, steps);
    if (*task->result) json_add(object, MEMBERS(MEMBER_TEXT("result", task->result)));
    if (asked) json_add(object, MEMBERS(MEMBER_JSON("cancel", record_object(life_columns, asked))));
    for (size_t i = 0; i < life->count; i++)
        listing_add(moments, &life->moments[i]);
    json_add(object,
             MEMBERS(MEMBER_TEXT("warning", task_warning(task)), MEMBER_TEXT("worker", life->worker),
                     MEMBER_JSON("life", listing_list(moments)), MEMBER_JSON("steps", listing_list(steps))));
    listing_free(moments);
    listing_free(steps);
    out_json(object);
    return status < 0 ? status : TP_OK;
}

/* ---- Those that were asked for ------------------------------------------------------------------------- */

struct shown {
    tp_conn *conn;
    struct listing *rows; /* of CSV */
    struct life *life;
    size_t count;
};

/* By its id or, where that is NULL, by its dedup_key. */
static tp_status show_one(struct shown *shown, const char *id, const char *key) {
    tp_batch *batch = NULL;
    tp_status status = id ? tp_show(shown->conn, id, &batch) : tp_show_key(shown->conn, key, &batch);
    const tp_task *task = status == TP_OK ? tp_batch_task(batch, 0) : NULL;

    if (task && !common.csv) status = life_read(shown->conn, task, shown->life);
    if (task && status == TP_OK) {
        if (shown->count++ && !common.json && !common.csv) out_text("\n");
        if (common.csv)
            listing_add(shown->rows, task);
        else if (common.json)
            status = print_json(shown->conn, task, shown->life);
        else
            status = print_task(shown->conn, task, shown->life);
    }
    tp_batch_free(batch);
    return status;
}

static enum cli_exit show_ids(struct shown *shown, const char **ids) {
    enum cli_exit code = EXIT_DONE;

    for (; *ids && !out_failed(); ids++) {
        tp_status status = show_one(shown, *ids, NULL);
        if (status == TP_NONE)
            code = cli_fail(EXIT_NOTHING, "no task has the id %s; see taskpool list", *ids);
        if (status < 0) return cli_fail_tp(status);
    }
    return code;
}

static enum cli_exit show_key(struct shown *shown, const char *key) {
    tp_status status = show_one(shown, NULL, key);

    if (status == TP_NONE)
        return cli_fail(EXIT_NOTHING, "no open task has the dedup_key %s; see taskpool list", key);
    return status < 0 ? cli_fail_tp(status) : EXIT_DONE;
}

static enum cli_exit show_selected(struct shown *shown) {
    tp_list_request request = TP_LIST_INIT;
    tp_batch *batch = NULL;
    int64_t limit = SHOWN;
    tp_status status;

    args_integer("--limit", limit_text, 1, 1000, &limit);
    selection_for_list(&request);
    if (!request.pool) request.pool = "all";
    request.limit = (size_t)limit;
    request.read_max = 50000;
    status = tp_list(shown->conn, &request, &batch);
    if (status < 0) return cli_fail_tp(status);
    for (size_t i = 0; status >= 0 && i < tp_batch_count(batch) && !out_failed(); i++)
        status = show_one(shown, tp_batch_task(batch, i)->id, NULL);
    if (status >= 0 && tp_list_next(batch, &request) == TP_OK && !common.quiet)
        cli_warn("there may be more; see taskpool list with the same options");
    tp_batch_free(batch);
    if (status < 0) return cli_fail_tp(status);
    return shown->count ? EXIT_DONE : cli_fail(EXIT_NOTHING, "no such task; see taskpool list");
}

enum cli_exit show_command(const char **args) {
    struct selection nothing = {.dedup_key = selection.dedup_key};
    bool by_key = selection.dedup_key && memcmp(&selection, &nothing, sizeof nothing) == 0;
    struct shown shown = {.conn = NULL};
    enum cli_exit code;

    if (args[0] && (selection_is_narrow() || selection.pool)) args_fail("give ids or options, not both");
    if (!args[0] && !selection_is_narrow())
        args_fail("give an ID, or --dedup-key, --biz-key or another option");
    shown.conn = args_connect();
    shown.rows = listing_open(task_columns);
    shown.life = cli_must(malloc(sizeof *shown.life));
    code = args[0]  ? show_ids(&shown, args)
           : by_key ? show_key(&shown, selection.dedup_key)
                    : show_selected(&shown);
    listing_free(shown.rows);
    free(shown.life);
    return code;
}
