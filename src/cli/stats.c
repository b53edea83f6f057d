/* taskpool stats: counts of tasks, and what is paused. */
#include "cli.h"

#include "common/args.h"
#include "common/listing.h"
#include "paused.h"

static int with_finished;

static struct poptOption options[] = {
    OPTION_FLAG("finished", '\0', &with_finished, "count the finished pool too, which may take long"),
    OPTION_CSV,
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage stats_usage = {
    "",
    "Counts tasks by pool, handler and state. DUE: how many of them could be claimed now. Then what is\n"
    "paused.\n",
    "  taskpool stats\n"
    "  taskpool stats --finished --json | jq '.stats[] | select(.pool == \"failed\")'\n",
    options,
    0,
    0,
};

#define STAT(type, member) COLUMN_OF(type, tp_stat, member)
static const struct column columns[] = {
    {"POOL", "pool", STAT(TEXT, pool)},
    {"HANDLER", "handler", STAT(TEXT, handler)},
    {"STATE", "state", STAT(TEXT, state)},
    {"COUNT", "count", STAT(NUMBER, count)},
    {"DUE", "due", STAT(NUMBER, due)},
    {"OLDEST", "oldest", STAT(TIME, oldest)},
    COLUMNS_END,
};

static void add(const tp_stat *stat, void *arg) {
    listing_add(arg, stat);
}

/* One read of the database; what came before a failure is not shown. */
static enum cli_exit show_stats(tp_conn *conn) {
    struct listing *stats = listing_open_list(columns);
    struct listing *paused = listing_open_list(paused_columns);
    tp_status status = tp_stats(conn, with_finished, add, stats);

    if (status >= 0 && !common.csv) status = tp_paused_each(conn, paused_add, paused);
    if (status < 0) {
        (void)cli_fail_tp(status);
    } else if (common.json) {
        out_members(
            MEMBERS(MEMBER_JSON("stats", listing_list(stats)), MEMBER_JSON("paused", listing_list(paused))));
    } else {
        listing_print(stats);
    }
    if (status == TP_OK && !common.json && !common.csv) {
        out_text("\n");
        listing_print(paused);
    }
    listing_free(paused);
    listing_free(stats);
    return status < 0 ? cli_exit_of(status) : EXIT_DONE;
}

enum cli_exit stats_command(const char **args) {
    (void)args;
    return show_stats(args_connect());
}
