/* Reads calendars. See calendar.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/date.h"
#include "ops/calendar.h"
#include "store/record.h"

static const char *const kinds[] = {
    [TP_DAY_CLOSED] = "closed", [TP_DAY_HALF] = "half", [TP_DAY_OPEN] = "open"};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

bool tpi_day_kind_parse(const char *name, tp_day_kind *kind) {
    for (int i = 0; i < KINDS; i++) {
        if (strcmp(name, kinds[i]) != 0) continue;
        *kind = (tp_day_kind)i;
        return true;
    }
    return false;
}

const char *tpi_day_kind_name(tp_day_kind kind) {
    return (int)kind >= 0 && (int)kind < KINDS ? kinds[kind] : NULL;
}

tp_status tpi_calendar_lines_read(tp_conn *conn, const char *name, struct tpi_calendar_lines *lines) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(TEXT, struct tpi_calendar_line, name),
        TPI_COLUMN(TEXT, struct tpi_calendar_line, time_zone),
        TPI_COLUMN(TEXT, struct tpi_calendar_line, weekdays),
        TPI_COLUMN(TEXT, struct tpi_calendar_line, cut_off),
        TPI_COLUMN(TEXT, struct tpi_calendar_line, first_date),
        TPI_COLUMN(TEXT, struct tpi_calendar_line, last_date),
        TPI_COLUMN(TEXT, struct tpi_calendar_line, version),
        TPI_COLUMN(NUMBER, struct tpi_calendar_line, modified_at),
        TPI_COLUMN(TEXT, struct tpi_calendar_line, changed_by),
        TPI_COLUMN(TEXT, struct tpi_calendar_line, date),
        TPI_COLUMN(TEXT, struct tpi_calendar_line, kind),
        TPI_COLUMN(TEXT, struct tpi_calendar_line, day_cut_off),
        TPI_COLUMN(TEXT, struct tpi_calendar_line, day_name),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    void *all = NULL;
    *lines = (struct tpi_calendar_lines){0};
    tpi_args_text(&args, TPI_P_name, name);
    tp_status status = tpi_store_list(&conn->store, name ? TPI_S_calendar_find : TPI_S_calendar_list, &args,
                                      columns, &lines->texts, sizeof *lines->all, &all, &lines->count);
    lines->all = all;
    if (status != TP_OK) tpi_calendar_lines_free(lines);
    return status;
}

void tpi_calendar_lines_free(struct tpi_calendar_lines *lines) {
    free(lines->all);
    tpi_texts_free(&lines->texts);
    *lines = (struct tpi_calendar_lines){0};
}

/* ---- For the core -------------------------------------------------------------------------------------- */

static bool read_day(const struct tpi_calendar_line *line, struct tpi_special_day *day) {
    return tpi_date_parse(line->date, &day->date) && tpi_day_kind_parse(line->kind, &day->kind) &&
           (!*line->day_cut_off || tpi_cut_off_parse(line->day_cut_off, &day->cut_off));
}

static int by_date(const void *left, const void *right) {
    const struct tpi_special_day *a = left, *b = right;
    return (a->date > b->date) - (a->date < b->date);
}

/* Databases may sort texts in another way. */
static tp_status read_days(const struct tpi_calendar_lines *lines, struct tpi_calendar *core) {
    struct tpi_special_day *days = calloc(lines->count, sizeof *days);
    if (!days) return tpi_error(TP_NOMEM, "out of memory");
    core->days = days;
    for (size_t i = 0; i < lines->count; i++) {
        const struct tpi_calendar_line *line = &lines->all[i];
        if (!*line->date) continue;
        if (!read_day(line, &days[core->count++]))
            return tpi_error(TP_MISUSE, "the day '%.20s' of calendar %s cannot be read; import it anew",
                             line->date, line->name);
    }
    qsort(days, core->count, sizeof *days, by_date);
    return TP_OK;
}

static tp_status read_calendar(const struct tpi_calendar_lines *lines, struct tpi_open_calendar *calendar) {
    const struct tpi_calendar_line *line = lines->all;
    struct tpi_calendar *core = &calendar->core;
    if (!tpi_weekdays_parse(line->weekdays, &core->weekdays) ||
        !tpi_cut_off_parse(line->cut_off, &core->cut_off) ||
        !tpi_date_parse(line->first_date, &core->first) || !tpi_date_parse(line->last_date, &core->last) ||
        !tpi_uuid_normal(line->version, calendar->version))
        return tpi_error(TP_MISUSE, "calendar %s cannot be read; import it anew", line->name);
    tp_status status = read_days(lines, core);
    return status == TP_OK ? tpi_zone_open(line->time_zone, &calendar->zone) : status;
}

tp_status tpi_calendar_open(tp_conn *conn, const char *name, struct tpi_open_calendar *calendar) {
    struct tpi_calendar_lines lines;
    *calendar = (struct tpi_open_calendar){0};
    tp_status status = tpi_calendar_lines_read(conn, name, &lines);
    if (status != TP_OK) return status;
    if (lines.count)
        status = read_calendar(&lines, calendar);
    else
        status =
            tpi_error(TP_MISUSE, "there is no calendar %s; make it with 'taskpool calendar import'", name);
    tpi_calendar_lines_free(&lines);
    if (status != TP_OK) tpi_calendar_close(calendar);
    return status;
}

void tpi_calendar_close(struct tpi_open_calendar *calendar) {
    free((void *)calendar->core.days);
    tpi_zone_close(calendar->zone);
    *calendar = (struct tpi_open_calendar){0};
}
