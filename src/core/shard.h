/* Computes the shard of a key. Pure. The result must never change, on no machine and in no version: rows in
 * databases hold shard numbers. */
#ifndef TPI_CORE_SHARD_H
#define TPI_CORE_SHARD_H

#include <stdint.h>

#include "taskpool.h"

/* The 32-bit FNV-1a hash of the bytes before the NUL. */
uint32_t tpi_shard_hash(const char *text);

#endif
