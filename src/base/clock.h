/* Clocks of this machine. They pace sleeps, measure calls, and carry a database's clock on between two
 * readings of it. Whatever the database decides must not depend on them. */
#ifndef TPI_BASE_CLOCK_H
#define TPI_BASE_CLOCK_H

#include <stdint.h>

/* Never goes back; no meaning beyond differences. */
int64_t tpi_clock_mono_ms(void);
int64_t tpi_clock_mono_us(void);
/* The same, and goes on while the machine sleeps, where the system has such a clock: for what the database's
 * time is compared with. */
int64_t tpi_clock_boot_ms(void);
/* Since 1970 UTC. */
int64_t tpi_clock_wall_ms(void);

#endif
