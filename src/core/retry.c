/* See retry.h. */
#include "core/retry.h"

static const int64_t default_delays[] = {60000, 300000, 1200000};
static const tp_retry default_policy = {.size = sizeof(tp_retry),
                                        .delays_ms = default_delays,
                                        .count = sizeof default_delays / sizeof default_delays[0]};

int32_t tpi_retry_max(const tp_retry *policy, int32_t task_max) {
    if (task_max > 0) return task_max;
    if (!policy) policy = &default_policy;
    return policy->count < INT32_MAX ? (int32_t)policy->count + 1 : INT32_MAX;
}

int64_t tpi_retry_delay(const tp_retry *policy, int32_t failures) {
    if (!policy) policy = &default_policy;
    if (policy->count == 0) return 0;
    size_t rung = failures > 1 ? (size_t)failures - 1 : 0;
    return policy->delays_ms[rung < policy->count ? rung : policy->count - 1];
}
