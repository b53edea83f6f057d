/* Wakes workers of this process as soon as an enqueue of this process has added tasks for them. A database
 * does not notify its clients of new rows; inside one process the enqueue can. Costs one atomic load while
 * nobody listens. Only a hint: nothing may depend on it. */
#ifndef TPI_BASE_WAKE_H
#define TPI_BASE_WAKE_H

#include <stdbool.h>
#include <stdint.h>

/* The tasks that came: of one handler and one priority, or (handler NULL) of several. */
struct tpi_arrival {
    const char *handler;
    int32_t priority;
};

struct tpi_wake {
    bool (*wants)(const struct tpi_arrival *arrival, void *arg);
    void (*wake)(const struct tpi_arrival *arrival, void *arg); /* must not call back into this file */
    void *arg;
    struct tpi_wake *next; /* of this file */
};

/* wake must live until it is removed; after that neither function is called any more. */
void tpi_wake_add(struct tpi_wake *wake);
void tpi_wake_remove(struct tpi_wake *wake);
/* They can be claimed now. */
void tpi_wake_signal(const struct tpi_arrival *arrival);

#endif
