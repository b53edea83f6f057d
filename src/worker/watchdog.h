/* Who of a worker's threads waits for the database, and since when; see watchdog.c. */
#ifndef TPI_WORKER_WATCHDOG_H
#define TPI_WORKER_WATCHDOG_H

#include <stdatomic.h>
#include <stdint.h>

#include "worker/lifetime.h"
#include "worker/notify.h"

/* One thread's. */
struct tpi_wait {
    struct tpi_wait *next;      /* under the watchdog's lock */
    atomic_int_least64_t since; /* monotonic; 0: it does not wait */
    _Atomic(const char *) who;  /* its session's */
    int64_t reported_for;       /* the since that was reported; the watchdog thread's */
};

/* How long an answer may take before it is reported. Only tests change it. */
extern int64_t tpi_watchdog_limit_ms;

/* The waits of a worker's threads. */
struct tpi_watchdog {
    struct tpi_lifetime *life;
    struct tpi_notify *notify;
    pthread_mutex_t lock;
    struct tpi_wait *waits; /* under the lock: of all threads that are there */
};

/* The thread that looks; arg is the watchdog. */
void *tpi_watchdog_main(void *arg);

/* How long the longest of the waits lasts, in ms; 0: nobody waits. From any thread. */
int64_t tpi_watchdog_longest(struct tpi_watchdog *watchdog);

/* A thread's first and last call; wait is the watchdog's until then. */
void tpi_watchdog_enter(struct tpi_watchdog *watchdog, struct tpi_wait *wait);
void tpi_watchdog_leave(struct tpi_watchdog *watchdog);
/* Around what asks the database. who: a constant */
void tpi_watchdog_begin(const char *who);
void tpi_watchdog_end(void);

#endif
