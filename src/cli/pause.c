/* taskpool pause and resume; and the check for a misspelt handler of paused.h. */
#include "cli.h"

#include <string.h>

#include "common/args.h"
#include "common/operator_name.h"
#include "paused.h"

static char *who, *why;

static struct poptOption pause_options[] = {
    OPTION_WHY(&why),
    OPTION_WHO(&who),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

static struct poptOption resume_options[] = {
    OPTION_WHY(&why),
    OPTION_WHO(&who),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage pause_usage = {
    "[HANDLER]",
    "A paused handler's tasks are not claimed, by anybody, from a second later on; running ones end.\n"
    "Tasks can still be put in. Without HANDLER shows what is paused (exit code 1: nothing is).\n",
    "  taskpool pause\n"
    "  taskpool pause pay --why 'the bank is closed'\n",
    pause_options,
    0,
    1,
};

const struct usage resume_usage = {
    "HANDLER",
    "Lets a paused handler's tasks be claimed again.\n"
    "Exit code 1: it was not paused.\n",
    "  taskpool resume pay\n",
    resume_options,
    1,
    1,
};

/* ---- What is paused ------------------------------------------------------------------------------------ */

#define PAUSED(type, member) COLUMN_OF(type, tp_paused, member)
const struct column paused_columns[] = {
    {"PAUSED", "handler", PAUSED(TEXT, handler)},
    {"SINCE", "since", PAUSED(TIME, since)},
    {"WHO", "who", PAUSED(TEXT, who)},
    {"WHY", "why", PAUSED(TEXT, why)},
    COLUMNS_END,
};

void paused_add(const tp_paused *paused, void *arg) {
    listing_add(arg, paused);
}

static enum cli_exit show_paused(tp_conn *conn) {
    struct listing *paused = listing_open_list(paused_columns);
    tp_status status = tp_paused_each(conn, paused_add, paused);

    if (status < 0)
        (void)cli_fail_tp(status);
    else if (common.json)
        out_members(MEMBERS(MEMBER_JSON("paused", listing_list(paused))));
    else if (status == TP_OK)
        listing_print(paused);
    else if (!common.quiet)
        (void)cli_fail(EXIT_NOTHING, "nothing is paused");
    listing_free(paused);
    return cli_exit_of(status);
}

/* ---- The commands -------------------------------------------------------------------------------------- */

/* Whether some row of the pool has a handler's name. */
struct search {
    const char *handler;
    bool found;
};

/* Names with blanks between. Of those that do not fit into the column nothing is known, so it may be one of
 * them. */
static void search_worker(const tp_worker_row *worker, void *arg) {
    enum { ALL_FIT = 512 - TP_HANDLER_MAX - 1 };
    struct search *search = arg;
    size_t length = strlen(search->handler), name;

    if (strlen(worker->handlers) >= ALL_FIT) search->found = true;
    for (const char *names = worker->handlers; *names; names += name + strspn(names + name, " ")) {
        name = strcspn(names, " ");
        if (name == length && strncmp(names, search->handler, length) == 0) search->found = true;
    }
}

static void search_schedule(const tp_schedule *schedule, void *arg) {
    struct search *search = arg;

    if (strcmp(schedule->handler, search->handler) == 0) search->found = true;
}

static bool has_no_open_task(tp_conn *conn, const char *handler) {
    tp_list_request request = TP_LIST_INIT;
    tp_batch *batch = NULL;

    request.handler = handler;
    request.limit = 1;
    tp_status status = tp_list(conn, &request, &batch);
    tp_batch_free(batch);
    return status == TP_NONE;
}

/* Last the open tasks: all of them are read for a handler that nobody knows. */
bool handler_is_unknown(tp_conn *conn, const char *handler) {
    struct search search = {handler, false};

    return tp_worker_each(conn, search_worker, &search) >= TP_OK &&
           tp_schedule_each(conn, search_schedule, &search) >= TP_OK && !search.found &&
           has_no_open_task(conn, handler);
}

/* idle: the answer when there was nothing to do. */
static enum cli_exit report(tp_status status, tp_status idle, const char *handler, const char *word,
                            const char *otherwise) {
    if (status < 0) return cli_fail_tp(status);
    if (common.json) {
        out_members(MEMBERS(MEMBER_TEXT("handler", handler), MEMBER_YES_NO("changed", status != idle)));
    } else if (status == idle) {
        cli_warn("%s %s", handler, otherwise);
    } else if (!common.quiet) {
        out_text("%s %s\n", word, handler);
    }
    return cli_exit_of(status);
}

enum cli_exit pause_command(const char **args) {
    tp_conn *conn = args_connect();
    enum cli_exit code;
    tp_status status;

    if (!args[0]) return show_paused(conn);
    status = tp_pause(conn, args[0], operator_name(who), why);
    code = report(status, TP_EXISTS, args[0], "paused", "was paused already; taskpool pause shows by whom");
    if (status == TP_OK && !common.quiet && handler_is_unknown(conn, args[0]))
        cli_warn("no open task, worker or schedule has the handler %s so far; if it is misspelt: "
                 "taskpool resume %s",
                 args[0], args[0]);
    return code;
}

enum cli_exit resume_command(const char **args) {
    tp_conn *conn = args_connect();
    tp_status status;

    operator_acts(conn, who, why);
    status = tp_resume(conn, args[0], operator_name(who));
    return report(status, TP_NONE, args[0], "resumed", "was not paused");
}
