/* taskpool list and show, and how a task looks. */
#include "cli.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/escape.h"
#include "common/table.h"
#include "common/values.h"

#define PAGE            1000
#define STATE_TEXT_SIZE 32

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

static const struct usage list_usage = {
    "",
    "Lists the tasks of one pool, oldest first. Times are UTC, by the database's clock.\n"
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

static const struct usage show_usage = {
    "ID | --dedup-key KEY",
    "Shows one task with its whole parameters, from whichever pool holds it; by its key while it is open.\n"
    "Control characters are shown escaped; --json gives the exact text. Exit code 1: no such task.\n",
    "  taskpool show 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f\n"
    "  taskpool show --json 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f | jq -r .params\n",
    show_table,
    0,
    1,
};

/* A state as people say it: failed-2. Gives text back. */
static const char *state_text(const tp_task *task, char text[STATE_TEXT_SIZE]) {
    if (strcmp(task->state, "failed") == 0)
        snprintf(text, STATE_TEXT_SIZE, "failed-%d", (int)task->failures);
    else
        snprintf(text, STATE_TEXT_SIZE, "%s", task->state);
    return text;
}

/* What is not set is null; times are milliseconds since 1970. */
static json_object *task_object(const tp_task *task) {
    json_object *object = cli_must(json_object_new_object());

    json_put_text(object, "id", task->id);
    json_put_text(object, "pool", task->pool);
    json_put_text(object, "state", task->state);
    json_put_text(object, "handler", task->handler);
    json_put_text(object, "biz_key", task->biz_key);
    json_put_text(object, "dedup_key", task->dedup_key);
    json_object_object_add(object, "params",
                           task->params ? cli_must(json_object_new_string(task->params)) : NULL);
    json_put_number(object, "shard", task->shard);
    json_put_number(object, "priority", task->priority);
    json_put_number(object, "failures", task->failures);
    json_put_time(object, "max_failures", task->max_failures);
    json_put_text(object, "reason", task->reason);
    json_put_text(object, "owner", task->owner);
    json_put_time(object, "due_at", task->due_at);
    json_put_time(object, "created_at", task->created_at);
    json_put_time(object, "modified_at", task->modified_at);
    json_put_time(object, "settled_at", task->settled_at);
    return object;
}

static void add_row(struct table *rows, const tp_task *task) {
    char text[TIME_TEXT_SIZE];
    char state[STATE_TEXT_SIZE];
    bool open = task->settled_at == 0;

    table_add(rows, task->id);
    table_add(rows, state_text(task, state));
    table_add(rows, task->handler);
    table_add(rows, task->biz_key);
    table_add_number(rows, task->priority);
    table_add_number(rows, task->shard);
    table_add(rows, value_time_text(open ? task->due_at : task->settled_at, text));
    table_add(rows, task->reason);
}

/* rows NULL: as JSON. */
static void print_page(const tp_batch *batch, struct table *rows) {
    for (size_t i = 0; i < tp_batch_count(batch); i++) {
        if (rows)
            add_row(rows, tp_batch_task(batch, i));
        else
            out_json(task_object(tp_batch_task(batch, i)));
    }
    if (rows) table_print_part(rows);
}

/* Pages of the library's size until limit tasks are shown. */
static enum cli_exit list_pages(tp_conn *conn, const tp_list_request *request, size_t limit,
                                struct table *rows) {
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
            print_page(batch, rows);
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
    static const char *const heads[] = {"ID",        "STATE",  "HANDLER",     "BIZ_KEY",
                                        ">PRIORITY", ">SHARD", "DUE/SETTLED", "REASON"};
    struct table *rows = common.json ? NULL : table_open(heads, sizeof heads / sizeof heads[0]);
    enum cli_exit code = list_pages(conn, request, limit, rows);

    table_free(rows);
    return code;
}

enum cli_exit list_command(int argc, const char **argv) {
    tp_list_request request = TP_LIST_INIT;
    int64_t limit = 100;
    tp_conn *conn = NULL;
    const char **args;
    enum cli_exit code = EXIT_DONE;

    if (!args_read(&list_usage, argc, argv, &args, &code)) return code;
    if (!args_integer("--limit", options.limit, 1, INT32_MAX, &limit)) return EXIT_USAGE;
    request.pool = options.pool;
    request.state = options.state;
    request.handler = options.handler;
    request.biz_key = options.biz_key;
    request.after_id = options.after;
    code = args_connect(&conn);
    if (code == EXIT_DONE) code = list_tasks(conn, &request, (size_t)limit);
    if (code == EXIT_NOTHING && !common.json && !common.quiet)
        (void)cli_fail(code, "no such task in the %s pool%s", options.pool ? options.pool : "pending",
                       options.pool ? "" : "; --pool looks into another: finished or failed");
    return code;
}

static void print_line(const char *name, const char *text) {
    char *shown = cli_must(escape_text(text && *text ? text : "-"));

    out_text("%-13s %s\n", name, shown);
    free(shown);
}

static void print_number(const char *name, int64_t number) {
    out_text("%-13s %lld\n", name, (long long)number);
}

static void print_task(const tp_task *task) {
    char text[TIME_TEXT_SIZE];
    char state[STATE_TEXT_SIZE];

    print_line("id", task->id);
    print_line("pool", task->pool);
    print_line("state", state_text(task, state));
    print_line("handler", task->handler);
    print_line("biz_key", task->biz_key);
    print_line("dedup_key", task->dedup_key);
    print_number("shard", task->shard);
    print_number("priority", task->priority);
    print_number("failures", task->failures);
    if (task->max_failures) print_number("max_failures", task->max_failures);
    print_line("reason", task->reason);
    print_line("owner", task->owner);
    print_line(strcmp(task->state, "handling") == 0 ? "lease until" : "due_at",
               value_time_text(task->due_at, text));
    print_line("created_at", value_time_text(task->created_at, text));
    print_line("modified_at", value_time_text(task->modified_at, text));
    print_line("settled_at", value_time_text(task->settled_at, text));
    print_line("params", task->params);
}

/* id NULL: by the key. */
static enum cli_exit show_task(tp_conn *conn, const char *id) {
    tp_batch *batch = NULL;
    const char *key = show_options.dedup_key;
    tp_status status = id ? tp_show(conn, id, &batch) : tp_show_key(conn, key, &batch);

    if (status == TP_NONE)
        return cli_fail(EXIT_NOTHING, "no %s %s; look with taskpool list",
                        id ? "task has the id" : "open task has the dedup_key", id ? id : key);
    if (status != TP_OK) return cli_fail_tp(status);
    if (common.json)
        out_json(task_object(tp_batch_task(batch, 0)));
    else
        print_task(tp_batch_task(batch, 0));
    tp_batch_free(batch);
    return EXIT_DONE;
}

enum cli_exit show_command(int argc, const char **argv) {
    tp_conn *conn = NULL;
    const char **args;
    enum cli_exit code = EXIT_DONE;

    if (!args_read(&show_usage, argc, argv, &args, &code)) return code;
    if (!args[0] == !show_options.dedup_key) return args_fail("give an ID, or --dedup-key");
    code = args_connect(&conn);
    return code == EXIT_DONE ? show_task(conn, args[0]) : code;
}
