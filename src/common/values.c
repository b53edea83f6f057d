/* Parses and prints numbers, durations and times. See values.h. */
#include "values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "taskpool.h"

#define DAY_MS INT64_C(86400000)

static const struct unit {
    const char *name;
    int64_t ms;
} units[] = {{"d", DAY_MS}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};
#define UNIT_COUNT (sizeof units / sizeof units[0])

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool value_integer(const char *text, int64_t least, int64_t most, int64_t *value) {
    long long number;
    char *end;

    if (!is_digit(text[*text == '-'])) return false;
    errno = 0;
    number = strtoll(text, &end, 10);
    if (*end || errno || number < least || number > most) return false;
    *value = number;
    return true;
}

bool value_duration(const char *text, int64_t *ms) {
    long long number;
    char *end;

    if (!is_digit(*text)) return false;
    errno = 0;
    number = strtoll(text, &end, 10);
    if (errno) return false;
    if (number == 0 && *end == '\0') {
        *ms = 0;
        return true;
    }
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (strcmp(end, units[i].name) != 0) continue;
        if (number > TP_DURATION_MAX / units[i].ms) return false;
        *ms = number * units[i].ms;
        return true;
    }
    return false;
}

/* Reads exactly width digits at *at and what follows them, if it is wanted. */
static bool read_digits(const char **at, int width, int least, int most, int *value) {
    int number = 0;

    for (int i = 0; i < width; i++) {
        if (!is_digit((*at)[i])) return false;
        number = number * 10 + ((*at)[i] - '0');
    }
    *at += width;
    *value = number;
    return number >= least && number <= most;
}

static bool read_mark(const char **at, const char *marks) {
    if (**at == '\0' || !strchr(marks, **at)) return false;
    (*at)++;
    return true;
}

static int days_in_month(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

/* Days since 1970 in the Gregorian calendar; years that begin in March put the leap day last. */
static int64_t days_since_1970(int year, int month, int day) {
    int64_t y = year - (month <= 2);
    int64_t era = y / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * 146097 + day_of_era - 719468;
}

static bool read_date(const char **at, int64_t *days) {
    int year = 0;
    int month = 0;
    int day = 0;

    if (!read_digits(at, 4, 1970, 9999, &year) || !read_mark(at, "-") || !read_digits(at, 2, 1, 12, &month) ||
        !read_mark(at, "-") || !read_digits(at, 2, 1, 31, &day) || day > days_in_month(year, month))
        return false;
    *days = days_since_1970(year, month, day);
    return true;
}

/* .1 .12 .123 are tenths, hundredths, thousandths. */
static bool read_fraction(const char **at, int *ms) {
    int unit = 100;

    if (!is_digit(**at)) return false;
    for (; is_digit(**at) && unit > 0; unit /= 10)
        *ms += (*(*at)++ - '0') * unit;
    return true;
}

static bool read_clock(const char **at, int64_t *clock_ms) {
    int hour = 0;
    int minute = 0;
    int second = 0;
    int ms = 0;

    if (!read_digits(at, 2, 0, 23, &hour) || !read_mark(at, ":") || !read_digits(at, 2, 0, 59, &minute))
        return false;
    if (read_mark(at, ":") && !read_digits(at, 2, 0, 59, &second)) return false;
    if (read_mark(at, ".") && !read_fraction(at, &ms)) return false;
    *clock_ms = ((int64_t)hour * 3600 + minute * 60 + second) * 1000 + ms;
    return true;
}

bool value_time(const char *text, int64_t *ms) {
    const char *at = text;
    int64_t days = 0;
    int64_t clock_ms = 0;

    if (value_integer(text, TIME_LEAST, TP_TIME_MAX, ms)) return true;
    if (!read_date(&at, &days) || !read_mark(&at, "Tt ") || !read_clock(&at, &clock_ms)) return false;
    if (strcmp(at, "Z") != 0 && strcmp(at, "z") != 0 && strcmp(at, "+00:00") != 0) return false;
    *ms = days * DAY_MS + clock_ms;
    return true;
}

const char *value_time_text(int64_t ms, char text[TIME_TEXT_SIZE]) {
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    char day[TIME_TEXT_SIZE / 2];

    if (ms == 0)
        snprintf(text, TIME_TEXT_SIZE, "-");
    else if (ms < 0 || !gmtime_r(&seconds, &tm) || strftime(day, sizeof day, "%Y-%m-%dT", &tm) == 0)
        snprintf(text, TIME_TEXT_SIZE, "%lld", (long long)ms);
    else
        snprintf(text, TIME_TEXT_SIZE, "%s%02d:%02d:%02d.%03dZ", day, tm.tm_hour, tm.tm_min, tm.tm_sec,
                 (int)(ms % 1000));
    return text;
}

const char *value_local_text(int64_t ms, char text[TIME_TEXT_SIZE]) {
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    char day[TIME_TEXT_SIZE / 2], offset[8];

    if (ms <= 0 || !localtime_r(&seconds, &tm) || !strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm) ||
        !strftime(offset, sizeof offset, "%z", &tm))
        return value_time_text(ms, text);
    snprintf(text, TIME_TEXT_SIZE, "%s.%03d%.3s:%.2s", day, (int)(ms % 1000), offset, offset + 3);
    return text;
}

const char *value_count_text(int64_t count, char text[TIME_TEXT_SIZE]) {
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%lld", (long long)count), used = 0;

    for (size_t i = 0; i < length; i++) {
        text[used++] = digits[i];
        if ((length - i) % 3 == 1 && i + 1 < length && digits[i] != '-') text[used++] = ',';
    }
    text[used] = '\0';
    return text;
}

const char *value_duration_text(int64_t ms, char text[TIME_TEXT_SIZE]) {
    size_t i = 0;

    while (i + 1 < UNIT_COUNT && (ms == 0 || ms % units[i].ms != 0))
        i++;
    snprintf(text, TIME_TEXT_SIZE, "%lld%s", (long long)(ms / units[i].ms), units[i].name);
    return text;
}

const char *value_age_text(int64_t ms, char text[TIME_TEXT_SIZE]) {
    long long seconds = (long long)(ms / 1000);

    if (seconds < 0) seconds = 0;
    if (seconds < 60)
        snprintf(text, TIME_TEXT_SIZE, "%llds", seconds);
    else if (seconds < 3600)
        snprintf(text, TIME_TEXT_SIZE, "%lldm %llds", seconds / 60, seconds % 60);
    else if (seconds < 86400)
        snprintf(text, TIME_TEXT_SIZE, "%lldh %lldm", seconds / 3600, seconds / 60 % 60);
    else
        snprintf(text, TIME_TEXT_SIZE, "%lldd %lldh", seconds / 86400, seconds / 3600 % 24);
    return text;
}
