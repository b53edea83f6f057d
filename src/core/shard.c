/* Hashes a key (FNV-1a) and takes it modulo the number of shards. See shard.h. */
#include "core/shard.h"

uint32_t tpi_shard_hash(const char *text) {
    uint32_t hash = 2166136261u;
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        hash = (hash ^ *at) * 16777619u;
    return hash;
}

int32_t tp_shard_of(const char *key, int32_t shards) {
    if (shards < 1) return 0;
    return 1 + (int32_t)(tpi_shard_hash(key ? key : "") % (uint32_t)shards);
}
