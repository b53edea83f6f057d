/* This machine's clocks, for pauses and for people to read. What is due is decided by the database's clock
 * alone. */
#ifndef COMMON_CLOCKS_H
#define COMMON_CLOCKS_H

#include <stdint.h>

/* Milliseconds of the monotonic clock. */
int64_t clock_ms(void);
/* Milliseconds since 1970 UTC: for people to read. */
int64_t clock_utc_ms(void);
void clock_sleep(int64_t ms);
void clock_sleep_us(int64_t us);

#endif
