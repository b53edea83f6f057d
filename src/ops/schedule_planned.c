/* See schedule_planned.h. */
#include "ops/schedule_planned.h"

#include "base/error.h"
#include "core/date.h"

tp_status tpi_planning_open(tp_conn *conn, const tp_schedule *schedule, struct tpi_planning *planning) {
    bool given = schedule->calendar && *schedule->calendar;
    *planning = (struct tpi_planning){0};
    if (!given && schedule->closed != TP_CLOSED_SKIP)
        return tpi_error(TP_MISUSE, "closed days need a calendar");
    tp_status status = given ? tpi_check_calendar_name(schedule->calendar) : TP_OK;
    if (status == TP_OK) status = tpi_times_open(schedule->rule, schedule->time_zone, &planning->times);
    if (status == TP_OK && planning->times.rule.kind != TPI_RULE_CRON && schedule->closed != TP_CLOSED_SKIP)
        status = tpi_error(TP_MISUSE,
                           "the rule \"%s\" names no times of a day, so its planned times can be skipped on "
                           "closed days but not moved",
                           schedule->rule);
    if (status == TP_OK && given) status = tpi_calendar_open(conn, schedule->calendar, &planning->calendar);
    if (status != TP_OK) {
        tpi_planning_close(planning);
        return status;
    }
    planning->name = given ? schedule->calendar : NULL;
    planning->planner = (struct tpi_planner){.rule = &planning->times.rule,
                                             .span = planning->times.zone ? tpi_times_span : NULL,
                                             .zone = planning->times.zone,
                                             .calendar = &planning->calendar.core,
                                             .closed = schedule->closed};
    return TP_OK;
}

void tpi_planning_close(struct tpi_planning *planning) {
    tpi_times_close(&planning->times);
    tpi_calendar_close(&planning->calendar);
}

tp_status tpi_planning_begin(struct tpi_planning *planning, int64_t now_ms, struct tpi_next *next) {
    struct tpi_planned planned = {0};
    int64_t dealt = 0;
    if (!planning->name) return tpi_times_next(&planning->times, now_ms, &next->at_ms);
    tp_status status = tpi_planned_after(&planning->planner, now_ms, &dealt, &planned);
    if (status == TP_OK && next->dealt_ms > dealt) {
        dealt = next->dealt_ms;
        status = tpi_planned_next(&planning->planner, dealt, INT64_MIN, &planned);
    }
    if (status == TP_OK) *next = (struct tpi_next){planned.fire_ms, dealt, planned.unknown};
    return status;
}

void tpi_planning_args(const struct tpi_planning *planning, const struct tpi_next *next,
                       struct tpi_args *args) {
    if (next->at_ms) tpi_args_number(args, planning->name ? TPI_P_fire_at : TPI_P_next_at, next->at_ms);
    if (!planning->name) return;
    if (next->dealt_ms) tpi_args_number(args, TPI_P_rule_at, next->dealt_ms);
    tpi_args_text(args, TPI_P_version, planning->calendar.version);
}

tp_status tpi_planning_unknown(const struct tpi_planning *planning, int64_t at_ms) {
    char day[TPI_DATE_SIZE], last[TPI_DATE_SIZE];
    tpi_date_text(tpi_day_of(planning->planner.span, planning->planner.zone, tpi_floor_div(at_ms, 1000)),
                  day);
    tpi_date_text(planning->calendar.core.last, last);
    return tpi_error(
        TP_MISUSE,
        "calendar %s does not know which days are open from %s on, it ends at %s; import it with "
        "more days",
        planning->name, day, last);
}

tp_status tp_schedule_planned(tp_conn *conn, const tp_schedule *given, int64_t after_ms, int64_t *next_ms) {
    tp_schedule schedule;
    struct tpi_planning planning;
    struct tpi_next next = {0};
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!given || !next_ms) return tpi_error(TP_MISUSE, "tp_schedule_planned: schedule or next_ms is NULL");
    if (after_ms < -TP_TIME_MAX || after_ms > TP_TIME_MAX)
        return tpi_error(TP_MISUSE, "the time is later than the year 9999");
    status = tpi_read_sized(TPI_SIZED_schedule, given, &schedule);
    if (status == TP_OK) status = tpi_planning_open(conn, &schedule, &planning);
    if (status != TP_OK) return status;
    status = tpi_planning_begin(&planning, after_ms, &next);
    if (status == TP_OK && next.unknown) status = tpi_planning_unknown(&planning, next.at_ms);
    if (status == TP_OK) *next_ms = next.at_ms;
    tpi_planning_close(&planning);
    return status;
}
