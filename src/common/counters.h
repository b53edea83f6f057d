/* From when on `taskpool metrics` counts what workers did. Counters may only grow, and what they are summed
 * from is deleted some day, so they begin anew every six hours. Pure; read next: pool_metrics.c. */
#ifndef COMMON_COUNTERS_H
#define COMMON_COUNTERS_H

#include <stdint.h>

/* Workers write a minute down when it is over. So for two minutes the counters stay what they became, and
 * whoever reads them each minute sees the last of it; then they are 0 for two minutes, and he sees that they
 * begin anew; then they have all from the new beginning on. */
enum { COUNTERS_PERIOD_MS = 6 * 3600000, COUNTERS_STEP_MS = 120000 };

/* Minutes that began from since on and before until; none: both are the same. */
struct counters_range {
    int64_t since, until;
};

struct counters_range counters_range(int64_t now);

#endif
