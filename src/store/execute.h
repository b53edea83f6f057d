/* One execution: prepares the statement or finds it prepared, binds what the arguments hold, and executes. A
 * statement that the server no longer knows is prepared anew, in a new session where ours may be left. It
 * must not know the database's clock: clock.c asks for it through here. Read next: prepared.h. */
#ifndef TPI_STORE_EXECUTE_H
#define TPI_STORE_EXECUTE_H

#include "store/store.h"

/* Puts into the args what hangs on the session: another one may be another server's. */
typedef tp_status tpi_fill_fn(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                              size_t rows);

/* rows: how many args there are. changes: it may wait for locks. fill: called before each try; NULL: none. */
TP_CHECKED tp_status tpi_execute(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                                 size_t rows, bool changes, tpi_fill_fn *fill, struct tpi_stmt **stmt);

#endif
