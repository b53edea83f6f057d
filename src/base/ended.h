/* Notifies threads of this process that a task has ended which they wait for (tp_await), once a worker of
 * this process has stored that. Costs one atomic load while nobody waits. Only a hint: nothing may depend on
 * it. */
#ifndef TPI_BASE_ENDED_H
#define TPI_BASE_ENDED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/uuid.h"

/* Of one thread. The rest is of ended.c. */
struct tpi_ended {
    char id[TPI_UUID_SIZE];
    pthread_cond_t cond;
    bool has_cond, notified;
    struct tpi_ended *next;
};

/* ended must live until it is removed. id: a UUID in lower case. */
void tpi_ended_add(struct tpi_ended *ended, const char *id);
void tpi_ended_remove(struct tpi_ended *ended);
/* Waits for at most so long. True: it was notified, since it was added or since the last wait. */
bool tpi_ended_wait(struct tpi_ended *ended, int64_t ms);
/* This task has ended, and that is committed. */
void tpi_ended_notify(const char *id);

#endif
