/* For a program that ends its transactions itself, in place of SQLEndTran: the answer of its first commit is
 * lost. TASKPOOL_TEST_COMMIT says whether it was done: unanswered  it was undone      it was not */
#include <stdlib.h>
#include <string.h>

#include <sql.h>

SQLRETURN end_tran_lost(SQLSMALLINT kind, SQLHANDLE handle, SQLSMALLINT how);

SQLRETURN end_tran_lost(SQLSMALLINT kind, SQLHANDLE handle, SQLSMALLINT how) {
    static int lost;
    if (how != SQL_COMMIT || lost++) return SQLEndTran(kind, handle, how);
    const char *which = getenv("TASKPOOL_TEST_COMMIT");
    int undone = which && strcmp(which, "undone") == 0;
    SQLEndTran(kind, handle, undone ? SQL_ROLLBACK : SQL_COMMIT);
    return SQL_ERROR;
}
