/* One at a time into the driver manager where it loads and unloads drivers: its own lock covers the loading,
 * not what a driver does for the first time then. Only a courtesy: a connect that hangs, because its server
 * accepts and says nothing, loses its turn to the next one that waits, so no server holds up connections to
 * another. */
#ifndef TPI_ODBC_LOADER_H
#define TPI_ODBC_LOADER_H

/* Gives the turn's number, for tpi_loader_leave. */
unsigned long tpi_loader_enter(void);
void tpi_loader_leave(unsigned long turn);

#endif
