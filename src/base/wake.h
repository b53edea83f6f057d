/* Who in this process wants to know at once that tasks of a handler came. The database says nothing of itself
 * to its clients; inside one process the enqueue can. Costs one atomic load while nobody listens. Only a
 * hint: nothing may depend on it. */
#ifndef TPI_BASE_WAKE_H
#define TPI_BASE_WAKE_H

#include <stdbool.h>

struct tpi_wake {
    bool (*wants)(const char *handler, void *arg); /* handler NULL: of any */
    void (*wake)(void *arg);                       /* must not call back into this file */
    void *arg;
    struct tpi_wake *next; /* of this file */
};

/* wake must live until it is removed; after that neither function is called any more. */
void tpi_wake_add(struct tpi_wake *wake);
void tpi_wake_remove(struct tpi_wake *wake);
/* Tasks of this handler (NULL: of some) can be claimed now. */
void tpi_wake_signal(const char *handler);

#endif
