/* Where connections come from: the connection string as the application gave it, and the one that the
 * driver's profile completed at the first connection. Any thread. Must not connect. Read next: link.c. */
#ifndef TPI_ODBC_SOURCE_H
#define TPI_ODBC_SOURCE_H

#include <pthread.h>
#include <sql.h>

#include "odbc/connstr.h"
#include "odbc/driver.h"
#include "odbc/slot.h"

struct tpi_source {
    SQLHENV henv;
    struct tpi_connstr given; /* constant after tpi_source_open */
    pthread_mutex_t lock;     /* for what follows */
    char *complete;           /* for SQLDriverConnect; NULL until the driver is known */
    struct tpi_write_slot write_slot;
};

/* Takes the pairs over, also on failure. */
TP_CHECKED tp_status tpi_source_open(struct tpi_source *source, struct tpi_connstr *given);
void tpi_source_close(struct tpi_source *source);
/* The string to connect with, as far as it is known; to be freed. NULL: no memory. *is_complete: the
 * profile's keys are in it. */
char *tpi_source_text(struct tpi_source *source, bool *is_complete);
/* Puts the profile's keys in. TP_MISUSE: a value that the profile refuses, a key that is missing or that
 * looks like a typing error. */
TP_CHECKED tp_status tpi_source_complete(struct tpi_source *source, const struct tpi_driver *driver);
/* TP_MISUSE: a key looks like a typing error of some driver's. For when no driver could be asked. */
TP_CHECKED tp_status tpi_source_check_typing(const struct tpi_source *source);

#endif
