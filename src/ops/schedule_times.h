/* The planned times of a schedule, by its rule and its time zone. It must not know schedules' rows. Read
 * next: core/cron.h, schedule_fire.c. */
#ifndef TPI_OPS_PLAN_TIME_H
#define TPI_OPS_PLAN_TIME_H

#include "base/zone.h"
#include "core/cron.h"

struct tpi_times {
    struct tpi_cron_rule rule;
    struct tpi_zone *zone; /* NULL: UTC */
};

/* TP_MISUSE with text: the rule or the zone cannot be read. */
TP_CHECKED tp_status tpi_times_open(const char *rule, const char *time_zone, struct tpi_times *times);
void tpi_times_close(struct tpi_times *times);
/* Of a struct tpi_zone, for the core. */
void tpi_times_span(void *zone, int64_t at, struct tpi_span *span);
/* The first planned time after this one. TP_NONE: never again. */
TP_CHECKED tp_status tpi_times_next(struct tpi_times *times, int64_t after_ms, int64_t *next_ms);

/* The planned times from the first, which is not after now, up to now: the latest of them, at most max, in
 * rising order. Gives how many. */
size_t tpi_times_passed(struct tpi_times *times, int64_t first_ms, int64_t now_ms, size_t max,
                        int64_t *passed);

#endif
