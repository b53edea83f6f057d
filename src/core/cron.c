/* Cron rules against the calendar, without zones. See cron.h. */
#include "core/cron.h"

#include "core/date.h"

enum { YEARS_AHEAD = 400, LAST_YEAR = 9999 };

/* The Monday to Friday nearest to a day, inside the month; 0: the month has no such day. */
static int nearest_workday(const struct tpi_date *date, int day) {
    if (day < 1 || day > date->last) return 0;
    int weekday = (date->weekday + day - date->day + 35) % 7;
    if (weekday == 6) return day == 1 ? 3 : day - 1;
    if (weekday == 0) return day == date->last ? day - 2 : day + 1;
    return day;
}

static bool near_matches(const struct tpi_cron_rule *rule, const struct tpi_date *date) {
    if (!rule->near_days && !rule->near_last_days) return false;
    for (int n = 0; n <= 31; n++) {
        if (rule->near_days >> n & 1 && nearest_workday(date, n) == date->day) return true;
        if (rule->near_last_days >> n & 1 && nearest_workday(date, date->last - n) == date->day) return true;
    }
    return false;
}

static bool day_matches(const struct tpi_cron_rule *rule, const struct tpi_date *date) {
    bool by_day = (rule->days >> date->day & 1) || (rule->last_days >> (date->last - date->day) & 1) ||
                  near_matches(rule, date);
    bool by_weekday = (rule->weekdays >> date->weekday & 1) ||
                      (rule->nth_weekdays[(date->day + 6) / 7] >> date->weekday & 1) ||
                      (date->day + 7 > date->last && (rule->last_weekdays >> date->weekday & 1));
    return rule->either ? by_day || by_weekday : by_day && by_weekday;
}

static bool month_matches(const struct tpi_cron_rule *rule, const struct tpi_date *date) {
    int year = date->year - 1970;
    if (!(rule->months >> date->month & 1)) return false;
    return rule->any_year || (year >= 0 && year < 192 && (rule->years[year / 64] >> (year % 64) & 1));
}

/* The first member of the set from a number on; limit: there is none below it. */
static int first_from(uint64_t set, int from, int limit) {
    while (from < limit && !(set >> from & 1))
        from++;
    return from;
}

/* The first matching second of a day from this one on; negative: none. */
static int second_of_day(const struct tpi_cron_rule *rule, int from) {
    int from_hour = from / 3600, from_minute = from / 60 % 60, from_second = from % 60;
    for (int hour = first_from(rule->hours, from_hour, 24); hour < 24;
         hour = first_from(rule->hours, hour + 1, 24)) {
        int minute = first_from(rule->minutes, hour == from_hour ? from_minute : 0, 60);
        bool same = hour == from_hour && minute == from_minute;
        int second = first_from(rule->seconds, same ? from_second : 0, 60);
        if (minute < 60 && second == 60) {
            minute = first_from(rule->minutes, minute + 1, 60);
            second = first_from(rule->seconds, 0, 60);
        }
        if (minute < 60 && second < 60) return hour * 3600 + minute * 60 + second;
    }
    return -1;
}

bool tpi_cron_next(const struct tpi_cron_rule *rule, int64_t civil, int64_t *next) {
    int64_t number = tpi_floor_div(civil + 1, TPI_DAY_S);
    int from = (int)(civil + 1 - number * TPI_DAY_S);
    struct tpi_date date = tpi_date_of(number);
    int until = date.year + YEARS_AHEAD < LAST_YEAR ? date.year + YEARS_AHEAD : LAST_YEAR;
    while (date.year <= until) {
        if (!month_matches(rule, &date)) {
            number += date.last - date.day;
        } else if (day_matches(rule, &date)) {
            int second = second_of_day(rule, from);
            if (second >= 0) {
                *next = number * TPI_DAY_S + second;
                return true;
            }
        }
        number++;
        from = 0;
        date = tpi_date_of(number);
    }
    return false;
}
