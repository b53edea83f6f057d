/* See args.h. Everything that needs popt; connection strings are dsn.c's. */
#include "args.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "help_json.h"
#include "nearest.h"
#include "out.h"
#include "terminal.h"
#include "values.h"

enum { FULL_LINE = 80, WIDEST = 104 };

struct poptOption common_table[] = {
    OPTION_TEXT("dsn-file", '\0', &common.dsn_file, "FILE", "file with the ODBC connection string"),
    OPTION_TEXT(
        "dsn", '\0', &common.dsn, "STRING",
        "the connection string itself; for a moment everybody on this machine can see it in the process "
        "list, so with a password use --dsn-file or the variable TASKPOOL_DSN"),
    OPTION_FLAG("json", '\0', &common.json, "output for programs"),
    OPTION_FLAG("quiet", 'q', &common.quiet, "no progress, no summary"),
    OPTION_TEXT("color", '\0', &common.color, "WHEN",
                "auto (a terminal, and no variable NO_COLOR; default), always or never"),
    OPTION_FLAG("no-pager", '\0', &common.no_pager, "on a terminal no pager (PAGER, else less)"),
    OPTION_FLAG("local-time", '\0', &common.local_time,
                "times of this place, or of the variable TZ; not UTC"),
    OPTION_FLAG("help", 'h', &common.help, "this text"),
    POPT_TABLEEND,
};

static poptContext context; /* owns the arguments until the program ends */
static const char *command_name = "";
static char title[80]; /* taskpool and the command; a program of its own is both */

NO_RETURN void args_fail(const char *format, ...) {
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cli_end(cli_fail(EXIT_USAGE, "%s; see %s --help", text, title));
}

/* The text has lines for a wide terminal. On another they are broken anew: a line that is nearly full goes on
 * in the next. */
static void show_about(const char *text) {
    const char *line = text;
    int width = terminal_width(), used = 0;

    if (width > WIDEST) width = WIDEST;
    while (*text && width) {
        int word = (int)strcspn(text, " \n"), gap = used > 0;

        if (gap && used + gap + word > width) {
            out_text("\n");
            used = gap = 0;
        }
        out_text("%*s%.*s", gap, "", word, text);
        used += gap + word;
        text += word;
        if (*text == '\n' && (text - line < FULL_LINE || !text[1])) {
            out_text("\n");
            used = 0;
        }
        if (*text == '\n') line = text + 1;
        if (*text) text++;
    }
    out_text("%s\n", text);
}

static void show_help(const struct usage *usage) {
    show_about(usage->about);
    /* popt writes to a FILE; what goes wrong there is seen when it is flushed. */
    fflush(stdout);
    poptPrintHelp(context, stdout, 0);
    out_text("\nExamples:\n%s", usage->examples);
}

static void check_count(const struct usage *usage, const char **args) {
    size_t count = 0;

    while (args[count])
        count++;
    if (count < usage->least) args_fail("an argument is missing: %s %s", title, usage->arguments);
    if (count > usage->most)
        args_fail("too many arguments: %zu given, %zu taken at most", count, usage->most);
}

/* The first option that was given with an empty value, NULL: none. Nothing is meant by one: most come from a
 * variable of a script that was not set, and would otherwise mean any, none or the default. */
static const char *find_empty(const struct poptOption *option) {
    const char *found = NULL;

    for (; (option->longName || option->arg) && !found; option++) {
        unsigned kind = option->argInfo & POPT_ARG_MASK;
        char **texts = kind == POPT_ARG_ARGV ? *(char ***)option->arg : NULL;

        if (kind == POPT_ARG_INCLUDE_TABLE) found = find_empty(option->arg);
        if (kind == POPT_ARG_STRING && *(char **)option->arg && !**(char **)option->arg)
            found = option->longName;
        for (; texts && *texts && !found; texts++)
            if (!**texts) found = option->longName;
    }
    return found;
}

static void try_options(struct nearest *nearest, const struct poptOption *option) {
    for (; option->longName || option->arg; option++)
        if ((option->argInfo & POPT_ARG_MASK) == POPT_ARG_INCLUDE_TABLE)
            try_options(nearest, option->arg);
        else
            nearest_try(nearest, option->longName);
}

NO_RETURN static void refuse_option(const struct usage *usage, const char *option) {
    char word[NEAREST_MAX + 1];
    struct nearest nearest = {.word = word};

    snprintf(word, sizeof word, "%.*s", args_shown(option), option + strspn(option, "-"));
    if (strncmp(option, "--", 2) == 0) try_options(&nearest, usage->options);
    if (nearest.found)
        args_fail("%.*s: unknown option; did you mean --%s?", args_shown(option), option, nearest.found);
    args_fail("%.*s: unknown option", args_shown(option), option);
}

static void check_color(void) {
    static const char *const words[] = {"auto", "always", "never"};

    for (size_t i = 0; common.color && i < sizeof words / sizeof words[0]; i++)
        if (strcmp(common.color, words[i]) == 0) return;
    if (common.color)
        args_fail("--color must be auto, always or never, not \"%.*s\"", args_shown(common.color),
                  common.color);
}

const char **args_read(const struct usage *usage, int argc, const char **argv) {
    static const char *none[] = {NULL};
    const char **args;
    const char *empty;
    int answer;

    command_name = argv[0];
    snprintf(title, sizeof title, "%s%s", strncmp(command_name, "taskpool-", 9) == 0 ? "" : "taskpool ",
             command_name);
    argv[0] = title; /* what popt calls the program in its help */
    context = cli_must(poptGetContext(NULL, argc, argv, usage->options, 0));
    poptSetOtherOptionHelp(context, usage->arguments);
    answer = poptGetNextOpt(context);
    if (answer < -1) {
        const char *option = poptBadOption(context, POPT_BADOPTION_NOALIAS);

        if (answer == POPT_ERROR_BADOPT) refuse_option(usage, option);
        args_fail("%.*s: %s", args_shown(option), option, poptStrerror(answer));
    }
    check_color();
    if (common.help) {
        if (common.json)
            help_json(command_name, usage);
        else
            show_help(usage);
        cli_end(EXIT_DONE);
    }
    if (common.json && common.csv) args_fail("--json and --csv exclude each other");
    empty = find_empty(usage->options);
    if (empty) args_fail("the value of --%s is empty; give one, or leave the option out", empty);
    args = poptGetArgs(context);
    if (!args) args = none;
    check_count(usage, args);
    return args;
}

int args_shown(const char *text) {
    return (int)strcspn(text, "=");
}

void args_integer(const char *option, const char *text, int64_t least, int64_t most, int64_t *value) {
    if (text && !value_integer(text, least, most, value))
        args_fail("%s must be a whole number from %lld to %lld, not \"%.*s\"", option, (long long)least,
                  (long long)most, args_shown(text), text);
}

void args_duration(const char *option, const char *text, int64_t *ms) {
    if (text && !value_duration(text, ms))
        args_fail("%s must be a duration like 500ms 10s 5m 2h 1d, 36525d (100 years) at most, not \"%.*s\"",
                  option, args_shown(text), text);
}

void args_time(const char *option, const char *text, int64_t *ms) {
    if (text && !value_time(text, ms))
        args_fail("%s must be " TIME_WANTED ", not \"%.*s\"", option, args_shown(text), text);
}
