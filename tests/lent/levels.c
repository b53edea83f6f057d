/* Lent connections whose isolation level shows what is not committed or hides what is: nothing is believed
 * too early, nothing put in twice. */
#include <sqlext.h>
#include <stdio.h>
#include <string.h>

#include "lent/ways.h"
#include "support/check.h"
#include "support/session.h"
#include "support/sql.h"
#include "support/tasks.h"

/* One lent connection, and a key that nobody has. */
struct visit {
    const struct way *way;
    tp_conn *conn;
    char once_new[60];
};

static void key_of(struct visit *visit) {
    static int number;
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE handler = '%s'", pool.handler);
    snprintf(visit->once_new, sizeof visit->once_new, "%s/level%d", pool.handler, ++number);
}

/* ---- What a level shows too early ---------------------------------------------------------------------- */

/* One call that meets what its rival has written and then takes back. */
struct early {
    const char *name;
    tp_status (*rival)(tp_conn *conn, void *arg), (*call)(tp_conn *conn, void *arg);
    bool keyed, same; /* with a dedup_key; an earlier try of the same task */
};

static tp_status once_call(tp_conn *conn, void *arg) {
    const tp_new_task *task = arg;
    return tp_once(conn, task->params, NULL);
}

static tp_status enqueue_call(tp_conn *conn, void *arg) {
    return tp_enqueue(conn, arg);
}

/* Nothing inserted is TP_EXISTS. */
static tp_status many_call(tp_conn *conn, void *arg) {
    size_t inserted = 0;
    tp_status status = tp_enqueue_many(conn, arg, 1, &inserted);
    return status == TP_OK && !inserted ? TP_EXISTS : status;
}

static const struct early earlies[] = {
    {"once", once_call, once_call, false, true},
    {"key", enqueue_call, enqueue_call, true, false},
    {"again", enqueue_call, enqueue_call, false, true},
    {"again with a key", enqueue_call, enqueue_call, true, true},
    {"many, key", enqueue_call, many_call, true, false},
    {"many, again", enqueue_call, many_call, false, true},
};

/* The rival has written and rolls back: it was never there. */
static void expect_no_belief(const struct way *way, const struct early *early) {
    struct visit visit = {.way = way};
    struct pool_raw raw;
    struct aside aside;
    key_of(&visit);
    tp_new_task rival = task_new(visit.once_new);
    if (early->keyed) rival.dedup_key = visit.once_new;
    tp_new_task task = rival;
    if (!way_open(way, SQL_AUTOCOMMIT_OFF, &raw)) return;
    if (tp_conn_borrow(pool.env, raw.dbc, &visit.conn) == TP_OK) {
        long session = session_number_of(raw.dbc);
        way_begin(way, raw.dbc);
        must(tp_begin(pool.b));
        must(early->rival(pool.b, &rival));
        if (early->same) task = rival;
        aside_start(&aside, visit.conn, early->call, &task);
        session_await_blocked(session, &aside);
        must(tp_rollback(pool.b));
        tp_status status = aside_end(&aside);
        sure(status == TP_OK || status == TP_UNSUPPORTED || status == TP_CONFLICT, "%s, %s: %s %s", way->name,
             early->name, tp_status_name(status), aside.error);
        bool known = !way->next || pool_on_postgres(); /* its level; then it may be refused */
        sure(status == TP_OK || known, "%s, %s: stored nothing", way->name, early->name);
        assert_true(SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, raw.dbc, SQL_COMMIT)));
        bool task_stored = status == TP_OK && early->call != once_call;
        expect_number(rows_in("pending", pool.handler), task_stored);
        tp_conn_close(visit.conn);
    }
    pool_raw_close(&raw);
}

TEST_BETWEEN(test_lent__believes_nothing_before_its_rival_has_committed, pool_fresh, NULL) {
    if (pool_on_sqlite()) skip(); /* one writer */
    for (size_t i = 0; way_at(i); i++) {
        if (!strstr(way_at(i)->name, "read uncommitted") && !strstr(way_at(i)->name, "repeatable")) continue;
        for (size_t k = 0; k < sizeof earlies / sizeof earlies[0]; k++)
            expect_no_belief(way_at(i), &earlies[k]);
    }
}

/* ---- What a level hides -------------------------------------------------------------------------------- */

/* After the lent session's snapshot an earlier try was stored, and one with the key; the first was also done.
 */
static void expect_nothing_twice(const struct way *way, bool finished) {
    struct visit visit = {.way = way};
    struct pool_raw raw;
    const tp_task *held;
    tp_new_task tried = task_new("x"), rival = task_new("x"), task = task_new("x");
    key_of(&visit);
    rival.dedup_key = task.dedup_key = visit.once_new;
    if (!way_open(way, SQL_AUTOCOMMIT_OFF, &raw)) return;
    if (tp_conn_borrow(pool.env, raw.dbc, &visit.conn) == TP_OK) {
        way_begin(way, raw.dbc);
        tried.priority = -1; /* claimed before the others */
        must(tp_enqueue(pool.b, &tried));
        must(tp_enqueue(pool.b, &rival));
        if (finished) {
            tp_batch *batch = claim_this(pool.b, tried.id, &held);
            must(tp_complete(pool.b, held));
            tp_batch_free(batch);
        }
        tp_status again = tp_enqueue(visit.conn, &tried);
        sure(again == TP_EXISTS || again == TP_UNSUPPORTED, "%s: again: %s", way->name,
             tp_status_name(again));
        tp_status keyed = tp_enqueue(visit.conn, &task);
        sure(keyed == TP_EXISTS || keyed == TP_UNSUPPORTED || keyed == TP_CONFLICT, "%s: keyed: %s",
             way->name, tp_status_name(keyed));
        if (keyed == TP_EXISTS) assert_string_equal(task.existing_id, rival.id);
        assert_true(SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, raw.dbc, SQL_ROLLBACK)));
        tp_conn_close(visit.conn);
    }
    pool_raw_close(&raw);
}

TEST_BETWEEN(test_lent__puts_nothing_in_twice_that_its_level_hides, pool_fresh, NULL) {
    if (pool_on_sqlite()) skip(); /* a read transaction that is overtaken cannot write */
    for (size_t i = 0; way_at(i); i++) {
        if (!strstr(way_at(i)->name, "read") && !strstr(way_at(i)->name, "serializable")) continue;
        if (strstr(way_at(i)->name, "serializable") && pool_on_mariadb()) continue; /* its reads lock */
        expect_nothing_twice(way_at(i), false);
        expect_nothing_twice(way_at(i), true);
    }
}

/* An earlier try with a key was stored after the lent session's snapshot, and then the same id is brought
 * with other content: an error, whatever the key says. */
static void expect_other_content_told(const struct way *way) {
    struct visit visit = {.way = way};
    struct pool_raw raw;
    tp_new_task tried = task_new("x");
    key_of(&visit);
    tried.dedup_key = visit.once_new;
    if (!way_open(way, SQL_AUTOCOMMIT_OFF, &raw)) return;
    if (tp_conn_borrow(pool.env, raw.dbc, &visit.conn) == TP_OK) {
        way_begin(way, raw.dbc);
        must(tp_enqueue(pool.b, &tried));
        tp_new_task other = task_new("y");
        other.dedup_key = tried.dedup_key;
        task_set_id(&other, tried.id);
        tp_status status = tp_enqueue(visit.conn, &other);
        sure(status == TP_MISUSE || status == TP_UNSUPPORTED || status == TP_CONFLICT, "%s: %s", way->name,
             tp_status_name(status));
        assert_true(SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, raw.dbc, SQL_ROLLBACK)));
        tp_conn_close(visit.conn);
    }
    pool_raw_close(&raw);
}

TEST_BETWEEN(test_lent__other_content_under_an_id_is_told_though_its_key_is_there, pool_fresh, NULL) {
    if (pool_on_sqlite()) skip(); /* a read transaction that is overtaken cannot write */
    for (size_t i = 0; way_at(i); i++) {
        if (!strstr(way_at(i)->name, "read") && !strstr(way_at(i)->name, "serializable")) continue;
        if (strstr(way_at(i)->name, "serializable") && pool_on_mariadb()) continue; /* its reads lock */
        expect_other_content_told(way_at(i));
    }
}

/* ---- What others wait for, and what the application has to do ------------------------------------------ */

/* Somebody else settles a task while the lent transaction, which brought an id of its own, is open. */
static tp_status settle_beside(const struct way *way) {
    struct pool_raw raw;
    const tp_task *held;
    tp_conn *conn;
    tp_new_task own = task_new("x"), other = task_new("x");
    way_open(way, SQL_AUTOCOMMIT_OFF, &raw);
    must(tp_conn_borrow(pool.env, raw.dbc, &conn));
    way_begin(way, raw.dbc);
    must(tp_enqueue(pool.b, &other));
    memcpy(own.id, other.id, ID); /* as if made just before */
    own.id[ID - 2] = own.id[ID - 2] == '0' ? '1' : '0';
    must(tp_enqueue(conn, &own));
    tp_batch *batch = claim_this(pool.b, other.id, &held);
    pool_fail_waits(pool.b);
    tp_status status = tp_complete(pool.b, held);
    tp_batch_free(batch);
    must(tp_conn_reopen(pool.b));
    assert_true(SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, raw.dbc, SQL_ROLLBACK)));
    tp_conn_close(conn);
    pool_raw_close(&raw);
    return status;
}

TEST_BETWEEN(test_lent__at_read_committed_an_id_of_its_own_holds_up_no_settle, pool_fresh, NULL) {
    if (!pool_on_mariadb() || pool_speaks("oracle")) skip(); /* elsewhere nothing is found by locks */
    for (size_t i = 0; way_at(i); i++) {
        const char *name = way_at(i)->name;
        bool committed = strstr(name, "read committed") || strcmp(name, "read uncommitted") == 0;
        if (!committed && strcmp(name, "repeatable read") != 0) continue;
        tp_status status = settle_beside(way_at(i));
        print_message("%-36sa settle beside it: %s\n", name, tp_status_name(status));
        if (committed) must(status);
    }
}

/* ---- A key that came after the snapshot ---------------------------------------------------------------- */

enum { MANY = 1001 }; /* more than one statement takes */

enum bringing { ALONE, AMONG_MANY, IN_THE_LEDGER, BRINGINGS };

/* Brings the key, of many tasks with the last. */
static tp_status bring(tp_conn *conn, const char *key, enum bringing how) {
    static tp_new_task many[MANY];
    size_t inserted = 0, count = how == AMONG_MANY ? MANY : 1;
    if (how == IN_THE_LEDGER) return tp_once(conn, key, NULL);
    for (size_t i = 0; i < count; i++)
        many[i] = task_new("x");
    many[count - 1].dedup_key = key;
    tp_status status = tp_enqueue_many(conn, many, count, &inserted);
    return status == TP_OK && inserted < count ? TP_EXISTS : status;
}

static void effect_raw(SQLHDBC dbc, const char *note) {
    sure(sql_raw(dbc, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', '%s')", pool.handler, note), "%s: %s",
         note, sql_reason());
}

static void end_raw(SQLHDBC dbc, SQLSMALLINT how) {
    assert_true(SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, dbc, how)));
}

/* Opens a lent connection, its transaction with an effect, and then a rival's key. */
static void meet_rival(struct visit *visit, struct pool_raw *raw, enum bringing how) {
    key_of(visit);
    sql_run(pool.eye, "DELETE FROM tp_fx WHERE task_id = '%s'", pool.handler);
    assert_true(way_open(visit->way, SQL_AUTOCOMMIT_OFF, raw));
    must(tp_conn_borrow(pool.env, raw->dbc, &visit->conn));
    way_begin(visit->way, raw->dbc);
    effect_raw(raw->dbc, "before");
    must(bring(pool.b, visit->once_new, how == AMONG_MANY ? ALONE : how));
}

static void close_lent(struct visit *visit, struct pool_raw *raw) {
    tp_conn_close(visit->conn);
    pool_raw_close(raw);
}

/* The application has a savepoint of the very name, and goes back to it. A savepoint of the library's that
 * was left would be met in place of it. */
static void expect_it_goes_on(const struct way *way, enum bringing how) {
    struct visit visit = {.way = way};
    struct pool_raw raw;
    char other_key[70];
    meet_rival(&visit, &raw, how);
    snprintf(other_key, sizeof other_key, "%s/other", visit.once_new);
    sure(sql_raw(raw.dbc, "SAVEPOINT taskpool_put"), "%s: %s", way->name, sql_reason());
    effect_raw(raw.dbc, "taken back");
    expect(TP_CONFLICT, bring(visit.conn, visit.once_new, how));
    expect_text("your transaction goes on");
    must(bring(visit.conn, other_key, how));
    sure(sql_raw(raw.dbc, "ROLLBACK TO SAVEPOINT taskpool_put"), "%s: %s", way->name, sql_reason());
    must(bring(visit.conn, other_key, ALONE));
    effect_raw(raw.dbc, "after");
    end_raw(raw.dbc, SQL_COMMIT);
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_fx WHERE task_id = '%s'", pool.handler), 2);
    expect_number(rows_in("pending", pool.handler), how == IN_THE_LEDGER ? 1 : 2);
    way_begin(way, raw.dbc);
    expect(TP_EXISTS, bring(visit.conn, visit.once_new, how));
    end_raw(raw.dbc, SQL_ROLLBACK);
    close_lent(&visit, &raw);
}

/* This driver rolls back by itself, and begins anew with the next statement. */
static void expect_it_is_told_of_its_end(const struct way *way, enum bringing how) {
    struct visit visit = {.way = way};
    struct pool_raw raw;
    meet_rival(&visit, &raw, how);
    expect(TP_CONFLICT, bring(visit.conn, visit.once_new, how));
    expect_text("your own transaction must be rolled back");
    end_raw(raw.dbc, SQL_ROLLBACK);
    way_begin(way, raw.dbc);
    expect(TP_EXISTS, bring(visit.conn, visit.once_new, how));
    end_raw(raw.dbc, SQL_ROLLBACK);
    close_lent(&visit, &raw);
}

static bool hides_keys(const struct way *way) {
    return strstr(way->name, "repeatable") || strstr(way->name, "serializable");
}

TEST_BETWEEN(test_lent__a_key_that_came_after_its_snapshot_leaves_its_transaction_good, pool_fresh, NULL) {
    if (!pool_on_postgres() || pool_on_generic()) skip();
    for (size_t i = 0; way_at(i); i++) {
        for (int how = 0; hides_keys(way_at(i)) && how < BRINGINGS; how++) {
            if (strstr(way_at(i)->name, "7.4-1"))
                expect_it_is_told_of_its_end(way_at(i), (enum bringing)how);
            else
                expect_it_goes_on(way_at(i), (enum bringing)how);
        }
    }
}

static const struct way *way_named(const char *name) {
    for (size_t i = 0; way_at(i); i++)
        if (strcmp(way_at(i)->name, name) == 0) return way_at(i);
    fail_msg("no way %s", name);
    return NULL;
}

/* What the lent transaction read is overwritten by a second, which commits; what it is to write was read by a
 * third: no order fits the three, and the server refuses the write. The key is nobody's. */
TEST_BETWEEN(test_lent__what_serializable_refuses_is_not_told_as_there, pool_fresh, NULL) {
    int64_t rows = 0;
    struct pool_raw raw, second, third;
    if (!pool_on_postgres() || pool_on_generic()) skip();
    struct visit visit = {.way = way_named("serializable")};
    key_of(&visit);
    assert_true(way_open(visit.way, SQL_AUTOCOMMIT_OFF, &raw));
    assert_true(way_open(visit.way, SQL_AUTOCOMMIT_OFF, &second));
    assert_true(way_open(visit.way, SQL_AUTOCOMMIT_OFF, &third));
    must(tp_conn_borrow(pool.env, raw.dbc, &visit.conn));
    way_begin(visit.way, third.dbc);
    assert_true(sql_raw_number(third.dbc, &rows, "SELECT COUNT(*) FROM tp_once"));
    way_begin(visit.way, raw.dbc);
    assert_true(sql_raw_number(raw.dbc, &rows, "SELECT COUNT(*) FROM tp_fx"));
    effect_raw(second.dbc, "overwrites");
    end_raw(second.dbc, SQL_COMMIT);
    expect(TP_CONFLICT, tp_once(visit.conn, visit.once_new, NULL));
    expect_text("Ask again in a new one");
    SQLRETURN committed = SQLEndTran(SQL_HANDLE_DBC, raw.dbc, SQL_COMMIT);
    print_message("its commit: %s\n", SQL_SUCCEEDED(committed) ? "done" : "refused");
    end_raw(raw.dbc, SQL_ROLLBACK);
    end_raw(third.dbc, SQL_ROLLBACK);
    must(tp_once(visit.conn, visit.once_new, NULL));
    end_raw(raw.dbc, SQL_ROLLBACK);
    close_lent(&visit, &raw);
    pool_raw_close(&second);
    pool_raw_close(&third);
}

/* Effect and call are in one transaction, or neither is stored: a driver that rolls back after any error must
 * not have the call begin another. */
static void expect_both_or_none(const struct way *way, enum bringing how) {
    enum { CALLS = 8 }; /* until the server knows the statements by name */
    struct visit visit = {.way = way};
    struct pool_raw raw;
    char key[90];
    key_of(&visit);
    sql_run(pool.eye, "DELETE FROM tp_fx WHERE task_id = '%s'", pool.handler);
    assert_true(way_open(way, SQL_AUTOCOMMIT_OFF, &raw));
    must(tp_conn_borrow(pool.env, raw.dbc, &visit.conn));
    way_begin(way, raw.dbc);
    for (int i = 0; i < CALLS; i++) {
        snprintf(key, sizeof key, "%s/%d", visit.once_new, i);
        must(bring(visit.conn, key, how));
    }
    end_raw(raw.dbc, SQL_COMMIT);
    way_begin(way, raw.dbc);
    effect_raw(raw.dbc, "paid");
    sure(sql_raw(raw.dbc, "DEALLOCATE ALL"), "%s: %s", way->name, sql_reason());
    tp_status answer = bring(visit.conn, visit.once_new, how);
    print_message("%s: %s\n", way->name, tp_status_name(answer));
    end_raw(raw.dbc, answer == TP_OK ? SQL_COMMIT : SQL_ROLLBACK);
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_fx WHERE task_id = '%s'", pool.handler),
                  answer == TP_OK);
    way_begin(way, raw.dbc);
    expect(answer == TP_OK ? TP_EXISTS : TP_OK, bring(visit.conn, visit.once_new, how));
    end_raw(raw.dbc, SQL_ROLLBACK);
    close_lent(&visit, &raw);
}

TEST_BETWEEN(test_lent__whose_server_forgot_its_statements_stores_both_or_none, pool_fresh, NULL) {
    if (!pool_on_postgres() || pool_on_generic()) skip();
    for (size_t i = 0; way_at(i); i++) {
        const char *name = way_at(i)->name;
        if (!strstr(name, "Protocol=") && strcmp(name, "repeatable read") != 0) continue;
        expect_both_or_none(way_at(i), ALONE);
        expect_both_or_none(way_at(i), IN_THE_LEDGER);
    }
}
