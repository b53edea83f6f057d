/* Shards of keys. Pure; the same on every machine, for ever: rows in databases hang on it. */
#ifndef TPI_CORE_SHARD_H
#define TPI_CORE_SHARD_H

#include <stdint.h>

#include "taskpool.h"

/* The 32-bit FNV-1a hash of the bytes before the NUL. */
uint32_t tpi_shard_hash(const char *text);

#endif
