/* taskpool schedule add|list|remove|pause|resume|fire. Rules are the library's to read. Read next:
 * schedule_next.c, for next. */
#include "schedule.h"

#include <stdlib.h>
#include <string.h>

#include "common/listing.h"
#include "common/operator_name.h"
#include "common/pool_columns.h"
#include "common/values.h"
#include "params.h"

static struct schedule_options options;

static struct poptOption table[] = {
    OPTION_TEXT("time-zone", '\0', &options.time_zone, "NAME",
                "add, next: of the rule, such as Europe/Berlin (UTC)"),
    OPTION_TEXT(
        "missed", '\0', &options.missed, "POLICY",
        "add: what becomes of planned times that passed while nothing fired: once (default), skip, all"),
    OPTION_TEXT("missed-max", '\0', &options.missed_max, "N",
                "add: --missed all makes at most so many (100)"),
    OPTION_FLAG("alone", '\0', &options.alone, "add: no new task while the last is open"),
    OPTION_TEXT("calendar", '\0', &options.calendar, "NAME", "add, next: decides which days are closed"),
    OPTION_TEXT("closed", '\0', &options.closed, "POLICY",
                "add, next: of planned times on closed days: skip (default), before, after"),
    OPTION_TEXT("biz-key", '\0', &options.biz_key, "KEY", "add: the business row that its tasks are about"),
    OPTION_TEXT("shard", '\0', &options.shard, "N", "add: load-balance number of its tasks (0)"),
    OPTION_TEXT("priority", '\0', &options.priority, "N", "add: of its tasks, smaller is sooner (0)"),
    OPTION_TEXT("max-failures", '\0', &options.max_failures, "N", "add: overrides the worker's retry list"),
    OPTION_TEXT("rule", '\0', &options.rule, "RULE",
                "next: of a rule; without --calendar no database is asked"),
    OPTION_TEXT("after", '\0', &options.after, "TIME",
                "next: after then: 2025-11-21T10:44:05Z, or milliseconds since 1970 (now)"),
    OPTION_TEXT("count", '\0', &options.count, "N", "next: so many (5)"),
    OPTION_WHY(&options.why),
    OPTION_WHO(&options.who),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage schedule_usage = {
    "add NAME RULE HANDLER [PARAMS|-] | list | remove|pause|resume NAME | next NAME | next --rule RULE | "
    "fire",
    "add     makes a task of HANDLER at each planned time of RULE; a NAME that is there is left as it is\n"
    "list    shows all schedules\n"
    "remove  ends a schedule; its tasks stay\n"
    "pause   stops it; resume goes on from now\n"
    "next    shows the next planned times\n"
    "fire    makes the tasks that are due; for those who have no worker that does it\n"
    "RULE is Unix cron (minute hour day month weekday), Quartz cron (second minute hour day month weekday\n"
    "[year], with a ?), \"every 5m\", \"after 5m\" (after the last task ended), or @hourly @daily @weekly\n"
    "@monthly @yearly.\n",
    "  taskpool schedule add report '30 2 * * 1-5' report '{\"kind\":\"daily\"}' --time-zone Europe/Berlin\n"
    "  taskpool schedule add poll 'after 5m' poll\n"
    "  taskpool schedule add pay '0 9 15 * *' pay --calendar TARGET2 --closed before\n"
    "  taskpool schedule next --rule '0 0 9 ? * 2#1' --count 3\n"
    "  taskpool schedule list --json\n",
    table,
    1,
    5,
};

/* ---- add --------------------------------------------------------------------------------------------- */

static tp_missed read_missed(void) {
    for (size_t i = 0; i < MISSED_NAMES && options.missed; i++)
        if (strcmp(options.missed, schedule_missed_names[i]) == 0) return (tp_missed)i;
    if (options.missed)
        args_fail("--missed must be once, skip or all, not \"%.*s\"", args_shown(options.missed),
                  options.missed);
    return TP_MISSED_ONCE;
}

static void fill(const char **args, tp_schedule *schedule) {
    int64_t shard = 0, priority = 0, max_failures = 0, missed_max = 0;

    args_integer("--shard", options.shard, INT32_MIN, INT32_MAX, &shard);
    args_integer("--priority", options.priority, INT16_MIN, INT16_MAX, &priority);
    args_integer("--max-failures", options.max_failures, 0, INT32_MAX, &max_failures);
    args_integer("--missed-max", options.missed_max, 1, 1000, &missed_max);
    schedule->missed = read_missed();
    schedule->name = args[0];
    schedule->rule = args[1];
    schedule->handler = args[2];
    schedule->time_zone = options.time_zone;
    schedule->biz_key = options.biz_key;
    schedule->shard = (int32_t)shard;
    schedule->priority = (int32_t)priority;
    schedule->max_failures = (int32_t)max_failures;
    schedule->missed_max = (int32_t)missed_max;
    schedule->alone = options.alone;
    schedule->calendar = options.calendar;
    schedule->closed = schedule_closed(&options);
}

static enum cli_exit report_added(const char *name, bool added) {
    if (common.json)
        out_members(MEMBERS(MEMBER_TEXT("name", name), MEMBER_YES_NO("added", added)));
    else if (!added && !common.quiet)
        cli_warn("already there, nothing was changed: a schedule %s; remove it first to change it", name);
    return EXIT_DONE;
}

static tp_conn *connect_to_act(void) {
    tp_conn *conn = args_connect();

    operator_acts(conn, options.who, options.why);
    return conn;
}

static enum cli_exit add(const char **args) {
    tp_schedule schedule = TP_SCHEDULE_INIT;
    enum cli_exit code = EXIT_DONE;
    tp_status status;
    char *params;

    if (!args[0] || !args[1] || !args[2]) args_fail("add takes NAME RULE HANDLER [PARAMS|-]");
    fill(args, &schedule);
    params = params_get(args[3], &code);
    if (!params) return code;
    schedule.params = params;
    status = tp_schedule_add(connect_to_act(), &schedule);
    free(params);
    return status < 0 ? cli_fail_tp(status) : report_added(schedule.name, status == TP_OK);
}

/* ---- list -------------------------------------------------------------------------------------------- */

static void add_row(const tp_schedule *schedule, void *arg) {
    listing_add(arg, schedule);
}

static enum cli_exit list(tp_conn *conn, const char *name) {
    struct listing *schedules = listing_open(schedule_columns);
    tp_status status = tp_schedule_each(conn, add_row, schedules);

    (void)name;
    if (status == TP_OK) listing_print(schedules);
    listing_free(schedules);
    if (status == TP_NONE && !common.json && !common.quiet)
        return cli_fail(EXIT_NOTHING, "there are no schedules; make one with taskpool schedule add");
    return status < 0 ? cli_fail_tp(status) : cli_exit_of(status);
}

/* ---- remove, pause, resume, fire ----------------------------------------------------------------------- */

static enum cli_exit report(tp_status status, const char *name) {
    if (status == TP_NONE)
        return cli_fail(EXIT_NOTHING, "no schedule has the name %s; see taskpool schedule list", name);
    return status < 0 ? cli_fail_tp(status) : EXIT_DONE;
}

static enum cli_exit remove_one(tp_conn *conn, const char *name) {
    return report(tp_schedule_remove(conn, name), name);
}

static enum cli_exit pause_one(tp_conn *conn, const char *name) {
    return report(tp_schedule_pause(conn, name, 1), name);
}

static enum cli_exit resume_one(tp_conn *conn, const char *name) {
    return report(tp_schedule_pause(conn, name, 0), name);
}

static void report_fired(size_t fired, int64_t wait_ms) {
    if (common.json)
        out_members(MEMBERS(MEMBER_NUMBER("fired", (int64_t)fired),
                            MEMBER_NUMBER_IF(wait_ms >= 0, "wait_ms", wait_ms)));
    else if (!common.quiet)
        out_text("fired %zu\n", fired);
}

/* A row that somebody changed so that it cannot be read is no mistake on the command line. wait_ms: it is set
 * when all were tried. */
static enum cli_exit fire(tp_conn *conn, const char *name) {
    enum { NOT_SET = -2 };
    size_t fired = 0;
    int64_t wait_ms = NOT_SET;
    tp_status status = tp_schedule_fire(conn, &fired, &wait_ms);

    (void)name;
    if (wait_ms == NOT_SET) return cli_fail_tp(status);
    report_fired(fired, wait_ms);
    return status == TP_OK ? EXIT_DONE : cli_fail(EXIT_DATABASE, "%s", tp_last_error()->text);
}

/* ---- The command ------------------------------------------------------------------------------------- */

static const struct action {
    const char *name;
    bool takes_name;
    enum cli_exit (*act)(tp_conn *conn, const char *name);
} actions[] = {
    {"list", false, list},        {"remove", true, remove_one}, {"pause", true, pause_one},
    {"resume", true, resume_one}, {"fire", false, fire},
};

static enum cli_exit run_action(const struct action *action, const char **args) {
    if (action->takes_name && !args[0]) args_fail("%s takes the NAME of a schedule", action->name);
    if (args[0] && (args[1] || !action->takes_name))
        args_fail("%s takes %s", action->name, action->takes_name ? "one name" : "no further argument");
    return action->act(connect_to_act(), args[0]);
}

/* An option that does nothing here was meant for something. */
static void check_options(const char *action) {
    bool adds = strcmp(action, "add") == 0, next = strcmp(action, "next") == 0;
    bool acts = !next && strcmp(action, "list") != 0;
    const struct {
        const char *name;
        bool given, taken;
    } all[] = {{"--time-zone", options.time_zone, adds || next},
               {"--missed", options.missed, adds},
               {"--missed-max", options.missed_max, adds},
               {"--alone", options.alone, adds},
               {"--calendar", options.calendar, adds || next},
               {"--closed", options.closed, adds || next},
               {"--biz-key", options.biz_key, adds},
               {"--shard", options.shard, adds},
               {"--priority", options.priority, adds},
               {"--max-failures", options.max_failures, adds},
               {"--rule", options.rule, next},
               {"--after", options.after, next},
               {"--count", options.count, next},
               {"--why", options.why, acts},
               {"--who", options.who, acts}};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].given && !all[i].taken) args_fail("schedule %s takes no %s", action, all[i].name);
}

enum cli_exit schedule_command(const char **args) {
    const struct action *action = NULL;
    bool adds = strcmp(args[0], "add") == 0, next = strcmp(args[0], "next") == 0;

    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (strcmp(args[0], actions[i].name) == 0) action = &actions[i];
    if (!adds && !next && !action) args_fail("schedule takes add, list, remove, pause, resume, next or fire");
    check_options(args[0]);
    if (adds) return add(args + 1);
    if (!next) return run_action(action, args + 1);
    if (args[1] && args[2]) args_fail("next takes one name, or --rule");
    return schedule_next(&options, args[1]);
}
