/* The statements that a connection keeps prepared, those used last at the end of the list. Which are to be
 * prepared anew is decided in execute.c. */
#ifndef TPI_STORE_PREPARED_H
#define TPI_STORE_PREPARED_H

#include "store/store.h"

/* NULL: not there. */
struct tpi_prepared *tpi_prepared_find(struct tpi_store *store, enum tpi_statement statement,
                                       const struct tpi_repeats *repeats);
/* One more, which is not prepared yet; drops those not used for longest where the connection has as many as
 * it may. NULL: no memory. */
struct tpi_prepared *tpi_prepared_add(struct tpi_store *store, enum tpi_statement statement,
                                      const struct tpi_repeats *repeats);
void tpi_prepared_forget(struct tpi_store *store, struct tpi_prepared *prepared);
void tpi_prepared_forget_all(struct tpi_store *store);

#endif
