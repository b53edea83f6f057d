/* Checks retry policies and computes delays. See retry.h. */
#include "core/retry.h"

#include <string.h>

#include "core/sized.h"

enum { DEFAULT_FACTOR = 2 };

static const int64_t default_delays[] = {60000, 300000, 1200000};
static const tp_retry default_policy = {.size = sizeof(tp_retry),
                                        .delays_ms = default_delays,
                                        .count = sizeof default_delays / sizeof default_delays[0]};

/* ---- What is wrong with a policy ----------------------------------------------------------------------- */

static bool is_duration(int64_t ms) {
    return ms >= 0 && ms <= TP_DURATION_MAX;
}

static const char *ladder_fault(const tp_retry *policy) {
    if (policy->last_ms || policy->factor) return "tp_retry: last_ms and factor go with first_ms only";
    if (policy->count && !policy->delays_ms) return "tp_retry: count is not 0, so delays_ms must be given";
    for (size_t i = 0; i < policy->count; i++)
        if (!is_duration(policy->delays_ms[i]))
            return "tp_retry: a delay of the ladder is negative or longer than 100 years";
    return NULL;
}

static const char *exponential_fault(const tp_retry *policy) {
    if (policy->delays_ms) return "tp_retry: give delays_ms or first_ms, not both";
    if (policy->count == 0) return "tp_retry: with first_ms, count says how many retries there are";
    if (!is_duration(policy->first_ms)) return "tp_retry: first_ms is negative or longer than 100 years";
    if (!is_duration(policy->last_ms)) return "tp_retry: last_ms is negative or longer than 100 years";
    if (policy->last_ms && policy->last_ms < policy->first_ms)
        return "tp_retry: last_ms is less than first_ms";
    return policy->factor < 0 ? "tp_retry: factor is negative" : NULL;
}

static const char *callback_fault(const tp_retry *policy) {
    bool others = policy->delays_ms || policy->count || policy->first_ms || policy->last_ms || policy->factor;
    if (others) return "tp_retry: a policy with delay has no delays_ms, count, first_ms, last_ms or factor";
    return policy->jitter ? "tp_retry: a policy with delay has no jitter; delay may answer what it likes"
                          : NULL;
}

static const char *policy_fault(const tp_retry *policy) {
    if (policy->jitter < 0 || policy->jitter > 100) return "tp_retry: jitter is 0 to 100 percent";
    if (policy->on_lapse != TP_LAPSE_RETRY && policy->on_lapse != TP_LAPSE_FAIL &&
        policy->on_lapse != TP_LAPSE_SKIP)
        return "tp_retry: on_lapse is one of TP_LAPSE_RETRY, TP_LAPSE_FAIL, TP_LAPSE_SKIP";
    if (policy->delay) return callback_fault(policy);
    return policy->first_ms ? exponential_fault(policy) : ladder_fault(policy);
}

const char *tpi_retry_fault(const tp_retry *given) {
    const char *fault = given ? tpi_sized_read_fault(TPI_SIZED_retry, given) : NULL;
    if (!given || fault) return fault;
    tp_retry policy = tpi_retry_read(given);
    return policy_fault(&policy);
}

tp_retry tpi_retry_read(const tp_retry *given) {
    tp_retry policy = default_policy;
    if (given) tpi_sized_read(TPI_SIZED_retry, given, &policy);
    return policy;
}

/* ---- The last failure ---------------------------------------------------------------------------------- */

static int32_t max_of(const tp_retry *policy, int32_t task_max) {
    if (task_max > 0) return task_max;
    if (policy->delay) return INT32_MAX;
    return policy->count < INT32_MAX ? (int32_t)policy->count + 1 : INT32_MAX;
}

int32_t tpi_retry_max(const tp_retry *given, int32_t task_max) {
    tp_retry policy = tpi_retry_read(given);
    return max_of(&policy, task_max);
}

/* ---- The delay ----------------------------------------------------------------------------------------- */

/* Beyond the ladder its last rung, 0 for an empty one. */
static int64_t ladder_delay(const tp_retry *policy, int32_t failures) {
    if (policy->count == 0) return 0;
    size_t rung = failures > 1 ? (size_t)failures - 1 : 0;
    return policy->delays_ms[rung < policy->count ? rung : policy->count - 1];
}

static int64_t exponential_delay(const tp_retry *policy, int32_t failures) {
    int64_t cap = policy->last_ms ? policy->last_ms : TP_DURATION_MAX;
    int64_t factor = policy->factor ? policy->factor : DEFAULT_FACTOR;
    int64_t delay = policy->first_ms;
    if (factor == 1) return delay;
    for (int32_t i = 1; i < failures; i++) {
        if (delay > cap / factor) return cap;
        delay *= factor;
    }
    return delay;
}

/* Up to jitter percent shorter or longer. */
static int64_t add_jitter(int64_t delay, int32_t jitter, uint32_t random) {
    int64_t span = delay / 100 * jitter + delay % 100 * jitter / 100;
    uint64_t width = (uint64_t)span * 2 + 1;
    /* width * random / 2^32, in halves that do not overflow */
    uint64_t step = (width >> 32) * random + (((width & UINT32_MAX) * random) >> 32);
    int64_t jittered = delay - span + (int64_t)step;
    return jittered < TP_DURATION_MAX ? jittered : TP_DURATION_MAX;
}

static struct tpi_retry_say ask_callback(const tp_retry *policy, const tp_task *task, int32_t failures,
                                         const char *reason) {
    int64_t delay = policy->delay(task, failures, reason, policy->arg);
    if (delay < 0) return (struct tpi_retry_say){.last = true};
    return (struct tpi_retry_say){.delay_ms = delay < TP_DURATION_MAX ? delay : TP_DURATION_MAX};
}

struct tpi_retry_say tpi_retry_ask(const tp_retry *given, const tp_task *task, int32_t failures,
                                   const char *reason, uint32_t random) {
    tp_retry policy = tpi_retry_read(given);
    if (failures >= max_of(&policy, task->max_failures)) return (struct tpi_retry_say){.last = true};
    if (policy.delay) return ask_callback(&policy, task, failures, reason);
    int64_t delay = policy.first_ms ? exponential_delay(&policy, failures) : ladder_delay(&policy, failures);
    if (policy.jitter) delay = add_jitter(delay, policy.jitter, random);
    return (struct tpi_retry_say){.delay_ms = delay};
}

bool tpi_retry_jitters(const tp_retry *given) {
    return tpi_retry_read(given).jitter > 0;
}

const char *tpi_reason_holder(const char *reason) {
    const size_t length = strlen(TPI_REASON_LAPSED);
    return strncmp(reason, TPI_REASON_LAPSED, length) == 0 ? reason + length : NULL;
}
