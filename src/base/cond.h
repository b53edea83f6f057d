/* Condition variables that wait by the monotonic clock: a clock that is set cannot stretch a wait, or cut it
 * short. */
#ifndef TPI_BASE_COND_H
#define TPI_BASE_COND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* False: no memory; then there is nothing to destroy. */
bool tpi_cond_init(pthread_cond_t *cond);
/* Called with the lock held. Waits until woken, or until the time of tpi_clock_mono_ms; INT64_MAX: for ever.
 * False: the time has come. */
bool tpi_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_ms);

#endif
