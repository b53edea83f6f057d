/* Computes the planned times of a schedule, forwards and backwards. See schedule_times.h. */
#include "ops/schedule_times.h"

#include <string.h>

#include "base/error.h"

/* How far back the search for the latest planned times begins; it doubles. */
enum { WINDOW_MS = 60000 };

tp_status tpi_times_open(const char *rule, const char *time_zone, struct tpi_times *times) {
    char error[TPI_RULE_ERROR];
    if (!rule) return tpi_error(TP_MISUSE, "a schedule needs a rule");
    if (!tpi_rule_parse(rule, &times->rule, error)) return tpi_error(TP_MISUSE, "%s", error);
    return tpi_zone_open(time_zone, &times->zone);
}

void tpi_times_close(struct tpi_times *times) {
    tpi_zone_close(times->zone);
    times->zone = NULL;
}

void tpi_times_span(void *zone, int64_t at, struct tpi_span *span) {
    tpi_zone_span(zone, at, &span->start, &span->end, &span->offset, &span->before);
}

tp_status tpi_times_next(struct tpi_times *times, int64_t after_ms, int64_t *next_ms) {
    return tpi_rule_next(&times->rule, times->zone ? tpi_times_span : NULL, times->zone, after_ms, next_ms);
}

/* Those after one time and up to now; the latest, in a ring. */
static size_t count_between(struct tpi_times *times, int64_t after_ms, int64_t now_ms, size_t max,
                            int64_t *ring) {
    size_t count = 0;
    int64_t next = 0;
    while (tpi_times_next(times, after_ms, &next) == TP_OK && next <= now_ms) {
        ring[count++ % max] = next;
        after_ms = next;
    }
    return count;
}

/* Rotates the ring of the latest max of count so that the earliest comes first. */
static size_t unroll(int64_t *ring, size_t count, size_t max) {
    if (count <= max) return count;
    for (size_t steps = count % max; steps; steps--) {
        int64_t first = ring[0];
        memmove(ring, ring + 1, (max - 1) * sizeof *ring);
        ring[max - 1] = first;
    }
    return max;
}

/* Periods are counted from the first. */
static size_t periods_passed(int64_t period_ms, int64_t first_ms, int64_t now_ms, size_t max,
                             int64_t *passed) {
    int64_t steps = (now_ms - first_ms) / period_ms;
    size_t count = steps + 1 < (int64_t)max ? (size_t)steps + 1 : max;
    for (size_t i = 0; i < count; i++)
        passed[i] = first_ms + (steps - (int64_t)(count - 1 - i)) * period_ms;
    return count;
}

size_t tpi_times_passed(struct tpi_times *times, int64_t first_ms, int64_t now_ms, size_t max,
                        int64_t *passed) {
    if (times->rule.kind == TPI_RULE_AFTER) {
        passed[0] = first_ms;
        return 1;
    }
    if (times->rule.kind == TPI_RULE_EVERY)
        return periods_passed(times->rule.period_ms, first_ms, now_ms, max, passed);
    for (int64_t window = WINDOW_MS; now_ms - window > first_ms; window *= 2) {
        size_t count = count_between(times, now_ms - window, now_ms, max, passed);
        if (count >= max) return unroll(passed, count, max);
    }
    size_t count = count_between(times, first_ms, now_ms, max, passed);
    if (count >= max) return unroll(passed, count, max);
    memmove(passed + 1, passed, count * sizeof *passed);
    passed[0] = first_ms;
    return count + 1;
}

tp_status tp_schedule_next(const char *rule, const char *time_zone, int64_t after_ms, int64_t *next_ms) {
    struct tpi_times times = {0};
    if (!next_ms) return tpi_error(TP_MISUSE, "tp_schedule_next: next_ms is NULL");
    if (after_ms < -TP_TIME_MAX || after_ms > TP_TIME_MAX)
        return tpi_error(TP_MISUSE, "the time is later than the year 9999");
    tp_status status = tpi_times_open(rule, time_zone, &times);
    if (status != TP_OK) return status;
    status = tpi_times_next(&times, after_ms, next_ms);
    tpi_times_close(&times);
    return status;
}
