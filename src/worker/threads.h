/* A worker's threads; see threads.c. */
#ifndef TPI_WORKER_THREADS_H
#define TPI_WORKER_THREADS_H

#include "worker/watchdog.h"

enum { TPI_THREADS_ALWAYS = 7 };
enum tpi_slot_state { TPI_SLOT_FREE, TPI_SLOT_TAKEN, TPI_SLOT_LEFT };

/* Of a thread that comes and goes. */
struct tpi_slot {
    enum tpi_slot_state state;
    pthread_t thread; /* unless FREE; to be joined */
};

struct tpi_threads {
    struct tpi_lifetime *life;
    struct tpi_watchdog watchdog;
    struct tpi_signal changed;            /* live */
    pthread_t always[TPI_THREADS_ALWAYS]; /* those that are always there */
    size_t count;                         /* of these */
    size_t live;                          /* under the lock: of both kinds, that have not come to their end */
};

/* Starts one that is always there. */
TP_CHECKED tp_status tpi_threads_start(struct tpi_threads *threads, void *(*main)(void *), void *arg);
/* Starts one in a slot that the caller took. False: the system gives none. */
bool tpi_threads_start_in(struct tpi_threads *threads, struct tpi_slot *slot, void *(*main)(void *),
                          void *arg);
/* Waits for the end of those that are always there. */
void tpi_threads_join(struct tpi_threads *threads);

#endif
