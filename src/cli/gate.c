/* taskpool gate set|list|show|remove. */
#include "cli.h"

#include <string.h>

#include "common/args.h"
#include "common/listing.h"
#include "common/operator_name.h"
#include "common/values.h"

static struct { char *width, *tokens, *period, *on_failure, *who; } options;

static struct poptOption table[] = {
    OPTION_TEXT("width", '\0', &options.width, "N",
                "set: how many tasks at a time (1, or all tokens); 0: none"),
    OPTION_TEXT("tokens", '\0', &options.tokens, "N",
                "set: at most N tasks in any period, see --period; 0: no such limit"),
    OPTION_TEXT("period", '\0', &options.period, "TIME", "set: how long a period of tokens is, such as 1m"),
    OPTION_TEXT("on-failure", '\0', &options.on_failure, "block|pass",
                "set: whether a task in the failed pool keeps its place (block)"),
    OPTION_WHO(&options.who),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage gate_usage = {
    "set NAME | list | show|remove NAME",
    "set     makes a gate, or changes what is given of it; wider lets more tasks through at once, narrower "
    "when tasks end.\n"
    "        NAME* is a pattern: gates whose names begin so are made with their first task, removed with "
    "their last\n"
    "list    shows all gates that people made, and =, the pattern of order keys\n"
    "show    shows one; =KEY is that of an order key\n"
    "remove  removes a gate that nothing is behind\n"
    "THROUGH counts tasks that were let through and have not ended; of a pattern those of all that it made.\n"
    "Exit code 1: there is no such gate, or (list) none at all.\n",
    "  taskpool gate set bank-api --width 5\n"
    "  taskpool enqueue pay 4711 --gate bank-api\n"
    "  taskpool gate set bank-api --width 2 --on-failure pass\n"
    "  taskpool gate set bank-api --tokens 100 --period 1m\n"
    "  taskpool gate set 'tenant-*' --width 3\n"
    "  taskpool gate show =account-4711\n",
    table,
    1,
    2,
};

static const char *failure_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    const tp_gate *gate = record;

    (void)text;
    return gate->on_failure == TP_GATE_PASS ? "pass" : "block";
}

static const char *period_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    const tp_gate *gate = record;

    text[0] = '\0';
    return gate->tokens ? value_duration_text(gate->period_ms, text) : text;
}

#define GATE(type, member) COLUMN_OF(type, tp_gate, member)
static const struct column columns[] = {
    {"GATE", "name", GATE(TEXT, name), .whole = true},
    {"WIDTH", "width", GATE(NUMBER, width)},
    {"THROUGH", "through", GATE(NUMBER, through)},
    {"WAITING", "waiting", GATE(NUMBER, waiting)},
    {"TOKENS", "tokens", GATE(NUMBER, tokens), .spare = 3},
    {"LEFT", "tokens_left", GATE(NUMBER, tokens_left), .spare = 3},
    {"PERIOD", "period_ms", GATE(NUMBER, period_ms), .shown = period_text, .spare = 3},
    {NULL, "token_at", GATE(TIME, token_at), .may_miss = true},
    {NULL, "pattern", GATE(TEXT, pattern)},
    {"ON FAILURE", "on_failure", .type = VALUE_TEXT, .shown = failure_text},
    {"CHANGED", "changed_at", GATE(TIME, changed_at), .may_miss = true, .spare = 1},
    {"BY", "changed_by", GATE(TEXT, changed_by), .spare = 2},
    COLUMNS_END,
};

static void add_gate(const tp_gate *gate, void *arg) {
    listing_add(arg, gate);
}

static enum cli_exit show(tp_conn *conn, const char *name) {
    struct listing *gates = listing_open(columns);
    tp_status status = tp_gate_each(conn, name, add_gate, gates);

    listing_print(gates);
    listing_free(gates);
    if (status == TP_NONE && name)
        return cli_fail(EXIT_NOTHING, "no gate has the name %s; see taskpool gate list", name);
    return status < 0 ? cli_fail_tp(status) : cli_exit_of(status);
}

/* What is not given stays as it is; no tokens have no period. */
static void read_options(tp_gate_options *to) {
    int64_t width = 0, tokens = 0;

    args_integer("--width", options.width, 0, TP_GATE_WIDTH_MAX, &width);
    args_integer("--tokens", options.tokens, 0, TP_GATE_WIDTH_MAX, &tokens);
    if (options.width) to->width = width ? (int32_t)width : TP_GATE_CLOSED;
    to->tokens = (int32_t)tokens;
    args_duration("--period", options.period, &to->period_ms);
    if (options.on_failure)
        to->on_failure = strcmp(options.on_failure, "pass") ? TP_GATE_BLOCK : TP_GATE_PASS;
    to->keeps = (options.width ? 0 : TP_GATE_KEEPS_WIDTH) | (options.tokens ? 0 : TP_GATE_KEEPS_TOKENS) |
                (options.period || (options.tokens && !tokens) ? 0 : TP_GATE_KEEPS_PERIOD) |
                (options.on_failure ? 0 : TP_GATE_KEEPS_ON_FAILURE);
}

static enum cli_exit set(tp_conn *conn, const char *name) {
    tp_gate_options to = TP_GATE_INIT;
    tp_status status;

    if (options.on_failure && strcmp(options.on_failure, "pass") != 0 &&
        strcmp(options.on_failure, "block") != 0)
        args_fail("--on-failure must be block or pass");
    read_options(&to);
    status = tp_gate_set_with(conn, name, &to, operator_name(options.who));
    if (status == TP_EXISTS && !common.quiet) cli_warn("it is so already");
    return status < 0 ? cli_fail_tp(status) : EXIT_DONE;
}

static enum cli_exit remove_one(tp_conn *conn, const char *name) {
    tp_status status = tp_gate_remove(conn, name, operator_name(options.who));

    if (status == TP_NONE)
        return cli_fail(EXIT_NOTHING, "no gate has the name %s; see taskpool gate list", name);
    return status < 0 ? cli_fail_tp(status) : EXIT_DONE;
}

enum cli_exit gate_command(const char **args) {
    bool sets = strcmp(args[0], "set") == 0, lists = strcmp(args[0], "list") == 0,
         shows = strcmp(args[0], "show") == 0, removes = strcmp(args[0], "remove") == 0;

    if (!sets && (options.width || options.tokens || options.period || options.on_failure))
        args_fail("--width, --tokens, --period and --on-failure belong to gate set");
    if (options.who && !sets && !removes) args_fail("--who belongs to gate set and remove");
    if (!sets && !lists && !shows && !removes) args_fail("gate takes set, list, show or remove");
    if (lists && args[1]) args_fail("list takes no further argument");
    if (!lists && !args[1]) args_fail("gate %s takes the NAME of a gate", args[0]);
    if (sets) return set(args_connect(), args[1]);
    if (removes) return remove_one(args_connect(), args[1]);
    return show(args_connect(), args[1]);
}
