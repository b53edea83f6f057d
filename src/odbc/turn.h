/* Turns at writing among the connections of one source, for a driver that waits for another writer by asking
 * again every few milliseconds: then most of the time nobody writes. Only a courtesy to the others: who has
 * waited for long goes on without a turn, and the database decides as ever. */
#ifndef TPI_ODBC_TURN_H
#define TPI_ODBC_TURN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct tpi_turn {
    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t given;
    bool taken;
    bool handed; /* from one to the next: the first of those waiting who wakes up has it */
    size_t waiting;
};

struct tpi_link;

void tpi_turn_init(struct tpi_turn *turn);
void tpi_turn_destroy(struct tpi_turn *turn);

/* Before a connection begins to write, and when it is done. Nothing where the driver needs no turns, or the
 * connection has one, or has none. */
void tpi_turn_take(struct tpi_link *link);
void tpi_turn_give(struct tpi_link *link);

#endif
