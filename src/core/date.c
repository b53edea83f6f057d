/* See date.h. */
#include "core/date.h"

#include <stdio.h>
#include <string.h>

int64_t tpi_floor_div(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

static int month_days(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Years are counted from March, so that the leap day ends them. */
struct tpi_date tpi_date_of(int64_t number) {
    int64_t shifted = number + 719468;
    int64_t era = tpi_floor_div(shifted, 146097);
    int64_t of_era = shifted - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t from_march = (5 * of_year + 2) / 153;
    struct tpi_date date = {.month = (int)(from_march < 10 ? from_march + 3 : from_march - 9),
                            .day = (int)(of_year - (153 * from_march + 2) / 5 + 1),
                            .weekday = (int)((number % 7 + 11) % 7)};
    date.year = (int)(year + era * 400 + (date.month <= 2));
    date.last = month_days(date.year, date.month);
    return date;
}

int64_t tpi_date_number(int year, int month, int day) {
    int64_t from_march = month > 2 ? month - 3 : month + 9;
    int64_t shifted = month > 2 ? year : (int64_t)year - 1;
    int64_t era = tpi_floor_div(shifted, 400);
    int64_t of_era = shifted - era * 400;
    int64_t of_year = (153 * from_march + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int digits(const char *text, int count) {
    int number = 0;
    for (int i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9') return -1;
        number = number * 10 + (text[i] - '0');
    }
    return number;
}

bool tpi_date_parse(const char *text, int64_t *number) {
    if (!text || strlen(text) != TPI_DATE_SIZE - 1 || text[4] != '-' || text[7] != '-') return false;
    int year = digits(text, 4), month = digits(text + 5, 2), day = digits(text + 8, 2);
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > month_days(year, month)) return false;
    *number = tpi_date_number(year, month, day);
    return true;
}

void tpi_date_text(int64_t number, char text[TPI_DATE_SIZE]) {
    struct tpi_date date = tpi_date_of(number);
    snprintf(text, TPI_DATE_SIZE, "%04u-%02u-%02u", (unsigned)date.year % 10000U, (unsigned)date.month % 100U,
             (unsigned)date.day % 100U);
}
