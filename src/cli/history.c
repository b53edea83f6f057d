/* taskpool history */
#include "cli.h"

#include <json-c/json.h>

#include "common/args.h"
#include "common/table.h"
#include "common/values.h"

static char *limit_text;

static struct poptOption options[] = {
    OPTION_TEXT("limit", '\0', &limit_text, "N", "at most so many (100); all of one task"),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

static const struct usage usage = {
    "[ID]",
    "What happened to a task besides being claimed and done, oldest first: failures, lapsed leases, and "
    "what\n"
    "operators did. Without ID, what happened last in the whole pool, newest first. Exit code 1: nothing.\n",
    "  taskpool history 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f\n"
    "  taskpool history --limit 20\n"
    "  taskpool history --json | jq -r 'select(.event == \"purged\")'\n",
    options,
    0,
    1,
};

static void add_row(const tp_history *event, void *arg) {
    struct table *rows = arg;
    char text[TIME_TEXT_SIZE];

    table_add(rows, value_time_text(event->at, text));
    table_add(rows, event->event);
    table_add(rows, event->task_id);
    table_add(rows, event->handler);
    if (event->attempt)
        table_add_number(rows, event->attempt);
    else
        table_add(rows, "");
    table_add(rows, event->who);
    table_add(rows, event->reason);
}

static void print_object(const tp_history *event, void *arg) {
    json_object *object = cli_must(json_object_new_object());

    (void)arg;
    json_put_number(object, "at", event->at);
    json_put_text(object, "event", event->event);
    json_put_text(object, "id", event->task_id);
    json_put_text(object, "handler", event->handler);
    if (event->attempt)
        json_put_number(object, "attempt", event->attempt);
    else
        json_object_object_add(object, "attempt", NULL);
    json_put_text(object, "owner", event->owner);
    json_put_text(object, "who", event->who);
    json_put_text(object, "reason", event->reason);
    out_json(object);
}

static enum cli_exit show(tp_conn *conn, const char *id, size_t limit) {
    static const char *const heads[] = {"AT", "EVENT", "TASK", "HANDLER", ">ATTEMPT", "WHO", "REASON"};
    struct table *rows = table_open(heads, sizeof heads / sizeof heads[0]);
    tp_status status = tp_history_each(conn, id, limit, common.json ? print_object : add_row, rows);

    if (status == TP_OK && !common.json) {
        table_print(rows);
        return EXIT_DONE;
    }
    table_free(rows);
    if (status < 0) return cli_fail_tp(status);
    if (status == TP_NONE && !common.quiet && !common.json)
        (void)cli_fail(EXIT_NOTHING, "nothing is recorded%s", id ? " of this task" : "");
    return cli_exit_of(status);
}

enum cli_exit history_command(int argc, const char **argv) {
    int64_t limit = 100;
    tp_conn *conn = NULL;
    const char **args;
    enum cli_exit code = EXIT_DONE;

    if (!args_read(&usage, argc, argv, &args, &code)) return code;
    if (!args_integer("--limit", limit_text, 1, INT32_MAX, &limit)) return EXIT_USAGE;
    code = args_connect(&conn);
    return code == EXIT_DONE ? show(conn, args[0], (size_t)limit) : code;
}
