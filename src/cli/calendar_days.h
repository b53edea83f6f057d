/* The days of a calendar, read from a file. CSV: calendar_csv.c. iCalendar: calendar_ics.c. Must not know the
 * database. Read next: calendar.c. */
#ifndef CLI_CALENDAR_DAYS_H
#define CLI_CALENDAR_DAYS_H

#include "cli.h"

struct days {
    tp_calendar_day *all; /* their texts are theirs */
    size_t count, room;
};

enum { DAYS_ERROR_SIZE = 400 };

/* A copy of the texts, of which cut_off and name may be NULL. */
void days_add(struct days *days, const char *date, tp_day_kind kind, const char *cut_off, const char *name);
void days_free(struct days *days);

/* These read a whole file, which ends in NUL. False: error says what is wrong. */
bool days_from_csv(const char *text, size_t length, struct days *days, char error[DAYS_ERROR_SIZE]);
/* Events of whole days are closed days, those that begin during a day make it a half day until then. until:
 * the last date of events that recur; NULL: none may. Times are shown in the zone that TZ names. */
bool days_from_ics(const char *text, const char *until, struct days *days, char error[DAYS_ERROR_SIZE]);

#endif
