/* A slow reader of rules that the parser has taken, written after docs/schedules.md and not after the code:
 * does the rule match a civil second? */
#ifndef SLOW_CRON_H
#define SLOW_CRON_H

#include <stdbool.h>
#include <stdint.h>

struct slow_rule {
    char text[201];
    char *fields[7]; /* second minute hour day month weekday year; NULL: not given */
    bool quartz;
    bool seconds[60], minutes[60], hours[24]; /* looked up once */
    bool all_hours;
};

/* text is a cron rule or a nickname. False: it is a period. */
bool slow_read(struct slow_rule *rule, const char *text);
/* Civil seconds are counted as in core/cron.h. */
bool slow_matches(const struct slow_rule *rule, int64_t civil);
/* The calendar alone: is the day that holds this civil second one of the rule's? */
bool slow_matches_day(const struct slow_rule *rule, int64_t civil);

#endif
