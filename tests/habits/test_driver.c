/* Over the driver for tests (tools/driver): that it has the habits it is asked for, and what taskpool makes
 * of those under which a whole suite cannot run; and faults of calls below the driver manager, which the
 * choke point does not reach. Each test has a connection of its own; the pool's have no habits. */
#include <sqlext.h>
#include <stdio.h>
#include <string.h>

#include "support/tasks.h"

static void dsn_of(const char *key, const char *value, char dsn[DSN_MAX]) {
    dsn_with(pool.dsn, key, value, dsn, DSN_MAX);
}

/* A connection whose driver refuses to end it is lost: that is tried here. */
const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void) {
    return "leak:libsqlite3\nleak:libmariadb\nleak:libmaodbc\nleak:psqlodbc\nleak:sqlite3odbc\nleak:tp_"
           "habits\n";
}

/* ---- The driver itself, by plain ODBC -------------------------------------------------------------------
 */

static struct {
    SQLHENV env;
    SQLHDBC dbc;
    SQLHSTMT stmt[3];
} plain;

static bool plain_open(const char *habits) {
    char dsn[DSN_MAX];
    dsn_of("Habits", habits, dsn);
    SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &plain.env);
    SQLSetEnvAttr(plain.env, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0);
    SQLAllocHandle(SQL_HANDLE_DBC, plain.env, &plain.dbc);
    SQLRETURN answer =
        SQLDriverConnect(plain.dbc, NULL, (SQLCHAR *)dsn, SQL_NTS, NULL, 0, NULL, SQL_DRIVER_NOPROMPT);
    for (int i = 0; i < 3 && SQL_SUCCEEDED(answer); i++)
        SQLAllocHandle(SQL_HANDLE_STMT, plain.dbc, &plain.stmt[i]);
    return SQL_SUCCEEDED(answer);
}

static int plain_close(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++)
        if (plain.stmt[i]) SQLFreeHandle(SQL_HANDLE_STMT, plain.stmt[i]);
    if (plain.dbc) SQLDisconnect(plain.dbc);
    if (plain.dbc) SQLFreeHandle(SQL_HANDLE_DBC, plain.dbc);
    if (plain.env) SQLFreeHandle(SQL_HANDLE_ENV, plain.env);
    memset(&plain, 0, sizeof plain);
    return 0;
}
#define TEST_PLAIN(name) TEST_BETWEEN(name, pool_fresh, plain_close)

static SQLRETURN run(int i, const char *sql) {
    SQLRETURN answer = SQLPrepare(plain.stmt[i], (SQLCHAR *)(uintptr_t)sql, SQL_NTS);
    return SQL_SUCCEEDED(answer) ? SQLExecute(plain.stmt[i]) : answer;
}

/* The first value of the first row. */
static const char *value_of(const char *sql) {
    static char value[100];
    SQLLEN length = 0;
    assert_true(SQL_SUCCEEDED(run(0, sql)));
    assert_true(SQL_SUCCEEDED(SQLFetch(plain.stmt[0])));
    assert_true(SQL_SUCCEEDED(SQLGetData(plain.stmt[0], 1, SQL_C_CHAR, value, sizeof value, &length)));
    SQLFreeStmt(plain.stmt[0], SQL_CLOSE);
    return length == SQL_NULL_DATA ? NULL : value;
}

#define assert_said(i, state, native) check_said((i), (state), (native), __FILE__, __LINE__)
static void check_said(int i, const char *state, int native, const char *file, int line) {
    SQLCHAR got[6] = "", text[300] = "";
    SQLINTEGER code = 0;
    SQLSMALLINT length = 0;
    SQLGetDiagRec(SQL_HANDLE_STMT, plain.stmt[i], 1, got, &code, text, sizeof text, &length);
    if (strcmp((char *)got, state) == 0 && code == native) return;
    print_error("%s [%s, %d], not [%s, %d]\n", text, got, (int)code, state, native);
    _fail(file, line);
}

TEST_PLAIN(test_driver__an_unknown_habit_is_refused) {
    assert_false(plain_open("no_bigints"));
}

TEST_PLAIN(test_driver__has_no_64_bit_type) {
    SQLBIGINT number = 1;
    assert_true(plain_open("no_bigint"));
    assert_int_equal(SQLBindParameter(plain.stmt[0], 1, SQL_PARAM_INPUT, SQL_C_SBIGINT, SQL_BIGINT, 19, 0,
                                      &number, 0, NULL),
                     SQL_ERROR);
    assert_said(0, "HY004", 0);
}

TEST_PLAIN(test_driver__changes_values) {
    assert_true(plain_open("exponents,empty_null"));
    if (!pool_on_sqlite()) assert_string_equal(value_of("SELECT 1200000"), "1.2E+6");
    assert_null(value_of("SELECT ''"));
}

TEST_PLAIN(test_driver__takes_text_apart) {
    char piece[9] = "";
    SQLLEN left = 0;
    assert_true(plain_open("pieces,no_total"));
    assert_true(SQL_SUCCEEDED(run(0, "SELECT 'xxxxx\xC3\xA4xxxxxxx'")));
    assert_true(SQL_SUCCEEDED(SQLFetch(plain.stmt[0])));
    assert_int_equal(SQLGetData(plain.stmt[0], 1, SQL_C_CHAR, piece, sizeof piece, &left),
                     SQL_SUCCESS_WITH_INFO);
    assert_string_equal(piece, "xxxxx");
    assert_int_equal(left, SQL_NO_TOTAL);
    assert_int_equal(SQLGetData(plain.stmt[0], 1, SQL_C_CHAR, piece, sizeof piece, &left),
                     SQL_SUCCESS_WITH_INFO);
    assert_string_equal(piece, "\xC3\xA4xxxx");
    assert_int_equal(SQLGetData(plain.stmt[0], 1, SQL_C_CHAR, piece, sizeof piece, &left), SQL_SUCCESS);
    assert_string_equal(piece, "xxx");
}

TEST_PLAIN(test_driver__tells_autocommit_late) {
    SQLUINTEGER mode = 7;
    assert_true(plain_open("late_autocommit"));
    SQLSetConnectAttr(plain.dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)SQL_AUTOCOMMIT_OFF, 0);
    SQLGetConnectAttr(plain.dbc, SQL_ATTR_AUTOCOMMIT, &mode, 0, NULL);
    expect_number(mode, SQL_AUTOCOMMIT_ON);
    assert_true(SQL_SUCCEEDED(run(0, "SELECT 1")));
    SQLGetConnectAttr(plain.dbc, SQL_ATTR_AUTOCOMMIT, &mode, 0, NULL);
    expect_number(mode, SQL_AUTOCOMMIT_OFF);
    SQLFreeStmt(plain.stmt[0], SQL_CLOSE);
    SQLEndTran(SQL_HANDLE_DBC, plain.dbc, SQL_ROLLBACK);
}

TEST_PLAIN(test_driver__limits_statements) {
    assert_true(plain_open("one_statement,cursors:2"));
    assert_true(SQL_SUCCEEDED(run(0, "SELECT 1")));
    assert_false(SQL_SUCCEEDED(run(1, "SELECT 2")));
    assert_said(1, "HY000", 0);
    SQLFreeStmt(plain.stmt[0], SQL_CLOSE);
    assert_true(SQL_SUCCEEDED(SQLExecute(plain.stmt[1])));
    assert_false(SQL_SUCCEEDED(run(2, "SELECT 3")));
    assert_said(2, "HY000", 1000);
}

TEST_PLAIN(test_driver__speaks_with_the_codes_of_others) {
    char sql[200];
    assert_true(plain_open("oracle_codes"));
    assert_false(SQL_SUCCEEDED(SQLExecDirect(plain.stmt[0], (SQLCHAR *)"SELECT 1 FROM no_such", SQL_NTS)));
    if (!pool_on_sqlite()) assert_said(0, "42S02", 942);
    snprintf(sql, sizeof sql, "INSERT INTO %smeta (name, value) VALUES ('schema', '1')", pool.prefix);
    assert_false(SQL_SUCCEEDED(SQLExecDirect(plain.stmt[0], (SQLCHAR *)sql, SQL_NTS)));
    assert_said(0, "23000", 1);
}

/* ---- Habits that a suite cannot stand -------------------------------------------------------------------
 */

struct other {
    tp_env *env;
    tp_conn *conn;
};

static struct other other;

/* named: the driver whose profile is to count; NULL: the real one's. */
static tp_status other_open(const char *named, const char *key, const char *value) {
    char dsn[DSN_MAX];
    dsn_of(key, value, dsn);
    if (named) dsn_with(dsn, "Named", named, dsn, sizeof dsn);
    if (named && pool_on_mariadb()) dsn_with(dsn, "OPTION", "2", dsn, sizeof dsn);
    must(tp_env_open(dsn, &other.env));
    return tp_conn_open(other.env, &other.conn);
}

static int other_close(void **state) {
    (void)state;
    tp_conn_close(other.conn);
    tp_env_close(other.env);
    other = (struct other){0};
    return 0;
}
#define TEST_OTHER(name) TEST_BETWEEN(name, pool_fresh, other_close)

TEST_OTHER(test_driver__that_counts_no_rows_is_refused) {
    tp_new_task task = task_new("x");
    if (pool_on_sqlite()) skip(); /* what it changed comes back as rows */
    must(other_open(NULL, "Habits", "no_counts"));
    tp_status status = tp_enqueue(other.conn, &task);
    if (status == TP_OK) { /* where an INSERT gives a row */
        tp_claim_request request = claim_request(1);
        tp_batch *batch = NULL;
        request.plan = "row";
        status = tp_claim(other.conn, &request, &batch);
    }
    expect(TP_UNSUPPORTED, status);
    expect_text("SQLRowCount is -1");
}

/* May the call be asked again? It failed, but not for good. */
static bool is_to_be_asked_again(tp_conn *conn, tp_status status, const char *what) {
    static int tries;
    tries = status < TP_OK ? tries + 1 : 0;
    if (status >= TP_OK) return false;
    sure(tp_status_may_retry(status) && tries < 20, "%s: %s", what, tp_last_error()->text);
    if (status == TP_DISCONNECTED) must(tp_conn_reopen(conn));
    return true;
}

/* One task through, each step asked again as long as it may be. */
static void do_one_task(tp_conn *conn) {
    tp_new_task task = task_new("x");
    tp_claim_request request = claim_request(1);
    tp_batch *batch = NULL;
    while (is_to_be_asked_again(conn, tp_enqueue(conn, &task), "enqueue")) {
    }
    tp_status status;
    int none = 0;
    do /* the server may not have noticed yet that a session is gone which holds the task */
        status = tp_claim(conn, &request, &batch);
    while ((status == TP_NONE && ++none < 10000) || is_to_be_asked_again(conn, status, "claim"));
    expect_number(tp_batch_count(batch), 1);
    while (is_to_be_asked_again(conn, tp_complete(conn, tp_batch_task(batch, 0)), "complete")) {
    }
    tp_batch_free(batch);
}

static int64_t finished(void) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_finished WHERE handler = '%s'", pool.handler);
}

TEST_OTHER(test_driver__that_loses_what_was_prepared_loses_no_task) {
    enum { TASKS = 20 };
    must(other_open(NULL, "Habits", pool_on_mariadb() ? "lost_prepares:11,mysql_codes" : "lost_prepares:11"));
    for (int n = 0; n < TASKS; n++)
        do_one_task(other.conn);
    expect_number(finished(), TASKS);
}

TEST_OTHER(test_driver__that_has_few_cursors_loses_no_task) {
    if (strcmp(pool.entry, "oramode") != 0) skip();
    /* As many as a claim keeps at a time. */
    must(other_open("libsqora.so", "Habits", "cursors:5,rownum_afresh"));
    for (int n = 0; n < 20; n++)
        do_one_task(other.conn);
    expect_number(finished(), 20);
}

TEST_OTHER(test_driver__whose_numbers_have_exponents_is_not_misread) {
    tp_new_task task = task_new("x");
    tp_batch *shown = NULL;
    task.due_at = INT64_C(1700000000123);
    if (pool_on_sqlite()) skip(); /* its driver reads with columns that are bound */
    must(other_open(pool_on_mariadb() ? "libmyodbc9w.so" : "other.so", "Habits", "exponents"));
    must(tp_enqueue(other.conn, &task));
    must(tp_show(other.conn, task.id, &shown));
    expect_number(tp_batch_task(shown, 0)->due_at, INT64_C(1700000000123));
    tp_batch_free(shown);
    /* A clock that may be rounded is refused. */
    task = task_new("x");
    must(tp_enqueue(other.conn, &task));
    tp_claim_request request = claim_request(1);
    tp_batch *batch = NULL;
    tp_status status = tp_claim(other.conn, &request, &batch);
    if (status != TP_OK) {
        expect(TP_DB, status);
        expect_text("which is not a whole one");
    }
    tp_batch_free(batch);
}

TEST_OTHER(test_driver__that_warns_of_code_that_does_not_compile_installs_nothing) {
    if (strcmp(pool.entry, "oramode") != 0) skip();
    must(other_open("libsqora.so", "Habits", "compile_warning,oracle_codes"));
    sql_run(pool.eye, "DELETE FROM tp_meta");
    sql_run(pool.eye, "DROP TRIGGER tp_pending_new");
    expect(TP_SCHEMA, tp_schema_install(other.conn));
    expect_text("does not compile");
    must(tp_schema_install(pool.eye));
}

/* ---- Faults ---------------------------------------------------------------------------------------------
 */

/* What a run reached, whatever failed. */
static void try_one_task(tp_conn *conn, tp_new_task *task) {
    tp_claim_request request = claim_request(1);
    tp_batch *batch = NULL;
    if (tp_enqueue(conn, task) < TP_OK) return;
    if (tp_claim(conn, &request, &batch) == TP_OK) (void)!tp_complete(conn, tp_batch_task(batch, 0));
    tp_batch_free(batch);
}

/* By a connection that fails at nothing, and then the task is done, or will be when its lease is over. */
static void judge(const char *fault, tp_new_task *task) {
    tp_batch *shown = NULL;
    tp_status status = tp_enqueue(pool.a, task);
    sure(status == TP_OK || status == TP_EXISTS, "%s: asked again: %s", fault, tp_last_error()->text);
    must(tp_show(pool.a, task->id, &shown));
    expect_number(tp_batch_count(shown), 1);
    tp_batch_free(shown);
}

static void fail_in(const char *function, int n, const char *how) {
    char fault[80];
    tp_new_task task = task_new("x");
    snprintf(fault, sizeof fault, "%s:%d:08S01:0%s", function, n, how);
    if (other_open(NULL, "Fault", fault) == TP_OK) try_one_task(other.conn, &task);
    other_close(NULL);
    judge(fault, &task);
}

TEST_OTHER(test_driver__that_fails_at_any_call_loses_no_task) {
    static const char *const functions[] = {
        "SQLAllocHandle",    "SQLBindCol",        "SQLBindParameter", "SQLDisconnect",    "SQLDriverConnect",
        "SQLEndTran",        "SQLExecDirect",     "SQLExecute",       "SQLFetch",         "SQLFreeStmt",
        "SQLGetConnectAttr", "SQLGetData",        "SQLGetInfo",       "SQLNumResultCols", "SQLPrepare",
        "SQLRowCount",       "SQLSetConnectAttr", "SQLSetStmtAttr"};
    static const int numbers[] = {1, 2, 5, 13};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            /* A session that is not ended holds its locks. */
            if (strcmp(functions[i], "SQLDisconnect") != 0) fail_in(functions[i], numbers[k], "");
            fail_in(functions[i], numbers[k], ":done");
        }
}

int main(void) {
    return pool_test_main("driver");
}
