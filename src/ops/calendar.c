/* Calendars as people manage them: stores, removes and lists them. A calendar is stored whole, and its row
 * says by a version, made from all that it says, which one it is. Read next: calendar_read.c. */
#include "ops/calendar.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/date.h"
#include "ops/audit.h"
#include "ops/refused.h"
#include "store/record.h"

/* ---- Checking ------------------------------------------------------------------------------------------ */

tp_status tpi_check_calendar_name(const char *name) {
    if (!name || !*name) return tpi_error(TP_MISUSE, "a calendar needs a name");
    if (strlen(name) > TP_HANDLER_MAX)
        return tpi_error(TP_TOOBIG, "the calendar's name has %zu bytes; at most %d are allowed", strlen(name),
                         TP_HANDLER_MAX);
    for (const char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("._:-", *at))
            return tpi_error(TP_MISUSE, "a calendar's name may hold letters, digits and . _ : - only");
    return TP_OK;
}

/* What is to be stored. The days are copies, sorted by date. */
struct asked {
    tp_calendar calendar;
    tp_calendar_day *days;
    char first_date[TPI_DATE_SIZE], last_date[TPI_DATE_SIZE];
    char version[TPI_UUID_SIZE];
    char who[TPI_WHO_MAX + 1];
};

static tp_status check_day(const tp_calendar_day *day) {
    int64_t date = 0;
    int cut_off = 0;
    const char *shown = day->date ? day->date : "";
    if (!tpi_date_parse(day->date, &date))
        return tpi_error(TP_MISUSE, "'%.20s' is no date; it is to be as 2026-12-24, from 1970 on", shown);
    if (day->reserved || !tpi_day_kind_name(day->kind))
        return tpi_error(TP_MISUSE, "%s: kind is none of TP_DAY_CLOSED, TP_DAY_HALF, TP_DAY_OPEN", shown);
    bool given = day->cut_off && *day->cut_off;
    if (given && !tpi_cut_off_parse(day->cut_off, &cut_off))
        return tpi_error(TP_MISUSE, "%s: the cut-off '%.20s' is not as 12:00 (00:01 to 24:00)", shown,
                         day->cut_off);
    if (given && day->kind == TP_DAY_CLOSED)
        return tpi_error(TP_MISUSE, "%s: a closed day has no cut-off", shown);
    if (!given && day->kind == TP_DAY_HALF)
        return tpi_error(TP_MISUSE, "%s: a half day needs a cut-off", shown);
    return tpi_check_key("the name of a day", day->name);
}

static int by_date(const void *left, const void *right) {
    return strcmp(((const tp_calendar_day *)left)->date, ((const tp_calendar_day *)right)->date);
}

static tp_status copy_days(struct asked *asked) {
    const tp_calendar *calendar = &asked->calendar;
    size_t count = calendar->day_count;
    tp_status status = TP_OK;
    if (count > TP_CALENDAR_DAYS_MAX)
        return tpi_error(TP_TOOBIG, "the calendar has %zu special days; at most %d are allowed", count,
                         TP_CALENDAR_DAYS_MAX);
    if (!count) return TP_OK;
    if (!calendar->days) return tpi_error(TP_MISUSE, "tp_calendar_set: days is NULL");
    asked->days = calloc(count, sizeof *asked->days);
    if (!asked->days) return tpi_error(TP_NOMEM, "out of memory");
    for (size_t i = 0; i < count && status == TP_OK; i++) {
        const char *given = (const char *)calendar->days + i * calendar->days->size;
        status = tpi_read_sized(TPI_SIZED_calendar_day, given, &asked->days[i]);
        if (status == TP_OK) status = check_day(&asked->days[i]);
    }
    if (status != TP_OK) return status;
    qsort(asked->days, count, sizeof *asked->days, by_date);
    for (size_t i = 1; i < count; i++)
        if (by_date(&asked->days[i - 1], &asked->days[i]) == 0)
            return tpi_error(TP_MISUSE, "%s is there twice", asked->days[i].date);
    return TP_OK;
}

/* first_date and last_date are to hold all days. */
static tp_status set_bounds(struct asked *asked) {
    tp_calendar *calendar = &asked->calendar;
    size_t count = calendar->day_count;
    int64_t first = 0, last = 0, day = 0;
    struct tpi_date from = tpi_date_of(0), until = {.year = 9999};
    if (count && tpi_date_parse(asked->days[0].date, &day)) from = tpi_date_of(day);
    if (count && tpi_date_parse(asked->days[count - 1].date, &day)) until = tpi_date_of(day);
    tpi_date_text(tpi_date_number(from.year, 1, 1), asked->first_date);
    tpi_date_text(tpi_date_number(until.year, 12, 31), asked->last_date);
    if (!calendar->first_date || !*calendar->first_date) calendar->first_date = asked->first_date;
    if (!calendar->last_date || !*calendar->last_date) calendar->last_date = asked->last_date;
    if (!tpi_date_parse(calendar->first_date, &first) || !tpi_date_parse(calendar->last_date, &last) ||
        first > last)
        return tpi_error(TP_MISUSE, "first_date and last_date are to be dates as 2026-12-31, in this order");
    if (count && (strcmp(asked->days[0].date, calendar->first_date) < 0 ||
                  strcmp(asked->days[count - 1].date, calendar->last_date) > 0))
        return tpi_error(TP_MISUSE, "a day is outside of first_date and last_date, %s to %s",
                         calendar->first_date, calendar->last_date);
    return TP_OK;
}

static tp_status check_calendar(struct asked *asked) {
    tp_calendar *calendar = &asked->calendar;
    struct tpi_zone *zone = NULL;
    unsigned weekdays = 0;
    int cut_off = 0;
    if (!calendar->weekdays || !*calendar->weekdays) calendar->weekdays = "MON-FRI";
    if (!calendar->cut_off || !*calendar->cut_off) calendar->cut_off = "24:00";
    tp_status status = tpi_check_calendar_name(calendar->name);
    if (status == TP_OK) status = tpi_zone_open(calendar->time_zone, &zone);
    tpi_zone_close(zone);
    if (status != TP_OK) return status;
    if (strlen(calendar->weekdays) > 32 || !tpi_weekdays_parse(calendar->weekdays, &weekdays))
        return tpi_error(TP_MISUSE, "weekdays '%.40s' are not as MON-FRI, SUN-THU, MON,WED-FRI or NONE",
                         calendar->weekdays);
    if (!tpi_cut_off_parse(calendar->cut_off, &cut_off))
        return tpi_error(TP_MISUSE, "the cut-off '%.20s' is not as 16:00 (00:01 to 24:00)",
                         calendar->cut_off);
    status = copy_days(asked);
    return status == TP_OK ? set_bounds(asked) : status;
}

/* ---- Its version --------------------------------------------------------------------------------------- */

static void add_text(struct tpi_buf *buf, const char *text) {
    tpi_buf_text(buf, text ? text : "");
    tpi_buf_char(buf, '\n');
}

static tp_status make_version(struct asked *asked) {
    const tp_calendar *calendar = &asked->calendar;
    struct tpi_buf buf = {0};
    add_text(&buf, "calendar");
    add_text(&buf, calendar->time_zone);
    add_text(&buf, calendar->weekdays);
    add_text(&buf, calendar->cut_off);
    add_text(&buf, calendar->first_date);
    add_text(&buf, calendar->last_date);
    for (size_t i = 0; i < calendar->day_count; i++) {
        add_text(&buf, asked->days[i].date);
        add_text(&buf, tpi_day_kind_name(asked->days[i].kind));
        add_text(&buf, asked->days[i].cut_off);
        add_text(&buf, asked->days[i].name);
    }
    bool failed = buf.failed;
    if (!failed) tpi_uuid_named(tpi_buf_str(&buf), asked->version);
    tpi_buf_free(&buf);
    return failed ? tpi_error(TP_NOMEM, "out of memory") : TP_OK;
}

/* ---- Storing ------------------------------------------------------------------------------------------- */

static void fill_args(const struct asked *asked, const char *old_version, struct tpi_args *args) {
    const tp_calendar *calendar = &asked->calendar;
    *args = (struct tpi_args){0};
    tpi_args_text(args, TPI_P_name, calendar->name);
    tpi_args_text(args, TPI_P_time_zone, calendar->time_zone);
    tpi_args_text(args, TPI_P_weekdays, calendar->weekdays);
    tpi_args_text(args, TPI_P_cut_off, calendar->cut_off);
    tpi_args_text(args, TPI_P_first_date, calendar->first_date);
    tpi_args_text(args, TPI_P_last_date, calendar->last_date);
    tpi_args_text(args, TPI_P_version, asked->version);
    tpi_args_text(args, TPI_P_old_version, old_version);
    tpi_args_text(args, TPI_P_who, asked->who);
}

static tp_status store_days(tp_conn *conn, const struct asked *asked) {
    tp_status status = TP_OK;
    for (size_t i = 0; i < asked->calendar.day_count && status == TP_OK; i++) {
        const tp_calendar_day *day = &asked->days[i];
        struct tpi_args args = {0};
        tpi_args_text(&args, TPI_P_name, asked->calendar.name);
        tpi_args_text(&args, TPI_P_business_date, day->date);
        tpi_args_text(&args, TPI_P_kind, tpi_day_kind_name(day->kind));
        tpi_args_text(&args, TPI_P_cut_off, day->cut_off);
        tpi_args_text(&args, TPI_P_value, day->name);
        status = tpi_store_change_one(&conn->store, TPI_S_calendar_day_add, &args);
        if (status == TP_NONE) status = tpi_refused_silently(&conn->store, "stored no day", "calendar_day");
    }
    return status;
}

/* "": there is none. */
static tp_status read_version(tp_conn *conn, const char *name, char version[TPI_UUID_SIZE]) {
    static const struct tpi_column only[] = {{TPI_READ_CHARS, 0, TPI_UUID_SIZE}, TPI_COLUMN_END};
    struct tpi_args args = {0};
    *version = '\0';
    tpi_args_text(&args, TPI_P_name, name);
    tp_status status = tpi_store_read(&conn->store, TPI_S_calendar_version, &args, only, NULL, version);
    return status == TP_NONE ? TP_OK : status;
}

static tp_status changed_meanwhile(void) {
    return tpi_error(TP_CONFLICT, "another session changed the calendar meanwhile; ask again");
}

/* In the transaction: the calendar's row first, so that of two who change it one waits. */
static tp_status store(tp_conn *conn, const struct asked *asked) {
    char old[TPI_UUID_SIZE];
    struct tpi_args args;
    int64_t gone = 0;
    tp_status status = read_version(conn, asked->calendar.name, old);
    if (status != TP_OK) return status;
    if (strcmp(old, asked->version) == 0) return TP_EXISTS;
    fill_args(asked, old, &args);
    status = tpi_store_change_one(&conn->store, *old ? TPI_S_calendar_change : TPI_S_calendar_add, &args);
    if (status == TP_NONE) return changed_meanwhile();
    if (status == TP_OK && *old)
        status = tpi_store_change(&conn->store, TPI_S_calendar_day_remove, &args, &gone);
    if (status == TP_OK) status = store_days(conn, asked);
    struct tpi_act act = {.action = TPI_AUDIT_CALENDAR_SET,
                          .who = asked->who,
                          .subject = asked->calendar.name,
                          .changed = (int64_t)asked->calendar.day_count};
    return status == TP_OK ? tpi_audit_add(conn, &act) : status;
}

static tp_status store_in_scope(tp_conn *conn, const struct asked *asked) {
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    return tpi_scope_end(conn, &scope, store(conn, asked));
}

tp_status tp_calendar_set(tp_conn *conn, const tp_calendar *given, const char *who) {
    struct asked asked = {0};
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK && !given) status = tpi_error(TP_MISUSE, "tp_calendar_set: calendar is NULL");
    if (status == TP_OK) status = tpi_audit_ready(conn);
    if (status == TP_OK) status = tpi_read_sized(TPI_SIZED_calendar, given, &asked.calendar);
    if (status == TP_OK) status = check_calendar(&asked);
    if (status == TP_OK) status = make_version(&asked);
    if (status == TP_OK) (void)tpi_audit_who(conn, who, asked.who);
    if (status != TP_OK) {
        free(asked.days);
        return tpi_conn_doom(conn, status);
    }
    bool alone = tpi_conn_is_alone(conn);
    status = store_in_scope(conn, &asked);
    /* Somebody else stored it at the same moment: now there is one to change, or it is there. */
    if (status == TP_CONFLICT && alone) status = store_in_scope(conn, &asked);
    free(asked.days);
    return tpi_refused_judge(&conn->store, status, "calendar", NULL, NULL);
}

/* ---- Removing ------------------------------------------------------------------------------------------ */

static tp_status check_unused(tp_conn *conn, const char *name, struct tpi_args *args) {
    char schedule[TP_HANDLER_MAX + 1] = "";
    static const struct tpi_column only[] = {{TPI_READ_CHARS, 0, sizeof schedule}, TPI_COLUMN_END};
    tp_status status = tpi_store_read(&conn->store, TPI_S_calendar_used, args, only, NULL, schedule);
    if (status == TP_NONE) return TP_OK;
    return status != TP_OK
               ? status
               : tpi_error(TP_MISUSE, "schedule %s goes by calendar %s; remove it first", schedule, name);
}

static tp_status remove_calendar(tp_conn *conn, const char *name) {
    char old[TPI_UUID_SIZE];
    struct tpi_args args = {0};
    int64_t gone = 0;
    tp_status status = read_version(conn, name, old);
    if (status != TP_OK || !*old) return status == TP_OK ? TP_NONE : status;
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_text(&args, TPI_P_old_version, old);
    status = check_unused(conn, name, &args);
    if (status == TP_OK) status = tpi_store_change_one(&conn->store, TPI_S_calendar_remove, &args);
    if (status == TP_NONE) return changed_meanwhile();
    if (status == TP_OK) status = tpi_store_change(&conn->store, TPI_S_calendar_day_remove, &args, &gone);
    struct tpi_act act = {.action = TPI_AUDIT_CALENDAR_REMOVED, .subject = name, .changed = 1};
    return status == TP_OK ? tpi_audit_add(conn, &act) : status;
}

tp_status tp_calendar_remove(tp_conn *conn, const char *name) {
    struct tpi_scope scope;
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK) status = tpi_check_calendar_name(name);
    if (status == TP_OK) status = tpi_audit_ready(conn);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    return tpi_scope_end(conn, &scope, remove_calendar(conn, name));
}

/* ---- Listing ------------------------------------------------------------------------------------------- */

/* The lines of one calendar, from the first on; gives how many. days has room for all. */
static size_t show_one(const struct tpi_calendar_lines *lines, size_t first, tp_calendar_day *days,
                       tp_calendar_fn see, void *arg) {
    const struct tpi_calendar_line *line = &lines->all[first];
    size_t count = 0, i = first;
    for (; i < lines->count && strcmp(lines->all[i].name, line->name) == 0; i++) {
        const struct tpi_calendar_line *day = &lines->all[i];
        tp_day_kind kind = TP_DAY_CLOSED;
        if (!*day->date || !tpi_day_kind_parse(day->kind, &kind)) continue;
        days[count++] = (tp_calendar_day){sizeof *days, day->date, day->day_cut_off, day->day_name, kind, 0};
    }
    tp_calendar calendar = {sizeof calendar, line->name,        line->time_zone, line->weekdays,
                            line->cut_off,   line->first_date,  line->last_date, days,
                            count,           line->modified_at, line->changed_by};
    see(&calendar, arg);
    return i - first;
}

tp_status tp_calendar_each(tp_conn *conn, const char *name, tp_calendar_fn see, void *arg) {
    struct tpi_calendar_lines lines = {0};
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see) return tpi_error(TP_MISUSE, "tp_calendar_each: see is NULL");
    if (name) status = tpi_check_calendar_name(name);
    if (status == TP_OK) status = tpi_calendar_lines_read(conn, name, &lines);
    if (status != TP_OK) return status;
    tp_calendar_day *days = lines.count ? calloc(lines.count, sizeof *days) : NULL;
    if (!lines.count)
        status = TP_NONE;
    else if (!days)
        status = tpi_error(TP_NOMEM, "out of memory");
    for (size_t i = 0; i < lines.count && days;)
        i += show_one(&lines, i, days, see, arg);
    free(days);
    tpi_calendar_lines_free(&lines);
    return status;
}
