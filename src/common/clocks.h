/* This machine's clocks, for pauses and for people to read. What is due is decided by the database's clock
 * alone. */
#ifndef COMMON_CLOCKS_H
#define COMMON_CLOCKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Milliseconds of the monotonic clock. */
int64_t clock_ms(void);
/* Milliseconds since 1970 UTC: for people to read. */
int64_t clock_utc_ms(void);
void clock_sleep(int64_t ms);
void clock_sleep_us(int64_t us);

/* A condition whose waits end by clock_ms. False: the system gives none. */
bool clock_cond_init(pthread_cond_t *changed);
/* Waits for a change until then, of clock_ms. Called with the lock held. False: it is past. */
bool clock_cond_wait(pthread_cond_t *changed, pthread_mutex_t *lock, int64_t until);

#endif
