/* taskpool doctor: prints what the library finds when it tries out the database and its driver (tp_doctor).
 */
#include "cli.h"

#include "common/args.h"
#include "common/listing.h"

static struct poptOption options[] = {
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage doctor_usage = {
    "",
    "Tries out with two sessions, on a table of its own (tp_doctor, with your prefix) that it removes\n"
    "again, whether locks, waits, row counts, text and clocks of this database and driver are what\n"
    "tasks rely on.\n"
    "Exit code 9: something is not as it must be; the table says what to do.\n",
    "  taskpool doctor\n"
    "  taskpool doctor --json | jq '.findings[] | select(.ok | not)'\n",
    options,
    0,
    0,
};

static const char *verdict(const void *record, char text[RECORD_TEXT_SIZE]) {
    const tp_finding *finding = record;

    (void)text;
    return finding->ok ? "ok" : "BAD";
}

#define FINDING(type, member) COLUMN_OF(type, tp_finding, member)
static const struct column columns[] = {
    {"CHECK", "name", FINDING(TEXT, name)},
    {"", "ok", FINDING(YES_NO, ok), .shown = verdict},
    {"FOUND", "text", FINDING(TEXT, text)},
    {"TO DO", "remedy", FINDING(TEXT, remedy)},
    COLUMNS_END,
};

static bool any_finding;

static void add(const tp_finding *finding, void *arg) {
    any_finding = true;
    listing_add(arg, finding);
}

static enum cli_exit examine(tp_env *env) {
    struct listing *findings = listing_open_list(columns);
    int bad = 0;
    tp_status status = tp_doctor(env, add, findings, &bad);

    if (common.json)
        out_members(MEMBERS(MEMBER_JSON("findings", listing_list(findings)), MEMBER_NUMBER("bad", bad)));
    else if (any_finding && !(common.quiet && !bad && status == TP_OK))
        listing_print(findings);
    listing_free(findings);
    if (status != TP_OK) return cli_fail_tp(status);
    return bad ? cli_fail(EXIT_BAD, "%d of the checks failed; do what stands beside them", bad) : EXIT_DONE;
}

enum cli_exit doctor_command(const char **args) {
    tp_env *env = NULL;
    enum cli_exit code = args_open_env(&env);

    (void)args;
    if (code == EXIT_DONE) code = examine(env);
    tp_env_close(env);
    return code;
}
