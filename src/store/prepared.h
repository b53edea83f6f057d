/* The statements that a connection keeps prepared, those used last at the end of the list. */
#ifndef TPI_STORE_PREPARED_H
#define TPI_STORE_PREPARED_H

#include "store/store.h"

/* NULL: not there. */
struct tpi_prepared *tpi_prepared_find(struct tpi_store *store, enum tpi_statement statement,
                                       const struct tpi_places *places);
/* For one more, before it is prepared: drops those not used for longest where the connection has as many as
 * it may. */
void tpi_prepared_make_room(struct tpi_store *store);
/* The list owns it then. False: no memory. */
bool tpi_prepared_add(struct tpi_store *store, struct tpi_prepared *prepared);
void tpi_prepared_forget(struct tpi_store *store, struct tpi_prepared *prepared);
void tpi_prepared_forget_all(struct tpi_store *store);

#endif
