/* A lock around the driver manager where it loads and unloads drivers: its own covers the loading, not what a
 * driver does for the first time then. Only a courtesy: a connect that hangs, because its server accepts and
 * says nothing, loses the lock to the next one that waits, so no server holds up connections to another. */
#ifndef TPI_ODBC_LOADER_LOCK_H
#define TPI_ODBC_LOADER_LOCK_H

/* Gives the holder's number, for tpi_loader_unlock. */
unsigned long tpi_loader_lock(void);
void tpi_loader_unlock(unsigned long number);

#endif
