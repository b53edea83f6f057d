/* See counters.h. */
#include "counters.h"

struct counters_range counters_range(int64_t now) {
    int64_t begin = now - now % COUNTERS_PERIOD_MS;

    if (now - begin < COUNTERS_STEP_MS) return (struct counters_range){begin - COUNTERS_PERIOD_MS, begin};
    if (now - begin < 2 * COUNTERS_STEP_MS) return (struct counters_range){begin, begin};
    return (struct counters_range){begin, begin + COUNTERS_PERIOD_MS};
}
