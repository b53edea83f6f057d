/* See sharding.h. Round robin counts by handler, so that producers which alternate between handlers fill the
 * shards of each evenly; handlers that share a counter by chance still do. It begins anywhere: many short
 * processes would otherwise all begin with shard 1. */
#include "ops/sharding.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/random.h"
#include "core/shard.h"

enum { COUNTERS = 256 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t first; /* the count with which each begins */
static atomic_uint counters[COUNTERS];

static void begin(void) {
    first = tpi_random();
}

static int32_t next_shard(const char *handler, int32_t shards) {
    pthread_once(&once, begin);
    uint32_t count = atomic_fetch_add(&counters[tpi_shard_hash(handler) % COUNTERS], 1);
    return 1 + (int32_t)((first % (uint32_t)shards + count % (uint32_t)shards) % (uint32_t)shards);
}

tp_status tpi_sharding_check(const tp_new_task *task) {
    if (task->sharding == TP_SHARDING_NONE)
        return task->shards ? tpi_error(TP_MISUSE, "shards goes with sharding; give a shard, or set sharding")
                            : TP_OK;
    if (task->sharding != TP_SHARDING_KEY && task->sharding != TP_SHARDING_ROUND_ROBIN &&
        task->sharding != TP_SHARDING_RANDOM)
        return tpi_error(TP_MISUSE, "sharding is none of TP_SHARDING_NONE, TP_SHARDING_KEY, "
                                    "TP_SHARDING_ROUND_ROBIN and TP_SHARDING_RANDOM");
    if (task->shard) return tpi_error(TP_MISUSE, "give shard or sharding, not both");
    if (task->shards < 1)
        return tpi_error(TP_MISUSE, "sharding needs shards, the number of shards: 1 or more");
    if (task->sharding == TP_SHARDING_KEY && (!task->biz_key || !*task->biz_key))
        return tpi_error(TP_MISUSE, "TP_SHARDING_KEY chooses the shard by biz_key, which is missing");
    return TP_OK;
}

int32_t tpi_sharding_shard(const tp_new_task *task) {
    switch (task->sharding) {
    case TP_SHARDING_KEY:
        return tp_shard_of(task->biz_key, task->shards);
    case TP_SHARDING_ROUND_ROBIN:
        return next_shard(task->handler, task->shards);
    case TP_SHARDING_RANDOM:
        return 1 + (int32_t)(tpi_random() % (uint32_t)task->shards);
    case TP_SHARDING_NONE:
        break;
    }
    return task->shard;
}
