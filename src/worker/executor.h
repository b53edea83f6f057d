/* The handler threads; see executor.c. */
#ifndef TPI_WORKER_EXECUTOR_H
#define TPI_WORKER_EXECUTOR_H

#include "worker/poller.h"
#include "worker/threads.h"

struct tpi_executors {
    struct tpi_sessions *sessions;
    struct tpi_threads *threads;
    struct tpi_queue *queue;
    struct tpi_poller *poller;
    struct tpi_runs *runs;
};

/* Starts one more, if there may be more. False: there may not, or the system gives none. */
bool tpi_executors_add(struct tpi_executors *executors);

#endif
