/* Cron rules against the calendar, without zones. See cron.h. */
#include "core/cron.h"

enum { DAY_S = 86400, YEARS_AHEAD = 400, LAST_YEAR = 9999 };

struct date {
    int year, month, day;
    int last;    /* of the month */
    int weekday; /* 0 is Sunday */
};

static int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

static int month_days(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* number: days since 1970-01-01. Years are counted from March, so that the leap day ends them. */
static struct date date_of(int64_t number) {
    int64_t shifted = number + 719468;
    int64_t era = floor_div(shifted, 146097);
    int64_t of_era = shifted - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t from_march = (5 * of_year + 2) / 153;
    struct date date = {.month = (int)(from_march < 10 ? from_march + 3 : from_march - 9),
                        .day = (int)(of_year - (153 * from_march + 2) / 5 + 1),
                        .weekday = (int)((number % 7 + 11) % 7)};
    date.year = (int)(year + era * 400 + (date.month <= 2));
    date.last = month_days(date.year, date.month);
    return date;
}

/* The Monday to Friday nearest to a day, inside the month; 0: the month has no such day. */
static int nearest_workday(const struct date *date, int day) {
    if (day < 1 || day > date->last) return 0;
    int weekday = (date->weekday + day - date->day + 35) % 7;
    if (weekday == 6) return day == 1 ? 3 : day - 1;
    if (weekday == 0) return day == date->last ? day - 2 : day + 1;
    return day;
}

static bool near_matches(const struct tpi_cron_rule *rule, const struct date *date) {
    if (!rule->near_days && !rule->near_last_days) return false;
    for (int n = 0; n <= 31; n++) {
        if (rule->near_days >> n & 1 && nearest_workday(date, n) == date->day) return true;
        if (rule->near_last_days >> n & 1 && nearest_workday(date, date->last - n) == date->day) return true;
    }
    return false;
}

static bool day_matches(const struct tpi_cron_rule *rule, const struct date *date) {
    bool by_day = (rule->days >> date->day & 1) || (rule->last_days >> (date->last - date->day) & 1) ||
                  near_matches(rule, date);
    bool by_weekday = (rule->weekdays >> date->weekday & 1) ||
                      (rule->nth_weekdays[(date->day + 6) / 7] >> date->weekday & 1) ||
                      (date->day + 7 > date->last && (rule->last_weekdays >> date->weekday & 1));
    return rule->either ? by_day || by_weekday : by_day && by_weekday;
}

static bool month_matches(const struct tpi_cron_rule *rule, const struct date *date) {
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
    int64_t number = floor_div(civil + 1, DAY_S);
    int from = (int)(civil + 1 - number * DAY_S);
    struct date date = date_of(number);
    int until = date.year + YEARS_AHEAD < LAST_YEAR ? date.year + YEARS_AHEAD : LAST_YEAR;
    while (date.year <= until) {
        if (!month_matches(rule, &date)) {
            number += date.last - date.day;
        } else if (day_matches(rule, &date)) {
            int second = second_of_day(rule, from);
            if (second >= 0) {
                *next = number * DAY_S + second;
                return true;
            }
        }
        number++;
        from = 0;
        date = date_of(number);
    }
    return false;
}
