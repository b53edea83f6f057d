/* See alarms.h. An alarm that is wrong wakes somebody for nothing: where it is not known whether a task is
 * taken by somebody, there is none. */
#include "alarms.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "out.h"
#include "values.h"

/* Hands what one check finds to see. */
struct reporter {
    const struct figures *figures;
    const struct alarm_limits *limits;
    alarm_fn see;
    void *arg;
    int found;                             /* by the check at hand */
    const struct handler_figures *handler; /* that is looked at; NULL: all together */
    int64_t age_ms;                        /* of what is looked at, where it is no handler */
};

const char *alarm_level_name(enum alarm_level level) {
    static const char *const names[] = {"ok", "note", "warning", "critical"};

    return names[level];
}

PRINTF_LIKE(6, 7)
static void report(struct reporter *reporter, const char *name, enum alarm_level level, int64_t count,
                   const char *remedy, const char *format, ...) {
    struct alarm alarm = {.name = name, .level = level, .count = count, .age_ms = reporter->age_ms};
    va_list args;

    if (reporter->handler) {
        alarm.handler = reporter->handler->name;
        alarm.age_ms = figures_age(reporter->figures, reporter->handler);
    }

    va_start(args, format);
    vsnprintf(alarm.text, sizeof alarm.text, format, args);
    va_end(args);
    snprintf(alarm.remedy, sizeof alarm.remedy, "%s", remedy);
    reporter->found++;
    reporter->see(&alarm, reporter->arg);
}

static void report_nothing(struct reporter *reporter, const char *name, const char *text) {
    reporter->handler = NULL;
    if (!reporter->found) report(reporter, name, ALARM_OK, 0, "", "%s", text);
    reporter->found = 0;
}

static enum alarm_level judge(const struct alarm_limit *limit, int64_t value) {
    if (value > limit->critical) return ALARM_CRITICAL;
    return value > limit->warning ? ALARM_WARNING : ALARM_OK;
}

/* ---- The checks ---------------------------------------------------------------------------------------- */

static void check_handler(struct reporter *reporter, const struct handler_figures *handler) {
    int64_t age = figures_age(reporter->figures, handler);
    char time[TIME_TEXT_SIZE], remedy[ALARM_TEXT_SIZE];
    long long due = (long long)handler->due;

    reporter->handler = handler;
    value_age_text(age, time);
    if (handler->paused_since || age <= reporter->limits->grace_ms) return;
    if (!handler->workers && !handler->maybe_workers && figures_in_progress(handler) > 0) {
        /* Programs that claim without a tp_worker have no row; but what they hold is seen. */
        report(reporter, "workers", ALARM_NOTE, handler->due, "",
               "%s: no worker has a row, and %lld tasks are due, the first for %s; but somebody holds %lld",
               handler->name, due, time, (long long)figures_in_progress(handler));
    } else if (!handler->workers && !handler->maybe_workers) {
        snprintf(remedy, sizeof remedy,
                 "start a worker for %s; taskpool workers --all shows which there were", handler->name);
        report(reporter, "workers", ALARM_CRITICAL, handler->due, remedy,
               "%s: no living worker, and %lld tasks are due, the first for %s", handler->name, due, time);
    }
}

/* It is why nothing happens, and somebody may have forgotten it. */
static void note_paused(struct reporter *reporter, const struct handler_figures *handler) {
    char time[TIME_TEXT_SIZE], remedy[ALARM_TEXT_SIZE], due[ALARM_TEXT_SIZE];

    reporter->handler = handler;
    if (handler->due)
        snprintf(due, sizeof due, "%lld of its tasks are due, the first for %s", (long long)handler->due,
                 value_age_text(figures_age(reporter->figures, handler), time));
    else
        snprintf(due, sizeof due, "none of its tasks is due");
    snprintf(remedy, sizeof remedy, "when it may go on: taskpool resume %s", handler->name);
    report(reporter, "paused", ALARM_NOTE, handler->due, remedy, "%s is paused by %s: %.200s", handler->name,
           *handler->paused_by ? handler->paused_by : "somebody", due);
}

/* A task that is due for less than the grace may have none. */
static void say_all_have_workers(struct reporter *reporter, bool paused) {
    char text[ALARM_TEXT_SIZE], grace[TIME_TEXT_SIZE], since[ALARM_TEXT_SIZE] = "are due";

    if (reporter->limits->grace_ms > 0)
        snprintf(since, sizeof since, "have been due for more than %s",
                 value_age_text(reporter->limits->grace_ms, grace));
    snprintf(text, sizeof text, "all tasks that %.100s have a worker%s", since,
             paused ? ", or are of a paused handler" : "");
    report_nothing(reporter, "workers", text);
}

static void check_workers(struct reporter *reporter) {
    const struct figures *figures = reporter->figures;

    for (size_t i = 0; i < figures->handler_count; i++)
        check_handler(reporter, &figures->handlers[i]);
    say_all_have_workers(reporter, figures_sum(figures).paused_due > 0);
    for (size_t i = 0; i < figures->handler_count; i++)
        if (figures->handlers[i].paused_since) note_paused(reporter, &figures->handlers[i]);
    reporter->handler = NULL;
    reporter->found = 0;
}

/* Paused handlers wait because somebody said so. */
static void check_age(struct reporter *reporter) {
    const struct figures *figures = reporter->figures;
    char time[TIME_TEXT_SIZE];

    for (size_t i = 0; i < figures->handler_count; i++) {
        const struct handler_figures *handler = &figures->handlers[i];
        int64_t age = figures_age(figures, handler);
        enum alarm_level level = judge(&reporter->limits->age, age);

        if (level == ALARM_OK || handler->paused_since) continue;
        reporter->handler = handler;
        report(reporter, "age", level, handler->due,
               "taskpool top shows whether workers keep up; start more, or look at what holds them up",
               "%s: the first of %lld due tasks has waited for %s", handler->name, (long long)handler->due,
               value_age_text(age, time));
    }
    report_nothing(reporter, "age", "no task has been due for too long");
}

/* What was handled lately, and had waited too long for it: too few workers, or too slow ones. */
static void check_wait(struct reporter *reporter) {
    char time[TIME_TEXT_SIZE];

    for (size_t i = 0; i < reporter->figures->handler_count; i++) {
        const struct handler_figures *handler = &reporter->figures->handlers[i];
        int64_t wait = figures_quantile(&handler->wait, 0.95);
        enum alarm_level level = judge(&reporter->limits->wait, wait);

        if (level == ALARM_OK) continue;
        reporter->handler = handler;
        report(reporter, "wait", level, figures_timed(&handler->wait),
               "taskpool top shows whether workers keep up; start more, or look at what holds them up",
               "%s: one of 20 tasks of the last ten minutes waited up to %s or longer", handler->name,
               value_age_text(wait, time));
    }
    report_nothing(reporter, "wait", "tasks did not wait for too long");
}

/* Whoever hangs extends its lease, and no other check sees it: neither does what waits in its worker's queue
 * count as due. */
static void check_held(struct reporter *reporter) {
    const struct figures *figures = reporter->figures;
    char time[TIME_TEXT_SIZE], remedy[ALARM_TEXT_SIZE];

    for (size_t i = 0; i < figures->handler_count; i++) {
        const struct handler_figures *handler = &figures->handlers[i];
        int64_t age = figures_held_age(figures, handler);
        enum alarm_level level = judge(&reporter->limits->held, age);

        if (level == ALARM_OK) continue;
        reporter->handler = handler;
        snprintf(remedy, sizeof remedy,
                 "look at its program there; if it hangs, end it, or: taskpool release --id %s",
                 handler->held.task);
        report(reporter, "held", level, 1, remedy, "%s: %s has held %s for %s", handler->name,
               handler->held.worker, handler->held.task, value_age_text(age, time));
    }
    report_nothing(reporter, "held", "no worker has held a task for too long");
}

static void check_failed(struct reporter *reporter) {
    const struct handler_figures *most = NULL;
    int64_t failed = figures_sum(reporter->figures).failed;
    enum alarm_level level =
        reporter->limits->failed.given ? judge(&reporter->limits->failed, failed) : ALARM_OK;

    for (size_t i = 0; i < reporter->figures->handler_count; i++)
        if (!most || reporter->figures->handlers[i].failed > most->failed)
            most = &reporter->figures->handlers[i];
    reporter->handler = most;
    if (failed)
        report(reporter, "failed", level == ALARM_OK ? ALARM_NOTE : level, failed,
               "taskpool failures shows why; then retry them or skip them",
               "%lld tasks are in the failed pool, most of them of %s (%lld)", (long long)failed,
               most ? most->name : "-", (long long)(most ? most->failed : 0));
    report_nothing(reporter, "failed", "the failed pool is empty");
}

/* Nobody else tells the second person. */
static void note_requests(struct reporter *reporter) {
    static const char remedy[] =
        "taskpool requests shows them; another person than who asked: taskpool approve, or refuse";
    const struct figures *figures = reporter->figures;
    char time[TIME_TEXT_SIZE];

    reporter->age_ms = figures_request_age(figures);
    if (figures->requests == 1)
        report(reporter, "requests", ALARM_NOTE, 1, remedy, "1 request has waited for a second person for %s",
               value_age_text(reporter->age_ms, time));
    else if (figures->requests)
        report(reporter, "requests", ALARM_NOTE, figures->requests, remedy,
               "%lld requests wait for a second person, the first for %s", (long long)figures->requests,
               value_age_text(reporter->age_ms, time));
    reporter->age_ms = 0;
    reporter->found = 0;
}

static const struct handler_figures *find(const struct figures *figures, const char *name) {
    for (size_t i = 0; i < figures->handler_count; i++)
        if (strcmp(figures->handlers[i].name, name) == 0) return &figures->handlers[i];
    return NULL;
}

static void check_needed(struct reporter *reporter, char *const *names) {
    for (; *names; names++) {
        const struct handler_figures *handler = find(reporter->figures, *names);

        if (handler && (handler->workers || handler->maybe_workers)) continue;
        report(reporter, "need-worker", ALARM_CRITICAL, 0, "start one; taskpool workers shows who is there",
               "no living worker takes tasks of %s", *names);
    }
    report_nothing(reporter, "need-worker", "the handlers that must have a worker have one");
}

void alarms_each(const struct figures *figures, const struct alarm_limits *limits, alarm_fn see, void *arg) {
    struct reporter reporter = {.figures = figures, .limits = limits, .see = see, .arg = arg};

    check_workers(&reporter);
    if (limits->age.given) check_age(&reporter);
    if (limits->wait.given) check_wait(&reporter);
    if (limits->held.given) check_held(&reporter);
    check_failed(&reporter);
    note_requests(&reporter);
    if (limits->need_worker) check_needed(&reporter, limits->need_worker);
}
