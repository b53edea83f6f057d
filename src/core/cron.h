/* The rules of schedules: what their texts mean and which instant comes next. Works on calendar fields and on
 * what a caller says of a time zone. Must not know any clock, database or zone name. Reading a text is in
 * cron_parse.c, the calendar in cron.c, changes of the clock in cron_zone.c. */
#ifndef TPI_CORE_CRON_H
#define TPI_CORE_CRON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "taskpool.h"

enum tpi_rule_kind { TPI_RULE_CRON, TPI_RULE_EVERY, TPI_RULE_AFTER };

/* Sets are bits by number: bit 3 of months is March. Days of the month that depend on the month have sets of
 * their own; a day matches when it is in one of them. */
struct tpi_cron_rule {
    enum tpi_rule_kind kind;
    int64_t period_ms; /* every, after */
    uint64_t seconds, minutes;
    uint32_t hours, months;
    uint32_t days;            /* 1 to 31 */
    uint32_t last_days;       /* so many days before the last: L is 0 */
    uint32_t near_days;       /* the weekday nearest to that day: nW */
    uint32_t near_last_days;  /* and to so many days before the last: LW is 0 */
    uint32_t weekdays;        /* 0 is Sunday */
    uint32_t last_weekdays;   /* the month's last such weekday: nL */
    uint32_t nth_weekdays[6]; /* [k]: the month's k-th such weekday: n#k */
    uint64_t years[3];        /* 1970 and on */
    bool any_year;
    bool either;    /* the day of the month or the weekday is enough, not both */
    bool all_hours; /* follows elapsed time when clocks are changed */
};

enum { TPI_RULE_ERROR = 300 };

/* False: error says which part cannot be read and what is allowed. */
bool tpi_rule_parse(const char *text, struct tpi_cron_rule *rule, char error[TPI_RULE_ERROR]);

/* Civil seconds are what a clock on the wall shows, counted from its 1970-01-01 00:00:00. The first that
 * matches a cron rule after this one; false: none within 400 years. */
bool tpi_cron_next(const struct tpi_cron_rule *rule, int64_t civil, int64_t *next);

/* What a zone does around an instant (seconds since 1970 UTC): since start and until before end its clocks
 * show UTC plus offset; before was the offset until start. INT64_MIN and INT64_MAX: no change known. */
struct tpi_span {
    int64_t start, end;
    int64_t offset, before;
};
typedef void (*tpi_span_fn)(void *zone, int64_t at, struct tpi_span *span);

/* The rule's first instant after after_ms, in a zone; span NULL: UTC. TP_NONE: never again. */
tp_status tpi_rule_next(const struct tpi_cron_rule *rule, tpi_span_fn span, void *zone, int64_t after_ms,
                        int64_t *next_ms);

#endif
