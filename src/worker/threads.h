/* A worker's threads; see threads.c. */
#ifndef TPI_WORKER_THREADS_H
#define TPI_WORKER_THREADS_H

#include "worker/watchdog.h"

enum { TPI_THREADS_OTHER = 10 }; /* beside threads_max executors, at most; one is one more executor */

struct tpi_slot;

/* Under the lifetime's lock. */
struct tpi_threads {
    struct tpi_lifetime *life;
    struct tpi_watchdog *watchdog;
    struct tpi_slot *slots;
    size_t slot_count;
    size_t live; /* threads that have not come to their end */
};

/* False: no memory. */
bool tpi_threads_init(struct tpi_threads *threads, size_t most);
void tpi_threads_free(struct tpi_threads *threads);
/* Not in two threads at once. */
TP_CHECKED tp_status tpi_threads_start(struct tpi_threads *threads, void *(*main)(void *), void *arg);
/* Waits for the end of all. */
void tpi_threads_join(struct tpi_threads *threads);

#endif
