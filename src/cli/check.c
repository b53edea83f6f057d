/* taskpool check and fsm: prints what the library finds in the pools, and the table of states. What is
 * checked is the library's to decide (tp_check). */
#include "cli.h"

#include <stdlib.h>

#include "common/args.h"
#include "common/escape.h"
#include "common/records.h"

static struct poptOption options[] = {
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage check_usage = {
    "",
    "Looks whether every task is in one pool only and every row is legal for its pool; changes nothing.\n"
    "It reads all pools, so on large ones it takes a while. Each line says ok, note (worth knowing) or\n"
    "BAD, and what to do.\n"
    "Exit code 9: something is BAD.\n",
    "  taskpool check\n"
    "  taskpool check --json | jq -r 'select(.ok == false) | .remedy'\n",
    options,
    0,
    0,
};

const struct usage fsm_usage = {
    "",
    "Prints the table by which every state is decided; what no line names changes nothing. Needs no\n"
    "database.\n",
    "  taskpool fsm\n",
    options,
    0,
    0,
};

static void print_line(const char *mark, const char *text) {
    char *shown = cli_must(escape_text(text));

    out_text("%s%s\n", mark, shown);
    free(shown);
}

static void print_finding(const tp_finding *finding, void *arg) {
    (void)arg;
    if (common.quiet && finding->ok) return;
    out_text("%-4s  %s: ", !finding->ok ? "BAD" : finding->count ? "note" : "ok", finding->name);
    print_line("", finding->text);
    if (*finding->remedy) print_line("      what to do: ", finding->remedy);
}

#define FINDING(type, member) COLUMN_OF(type, tp_finding, member)
static const struct column columns[] = {
    {NULL, "check", FINDING(TEXT, name)},    {NULL, "ok", FINDING(YES_NO, ok)},
    {NULL, "count", FINDING(NUMBER, count)}, {NULL, "text", FINDING(TEXT, text)},
    {NULL, "remedy", FINDING(TEXT, remedy)}, COLUMNS_END,
};

static void print_object(const tp_finding *finding, void *arg) {
    (void)arg;
    out_json(record_object(columns, finding));
}

enum cli_exit check_command(const char **args) {
    int bad = 0;
    tp_status status = tp_check(args_connect(), common.json ? print_object : print_finding, NULL, &bad);

    (void)args;
    if (status != TP_OK) return cli_fail_tp(status);
    return bad ? EXIT_BAD : EXIT_DONE;
}

static void print_bytes(const char *text, size_t length, void *arg) {
    (void)arg;
    out_bytes(text, length);
}

enum cli_exit fsm_command(const char **args) {
    (void)args;
    if (common.json) args_fail("the table is Markdown; leave --json out");
    tp_fsm_print(print_bytes, NULL);
    return EXIT_DONE;
}
