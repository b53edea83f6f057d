/* What several themes use: lost calls, and connections lent by an application. */
#include <sqlext.h>

#include "suite.h"
#include "worker/faults.h"

void lose_call(const char *statement, const char *after, bool made) {
    faults_open(); /* other themes have hooks of their own */
    faults_clear();
    (void)faults_add((struct faults_aim){.statement = statement,
                                         .after = after,
                                         .times = 1,
                                         .fault = made ? TPI_FAULT_ANSWER_LOST : TPI_FAULT_NOT_SENT,
                                         .kind = FAULTS_DEAD});
}

static size_t nth;

void lose_nth_call(int at, bool made) {
    faults_open();
    faults_clear();
    nth = faults_add((struct faults_aim){.skip = at,
                                         .times = 1,
                                         .fault = made ? TPI_FAULT_ANSWER_LOST : TPI_FAULT_NOT_SENT,
                                         .kind = FAULTS_DEAD});
}

bool lost_nth_call(void) {
    bool hit = faults_hits(nth) > 0;
    faults_clear();
    return hit;
}

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
