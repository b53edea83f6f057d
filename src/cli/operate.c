/* taskpool retry, cancel, skip, release and purge: one command with five names, by tp_operate. Decides what
 * must be selected, so that nothing happens to a whole pool by mistake. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/args.h"
#include "common/operator_name.h"
#include "common/selected.h"
#include "paused.h"
#include "requested.h"
#include "selection.h"

static struct {
    char *older, *limit, *who, *why;
    int all, dry_run;
} options;

#define OPTIONS_ACTION                                                                                       \
    OPTION_TEXT("older", '\0', &options.older, "DURATION",                                                   \
                "not changed for that long, by the database's clock: 500ms 10s 5m 2h 1d"),                   \
        OPTION_TEXT("limit", '\0', &options.limit, "N", "at most so many (all)"),                            \
        OPTION_FLAG("all", '\0', &options.all, "everything; without it something must be selected"),         \
        OPTION_FLAG("dry-run", 'n', &options.dry_run, "only count"),                                         \
        OPTION_TEXT("why", '\0', &options.why, "TEXT", "recorded as the reason"), OPTION_WHO(&options.who)

static struct poptOption table[] = {
    SELECTION_OPTIONS,
    OPTIONS_ACTION,
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

#define SELECTION                                                                                            \
    "All that is given must hold. Works in transactions of at most 500 tasks; run again, skip, cancel and\n" \
    "purge do what is left, and --limit counts anew. What was done is recorded: see taskpool history.\n"

const struct usage retry_usage = {
    "",
    "Makes tasks of the failed pool, and tasks that wait for a retry, pending again: due now, failures "
    "0.\n" SELECTION
    "Passed over: tasks that another session holds, and those whose dedup_key an open task has. Those that "
    "are\n"
    "done and could only not be stored are counted: they are done again.\n",
    "  taskpool retry --id 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f\n"
    "  taskpool retry --pool failed --handler pay --reason 'connection refused' --why 'bank is back' "
    "--dry-run\n",
    table,
    0,
    0};

const struct usage skip_usage = {
    "",
    "Moves tasks that are not being handled to the finished pool, as skipped; --why becomes their "
    "reason.\n" SELECTION,
    "  taskpool skip --id 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f --why 'paid by hand'\n"
    "  taskpool skip --handler newsletter --older 2d --why 'too late'\n",
    table,
    0,
    0};

const struct usage cancel_usage = {
    "",
    "Ends tasks that are not wanted any more. Those that wait are skipped at once. Whoever has one in hand "
    "is\n"
    "told within two seconds, and a program gets SIGTERM, and SIGKILL five seconds later; a task that was "
    "done\n"
    "nevertheless is done, any other is skipped and not tried again.\n" SELECTION
    "Of one --id alone it says what became of the task; run again, how it ended. Exit code 1: it is done or "
    "in\n"
    "the failed pool, or is not known.\n",
    "  taskpool cancel --id 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f --why 'wrong amount'\n"
    "  taskpool cancel --handler newsletter --why 'wrong text' --dry-run\n",
    table,
    0,
    0};

const struct usage release_usage = {
    "",
    "Takes tasks away from whoever handles them: pending again and due now, no failure counted. The old "
    "holder\n"
    "learns that its claim is lost; what it did outside the database is done.\n" SELECTION,
    "  taskpool release --id 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f --why 'worker hangs'\n"
    "  taskpool release --worker 2f6f0c1d2e3f --handler pay --why 'its host is gone'\n",
    table,
    0,
    0};

const struct usage purge_usage = {
    "",
    "Deletes tasks of the finished or failed pool, keys of the ledger, or events of the history, the oldest\n"
    "first. A task, key or event that was purged is not there when somebody asks again.\n" SELECTION,
    "  taskpool purge --older 90d\n"
    "  taskpool purge --pool history --older 365d --dry-run\n",
    table,
    0,
    0};

/* Nothing happens to a whole pool by a forgotten option. */
static void check_selected(tp_action action) {
    bool purges = action == TP_ACTION_PURGE;
    bool exact = selection.ids || selection.biz_key || selection.group || selection.gate;
    bool narrow =
        exact || options.older || options.all || (!purges && (selection_is_narrow() || selection.pool));

    if (options.all && selection.ids) args_fail("--all and --id exclude each other");
    if (!narrow && purges)
        args_fail(
            "say how old with --older, or which with --id, --biz-key, --group or --gate; --all purges the "
            "whole pool");
    if (!narrow)
        args_fail("nothing was selected; give --id, --handler, --group, --gate, --state, --pool, --reason or "
                  "--older, or --all");
}

static void fill(tp_selection *action) {
    int64_t limit = 0;

    args_integer("--limit", options.limit, 1, INT32_MAX, &limit);
    args_duration("--older", options.older, &action->older_ms);
    if (options.older && action->older_ms == 0)
        args_fail("--older 0 is everything; leave it out, or say --all");
    action->limit = (size_t)limit;
    selection_for_action(action);
    action->who = operator_name(options.who);
    action->why = options.why;
    action->dry_run = options.dry_run;
}

static void show_json(const char *name, tp_action which, const tp_operated *result) {
    struct member all[6] = {{.key = NULL}}, *end = all;

    *end++ = (struct member)MEMBER_TEXT("action", name);
    *end++ = (struct member)MEMBER_NUMBER("done", (int64_t)result->done);
    if (which == TP_ACTION_CANCEL) *end++ = (struct member)MEMBER_NUMBER("asked", (int64_t)result->asked);
    if (which == TP_ACTION_RETRY)
        *end++ = (struct member)MEMBER_NUMBER("unstored", (int64_t)result->unstored);
    *end++ = (struct member)MEMBER_NUMBER("passed", (int64_t)result->passed);
    *end = (struct member)MEMBER_YES_NO("dry_run", options.dry_run);
    out_members(all);
}

static void show_text(const char *past, const tp_operated *result, bool asks) {
    if (options.dry_run)
        out_text("%zu would be %s", result->done, past);
    else
        out_text("%s %zu", past, result->done);
    if (asks) out_text(", %s %zu in hand", options.dry_run ? "would ask for" : "asked for", result->asked);
    if (result->passed)
        out_text(", passed over %zu: held by another session, or the dedup_key is open, or the gate is gone",
                 result->passed);
    out_text("\n");
}

static void show(const char *name, const char *past, tp_action which, const tp_operated *result) {
    if (common.json)
        show_json(name, which, result);
    else if (!common.quiet)
        show_text(past, result, which == TP_ACTION_CANCEL);
}

/* Of what was counted, asked for or done. */
static void warn_of_unstored(tp_status status, const tp_operated *result) {
    if (!result->unstored || common.quiet) return;
    if (options.dry_run || status == TP_REQUESTED)
        cli_warn("done, only not stored: %zu of them; a retry would do them again, taskpool failures says "
                 "how to skip them",
                 result->unstored);
    else
        cli_warn("done, only not stored: %zu of them; they are done again now, unless you cancel them",
                 result->unstored);
}

static int by_id(const void *a, const void *b) {
    return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t count_distinct(const tp_selection *action) {
    size_t size = action->id_count * sizeof *action->ids, count = 0;
    const char **ids;

    if (!size) return 0;
    ids = cli_must(malloc(size));
    memcpy(ids, action->ids, size);
    qsort(ids, action->id_count, sizeof *ids, by_id);
    for (size_t i = 0; i < action->id_count; i++)
        count += i == 0 || by_id(&ids[i - 1], &ids[i]) != 0;
    free(ids);
    return count;
}

/* Ids that are wrong, or whose tasks are in another state than somebody thought. */
static void warn_of_missing(const char *past, const tp_selection *action, size_t found) {
    size_t given = count_distinct(action);

    if (action->limit || found >= given || common.quiet) return;
    cli_warn("%zu of %zu ids %s no task that could be %s; taskpool show ID says where it is", given - found,
             given, given - found == 1 ? "is" : "are", past);
}

/* ---- One that is cancelled ----------------------------------------------------------------------------- */

static void show_one(const char *id, const tp_cancelled *result) {
    if (common.json) {
        out_members(MEMBERS(MEMBER_TEXT("action", "cancel"), MEMBER_TEXT("id", id),
                            MEMBER_TEXT("answer", cancel_word(result->answer)),
                            MEMBER_TEXT("state", result->state)));
        return;
    }
    if (common.quiet) return;
    if (result->answer == TP_CANCEL_UNKNOWN) out_text("unknown: no task has the id %s\n", id);
    if (result->answer == TP_CANCEL_SKIPPED) out_text("skipped: it is not done\n");
    if (result->answer == TP_CANCEL_ASKED)
        out_text("asked: it is in hand, and its worker is told; run this again for how it ended\n");
    if (result->answer == TP_CANCEL_LATE) out_text("too late: it is %s\n", result->state);
}

static enum cli_exit cancel_one(tp_conn *conn, const tp_selection *action) {
    tp_cancelled result = TP_CANCELLED_INIT;
    const char *id = action->ids[0];
    tp_status status = tp_cancel(conn, id, action->who, action->why, &result);

    if (status == TP_DISCONNECTED && tp_conn_reopen(conn) == TP_OK)
        status = tp_cancel(conn, id, action->who, action->why, &result);
    if (status == TP_REQUESTED || status == TP_STALE) return requested(status, result.request_id, 1);
    if (status < TP_OK) return cli_fail_tp(status);
    show_one(id, &result);
    return result.answer == TP_CANCEL_SKIPPED || result.answer == TP_CANCEL_ASKED ? EXIT_DONE : EXIT_NOTHING;
}

enum { TOGETHER = 500 }; /* tasks in a transaction at most, see tp_operate */

/* What is said of one without a limit. */
static const char *run_again(tp_action which) {
    if (which == TP_ACTION_RELEASE) return "; run again, it takes from others what they have claimed since";
    if (which == TP_ACTION_RETRY) return "; run again, it also retries what has failed again since";
    return ": run it again for the rest";
}

/* What was committed before it stays. A commit without an answer may be, too. */
static enum cli_exit fail_after(tp_status status, tp_action which, const tp_selection *action,
                                const tp_operated *result) {
    size_t done = result->done + result->asked, left = action->limit - done;
    char perhaps[80] = "", limit[80];

    if (action->dry_run || (!done && status != TP_DISCONNECTED)) return cli_fail_tp(status);
    if (status == TP_DISCONNECTED)
        snprintf(perhaps, sizeof perhaps, ", and %zu more perhaps, which taskpool audit shows",
                 action->limit && left < TOGETHER ? left : (size_t)TOGETHER);
    snprintf(limit, sizeof limit,
             *perhaps ? ": go on with what is then left of the limit of %zu" : ": go on with --limit %zu",
             *perhaps ? action->limit : left);
    return cli_fail(cli_exit_of(status), "%s; %zu were done before this%s%s", tp_last_error()->text, done,
                    perhaps, action->limit ? limit : run_again(which));
}

static enum cli_exit operate(const char *name, const char *past, tp_action which) {
    tp_selection action = TP_SELECTION_INIT;
    tp_operated result = TP_OPERATED_INIT;
    tp_conn *conn;
    tp_status status;
    size_t found;

    check_selected(which);
    fill(&action);
    conn = args_connect();
    if (which == TP_ACTION_CANCEL && selected_is_one_id(&action)) return cancel_one(conn, &action);
    status = tp_operate(conn, which, &action, &result);
    /* A request whose answer was lost is found by its id. */
    if (status == TP_DISCONNECTED && *result.request_id && tp_conn_reopen(conn) == TP_OK)
        status = tp_operate(conn, which, &action, &result);
    warn_of_unstored(status, &result);
    if (status == TP_REQUESTED || status == TP_STALE)
        return requested(status, result.request_id, result.done);
    if (status != TP_OK) return fail_after(status, which, &action, &result);
    show(name, past, which, &result);
    found = result.done + result.asked + result.passed;
    warn_of_missing(past, &action, found);
    if (found == 0 && action.handler && !common.quiet && handler_is_unknown(conn, action.handler))
        cli_warn("no open task, worker or schedule has the handler %s so far; is it misspelt?",
                 action.handler);
    return action.id_count && result.done + result.asked == 0 ? EXIT_NOTHING : EXIT_DONE;
}

#define OPERATE_COMMAND(name, past, action)                                                                  \
    enum cli_exit name##_command(const char **args) {                                                        \
        (void)args;                                                                                          \
        return operate(#name, past, action);                                                                 \
    }
OPERATE_COMMAND(retry, "retried", TP_ACTION_RETRY)
OPERATE_COMMAND(cancel, "cancelled", TP_ACTION_CANCEL)
OPERATE_COMMAND(skip, "skipped", TP_ACTION_SKIP)
OPERATE_COMMAND(release, "released", TP_ACTION_RELEASE)
OPERATE_COMMAND(purge, "purged", TP_ACTION_PURGE)
