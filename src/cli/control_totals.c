/* taskpool control-totals: which tasks are of a business day, what their totals are held against, and what
 * the answer is. Read next: totals.h, totals_record.h. */
/* For mktime in a zone of ours, and getline. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/args.h"
#include "common/listing.h"
#include "totals_record.h"

static struct { char *day, *zone, *handler, *amount, *expect, *command, *report, *verify; } options;

static struct poptOption table[] = {
    OPTION_TEXT("day", '\0', &options.day, "DAY", "tasks that came in on this day, like 2026-11-24"),
    OPTION_TEXT("time-zone", '\0', &options.zone, "ZONE",
                "in which the day begins and ends (UTC), like Europe/Berlin"),
    OPTION_TEXT("handler", '\0', &options.handler, "NAME", "tasks of one handler"),
    OPTION_TEXT("amount", '\0', &options.amount, "POINTER",
                "add up this number in params, by a JSON pointer like /amount"),
    OPTION_TEXT("expect", '\0', &options.expect, "FILE|-",
                "what must have come in: lines of HANDLER COUNT [SUM]"),
    OPTION_TEXT("expect-command", '\0', &options.command, "COMMAND",
                "the same from what this command of the shell prints"),
    OPTION_TEXT("report", '\0', &options.report, "FILE", "write the totals to this file, as JSON"),
    OPTION_TEXT("verify", '\0', &options.verify, "FILE",
                "add up again what this report is of, and say what changed"),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage control_totals_usage = {
    "",
    "Adds up the tasks that came in on a day, by handler, and what became of them: came = done + skipped\n"
    "+ failed + open. With --amount also the sums of a number in their params, exactly. --expect holds\n"
    "them against the application's own query, --verify against an earlier report.\n"
    "Exit code 12: they differ, or a task has no such number.\n",
    "  taskpool control-totals --day 2026-11-24 --time-zone Europe/Berlin --amount /amount\n"
    "  taskpool control-totals --day 2026-11-24 --amount /amount --expect-command ./query.sh\n"
    "  taskpool control-totals --day 2026-11-24 --amount /amount --report 2026-11-24.json\n"
    "  taskpool control-totals --verify 2026-11-24.json\n",
    table,
    0,
    0,
};

/* ---- The day ------------------------------------------------------------------------------------------- */

/* Midnight at which a day begins in the zone that TZ names. Where clocks leave it out, the first moment. */
static int64_t beginning_of(struct tm day) {
    day.tm_isdst = -1;
    return (int64_t)mktime(&day) * 1000;
}

/* Zones are read by mktime; the library says which there are. */
static void check_zone(const char *zone) {
    int64_t midnight = 0;
    tp_status status = tp_schedule_next("0 0 * * *", zone, 0, &midnight);
    if (status < 0) args_fail("%s", tp_last_error()->text);
}

/* 2026-11-24, in its numbers. */
static bool read_date(const char *text, struct tm *day) {
    static const char form[] = "dddd-dd-dd";
    int number[3] = {0};
    size_t part = 0;
    for (size_t i = 0; i < sizeof form; i++) {
        if (form[i] == 'd' ? !isdigit((unsigned char)text[i]) : text[i] != form[i]) return false;
        if (form[i] == 'd')
            number[part] = number[part] * 10 + (text[i] - '0');
        else
            part++;
    }
    day->tm_year = number[0];
    day->tm_mon = number[1];
    day->tm_mday = number[2];
    return number[0] >= 1970 && number[1] >= 1 && number[2] >= 1;
}

static void find_day(struct totals_of *of) {
    struct tm day = {0}, next;
    if (!read_date(options.day, &day))
        args_fail("--day must be a day like 2026-11-24, not \"%.*s\"", args_shown(options.day), options.day);
    day.tm_year -= 1900;
    day.tm_mon -= 1;
    next = day;
    next.tm_mday += 1;
    snprintf(of->zone, sizeof of->zone, "%s", options.zone ? options.zone : "UTC");
    check_zone(of->zone);
    if (setenv("TZ", of->zone, 1) != 0) cli_must(NULL);
    tzset();
    struct tm same = day;
    of->from = beginning_of(day);
    (void)mktime(&same);
    if (same.tm_mday != day.tm_mday || same.tm_mon != day.tm_mon)
        args_fail("--day: there is no %s in the calendar", options.day);
    of->until = beginning_of(next);
    snprintf(of->day, sizeof of->day, "%s", options.day);
}

static void copy_option(const char *option, const char *text, char *out, size_t size) {
    if (text && snprintf(out, size, "%s", text) >= (int)size)
        args_fail("the value of %s is too long", option);
}

static void read_options(struct totals_of *of) {
    if (!options.day) args_fail("--day is missing; it says of which day, like --day 2026-11-24");
    if (options.amount && options.amount[0] != '/')
        args_fail("--amount must be a JSON pointer, which begins with a /, like /amount");
    copy_option("--handler", options.handler, of->handler, sizeof of->handler);
    copy_option("--amount", options.amount, of->pointer, sizeof of->pointer);
    if (options.expect && options.command) args_fail("--expect or --expect-command, not both");
    find_day(of);
}

/* ---- Adding up ----------------------------------------------------------------------------------------- */

static void add(const tp_created *task, void *arg) {
    totals_add(arg, task);
}

static enum cli_exit add_up(const struct totals_of *of, struct totals *totals) {
    totals->pointer = of->pointer[0] ? of->pointer : NULL;
    tp_status status = tp_created_each(args_connect(), of->from, of->until,
                                       of->handler[0] ? of->handler : NULL, add, totals);
    if (status < 0) return cli_fail_tp(status);
    if (totals->too_long) return cli_fail(EXIT_INPUT, "a sum has more than 18 digits before the point");
    totals_sort(totals);
    return EXIT_DONE;
}

/* Whether each task has the number. */
static enum cli_exit judge_unread(const struct totals *totals) {
    if (!totals->unread) return EXIT_DONE;
    return cli_fail(EXIT_TOTALS,
                    "%" PRId64 " tasks have no number at %s in their params, and are in no sum; one of them: "
                    "taskpool show %s",
                    totals->unread, totals->pointer, totals->first_unread);
}

/* ---- The application's own query ----------------------------------------------------------------------- */

/* HANDLER COUNT [SUM] */
static bool expect_line(char *line, struct totals *expected) {
    char *rest = NULL, *name = strtok_r(line, " \t\r\n|", &rest), *count = strtok_r(NULL, " \t\r\n|", &rest),
         *sum = strtok_r(NULL, " \t\r\n|", &rest), *more = strtok_r(NULL, " \t\r\n|", &rest);
    struct decimal number;
    if (!name || name[0] == '#') return true;
    if (!count || more || strlen(name) > TP_HANDLER_MAX || totals_find(expected, name)) return false;
    if (!decimal_read(count, &number) || number.digits || number.whole < 0) return false;
    if ((sum != NULL) != (expected->pointer != NULL)) return false;
    struct handler_totals *handler = totals_new(expected, name);
    handler->of[FATE_CAME].count = number.whole;
    return !sum || decimal_read(sum, &handler->of[FATE_CAME].sum);
}

static enum cli_exit read_lines(FILE *in, const char *name, struct totals *expected) {
    char *line = NULL;
    size_t room = 0, number = 0;
    enum cli_exit code = EXIT_DONE;
    while (code == EXIT_DONE && getline(&line, &room, in) >= 0) {
        number++;
        if (!expect_line(line, expected))
            code = cli_fail(EXIT_INPUT, "%s, line %zu is not HANDLER COUNT%s, or names a handler again", name,
                            number, expected->pointer ? " SUM" : ", or has a sum without --amount");
    }
    if (code == EXIT_DONE && ferror(in))
        code = cli_fail(EXIT_IO, "%s cannot be read: %s", name, strerror(errno));
    free(line);
    return code;
}

/* SIGPIPE, which we ignore, ends it as it ends any program: nobody reads on behind a bad line. */
static int spawn_shell(char *const *arguments, int out, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t fresh;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        (void)sigemptyset(&fresh);
        (void)sigaddset(&fresh, SIGPIPE);
        error = posix_spawnattr_setsigdefault(&attributes, &fresh);
        if (!error) error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
        if (!error) error = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
        if (!error) error = posix_spawn(child, "/bin/sh", &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Runs it by the shell; NULL with errno. What it prints is to be read. */
static FILE *start_command(const char *command, pid_t *child) {
    char *const arguments[] = {"sh", "-c", (char *)command, NULL};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return NULL;
    int error = spawn_shell(arguments, ends[1], child);
    close(ends[1]);
    FILE *out = error ? NULL : fdopen(ends[0], "r");
    if (out) return out;
    close(ends[0]);
    if (error) errno = error;
    return NULL;
}

/* A command that fails has not said what is expected. */
static enum cli_exit read_command(struct totals *expected) {
    pid_t child = 0;
    int status = 0;
    FILE *in = start_command(options.command, &child);
    if (!in) return cli_fail(EXIT_IO, "--expect-command cannot be run: %s", strerror(errno));
    enum cli_exit code = read_lines(in, "--expect-command", expected);
    fclose(in);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (code != EXIT_DONE || status == 0) return code;
    return cli_fail(EXIT_IO, "--expect-command %s %d; nothing was compared",
                    WIFEXITED(status) ? "ended with exit code" : "was ended by signal",
                    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

static enum cli_exit read_expected(struct totals *expected) {
    if (options.command) return read_command(expected);
    bool from_input = strcmp(options.expect, "-") == 0;
    FILE *in = from_input ? stdin : fopen(options.expect, "re");
    if (!in) return cli_fail(EXIT_IO, "%s cannot be read: %s", options.expect, strerror(errno));
    enum cli_exit code = read_lines(in, from_input ? "--expect" : options.expect, expected);
    if (!from_input) fclose(in);
    return code;
}

static enum cli_exit compare_expected(const struct totals *expected, const struct totals *totals) {
    static const enum fate came[] = {FATE_CAME};
    size_t found = totals_compare(expected, totals, "expected", "came in", came, 1);
    return found ? cli_fail(EXIT_TOTALS, "%zu totals differ from what is expected", found) : EXIT_DONE;
}

/* ---- Showing ------------------------------------------------------------------------------------------- */

struct line {
    const char *handler, *fate, *sum;
    int64_t count;
};
#define LINE(type, member) COLUMN_OF(type, struct line, member)
static const struct column columns[] = {
    {"HANDLER", NULL, LINE(TEXT, handler)},
    {"WHAT", NULL, LINE(TEXT, fate)},
    {"COUNT", NULL, LINE(NUMBER, count)},
    {"SUM", NULL, LINE(TEXT, sum)},
    COLUMNS_END,
};

static void show(const struct totals_of *of, const struct totals *totals) {
    if (common.json) {
        out_json(totals_record(of, totals));
        return;
    }
    struct listing *lines = listing_open(columns);
    for (size_t i = 0; i < totals->count; i++)
        for (int fate = 0; fate < FATE_COUNT; fate++) {
            char sum[DECIMAL_TEXT_SIZE];
            const struct handler_totals *handler = &totals->handlers[i];
            struct line line = {
                .handler = handler->handler, .fate = fate_keys[fate], .count = handler->of[fate].count};
            if (totals->pointer) line.sum = decimal_text(&handler->of[fate].sum, sum);
            listing_add(lines, &line);
        }
    listing_print(lines);
    listing_free(lines);
}

/* ---- The command --------------------------------------------------------------------------------------- */

/* The first that is no success, by what weighs most. */
static enum cli_exit first_of(enum cli_exit one, enum cli_exit other) {
    return one != EXIT_DONE ? one : other;
}

static enum cli_exit verify(void) {
    static const enum fate all[] = {FATE_CAME, FATE_DONE, FATE_SKIPPED, FATE_FAILED, FATE_OPEN};
    struct totals_of of = {0};
    struct totals was = {0}, is = {0};
    enum cli_exit code = totals_record_read(options.verify, &of, &was);
    if (code == EXIT_DONE) code = add_up(&of, &is);
    if (code == EXIT_DONE) {
        show(&of, &is);
        size_t found = totals_compare(&was, &is, "the report has", "now there are", all, FATE_COUNT);
        if (found)
            code = cli_fail(EXIT_TOTALS, "%zu totals changed since %s was written", found, options.verify);
        code = first_of(code, judge_unread(&is));
    }
    totals_free(&was);
    totals_free(&is);
    return code;
}

static enum cli_exit take_totals(void) {
    struct totals_of of = {0};
    struct totals totals = {0}, expected = {0};
    read_options(&of);
    expected.pointer = of.pointer[0] ? of.pointer : NULL;
    const bool expects = options.expect || options.command;
    enum cli_exit code = expects ? read_expected(&expected) : EXIT_DONE;
    if (code == EXIT_DONE) code = add_up(&of, &totals);
    if (code == EXIT_DONE) {
        show(&of, &totals);
        if (expects) code = compare_expected(&expected, &totals);
        code = first_of(code, judge_unread(&totals));
        if (options.report)
            code = first_of(totals_record_write(totals_record(&of, &totals), options.report), code);
    }
    totals_free(&totals);
    totals_free(&expected);
    return code;
}

enum cli_exit control_totals_command(const char **args) {
    (void)args;
    if (!options.verify) return take_totals();
    if (options.day || options.zone || options.handler || options.amount || options.expect ||
        options.command || options.report)
        args_fail("--verify takes all else from the report; leave the other options out");
    return verify();
}
