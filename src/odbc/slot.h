/* Two things that connections must do one at a time. The write slot is for drivers that wait for another
 * writer by polling: one connection of a source at a time begins to write. The connect slot is for the whole
 * process: connecting and disconnecting, because the driver manager locks the loading of a driver but not
 * its first use. A connection that has waited too long goes on without the slot, so correctness must not
 * depend on it. Read next: link.h. */
#ifndef TPI_ODBC_SLOT_H
#define TPI_ODBC_SLOT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* The write slot of the connections of one source. */
struct tpi_write_slot {
    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t given;
    bool taken;
    bool handed; /* from one connection to the next: the first that wakes up has it */
    size_t waiting;
};

struct tpi_link;

void tpi_write_slot_init(struct tpi_write_slot *slot);
void tpi_write_slot_destroy(struct tpi_write_slot *slot);

/* Before a connection begins to write, and when it is done. Does nothing where the driver needs no slot, or
 * the connection has it, or does not have it. */
void tpi_write_slot_take(struct tpi_link *link);
void tpi_write_slot_give(struct tpi_link *link);

/* Around a connect or disconnect, in the whole process. A connect that hangs, because its server accepts and
 * says nothing, loses the slot to the next that waits, so no server holds up connections to another. Gives
 * the holder's number, for the end. */
unsigned long tpi_connect_slot_take(void);
void tpi_connect_slot_give(unsigned long holder);

#endif
