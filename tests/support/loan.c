/* See loan.h. */
#include "support/loan.h"

#include <sqlext.h>

#include "support/check.h"

struct loan loan_open(SQLULEN autocommit) {
    struct loan loan = {0};
    sure(pool_raw_open(&loan.raw), "cannot open a plain connection");
    SQLSetConnectAttr(loan.raw.dbc, SQL_ATTR_TXN_ISOLATION, (SQLPOINTER)SQL_TXN_READ_COMMITTED, 0);
    SQLSetConnectAttr(loan.raw.dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)autocommit, 0);
    must(tp_conn_borrow(pool.env, loan.raw.dbc, &loan.conn));
    return loan;
}

void loan_close(struct loan *loan) {
    tp_conn_close(loan->conn);
    pool_raw_close(&loan->raw);
}

void loan_end(struct loan *loan, SQLSMALLINT how) {
    assert_true(SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, loan->raw.dbc, how)));
}
