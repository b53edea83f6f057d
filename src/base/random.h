/* Chance, for jitter and spreading; nothing secret hangs on it. */
#ifndef TPI_BASE_RANDOM_H
#define TPI_BASE_RANDOM_H

#include <stdint.h>

/* Any of 2^32 numbers alike. Any thread, and different in a forked child. */
uint32_t tpi_random(void);

#endif
