/* taskpool calendar import|list|show|day|remove. Files are read by calendar_days.h. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calendar_days.h"
#include "common/args.h"
#include "common/listing.h"
#include "common/operator_name.h"
#include "common/values.h"

static struct { char *format, *time_zone, *weekdays, *cut_off, *from, *to, *nth, *who; } options;

static struct poptOption table[] = {
    OPTION_TEXT("format", '\0', &options.format, "csv|ics", "import: of the file (by its name; csv)"),
    OPTION_TEXT("time-zone", '\0', &options.time_zone, "NAME",
                "import: of its days and cut-offs, such as Europe/Berlin (UTC)"),
    OPTION_TEXT("weekdays", '\0', &options.weekdays, "DAYS",
                "import: those that are open: SUN-THU, MON,WED-FRI, NONE (MON-FRI)"),
    OPTION_TEXT("cut-off", '\0', &options.cut_off, "HH:MM", "import: of a whole day (24:00)"),
    OPTION_TEXT("from", '\0', &options.from, "DATE",
                "import: the first day that it knows (January 1 of the first day's year)"),
    OPTION_TEXT("to", '\0', &options.to, "DATE", "import: the last (December 31 of the last day's year)"),
    OPTION_TEXT("nth", '\0', &options.nth, "N",
                "day: the N-th business day after it; before it, if negative"),
    OPTION_WHO(&options.who),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage calendar_usage = {
    "import NAME FILE|- | list | show|remove NAME | day NAME [DATE]",
    "import  stores a calendar in place of the one of its name, whole\n"
    "list    shows all calendars\n"
    "show    shows the days that are not as their weekday says\n"
    "day     says whether a day (today) is open, and its cut-off; exit code 1: it is closed\n"
    "remove  removes it; one that a schedule goes by stays\n"
    "CSV has a first line with the columns date, kind (closed, half, open), cut_off and name; all but date "
    "may\n"
    "be missing. Of iCalendar (.ics) events of whole days are closed days, and what begins during a day "
    "makes it\n"
    "a half day until then.\n",
    "  taskpool calendar import TARGET2 target2.csv --time-zone Europe/Berlin --cut-off 18:00\n"
    "  taskpool calendar import bank holidays.ics --to 2030-12-31\n"
    "  taskpool calendar day TARGET2 2026-12-31 --nth 2\n"
    "  taskpool schedule add pay '0 9 15 * *' pay --calendar TARGET2 --closed before\n",
    table,
    1,
    3,
};

/* ---- import -------------------------------------------------------------------------------------------- */

enum { FILE_MOST = 32 << 20 };

static char *read_file(const char *path, size_t *length) {
    bool input = strcmp(path, "-") == 0;
    FILE *file = input ? stdin : fopen(path, "re");
    char *text = NULL;
    size_t room = 0;

    *length = 0;
    if (!file) args_fail("%s cannot be opened: %s", path, strerror(errno));
    do {
        room = room ? 2 * room : 65536;
        text = cli_must(realloc(text, room + 1));
        *length += fread(text + *length, 1, room - *length, file);
    } while (*length == room && room < FILE_MOST);
    if (ferror(file)) args_fail("%s cannot be read: %s", path, strerror(errno));
    if (*length == room) args_fail("%s is larger than 32 MiB", path);
    if (!input) fclose(file);
    text[*length] = '\0';
    if (strlen(text) != *length) args_fail("%s is no text: there is a NUL in it", path);
    return text;
}

static bool is_ics(const char *path) {
    size_t length = strlen(path);

    if (!options.format) return length > 4 && strcmp(path + length - 4, ".ics") == 0;
    if (strcmp(options.format, "ics") != 0 && strcmp(options.format, "csv") != 0)
        args_fail("--format must be csv or ics");
    return strcmp(options.format, "ics") == 0;
}

/* Times in the file are shown in the calendar's zone. */
static void set_zone(void) {
    setenv("TZ", options.time_zone && *options.time_zone ? options.time_zone : "UTC", 1);
    tzset();
}

static void read_days(const char *path, struct days *days) {
    char error[DAYS_ERROR_SIZE];
    bool ics = is_ics(path);
    size_t length = 0;
    char *text = read_file(path, &length);
    bool read = false;

    if (ics) set_zone();
    read = ics ? days_from_ics(text, options.to, days, error) : days_from_csv(text, length, days, error);
    free(text);
    if (!read) args_fail("%s: %s", path, error);
}

/* Days outside of --from and --to are left out: files are longer than what is wanted of them. */
static void leave_out(struct days *days) {
    for (size_t i = 0; i < days->count; i++) {
        const char *date = days->all[i].date;
        bool early = options.from && date && strcmp(date, options.from) < 0;
        bool late = options.to && date && strcmp(date, options.to) > 0;

        if (!early && !late) continue;
        tp_calendar_day gone = days->all[i];
        days->all[i--] = days->all[--days->count];
        days->all[days->count] = gone;
        free((void *)gone.date);
        free((void *)gone.cut_off);
        free((void *)gone.name);
    }
}

static enum cli_exit report_set(const char *name, size_t count, bool changed) {
    if (common.json)
        out_members(MEMBERS(MEMBER_TEXT("name", name), MEMBER_NUMBER("days", (int64_t)count),
                            MEMBER_YES_NO("changed", changed)));
    else if (!common.quiet)
        out_text("%s: %zu days%s\n", name, count, changed ? "" : ", as it was");
    return EXIT_DONE;
}

static enum cli_exit import(const char **args) {
    tp_calendar calendar = TP_CALENDAR_INIT;
    struct days days = {NULL, 0, 0};
    tp_status status;

    if (!args[0] || !args[1])
        args_fail("import takes the NAME of the calendar and a FILE, or - for standard input");
    read_days(args[1], &days);
    leave_out(&days);
    calendar.name = args[0];
    calendar.time_zone = options.time_zone;
    calendar.weekdays = options.weekdays;
    calendar.cut_off = options.cut_off;
    calendar.first_date = options.from;
    calendar.last_date = options.to;
    calendar.days = days.all;
    calendar.day_count = days.count;
    status = tp_calendar_set(args_connect(), &calendar, operator_name(options.who));
    if (status >= 0) (void)report_set(args[0], days.count, status == TP_OK);
    days_free(&days);
    return status < 0 ? cli_fail_tp(status) : EXIT_DONE;
}

/* ---- list, show ---------------------------------------------------------------------------------------- */

static const char *zone_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    const tp_calendar *calendar = record;

    (void)text;
    return *calendar->time_zone ? calendar->time_zone : "UTC";
}

static const char *days_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    snprintf(text, RECORD_TEXT_SIZE, "%zu", ((const tp_calendar *)record)->day_count);
    return text;
}

#define CALENDAR(type, member) COLUMN_OF(type, tp_calendar, member)
static const struct column calendar_columns[] = {
    {"NAME", "name", CALENDAR(TEXT, name)},
    {"TIME_ZONE", "time_zone", CALENDAR(TEXT, time_zone), .shown = zone_text},
    {"WEEKDAYS", "weekdays", CALENDAR(TEXT, weekdays)},
    {"CUT_OFF", "cut_off", CALENDAR(TEXT, cut_off)},
    {"FROM", "first_date", CALENDAR(TEXT, first_date)},
    {"TO", "last_date", CALENDAR(TEXT, last_date)},
    {"DAYS", "days", .shown = days_text},
    {"CHANGED", "changed_at", CALENDAR(TIME, changed_at)},
    {"BY", "changed_by", CALENDAR(TEXT, changed_by)},
    COLUMNS_END,
};

static const char *kind_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    static const char *const names[] = {"closed", "half", "open"};

    (void)text;
    return names[((const tp_calendar_day *)record)->kind];
}

#define DAY(type, member) COLUMN_OF(type, tp_calendar_day, member)
static const struct column day_columns[] = {
    {"DATE", "date", DAY(TEXT, date)},
    {"KIND", "kind", .shown = kind_text},
    {"CUT_OFF", "cut_off", DAY(TEXT, cut_off)},
    {"NAME", "name", DAY(TEXT, name)},
    COLUMNS_END,
};

static void add_calendar(const tp_calendar *calendar, void *arg) {
    listing_add(arg, calendar);
}

static void add_days(const tp_calendar *calendar, void *arg) {
    for (size_t i = 0; i < calendar->day_count; i++)
        listing_add(arg, &calendar->days[i]);
}

/* name NULL: all. */
static enum cli_exit show(tp_conn *conn, const char *name) {
    struct listing *rows = listing_open(name ? day_columns : calendar_columns);
    tp_status status = tp_calendar_each(conn, name, name ? add_days : add_calendar, rows);

    if (status == TP_OK) listing_print(rows);
    listing_free(rows);
    if (status == TP_NONE && name)
        return cli_fail(EXIT_NOTHING, "no calendar has the name %s; see taskpool calendar list", name);
    if (status == TP_NONE && !common.json && !common.quiet)
        return cli_fail(EXIT_NOTHING, "there are no calendars; make one with taskpool calendar import");
    return status < 0 ? cli_fail_tp(status) : cli_exit_of(status);
}

/* ---- day, remove -----------------------------------------------------------------------------------------
 */

static enum cli_exit show_day(tp_conn *conn, const char *name, const char *date) {
    static const char *const kinds[] = {"closed", "half", "open"};
    tp_business_day_info day = TP_BUSINESS_DAY_INIT;
    char cut_off[TIME_TEXT_SIZE];
    int64_t nth = 0;
    tp_status status;

    args_integer("--nth", options.nth, INT32_MIN, INT32_MAX, &nth);
    status = tp_business_day(conn, name, date, (int32_t)nth, &day);
    if (status < 0) return cli_fail_tp(status);
    if (common.json)
        out_members(MEMBERS(MEMBER_TEXT("date", day.date), MEMBER_TEXT("kind", kinds[day.kind]),
                            MEMBER_NUMBER("begins_at", day.begins_at),
                            MEMBER_NUMBER_IF(day.cut_off_at != 0, "cut_off_at", day.cut_off_at)));
    else
        out_text("%s  %s%s%s\n", day.date, kinds[day.kind], day.cut_off_at ? "  until " : "",
                 day.cut_off_at ? value_time_text(day.cut_off_at, cut_off) : "");
    return cli_exit_of(status);
}

static enum cli_exit remove_one(tp_conn *conn, const char *name) {
    tp_status status = tp_calendar_remove(conn, name);

    if (status == TP_NONE)
        return cli_fail(EXIT_NOTHING, "no calendar has the name %s; see taskpool calendar list", name);
    return status < 0 ? cli_fail_tp(status) : EXIT_DONE;
}

/* ---- The command -----------------------------------------------------------------------------------------
 */

/* An option that does nothing here was meant for something. */
static void check_options(const char *action) {
    bool imports = strcmp(action, "import") == 0, day = strcmp(action, "day") == 0;
    const struct {
        const char *name;
        bool given, taken;
    } all[] = {{"--format", options.format, imports},     {"--time-zone", options.time_zone, imports},
               {"--weekdays", options.weekdays, imports}, {"--cut-off", options.cut_off, imports},
               {"--from", options.from, imports},         {"--to", options.to, imports},
               {"--who", options.who, imports},           {"--nth", options.nth, day}};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].given && !all[i].taken) args_fail("calendar %s takes no %s", action, all[i].name);
}

static void check_count(const char **args, size_t least, size_t most, const char *what) {
    size_t count = 0;

    while (args[count])
        count++;
    if (count < least || count > most) args_fail("%s", what);
}

enum cli_exit calendar_command(const char **args) {
    check_options(args[0]);
    if (strcmp(args[0], "import") == 0) return import(args + 1);
    if (strcmp(args[0], "day") == 0) {
        check_count(args, 2, 3, "day takes the NAME of a calendar, and a DATE such as 2026-12-31");
        return show_day(args_connect(), args[1], args[2]);
    }
    if (strcmp(args[0], "list") == 0) {
        check_count(args, 1, 1, "list takes no further argument");
        return show(args_connect(), NULL);
    }
    if (strcmp(args[0], "show") != 0 && strcmp(args[0], "remove") != 0)
        args_fail("calendar takes import, list, show, day or remove");
    check_count(args, 2, 2, "show and remove take the NAME of a calendar");
    return *args[0] == 's' ? show(args_connect(), args[1]) : remove_one(args_connect(), args[1]);
}
