/* The popt side of args.h. */
#include "args.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "values.h"

struct common_options common;

struct poptOption common_table[] = {
    OPTION_TEXT("dsn-file", '\0', &common.dsn_file, "FILE", "file with the ODBC connection string"),
    OPTION_TEXT(
        "dsn", '\0', &common.dsn, "STRING",
        "the connection string itself; for a moment everybody on this machine can see it in the process "
        "list, so with a password use --dsn-file or the variable TASKPOOL_DSN"),
    OPTION_FLAG("json", '\0', &common.json, "output for programs"),
    OPTION_FLAG("quiet", 'q', &common.quiet, "no progress, no summary"),
    OPTION_FLAG("help", 'h', &common.help, "this text"),
    POPT_TABLEEND,
};

static poptContext context; /* owns the arguments until the program ends */
static const char *command_name = "";

enum cli_exit args_fail(const char *format, ...) {
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return cli_fail(EXIT_USAGE, "%s; see taskpool %s --help", text, command_name);
}

static void show_help(const struct usage *usage) {
    out_text("%s\n", usage->about);
    /* popt writes to a FILE; what goes wrong there is seen when it is flushed. */
    fflush(stdout);
    poptPrintHelp(context, stdout, 0);
    out_text("\nExamples:\n%s", usage->examples);
}

static enum cli_exit tell_bad_option(int error) {
    const char *option = poptBadOption(context, POPT_BADOPTION_NOALIAS);

    return args_fail("%.*s: %s", args_shown(option), option, poptStrerror(error));
}

static bool count_arguments(const struct usage *usage, const char **args, enum cli_exit *code) {
    size_t count = 0;

    while (args[count])
        count++;
    if (count < usage->least)
        *code = args_fail("an argument is missing: taskpool %s %s", command_name, usage->arguments);
    else if (count > usage->most)
        *code = args_fail("too many arguments: %zu given, %zu taken at most", count, usage->most);
    else
        return true;
    return false;
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

bool args_read(const struct usage *usage, int argc, const char **argv, const char ***args,
               enum cli_exit *code) {
    static const char *none[] = {NULL};
    static char title[80];
    const char *empty;
    int answer;

    command_name = argv[0];
    snprintf(title, sizeof title, "taskpool %s", command_name);
    argv[0] = title; /* what popt calls the program in its help */
    context = poptGetContext(NULL, argc, argv, usage->options, 0);
    if (!context) {
        *code = cli_fail(EXIT_INTERNAL, "out of memory");
        return false;
    }
    poptSetOtherOptionHelp(context, usage->arguments);
    answer = poptGetNextOpt(context);
    if (answer < -1) {
        *code = tell_bad_option(answer);
        return false;
    }
    if (common.help) {
        show_help(usage);
        *code = EXIT_DONE;
        return false;
    }
    empty = find_empty(usage->options);
    if (empty) {
        *code = args_fail("the value of --%s is empty; give one, or leave the option out", empty);
        return false;
    }
    *args = poptGetArgs(context);
    if (!*args) *args = none;
    return count_arguments(usage, *args, code);
}

int args_shown(const char *text) {
    return (int)strcspn(text, "=");
}

bool args_integer(const char *option, const char *text, int64_t least, int64_t most, int64_t *value) {
    if (!text || value_integer(text, least, most, value)) return true;
    (void)args_fail("%s must be a whole number from %lld to %lld, not \"%.*s\"", option, (long long)least,
                    (long long)most, args_shown(text), text);
    return false;
}

bool args_duration(const char *option, const char *text, int64_t *ms) {
    if (!text || value_duration(text, ms)) return true;
    (void)args_fail("%s must be a duration like 500ms 10s 5m 2h 1d, 36525d (100 years) at most, not \"%.*s\"",
                    option, args_shown(text), text);
    return false;
}
