/* taskpool list and show: which tasks are read, and how a task is shown. */
#include "cli.h"

#include <string.h>

#include "common/args.h"
#include "common/listing.h"

#define PAGE 1000

static struct { char *pool, *state, *handler, *biz_key, *after, *limit; } options;

static struct poptOption list_table[] = {
    OPTION_TEXT("pool", '\0', &options.pool, "POOL", "pending (default), finished or failed"),
    OPTION_TEXT("state", '\0', &options.state, "STATE", "pending, handling, failed, done or skipped"),
    OPTION_TEXT("handler", '\0', &options.handler, "NAME", "tasks of one handler"),
    OPTION_TEXT("biz-key", '\0', &options.biz_key, "KEY", "tasks about one business row"),
    OPTION_TEXT("after", '\0', &options.after, "ID", "tasks behind this one: the last id of the page before"),
    OPTION_TEXT("limit", '\0', &options.limit, "N", "at most so many (100)"),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage list_usage = {
    "",
    "Lists the tasks of one pool, oldest first. Times are UTC (see --local-time), by the database's clock.\n"
    "Exit code 1: there are none.\n",
    "  taskpool list\n"
    "  taskpool list --pool failed --handler pay --limit 20\n"
    "  taskpool list --pool finished --json | jq -r .id\n",
    list_table,
    0,
    0,
};

static struct { char *dedup_key; } show_options;

static struct poptOption show_table[] = {
    OPTION_TEXT("dedup-key", '\0', &show_options.dedup_key, "KEY", "the open task with this key"),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage show_usage = {
    "ID | --dedup-key KEY",
    "Shows one task with its whole parameters, from whichever pool holds it; by its key while it is\n"
    "open. Control characters are shown escaped; --json gives the exact text.\n"
    "Exit code 1: no such task.\n",
    "  taskpool show 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f\n"
    "  taskpool show --json 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f | jq -r .params\n",
    show_table,
    0,
    1,
};

/* A state as people say it: failed-2. */
static const char *state_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    const tp_task *task = record;

    if (strcmp(task->state, "failed") != 0) return task->state;
    snprintf(text, RECORD_TEXT_SIZE, "failed-%d", (int)task->failures);
    return text;
}

static enum tone state_tone(const void *record) {
    const tp_task *task = record;

    if (strcmp(task->state, "failed") == 0) return task->settled_at ? TONE_BAD : TONE_WARN;
    return strcmp(task->state, "done") == 0 ? TONE_GOOD : TONE_PLAIN;
}

static const char *due_or_settled(const void *record, char text[RECORD_TEXT_SIZE]) {
    const tp_task *task = record;

    return record_time(task->settled_at ? task->settled_at : task->due_at, text);
}

#define TASK(type, member) COLUMN_OF(type, tp_task, member)
/* Of a list's table, and of both commands' JSON. */
static const struct column columns[] = {
    {"ID", "id", TASK(TEXT, id), .whole = true},
    {NULL, "pool", TASK(TEXT, pool)},
    {NULL, "state", TASK(TEXT, state)},
    {"STATE", NULL, .shown = state_text, .tone = state_tone, .whole = true},
    {"HANDLER", "handler", TASK(TEXT, handler)},
    {"BIZ_KEY", "biz_key", TASK(TEXT, biz_key), .spare = 2},
    {NULL, "dedup_key", TASK(TEXT, dedup_key)},
    {NULL, "params", TASK(EXACT, params)},
    {NULL, "shard", TASK(NUMBER, shard)},
    {"PRIORITY", "priority", TASK(NUMBER, priority), .spare = 3},
    {"SHARD", NULL, TASK(NUMBER, shard), .spare = 4},
    {NULL, "failures", TASK(NUMBER, failures)},
    {NULL, "max_failures", TASK(NUMBER, max_failures), .may_miss = true},
    {NULL, "reason", TASK(TEXT, reason)},
    {NULL, "owner", TASK(TEXT, owner)},
    {NULL, "due_at", TASK(TIME, due_at), .may_miss = true},
    {NULL, "created_at", TASK(TIME, created_at), .may_miss = true},
    {NULL, "modified_at", TASK(TIME, modified_at), .may_miss = true},
    {NULL, "settled_at", TASK(TIME, settled_at), .may_miss = true},
    {"DUE/SETTLED", NULL, .type = VALUE_TIME, .shown = due_or_settled, .spare = 1},
    {"REASON", NULL, TASK(TEXT, reason)},
    COLUMNS_END,
};

static void print_page(const tp_batch *batch, struct listing *tasks) {
    for (size_t i = 0; i < tp_batch_count(batch); i++)
        listing_add(tasks, tp_batch_task(batch, i));
    listing_print(tasks);
}

/* Pages of the library's size until limit tasks are shown. */
static enum cli_exit list_pages(tp_conn *conn, const tp_list_request *request, size_t limit,
                                struct listing *tasks) {
    char after[TP_ID_SIZE];
    tp_list_request page = *request;
    size_t shown = 0;

    while (shown < limit && !out_failed()) {
        tp_batch *batch = NULL;
        size_t count = 0;
        tp_status status;

        page.limit = limit - shown < PAGE ? limit - shown : PAGE;
        status = tp_list(conn, &page, &batch);
        if (status < 0) return cli_fail_tp(status);
        if (status == TP_OK) count = tp_batch_count(batch);
        if (count) {
            print_page(batch, tasks);
            snprintf(after, sizeof after, "%s", tp_batch_task(batch, count - 1)->id);
            page.after_id = after;
        }
        tp_batch_free(batch);
        shown += count;
        if (count < page.limit) break;
    }
    return shown || limit == 0 ? EXIT_DONE : EXIT_NOTHING;
}

static enum cli_exit list_tasks(tp_conn *conn, const tp_list_request *request, size_t limit) {
    struct listing *tasks = listing_open(columns);
    enum cli_exit code = list_pages(conn, request, limit, tasks);

    listing_free(tasks);
    return code;
}

enum cli_exit list_command(const char **args) {
    tp_list_request request = TP_LIST_INIT;
    int64_t limit = 100;
    enum cli_exit code;

    (void)args;
    args_integer("--limit", options.limit, 1, INT32_MAX, &limit);
    request.pool = options.pool;
    request.state = options.state;
    request.handler = options.handler;
    request.biz_key = options.biz_key;
    request.after_id = options.after;
    code = list_tasks(args_connect(), &request, (size_t)limit);
    if (code == EXIT_NOTHING && !common.json && !common.quiet)
        (void)cli_fail(code, "no such task in the %s pool%s", options.pool ? options.pool : "pending",
                       options.pool ? "" : "; --pool names another: finished or failed");
    return code;
}

static void print_task(const tp_task *task) {
    const char *due = strcmp(task->state, "handling") == 0 ? "lease until" : "due_at";
    const struct column lines[] = {
        {"id", NULL, TASK(TEXT, id)},
        {"pool", NULL, TASK(TEXT, pool)},
        {"state", NULL, .shown = state_text, .tone = state_tone},
        {"handler", NULL, TASK(TEXT, handler)},
        {"biz_key", NULL, TASK(TEXT, biz_key)},
        {"dedup_key", NULL, TASK(TEXT, dedup_key)},
        {"shard", NULL, TASK(NUMBER, shard)},
        {"priority", NULL, TASK(NUMBER, priority)},
        {"failures", NULL, TASK(NUMBER, failures)},
        {"max_failures", NULL, TASK(NUMBER, max_failures), .may_miss = true},
        {"reason", NULL, TASK(TEXT, reason)},
        {"owner", NULL, TASK(TEXT, owner)},
        {due, NULL, TASK(TIME, due_at)},
        {"created_at", NULL, TASK(TIME, created_at)},
        {"modified_at", NULL, TASK(TIME, modified_at)},
        {"settled_at", NULL, TASK(TIME, settled_at)},
        {"params", NULL, TASK(TEXT, params)},
        COLUMNS_END,
    };

    record_print(lines, task);
}

/* id NULL: by the key. */
static enum cli_exit show_task(tp_conn *conn, const char *id) {
    tp_batch *batch = NULL;
    const char *key = show_options.dedup_key;
    tp_status status = id ? tp_show(conn, id, &batch) : tp_show_key(conn, key, &batch);

    if (status == TP_NONE)
        return cli_fail(EXIT_NOTHING, "no %s %s; see taskpool list",
                        id ? "task has the id" : "open task has the dedup_key", id ? id : key);
    if (status != TP_OK) return cli_fail_tp(status);
    if (common.json)
        out_json(record_object(columns, tp_batch_task(batch, 0)));
    else
        print_task(tp_batch_task(batch, 0));
    tp_batch_free(batch);
    return EXIT_DONE;
}

enum cli_exit show_command(const char **args) {
    if (!args[0] == !show_options.dedup_key) args_fail("give an ID, or --dedup-key");
    return show_task(args_connect(), args[0]);
}
