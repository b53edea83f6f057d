/* See slow_cron.h. Each question is answered from the text, by the C library's calendar. */
#include "slow_cron.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, YEAR };

static const int lows[] = {0, 0, 0, 1, 1, 0, 1970}, highs[] = {59, 59, 23, 31, 12, 6, 2099};

/* Names are numbers: JAN is 1; SUN is first. *at moves behind. */
static int read_number(const char **at, int field, int first) {
    static const char months[] = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", days[] = "SUNMONTUEWEDTHUFRISAT";
    const char *names = field == MONTH ? months : days;
    if (isdigit((unsigned char)**at)) {
        char *end;
        long number = strtol(*at, &end, 10);
        *at = end;
        return (int)number;
    }
    for (int i = 0; names[3 * i]; i++)
        if (strncasecmp(names + 3 * i, *at, 3) == 0) {
            *at += 3;
            return i + (field == MONTH ? 1 : first);
        }
    return -1;
}

/* Numbers, ranges and steps. value is as the text has it. */
static bool part_has(const char *part, int field, int low, int high, int value) {
    const char *at = part;
    int from = low, to = high, step = 1;
    if (*at == '*') {
        at++;
    } else {
        from = to = read_number(&at, field, low);
        if (*at == '-') {
            at++;
            to = read_number(&at, field, low);
            if (to == 0 && field == WEEKDAY && from > 0) to = 7;
        } else if (*at == '/') {
            to = high;
        }
    }
    if (*at == '/') step = (int)strtol(at + 1, NULL, 10);
    return value >= from && value <= to && (value - from) % step == 0;
}

struct day {
    int year, month, day, last, weekday;
};

static int weekday_of(const struct day *day, int number) {
    return ((day->weekday + number - day->day) % 7 + 7) % 7;
}

/* Is the day the Monday to Friday that is nearest to the number's day, inside the month? */
static bool is_near(const struct day *day, int number) {
    static const int tries[] = {0, -1, 1, -2, 2};
    if (number < 1 || number > day->last) return false;
    for (int i = 0; i < 5; i++) {
        int other = number + tries[i];
        if (other < 1 || other > day->last || weekday_of(day, other) == 0 || weekday_of(day, other) == 6)
            continue;
        return other == day->day;
    }
    return false;
}

static bool day_part_has(const struct slow_rule *rule, const char *part, const struct day *day) {
    char last = (char)toupper((unsigned char)part[strlen(part) - 1]);
    if (rule->quartz && toupper((unsigned char)*part) == 'L') {
        int before = part[1] == '-' ? (int)strtol(part + 2, NULL, 10) : 0;
        return last == 'W' ? is_near(day, day->last - before) : day->day == day->last - before;
    }
    if (rule->quartz && last == 'W') return is_near(day, (int)strtol(part, NULL, 10));
    return part_has(part, DAY, 1, 31, day->day);
}

static bool weekday_part_has(const struct slow_rule *rule, const char *part, const struct day *day) {
    const char *at = part;
    if (!rule->quartz)
        return part_has(part, WEEKDAY, 0, 6, day->weekday) ||
               (day->weekday == 0 && *part != '*' && part_has(part, WEEKDAY, 0, 6, 7));
    if (strcasecmp(part, "L") == 0) return day->weekday == 6;
    int number = *part == '*' ? 0 : read_number(&at, WEEKDAY, 1);
    if (*at == '#')
        return day->weekday + 1 == number && (day->day - 1) / 7 + 1 == (int)strtol(at + 1, NULL, 10);
    if (toupper((unsigned char)*at) == 'L' && at != part)
        return day->weekday + 1 == number && day->day + 7 > day->last;
    return part_has(part, WEEKDAY, 1, 7, day->weekday + 1);
}

static bool field_has(const struct slow_rule *rule, int field, int value, const struct day *day) {
    char parts[201], *rest = parts;
    if (!rule->fields[field]) return field != SECOND || value == 0;
    if (strcmp(rule->fields[field], "?") == 0) return true;
    memcpy(parts, rule->fields[field], strlen(rule->fields[field]) + 1);
    for (char *part; (part = strsep(&rest, ","));) {
        bool has = field == DAY       ? day_part_has(rule, part, day)
                   : field == WEEKDAY ? weekday_part_has(rule, part, day)
                                      : part_has(part, field, lows[field], highs[field], value);
        if (has) return true;
    }
    return false;
}

static struct day day_of(int64_t civil) {
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    time_t time = (time_t)civil;
    struct tm tm = {0};
    gmtime_r(&time, &tm);
    int year = tm.tm_year + 1900;
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return (struct day){year, tm.tm_mon + 1, tm.tm_mday, lengths[tm.tm_mon] + (leap && tm.tm_mon == 1),
                        tm.tm_wday};
}

bool slow_matches_day(const struct slow_rule *rule, int64_t civil) {
    struct day day = day_of(civil);
    if (!field_has(rule, MONTH, day.month, &day) || !field_has(rule, YEAR, day.year, &day)) return false;
    bool by_day = field_has(rule, DAY, 0, &day), by_weekday = field_has(rule, WEEKDAY, 0, &day);
    bool either = !rule->quartz && *rule->fields[DAY] != '*' && *rule->fields[WEEKDAY] != '*';
    return either ? by_day || by_weekday : by_day && by_weekday;
}

bool slow_matches(const struct slow_rule *rule, int64_t civil) {
    int64_t second = (civil % 86400 + 86400) % 86400;
    return rule->seconds[second % 60] && rule->minutes[second / 60 % 60] && rule->hours[second / 3600] &&
           slow_matches_day(rule, civil);
}

/* One part that spans all hours, with a step perhaps. */
static bool covers_all_hours(const char *hours) {
    if (*hours == '*') return !strchr(hours, ',');
    const char *at = hours;
    if (strchr(hours, ',') || read_number(&at, HOUR, 0) != 0) return false;
    if (*at == '/') return true;
    return *at == '-' && (at++, read_number(&at, HOUR, 0) == 23);
}

static const char *long_form(const char *text) {
    static const char *const names[][2] = {
        {"@hourly", "0 * * * *"},   {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
        {"@weekly", "0 0 * * 0"},   {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"},
        {"@annually", "0 0 1 1 *"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(text, names[i][0], strlen(names[i][0])) == 0) return names[i][1];
    return text;
}

bool slow_read(struct slow_rule *rule, const char *text) {
    char *words[7] = {NULL}, *rest = rule->text;
    int count = 0;
    *rule = (struct slow_rule){.quartz = false};
    text = long_form(text + strspn(text, " \t"));
    if (strncmp(text, "every ", 6) == 0 || strncmp(text, "after ", 6) == 0) return false;
    size_t length = strlen(text);
    while (length && strchr(" \t", text[length - 1]))
        length--;
    memcpy(rule->text, text, length);
    for (char *word; (word = strsep(&rest, " \t")) && count < 7;)
        if (*word) words[count++] = word;
    rule->quartz = count > 5;
    for (int i = 0; i < count; i++)
        rule->fields[rule->quartz ? i : i + 1] = words[i];
    for (int i = 0; i < 60; i++) {
        rule->seconds[i] = field_has(rule, SECOND, i, NULL);
        rule->minutes[i] = field_has(rule, MINUTE, i, NULL);
        if (i < 24) rule->hours[i] = field_has(rule, HOUR, i, NULL);
    }
    rule->all_hours = covers_all_hours(rule->fields[HOUR]);
    return true;
}
