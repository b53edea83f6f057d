/* Retry policies: which failure is the last, and how long to wait after one that is not. Pure: the random
 * number comes from the caller. */
#ifndef TPI_CORE_RETRY_H
#define TPI_CORE_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "taskpool.h"

/* What is wrong with the policy, for people; NULL: nothing. given NULL is the default ladder, here
 * and below. */
const char *tpi_retry_fault(const tp_retry *given);

/* A policy without a fault, of whatever header, as this library knows it. */
tp_retry tpi_retry_read(const tp_retry *given);

/* The number of the failure that sends a task to the failed pool: the task's own limit when it has one (> 0),
 * else one more than the policy has retries; INT32_MAX where only a callback knows. */
int32_t tpi_retry_max(const tp_retry *given, int32_t task_max);

struct tpi_retry_say {
    bool last;
    int64_t delay_ms; /* unless it is the last */
};
/* What the policy says to failure number failures (1 and up) of the task. random: any number, for jitter. */
struct tpi_retry_say tpi_retry_ask(const tp_retry *given, const tp_task *task, int32_t failures,
                                   const char *reason, uint32_t random);
/* Does an answer depend on the random number? */
bool tpi_retry_jitters(const tp_retry *given);

/* The reason written by the claim that met a lapsed lease goes on with the token that held it. A later claim
 * puts the second text in front: so the first one always speaks of the claim that holds the row. */
#define TPI_REASON_LAPSED  "lease lapsed, held by "
#define TPI_REASON_EARLIER "earlier: "
/* The token in a reason of the first kind. NULL: it is none. */
const char *tpi_reason_holder(const char *reason);

#endif
