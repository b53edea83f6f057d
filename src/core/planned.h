/* The planned times of a rule whose closed days a calendar skips or moves. Pure, as cron.h and calendar.h.
 *
 * Times of the rule are taken in their order; each has a time at which it fires: its own on an open day, else
 * the same time of the clock on the business day before or after, or never. A time that would fire before one
 * that comes earlier in the rule fires with that one. Times of the rule that fire at one instant are one
 * planned time: a daily rule that moves Saturday's and Sunday's to Monday makes one task there, not three.
 *
 * What was dealt with is known by one number, the last time of the rule that was: whatever becomes of the
 * calendar, none up to it fires again, and each behind it fires once. */
#ifndef TPI_CORE_PLANNED_H
#define TPI_CORE_PLANNED_H

#include "core/calendar.h"
#include "core/cron.h"

struct tpi_planner {
    const struct tpi_cron_rule *rule; /* every and after: with TP_CLOSED_SKIP only */
    tpi_span_fn span;                 /* of the rule's zone, in which its days are; NULL: UTC */
    void *zone;
    const struct tpi_calendar *calendar;
    tp_closed closed;
};

struct tpi_planned {
    int64_t rule_ms; /* the last time of the rule that fires then */
    int64_t fire_ms;
    bool unknown; /* the calendar does not know the day: fire_ms is the rule's time, and nothing may fire */
};

/* The first instant at which clocks show a civil time (cron.h); of one that they leave out, the first after.
 */
int64_t tpi_instant_of(tpi_span_fn span, void *zone, int64_t civil);
/* The day that clocks show at an instant. */
int64_t tpi_day_of(tpi_span_fn span, void *zone, int64_t at);

/* The first time of the rule after this one that fires, not before fired_ms. TP_NONE: never again. */
tp_status tpi_planned_next(const struct tpi_planner *planner, int64_t rule_ms, int64_t fired_ms,
                           struct tpi_planned *planned);
/* The first planned time that fires after an instant, and *dealt_ms: the time of the rule up to which all
 * fire earlier, or nobody wants them any more. TP_NONE: never. */
tp_status tpi_planned_after(const struct tpi_planner *planner, int64_t after_ms, int64_t *dealt_ms,
                            struct tpi_planned *planned);
/* The planned times after this one of the rule that fire up to now: the latest of them, at most max, in
 * rising order. Gives how many. */
size_t tpi_planned_passed(const struct tpi_planner *planner, int64_t rule_ms, int64_t now_ms, size_t max,
                          struct tpi_planned *passed);

#endif
