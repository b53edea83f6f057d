/* What may befall a session that lives on: the server forgets what was prepared, a cursor is not closed, the
 * driver lies about it; and which sessions an application may lend for what. */
#include <poll.h>
#include <sqlext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "ops/conn.h"
#include "ops/for_workers.h"
#include "support/check.h"
#include "support/driver.h"
#include "support/engine.h"
#include "support/faults.h"
#include "support/session.h"
#include "support/sql.h"
#include "support/tasks.h"

static int set_up(void **state) {
    faults_clear();
    return pool_fresh(state);
}

static int tear_down(void **state) {
    (void)state;
    faults_clear();
    driver_call_it(NULL);
    driver_tell_old_autocommit(false);
    return 0;
}

#define TEST_SESSION(name) TEST_BETWEEN(name, set_up, tear_down)

static bool on_servers(void) {
    if (pool_on_oracle()) not_tried("lent sessions of another isolation level or character set");
    return pool_on_postgres() || pool_on_mariadb();
}

/* ---- Connecting ---------------------------------------------------------------------------------------- */

/* Which driver it is shows in the answer only: a new connection knows the states of ODBC alone. */
TEST_SESSION(test_session__that_gets_no_answer_in_time_cannot_connect) {
    tp_conn *conn = NULL;
    (void)faults_add((struct faults_aim){
        .function = "SQLDriverConnect", .times = 1, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_LOCKED});
    expect(TP_DISCONNECTED, tp_conn_open(pool.env, &conn));
    assert_non_null(strstr(tp_last_error()->text, "cannot connect"));
    must(tp_conn_open(pool.env, &conn));
    tp_conn_close(conn);
}

/* ---- Cursors ------------------------------------------------------------------------------------------- */

/* Looks at the first of several rows only, so that there is more behind it when the cursor is closed. */
static void look(void) {
    tp_claim_request request = claim_request(1);
    must(tpi_any_open(pool.a, &request));
    must(tpi_any_due(pool.a, &request, NULL));
}

TEST_SESSION(test_session__a_cursor_that_cannot_be_closed_fails_no_later_call) {
    char ids[3][ID];
    task_put_many(3, ids);
    look();
    size_t aim = faults_add((struct faults_aim){
        .function = "SQLFreeStmt", .times = 2, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_IO});
    look();
    look();
    expect_number(faults_hits(aim), 2);
    look();
}

/* ---- Prepared statements that the server forgot ---------------------------------------------------------
 */

/* Over the session's own handle, past the library. Where a server cannot be told to, its answer is put in. */
static void forget(tp_conn *conn, bool inside) {
    struct tpi_link *link = &conn->store.link;
    if (pool_on_postgres()) {
        sure(sql_raw(link->dbc, inside || !link->owned ? "DEALLOCATE ALL" : "DISCARD ALL"), "%s",
             sql_reason());
        return;
    }
    (void)faults_add((struct faults_aim){
        .function = "SQLExecute", .times = 1, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_FORGOTTEN});
}

TEST_SESSION(test_session__what_was_prepared_and_forgotten_is_prepared_anew) {
    must(tp_conn_reopen(pool.a)); /* nobody has its handle */
    for (int round = 0; round < 2; round++) {
        const tp_task *task;
        tp_new_task fresh = task_new("x");
        if (round) forget(pool.a, false);
        must(tp_enqueue(pool.a, &fresh));
        if (round) forget(pool.a, false);
        tp_batch *batch = claim_this(pool.a, fresh.id, &task);
        if (round) forget(pool.a, false);
        must(tp_extend(pool.a, task, 60000));
        if (round) forget(pool.a, false);
        must(tp_complete(pool.a, task));
        if (round) forget(pool.a, false);
        expect(TP_OK, tp_settled(pool.a, task));
        tp_batch_free(batch);
    }
    if (!pool_on_postgres()) return;
    tp_new_task fresh = task_new("x");
    forget(pool.a, false);
    must(tp_enqueue(pool.a, &fresh));
    expect_number(sql_number(pool.a, "SELECT setting FROM pg_settings WHERE name = 'lock_timeout'"), 10000);
}

static long long put_and_tell_due(void) {
    tp_new_task fresh = task_new("x");
    fresh.due_at = 0;
    must(tp_enqueue(pool.a, &fresh));
    return sql_number(pool.eye, "SELECT due_at FROM tp_pending WHERE id = '%s'", fresh.id);
}

/* Behind a pooler the session that follows may be on another server, with a clock of its own. */
TEST_SESSION(test_session__that_follows_is_asked_for_its_own_clock) {
    if (!(pool.a->store.caps & TPI_CAP_CLIENT_CLOCK)) not_tried("a clock that is carried on");
    must(tp_conn_reopen(pool.a));
    long long before = put_and_tell_due();
    pool.a->store.clock.database_ms += 3600000; /* of the server before */
    forget(pool.a, false);
    sure(put_and_tell_due() - before < 3600000, "the new server's rows have the old one's time");
}

static void rest(struct tpi_link *link, void *arg) {
    (void)link;
    (void)arg;
    (void)poll(NULL, 0, 1500);
}

/* Carried on from an old answer it would be behind, and leases would lapse early. */
TEST_SESSION(test_session__whose_clock_was_told_late_asks_for_it_again) {
    if (!(pool.a->store.caps & TPI_CAP_CLIENT_CLOCK)) not_tried("a clock that is carried on");
    struct tpi_store *store = &pool.a->store;
    int asked = 0;
    for (int tries = 0; tries < 5 && asked != 2; tries++) { /* on a busy machine the second is late, too */
        int64_t now = 0, began = tpi_clock_wall_ms();
        size_t told = faults_at(.statement = "clock", .function = "SQLFetch", .times = 1, .meet = rest);
        store->clock.known = false;
        must(tpi_store_now(store, &now));
        asked = faults_seen(told);
        sure(now + store->clock.behind_ms >= began + 1500, "the clock may be more behind than it says");
    }
    expect_number(asked, 2);
}

TEST_SESSION(test_session__a_transaction_that_did_nothing_yet_begins_anew) {
    const tp_task *task;
    must(tp_conn_reopen(pool.a));
    for (int round = 0; round < 2; round++) {
        tp_batch *batch = put_and_claim(pool.a, &task);
        must(tp_begin(pool.a));
        if (round) forget(pool.a, true);
        must(tp_complete(pool.a, task));
        must(tp_commit(pool.a));
        expect_row(task->id, "finished", "done", 0);
        tp_batch_free(batch);
    }
}

/* Nothing of it is stored, and whoever asks again over a new session has all of it. */
static void forget_in_the_middle(bool shared) {
    const tp_task *one, *two;
    tp_batch *first = put_and_claim(pool.a, &one), *second = put_and_claim(pool.a, &two);
    must(tp_conn_reopen(pool.a));
    must(tp_release(pool.a, two, 1)); /* so that it was prepared before */
    tp_batch_free(second);
    second = put_and_claim(pool.a, &two);
    must(tp_begin(pool.a));
    if (shared)
        effect(pool.a, one->id);
    else
        must(tp_extend(pool.a, one, 60000));
    forget(pool.a, true);
    expect(TP_DISCONNECTED, tp_release(pool.a, two, 0));
    expect(TP_DISCONNECTED, tp_commit(pool.a));
    must(tp_conn_reopen(pool.a));
    expect_number(effects_of(one->id), 0);
    expect_row(two->id, "pending", "handling", 0);
    must(tp_complete(pool.a, one));
    must(tp_complete(pool.a, two));
    tp_batch_free(first);
    tp_batch_free(second);
}

TEST_SESSION(test_session__forgotten_in_the_middle_of_a_transaction_it_stores_nothing) {
    forget_in_the_middle(false);
    forget_in_the_middle(true);
}

TEST_SESSION(test_session__a_lent_one_that_forgot_is_asked_again) {
    struct loan loan = loan_open(SQL_AUTOCOMMIT_OFF);
    for (int i = 0; i < 4; i++) {
        tp_new_task task = task_new("x");
        if (i > 1) forget(loan.conn, false);
        if (i > 1) loan_end(&loan, SQL_COMMIT);
        tp_status status = tp_enqueue(loan.conn, &task);
        if (status != TP_OK) {
            expect_may_retry(status);
            loan_end(&loan, SQL_ROLLBACK);
            task = task_new("x");
            must(tp_enqueue(loan.conn, &task));
        }
        loan_end(&loan, SQL_COMMIT);
        expect_row(task.id, "pending", "pending", 0);
    }
    loan_close(&loan);
}

/* A driver may have rolled back when it could not answer: nothing is to be stored by itself. */
TEST_SESSION(test_session__a_lent_one_that_cannot_say_whether_a_transaction_is_open_stores_nothing) {
    if (!engine->begin || !pool_driver()->own_tx) skip();
    struct loan loan = loan_open(SQL_AUTOCOMMIT_ON);
    tp_new_task again = task_new("x"), keyed = task_new("x");
    must(tp_enqueue(pool.b, &again));
    keyed.dedup_key = pool.handler;
    for (int i = 0; i < 2; i++) {
        if (i && !pool_driver()->savepoint) break; /* with a key alone it is not asked for */
        sure(sql_raw(loan.raw.dbc, "%s", engine->begin), "%s", sql_reason());
        size_t aim = faults_add((struct faults_aim){
            .statement = "tx_probe", .times = 1, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_LOCKED});
        expect(TP_TIMEOUT, tp_enqueue(loan.conn, i ? &keyed : &again));
        expect_text("your own transaction must be rolled back");
        expect_number(faults_hits(aim), 1);
        faults_clear();
        sure(sql_raw(loan.raw.dbc, "COMMIT"), "%s", sql_reason());
    }
    expect_number(rows_in("pending", pool.handler), 1);
    loan_close(&loan);
}

/* A node of a cluster may know nothing of what is prepared there anew, again and again: such a session is to
 * be left. */
TEST_SESSION(test_session__one_that_forgets_at_once_again_is_left) {
    tp_new_task task = task_new("x"), lent = task_new("x");
    struct loan loan = loan_open(SQL_AUTOCOMMIT_OFF);
    struct faults_aim aim = {
        .statement = "enqueue", .times = 2, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_FORGOTTEN};
    must(tp_conn_reopen(pool.a));
    (void)faults_add(aim);
    expect(TP_DISCONNECTED, tp_enqueue(pool.a, &task));
    faults_clear();
    must(tp_conn_reopen(pool.a));
    must(tp_enqueue(pool.a, &task));
    (void)faults_add(aim);
    sure(sql_raw(loan.raw.dbc, "INSERT INTO tp_fx (task_id) VALUES ('%s')", pool.handler), "%s",
         sql_reason());
    expect(TP_DISCONNECTED, tp_enqueue(loan.conn, &lent));
    faults_clear();
    loan_close(&loan);
}

/* ---- What may be lent ---------------------------------------------------------------------------------- */

static struct loan lend(const char *setting) {
    struct loan loan = {0};
    sure(pool_raw_open(&loan.raw), "cannot open a plain connection");
    sure(!setting || sql_raw(loan.raw.dbc, "%s", setting), "%s", sql_reason());
    SQLSetConnectAttr(loan.raw.dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)SQL_AUTOCOMMIT_OFF, 0);
    must(tp_conn_borrow(pool.env, loan.raw.dbc, &loan.conn));
    return loan;
}

static void put_in(struct loan *loan) {
    tp_new_task one = task_new("x"), many[3] = {task_new("x"), task_new("x"), task_new("x")};
    char key[40];
    snprintf(key, sizeof key, "%s/lent", pool.handler);
    must(tp_enqueue(loan->conn, &one));
    must(tp_enqueue_many(loan->conn, many, 3, NULL));
    must(tp_once(loan->conn, key, NULL));
    loan_end(loan, SQL_COMMIT);
    expect_number(rows_in("pending", pool.handler), 4);
}

/* What is there may be found by locks, whatever the level of a lent session. */
static bool finds_by_locks(const struct loan *loan) {
    return loan->conn->store.caps & TPI_CAP_LOCKING_READ;
}

/* Nothing is read by the snapshot of somebody who may have been overtaken. */
static void expect_only_putting_in(struct loan *loan, const tp_task *held) {
    tp_new_task again = task_new("x"), keyed = task_new("x");
    tp_batch *batch = NULL;
    bool quiet = loan->conn->store.caps & TPI_CAP_QUIET_EXISTS;
    snprintf(again.id, sizeof again.id, "%s", held->id);
    expect(TP_UNSUPPORTED, tp_complete(loan->conn, held));
    expect_text("isolation level");
    expect(TP_UNSUPPORTED, tp_settled(loan->conn, held));
    expect(TP_UNSUPPORTED, tp_show(loan->conn, held->id, &batch));
    size_t inserted = 0;
    if (finds_by_locks(loan)) { /* the same, or with another handler by now */
        assert_int_not_equal(TP_OK, tp_enqueue(loan->conn, &again));
        if (tp_enqueue_many(loan->conn, &again, 1, &inserted) == TP_OK) expect_number(inserted, 0);
    } else {
        expect(TP_UNSUPPORTED, tp_enqueue(loan->conn, &again));
        expect(TP_UNSUPPORTED, tp_enqueue_many(loan->conn, &again, 1, NULL));
    }
    /* Where a key is looked for before the insert. */
    keyed.dedup_key = pool.handler;
    expect(quiet || finds_by_locks(loan) ? TP_OK : TP_UNSUPPORTED, tp_enqueue(loan->conn, &keyed));
    loan_end(loan, SQL_ROLLBACK);
}

static const char *repeatable_read(void) {
    return pool_on_postgres() ? "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
                              : "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ";
}

/* In our own session, through the handle that was given out. */
static void begin_repeating(tp_conn *conn) {
    SQLHDBC dbc = tp_conn_dbc(conn);
    if (!pool_on_postgres()) sure(sql_raw(dbc, "%s", repeatable_read()), "%s", sql_reason());
    must(tp_begin(conn));
    if (pool_on_postgres()) sure(sql_raw(dbc, "%s", repeatable_read()), "%s", sql_reason());
}

/* It was right when it was lent, or is our own. */
TEST_SESSION(test_session__is_asked_anew_before_a_task_is_put_in_again) {
    tp_new_task task = task_new("x");
    if (!on_servers()) return;
    must(tp_enqueue(pool.b, &task));
    struct loan loan = lend(NULL);
    expect(TP_EXISTS, tp_enqueue(loan.conn, &task));
    loan_end(&loan, SQL_ROLLBACK);
    sure(sql_raw(loan.raw.dbc, "%s", repeatable_read()), "%s", sql_reason());
    expect(finds_by_locks(&loan) ? TP_EXISTS : TP_UNSUPPORTED, tp_enqueue(loan.conn, &task));
    expect(finds_by_locks(&loan) ? TP_OK : TP_UNSUPPORTED, tp_enqueue_many(loan.conn, &task, 1, NULL));
    loan_end(&loan, SQL_ROLLBACK);
    loan_close(&loan);
    for (int many = 0; many < 2; many++) {
        begin_repeating(pool.a);
        effect(pool.a, task.id);
        expect(TP_UNSUPPORTED, many ? tp_enqueue_many(pool.a, &task, 1, NULL) : tp_enqueue(pool.a, &task));
        expect(TP_CONFLICT, tp_commit(pool.a));
        expect_number(effects_of(task.id), 0);
        must(tp_conn_reopen(pool.a));
        expect(TP_EXISTS, tp_enqueue(pool.a, &task));
    }
}

/* ---- A key of the ledger and an old snapshot ----------------------------------------------------------- */

static void take_snapshot(SQLHDBC dbc) {
    int64_t rows = 0;
    sure(sql_raw_number(dbc, &rows, "SELECT COUNT(*) FROM tp_once"), "%s", sql_reason());
}

/* MariaDB from 11.6 on refuses by itself to read or write what its snapshot does not have. */
static bool refuses_what_is_newer(SQLHDBC dbc) {
    int64_t on = 0;
    return pool_on_mariadb() && !pool_on_mysql() &&
           sql_raw_number(dbc, &on, "SELECT @@innodb_snapshot_isolation") && on;
}

/* Another's key that the snapshot does not show is no rule of the application's own, and not a first time. */
TEST_SESSION(test_session__that_repeats_its_reads_takes_no_key_for_refused) {
    char keys[2][40];
    if (!on_servers()) return;
    for (int i = 0; i < 2; i++)
        snprintf(keys[i], sizeof keys[i], "%s/%d", pool.handler, i);
    struct loan loan = lend(NULL);
    loan_end(&loan, SQL_ROLLBACK);
    sure(sql_raw(loan.raw.dbc, "%s", repeatable_read()), "%s", sql_reason());
    if (!pool_on_postgres()) loan_end(&loan, SQL_ROLLBACK); /* which may have begun at the old level */
    take_snapshot(loan.raw.dbc);
    must(tp_once(pool.b, keys[0], NULL));
    bool finds = finds_by_locks(&loan) && !refuses_what_is_newer(loan.raw.dbc);
    expect(finds ? TP_EXISTS : TP_CONFLICT, tp_once(loan.conn, keys[0], NULL));
    loan_end(&loan, SQL_ROLLBACK);
    expect(TP_EXISTS, tp_once(loan.conn, keys[0], NULL));
    loan_end(&loan, SQL_ROLLBACK);
    loan_close(&loan);
    begin_repeating(pool.a);
    take_snapshot(tp_conn_dbc(pool.a));
    effect(pool.a, keys[1]);
    must(tp_once(pool.b, keys[1], NULL));
    expect(TP_CONFLICT, tp_once(pool.a, keys[1], NULL));
    expect(TP_CONFLICT, tp_commit(pool.a));
    expect_number(effects_of(keys[1]), 0);
    expect(TP_EXISTS, tp_once(pool.a, keys[1], NULL));
    must(tp_conn_reopen(pool.a));
}

/* ---- The level of one transaction ---------------------------------------------------------------------- */

/* The level of one transaction alone, of which the server tells nothing. */
static void set_next_level(SQLHDBC dbc, const char *level) {
    sure(sql_raw(dbc, "SET TRANSACTION ISOLATION LEVEL %s", level), "%s", sql_reason());
}

static void finish_after(SQLHDBC dbc, tp_new_task *task) {
    const tp_task *held;
    take_snapshot(dbc);
    must(tp_enqueue(pool.b, task));
    tp_batch *batch = claim_this(pool.b, task->id, &held);
    must(tp_complete(pool.b, held));
    tp_batch_free(batch);
}

static void expect_not_in_again(tp_conn *conn, tp_new_task *task, bool many, const char *level) {
    size_t inserted = 0;
    tp_status status = many ? tp_enqueue_many(conn, task, 1, &inserted) : tp_enqueue(conn, task);
    if (inserted || (!many && status == TP_OK)) fail_msg("%s: what was done was put in again", level);
    if (status != TP_CONFLICT) expect(many ? TP_OK : TP_EXISTS, status);
}

TEST_SESSION(test_session__puts_nothing_in_again_whatever_the_level_of_one_transaction) {
    static const char *const levels[] = {"READ UNCOMMITTED", "REPEATABLE READ", "SERIALIZABLE"};
    if (strcmp(tp_conn_about(pool.a)->dialect, "mysql") != 0) {
        not_tried("a level that cannot be asked for");
        return;
    }
    for (int i = 0; i < 6; i++) {
        tp_new_task lent_task = task_new("x"), own_task = task_new("x");
        struct loan loan = lend(NULL);
        loan_end(&loan, SQL_ROLLBACK);
        set_next_level(loan.raw.dbc, levels[i / 2]);
        finish_after(loan.raw.dbc, &lent_task);
        expect_not_in_again(loan.conn, &lent_task, i % 2, levels[i / 2]);
        loan_end(&loan, SQL_ROLLBACK);
        loan_close(&loan);
        set_next_level(tp_conn_dbc(pool.a), levels[i / 2]);
        must(tp_begin(pool.a));
        finish_after(tp_conn_dbc(pool.a), &own_task);
        expect_not_in_again(pool.a, &own_task, i % 2, levels[i / 2]);
        must(tp_rollback(pool.a));
    }
    must(tp_conn_reopen(pool.a));
}

TEST_SESSION(test_session__a_lent_one_that_repeats_its_reads_may_only_put_in) {
    const tp_task *held;
    if (!on_servers()) return; /* a single writer sees what is */
    tp_batch *batch = put_and_claim(pool.a, &held);
    sql_run(pool.eye, "UPDATE tp_pending SET handler = 'held' WHERE id = '%s'", held->id);
    struct loan loan =
        lend(pool_on_postgres() ? "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ"
                                : "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    put_in(&loan);
    expect_only_putting_in(&loan, held);
    expect_row(held->id, "pending", "handling", 0);
    sure(sql_raw(loan.raw.dbc, pool_on_postgres() ? "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"
                                                  : "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"),
         "%s", sql_reason());
    must(tp_complete(loan.conn, held));
    loan_end(&loan, SQL_COMMIT);
    expect_row(held->id, "finished", "done", 0);
    loan_close(&loan);
    tp_batch_free(batch);
}

/* A driver that is not known is asked by attribute. */
TEST_SESSION(test_session__of_an_unknown_driver_too) {
    const tp_task *held;
    if (!on_servers()) return;
    tp_batch *batch = put_and_claim(pool.a, &held);
    driver_call_it("libunknown.so");
    struct pool_raw raw = {0};
    struct loan loan = {0};
    sure(pool_raw_open(&raw), "cannot open a plain connection");
    SQLSetConnectAttr(raw.dbc, SQL_ATTR_TXN_ISOLATION, (SQLPOINTER)SQL_TXN_REPEATABLE_READ, 0);
    SQLSetConnectAttr(raw.dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)SQL_AUTOCOMMIT_OFF, 0);
    loan.raw = raw;
    must(tp_conn_borrow(pool.env, raw.dbc, &loan.conn));
    assert_string_equal(tp_conn_about(loan.conn)->profile, "any");
    expect_only_putting_in(&loan, held);
    SQLSetConnectAttr(raw.dbc, SQL_ATTR_TXN_ISOLATION, (SQLPOINTER)SQL_TXN_READ_COMMITTED, 0);
    /* Before the next statement the driver may tell the mode that was. */
    sure(sql_raw(raw.dbc, "SELECT COUNT(*) FROM tp_meta"), "%s", sql_reason());
    must(tp_complete(loan.conn, held));
    loan_end(&loan, SQL_COMMIT);
    loan_close(&loan);
    tp_batch_free(batch);
}

/* SQLite's driver takes the attribute and keeps its own level. */
TEST_SESSION(test_session__of_our_own_that_keeps_another_level_is_refused_as_our_own) {
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    if (!pool_on_sqlite()) return;
    driver_call_it("libunknown.so");
    must(tp_env_open(pool.dsn, &env));
    expect(TP_UNSUPPORTED, tp_conn_open(env, &conn));
    expect_text("read committed");
    assert_null(strstr(tp_last_error()->text, "borrowed"));
    expect_text("the driver kept another");
    tp_env_close(env);
}

TEST_SESSION(test_session__a_lent_one_of_another_charset_takes_what_is_ascii) {
    if (!on_servers()) return; /* knows no other */
    struct loan loan =
        lend(pool_on_postgres() ? "SET client_encoding TO 'LATIN1'" : "SET character_set_client = latin1");
    tp_new_task task = task_new("Gr\xc3\xbc\xc3\x9f"), good;
    put_in(&loan);
    expect(TP_UNSUPPORTED, tp_enqueue(loan.conn, &task));
    expect_text(pool_on_postgres() ? "UTF8" : "utf8mb4");
    loan_end(&loan, SQL_ROLLBACK);
    expect_number(rows_in("pending", pool.handler), 4);
    sure(sql_raw(loan.raw.dbc,
                 pool_on_postgres() ? "SET client_encoding TO 'UTF8'" : "SET character_set_client = utf8mb4"),
         "%s", sql_reason());
    good = task_new("Gr\xc3\xbc\xc3\x9f");
    must(tp_enqueue(loan.conn, &good));
    loan_end(&loan, SQL_COMMIT);
    expect_number(sql_number(pool.eye,
                             "SELECT COUNT(*) FROM tp_pending WHERE id = '%s' AND params = "
                             "'Gr\xc3\xbc\xc3\x9f'",
                             good.id),
                  1);
    loan_close(&loan);
}

/* ---- What drivers say of it ---------------------------------------------------------------------------- */

/* Connector/ODBC 3.2.9 has the mode that was. */
TEST_SESSION(test_session__the_server_says_whether_a_lent_one_commits_by_itself) {
    const tp_task *task;
    if (!pool_on_mariadb()) return;
    tp_batch *batch = put_and_claim(pool.a, &task);
    struct loan loan = loan_open(SQL_AUTOCOMMIT_OFF);
    driver_tell_old_autocommit(true);
    SQLSetConnectAttr(loan.raw.dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)SQL_AUTOCOMMIT_ON, 0);
    expect(TP_MISUSE, tp_complete(loan.conn, task));
    expect_row(task->id, "pending", "handling", 0);
    SQLSetConnectAttr(loan.raw.dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)SQL_AUTOCOMMIT_OFF, 0);
    must(tp_complete(loan.conn, task));
    loan_end(&loan, SQL_COMMIT);
    expect_row(task->id, "finished", "done", 0);
    loan_close(&loan);
    tp_batch_free(batch);
}

/* Of the session that this connection string makes. */
static void expect_synchronous_commit(const char *given, const char *wanted) {
    struct sql_row row;
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    char dsn[DSN_MAX], setting[80];
    snprintf(setting, sizeof setting, "set synchronous_commit to %s", given);
    dsn_with(pool.dsn, "ConnSettings", setting, dsn, sizeof dsn);
    must(tp_env_open(dsn, &env));
    must(tp_conn_open(env, &conn));
    assert_true(sql_row(conn, &row, "SELECT current_setting('synchronous_commit')"));
    assert_string_equal(row.cell[0], wanted);
    tp_conn_close(conn);
    tp_env_close(env);
}

TEST_SESSION(test_session__of_our_own_commits_durably) {
    if (!pool_on_postgres()) return; /* elsewhere the whole server's affair, or the connection string's */
    expect_synchronous_commit("off", "on");
    expect_synchronous_commit("local", "local");
    expect_synchronous_commit("remote_write", "remote_write");
    expect_synchronous_commit("on", "on");
}

static void expect_refused(const char *driver, const char *key, const char *value) {
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    char dsn[DSN_MAX];
    driver_call_it(driver);
    dsn_with(pool.dsn, key, value, dsn, sizeof dsn);
    must(tp_env_open(dsn, &env));
    expect(TP_MISUSE, tp_conn_open(env, &conn));
    expect_text(key);
    tp_env_close(env);
}

/* The real driver does not know the key, or does not reconnect before the session is closed again. */
/* What one of our own puts in outside a transaction is there for others at once. */
static void expect_to_commit_by_itself(tp_conn *conn, const char *key) {
    tp_new_task fresh = task_new("x");
    must(tp_enqueue(conn, &fresh));
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pending WHERE id = '%s'", fresh.id), 1);
    must(tp_once(conn, key, NULL));
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_once WHERE once_key = '%s'", key), 1);
}

TEST_SESSION(test_session__of_our_own_is_in_no_transaction_after_another) {
    if (!pool_on_mariadb()) return; /* elsewhere no setting makes it so */
    must(tp_conn_reopen(pool.a));
    sql_run(pool.a, "SET SESSION completion_type = 'CHAIN'");
    must(tp_begin(pool.a));
    must(tp_commit(pool.a));
    expect_to_commit_by_itself(pool.a, "after a commit");
    must(tp_begin(pool.a));
    must(tp_rollback(pool.a));
    expect_to_commit_by_itself(pool.a, "after a rollback");
}

TEST_SESSION(test_session__of_our_own_commits_by_itself_whatever_the_server_does) {
    char dsn[DSN_MAX];
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    if (!pool_on_mariadb() || pool_on_oracle()) return;
    dsn_with(pool.dsn, "INITSTMT", "SET SESSION autocommit = 0", dsn, sizeof dsn);
    must(tp_env_open(dsn, &env));
    must(tp_conn_open(env, &conn));
    expect_to_commit_by_itself(conn, "by itself");
    tp_conn_close(conn);
    tp_env_close(env);
}

TEST_SESSION(test_session__that_the_driver_would_reconnect_is_refused) {
    if (strstr(pool.dsn, "Dialect=")) return;
    expect_refused("libunknown.so", "AUTO_RECONNECT", "1");
    expect_refused("libunknown.so", "Reconnect", "yes");
    if (!pool_on_mariadb()) return;
    expect_refused("libmyodbc8w.so", "AUTO_RECONNECT", "1");
    expect_refused("libmyodbc8w.so", "OPTION", "4194306");
}

/* ---- What odbc.ini or the string says otherwise ------------------------------------------------------- */

/* Opens a data source of a file of our own, which has this line. */
static tp_conn *open_source(const char *line, tp_env **env) {
    char path[] = "/tmp/taskpool.XXXXXX", name[64], driver[200], dsn[DSN_MAX], text[DSN_MAX];
    tp_conn *conn = NULL;
    int file = mkstemp(path);
    assert_true(file >= 0);
    snprintf(name, sizeof name, "source_%s", path + strlen("/tmp/taskpool."));
    dsn_get(pool.dsn, "Driver", driver, sizeof driver);
    dprintf(file, "[%s]\nDriver = %s\n%s\n", name, driver, line);
    close(file);
    dsn_with(pool.dsn, "Driver", NULL, dsn, sizeof dsn);
    assert_true(snprintf(text, sizeof text, "DSN=%s;%s", name, dsn) < (int)sizeof text);
    setenv("ODBCINI", path, 1);
    must(tp_env_open(text, env));
    must(tp_conn_open(*env, &conn));
    unsetenv("ODBCINI");
    unlink(path);
    return conn;
}

/* Outside a transaction and inside one. */
static void expect_to_stay_lost(tp_conn *conn) {
    for (int inside = 0; inside < 2; inside++) {
        tp_new_task before = task_new("x"), after = task_new("x");
        long session = session_number(conn);
        if (inside) {
            must(tp_begin(conn));
            must(tp_enqueue(conn, &before));
        }
        session_kill(session);
        expect(TP_DISCONNECTED, tp_enqueue(conn, &after));
        expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pending WHERE id IN ('%s', '%s')",
                                 before.id, after.id),
                      0);
        must(tp_conn_reopen(conn));
    }
}

/* The second name's profile is that of MySQL's own driver. */
TEST_SESSION(test_session__does_not_reconnect_by_itself_though_odbc_ini_says_so) {
    static const char *const lines[] = {"AUTO_RECONNECT = 1", "OPTION = 4194304"};
    static const char *const names[] = {NULL, "libmyodbc8w.so"};
    if (!pool_on_mariadb() || pool_on_oracle()) return;
    for (size_t i = 0; i < 4; i++) {
        tp_env *env = NULL;
        driver_call_it(names[i / 2]);
        tp_conn *conn = open_source(lines[i % 2], &env);
        expect_to_stay_lost(conn);
        tp_conn_close(conn);
        tp_env_close(env);
    }
}

/* The lock of an approval writes what is there: rows that are found count, not those that are changed. */
TEST_SESSION(test_session__carries_out_an_approval_whatever_option_is_given) {
    char dsn[DSN_MAX];
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    tp_new_task task = task_new("x");
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    tp_operated result = TP_OPERATED_INIT;
    tp_selection selection = TP_SELECTION_INIT;
    const char *id = task.id;
    if (!pool_on_mariadb()) return;
    dsn_with(pool.dsn, "OPTION", "0", dsn, sizeof dsn);
    must(tp_env_open(dsn, &env));
    must(tp_conn_open(env, &conn));
    must(tp_enqueue(conn, &task));
    eyes.on = 1;
    must(tp_four_eyes_set(conn, &eyes, "root", ""));
    selection.who = "ann";
    selection.ids = &id;
    selection.id_count = 1;
    expect(TP_REQUESTED, tp_operate(conn, TP_ACTION_SKIP, &selection, &result));
    must(tp_approve(conn, result.request_id, "bob", "", &result));
    expect_number(result.done, 1);
    tp_conn_close(conn);
    tp_env_close(env);
    sql_run(pool.eye, "DELETE FROM tp_meta WHERE name = 'four_eyes'");
}

int main(void) {
    faults_open();
    pool_open();
    faults_spare(&pool.b->store.link);
    faults_spare(&pool.eye->store.link);
    int code = test_main("sessions", NULL, NULL);
    pool_close();
    return code;
}
