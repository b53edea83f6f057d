/* taskpool retention: how long settled tasks and activity are kept, and deleting what is past its time now.
 */
#include "cli.h"

#include <string.h>

#include "common/args.h"
#include "common/operator_name.h"
#include "common/values.h"
#include "requested.h"

static char *who, *why;
static int clean;

static struct poptOption options[] = {
    OPTION_FLAG("clean", '\0', &clean, "delete now what is past its time; workers do it by themselves"),
    OPTION_WHY(&why),
    OPTION_WHO(&who),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage retention_usage = {
    "[POOL DURATION]",
    "How long settled tasks are kept, for the pools finished and failed, for ever at first; and activity,\n"
    "what workers did, 30 days at first. DURATION 0 or forever: for ever. Without arguments\n"
    "shows it. Keep finished tasks longer than any program may take to ask again what became of its call:\n"
    "it finds out by them.\n",
    "  taskpool retention\n"
    "  taskpool retention finished 90d\n"
    "  taskpool retention failed forever\n"
    "  taskpool retention activity 90d\n",
    options,
    0,
    2,
};

enum { POOLS = 3 };
static const char *const pools[POOLS] = {"finished", "failed", "activity"};

static enum cli_exit show(tp_conn *conn) {
    int64_t retention_ms[POOLS] = {0};
    char text[TIME_TEXT_SIZE];

    for (size_t i = 0; i < POOLS; i++) {
        tp_status status = tp_retention_get(conn, pools[i], &retention_ms[i]);
        if (status != TP_OK) return cli_fail_tp(status);
    }
    if (common.json)
        out_members(MEMBERS(MEMBER_NUMBER_IF(retention_ms[0], pools[0], retention_ms[0]),
                            MEMBER_NUMBER_IF(retention_ms[1], pools[1], retention_ms[1]),
                            MEMBER_NUMBER_IF(retention_ms[2], pools[2], retention_ms[2])));
    for (size_t i = 0; i < POOLS && !common.json; i++)
        out_text("%-9s %s\n", pools[i],
                 retention_ms[i] ? value_duration_text(retention_ms[i], text) : "for ever");
    return EXIT_DONE;
}

/* Until a chunk is not full. */
static enum cli_exit clean_up(tp_conn *conn) {
    enum { CHUNK = 500 };
    size_t all = 0, deleted = 0;

    do {
        tp_status status = tp_retention_apply(conn, CHUNK, &deleted);
        if (status != TP_OK) return cli_fail_tp(status);
        all += deleted;
    } while (deleted == CHUNK);
    if (common.json)
        out_members(MEMBERS(MEMBER_NUMBER("deleted", (int64_t)all)));
    else if (!common.quiet)
        out_text("deleted %zu\n", all);
    return EXIT_DONE;
}

static enum cli_exit run(tp_conn *conn, const char *pool, int64_t retention_ms) {
    tp_status status = TP_OK;

    if (clean) return clean_up(conn);
    operator_acts(conn, who, why);
    if (pool) status = tp_retention_set(conn, pool, retention_ms, operator_name(who));
    if (status == TP_REQUESTED) return requested(status, "", 0);
    if (status != TP_OK) return cli_fail_tp(status);
    return pool && common.quiet ? EXIT_DONE : show(conn);
}

enum cli_exit retention_command(const char **args) {
    int64_t retention_ms = 0;

    if (args[0] && !args[1]) args_fail("for how long? taskpool retention %s 90d, or forever", args[0]);
    if (args[0] && clean) args_fail("--clean goes without a pool");
    if (args[0] && strcmp(args[1], "forever") != 0) args_duration("the time to keep", args[1], &retention_ms);
    return run(args_connect(), args[0], retention_ms);
}
