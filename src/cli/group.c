/* taskpool group open|close|show|list|cancel|remove|end. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "common/args.h"
#include "common/listing.h"
#include "common/operator_name.h"

static struct { char *rule, *parent, *who, *why; } options;

static struct poptOption table[] = {
    OPTION_TEXT("rule", '\0', &options.rule, "done|ended",
                "open: ends when all its tasks are done, or however they ended (done)"),
    OPTION_TEXT("parent", '\0', &options.parent, "NAME", "open: within this group, which ends after it"),
    OPTION_WHO(&options.who),
    OPTION_TEXT("why", '\0', &options.why, "TEXT", "cancel: recorded with each task that is skipped"),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage group_usage = {
    "open|close|show|cancel|remove NAME | list | end",
    "open    opens a group: enqueue --group puts tasks into it, enqueue --after waits for its end\n"
    "close   lets no task come in any more, so that the group can end\n"
    "show    shows one with what became of its tasks\n"
    "list    shows all\n"
    "cancel  closes a group and skips its tasks that wait or failed; those that run end as they do\n"
    "remove  forgets a group that has ended, not its tasks\n"
    "end     ends those that have ended, as workers do\n"
    "Exit code 1: there is no such group, or none.\n",
    "  taskpool group open payroll-11\n"
    "  taskpool enqueue report 11 --after payroll-11\n"
    "  taskpool enqueue pay 4711 --group payroll-11\n"
    "  taskpool group close payroll-11\n"
    "  taskpool group show payroll-11\n"
    "  taskpool group cancel payroll-11 --why 'wrong month'\n",
    table,
    1,
    2,
};

static const char *rule_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    const tp_group *group = record;

    (void)text;
    return group->rule == TP_GROUP_ALL_ENDED ? "ended" : "done";
}

static const char *state_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    const tp_group *group = record;

    snprintf(text, RECORD_TEXT_SIZE, "%s%s", group->state, group->cancelled ? ", cancelled" : "");
    return text;
}

#define GROUP(type, member) COLUMN_OF(type, tp_group, member)
#define STATE                                                                                                \
    {"GROUP", "name", GROUP(TEXT, name), .whole = true},                                                     \
        {"STATE", "state", .type = VALUE_TEXT, .shown = state_text}, {                                       \
        "RULE", "rule", .type = VALUE_TEXT, .shown = rule_text, .spare = 2                                   \
    }
#define TIMES                                                                                                \
    {"WITHIN", "parent", GROUP(TEXT, parent), .spare = 1},                                                   \
        {"OPENED", "created_at", GROUP(TIME, created_at), .spare = 2},                                       \
        {"CLOSED", "closed_at", GROUP(TIME, closed_at), .may_miss = true, .spare = 2}, {                     \
        "ENDED", "ended_at", GROUP(TIME, ended_at), .may_miss = true, .spare = 2                             \
    }
static const struct column list_columns[] = {STATE, TIMES, COLUMNS_END};
static const struct column show_columns[] = {
    STATE,
    {"TASKS", "tasks", GROUP(NUMBER, tasks)},
    {"WAITING", "waiting", GROUP(NUMBER, waiting)},
    {"HANDLING", "handling", GROUP(NUMBER, handling)},
    {"DONE", "done", GROUP(NUMBER, done)},
    {"SKIPPED", "skipped", GROUP(NUMBER, skipped)},
    {"FAILED", "failed", GROUP(NUMBER, failed)},
    {"AFTER", "after", GROUP(NUMBER, after)},
    TIMES,
    COLUMNS_END,
};

static void add_group(const tp_group *group, void *arg) {
    listing_add(arg, group);
}

static enum cli_exit missing(const char *name) {
    return cli_fail(EXIT_NOTHING, "no group has the name %s; see taskpool group list", name);
}

static enum cli_exit show(tp_conn *conn, const char *name) {
    struct listing *groups = listing_open(name ? show_columns : list_columns);
    tp_status status = tp_group_each(conn, name, add_group, groups);

    listing_print(groups);
    listing_free(groups);
    if (status == TP_NONE && name) return missing(name);
    return status < 0 ? cli_fail_tp(status) : cli_exit_of(status);
}

static enum cli_exit open_one(tp_conn *conn, const char *name) {
    bool ended = options.rule && strcmp(options.rule, "ended") == 0;

    if (options.rule && !ended && strcmp(options.rule, "done") != 0)
        args_fail("--rule must be done or ended");
    tp_status status =
        tp_group_open(conn, name, ended ? TP_GROUP_ALL_ENDED : TP_GROUP_ALL_DONE, options.parent);
    if (status == TP_EXISTS && !common.quiet) cli_warn("it is there already");
    return status < 0 ? cli_fail_tp(status) : EXIT_DONE;
}

static enum cli_exit close_one(tp_conn *conn, const char *name) {
    tp_status status = tp_group_close(conn, name);

    if (status == TP_NONE) return missing(name);
    if (status == TP_EXISTS && !common.quiet) cli_warn("it is closed already");
    return status < 0 ? cli_fail_tp(status) : EXIT_DONE;
}

struct within {
    const char *parent;
    char names[120]; /* of the first; then "..." */
    bool full;
};

static void add_within(const tp_group *group, void *arg) {
    struct within *within = arg;
    size_t length = strlen(within->names), room = sizeof within->names - length;
    bool is_within = group->parent && strcmp(group->parent, within->parent) == 0;

    if (!is_within || within->full || group->cancelled || strcmp(group->state, "ended") == 0) return;
    within->full = strlen(group->name) + sizeof ", , ..." > room;
    snprintf(within->names + length, room, "%s%s", length ? ", " : "", within->full ? "..." : group->name);
}

/* They are not cancelled with it, and hold up its end. */
static void warn_of_within(tp_conn *conn, const char *name) {
    struct within within = {.parent = name};

    if (common.quiet || tp_group_each(conn, NULL, add_within, &within) < 0 || !*within.names) return;
    cli_warn("groups within it go on: %s; cancel them too, it ends after them", within.names);
}

static enum cli_exit cancel(tp_conn *conn, const char *name) {
    size_t skipped = 0;
    tp_status status = tp_group_cancel(conn, name, operator_name(options.who), options.why, &skipped);

    if (status == TP_NONE) return cli_fail(EXIT_NOTHING, "there is no group %s, or it has ended", name);
    if (status < 0) return cli_fail_tp(status);
    if (common.json)
        out_members(MEMBERS(MEMBER_NUMBER("skipped", (int64_t)skipped)));
    else
        out_text("%zu tasks skipped\n", skipped);
    warn_of_within(conn, name);
    return EXIT_DONE;
}

static enum cli_exit remove_one(tp_conn *conn, const char *name) {
    tp_status status = tp_group_remove(conn, name, operator_name(options.who));

    if (status == TP_NONE) return cli_fail(EXIT_NOTHING, "there is no group %s that has ended", name);
    return status < 0 ? cli_fail_tp(status) : EXIT_DONE;
}

static enum cli_exit end(tp_conn *conn, const char *name) {
    size_t ended = 0;
    tp_status status = tp_groups_end(conn, &ended);

    (void)name;
    if (status < 0) return cli_fail_tp(status);
    if (common.json)
        out_members(MEMBERS(MEMBER_NUMBER("ended", (int64_t)ended)));
    else
        out_text("%zu groups ended\n", ended);
    return EXIT_DONE;
}

static const struct action {
    const char *name;
    enum cli_exit (*run)(tp_conn *conn, const char *name);
    bool named, rules, person, reason; /* what it takes */
} actions[] = {
    {"open", open_one, .named = true, .rules = true},
    {"close", close_one, .named = true},
    {"show", show, .named = true},
    {"list", show, .named = false},
    {"cancel", cancel, .named = true, .person = true, .reason = true},
    {"remove", remove_one, .named = true, .person = true},
    {"end", end, .named = false},
};
enum { ACTIONS = sizeof actions / sizeof actions[0] };

enum cli_exit group_command(const char **args) {
    const struct action *action = NULL;

    for (size_t i = 0; i < ACTIONS; i++)
        if (strcmp(args[0], actions[i].name) == 0) action = &actions[i];
    if (!action) args_fail("group takes open, close, show, list, cancel, remove or end");
    if ((options.rule || options.parent) && !action->rules)
        args_fail("--rule and --parent belong to group open");
    if (options.who && !action->person) args_fail("--who belongs to group cancel and remove");
    if (options.why && !action->reason) args_fail("--why belongs to group cancel");
    if (!action->named && args[1]) args_fail("group %s takes no further argument", args[0]);
    if (action->named && !args[1]) args_fail("group %s takes the NAME of a group", args[0]);
    return action->run(args_connect(), args[1]);
}
