/* A program that has been there for twenty years, with its own ODBC connection and its own transactions. It
 * only puts tasks in, and they are there exactly when its order is.
 *
 *   SHOP_DSN      its own connection string
 *   TASKPOOL_DSN  the same database, for taskpool: Dialect= and Prefix= are read, nothing is connected
 *
 *   taskpool schema install    the pool's tables, once
 *   ./legacy 7 book            stores order 7 and its tasks, once, also when its commit gets no answer
 *   ./legacy 8 book cancel     changes its mind before the commit: neither is there
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
    execute(*dbc, "CREATE TABLE example_orders (id INTEGER NOT NULL PRIMARY KEY, item VARCHAR(40))");
    return SQL_SUCCEEDED(SQLSetConnectAttr(*dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)SQL_AUTOCOMMIT_OFF, 0));
}

static int store_order(SQLHDBC dbc, long order, const char *item) {
    char sql[200];
    snprintf(sql, sizeof sql, "INSERT INTO example_orders (id, item) VALUES (%ld, '%.40s')", order, item);
    return execute(dbc, sql);
}

/* ---- What is new ----------------------------------------------------------------------------------------
 */

struct order {
    long number;
    const char *item;
    int cancelled;
    char key[40];
    tp_new_task tasks[2]; /* one struct, one task: they stand for the same two in every try */
};

static void fill(struct order *order) {
    snprintf(order->key, sizeof order->key, "order-%ld", order->number);
    order->tasks[0].handler = "points";
    order->tasks[0].params = "100";
    order->tasks[1].handler = "mail";
    order->tasks[0].biz_key = order->tasks[1].biz_key = order->key;
}

/* TP_EXISTS: an earlier try has stored them. */
static tp_status put_tasks(SQLHDBC dbc, tp_new_task tasks[2]) {
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    tp_status status = tp_env_open(getenv("TASKPOOL_DSN"), &env);
    if (status == TP_OK) status = tp_conn_borrow(env, dbc, &conn);
    for (int i = 0; i < 2 && status == TP_OK; i++)
        status = tp_enqueue(conn, &tasks[i]); /* in the transaction that is open, and no more */
    if (status != TP_OK && status != TP_EXISTS) fprintf(stderr, "legacy: %s\n", tp_last_error()->text);
    tp_conn_close(conn); /* gives it back; the connection stays open */
    tp_env_close(env);
    return status;
}

enum outcome { NOT_STORED, STORED, NOT_KNOWN };

/* The tasks first: they say whether an earlier try was committed, and the order with them. */
static enum outcome place(SQLHDBC dbc, struct order *order, enum outcome before) {
    tp_status put = put_tasks(dbc, order->tasks);
    int good = put == TP_OK && store_order(dbc, order->number, order->item) && !order->cancelled;
    if (good) return SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_COMMIT)) ? STORED : NOT_KNOWN;
    SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_ROLLBACK);
    if (put == TP_EXISTS) return STORED;
    return put == TP_OK ? NOT_STORED : before;
}

/* One try, on a connection of its own; before: what is known until then. */
static enum outcome try_once(struct order *order, enum outcome before) {
    SQLHENV env = NULL;
    SQLHDBC dbc = NULL;
    enum outcome outcome = before;
    if (connect_to_shop(&env, &dbc))
        outcome = place(dbc, order, before);
    else
        fprintf(stderr, "legacy: cannot connect to the shop's database; is SHOP_DSN set, and right?\n");
    SQLDisconnect(dbc);
    SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    SQLFreeHandle(SQL_HANDLE_ENV, env);
    return outcome;
}

int main(int argc, char **argv) {
    static const char *const SAID[] = {"not stored", "stored",
                                       "not known: look for it, do not store it again"};
    if (argc < 3) {
        fprintf(stderr, "usage: legacy ORDER ITEM [cancel]\n");
        return EXIT_FAILURE;
    }
    struct order order = {
        strtol(argv[1], NULL, 10), argv[2], argc > 3, "", {TP_NEW_TASK_INIT, TP_NEW_TASK_INIT}};
    fill(&order);
    enum outcome outcome = try_once(&order, NOT_STORED);
    for (int tries = 1; outcome == NOT_KNOWN && tries < 20; tries++) {
        fprintf(stderr, "legacy: whether order %ld is stored is not known: asks again\n", order.number);
        sleep(1);
        outcome = try_once(&order, NOT_KNOWN);
    }
    printf("order %ld %s\n", order.number, SAID[outcome]);
    return outcome == STORED || order.cancelled ? EXIT_SUCCESS : EXIT_FAILURE;
}
