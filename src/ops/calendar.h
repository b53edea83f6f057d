/* A calendar as it is read from its tables, for those who work out days and times. Read next:
 * calendar_read.c, then calendar.c, business_day.c, schedule_planned.h. */
#ifndef TPI_OPS_CALENDAR_H
#define TPI_OPS_CALENDAR_H

#include "base/zone.h"
#include "core/calendar.h"
#include "ops/conn.h"

/* A row of calendar_list: one of a calendar's days, or the calendar alone, whose date is then "". */
struct tpi_calendar_line {
    const char *name, *time_zone, *weekdays, *cut_off, *first_date, *last_date, *version;
    int64_t modified_at;
    const char *changed_by;
    const char *date, *kind, *day_cut_off, *day_name;
};
/* All calendars, or the one of this name; no lines: there is none. Ends with tpi_calendar_lines_free. */
struct tpi_calendar_lines {
    struct tpi_calendar_line *all;
    size_t count;
    struct tpi_texts texts;
};
TP_CHECKED tp_status tpi_calendar_lines_read(tp_conn *conn, const char *name,
                                             struct tpi_calendar_lines *lines);
void tpi_calendar_lines_free(struct tpi_calendar_lines *lines);
/* As the kinds stand in the table. False: none of them. */
bool tpi_day_kind_parse(const char *name, tp_day_kind *kind);
const char *tpi_day_kind_name(tp_day_kind kind);

/* Ends with tpi_calendar_close. */
struct tpi_open_calendar {
    struct tpi_calendar core;
    struct tpi_zone *zone; /* NULL: UTC */
    char version[TPI_UUID_SIZE];
};
/* TP_MISUSE with text: there is none, or somebody changed it so that it cannot be read. */
TP_CHECKED tp_status tpi_calendar_open(tp_conn *conn, const char *name, struct tpi_open_calendar *calendar);
void tpi_calendar_close(struct tpi_open_calendar *calendar);

TP_CHECKED tp_status tpi_check_calendar_name(const char *name);
/* The first cut-off after a time. */
TP_CHECKED tp_status tpi_cut_off_after(tp_conn *conn, const char *calendar, int64_t after_ms, int64_t *at_ms);

#endif
