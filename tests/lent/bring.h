/* One lent connection of the tests of levels and of sessions that forgot: what it brings, and the
 * application's own part of its transaction. */
#ifndef TESTS_LENT_BRING_H
#define TESTS_LENT_BRING_H

#include "lent/ways.h"

/* One lent connection, and a key that nobody has. */
struct visit {
    const struct way *way;
    tp_conn *conn;
    char once_new[60];
};
/* Makes the key, and empties the pool of the test's handler and its effects. */
void key_of(struct visit *visit);
void close_lent(struct visit *visit, struct pool_raw *raw);

const struct way *way_named(const char *name);

enum bringing { ALONE, AMONG_MANY, IN_THE_LEDGER, BRINGINGS };
/* Brings the key, of many tasks with the last. */
tp_status bring(tp_conn *conn, const char *key, enum bringing how);

void effect_raw(SQLHDBC dbc, const char *note);
int64_t effects_raw(void); /* those that are committed */
void end_raw(SQLHDBC dbc, SQLSMALLINT how);

#endif
