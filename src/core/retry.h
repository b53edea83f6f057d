/* The retry ladder: which failure is the last, and how long to wait after one that is not. Pure. */
#ifndef TPI_CORE_RETRY_H
#define TPI_CORE_RETRY_H

#include <stdint.h>

#include "taskpool.h"

/* The number of the failure that sends the task to the failed pool: the task's own limit when it has one (>
 * 0), else one more than the ladder has rungs. policy NULL: the default ladder. */
int32_t tpi_retry_max(const tp_retry *policy, int32_t task_max);
/* The delay after failure number failures (1 and up); beyond the ladder its last rung, 0 for an empty one. */
int64_t tpi_retry_delay(const tp_retry *policy, int32_t failures);

#endif
