/* Rules and zones: what the parser takes, its next time lies behind the start, a slow reader of the same text
 * agrees that it is one, and finds none in between; what it refuses, it explains. */
#include "core/cron.h"
#include "base/zone.h"
#include "fuzz.h"
#include "slow_cron.h"

enum { DAY_S = 86400, DAYS_LOOKED_AT = 150 };
#define LAST (TP_TIME_MAX / 1000)

static const char *const zones[] = {
    "",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "Pacific/Apia",
    "Africa/Casablanca",
    "America/Sao_Paulo",
    "Asia/Tehran",
    "Antarctica/Troll",
    "Europe/Dublin",
    "Africa/Monrovia",
    "America/Caracas",
    "Pacific/Kwajalein",
    "Asia/Shanghai",
    "Antarctica/Casey",
};
enum { ZONES = sizeof zones / sizeof zones[0] };

/* One rule in one zone. */
struct plan {
    struct tpi_cron_rule rule;
    struct slow_rule slow;
    struct tpi_zone *zone; /* NULL: UTC */
};

static void span_of(void *zone, int64_t at, struct tpi_span *span) {
    tpi_zone_span(zone, at, &span->start, &span->end, &span->offset, &span->before);
    require(span->start <= at && at < span->end);
}

/* The last answer is kept: most questions are about the minute after. */
static struct tpi_span span_at(const struct plan *plan, int64_t at) {
    static const struct tpi_span none = {INT64_MIN, INT64_MAX, 0, 0};
    static struct tpi_zone *zone;
    static struct tpi_span span;
    if (!plan->zone) return none;
    if (zone != plan->zone || at < span.start || at >= span.end) span_of(plan->zone, at, &span);
    zone = plan->zone;
    return span;
}

static bool matches_within(const struct slow_rule *rule, int64_t from, int64_t to) {
    for (int64_t civil = from; civil < to; civil++)
        if (slow_matches(rule, civil)) return true;
    return false;
}

/* The table of docs/schedules.md, for one instant. */
static bool fires(const struct plan *plan, int64_t at) {
    struct tpi_span span = span_at(plan, at);
    int64_t moved = span.offset - span.before, since = span.start == INT64_MIN ? INT64_MAX : at - span.start;
    bool matches = slow_matches(&plan->slow, at + span.offset);
    if (plan->slow.all_hours)
        return matches || (since < moved && slow_matches(&plan->slow, at + span.before));
    if (since < -moved) return false;
    if (matches || since != 0 || moved <= 0) return matches;
    return matches_within(&plan->slow, at + span.before, at + span.offset);
}

/* None in from <= at < to. Rules without seconds are looked at each minute, where the zone's minutes are
 * those of UTC and the last change was far away. */
static void check_none_near(const struct plan *plan, int64_t from, int64_t to) {
    while (from < to) {
        struct tpi_span span = span_at(plan, from);
        bool by_minute = !plan->slow.quartz && span.offset % 60 == 0 && span.before % 60 == 0 &&
                         from % 60 == 0 && (span.start == INT64_MIN || span.start % 60 == 0) &&
                         from + 60 <= span.end;
        require(!fires(plan, from));
        from += by_minute ? 60 : 1;
    }
}

/* No day of the rule's between these, both left out. */
static void check_no_day(const struct plan *plan, int64_t from, int64_t to) {
    int64_t day = from / DAY_S + 2, end = to / DAY_S - 2;
    for (int i = 0; i < DAYS_LOOKED_AT && day <= end; i++, day++)
        require(!slow_matches_day(&plan->slow, day * DAY_S));
}

/* None between, both left out; all of it is looked at where that is short, else both ends and the days. */
static void check_none(const struct plan *plan, int64_t after, int64_t next) {
    int64_t near = plan->slow.quartz ? 1800 : DAY_S + 7200;
    if (next - after <= 2 * near) {
        check_none_near(plan, after + 1, next);
        return;
    }
    check_none_near(plan, after + 1, after + near);
    check_none_near(plan, next - near, next);
    check_no_day(plan, after + DAY_S, next - DAY_S);
}

static void check_next(const struct plan *plan, int64_t after_ms) {
    int64_t next_ms = -1, after = after_ms / 1000;
    tp_status status =
        tpi_rule_next(&plan->rule, plan->zone ? span_of : NULL, plan->zone, after_ms, &next_ms);
    if (plan->rule.kind != TPI_RULE_CRON) {
        require(status == TP_OK ? next_ms == after_ms + plan->rule.period_ms && next_ms <= TP_TIME_MAX
                                : after_ms + plan->rule.period_ms > TP_TIME_MAX);
        return;
    }
    require(status == TP_OK || status == TP_NONE);
    if (status == TP_NONE) {
        int64_t until = after + (int64_t)(DAYS_LOOKED_AT + 5) * DAY_S;
        check_none(plan, after, until < LAST ? until : LAST);
        return;
    }
    require(next_ms > after_ms && next_ms <= TP_TIME_MAX && next_ms % 1000 == 0);
    require(fires(plan, next_ms / 1000));
    check_none(plan, after, next_ms / 1000);
}

/* Any instant, or one near a change of the zone's clock. */
static int64_t start_of(const struct plan *plan, struct fuzz *fuzz) {
    uint64_t number = fuzz_number(fuzz);
    int64_t ms = (int64_t)(number >> 4) % (number & 8 ? TP_TIME_MAX : INT64_C(4102444800000));
    if (!plan->zone || !(number & 3)) return ms;
    struct tpi_span span = span_at(plan, ms / 1000);
    if (span.start < DAY_S * 4) return ms;
    int64_t before = (int64_t)(number & 3) * 3600 + (int64_t)(number >> 54);
    return (span.start - before) * 1000 + (int64_t)(number >> 44 & 1023);
}

static struct tpi_zone *zone_number(size_t i) {
    static struct tpi_zone *open[ZONES];
    if (i && !open[i]) require(tpi_zone_open(zones[i], &open[i]) == TP_OK);
    return open[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz fuzz = {data, size};
    struct plan plan = {.zone = zone_number(fuzz_byte(&fuzz) % ZONES)};
    int64_t after_ms = start_of(&plan, &fuzz);
    char *text = fuzz_rest(&fuzz), error[TPI_RULE_ERROR] = "";
    if (!tpi_rule_parse(text, &plan.rule, error)) {
        require(*error != '\0' && strlen(error) < TPI_RULE_ERROR);
    } else {
        require(*error == '\0');
        require(slow_read(&plan.slow, text) == (plan.rule.kind == TPI_RULE_CRON));
        require(plan.rule.kind != TPI_RULE_CRON || plan.rule.all_hours == plan.slow.all_hours);
        check_next(&plan, after_ms);
    }
    free(text);
    return 0;
}
