/* The idempotency ledger: a key once, in whose transaction it may be, and whoever asks meanwhile. */
#include <sqlext.h>

#include "suite.h"
#include "support/faults.h"

THEME(once, ONCE);

enum { KEY = 64 };

/* A key of this test's own. */
static void new_key(char key[KEY], int number) {
    snprintf(key, KEY, "%s/%d", pool.handler, number);
}

static int64_t in_ledger(const char *key) {
    return count_of("tp_once WHERE once_key = '%s'", key);
}

TEST(test_once__says_the_first_time_and_then_that_it_was_there) {
    struct sql_row row;
    char key[KEY];
    const tp_task *task = put_and_claim(pool.taker);
    new_key(key, 1);
    must(tp_once(pool.a, key, task));
    for (int i = 0; i < 3; i++)
        expect(TP_EXISTS, tp_once(i == 1 ? pool.b : pool.a, key, i == 2 ? task : NULL));
    expect_number(in_ledger(key), 1);
    assert_true(sql_row(pool.eye, &row,
                        "SELECT handler, task_id, created_at FROM tp_once WHERE once_key = '%s'", key));
    assert_string_equal(row.cell[0], pool.handler);
    expect_number(strlen(row.cell[1]), ID - 1);
    assert_true(strtoll(row.cell[2], NULL, 10) > LONG_AGO);
    new_key(key, 2);
    must(tp_once(pool.b, key, NULL));
}

TEST(test_once__keys_are_compared_byte_for_byte) {
    static const char *const keys[] = {"order 7",  "ORDER 7",  "order 7é",
                                       "order 7e", "订单 7 😀", "it's 100% \"7\" ;--"};
    char longest[TP_KEY_MAX + 1];
    for (size_t i = 0; i < LENGTH(keys); i++)
        must(tp_once(pool.a, keys[i], NULL));
    for (size_t i = 0; i < LENGTH(keys); i++)
        expect(TP_EXISTS, tp_once(pool.a, keys[i], NULL));
    memset(longest, 'k', TP_KEY_MAX);
    longest[TP_KEY_MAX] = '\0';
    must(tp_once(pool.a, longest, NULL));
    expect(TP_EXISTS, tp_once(pool.b, longest, NULL));
}

TEST(test_once__what_is_no_key_is_refused) {
    char too_long[TP_KEY_MAX + 2];
    tp_task ghost = {.id = "7", .handler = "x"};
    memset(too_long, 'k', TP_KEY_MAX + 1);
    too_long[TP_KEY_MAX + 1] = '\0';
    expect(TP_MISUSE, tp_once(pool.a, NULL, NULL));
    expect(TP_MISUSE, tp_once(pool.a, "", NULL));
    expect(TP_MISUSE, tp_once(pool.a, "blank ", NULL));
    expect(TP_MISUSE, tp_once(pool.a, "bad \xff", NULL));
    expect(TP_TOOBIG, tp_once(pool.a, too_long, NULL));
    expect(TP_MISUSE, tp_once(pool.a, "good", &ghost));
    expect(TP_MISUSE, tp_once(NULL, "good", NULL));
}

/* A handler as it should be: the effect only the first time, and all of it with the settle. */
static void pay_once(const tp_task *task, const char *key, tp_status expected) {
    must(tp_begin(pool.a));
    expect(expected, tp_once(pool.a, key, task));
    if (expected == TP_OK) effect(pool.a, task->id);
    must(tp_complete(pool.a, task));
}

TEST(test_once__is_stored_with_effect_and_settle_or_not_at_all) {
    const tp_task *second;
    char key[KEY];
    if (pool.taker != pool.a) skip(); /* the one who puts in does not settle */
    new_key(key, 1);
    const tp_task *first = put_and_claim(pool.a);
    pay_once(first, key, TP_OK);
    must(tp_rollback(pool.a));
    expect_number(in_ledger(key), 0);
    pay_once(first, key, TP_OK);
    must(tp_commit(pool.a));
    expect_number(in_ledger(key), 1);
    second = put_and_claim(pool.a); /* the same order, enqueued once more */
    pay_once(second, key, TP_EXISTS);
    must(tp_commit(pool.a));
    expect_number(effects_of(first->id), 1);
    expect_number(effects_of(second->id), 0);
    expect_row(second->id, "finished", "done", 0);
}

TEST(test_once__is_seen_in_its_own_transaction) {
    char key[KEY];
    new_key(key, 1);
    must(tp_begin(pool.a));
    must(tp_once(pool.a, key, NULL));
    expect(TP_EXISTS, tp_once(pool.a, key, NULL));
    must(tp_commit(pool.a));
    expect_number(in_ledger(key), 1);
}

static tp_status once_alone(tp_conn *conn, void *key) {
    return tp_once(conn, key, NULL);
}

static tp_status once_inside(tp_conn *conn, void *key) {
    tp_status status = tp_begin(conn);
    return status == TP_OK ? tp_once(conn, key, NULL) : status;
}

/* What b hears that asks while a's transaction has the key, once that ends. */
static tp_status ask_meanwhile(char *key, tp_status (*call)(tp_conn *, void *), bool commit) {
    struct aside aside;
    must(tp_begin(pool.a));
    must(tp_once(pool.a, key, NULL));
    start_blocked(&aside, pool.b, call, key);
    sure(!atomic_load(&aside.ended), "the second did not wait for the first: %s", aside.error);
    must(commit ? tp_commit(pool.a) : tp_rollback(pool.a));
    return aside_end(&aside);
}

TEST(test_once__who_asks_meanwhile_waits_for_the_end_of_the_transaction) {
    char key[KEY];
    new_key(key, 1);
    expect(TP_OK, ask_meanwhile(key, once_alone, false));
    expect_number(in_ledger(key), 1);
    new_key(key, 2);
    expect(TP_EXISTS, ask_meanwhile(key, once_alone, true));
    expect_number(in_ledger(key), 1);
}

/* Where the database tells the loser by an error, its transaction is to be rolled back and done again. */
TEST(test_once__so_does_who_asks_inside_a_transaction) {
    bool quiet = strcmp(pool.entry, "sqlite") == 0 || strcmp(pool.entry, "postgres") == 0 || pool_on_sqlite();
    char key[KEY];
    new_key(key, 1);
    expect(TP_OK, ask_meanwhile(key, once_inside, false));
    must(tp_commit(pool.b));
    new_key(key, 2);
    expect(quiet ? TP_EXISTS : TP_CONFLICT, ask_meanwhile(key, once_inside, true));
    if (quiet) {
        must(tp_commit(pool.b));
    } else {
        must(tp_rollback(pool.b));
        must(tp_begin(pool.b));
        expect(TP_EXISTS, tp_once(pool.b, key, NULL));
        must(tp_commit(pool.b));
    }
    expect_number(in_ledger(key), 1);
}

enum { KEYS = 60 };
struct runner {
    struct aside aside;
    int first; /* keys that were this one's */
};

static tp_status ask_all(tp_conn *conn, void *arg) {
    struct runner *runner = arg;
    for (int i = 0; i < KEYS; i++) {
        char key[KEY];
        new_key(key, i);
        tp_status status = tp_once(conn, key, NULL);
        if (status < TP_OK) return status;
        runner->first += status == TP_OK;
    }
    return TP_OK;
}

TEST(test_once__of_sessions_that_race_one_is_the_first) {
    struct runner runners[2] = {0};
    aside_start(&runners[0].aside, pool.a, ask_all, &runners[0]);
    aside_start(&runners[1].aside, pool.b, ask_all, &runners[1]);
    expect(TP_OK, aside_end(&runners[0].aside));
    expect(TP_OK, aside_end(&runners[1].aside));
    expect_number(runners[0].first + runners[1].first, KEYS);
}

TEST(test_once__asked_again_it_knows_its_own_try) {
    char key[KEY];
    for (int made = 0; made < 2; made++) {
        new_key(key, made);
        lose_call("once_add", NULL, made);
        expect(TP_DISCONNECTED, tp_once(pool.a, key, NULL));
        expect_number(in_ledger(key), made);
        must(tp_conn_reopen(pool.a));
        must(tp_once(pool.a, key, NULL));
        expect(TP_EXISTS, tp_once(pool.a, key, NULL)); /* the next time is the second */
        expect_number(in_ledger(key), 1);
    }
}

/* As a pool of connections does. Whoever hears of it first has it. */
TEST(test_once__asked_again_on_another_connection_it_knows_it_too) {
    char key[KEY];
    new_key(key, 1);
    lose_call("once_add", NULL, true);
    expect(TP_DISCONNECTED, tp_once(pool.a, key, NULL));
    must(tp_once(pool.b, key, NULL));
    expect(TP_EXISTS, tp_once(pool.b, key, NULL));
    must(tp_conn_reopen(pool.a));
    expect(TP_EXISTS, tp_once(pool.a, key, NULL));
    expect_number(in_ledger(key), 1);
}

/* Other keys were asked for in between; of two that were lost each is known. */
TEST(test_once__asked_again_later_it_still_knows_its_own_tries) {
    char keys[3][KEY];
    for (int i = 0; i < 3; i++)
        new_key(keys[i], i);
    for (int i = 0; i < 2; i++) {
        lose_call("once_add", NULL, true);
        expect(TP_DISCONNECTED, tp_once(pool.a, keys[i], NULL));
        must(tp_conn_reopen(pool.a));
    }
    must(tp_once(pool.a, keys[2], NULL));
    for (int i = 0; i < 3; i++) {
        expect(i < 2 ? TP_OK : TP_EXISTS, tp_once(pool.a, keys[i], NULL));
        expect(TP_EXISTS, tp_once(pool.a, keys[i], NULL));
    }
}

/* The second asks while the first's call is under way, and is stored; neither hears of it. */
static void lose_the_second(struct tpi_link *link, void *key) {
    (void)link;
    (void)faults_at(.statement = "once_add", .times = 1, .fault = TPI_FAULT_ANSWER_LOST, .kind = FAULTS_DEAD);
    expect(TP_DISCONNECTED, tp_once(pool.b, key, NULL));
}

TEST(test_once__asked_again_it_knows_each_of_two_tries_with_one_key) {
    for (int second = 0; second < 2; second++) {
        char key[KEY];
        new_key(key, second);
        faults_open();
        faults_clear();
        (void)faults_at(.statement = "once_add", .times = 1, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_DEAD,
                        .meet = lose_the_second, .arg = key);
        expect(TP_DISCONNECTED, tp_once(pool.a, key, NULL));
        must(tp_conn_reopen(pool.a));
        must(tp_conn_reopen(pool.b));
        must(tp_once(second ? pool.b : pool.a, key, NULL));
        for (int i = 0; i < 3; i++)
            expect(TP_EXISTS, tp_once(i % 2 ? pool.b : pool.a, key, NULL));
        expect_number(in_ledger(key), 1);
    }
}

/* A lent connection by itself is asked, and lost. */
static void lose_lent(const char *key, bool made) {
    struct loan loan = loan_open(SQL_AUTOCOMMIT_ON);
    lose_call("once_add", NULL, made);
    expect(TP_DISCONNECTED, tp_once(loan.conn, key, NULL));
    loan_close(&loan);
    expect_number(in_ledger(key), made);
}

/* It can be known of some drivers alone whether a transaction was begun by a statement. */
TEST(test_once__asked_again_on_a_lent_connection_it_knows_it_too) {
    bool known = pool_driver()->own_tx != NULL;
    struct loan loan = lent(SQL_AUTOCOMMIT_ON);
    char key[KEY];
    if (!known) not_tried("a lent connection that is surely in autocommit mode");
    for (int made = 0; made < 2; made++) {
        new_key(key, made);
        lose_lent(key, made);
        expect(known || !made ? TP_OK : TP_EXISTS, tp_once(loan.conn, key, NULL));
        expect(TP_EXISTS, tp_once(loan.conn, key, NULL));
        expect_number(in_ledger(key), 1);
    }
    new_key(key, 2);
    lose_lent(key, true);
    expect(known ? TP_OK : TP_EXISTS, tp_once(new_session(), key, NULL));
}

/* The ledger alone decides there, and what is known of the try is there still when that was rolled back. */
TEST(test_once__a_lost_try_is_not_used_up_in_a_transaction_of_the_callers) {
    char keys[2][KEY];
    if (!pool_driver()->own_tx) skip();
    struct loan loan = loan_open(SQL_AUTOCOMMIT_OFF);
    for (int i = 0; i < 2; i++) {
        new_key(keys[i], i);
        lose_lent(keys[i], true);
    }
    expect(TP_EXISTS, tp_once(loan.conn, keys[0], NULL));
    loan_end(&loan, SQL_ROLLBACK);
    loan_close(&loan);
    struct loan own = lent(SQL_AUTOCOMMIT_ON);
    if (engine->begin) {
        sure(sql_raw(own.raw.dbc, "%s", engine->begin), "%s", sql_reason());
        expect(TP_EXISTS, tp_once(own.conn, keys[1], NULL));
        sure(sql_raw(own.raw.dbc, "ROLLBACK"), "%s", sql_reason());
    }
    for (int i = 0; i < 2; i++)
        must(tp_once(own.conn, keys[i], NULL));
}

TEST(test_once__and_another_s) {
    char key[KEY];
    new_key(key, 1);
    lose_call("once_add", NULL, false);
    expect(TP_DISCONNECTED, tp_once(pool.a, key, NULL));
    must(tp_once(pool.b, key, NULL));
    must(tp_conn_reopen(pool.a));
    expect(TP_EXISTS, tp_once(pool.a, key, NULL));
}

/* What was lost with its transaction is not taken for done, nor what was stored for not. */
TEST(test_once__inside_a_transaction_the_ledger_alone_decides) {
    char key[KEY];
    for (int made = 0; made < 2; made++) {
        new_key(key, made);
        must(tp_begin(pool.a));
        must(tp_once(pool.a, key, NULL));
        lose_call("commit", NULL, made);
        expect(TP_DISCONNECTED, tp_commit(pool.a));
        must(tp_conn_reopen(pool.a));
        must(tp_begin(pool.a));
        expect(made ? TP_EXISTS : TP_OK, tp_once(pool.a, key, NULL));
        must(tp_commit(pool.a));
        expect_number(in_ledger(key), 1);
    }
}

TEST(test_once__belongs_to_the_callers_transaction) {
    struct loan loan = loan_open(SQL_AUTOCOMMIT_OFF);
    char key[KEY];
    new_key(key, 1);
    must(tp_once(loan.conn, key, NULL));
    loan_end(&loan, SQL_ROLLBACK);
    expect_number(in_ledger(key), 0);
    must(tp_once(loan.conn, key, NULL));
    expect(TP_EXISTS, tp_once(loan.conn, key, NULL));
    sure(sql_raw(loan.raw.dbc, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', 'after')", pool.handler),
         "%s", sql_reason());
    loan_end(&loan, SQL_COMMIT);
    expect_number(in_ledger(key), 1);
    expect_number(effects_of(pool.handler), 1);
    loan_close(&loan);
    loan = loan_open(SQL_AUTOCOMMIT_ON);
    expect(TP_EXISTS, tp_once(loan.conn, key, NULL));
    new_key(key, 2);
    must(tp_once(loan.conn, key, NULL));
    expect_number(in_ledger(key), 1);
    loan_close(&loan);
}
