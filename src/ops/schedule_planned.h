/* The next planned time of a schedule, by its rule alone or by a calendar too, and how it is stored: without
 * a calendar as next_at, with one as fire_at, which libraries that know no calendars do not see. Read next:
 * schedule_times.h, core/planned.h. */
#ifndef TPI_OPS_SCHEDULE_PLANNED_H
#define TPI_OPS_SCHEDULE_PLANNED_H

#include "core/planned.h"
#include "ops/calendar.h"
#include "ops/schedule_times.h"

/* Stays where it is while it is open. */
struct tpi_planning {
    struct tpi_times times;
    const char *name; /* of the calendar; NULL: none, and the rest is not used */
    struct tpi_open_calendar calendar;
    struct tpi_planner planner;
};

struct tpi_next {
    int64_t at_ms;    /* 0: none */
    int64_t dealt_ms; /* with a calendar: the time of the rule that was dealt with; 0: none was */
    bool unknown;
};

/* Reads rule, time_zone, calendar and closed, and the calendar, whose name is to live as long. TP_MISUSE with
 * text: one of them cannot be read, or they do not go together. */
TP_CHECKED tp_status tpi_planning_open(tp_conn *conn, const tp_schedule *schedule,
                                       struct tpi_planning *planning);
void tpi_planning_close(struct tpi_planning *planning);
/* The first planned time after now; of what was dealt with already (next->dealt_ms) nothing. TP_NONE: never,
 * and next is as it was. */
TP_CHECKED tp_status tpi_planning_begin(struct tpi_planning *planning, int64_t now_ms, struct tpi_next *next);
/* The parameters of the statements that store it. */
void tpi_planning_args(const struct tpi_planning *planning, const struct tpi_next *next,
                       struct tpi_args *args);
/* TP_MISUSE: the calendar does not know whether it is open then. */
TP_CHECKED tp_status tpi_planning_unknown(const struct tpi_planning *planning, int64_t at_ms);

#endif
