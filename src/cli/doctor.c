/* taskpool doctor */
#include "cli.h"

#include <json-c/json.h>

#include "common/args.h"
#include "common/table.h"
#include "common/values.h"

static struct poptOption options[] = {
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

static const struct usage usage = {
    "",
    "Tries out with two sessions, on a table of its own (tp_doctor, with your prefix) that it removes "
    "again,\n"
    "whether locks, waits, row counts, text and clocks of this database and driver are what tasks rely on.\n"
    "Exit code 9: something is not as it must be; the table says what to do.\n",
    "  taskpool doctor\n"
    "  taskpool doctor --json | jq '.findings[] | select(.ok | not)'\n",
    options,
    0,
    0,
};

static size_t told;

static void add_row(const tp_finding *finding, void *arg) {
    told++;
    table_add(arg, finding->name);
    table_add(arg, finding->ok ? "ok" : "BAD");
    table_add(arg, finding->text);
    table_add(arg, finding->remedy);
}

static void add_object(const tp_finding *finding, void *arg) {
    json_object *object = cli_must(json_object_new_object());

    json_put_text(object, "name", finding->name);
    json_object_object_add(object, "ok", json_object_new_boolean(finding->ok));
    json_put_text(object, "text", finding->text);
    json_put_text(object, "remedy", finding->remedy);
    json_object_array_add(arg, object);
}

static enum cli_exit examine(tp_env *env) {
    static const char *const heads[] = {"CHECK", "", "FOUND", "TO DO"};
    json_object *object = cli_must(json_object_new_object());
    json_object *list = cli_must(json_object_new_array());
    struct table *rows = table_open(heads, sizeof heads / sizeof heads[0]);
    int bad = 0;
    tp_status status =
        common.json ? tp_doctor(env, add_object, list, &bad) : tp_doctor(env, add_row, rows, &bad);

    json_object_object_add(object, "findings", list);
    json_put_number(object, "bad", bad);
    if (common.json)
        out_json(object);
    else
        json_object_put(object);
    if (common.json || told == 0 || (common.quiet && !bad && status == TP_OK))
        table_free(rows);
    else
        table_print(rows);
    if (status != TP_OK) return cli_fail_tp(status);
    return bad ? cli_fail(EXIT_BAD, "%d of the checks failed; do what stands beside them", bad) : EXIT_DONE;
}

enum cli_exit doctor_command(int argc, const char **argv) {
    tp_env *env = NULL;
    const char **args;
    enum cli_exit code = EXIT_DONE;

    if (!args_read(&usage, argc, argv, &args, &code)) return code;
    code = args_open_env(&env);
    if (code == EXIT_DONE) code = examine(env);
    tp_env_close(env);
    return code;
}
