/* What a worker's owner may choose: limits and defaults. */
#include "worker/options.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "core/retry.h"
#include "core/sized.h"
#include "ops/for_workers.h"

enum { THREADS_MAX = 1000, QUEUE_MAX = 1000000, LEASE_MIN_MS = 100 };

static const struct tp_worker_options defaults = {
    .size = sizeof(tp_worker_options),
    .threads = 4,
    .keep_alive_ms = 60000,
    .queue = 1000,
    .batch = TP_CLAIM_MAX,
    .lease_ms = 60000,
    .hot_ms = 1,
    .poll_ms = 500,
    .settle_count = 100,
    .settle_ms = 5,
};

tp_status tpi_options_check_retry(const tp_retry *retry) {
    const char *fault = tpi_retry_fault(retry);
    return fault ? tpi_error(TP_MISUSE, "worker options: %s", fault) : TP_OK;
}

static tp_status check_sizes(const tp_worker_options *o) {
    if (o->threads < 0 || o->threads > THREADS_MAX)
        return tpi_error(TP_MISUSE, "worker options: threads is %d; use 1 to %d, or 0 for the default",
                         o->threads, THREADS_MAX);
    int threads = o->threads ? o->threads : defaults.threads;
    if (o->threads_max < 0 || o->threads_max > THREADS_MAX || (o->threads_max && o->threads_max < threads))
        return tpi_error(TP_MISUSE, "worker options: threads_max is %d; use %d (threads) to %d, or 0",
                         o->threads_max, threads, THREADS_MAX);
    if (o->queue > QUEUE_MAX)
        return tpi_error(TP_MISUSE, "worker options: queue is %zu; at most %d", o->queue, QUEUE_MAX);
    if (o->batch > TP_CLAIM_MAX)
        return tpi_error(TP_MISUSE, "worker options: batch is %zu; at most %d", o->batch, TP_CLAIM_MAX);
    if (o->settle_count > TP_CLAIM_MAX)
        return tpi_error(TP_MISUSE, "worker options: settle_count is %zu; at most %d", o->settle_count,
                         TP_CLAIM_MAX);
    if (o->alert_group_max > TPI_ALERT_GROUP_MAX)
        return tpi_error(TP_MISUSE, "worker options: alert_group_max is %zu; at most %d", o->alert_group_max,
                         TPI_ALERT_GROUP_MAX);
    if (o->shard_count > TP_CLAIM_SHARDS_MAX || (o->shard_count && !o->shards))
        return tpi_error(TP_MISUSE, "worker options: shards must hold shard_count numbers, at most %d",
                         TP_CLAIM_SHARDS_MAX);
    return TP_OK;
}

static tp_status check_durations(const tp_worker_options *o) {
    const struct {
        const char *name;
        int64_t ms;
    } all[] = {{"keep_alive_ms", o->keep_alive_ms},
               {"poll_ms", o->poll_ms},
               {"idle_ms", o->idle_ms},
               {"initial_delay_ms", o->initial_delay_ms},
               {"settle_ms", o->settle_ms},
               {"stop_ms", o->stop_ms},
               {"hot_ms", o->hot_ms},
               {"alert_group_ms", o->alert_group_ms}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].ms < 0 || all[i].ms > TP_DURATION_MAX)
            return tpi_error(TP_MISUSE, "worker options: %s is %" PRId64 "; use at least 0, at most %" PRId64,
                             all[i].name, all[i].ms, TP_DURATION_MAX);
    if (o->lease_ms != 0 && (o->lease_ms < LEASE_MIN_MS || o->lease_ms > TP_DURATION_MAX))
        return tpi_error(TP_MISUSE, "worker options: lease_ms is %" PRId64 "; use at least %d, or 0",
                         o->lease_ms, LEASE_MIN_MS);
    return TP_OK;
}

static tp_status check_hooks(const tp_hook *hooks, size_t count) {
    if (count > TP_HOOKS_MAX || (count && !hooks))
        return tpi_error(TP_MISUSE, "worker options: hooks must hold hook_count hooks, at most %d",
                         TP_HOOKS_MAX);
    for (size_t i = 0; i < count; i++) {
        const tp_hook *hook = (const void *)((const char *)hooks + i * hooks->size);
        const char *fault = tpi_sized_read_fault(TPI_SIZED_hook, hook);
        if (!fault && hook->size != hooks->size) fault = "tp_hook: size is not that of the first";
        if (fault) return tpi_error(TP_MISUSE, "worker options: %s", fault);
    }
    return TP_OK;
}

static tp_status check_choices(const tp_worker_options *o) {
    if ((unsigned)o->when_full > TP_FULL_ABORT)
        return tpi_error(TP_MISUSE, "worker options: when_full is %d, which is no tp_full",
                         (int)o->when_full);
    if ((unsigned)o->pace > TP_PACE_RATE)
        return tpi_error(TP_MISUSE, "worker options: pace is %d, which is no tp_pace", (int)o->pace);
    if (o->hot_ms && o->pace == TP_PACE_RATE)
        return tpi_error(TP_MISUSE, "worker options: with TP_PACE_RATE claims come at fixed times; leave "
                                    "hot_ms 0, or use TP_PACE_DELAY");
    if (o->on_alert && o->on_alert_group)
        return tpi_error(TP_MISUSE, "worker options: use on_alert or on_alert_group, not both");
    tp_status status = check_hooks(o->hooks, o->hook_count);
    return status == TP_OK ? tpi_options_check_retry(o->retry) : status;
}

static void fill_in(tp_worker_options *o) {
    if (!o->threads) o->threads = defaults.threads;
    if (!o->threads_max) o->threads_max = o->threads;
    if (!o->keep_alive_ms) o->keep_alive_ms = defaults.keep_alive_ms;
    if (!o->queue) o->queue = defaults.queue;
    if (!o->batch) o->batch = defaults.batch;
    if (!o->lease_ms) o->lease_ms = defaults.lease_ms;
    /* Who chose no pause has one that follows what comes, and idle_ms is the longest. */
    if (!o->poll_ms && !o->hot_ms && o->pace == TP_PACE_DELAY) o->hot_ms = defaults.hot_ms;
    if (!o->poll_ms) o->poll_ms = o->hot_ms && o->idle_ms ? o->idle_ms : defaults.poll_ms;
    if (!o->idle_ms) o->idle_ms = o->poll_ms;
    if (!o->settle_count) o->settle_count = defaults.settle_count;
    if (!o->alert_group_max) o->alert_group_max = TPI_ALERT_GROUP_MAX;
    if (!o->settle_ms) o->settle_ms = defaults.settle_ms;
}

tp_status tpi_options_read(const tp_worker_options *given, tp_worker_options *out) {
    tp_worker_options o = {0};
    if (given) {
        const char *fault = tpi_sized_read_fault(TPI_SIZED_worker_options, given);
        if (fault) return tpi_error(TP_MISUSE, "%s", fault);
        tpi_sized_read(TPI_SIZED_worker_options, given, &o);
    }
    tp_status status = check_sizes(&o);
    if (status == TP_OK) status = check_durations(&o);
    if (status == TP_OK) status = check_choices(&o);
    if (status != TP_OK) return status;
    fill_in(&o);
    *out = o;
    return TP_OK;
}
