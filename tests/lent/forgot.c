/* Lent connections whose server forgot what was prepared, as after DEALLOCATE ALL or behind a pooler: effect
 * and call are in one transaction, or neither is stored. */
#include <sqlext.h>
#include <stdio.h>
#include <string.h>

#include "lent/bring.h"
#include "support/check.h"
#include "support/sql.h"
#include "support/tasks.h"

/* How the application has its transactions: autocommit is off, or it sends BEGIN. */
enum beginning { BY_ATTRIBUTE, BY_STATEMENT, BEGINNINGS };

static void begin_as(const struct way *way, SQLHDBC dbc, enum beginning how) {
    if (how == BY_ATTRIBUTE)
        way_begin(way, dbc);
    else
        sure(sql_raw(dbc, "BEGIN"), "%s: %s", way->name, sql_reason());
}

static void end_as(SQLHDBC dbc, enum beginning how, bool commit) {
    if (how == BY_ATTRIBUTE)
        end_raw(dbc, commit ? SQL_COMMIT : SQL_ROLLBACK);
    else
        sure(sql_raw(dbc, commit ? "COMMIT" : "ROLLBACK"), "%s", sql_reason());
}

static void forget_all(const struct way *way, SQLHDBC dbc) {
    sure(sql_raw(dbc, "DEALLOCATE ALL"), "%s: %s", way->name, sql_reason());
}

/* Once for each round in which the server forgot: effect and call are in one transaction, or neither is
 * stored. A driver that rolls back after any error must not have the call begin another. */
static void expect_both_or_none(const struct way *way, enum bringing how, enum beginning begin) {
    enum { ROUNDS = 3 };
    struct visit visit = {.way = way};
    struct pool_raw raw;
    int64_t refused = 0;
    char key[90];
    key_of(&visit);
    assert_true(way_open(way, begin == BY_ATTRIBUTE ? SQL_AUTOCOMMIT_OFF : SQL_AUTOCOMMIT_ON, &raw));
    must(tp_conn_borrow(pool.env, raw.dbc, &visit.conn));
    begin_as(way, raw.dbc, begin);
    must(bring(visit.conn, visit.once_new, how));
    end_as(raw.dbc, begin, true);
    for (int i = 0; i < ROUNDS; i++) {
        snprintf(key, sizeof key, "%s/%d", visit.once_new, i);
        begin_as(way, raw.dbc, begin);
        effect_raw(raw.dbc, "paid");
        forget_all(way, raw.dbc);
        tp_status answer = bring(visit.conn, key, how);
        end_as(raw.dbc, begin, answer == TP_OK);
        refused += answer != TP_OK;
        expect_number(effects_raw(), i + 1 - refused);
        begin_as(way, raw.dbc, begin);
        expect(answer == TP_OK ? TP_EXISTS : TP_OK, bring(visit.conn, key, how));
        end_as(raw.dbc, begin, false);
    }
    print_message("%s%s: %d of %d refused\n", way->name, begin == BY_STATEMENT ? ", BEGIN" : "", (int)refused,
                  ROUNDS);
    assert_true(refused <= 1);
    close_lent(&visit, &raw);
}

static bool rolls_back_in_its_own_way(const struct way *way) {
    return strstr(way->name, "Protocol=") || strcmp(way->name, "repeatable read") == 0;
}

TEST_BETWEEN(test_lent__whose_server_forgot_its_statements_stores_both_or_none, pool_fresh, NULL) {
    if (!pool_on_postgres() || pool_on_generic()) skip();
    for (size_t i = 0; way_at(i); i++)
        for (int begin = 0; rolls_back_in_its_own_way(way_at(i)) && begin < BEGINNINGS; begin++) {
            expect_both_or_none(way_at(i), ALONE, (enum beginning)begin);
            expect_both_or_none(way_at(i), IN_THE_LEDGER, (enum beginning)begin);
        }
}

/* In autocommit mode nobody knows afterwards whether a transaction was open, so that the first call is
 * refused, and no more than that one. */
TEST_BETWEEN(test_lent__whose_server_forgets_again_and_again_is_refused_one_call, pool_fresh, NULL) {
    struct pool_raw raw;
    tp_conn *conn = NULL;
    if (!pool_on_postgres() || pool_on_generic()) skip();
    assert_true(way_open(way_named("as it comes"), SQL_AUTOCOMMIT_ON, &raw));
    must(tp_conn_borrow(pool.env, raw.dbc, &conn));
    for (int i = 0; i < 5; i++) {
        tp_new_task task = task_new("x");
        expect(i == 1 ? TP_CONFLICT : TP_OK, tp_enqueue(conn, &task));
        if (i == 1) expect_text("the server forgot what was prepared");
        expect_number(rows_in("pending", pool.handler), i ? i : 1);
        forget_all(way_named("as it comes"), raw.dbc);
    }
    tp_conn_close(conn);
    pool_raw_close(&raw);
}
