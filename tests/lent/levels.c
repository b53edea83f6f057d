/* Lent connections whose isolation level shows what is not committed or hides what is: nothing is believed
 * too early, nothing put in twice. */
#include <sqlext.h>
#include <stdio.h>
#include <string.h>

#include "lent/bring.h"
#include "lent/ways.h"
#include "support/check.h"
#include "support/session.h"
#include "support/sql.h"
#include "support/tasks.h"

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

/* False: what the lent session has read is locked, as at serializable where that has no snapshot. */
static bool went_by(tp_status status) {
    if (status != TP_TIMEOUT) must(status);
    return status == TP_OK;
}

static bool finish_beside(const char *id) {
    const tp_task *held;
    tp_batch *batch = claim_this(pool.b, id, &held);
    bool finished = went_by(tp_complete(pool.b, held));
    tp_batch_free(batch);
    return finished;
}

/* After the lent session's snapshot an earlier try was stored, and one with the key; the first was also done.
 */
static void expect_nothing_twice(const struct way *way, bool finished) {
    struct visit visit = {.way = way};
    struct pool_raw raw;
    tp_new_task tried = task_new("x"), rival = task_new("x"), task = task_new("x");
    key_of(&visit);
    rival.dedup_key = task.dedup_key = visit.once_new;
    if (!way_open(way, SQL_AUTOCOMMIT_OFF, &raw)) return;
    if (tp_conn_borrow(pool.env, raw.dbc, &visit.conn) == TP_OK) {
        way_begin(way, raw.dbc);
        tried.priority = -1; /* claimed before the others */
        bool stored = went_by(tp_enqueue(pool.b, &tried)) && went_by(tp_enqueue(pool.b, &rival)) &&
                      (!finished || finish_beside(tried.id));
        tp_status again = stored ? tp_enqueue(visit.conn, &tried) : TP_EXISTS;
        sure(again == TP_EXISTS || again == TP_UNSUPPORTED, "%s: again: %s", way->name,
             tp_status_name(again));
        tp_status keyed = stored ? tp_enqueue(visit.conn, &task) : TP_UNSUPPORTED;
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
        bool stored = went_by(tp_enqueue(pool.b, &tried));
        tp_new_task other = task_new("y");
        other.dedup_key = tried.dedup_key;
        task_set_id(&other, tried.id);
        tp_status status = stored ? tp_enqueue(visit.conn, &other) : TP_UNSUPPORTED;
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

/* Opens a lent connection, its transaction with an effect, and then a rival's key. */
static void meet_rival(struct visit *visit, struct pool_raw *raw, enum bringing how) {
    key_of(visit);
    assert_true(way_open(visit->way, SQL_AUTOCOMMIT_OFF, raw));
    must(tp_conn_borrow(pool.env, raw->dbc, &visit->conn));
    way_begin(visit->way, raw->dbc);
    effect_raw(raw->dbc, "before");
    must(bring(pool.b, visit->once_new, how == AMONG_MANY ? ALONE : how));
}

/* The application has a savepoint of the very name, and goes back to it. A savepoint of the library's that
 * was left would be met in place of it. */
static void expect_it_goes_on(const struct way *way, enum bringing how) {
    struct visit visit = {.way = way};
    struct pool_raw raw;
    char other_key[70];
    meet_rival(&visit, &raw, how);
    snprintf(other_key, sizeof other_key, "%s/other", visit.once_new);
    sure(sql_raw(raw.dbc, "SAVEPOINT taskpool_put_c41d7e02"), "%s: %s", way->name, sql_reason());
    effect_raw(raw.dbc, "taken back");
    expect(TP_CONFLICT, bring(visit.conn, visit.once_new, how));
    expect_text("your transaction goes on");
    must(bring(visit.conn, other_key, how));
    sure(sql_raw(raw.dbc, "ROLLBACK TO SAVEPOINT taskpool_put_c41d7e02"), "%s: %s", way->name, sql_reason());
    must(bring(visit.conn, other_key, ALONE));
    effect_raw(raw.dbc, "after");
    end_raw(raw.dbc, SQL_COMMIT);
    expect_number(effects_raw(), 2);
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

/* The call made the id and took back what it had stored, so that the application's own loop, which asks again
 * with the same structs in a new transaction, finds the key. */
TEST_BETWEEN(test_lent__that_was_refused_a_key_asks_again_with_the_same_structs, pool_fresh, NULL) {
    if (!pool_on_postgres() || pool_on_generic()) skip();
    for (size_t i = 0; way_at(i); i++) {
        struct visit visit = {.way = way_at(i)};
        struct pool_raw raw;
        size_t inserted = 0;
        tp_new_task tasks[3] = {task_new("x"), task_new("x"), task_new("x")};
        if (!hides_keys(way_at(i))) continue;
        bool ends = strstr(way_at(i)->name, "7.4-1") != NULL;
        meet_rival(&visit, &raw, ALONE);
        tasks[0].dedup_key = tasks[2].dedup_key = visit.once_new;
        expect(TP_CONFLICT, tp_enqueue(visit.conn, &tasks[0]));
        assert_int_equal(tasks[0].id[0] != '\0', ends); /* there nothing says that it was taken back */
        if (!ends) expect(TP_CONFLICT, tp_enqueue_many(visit.conn, tasks + 1, 2, NULL));
        end_raw(raw.dbc, SQL_ROLLBACK);
        way_begin(way_at(i), raw.dbc);
        expect(ends ? TP_UNSUPPORTED : TP_EXISTS, tp_enqueue(visit.conn, &tasks[0]));
        if (!ends) must(tp_enqueue_many(visit.conn, tasks + 1, 2, &inserted));
        expect_number(inserted, !ends);
        end_raw(raw.dbc, SQL_ROLLBACK);
        close_lent(&visit, &raw);
    }
}

/* Who loops while told of a conflict would loop for ever. */
TEST_BETWEEN(test_lent__what_can_never_be_stored_is_not_told_as_a_conflict, pool_fresh, NULL) {
    if (!pool_on_postgres() || pool_on_generic()) skip();
    sql_run(pool.eye, "ALTER TABLE tp_pending ADD CONSTRAINT tp_own CHECK (biz_key <> 'refused')");
    for (size_t i = 0; way_at(i); i++) {
        struct visit visit = {.way = way_at(i)};
        struct pool_raw raw;
        tp_new_task task = task_new("x");
        if (!hides_keys(way_at(i))) continue;
        meet_rival(&visit, &raw, IN_THE_LEDGER);
        task.biz_key = "refused";
        task.dedup_key = visit.once_new;
        expect(TP_DB, tp_enqueue(visit.conn, &task));
        if (strstr(way_at(i)->name, "7.4-1")) expect_text("your own transaction must be rolled back");
        end_raw(raw.dbc, SQL_ROLLBACK);
        close_lent(&visit, &raw);
    }
    sql_run(pool.eye, "ALTER TABLE tp_pending DROP CONSTRAINT tp_own");
}
