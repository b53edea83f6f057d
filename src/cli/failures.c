/* taskpool failures: what fails, grouped, with the command that retries just that group. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/escape.h"
#include "common/listing.h"
#include "common/pool_columns.h"
#include "selection.h"

static char *limit_text;

static struct poptOption options[] = {
    SELECTION_OPTIONS, OPTION_TEXT("limit", '\0', &limit_text, "N", "at most so many groups (100)"),
    OPTION_CSV,        COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage failures_usage = {
    "",
    "Groups the failed pool, and tasks that wait for a retry, by handler and reason; digits and ids in "
    "reasons\n"
    "are made alike and shown as #. The largest group comes first, with the command that retries it, or\n"
    "skips what is done and could only not be stored. Of each pool the newest 100000 are read.\n"
    "Exit code 1: nothing failed.\n",
    "  taskpool failures\n"
    "  taskpool failures --handler pay --since 2030-01-01T08:00Z\n"
    "  taskpool failures --json | jq -r 'select(.count > 100) | .retry'\n",
    options,
    0,
    0,
};

struct found {
    const tp_list_request *request;
    struct listing *groups;
    struct command {
        char *text;
        const char *warning;
    } * commands;
    size_t count;
};

static void add(const tp_failure *failure, void *arg) {
    struct found *found = arg;
    char *command = failure_command(failure, found->request);
    struct failure_shown row = failure_shown(failure, command);

    listing_add(found->groups, &row);
    found->commands = cli_must(realloc(found->commands, (found->count + 1) * sizeof *found->commands));
    found->commands[found->count++] = (struct command){command, row.warning};
}

static void print_commands(const struct found *found) {
    if (common.json || common.csv || !found->count) return;
    listing_print(found->groups);
    out_text("\nThe command for each group:\n");
    for (size_t i = 0; i < found->count; i++) {
        char *shown = cli_must(escape_text(found->commands[i].text));

        if (found->commands[i].warning) out_text("  # %s\n", found->commands[i].warning);
        out_text("  %s\n", shown);
        free(shown);
    }
}

static enum cli_exit show_failures(tp_conn *conn, const tp_list_request *request) {
    struct found found = {.request = request, .groups = listing_open(failure_columns)};
    int cut = 0;
    tp_status status = tp_failures_each(conn, request, add, &found, &cut);

    print_commands(&found);
    for (size_t i = 0; i < found.count; i++)
        free(found.commands[i].text);
    free(found.commands);
    listing_free(found.groups);
    if (status < 0) return cli_fail_tp(status);
    if (cut && !common.quiet)
        cli_warn(
            "there are more groups, or more tasks than were read; --handler, --since or --limit says which");
    if (status == TP_NONE && !common.quiet && !common.json && !common.csv)
        (void)cli_fail(EXIT_NOTHING, "nothing failed");
    return cli_exit_of(status);
}

enum cli_exit failures_command(const char **args) {
    tp_list_request request = TP_LIST_INIT;
    int64_t limit = 100;

    (void)args;
    args_integer("--limit", limit_text, 1, 1000, &limit);
    selection_for_list(&request);
    request.limit = (size_t)limit;
    return show_failures(args_connect(), &request);
}
