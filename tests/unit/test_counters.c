/* The counters of `taskpool metrics` through their beginnings anew, read by a scraper that knows only that
 * what becomes less began at 0. */
#include "common/counters.h"
#include "support/test.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, WRITTEN_AFTER = 70 * SECOND };

/* Minutes of that many, written down when they are over, at the latest after ten seconds. */
static int64_t sum(int64_t now, int64_t from, int64_t (*of)(int64_t minute)) {
    struct counters_range range = counters_range(now);
    int64_t total = 0;
    for (int64_t minute = from; minute + WRITTEN_AFTER <= now; minute += MINUTE)
        if (minute >= range.since && minute < range.until) total += of(minute);
    return total;
}

static int64_t even(int64_t minute) {
    return 1 + minute / MINUTE % 7;
}

/* As many at once as in a whole period, at its very beginning. */
static int64_t bursts(int64_t minute) {
    return minute % COUNTERS_PERIOD_MS == 0 ? 1000 : 0;
}

static void check_scraper(int64_t every, int64_t phase, int64_t (*of)(int64_t minute)) {
    const int64_t from = (int64_t)20000 * COUNTERS_PERIOD_MS, first = from + 10 * MINUTE + phase;
    const int64_t last = from + 3 * (int64_t)COUNTERS_PERIOD_MS + 5 * MINUTE;
    int64_t before = sum(first, from, of), increase = before, wanted = 0, now = first;
    for (; now + every <= last; before = sum(now, from, of)) {
        now += every;
        int64_t value = sum(now, from, of);
        increase += value < before ? value : value - before;
    }
    for (int64_t minute = from; minute + WRITTEN_AFTER <= now; minute += MINUTE)
        wanted += of(minute);
    if (increase != wanted)
        fail_msg("every %lld ms, %lld later: %lld, not %lld", (long long)every, (long long)phase,
                 (long long)increase, (long long)wanted);
}

TEST(test_counters__a_reader_of_each_minute_sees_all_and_nothing_twice) {
    for (int64_t phase = 0; phase < MINUTE; phase += SECOND) {
        check_scraper(MINUTE, phase, even);
        check_scraper(MINUTE, phase, bursts);
    }
    check_scraper(15 * SECOND, 0, even);
    check_scraper(COUNTERS_STEP_MS / 2 + 45 * SECOND, 0, bursts);
}
