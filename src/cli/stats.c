/* taskpool stats */
#include "cli.h"

#include <json-c/json.h>

#include "common/args.h"
#include "common/table.h"
#include "common/values.h"
#include "paused.h"

static int with_finished;

static struct poptOption options[] = {
    OPTION_FLAG("finished", '\0', &with_finished, "count the finished pool too, which may take long"),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

static const struct usage usage = {
    "",
    "Counts tasks by pool, handler and state. DUE: how many of them could be claimed now. Then what is "
    "paused.\n",
    "  taskpool stats\n"
    "  taskpool stats --finished --json | jq '.stats[] | select(.pool == \"failed\")'\n",
    options,
    0,
    0,
};

static void add_row(const tp_stat *stat, void *arg) {
    struct table *rows = arg;
    char text[TIME_TEXT_SIZE];

    table_add(rows, stat->pool);
    table_add(rows, stat->handler);
    table_add(rows, stat->state);
    table_add_number(rows, stat->count);
    table_add_number(rows, stat->due);
    table_add(rows, value_time_text(stat->oldest, text));
}

static void add_object(const tp_stat *stat, void *arg) {
    json_object *object = cli_must(json_object_new_object());

    json_put_text(object, "pool", stat->pool);
    json_put_text(object, "handler", stat->handler);
    json_put_text(object, "state", stat->state);
    json_put_number(object, "count", stat->count);
    json_put_number(object, "due", stat->due);
    json_put_number(object, "oldest", stat->oldest);
    json_object_array_add(arg, object);
}

/* One read of the database; what came before a failure is not shown. */
static enum cli_exit show_stats(tp_conn *conn) {
    static const char *const heads[] = {"POOL", "HANDLER", "STATE", ">COUNT", ">DUE", "OLDEST"};
    json_object *object = cli_must(json_object_new_object());
    json_object *list = cli_must(json_object_new_array());
    json_object *waiting = cli_must(json_object_new_array());
    struct table *rows = table_open(heads, sizeof heads / sizeof heads[0]);
    struct table *paused = paused_table();
    tp_status status;

    json_object_object_add(object, "stats", list);
    json_object_object_add(object, "paused", waiting);
    if (common.json)
        status = tp_stats(conn, with_finished, add_object, list);
    else
        status = tp_stats(conn, with_finished, add_row, rows);
    if (status >= 0)
        status = tp_paused_each(conn, common.json ? paused_object : paused_row,
                                common.json ? (void *)waiting : (void *)paused);
    if (status < 0) (void)cli_fail_tp(status);
    if (status >= 0 && common.json) {
        out_json(json_object_get(object));
    } else if (status >= 0) {
        table_print(rows);
        rows = NULL;
    }
    if (status == TP_OK && !common.json) {
        out_text("\n");
        table_print(paused);
        paused = NULL;
    }
    table_free(paused);
    table_free(rows);
    json_object_put(object);
    return status < 0 ? cli_exit_of(status) : EXIT_DONE;
}

enum cli_exit stats_command(int argc, const char **argv) {
    tp_conn *conn = NULL;
    const char **args;
    enum cli_exit code = EXIT_DONE;

    if (!args_read(&usage, argc, argv, &args, &code)) return code;
    code = args_connect(&conn);
    return code == EXIT_DONE ? show_stats(conn) : code;
}
