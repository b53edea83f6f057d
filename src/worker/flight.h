/* The tasks that are in the hands of this process; see flight.c. */
#ifndef TPI_WORKER_FLIGHT_H
#define TPI_WORKER_FLIGHT_H

#include <stdbool.h>

struct tpi_item;

/* NULL: the item's task is now marked as in hand, and done is set when an earlier claim's handler has ended
 * well here. Else the item that has it, with a reference. */
struct tpi_item *tpi_flight_enter(struct tpi_item *item);
void tpi_flight_leave(struct tpi_item *item);
/* Plan hold, which enters what is done: beside whatever has the task. */
void tpi_flight_add(struct tpi_item *item);
/* Plan hold, before the handler is called: has it ended well here under an earlier claim? */
bool tpi_flight_done(struct tpi_item *item);

#endif
