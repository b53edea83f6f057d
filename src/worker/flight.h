/* The tasks that are in the hands of this process; see flight.c. */
#ifndef TPI_WORKER_FLIGHT_H
#define TPI_WORKER_FLIGHT_H

#include <stdbool.h>

struct tpi_item;

/* ENTERED: the item's task is now in hand, and done is set when an earlier claim's handler has ended well
 * here. HEIR: it is, and the handler is being called here under an earlier claim; the item is left to that
 * call's thread. RIVAL: another has it, given with a reference. */
enum tpi_flight { TPI_FLIGHT_ENTERED, TPI_FLIGHT_HEIR, TPI_FLIGHT_RIVAL };
enum tpi_flight tpi_flight_enter(struct tpi_item *item, struct tpi_item **rival);
void tpi_flight_leave(struct tpi_item *item);

#endif
