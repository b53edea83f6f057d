/* Inserts and updates that the database refused because of the application's own constraints, unique indexes
 * or triggers on the pool's tables, and how to tell them from rows of the pool that are in the way. */
#ifndef TPI_OPS_REFUSED_H
#define TPI_OPS_REFUSED_H

#include "store/store.h"

/* A statement changed nothing, without an error, and what would explain it is not there. what: the end of
 * "the database ...". TP_DB; dooms the transaction. */
TP_CHECKED tp_status tpi_refused_silently(struct tpi_store *store, const char *what, const char *table);

/* Is it the failure of a statement that met a row with the same key? */
bool tpi_refused_as_there(tp_status status);

/* May it be a rule of the application's own that refused what failed so? Not when the disk failed, or the
 * connection is lost. */
bool tpi_refused_by_rule(const struct tpi_store *store, tp_status status);

/* Of the failure of a statement that met a row with the same key: what it is. find answers whether a row of
 * the pool's has the key; TP_NONE: none has, so it is an index of the application's own, and asking again is
 * no use: TP_DB with the server's words. It is also called in the transaction that failed; where the database
 * lets nobody read then, and when such a row is there, the failure stays what it was. find NULL: nothing of
 * the pool's can have it. */
typedef tp_status tpi_find_fn(struct tpi_store *store, void *arg);
TP_CHECKED tp_status tpi_refused_judge(struct tpi_store *store, tp_status status, const char *table,
                                       tpi_find_fn *find, void *arg);
/* After an error that a row with this key is there: what find says of it; TP_NONE of find: the error stands.
 */
TP_CHECKED tp_status tpi_refused_or_there(struct tpi_store *store, tp_status status, tpi_find_fn *find,
                                          void *arg);

#endif
