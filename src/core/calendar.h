/* Business days: which days are open, and until when. Works on days (date.h) and minutes of a day; must not
 * know any clock, zone or database. Read next: planned.h. */
#ifndef TPI_CORE_CALENDAR_H
#define TPI_CORE_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "taskpool.h"

enum { TPI_DAY_MINUTES = 1440 };

/* A day that is not as its weekday says. */
struct tpi_special_day {
    int64_t date;
    tp_day_kind kind;
    int cut_off; /* minutes; 0: that of a whole day */
};

struct tpi_calendar {
    unsigned weekdays;   /* open ones as bits: 0 is Sunday */
    int cut_off;         /* of a whole day, in minutes: 1 to TPI_DAY_MINUTES, which is its end */
    int64_t first, last; /* the days that it knows */
    const struct tpi_special_day *days;
    size_t count; /* sorted by date, each once */
};

/* "MON-FRI", "SUN-THU", "MON,WED,FRI-SAT", "NONE", in any case. False: it cannot be read. */
bool tpi_weekdays_parse(const char *text, unsigned *weekdays);
/* "16:00", "24:00"; not "00:00". False: it cannot be read. */
bool tpi_cut_off_parse(const char *text, int *minutes);

bool tpi_calendar_knows(const struct tpi_calendar *calendar, int64_t date);
/* The day, with its cut-off (0 when it is closed). Of days that it does not know the weekday decides. */
struct tpi_special_day tpi_calendar_day(const struct tpi_calendar *calendar, int64_t date);
/* The n-th business day after a day, before it when n is negative; n is not 0. False: it is outside of the
 * days that the calendar knows. */
bool tpi_calendar_nth(const struct tpi_calendar *calendar, int64_t date, int32_t n, int64_t *found);

#endif
