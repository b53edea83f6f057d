/* The shard of a new task, where the library chooses it. */
#ifndef TPI_OPS_SHARDING_H
#define TPI_OPS_SHARDING_H

#include "taskpool.h"

/* TP_MISUSE with text when sharding, shard and shards do not go together. */
TP_CHECKED tp_status tpi_sharding_check(const tp_new_task *task);
/* The shard as given, or chosen: each call chooses anew where the choice is not by key. */
int32_t tpi_sharding_shard(const tp_new_task *task);

#endif
