/* Questions to a calendar: business days, and the next cut-off. Read next: core/calendar.h. */
#include <string.h>

#include "base/error.h"
#include "core/date.h"
#include "core/planned.h"
#include "ops/calendar.h"
#include "ops/schedule_times.h"

static tp_status unknown_day(const struct tpi_open_calendar *calendar, const char *name) {
    char first[TPI_DATE_SIZE], last[TPI_DATE_SIZE];
    tpi_date_text(calendar->core.first, first);
    tpi_date_text(calendar->core.last, last);
    return tpi_error(
        TP_MISUSE,
        "calendar %s knows the days from %s to %s only, and the answer is outside of them; import "
        "it with more days",
        name, first, last);
}

static int64_t begin_of_day(const struct tpi_open_calendar *calendar, int64_t minutes_since_1970) {
    tpi_span_fn span = calendar->zone ? tpi_times_span : NULL;
    return tpi_instant_of(span, calendar->zone, minutes_since_1970 * 60) * 1000;
}

static int64_t cut_off_of(const struct tpi_open_calendar *calendar, int64_t date) {
    int cut_off = tpi_calendar_day(&calendar->core, date).cut_off;
    return cut_off ? begin_of_day(calendar, date * TPI_DAY_MINUTES + cut_off) : 0;
}

static int64_t day_at(const struct tpi_open_calendar *calendar, int64_t ms) {
    tpi_span_fn span = calendar->zone ? tpi_times_span : NULL;
    return tpi_day_of(span, calendar->zone, tpi_floor_div(ms, 1000));
}

/* ---- Business days ------------------------------------------------------------------------------------- */

static tp_status find_day(tp_conn *conn, const struct tpi_open_calendar *calendar, const char *date,
                          int32_t n, int64_t *found) {
    int64_t day = 0, now = 0;
    bool given = date && *date;
    if (given && !tpi_date_parse(date, &day))
        return tpi_error(TP_MISUSE, "'%.20s' is no date; it is to be as 2026-12-24, from 1970 on", date);
    tp_status status = given ? TP_OK : tpi_ask_now(conn, &now);
    if (status != TP_OK) return status;
    if (!given) day = day_at(calendar, now);
    bool known =
        n ? tpi_calendar_nth(&calendar->core, day, n, found) : tpi_calendar_knows(&calendar->core, day);
    if (!known) return TP_NONE;
    if (!n) *found = day;
    return TP_OK;
}

static tp_status answer_day(const struct tpi_open_calendar *calendar, int64_t date,
                            tp_business_day_info *day) {
    tp_business_day_info info = TP_BUSINESS_DAY_INIT;
    info.kind = tpi_calendar_day(&calendar->core, date).kind;
    info.begins_at = begin_of_day(calendar, date * TPI_DAY_MINUTES);
    info.cut_off_at = cut_off_of(calendar, date);
    tpi_date_text(date, info.date);
    if (day) tpi_sized_write(TPI_SIZED_business_day_info, &info, day);
    return info.kind == TP_DAY_CLOSED ? TP_NONE : TP_OK;
}

tp_status tp_business_day(tp_conn *conn, const char *calendar, const char *date, int32_t n,
                          tp_business_day_info *day) {
    struct tpi_open_calendar open = {0};
    int64_t found = 0;
    const char *fault = day ? tpi_sized_fault(TPI_SIZED_business_day_info, day) : NULL;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (fault) return tpi_error(TP_MISUSE, "%s", fault);
    status = tpi_check_calendar_name(calendar);
    if (status == TP_OK) status = tpi_calendar_open(conn, calendar, &open);
    if (status != TP_OK) return status;
    status = find_day(conn, &open, date, n, &found);
    if (status == TP_OK)
        status = answer_day(&open, found, day);
    else if (status == TP_NONE)
        status = unknown_day(&open, calendar);
    tpi_calendar_close(&open);
    return status;
}

/* ---- Cut-offs ------------------------------------------------------------------------------------------ */

static bool find_cut_off(const struct tpi_open_calendar *calendar, int64_t after_ms, int64_t *at_ms) {
    int64_t date = day_at(calendar, after_ms);
    while (tpi_calendar_knows(&calendar->core, date)) {
        *at_ms = cut_off_of(calendar, date++);
        if (*at_ms > after_ms) return true;
    }
    return false;
}

tp_status tpi_cut_off_after(tp_conn *conn, const char *calendar, int64_t after_ms, int64_t *at_ms) {
    struct tpi_open_calendar open = {0};
    int64_t found = 0;
    tp_status status = tpi_check_calendar_name(calendar);
    if (status == TP_OK) status = tpi_calendar_open(conn, calendar, &open);
    if (status != TP_OK) return status;
    if (find_cut_off(&open, after_ms, &found))
        *at_ms = found;
    else
        status = unknown_day(&open, calendar);
    tpi_calendar_close(&open);
    return status;
}

tp_status tp_next_cut_off(tp_conn *conn, const char *calendar, int64_t after_ms, int64_t *cut_off_at) {
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!cut_off_at) return tpi_error(TP_MISUSE, "tp_next_cut_off: cut_off_at is NULL");
    if (after_ms < 0 || after_ms > TP_TIME_MAX)
        return tpi_error(TP_MISUSE, "after_ms is negative, or later than the year 9999");
    if (!after_ms) status = tpi_ask_now(conn, &after_ms);
    return status == TP_OK ? tpi_cut_off_after(conn, calendar, after_ms, cut_off_at) : status;
}
