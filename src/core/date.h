/* Days of the Gregorian calendar, counted from 1970-01-01, without clocks or zones. */
#ifndef TPI_CORE_DATE_H
#define TPI_CORE_DATE_H

#include <stdbool.h>
#include <stdint.h>

enum { TPI_DAY_S = 86400 };

struct tpi_date {
    int year, month, day;
    int last;    /* of the month */
    int weekday; /* 0 is Sunday */
};

int64_t tpi_floor_div(int64_t a, int64_t b);
struct tpi_date tpi_date_of(int64_t number);
/* The number of a date that exists, of the years 0 to 9999. */
int64_t tpi_date_number(int year, int month, int day);

/* "2026-12-24", of the years 1970 to 9999, nothing before or behind it. False: no such date. */
bool tpi_date_parse(const char *text, int64_t *number);
enum { TPI_DATE_SIZE = 11 };
/* number is of those years. */
void tpi_date_text(int64_t number, char text[TPI_DATE_SIZE]);

#endif
