/* taskpool check: says whether tasks that are due are taken, and what else the options ask for (alarms.c),
 * such as what the library finds in the rows (tp_check). taskpool fsm: the table of states. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "common/alarms.h"
#include "common/args.h"
#include "common/cells.h"
#include "common/escape.h"
#include "common/records.h"
#include "common/terminal.h"
#include "common/values.h"

enum { GRACE_MS = 120000, INDENT = 6 };

static char *grace, *max_age, *max_failed, *max_wait, *max_held, *anchor;
static char **need_worker;
static int rows, audit, nagios;

static struct poptOption options[] = {
    OPTION_TEXT("grace", '\0', &grace, "DURATION", "tasks that have been due for less are no alarm (2m)"),
    OPTION_TEXT("max-age", '\0', &max_age, "DURATION[,DURATION]",
                "how long a task may have been due; a warning above the first, critical above the second"),
    OPTION_TEXT("max-wait", '\0', &max_wait, "DURATION[,DURATION]",
                "how long 19 of 20 tasks of the last ten minutes may have waited for their start"),
    OPTION_TEXT("max-held", '\0', &max_held, "DURATION[,DURATION]",
                "how long a worker may hold a task; longer than any should run, and wait in its queue"),
    OPTION_TEXT("max-failed", '\0', &max_failed, "N[,N]", "how many tasks may be in the failed pool"),
    {"need-worker", '\0', POPT_ARG_ARGV, &need_worker, 0,
     "a living worker must take this handler's tasks, also while none is due; may be repeated", "HANDLER"},
    OPTION_FLAG("rows", '\0', &rows, "look at every row of all pools, too, which may take long"),
    OPTION_FLAG("audit", '\0', &audit, "read the whole chain of what people did, too"),
    OPTION_TEXT("anchor", '\0', &anchor, "ANCHOR",
                "with --audit: the chain must have the row of which taskpool audit --anchor told"),
    OPTION_FLAG("nagios", '\0', &nagios, "one line and the exit codes of a Nagios plugin"),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

static struct poptOption fsm_options[] = {
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage check_usage = {
    "",
    "Alarms when tasks are due and no living worker takes them, and when the pool is beyond the limits that\n"
    "the options set; changes nothing, and reads no history. A worker lives when it was heard of in the\n"
    "last minute. Paused handlers, failed tasks and requests that wait are notes: they wake nobody. With\n"
    "--rows it also looks whether every task is in one pool only and every row is legal for its pool; with\n"
    "--audit whether the record of what people did was changed, and whether people did what is not in it.\n"
    "Each line says ok, note (worth knowing), WARN or BAD, and what to do.\n"
    "Exit code 9: something is WARN or BAD. With --nagios 1: a warning, 2: critical, 3: could not be\n"
    "checked.\n",
    "  taskpool check --max-age 10m,1h --max-failed 100\n"
    "  taskpool check --nagios --need-worker pay\n"
    "  taskpool check --rows --json | jq -r 'select(.ok == false) | .remedy'\n",
    options,
    0,
    0,
};

const struct usage fsm_usage = {
    "",
    "Prints the table by which every state is decided; what no line names changes nothing. Needs no\n"
    "database.\n",
    "  taskpool fsm\n",
    fsm_options,
    0,
    0,
};

/* ---- Output -------------------------------------------------------------------------------------------- */

enum { LEVELS = ALARM_CRITICAL + 1, PLUGIN_FIRST = 3 };

/* What was found; a plugin's line is made of it at the end. */
struct report {
    enum alarm_level worst;
    int count[LEVELS];
    char text[LEVELS][2 * ALARM_TEXT_SIZE]; /* the first of each level */
};

static struct report found;

struct line {
    const char *check;
    const char *level;
    bool ok;
    int64_t count;
    const char *text, *remedy;
};

#define LINE(type, member) COLUMN_OF(type, struct line, member)
static const struct column columns[] = {
    {NULL, "check", LINE(TEXT, check)},
    {NULL, "ok", LINE(YES_NO, ok)},
    {NULL, "count", LINE(NUMBER, count)},
    {NULL, "text", LINE(TEXT, text)},
    {NULL, "remedy", LINE(TEXT, remedy)},
    {NULL, "level", LINE(TEXT, level)},
    COLUMNS_END,
};

/* On a terminal lines end at blanks, and those that follow begin below the text. */
static void print_text(const char *label, int indent, const char *text) {
    char *shown = cli_must(escape_text(text)), *at = shown;
    int room = terminal_width() - indent, used = cells_width(label);

    out_text("%s", label);
    for (size_t length; *at; at += length) {
        char *word;
        int width;

        length = strspn(at, " ");
        length += strcspn(at + length, " ");
        word = cli_must(strndup(at, length));
        width = cells_width(word);
        if (terminal_width() && used && used + width > room) {
            out_text("\n%*s%s", indent, "", word + strspn(word, " "));
            used = width - (int)strspn(word, " ");
        } else {
            out_text("%s", word);
            used += width;
        }
        free(word);
    }
    out_text("\n");
    free(shown);
}

static void print_line(const struct line *line, enum alarm_level level) {
    static const char *const marks[] = {"ok", "note", "WARN", "BAD"};
    static const enum tone tones[] = {TONE_GOOD, TONE_PLAIN, TONE_WARN, TONE_BAD};
    char label[64];

    if (common.json) {
        out_json(record_object(columns, line));
        return;
    }
    if (common.quiet && level <= ALARM_NOTE) return;
    out_text("%s%-4s%s  ", terminal_tone(tones[level]), marks[level], terminal_tone_end(tones[level]));
    snprintf(label, sizeof label, "%s: ", line->check);
    print_text(label, INDENT, line->text);
    if (!*line->remedy) return;
    out_text("%*s", INDENT, "");
    print_text("what to do: ", INDENT, line->remedy);
}

/* Somebody reads it on a telephone. */
static void note_for_plugin(enum alarm_level level, const char *text) {
    char *all = found.text[level];
    size_t used = strlen(all);

    if (level > found.worst) found.worst = level;
    if (found.count[level]++ >= PLUGIN_FIRST) return;
    snprintf(all + used, sizeof found.text[level] - used, "%s%.300s", used ? "; " : "", text);
}

static void add(enum alarm_level level, const char *check, int64_t count, const char *text,
                const char *remedy) {
    struct line line = {check, alarm_level_name(level), level <= ALARM_NOTE, count, text, remedy};

    note_for_plugin(level, text);
    if (!nagios) print_line(&line, level);
}

static void add_alarm(const struct alarm *alarm, void *arg) {
    (void)arg;
    add(alarm->level, alarm->name, alarm->count, alarm->text, alarm->remedy);
}

static void add_finding(const tp_finding *finding, void *arg) {
    enum alarm_level level = !finding->ok ? ALARM_CRITICAL : finding->count ? ALARM_NOTE : ALARM_OK;

    (void)arg;
    add(level, finding->name, finding->count, finding->text, finding->remedy);
}

/* ---- As a plugin --------------------------------------------------------------------------------------- */

/* A | begins the figures, and there is one line. */
static void print_plugin_line(const char *word, const char *text) {
    char *shown = cli_must(escape_text(text));

    for (char *at = shown; *at; at++)
        if (*at == '|') *at = '/';
    out_text("TASKPOOL %s: %s", word, shown);
    free(shown);
}

static int exit_of_plugin(enum cli_exit code, const char *text) {
    if (code == EXIT_DONE || code == EXIT_BAD)
        return found.worst == ALARM_CRITICAL ? 2 : found.worst == ALARM_WARNING ? 1 : 0;
    print_plugin_line("UNKNOWN", *text ? text : "it could not be checked");
    out_text("\n");
    return 3;
}

/* As warning;critical of the plugins' figures. */
static const char *limit_text(const struct alarm_limit *limit, int64_t unit, char text[64]) {
    text[0] = '\0';
    if (limit->given)
        snprintf(text, 64, ";%lld;%lld", (long long)(limit->warning / unit),
                 (long long)(limit->critical / unit));
    return text;
}

static void print_as_plugin(const struct figures *figures, const struct alarm_limits *limits) {
    static const char *const words[] = {"OK", "OK", "WARNING", "CRITICAL"};
    struct handler_figures sum = figures_sum(figures);
    char text[128], age[64], failed[64];
    int workers = 0;

    for (size_t i = 0; i < figures->worker_count; i++)
        workers += figures->workers[i].lives;
    snprintf(text, sizeof text, "%lld tasks are due, %lld of paused handlers wait, %lld failed, %d workers",
             (long long)sum.due, (long long)sum.paused_due, (long long)sum.failed, workers);
    print_plugin_line(words[found.worst], found.worst >= ALARM_WARNING ? found.text[found.worst] : text);
    if (found.worst >= ALARM_WARNING && found.count[found.worst] > PLUGIN_FIRST)
        out_text("; and %d more", found.count[found.worst] - PLUGIN_FIRST);
    out_text(" | due=%lld paused=%lld open=%lld age=%llds%s failed=%lld%s workers=%d\n", (long long)sum.due,
             (long long)sum.paused_due, (long long)figures_open(&sum),
             (long long)(figures_age(figures, &sum) / 1000), limit_text(&limits->age, 1000, age),
             (long long)sum.failed, limit_text(&limits->failed, 1, failed), workers);
}

/* ---- The command --------------------------------------------------------------------------------------- */

typedef void (*read_fn)(const char *option, const char *text, int64_t *value);

static void read_number(const char *option, const char *text, int64_t *value) {
    args_integer(option, text, 0, INT64_MAX, value);
}

/* One value is for critical; of two the first is for a warning. */
static void read_limit(const char *option, const char *text, read_fn read, struct alarm_limit *limit) {
    char first[64];
    const char *comma = text ? strchr(text, ',') : NULL;

    if (!text) return;
    limit->given = true;
    read(option, comma ? comma + 1 : text, &limit->critical);
    limit->warning = limit->critical;
    if (!comma) return;
    snprintf(first, sizeof first, "%.*s", (int)(comma - text), text);
    read(option, first, &limit->warning);
    if (limit->warning > limit->critical) args_fail("%s: the first value is larger than the second", option);
}

static enum cli_exit check_all(tp_conn *conn, const struct alarm_limits *limits) {
    struct figures figures = {0};
    tp_status status = figures_read(conn, &figures, need_worker);

    if (status == TP_OK && limits->held.given) status = figures_held(conn, &figures);
    if (status == TP_OK) alarms_each(&figures, limits, add_alarm, NULL);
    if (status == TP_OK && rows) status = tp_check(conn, add_finding, NULL, NULL);
    if (status == TP_OK && audit) status = tp_audit_check(conn, anchor, add_finding, NULL, NULL);
    if (status == TP_OK && nagios) print_as_plugin(&figures, limits);
    figures_free(&figures);
    if (status != TP_OK) return cli_fail_tp(status);
    return found.worst >= ALARM_WARNING ? EXIT_BAD : EXIT_DONE;
}

enum cli_exit check_command(const char **args) {
    struct alarm_limits limits = {.grace_ms = GRACE_MS, .need_worker = need_worker};

    (void)args;
    if (nagios) cli_exit_by(exit_of_plugin);
    if (anchor && !audit) args_fail("--anchor goes with --audit");
    if (nagios && common.json) args_fail("--nagios and --json exclude each other");
    args_duration("--grace", grace, &limits.grace_ms);
    read_limit("--max-age", max_age, args_duration, &limits.age);
    read_limit("--max-wait", max_wait, args_duration, &limits.wait);
    read_limit("--max-held", max_held, args_duration, &limits.held);
    read_limit("--max-failed", max_failed, read_number, &limits.failed);
    return check_all(args_connect(), &limits);
}

/* ---- fsm ----------------------------------------------------------------------------------------------- */

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
