/* Days of a calendar from iCalendar (RFC 5545), by libical. The only place that knows it; without it there is
 * none. See calendar_days.h. */
#include "calendar_days.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef TASKPOOL_ICAL
#include <libical/ical.h>

enum { DATE_SIZE = 16, DAY_S = 86400, DAYS_MOST = 366 };

struct reader {
    struct days *days;
    time_t until; /* of events that recur; 0: none may */
    char *error;
    icalcomponent *event; /* at hand */
    const char *name;
    bool whole; /* a day or more */
    bool floating;
    int length; /* in days */
};

static bool fail(const struct reader *reader, const char *what, const char *text) {
    snprintf(reader->error, DAYS_ERROR_SIZE, "%s \"%.100s\"", what, text ? text : "");
    return false;
}

/* A holiday may be in the file twice; a closed day is more than a half one. */
static void add(struct days *days, const char *date, tp_day_kind kind, const char *cut_off,
                const char *name) {
    for (size_t i = 0; i < days->count; i++) {
        tp_calendar_day *there = &days->all[i];

        if (strcmp(there->date, date) != 0) continue;
        if (kind == TP_DAY_CLOSED && there->kind == TP_DAY_HALF) {
            there->kind = kind;
            free((void *)there->cut_off);
            there->cut_off = NULL;
        }
        return;
    }
    days_add(days, date, kind, cut_off, name);
}

/* Once for each time of an event, by libical. What has no zone comes as if it were UTC. */
static void add_time(icalcomponent *event, const struct icaltime_span *span, void *arg) {
    const struct reader *reader = arg;
    char date[DATE_SIZE], cut_off[DATE_SIZE];
    struct tm tm;

    (void)event;
    for (int i = 0; i < reader->length; i++) {
        time_t at = span->start + (time_t)i * DAY_S;

        if (reader->whole || reader->floating)
            gmtime_r(&at, &tm);
        else
            localtime_r(&at, &tm);
        strftime(date, sizeof date, "%Y-%m-%d", &tm);
        strftime(cut_off, sizeof cut_off, "%H:%M", &tm);
        /* What begins with the day leaves nothing of it. */
        bool half = !reader->whole && (tm.tm_hour || tm.tm_min);
        add(reader->days, date, half ? TP_DAY_HALF : TP_DAY_CLOSED, half ? cut_off : NULL, reader->name);
    }
}

static bool recurs(icalcomponent *event) {
    return icalcomponent_get_first_property(event, ICAL_RRULE_PROPERTY) ||
           icalcomponent_get_first_property(event, ICAL_RDATE_PROPERTY);
}

static bool read_event(struct reader *reader, icalcomponent *event) {
    struct icaltimetype start = icalcomponent_get_dtstart(event), end = icalcomponent_get_dtend(event);
    struct icaltimetype last =
        icaltime_from_timet_with_zone(reader->until + DAY_S - 1, 0, icaltimezone_get_utc_timezone());

    reader->event = event;
    reader->name = icalcomponent_get_summary(event);
    if (icalcomponent_get_status(event) == ICAL_STATUS_CANCELLED) return true;
    if (icaltime_is_null_time(start) || !icaltime_is_valid_time(start))
        return fail(reader, "an event has no DTSTART:", reader->name);
    reader->whole = start.is_date;
    reader->floating = !start.zone;
    reader->length = 1;
    if (start.is_date && !icaltime_is_null_time(end) && end.is_date)
        reader->length = (int)((icaltime_as_timet(end) - icaltime_as_timet(start)) / DAY_S);
    if (reader->length < 1 || reader->length > DAYS_MOST)
        return fail(reader, "an event has no length, or more than a year:", reader->name);
    if (recurs(event) && !reader->until)
        return fail(reader,
                    "with events that recur, say by --to until when the calendar is known:", reader->name);
    if (!recurs(event)) {
        struct icaltime_span once = {.start = icaltime_as_timet_with_zone(start, start.zone)};

        add_time(event, &once, reader);
        return true;
    }
    icalcomponent_foreach_recurrence(
        event, icaltime_from_timet_with_zone(0, 0, icaltimezone_get_utc_timezone()), last,
        (void (*)(icalcomponent *, struct icaltime_span *, void *))add_time, reader);
    return true;
}

/* What libical could not read it has put into a property of its own. */
static const char *find_fault(icalcomponent *component) {
    icalproperty *property = icalcomponent_get_first_property(component, ICAL_XLICERROR_PROPERTY);

    if (property) return icalproperty_get_xlicerror(property);
    for (icalcomponent *child = icalcomponent_get_first_component(component, ICAL_ANY_COMPONENT); child;
         child = icalcomponent_get_next_component(component, ICAL_ANY_COMPONENT)) {
        const char *fault = find_fault(child);

        if (fault) return fault;
    }
    return NULL;
}

/* A file may hold several calendars. */
static bool read_component(struct reader *reader, icalcomponent *component) {
    if (icalcomponent_isa(component) == ICAL_VEVENT_COMPONENT) return read_event(reader, component);
    for (icalcomponent *child = icalcomponent_get_first_component(component, ICAL_ANY_COMPONENT); child;
         child = icalcomponent_get_next_component(component, ICAL_ANY_COMPONENT))
        if (!read_component(reader, child)) return false;
    return true;
}

bool days_from_ics(const char *text, const char *until, struct days *days, char error[DAYS_ERROR_SIZE]) {
    struct reader reader = {.days = days, .error = error};
    struct tm tm = {0};
    icalcomponent *root = NULL;
    bool read = false;

    if (until && strptime(until, "%Y-%m-%d", &tm)) reader.until = timegm(&tm);
    icalerror_set_errors_are_fatal(0);
    root = icalparser_parse_string(text);
    if (!root || icalcomponent_isa(root) == ICAL_VEVENT_COMPONENT) {
        fail(&reader, "this is no iCalendar file; it begins with",
             strncmp(text, "BEGIN", 5) == 0 ? "BEGIN" : text);
    } else {
        const char *fault = find_fault(root);

        read = fault ? fail(&reader, "iCalendar:", fault) : read_component(&reader, root);
    }
    if (root) icalcomponent_free(root);
    return read;
}

#else

bool days_from_ics(const char *text, const char *until, struct days *days, char error[DAYS_ERROR_SIZE]) {
    (void)text, (void)until, (void)days;
    snprintf(error, DAYS_ERROR_SIZE,
             "this taskpool was built without libical, which reads iCalendar; give it CSV");
    return false;
}

#endif
