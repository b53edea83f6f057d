/* Random numbers for jitter, ids and round robin. They are not meant to keep secrets. */
#ifndef TPI_BASE_RANDOM_H
#define TPI_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

enum { TPI_RANDOM_MAX = 16 };
/* At most TPI_RANDOM_MAX bytes. Any thread, and different in a forked child. */
void tpi_random_bytes(void *out, size_t size);
/* Any of 2^32 numbers alike. Any thread, and different in a forked child. */
uint32_t tpi_random(void);

#endif
