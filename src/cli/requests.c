/* taskpool requests, approve and refuse: what waits for a second person, and his word. */
#include "cli.h"

#include <string.h>

#include "common/args.h"
#include "common/listing.h"
#include "common/operator_name.h"
#include "common/pool_columns.h"
#include "requested.h"

static char *state, *limit_text, *who, *why;
static int all;

static struct poptOption list_options[] = {
    OPTION_FLAG("all", '\0', &all, "also those that were decided or expired"),
    OPTION_TEXT("state", '\0', &state, "STATE", "waiting (the default), done, refused, stale, expired"),
    OPTION_TEXT("limit", '\0', &limit_text, "N", "at most so many, the newest (100)"),
    OPTION_CSV,
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

static struct poptOption decide_options[] = {
    OPTION_TEXT("why", '\0', &why, "TEXT", "recorded as the reason"),
    OPTION_WHO(&who),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage requests_usage = {
    "[ID]",
    "What people asked for that needs a second person (see taskpool four-eyes), the newest first; with ID "
    "one\n"
    "of them with all that is known of it.\n"
    "Exit code 1: there is none.\n",
    "  taskpool requests\n"
    "  taskpool requests --state stale\n"
    "  taskpool requests 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f\n",
    list_options,
    0,
    1,
};

const struct usage approve_usage = {
    "ID",
    "Carries out what another person asked for: just the rows that were meant, in one transaction with the\n"
    "approval, or nothing when one of them has changed since (exit code 9). Run again it finds out what\n"
    "became of it. Nobody approves his own request.\n"
    "Exit code 1: no such request, or somebody decided it before.\n",
    "  taskpool approve 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f --why 'ticket 12'\n",
    decide_options,
    1,
    1,
};

const struct usage refuse_usage = {
    "ID",
    "Ends a request of another person, or takes back your own; nothing else is changed.\n"
    "Exit code 1: no such request, or somebody decided it before.\n",
    "  taskpool refuse 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f --why 'not these'\n",
    decide_options,
    1,
    1,
};

/* ---- For other commands -------------------------------------------------------------------------------- */

enum cli_exit requested(tp_status status, const char *id, size_t tasks) {
    if (status == TP_STALE) return cli_fail(EXIT_BAD, "the request was refused, is stale or has expired");
    if (common.json)
        out_members(MEMBERS(MEMBER_YES_NO("requested", 1), MEMBER_TEXT("request", id),
                            MEMBER_NUMBER("rows", (int64_t)tasks)));
    else if (!common.quiet)
        out_text("written as request %s: %zu rows; waits for a second person (taskpool approve)\n",
                 *id ? id : "(see taskpool requests)", tasks);
    return EXIT_REQUESTED;
}

/* ---- The list ------------------------------------------------------------------------------------------ */

static void add(const tp_request *request, void *arg) {
    listing_add(arg, request);
}

static void show_one(const tp_request *request, void *arg) {
    (void)arg;
    if (common.json)
        out_json(record_object(request_details, request));
    else
        record_print(request_details, request);
}

static enum cli_exit nothing(tp_status status, const char *text) {
    if (status < 0) return cli_fail_tp(status);
    if (status == TP_NONE && !common.quiet && !common.json) (void)cli_fail(EXIT_NOTHING, "%s", text);
    return cli_exit_of(status);
}

enum cli_exit requests_command(const char **args) {
    int64_t limit = 100;
    struct listing *requests;
    tp_conn *conn;
    tp_status status;

    args_integer("--limit", limit_text, 1, INT32_MAX, &limit);
    if (all && state) args_fail("--all and --state exclude each other");
    conn = args_connect();
    if (args[0]) return nothing(tp_request_each(conn, args[0], NULL, 0, show_one, NULL), "no such request");
    requests = listing_open(request_columns);
    status = tp_request_each(conn, NULL,
                             all     ? NULL
                             : state ? state
                                     : "waiting",
                             (size_t)limit, add, requests);
    if (status == TP_OK) listing_print(requests);
    listing_free(requests);
    return nothing(status, all ? "there are no requests" : "no request waits; --all shows those that did");
}

/* ---- Decisions ----------------------------------------------------------------------------------------- */

static void note_state(const tp_request *request, void *arg) {
    snprintf(arg, TP_ID_SIZE, "%s", request->state);
}

static enum cli_exit answer(tp_conn *conn, tp_status status, const char *id, const char *word, int64_t done) {
    char became[TP_ID_SIZE] = "decided";

    if (status == TP_NONE)
        return cli_fail(EXIT_NOTHING, "no request has the id %s; see taskpool requests", id);
    if (status == TP_STALE) return cli_fail(EXIT_BAD, "%s", tp_last_error()->text);
    if (status == TP_EXISTS) {
        if (tp_request_each(conn, id, NULL, 0, note_state, became) != TP_OK)
            snprintf(became, sizeof became, "decided");
        return cli_fail(EXIT_NOTHING, "the request is %s already; nothing was done now", became);
    }
    if (status != TP_OK) return cli_fail_tp(status);
    if (common.json)
        out_members(
            MEMBERS(MEMBER_TEXT("request", id), MEMBER_TEXT("state", word), MEMBER_NUMBER("done", done)));
    else if (!common.quiet && strcmp(word, "done") == 0)
        out_text("approved %s: %lld rows\n", id, (long long)done);
    else if (!common.quiet)
        out_text("refused %s\n", id);
    return EXIT_DONE;
}

/* A lost answer is asked for once more; whoever decided finds that he did. */
enum cli_exit approve_command(const char **args) {
    tp_operated result = TP_OPERATED_INIT;
    tp_conn *conn = args_connect();
    tp_status status = tp_approve(conn, args[0], operator_name(who), why, &result);

    if (status == TP_DISCONNECTED && tp_conn_reopen(conn) == TP_OK)
        status = tp_approve(conn, args[0], operator_name(who), why, &result);
    return answer(conn, status, args[0], "done", (int64_t)result.done);
}

enum cli_exit refuse_command(const char **args) {
    tp_conn *conn = args_connect();
    tp_status status = tp_refuse(conn, args[0], operator_name(who), why);

    if (status == TP_DISCONNECTED && tp_conn_reopen(conn) == TP_OK)
        status = tp_refuse(conn, args[0], operator_name(who), why);
    return answer(conn, status, args[0], "refused", 0);
}
