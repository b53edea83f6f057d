/* A program that has been there for twenty years, with its own ODBC connection and its own transactions. It
 * only puts tasks in, and they are there exactly when its order is.
 *
 *   SHOP_DSN      its own connection string
 *   TASKPOOL_DSN  the same database, for taskpool: Dialect= and Prefix= are read, nothing is connected
 *
 *   taskpool schema install    the pool's tables, once
 *   ./legacy 7 book            stores order 7 and its tasks
 *   ./legacy 8 book cancel     changes its mind before the commit: neither is there
 */
#include <stdio.h>
#include <stdlib.h>

#include <sqlext.h>
#include <taskpool_odbc.h>

/* ---- As it was before ---------------------------------------------------------------------------------- */

static int execute(SQLHDBC dbc, const char *sql) {
    SQLHSTMT stmt;
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt))) return 0;
    int done = SQL_SUCCEEDED(SQLExecDirect(stmt, (SQLCHAR *)sql, SQL_NTS));
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return done;
}

/* Other levels may be lent too; at READ COMMITTED every call works there (docs/borrowing.md). */
static int connect_to_shop(SQLHENV *env, SQLHDBC *dbc) {
    SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, env);
    SQLSetEnvAttr(*env, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0);
    SQLAllocHandle(SQL_HANDLE_DBC, *env, dbc);
    if (!SQL_SUCCEEDED(SQLDriverConnect(*dbc, NULL, (SQLCHAR *)getenv("SHOP_DSN"), SQL_NTS, NULL, 0, NULL,
                                        SQL_DRIVER_NOPROMPT)))
        return 0;
    SQLSetConnectAttr(*dbc, SQL_ATTR_TXN_ISOLATION, (SQLPOINTER)SQL_TXN_READ_COMMITTED, 0);
    execute(*dbc, "CREATE TABLE example_orders (id INTEGER, item VARCHAR(40))");
    return SQL_SUCCEEDED(SQLSetConnectAttr(*dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)SQL_AUTOCOMMIT_OFF, 0));
}

static int store_order(SQLHDBC dbc, long order, const char *item) {
    char sql[200];
    snprintf(sql, sizeof sql, "INSERT INTO example_orders (id, item) VALUES (%ld, '%.40s')", order, item);
    return execute(dbc, sql);
}

/* ---- What is new ----------------------------------------------------------------------------------------
 */

static tp_status put_tasks(SQLHDBC dbc, long order) {
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    char key[40];
    tp_new_task tasks[2] = {TP_NEW_TASK_INIT, TP_NEW_TASK_INIT};
    snprintf(key, sizeof key, "order-%ld", order);
    tasks[0].handler = "points";
    tasks[0].params = "100";
    tasks[1].handler = "mail";
    tasks[0].biz_key = tasks[1].biz_key = key;

    tp_status status = tp_env_open(getenv("TASKPOOL_DSN"), &env);
    if (status == TP_OK) status = tp_conn_borrow(env, dbc, &conn);
    for (int i = 0; i < 2 && status == TP_OK; i++)
        status = tp_enqueue(conn, &tasks[i]); /* in the transaction that is open, and no more */
    if (status != TP_OK) fprintf(stderr, "legacy: %s\n", tp_last_error()->text);
    tp_conn_close(conn); /* gives it back; the connection stays open */
    tp_env_close(env);
    return status;
}

int main(int argc, char **argv) {
    SQLHENV env = NULL;
    SQLHDBC dbc = NULL;
    if (argc < 3) {
        fprintf(stderr, "usage: legacy ORDER ITEM [cancel]\n");
        return EXIT_FAILURE;
    }
    long order = strtol(argv[1], NULL, 10);
    if (!connect_to_shop(&env, &dbc)) {
        fprintf(stderr, "legacy: cannot connect to the shop's database; is SHOP_DSN set, and right?\n");
        return EXIT_FAILURE;
    }
    int good = store_order(dbc, order, argv[2]) && put_tasks(dbc, order) == TP_OK && argc == 3;
    if (!SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, dbc, good ? SQL_COMMIT : SQL_ROLLBACK))) good = 0;
    printf("order %ld %s\n", order, good ? "stored" : "not stored");
    SQLDisconnect(dbc);
    SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    SQLFreeHandle(SQL_HANDLE_ENV, env);
    return good || argc > 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
