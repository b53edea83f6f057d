/* Time zones, from the system's tz database through GLib, which reads its files and leaves TZ and the rest of
 * the process alone. Changes of the clock are known until the year 2999. */
#ifndef TPI_BASE_ZONE_H
#define TPI_BASE_ZONE_H

#include <stdint.h>

#include "taskpool.h"

/* For one thread at a time. */
struct tpi_zone;

/* NULL or "": UTC, for which *zone becomes NULL. TP_MISUSE with text: no such zone. */
TP_CHECKED tp_status tpi_zone_open(const char *name, struct tpi_zone **zone);
void tpi_zone_close(struct tpi_zone *zone);
/* Around an instant (seconds since 1970 UTC): clocks show UTC plus offset seconds from *start to before *end,
 * and showed UTC plus *before until then. INT64_MIN and INT64_MAX: no change known. */
void tpi_zone_span(struct tpi_zone *zone, int64_t at, int64_t *start, int64_t *end, int64_t *offset,
                   int64_t *before);

#endif
