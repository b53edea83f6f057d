/* taskpool enqueue: one task from the command line, or a whole file (import.c). */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "common/args.h"
#include "common/values.h"
#include "import.h"
#include "params.h"
#include "rows.h"
#include "wait.h"

/* popt makes it NULL for an option without a value. */
static char no_wait[] = "no";

static struct {
    char *wait;
    char *file, *format, *handler, *batch, *skip, *retry_for;
    char *id, *biz_key, *dedup_key, *shard, *priority, *delay, *due_at, *max_failures, *cut_off, *lead,
        *on_duplicate, *order_key, *gate, *group, *after, *deadline;
} options = {.wait = no_wait};

static struct poptOption table[] = {
    OPTION_TEXT("biz-key", '\0', &options.biz_key, "KEY", "the business row it is about"),
    OPTION_TEXT("dedup-key", '\0', &options.dedup_key, "KEY",
                "put in nothing while a task with this key is open"),
    OPTION_TEXT("on-duplicate", '\0', &options.on_duplicate, "keep|replace|push-back",
                "what becomes of an open task with the key (keep)"),
    OPTION_TEXT("order-key", '\0', &options.order_key, "KEY", "one at a time for each key, in this order"),
    OPTION_TEXT("gate", '\0', &options.gate, "NAME", "behind this gate, see taskpool gate"),
    OPTION_TEXT("group", '\0', &options.group, "NAME",
                "one of the tasks of this group, see taskpool group; with --file: of rows that name none"),
    OPTION_TEXT("after", '\0', &options.after, "NAME",
                "not due before this group has ended; with --file likewise"),
    OPTION_TEXT("shard", '\0', &options.shard, "N", "load-balance number (0)"),
    OPTION_TEXT("priority", '\0', &options.priority, "N", "smaller is sooner (0)"),
    OPTION_TEXT("delay", '\0', &options.delay, "TIME", "due that long after now: 500ms 10s 5m 2h 1d"),
    OPTION_TEXT("due-at", '\0', &options.due_at, "TIME",
                "due then: 2025-11-21T10:44:05Z, or milliseconds since 1970"),
    OPTION_TEXT("by-cut-off", '\0', &options.cut_off, "CALENDAR", "due at the next cut-off of this calendar"),
    OPTION_TEXT("lead", '\0', &options.lead, "TIME", "with --by-cut-off: so long before it, or at once"),
    OPTION_TEXT("deadline", '\0', &options.deadline, "TIME",
                "of no use any more then, or so long after it is due: it is skipped"),
    OPTION_TEXT("max-failures", '\0', &options.max_failures, "N", "overrides the worker's retry list"),
    OPTION_TEXT("id", '\0', &options.id, "UUID", "the task's id; the same id again puts in nothing"),
    {"wait", '\0', POPT_ARG_STRING | POPT_ARGFLAG_OPTIONAL, &options.wait, 0,
     "wait until it has ended, at most so long, and print its result", "TIME"},
    OPTION_TEXT("file", 'f', &options.file, "FILE", "many tasks from a file, - is standard input"),
    OPTION_TEXT("format", '\0', &options.format, "csv|jsonl", "of the file (by its name; csv)"),
    OPTION_TEXT("handler", '\0', &options.handler, "NAME", "with --file: of rows that name none"),
    OPTION_TEXT("batch", '\0', &options.batch, "N", "with --file: rows written together (1000)"),
    OPTION_TEXT("skip", '\0', &options.skip, "N", "with --file: rows that an earlier run dealt with (0)"),
    OPTION_TEXT("retry-for", '\0', &options.retry_for, "TIME", "how long to wait for a lost database (60s)"),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage enqueue_usage = {
    "HANDLER [PARAMS|-] | --file FILE",
    "Puts in one task and prints its id; PARAMS is any text, - reads it from standard input.\n"
    "With --wait it prints the task's result instead, when it is done; exit code 14: it went to the failed "
    "pool,\n"
    "15: it was skipped, 16: it has not ended in that time (--wait=30s) and goes on.\n"
    "Or puts in many from a file or a pipe, of any size:\n"
    "  csv    RFC 4180, UTF-8, first line names the columns. Task fields are id, handler, params, biz_key,\n"
    "         dedup_key, shard, priority, delay_ms, due_at, max_failures, order_key, gate, deadline_at,\n"
    "         deadline_ms, group, after; without a params column all other columns become a JSON object in "
    "params.\n"
    "  jsonl  one JSON object a line with the same names; params may be any JSON.\n"
    "A batch is written as a whole or not at all; after a failure the message says how to go on.\n",
    "  taskpool enqueue points '{\"order\":7}' --biz-key order-7 --delay 5m\n"
    "  taskpool enqueue reindex 7 --dedup-key order-7 --delay 30s --on-duplicate push-back\n"
    "  taskpool enqueue post '{\"entry\":7}' --order-key account-4711\n"
    "  taskpool enqueue quote '{\"isin\":\"DE0001102580\"}' --wait=30s\n"
    "  taskpool enqueue quote '{\"isin\":\"DE0001102580\"}' --deadline 10m\n"
    "  taskpool enqueue transfer 4711 --by-cut-off TARGET2 --lead 30m\n"
    "  taskpool enqueue pay 4711 --group payroll-11\n"
    "  taskpool enqueue --file employees.csv --handler pay --group payroll-11\n"
    "  produce | taskpool enqueue --file - --format jsonl\n",
    table,
    0,
    2,
};

static tp_on_duplicate find_on_duplicate(void) {
    static const char *const words[] = {[TP_DUPLICATE_KEEP] = "keep",
                                        [TP_DUPLICATE_REPLACE] = "replace",
                                        [TP_DUPLICATE_PUSH_BACK] = "push-back"};

    if (!options.on_duplicate) return TP_DUPLICATE_KEEP;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(options.on_duplicate, words[i]) == 0) return (tp_on_duplicate)i;
    args_fail("--on-duplicate must be keep, replace or push-back");
}

static void read_deadline(tp_new_task *task) {
    const char *text = options.deadline;

    if (!text || (value_time(text, &task->deadline_at) && task->deadline_at)) return;
    if (!value_duration(text, &task->deadline_ms) || !task->deadline_ms)
        args_fail("--deadline must be a time like 2030-01-01T00:00:00Z, or a duration like 10m from when the "
                  "task is due, not \"%.*s\"",
                  args_shown(text), text);
}

static void fill_task(const char *handler, const char *params, tp_new_task *task) {
    struct row row = {{NULL}};
    char error[ROW_ERROR_SIZE];
    char delay_ms[32] = "";
    int64_t delay = 0;

    args_duration("--delay", options.delay, &delay);
    if (delay) snprintf(delay_ms, sizeof delay_ms, "%lld", (long long)delay);
    row.text[FIELD_ID] = options.id;
    row.text[FIELD_HANDLER] = handler;
    row.text[FIELD_PARAMS] = params;
    row.text[FIELD_BIZ_KEY] = options.biz_key;
    row.text[FIELD_DEDUP_KEY] = options.dedup_key;
    row.text[FIELD_SHARD] = options.shard;
    row.text[FIELD_PRIORITY] = options.priority;
    row.text[FIELD_DELAY_MS] = delay_ms;
    row.text[FIELD_DUE_AT] = options.due_at;
    row.text[FIELD_MAX_FAILURES] = options.max_failures;
    row.text[FIELD_ORDER_KEY] = options.order_key;
    row.text[FIELD_GATE] = options.gate;
    row.text[FIELD_GROUP] = options.group;
    row.text[FIELD_AFTER] = options.after;
    if (!row_to_task(&row, task, error)) args_fail("%s", error);
    if (options.lead && !options.cut_off) args_fail("--lead goes with --by-cut-off");
    args_duration("--lead", options.lead, &task->cut_off_lead_ms);
    task->cut_off_calendar = options.cut_off;
    task->on_duplicate = find_on_duplicate();
    read_deadline(task);
    if (options.on_duplicate && !options.dedup_key) args_fail("--on-duplicate goes with --dedup-key");
}

static tp_status ask_one(tp_conn *conn, void *arg) {
    return tp_enqueue(conn, arg);
}

static bool waits(void) {
    return options.wait != no_wait;
}

/* Of another task with the key. */
static enum cli_exit report_changed(const tp_new_task *task, bool changed) {
    if (common.json)
        out_members(MEMBERS(MEMBER_TEXT("id", task->existing_id), MEMBER_YES_NO("inserted", false),
                            MEMBER_YES_NO("changed", changed)));
    else if (changed)
        out_text("%s\n", task->existing_id);
    if (changed) return EXIT_DONE;
    return cli_fail(
        EXIT_BAD,
        "task %s, which has the key, is in hand, was cancelled or has done a step; nothing was written",
        task->existing_id);
}

/* inserted: by this call, its tries without an answer among them. */
static enum cli_exit report_one(const tp_new_task *task, bool inserted) {
    if (common.json)
        out_members(MEMBERS(MEMBER_TEXT("id", inserted ? task->id : task->existing_id),
                            MEMBER_YES_NO("inserted", inserted)));
    else if (inserted)
        out_text("%s\n", task->id);
    else if (!common.quiet)
        cli_warn("already there, nothing was written: task %s", task->existing_id);
    return EXIT_DONE;
}

static enum cli_exit report_failed(const tp_new_task *task, tp_status status, bool lost) {
    if (!lost || !task->id[0]) return cli_fail_tp(status);
    return cli_fail(cli_exit_of(status), "%s; asking again with --id %s cannot put it in twice",
                    tp_last_error()->text, task->id);
}

static enum cli_exit send_one(tp_new_task *task, int64_t retry_ms, int64_t wait_ms) {
    tp_conn *conn = args_connect();
    bool lost = false;
    tp_status status = ask_until(conn, retry_ms, ask_one, task, &lost, NULL);
    bool earlier = lost && strcmp(task->existing_id, task->id) == 0;
    bool another = *task->existing_id && strcmp(task->existing_id, task->id) != 0;
    bool changes = another && task->on_duplicate != TP_DUPLICATE_KEEP;

    if (status < 0) return report_failed(task, status, lost);
    if (waits() && (status == TP_OK || !changes))
        return wait_for_end(conn, *task->existing_id ? task->existing_id : task->id,
                            (status == TP_OK && !another) || earlier, wait_ms, retry_ms);
    return changes ? report_changed(task, status == TP_OK) : report_one(task, status == TP_OK || earlier);
}

static enum cli_exit enqueue_one(const char **args, int64_t retry_ms) {
    enum cli_exit code = EXIT_USAGE;
    int64_t wait_ms = -1;
    tp_new_task task;
    char *params;

    if (options.format || options.handler || options.batch || options.skip)
        args_fail("--format, --handler, --batch and --skip belong to --file");
    if (waits()) args_duration("--wait", options.wait, &wait_ms);
    params = params_get(args[1], &code);
    if (!params) return code;
    fill_task(args[0], params, &task);
    code = send_one(&task, retry_ms, wait_ms);
    free(params);
    return code;
}

static bool ends_in(const char *text, const char *end) {
    size_t length = strlen(text);

    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static enum import_format find_format(void) {
    bool csv = options.format && strcmp(options.format, "csv") == 0;
    bool jsonl = options.format && strcmp(options.format, "jsonl") == 0;

    if (options.format && !csv && !jsonl) args_fail("--format must be csv or jsonl");
    if (!options.format) jsonl = ends_in(options.file, ".jsonl") || ends_in(options.file, ".ndjson");
    return jsonl ? IMPORT_JSONL : IMPORT_CSV;
}

static void report_import(const struct import_result *result, int64_t skipped, enum cli_exit code) {
    if (common.json)
        out_members(MEMBERS(MEMBER_NUMBER("rows", result->rows), MEMBER_NUMBER("inserted", result->inserted),
                            MEMBER_NUMBER("already_there", result->there),
                            MEMBER_NUMBER("skipped", skipped)));
    else if (!common.quiet && code == EXIT_DONE)
        out_text("enqueued %lld, already there %lld\n", (long long)result->inserted,
                 (long long)result->there);
}

static enum cli_exit enqueue_many(int64_t retry_ms) {
    struct import_options import = {.path = options.file,
                                    .handler = options.handler,
                                    .group = options.group,
                                    .after = options.after,
                                    .batch = 1000,
                                    .retry_ms = retry_ms,
                                    .progress = !common.quiet};
    struct import_result result = {0, 0, 0};
    enum cli_exit code;

    if (options.id || options.biz_key || options.dedup_key || options.shard || options.priority ||
        options.delay || options.due_at || options.max_failures || options.cut_off || options.lead ||
        options.on_duplicate || options.order_key || options.gate || options.deadline || waits())
        args_fail("options about one task do not go with --file; make them columns of the file");
    import.format = find_format();
    args_integer("--batch", options.batch, 1, 100000, &import.batch);
    args_integer("--skip", options.skip, 0, INT64_MAX, &import.skip);
    code = import_file(args_connect(), &import, &result);
    report_import(&result, import.skip, code);
    return code;
}

enum cli_exit enqueue_command(const char **args) {
    int64_t retry_ms = 60000;

    args_duration("--retry-for", options.retry_for, &retry_ms);
    if (options.file && args[0]) args_fail("either a HANDLER or --file, not both");
    if (options.file) return enqueue_many(retry_ms);
    if (!args[0]) args_fail("a HANDLER is missing, or --file");
    return enqueue_one(args, retry_ms);
}
