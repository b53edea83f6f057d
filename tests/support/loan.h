/* A connection that the application opened itself, and taskpool on it. */
#ifndef TESTS_SUPPORT_LOAN_H
#define TESTS_SUPPORT_LOAN_H

#include "support/pool.h"

struct loan {
    struct pool_raw raw;
    tp_conn *conn;
};
/* autocommit: SQL_AUTOCOMMIT_ON or SQL_AUTOCOMMIT_OFF. */
struct loan loan_open(SQLULEN autocommit);
void loan_close(struct loan *loan);
/* SQL_COMMIT or SQL_ROLLBACK. */
void loan_end(struct loan *loan, SQLSMALLINT how);

#endif
