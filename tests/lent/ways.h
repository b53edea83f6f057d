/* The ways in which applications set their connections, and lending such a connection. */
#ifndef TESTS_LENT_WAYS_H
#define TESTS_LENT_WAYS_H

#include "support/pool.h"

struct way {
    const char *name;
    bool (*on)(void);        /* the entries that have it; NULL: all */
    const char *sql;         /* run after connecting, or NULL */
    const char *key, *value; /* of the connection string, or NULL */
    SQLULEN level;           /* SQL_ATTR_TXN_ISOLATION, or 0 */
    SQLULEN version;         /* SQL_ATTR_ODBC_VERSION; 0: 3 */
    const char *next;     /* run before a transaction, for it alone, so that the session does not show it */
    SQLINTEGER attribute; /* another attribute of the connection, or 0 */
    SQLULEN set_to;
};

/* The i-th way of this entry; NULL beyond the last. */
const struct way *way_at(size_t i);
/* Connects, in manual-commit mode or not. Does not lend the connection. */
void way_connect(const struct way *way, SQLULEN autocommit, struct pool_raw *raw);
/* Sets it, before or after it is lent. False: the driver does not know the level or attribute. */
bool way_set(const struct way *way, SQLHDBC dbc);
/* Both; nothing is open when it is false. */
bool way_open(const struct way *way, SQLULEN autocommit, struct pool_raw *raw);
/* The application's own part of the transaction, which comes first: it begins it, and reads. */
void way_begin(const struct way *way, SQLHDBC dbc);

#endif
