/* On a connection the application lent: its transaction, its attributes, its end. */
#include <sqlext.h>

#include "base/uuid.h"
#include "ops/conn.h"
#include "suite.h"
#include "support/settings.h"

THEME(borrow, ONCE);

static SQLULEN autocommit(const struct loan *loan) {
    SQLULEN value = 99;
    assert_true(SQL_SUCCEEDED(SQLGetConnectAttr(loan->raw.dbc, SQL_ATTR_AUTOCOMMIT, &value, 0, NULL)));
    return value;
}

static void own_effect(struct loan *loan, const char *note) {
    sure(sql_raw(loan->raw.dbc, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', '%s')", pool.handler, note),
         "%s", sql_reason());
}

static int64_t own_effects(void) {
    return count_of("tp_fx WHERE task_id = '%s'", pool.handler);
}

TEST(test_borrow__an_enqueue_commits_with_the_callers_transaction) {
    struct loan loan = lent(SQL_AUTOCOMMIT_OFF);
    tp_new_task task = task_new("x");
    own_effect(&loan, "order");
    must(tp_enqueue(loan.conn, &task));
    expect_number(row_of(task.id).copies, 0);
    loan_end(&loan, SQL_COMMIT);
    expect_row(task.id, "pending", "pending", 0);
    expect_number(own_effects(), 1);
}

TEST(test_borrow__and_is_gone_with_its_rollback) {
    struct loan loan = lent(SQL_AUTOCOMMIT_OFF);
    tp_new_task task = task_new("x"), many[60];
    own_effect(&loan, "order");
    must(tp_enqueue(loan.conn, &task));
    fill(many, 60);
    must(tp_enqueue_many(loan.conn, many, 60, NULL));
    loan_end(&loan, SQL_ROLLBACK);
    expect_number(rows_in("pending", pool.handler), 0);
    expect_number(own_effects(), 0);
    must(tp_enqueue_many(loan.conn, many, 60, NULL)); /* asked again */
    loan_end(&loan, SQL_COMMIT);
    expect_number(rows_in("pending", pool.handler), 60);
}

TEST(test_borrow__closing_neither_commits_nor_rolls_back) {
    struct loan loan = loan_open(SQL_AUTOCOMMIT_OFF);
    tp_new_task task = task_new("x");
    must(tp_enqueue(loan.conn, &task));
    tp_conn_close(loan.conn);
    loan.conn = NULL;
    expect_number(row_of(task.id).copies, 0);
    own_effect(&loan, "after");
    loan_end(&loan, SQL_COMMIT);
    expect_row(task.id, "pending", "pending", 0);
    expect_number(own_effects(), 1);
    loan_close(&loan);
}

TEST(test_borrow__transactions_belong_to_the_caller) {
    struct loan loan = lent(SQL_AUTOCOMMIT_OFF);
    tp_claim_request request = claim_request(1);
    expect(TP_MISUSE, tp_begin(loan.conn));
    expect(TP_MISUSE, tp_commit(loan.conn));
    expect(TP_MISUSE, tp_rollback(loan.conn));
    expect(TP_MISUSE, tp_conn_reopen(loan.conn));
    expect(TP_MISUSE, try_claim(loan.conn, &request));
}

TEST(test_borrow__no_attribute_is_changed) {
    struct loan loan = lent(SQL_AUTOCOMMIT_OFF);
    tp_new_task task = task_new("x"), again;
    must(tp_enqueue(loan.conn, &task));
    again = task;
    expect(TP_EXISTS, tp_enqueue(loan.conn, &again));
    task_shown(loan.conn, task.id);
    loan_end(&loan, SQL_COMMIT);
    const tp_task *claimed = claim_this(pool.a, task.id);
    must(tp_complete(loan.conn, claimed));
    expect_number(autocommit(&loan), SQL_AUTOCOMMIT_OFF);
    loan_end(&loan, SQL_COMMIT);
    expect_row(task.id, "finished", "done", 0);
}

TEST(test_borrow__a_settle_is_part_of_the_callers_transaction) {
    for (int i = 0; i < SETTLES; i++) {
        const tp_task *task = put_and_claim(pool.a);
        struct loan loan = loan_open(SQL_AUTOCOMMIT_OFF);
        struct row before = row_of(task->id);
        must(settles[i].call(loan.conn, task));
        loan_end(&loan, SQL_ROLLBACK);
        expect_same(task->id, &before);
        must(settles[i].call(loan.conn, task));
        loan_end(&loan, SQL_COMMIT);
        loan_close(&loan);
        expect(strcmp(settles[i].name, "extend") == 0 ? TP_NONE : TP_OK, tp_settled(pool.a, task));
    }
}

TEST(test_borrow__answers_that_are_no_errors_leave_the_transaction_good) {
    struct loan loan = lent(SQL_AUTOCOMMIT_OFF);
    tp_new_task first = task_new("x"), second = task_new("x"), again;
    tp_task ghost = {.id = first.id, .owner = "11936f5e-8a4c-4b1d-9c3e-5f6a7b8c9d0e", .state = "handling"};
    first.dedup_key = second.dedup_key = pool.handler;
    must(tp_enqueue(pool.a, &first));
    again = first;
    own_effect(&loan, "one");
    expect(TP_EXISTS, tp_enqueue(loan.conn, &second));
    expect(TP_EXISTS, tp_enqueue(loan.conn, &again));
    expect(TP_LOST, tp_complete(loan.conn, &ghost));
    own_effect(&loan, "two");
    loan_end(&loan, SQL_COMMIT);
    expect_number(own_effects(), 2);
    expect_number(rows_in("pending", pool.handler), 1);
}

/* ---- A claim that passes on in the middle of a settle ----------------------------------------------- */

/* The settle meets a lock of the successor, which then commits. TP_LOST says that nothing was changed, so the
 * caller's commit, or autocommit, must not have stored half a move. */
static tp_status lose_in_the_middle(SQLULEN mode) {
    static const char successor[] = "21936f5e-8a4c-4b1d-9c3e-5f6a7b8c9d0e";
    struct aside aside;
    const tp_task *task = put_and_claim(pool.a);
    struct loan loan = lent(mode);
    must(tp_begin(pool.b));
    sql_run(pool.b, "UPDATE tp_pending SET owner = '%s' WHERE id = '%s'", successor, task->id);
    start_blocked(&aside, loan.conn, complete_call, (void *)(uintptr_t)task);
    must(tp_commit(pool.b));
    tp_status status = aside_end(&aside);
    expect_number(autocommit(&loan), mode);
    if (mode == SQL_AUTOCOMMIT_OFF) loan_end(&loan, SQL_COMMIT);
    expect_row(task->id, "pending", "handling", 0);
    assert_string_equal(row_of(task->id).owner, successor);
    return status;
}

/* On a busy machine the settle may give up before it is seen to wait. */
static tp_status lose_in_time(SQLULEN mode) {
    tp_status status = TP_TIMEOUT;
    for (int tries = 0; status == TP_TIMEOUT && tries < 5; tries++)
        status = lose_in_the_middle(mode);
    return status;
}

TEST(test_borrow__a_loss_in_the_middle_of_a_settle_leaves_nothing_behind) {
    if (pool_on_sqlite()) return; /* one writer: nobody gets in between */
    assert_string_equal(tp_status_name(lose_in_time(SQL_AUTOCOMMIT_OFF)), "lost");
}

/* ---- In autocommit mode each operation is all or nothing, or refused -------------------------------- */

static bool refused(tp_status status) {
    return status == TP_MISUSE || status == TP_UNSUPPORTED;
}

TEST(test_borrow__nor_in_autocommit_mode) {
    if (pool_on_sqlite()) return;
    tp_status status = lose_in_time(SQL_AUTOCOMMIT_ON);
    assert_true(status == TP_LOST || refused(status));
}

TEST(test_borrow__one_task_is_put_at_once_in_autocommit_mode) {
    struct loan loan = lent(SQL_AUTOCOMMIT_ON);
    tp_new_task task = task_new("x");
    tp_status status = tp_enqueue(loan.conn, &task);
    assert_true(status == TP_OK || refused(status));
    expect_number(autocommit(&loan), SQL_AUTOCOMMIT_ON);
    expect_number(rows_in("pending", pool.handler), status == TP_OK);
}

static tp_status enqueue_many_call(tp_conn *conn, void *arg) {
    enum { TASKS = 1100 };
    return tp_enqueue_many(conn, arg, TASKS, NULL);
}

/* The last task's key is about to be inserted by another session, which commits: the library sees that it
 * must wait, and an application would see the first thousand without the last. */
TEST(test_borrow__many_are_all_or_none_in_autocommit_mode) {
    enum { TASKS = 1100 };
    tp_new_task *tasks = memory(TASKS, sizeof *tasks), rival = task_new("x");
    struct aside aside;
    if (pool_on_sqlite()) return;
    fill(tasks, TASKS);
    tasks[TASKS - 1].dedup_key = rival.dedup_key = pool.handler;
    struct loan loan = lent(SQL_AUTOCOMMIT_ON);
    must(tp_begin(pool.b));
    must(tp_enqueue(pool.b, &rival));
    start_blocked(&aside, loan.conn, enqueue_many_call, tasks);
    int64_t seen = rows_in("pending", pool.handler);
    must(tp_rollback(pool.b));
    tp_status status = aside_end(&aside);
    expect_number(seen, 0);
    expect_number(rows_in("pending", pool.handler), status == TP_OK ? TASKS : 0);
}

/* ---- In either mode ------------------------------------------------------------------------------------ */

/* How the application has its transaction: the attribute off, or a BEGIN of its own with the attribute on. */
enum way { BY_ATTRIBUTE, BY_STATEMENT };

/* The second only where it can be seen, and where a transaction has such a beginning. */
static int ways(void) {
    if (!engine->begin) not_tried("a lent transaction that was begun by a statement");
    return engine->begin && pool_driver()->own_tx ? BY_STATEMENT + 1 : BY_STATEMENT;
}

static void begin_by_statement(const struct loan *loan) {
    sure(sql_raw(loan->raw.dbc, "%s", engine->begin), "%s", sql_reason());
}

static struct loan begin_loan(enum way way) {
    struct loan loan = loan_open(way == BY_ATTRIBUTE ? SQL_AUTOCOMMIT_OFF : SQL_AUTOCOMMIT_ON);
    if (way == BY_STATEMENT) begin_by_statement(&loan);
    return loan;
}

static void begin_again(struct loan *loan, enum way way) {
    if (way == BY_STATEMENT) begin_by_statement(loan);
}

static void end_by(struct loan *loan, enum way way, bool commit) {
    if (way == BY_ATTRIBUTE)
        loan_end(loan, commit ? SQL_COMMIT : SQL_ROLLBACK);
    else
        sure(sql_raw(loan->raw.dbc, commit ? "COMMIT" : "ROLLBACK"), "%s", sql_reason());
}

/* A producer's whole transaction: an order, its task, more tasks of which one is there, a key. */
struct order {
    tp_new_task one, keyed, again, many[60];
    char key[40];
};

static struct order new_order(const tp_new_task *there) {
    struct order order = {.one = task_new("x"), .keyed = task_new("x"), .again = *there};
    for (int i = 0; i < 60; i++)
        order.many[i] = task_new("x");
    order.many[7].dedup_key = order.keyed.dedup_key = pool.handler;
    snprintf(order.key, sizeof order.key, "%s/order", pool.handler);
    return order;
}

static void produce(struct loan *loan, const tp_new_task *there) {
    struct order order = new_order(there);
    size_t inserted = 0;
    own_effect(loan, "order");
    must(tp_once(loan->conn, order.key, NULL));
    must(tp_enqueue(loan->conn, &order.one));
    must(tp_enqueue(loan->conn, &order.keyed));
    expect(TP_EXISTS, tp_enqueue(loan->conn, &order.again));
    must(tp_enqueue_many(loan->conn, order.many, 60, &inserted));
    expect_number(inserted, 59);
    must(tp_enqueue_many(loan->conn, &order.again, 1, &inserted));
    expect_number(inserted, 0);
    expect(TP_EXISTS, tp_once(loan->conn, order.key, NULL));
    own_effect(loan, "order");
}

static int64_t keys_of_test(void) {
    return count_of("tp_once WHERE once_key = '%s/order'", pool.handler);
}

TEST(test_borrow__a_producer_commits_and_rolls_back_as_one) {
    for (int way = 0; way < ways(); way++) {
        tp_new_task there = enqueue(pool.a, .params = "x");
        struct loan loan = begin_loan((enum way)way);
        SQLULEN mode = way == BY_ATTRIBUTE ? SQL_AUTOCOMMIT_OFF : SQL_AUTOCOMMIT_ON;
        produce(&loan, &there);
        end_by(&loan, (enum way)way, false);
        expect_number(rows_in("pending", pool.handler), 1);
        expect_number(own_effects() + keys_of_test(), 0);
        begin_again(&loan, (enum way)way);
        produce(&loan, &there);
        expect_number(rows_in("pending", pool.handler), 1);
        end_by(&loan, (enum way)way, true);
        expect_number(rows_in("pending", pool.handler), 62);
        expect_number(own_effects(), 2);
        expect_number(keys_of_test(), 1);
        expect_number(autocommit(&loan), mode);
        loan_close(&loan);
        empty_pool();
    }
}

TEST(test_borrow__a_settle_is_part_of_a_transaction_begun_by_statement) {
    if (!engine->begin || !pool_driver()->own_tx) skip();
    for (int i = 0; i < SETTLES; i++) {
        const tp_task *task = put_and_claim(pool.a);
        struct row before = row_of(task->id);
        struct loan loan = begin_loan(BY_STATEMENT);
        must(settles[i].call(loan.conn, task));
        end_by(&loan, BY_STATEMENT, false);
        expect_same(task->id, &before);
        begin_again(&loan, BY_STATEMENT);
        must(settles[i].call(loan.conn, task));
        end_by(&loan, BY_STATEMENT, true);
        expect(strcmp(settles[i].name, "extend") == 0 ? TP_NONE : TP_OK, tp_settled(pool.a, task));
        loan_close(&loan);
    }
}

/* In plain autocommit mode what takes one statement is stored at once; what takes more is refused whole. */
TEST(test_borrow__in_autocommit_mode_what_takes_several_statements_is_refused) {
    struct loan loan = lent(SQL_AUTOCOMMIT_ON);
    tp_new_task one = task_new("x"), there = task_new("x");
    tp_new_task *many = memory(1100, sizeof *many);
    char key[40];
    must(tp_enqueue(loan.conn, &one));
    expect_number(rows_in("pending", pool.handler), 1);
    snprintf(key, sizeof key, "%s/alone", pool.handler);
    must(tp_once(loan.conn, key, NULL));
    expect(TP_EXISTS, tp_once(pool.b, key, NULL));
    there = one;
    for (int i = 0; i < 2; i++) {
        expect(TP_MISUSE, i ? tp_enqueue_many(loan.conn, &there, 1, NULL) : tp_enqueue(loan.conn, &there));
        expect_text("transaction");
    }
    fill(many, 1100);
    expect(TP_MISUSE, tp_enqueue_many(loan.conn, many, 1100, NULL));
    expect_text("switch autocommit off");
    must(tp_enqueue_many(loan.conn, many, 10, NULL));
    expect_number(rows_in("pending", pool.handler), 11);
    expect_number(autocommit(&loan), SQL_AUTOCOMMIT_ON);
}

static void switch_autocommit(const struct loan *loan, SQLULEN mode) {
    assert_true(SQL_SUCCEEDED(SQLSetConnectAttr(loan->raw.dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)mode, 0)));
}

/* Switched and lent at once: there are drivers that tell the mode of before until a statement has run. */
TEST(test_borrow__goes_by_the_mode_that_was_set_last) {
    struct loan loan = lent(SQL_AUTOCOMMIT_OFF);
    const tp_task *task = put_and_claim(pool.a);
    tp_new_task there = enqueue(pool.b, .params = "x");
    must(tp_complete(loan.conn, task));
    loan_end(&loan, SQL_ROLLBACK);
    struct row before = row_of(task->id);
    switch_autocommit(&loan, SQL_AUTOCOMMIT_ON);
    expect(TP_MISUSE, tp_enqueue(loan.conn, &there));
    switch_autocommit(&loan, SQL_AUTOCOMMIT_OFF);
    must(tp_complete(loan.conn, task));
    loan_end(&loan, SQL_ROLLBACK);
    expect_same(task->id, &before);
    switch_autocommit(&loan, SQL_AUTOCOMMIT_ON);
    tp_status status = tp_complete(loan.conn, task);
    assert_true(status == TP_OK || status == TP_MISUSE); /* in one statement, or not at all */
    if (status == TP_MISUSE) expect_same(task->id, &before);
}

/* As docs/producing.md shows it; dbc is in manual-commit mode. */
static bool place_order(tp_conn *conn, SQLHDBC dbc, const char *order) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = "points";
    task.biz_key = order;
    bool placed = sql_raw(dbc, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', 'order')", order) &&
                  tp_enqueue(conn, &task) == TP_OK;
    SQLRETURN ended = SQLEndTran(SQL_HANDLE_DBC, dbc, placed ? SQL_COMMIT : SQL_ROLLBACK);
    return placed && SQL_SUCCEEDED(ended);
}

TEST(test_borrow__an_order_and_its_task_are_placed_together) {
    struct loan loan = lent(SQL_AUTOCOMMIT_OFF);
    assert_true(place_order(loan.conn, loan.raw.dbc, pool.handler));
    expect_number(own_effects(), 1);
    assert_false(place_order(loan.conn, loan.raw.dbc, "ends with a blank ")); /* no key */
    expect_number(count_of("tp_pending WHERE handler = 'points'"), 1);
    expect_number(count_of("tp_fx WHERE task_id LIKE 'ends%%'"), 0);
}

/* ---- Nothing of the caller's is changed ---------------------------------------------------------------- */

TEST(test_borrow__attributes_and_session_settings_are_as_they_were) {
    struct settings before, after;
    for (int way = 0; way < ways(); way++) {
        tp_new_task there = enqueue(pool.a, .params = "x");
        struct pool_raw raw = {0};
        sure(pool_raw_open(&raw), "cannot open a plain connection");
        struct loan loan = {.raw = raw};
        SQLULEN mode = way == BY_ATTRIBUTE ? SQL_AUTOCOMMIT_OFF : SQL_AUTOCOMMIT_ON;
        SQLSetConnectAttr(raw.dbc, SQL_ATTR_TXN_ISOLATION, (SQLPOINTER)SQL_TXN_READ_COMMITTED, 0);
        SQLSetConnectAttr(raw.dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)mode, 0);
        settings_read(raw.dbc, &before);
        must(tp_conn_borrow(pool.env, raw.dbc, &loan.conn));
        begin_again(&loan, (enum way)way);
        produce(&loan, &there);
        end_by(&loan, (enum way)way, true);
        const tp_task *claimed = claim_this(pool.a, there.id);
        begin_again(&loan, (enum way)way);
        must(tp_extend(loan.conn, claimed, 60000));
        must(tp_complete(loan.conn, claimed));
        end_by(&loan, (enum way)way, true);
        tp_conn_close(loan.conn);
        loan.conn = NULL;
        settings_read(raw.dbc, &after);
        expect_settings(&before, &after);
        loan_close(&loan);
        empty_pool();
    }
}

/* A clock that is carried on was asked for in a transaction that had begun long before. */
TEST(test_borrow__a_lease_is_whole_whatever_an_old_transaction_said_of_the_time) {
    if (!(pool.a->store.caps & TPI_CAP_CLIENT_CLOCK)) skip();
    enum { OLD_MS = 600000, LEASE_MS = 60000 };
    struct loan loan = lent(SQL_AUTOCOMMIT_ON);
    int64_t now = 0, later = 0;
    const tp_task *task = claim_this(pool.a, put_one());
    must(tpi_store_now(&loan.conn->store, &now));
    loan.conn->store.clock.database_ms -= OLD_MS;
    must(tp_extend(loan.conn, task, LEASE_MS));
    assert_true(row_of(task->id).due_at >= now + LEASE_MS - 1);
    loan.conn->store.clock.database_ms += OLD_MS; /* later than what is said now: that counts */
    must(tpi_store_now(&loan.conn->store, &later));
    assert_true(later >= now + OLD_MS);
    loan.conn->store.clock.database_ms -= OLD_MS;
}
