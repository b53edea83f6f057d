/* taskpool four-eyes: whether acts need a second person, and which. */
#include "cli.h"

#include <string.h>

#include "common/args.h"
#include "common/operator_name.h"
#include "common/values.h"
#include "requested.h"

static char *retries, *expires, *who, *why;

static struct poptOption options[] = {
    OPTION_TEXT("retries", '\0', &retries, "N", "so many tasks may be retried at once by one person (0)"),
    OPTION_TEXT("expires", '\0', &expires, "DURATION", "how long a request waits for the second one (7d)"),
    OPTION_TEXT("why", '\0', &why, "TEXT", "recorded as the reason"),
    OPTION_WHO(&who),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage four_eyes_usage = {
    "[on|off]",
    "Whether skip, cancel, purge, edit, erase, retries of more than N tasks, retention and this setting need "
    "a\n"
    "second person. While it is on they are written as requests (exit code 13), and another person approves "
    "them:\n"
    "taskpool requests, approve, refuse. To switch it off, or to change it, is then a request too.\n",
    "  taskpool four-eyes\n"
    "  taskpool four-eyes on --retries 100 --why 'policy 9'\n"
    "  taskpool four-eyes off\n",
    options,
    0,
    1,
};

static enum cli_exit show(tp_conn *conn) {
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    char text[TIME_TEXT_SIZE];
    tp_status status = tp_four_eyes_get(conn, &eyes);

    if (status != TP_OK) return cli_fail_tp(status);
    if (common.json)
        out_members(MEMBERS(MEMBER_YES_NO("four_eyes", eyes.on), MEMBER_NUMBER("retries", eyes.retry_max),
                            MEMBER_NUMBER("expires_ms", eyes.expire_ms)));
    else if (!eyes.on)
        out_text("off\n");
    else
        out_text("on; %lld tasks may be retried by one person; requests expire after %s\n",
                 (long long)eyes.retry_max, value_duration_text(eyes.expire_ms, text));
    return EXIT_DONE;
}

/* What is not said stays as it is. */
static void fill(tp_four_eyes *eyes, const char *word) {
    eyes->on = strcmp(word, "on") == 0;
    args_integer("--retries", retries, 0, INT32_MAX, &eyes->retry_max);
    args_duration("--expires", expires, &eyes->expire_ms);
}

enum cli_exit four_eyes_command(const char **args) {
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    tp_conn *conn;
    tp_status status;

    if (args[0] && strcmp(args[0], "on") != 0 && strcmp(args[0], "off") != 0) args_fail("say on or off");
    if (!args[0] && (retries || expires || why)) args_fail("say on or off, too");
    conn = args_connect();
    if (!args[0]) return show(conn);
    status = tp_four_eyes_get(conn, &eyes);
    if (status != TP_OK) return cli_fail_tp(status);
    fill(&eyes, args[0]);
    status = tp_four_eyes_set(conn, &eyes, operator_name(who), why);
    if (status == TP_DISCONNECTED && tp_conn_reopen(conn) == TP_OK)
        status = tp_four_eyes_set(conn, &eyes, operator_name(who), why);
    if (status == TP_REQUESTED || status == TP_STALE) return requested(status, eyes.request_id, 0);
    if (status != TP_OK) return cli_fail_tp(status);
    return common.quiet ? EXIT_DONE : show(conn);
}
