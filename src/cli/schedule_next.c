/* taskpool schedule next: planned times of a rule, or of a schedule in the database, in UTC and in the zone.
 */
#include "schedule.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clocks.h"
#include "common/pool_columns.h"
#include "common/values.h"

tp_closed schedule_closed(const struct schedule_options *given) {
    for (size_t i = 0; i < CLOSED_NAMES && given->closed; i++)
        if (strcmp(given->closed, schedule_closed_names[i]) == 0) {
            if (!given->calendar) args_fail("--closed goes with --calendar");
            return (tp_closed)i;
        }
    if (given->closed)
        args_fail("--closed must be skip, before or after, not \"%.*s\"", args_shown(given->closed),
                  given->closed);
    return TP_CLOSED_SKIP;
}

struct wanted {
    const char *name;                  /* of a schedule in the database; NULL: of a rule */
    char *rule, *time_zone, *calendar; /* "": none */
    tp_closed closed;
    int64_t after_ms;
    bool found, paused, waits;
};

static void copy_if_wanted(const tp_schedule *schedule, void *arg) {
    struct wanted *wanted = arg;

    if (strcmp(schedule->name, wanted->name) != 0) return;
    wanted->found = true;
    wanted->paused = schedule->paused;
    wanted->waits = schedule->next_at == 0;
    wanted->rule = cli_must(strdup(schedule->rule));
    wanted->time_zone = cli_must(strdup(schedule->time_zone));
    wanted->calendar = cli_must(strdup(schedule->calendar));
    wanted->closed = schedule->closed;
    wanted->after_ms = schedule->next_at;
}

static enum cli_exit find(struct wanted *wanted) {
    tp_status status = tp_schedule_each(args_connect(), copy_if_wanted, wanted);

    if (status < 0) return cli_fail_tp(status);
    if (!wanted->found)
        return cli_fail(EXIT_NOTHING, "no schedule has the name %s; see taskpool schedule list",
                        wanted->name);
    if (wanted->paused) return cli_fail(EXIT_NOTHING, "%s is paused", wanted->name);
    if (wanted->waits)
        return cli_fail(EXIT_NOTHING,
                        "%s has no planned time: its rule is at its end, or its last task is open",
                        wanted->name);
    return EXIT_DONE;
}

/* 2026-03-29T03:00:00+02:00, by the zone that TZ names. */
static const char *local_text(int64_t ms, char text[TIME_TEXT_SIZE]) {
    time_t seconds = (time_t)(ms / 1000);
    char day[TIME_TEXT_SIZE / 2], zone[8];
    struct tm tm;

    if (!localtime_r(&seconds, &tm) || strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm) == 0 ||
        strftime(zone, sizeof zone, "%z", &tm) != 5)
        return "-";
    snprintf(text, TIME_TEXT_SIZE, "%s%.3s:%s", day, zone, zone + 3);
    return text;
}

static void show_time(int64_t ms) {
    char utc[TIME_TEXT_SIZE], local[TIME_TEXT_SIZE];

    if (common.json)
        out_members(MEMBERS(MEMBER_NUMBER("at", ms), MEMBER_TEXT("local", local_text(ms, local))));
    else
        out_text("%s  %s\n", value_time_text(ms, utc), local_text(ms, local));
}

static tp_status next_time(const struct wanted *wanted, int64_t *at) {
    tp_schedule schedule = TP_SCHEDULE_INIT;

    if (!*wanted->calendar) return tp_schedule_next(wanted->rule, wanted->time_zone, *at, at);
    schedule.rule = wanted->rule;
    schedule.time_zone = wanted->time_zone;
    schedule.calendar = wanted->calendar;
    schedule.closed = wanted->closed;
    return tp_schedule_planned(args_connect(), &schedule, *at, at);
}

/* The first of a schedule in the database is its own planned time, which may have passed already. */
static enum cli_exit show_times(const struct wanted *wanted, int64_t count) {
    int64_t at = wanted->after_ms;
    tp_status status = TP_OK;

    for (int64_t shown = 0; shown < count && !out_failed(); shown++) {
        if (shown || !wanted->name) status = next_time(wanted, &at);
        if (status == TP_NONE && shown == 0)
            return cli_fail(EXIT_NOTHING, "the rule \"%s\" has no planned time after that", wanted->rule);
        if (status != TP_OK) return status < 0 ? cli_fail_tp(status) : EXIT_DONE;
        show_time(at);
    }
    return EXIT_DONE;
}

/* The program's own zone: localtime is to speak the rule's. */
static void set_zone(const char *name) {
    setenv("TZ", name && *name ? name : "UTC", 1);
    tzset();
}

enum cli_exit schedule_next(const struct schedule_options *options, const char *name) {
    struct wanted wanted = {.name = name, .after_ms = clock_utc_ms()};
    int64_t count = 5;
    enum cli_exit code = EXIT_DONE;

    if (!name == !options->rule) args_fail("next takes the NAME of a schedule, or --rule");
    if (name && (options->after || options->time_zone || options->calendar || options->closed))
        args_fail("--after, --time-zone, --calendar and --closed go with --rule; a schedule has its own");
    wanted.closed = schedule_closed(options);
    args_integer("--count", options->count, 1, 100000, &count);
    args_time("--after", options->after, &wanted.after_ms);
    if (name) {
        code = find(&wanted);
    } else {
        wanted.rule = cli_must(strdup(options->rule));
        if (options->time_zone) wanted.time_zone = cli_must(strdup(options->time_zone));
        wanted.calendar = cli_must(strdup(options->calendar ? options->calendar : ""));
    }
    if (code == EXIT_DONE) {
        set_zone(wanted.time_zone);
        code = show_times(&wanted, count);
    }
    free(wanted.rule);
    free(wanted.time_zone);
    free(wanted.calendar);
    return code;
}
