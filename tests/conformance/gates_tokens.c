/* Tokens: so many tasks in any period, from when a gate lets one through until a period after its end. Never
 * more, whatever happens between, and what comes back is given out. */
#include <sqlext.h>

#include "conformance/gates_given.h"
#include "core/tokens.h"
#include "ops/for_workers.h"

THEME(gates_tokens, ONCE);

/* PART: how much later a token may come back, where sessions carry the clock on also by their differences. */
enum { PERIOD = 60000, PART = PERIOD / TPI_TOKEN_SLOTS + 2500 };

static void give_tokens(int32_t tokens, int32_t width) {
    tp_gate_options to = TP_GATE_INIT;
    to.tokens = tokens;
    to.period_ms = tokens ? PERIOD : 0;
    to.width = width;
    must(tp_gate_set_with(pool.a, "bank", &to, "tester"));
}

static void complete(const char *id) {
    must(tp_complete(pool.a, take_this(pool.a, id)));
}

static int64_t maintain(void) {
    int64_t wait = 0;
    must(tpi_gates_mend(pool.a));
    must(tpi_gates_give_tokens(pool.b, &wait));
    return wait;
}

static void advance(int64_t ms) {
    must(tp_test_advance(pool.eye, ms));
}

/* ---- Coming back --------------------------------------------------------------------------------------- */

TEST(test_tokens__one_comes_back_a_period_after_the_end_of_its_task) {
    char ids[5][ID];
    give_tokens(2, 0);
    put_behind("bank", NULL, 5, ids);
    expect_through("bank", 2);
    advance(2 * PERIOD); /* as long as they have not ended, their tokens are theirs */
    expect_number(maintain(), -1);
    expect_through("bank", 2);
    complete(ids[0]);
    expect_through("bank", 1);
    advance(PERIOD / 2);
    assert_in_range(maintain(), 1, PERIOD / 2 + PART);
    expect_through("bank", 1);
    advance(PERIOD / 2 + PART);
    expect_number(maintain(), -1);
    expect_through("bank", 2);
    expect_waits(ids[3]);
}

TEST(test_tokens__whoever_comes_to_the_gate_gives_out_what_came_back) {
    char ids[4][ID];
    give_tokens(2, 0);
    put_behind("bank", NULL, 3, ids);
    complete(ids[0]);
    expect_through("bank", 1);
    advance(PERIOD + PART);
    complete(ids[1]); /* a settle */
    expect_through("bank", 1);
    complete(ids[2]);
    put_behind("bank", NULL, 1, ids + 3);
    expect_waits(ids[3]);
    advance(PERIOD + PART);
    put_behind("bank", NULL, 1, ids); /* an enqueue */
    expect_through("bank", 2);
    expect_number(count_of("tp_gate WHERE token_at IS NOT NULL"), 0);
}

TEST(test_tokens__that_are_taken_away_and_given_back_are_held_as_before) {
    char ids[3][ID];
    give_tokens(1, 0);
    put_behind("bank", NULL, 1, ids);
    complete(ids[0]);
    give_tokens(0, 2);
    give_tokens(1, 0);
    put_behind("bank", NULL, 2, ids + 1);
    expect_waits(ids[1]);
    expect_through("bank", 0);
    advance(PERIOD + PART);
    maintain();
    expect_through("bank", 1);
    expect_waits(ids[2]);
}

TEST(test_tokens__and_a_width_are_both_kept) {
    char ids[5][ID];
    give_tokens(3, 1);
    put_behind("bank", NULL, 5, ids);
    for (int i = 0; i < 3; i++) {
        expect_through("bank", 1);
        complete(ids[i]);
    }
    expect_through("bank", 0);
    expect_number(gate_now("bank").tokens_left, 0);
    assert_in_range(gate_now("bank").token_at, 1, INT64_MAX);
    advance(PERIOD + PART);
    expect_number(gate_now("bank").tokens_left, 3);
    maintain();
    expect_through("bank", 1);
}

/* Where no gate has tokens no worker asks for them. */
TEST(test_tokens__nobody_looks_for_them_where_no_gate_has_some) {
    must(tp_gate_set(pool.a, "bank", 1, TP_GATE_BLOCK, NULL));
    must(tpi_gates_look_for_tokens(pool.a));
    assert_false(tpi_gates_may_have_tokens(pool.a->env));
    give_tokens(2, 0);
    assert_true(tpi_gates_may_have_tokens(pool.a->env));
    must(tp_gate_remove(pool.a, "bank", NULL));
    must(tpi_gates_look_for_tokens(pool.a));
    assert_false(tpi_gates_may_have_tokens(pool.a->env));
    expect_number(maintain(), -1);
}

/* ---- Ends ---------------------------------------------------------------------------------------------- */

/* However a task ends that was let through, its token is held; one that waited had none. */
TEST(test_tokens__every_end_holds_its_token) {
    char ids[6][ID];
    give_tokens(3, 0);
    put_behind("bank", NULL, 6, ids);
    expect(TP_EXHAUSTED, tp_give_up(pool.a, take_this(pool.a, ids[0]), "no account"));
    expect_number(through("bank"), 3); /* the failed one blocks */
    operate(TP_ACTION_PURGE, "failed");
    expect_number(through("bank"), 2);
    operate(TP_ACTION_SKIP, "pending");
    expect_through("bank", 0);
    expect_number(gate_now("bank").tokens_left, 0);
    expect_number(count_of("tp_gate_task"), 0);
}

/* What ended unnoticed counts from when it was found. */
TEST(test_tokens__of_a_task_that_was_deleted_is_held_too) {
    char ids[3][ID];
    give_tokens(1, 0);
    put_behind("bank", NULL, 2, ids);
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE id = '%s'", ids[0]);
    maintain();
    expect_through("bank", 0);
    advance(PERIOD + PART);
    maintain();
    expect_through("bank", 1);
}

/* ---- Changes ------------------------------------------------------------------------------------------- */

TEST(test_tokens__are_changed_while_tasks_wait) {
    char ids[6][ID];
    give_tokens(1, 0);
    put_behind("bank", NULL, 6, ids);
    complete(ids[0]);
    expect_through("bank", 0);
    give_tokens(3, 0);
    expect_through("bank", 2);
    give_tokens(1, 0);
    expect_through("bank", 2);
    complete(ids[1]);
    complete(ids[2]);
    expect_through("bank", 0);
    give_tokens(0, 2);
    expect_through("bank", 2);
    expect_number(gate_now("bank").tokens, 0);
    expect_number(gate_now("bank").period_ms, 0);
}

TEST(test_tokens__that_cannot_be_are_refused_with_words) {
    tp_gate_options good = {.size = sizeof good, .tokens = 2, .period_ms = PERIOD};
    with(good, period_ms, 0, expect(TP_MISUSE, tp_gate_set_with(pool.a, "bank", &given, NULL)));
    expect_text("go together");
    with(good, tokens, 0, expect(TP_MISUSE, tp_gate_set_with(pool.a, "bank", &given, NULL)));
    with(good, period_ms, 999, expect(TP_MISUSE, tp_gate_set_with(pool.a, "bank", &given, NULL)));
    expect_text("a second");
    with(good, tokens, -1, expect(TP_MISUSE, tp_gate_set_with(pool.a, "bank", &given, NULL)));
    with(good, width, -2, expect(TP_MISUSE, tp_gate_set_with(pool.a, "bank", &given, NULL)));
    with(good, keeps, 16, expect(TP_MISUSE, tp_gate_set_with(pool.a, "bank", &given, NULL)));
    with(good, size, 3, expect(TP_MISUSE, tp_gate_set_with(pool.a, "bank", &given, NULL)));
    expect_number(count_of("tp_gate"), 1);
    must(tp_gate_set_with(pool.a, "bank", &good, NULL));
    expect(TP_EXISTS, tp_gate_set_with(pool.a, "bank", &good, NULL));
    must(tp_gate_set_with(pool.a, "bank", NULL, NULL));
    expect_number(gate_now("bank").width, 1);
}

static tp_status set_call(tp_conn *conn, void *options) {
    return tp_gate_set_with(conn, "bank", options, "ann");
}

/* Ann gives tokens while Bob's change that closes the gate is not committed yet. */
TEST(test_gates__who_changes_a_part_undoes_no_change_of_another_at_the_same_moment) {
    struct aside aside;
    tp_gate_options bobs = {.size = sizeof bobs, .width = TP_GATE_CLOSED, .on_failure = TP_GATE_PASS};
    tp_gate_options anns = {.size = sizeof anns,
                            .tokens = 100,
                            .period_ms = PERIOD,
                            .keeps = TP_GATE_KEEPS_WIDTH | TP_GATE_KEEPS_ON_FAILURE};
    give_tokens(0, 5);
    must(tp_begin(pool.a));
    must(tp_gate_set_with(pool.a, "bank", &bobs, "bob"));
    start_blocked(&aside, pool.b, set_call, &anns);
    must(tp_commit(pool.a));
    must(aside_end(&aside));
    expect_number(gate_now("bank").width, 0);
    expect_number(gate_now("bank").tokens, 100);
    expect_number(gate_now("bank").on_failure, TP_GATE_PASS);
    anns = (tp_gate_options){
        .size = sizeof anns, .width = 7, .keeps = TP_GATE_KEEPS_TOKENS | TP_GATE_KEEPS_PERIOD};
    must(set_call(pool.a, &anns));
    expect_number(gate_now("bank").tokens, 100);
    expect_number(gate_now("bank").period_ms, PERIOD);
    expect_number(gate_now("bank").width, 7);
    expect(TP_EXISTS, set_call(pool.a, &anns));
}

TEST(test_gates__of_a_gate_that_is_made_nothing_is_kept) {
    tp_gate_options to = {.size = sizeof to, .tokens = 9, .period_ms = PERIOD, .keeps = TP_GATE_KEEPS_WIDTH};
    must(tp_gate_set_with(pool.a, "bank", &to, NULL));
    expect_number(gate_now("bank").width, 9);
    with(to, period_ms, 0, expect(TP_MISUSE, tp_gate_set_with(pool.a, "bank", &given, NULL)));
    expect_text("go together");
}

/* ---- Never more ---------------------------------------------------------------------------------------- */

/* Random work over a time that tests move: in no period are there more tasks than tokens. */
TEST(test_tokens__no_period_has_more_tasks_than_tokens) {
    enum { TOKENS = 5, TASKS = 40, ENDS = 400 };
    static int64_t ends[ENDS]; /* not later than they were */
    int64_t moved = 0, before = 0, now = 0;
    size_t ended = 0, put = 0;
    give_tokens(TOKENS, 0);
    srand(7);
    while (ended < TASKS) {
        int64_t held = 0, step = rand() % (PERIOD / 3);
        char id[1][ID];
        if (put++ < TASKS) put_behind("bank", NULL, 1, id);
        make_due();
        tp_batch *batch = NULL;
        tp_claim_request request = request_with(.limit = 1 + (size_t)(rand() % 3));
        if (tp_claim(pool.a, &request, &batch) == TP_NONE) batch = NULL;
        for (size_t i = 0; batch && i < tp_batch_count(batch); i++) {
            must(tp_now(pool.a, &before));
            ends[ended++] = before + moved;
            must(tp_complete(pool.a, tp_batch_task(batch, i)));
        }
        tp_batch_free(batch);
        advance(step);
        moved += step;
        maintain();
        int64_t running = through("bank");
        must(tp_now(pool.a, &now));
        for (size_t i = 0; i < ended; i++)
            held += ends[i] + PERIOD > now + moved;
        if (running + held > TOKENS) fail_msg("%" PRId64 " run and %" PRId64 " ended lately", running, held);
        sure(put < 100 * TASKS, "only %zu ended", ended);
    }
}

/* A transaction that began before others held the last token. */
static void lend_at(SQLINTEGER level) {
    char ids[1][ID];
    int64_t rows = 0;
    empty_pool();
    give_tokens(1, 0);
    struct loan loan = lent(SQL_AUTOCOMMIT_OFF);
    tp_new_task late = behind("bank");
    if (!SQL_SUCCEEDED(
            SQLSetConnectAttr(loan.raw.dbc, SQL_ATTR_TXN_ISOLATION, (SQLPOINTER)(intptr_t)level, 0)))
        return;
    sure(sql_raw_number(loan.raw.dbc, &rows, "SELECT COUNT(*) FROM tp_meta"), "%s", sql_reason());
    if (!pool_on_sqlite()) {
        put_behind("bank", NULL, 1, ids);
        complete(ids[0]);
    }
    tp_status status = tp_enqueue(loan.conn, &late);
    loan_end(&loan, status == TP_OK ? SQL_COMMIT : SQL_ROLLBACK);
    expect_through("bank", pool_on_sqlite() && status == TP_OK);
}

TEST(test_tokens__a_lent_transaction_of_any_level_holds_none_that_is_held) {
    lend_at(SQL_TXN_READ_COMMITTED);
    lend_at(SQL_TXN_REPEATABLE_READ);
    lend_at(SQL_TXN_SERIALIZABLE);
}

/* ---- Patterns ------------------------------------------------------------------------------------------ */

TEST(test_patterns__make_a_gate_with_its_first_task_and_it_goes_with_its_last) {
    char a[3][ID], b[1][ID];
    must(tp_gate_set(pool.a, "tenant-*", 1, TP_GATE_PASS, "tester"));
    put_behind("tenant-1", NULL, 3, a);
    put_behind("tenant-2", NULL, 1, b);
    expect_through("tenant-1", 1);
    expect_through("tenant-2", 1);
    tp_gate made = gate_now("tenant-1"), pattern = gate_now("tenant-*");
    expect_number(made.waiting, 2);
    expect_number(made.on_failure, TP_GATE_PASS);
    expect_number(pattern.through, 2);
    expect_number(pattern.waiting, 2);
    expect_gates(2); /* = and the pattern */
    expect(TP_MISUSE, tp_gate_remove(pool.a, "tenant-*", NULL));
    make_due();
    tp_batch *both = claim(pool.a, 2); /* in either order, where the clock is carried on and put right */
    for (size_t i = 0; i < 2; i++)
        must(tp_complete(pool.a, tp_batch_task(both, i)));
    complete(a[1]);
    complete(a[2]);
    expect_number(count_of("tp_gate WHERE name LIKE 'tenant-_'"), 1);
    must(tp_gate_remove(pool.a, "tenant-*", NULL));
    tp_new_task late = behind("tenant-1");
    expect(TP_MISUSE, tp_enqueue(pool.a, &late));
    expect_text("there is no gate tenant-1");
}

TEST(test_patterns__the_longest_makes_it_and_what_people_made_stays) {
    char ids[2][ID];
    must(tp_gate_set(pool.a, "*", 5, TP_GATE_BLOCK, NULL));
    must(tp_gate_set(pool.a, "a-*", 2, TP_GATE_BLOCK, NULL));
    must(tp_gate_set(pool.a, "a-b-*", 3, TP_GATE_BLOCK, NULL));
    put_behind("a-b-c", NULL, 1, ids);
    expect_number(gate_now("a-b-c").width, 3);
    assert_string_equal(first_text("SELECT pattern FROM tp_gate WHERE name = 'a-b-c'"), "a-b-*");
    put_behind("a-", NULL, 1, ids + 1);
    assert_string_equal(first_text("SELECT pattern FROM tp_gate WHERE name = 'a-'"), "a-*");
    must(tp_gate_set(pool.a, "a-b-c", 1, TP_GATE_BLOCK, NULL));
    complete(ids[0]);
    complete(ids[1]);
    expect_number(gate_now("a-b-c").width, 1);
    expect_number(count_of("tp_gate WHERE name = 'a-'"), 0);
}

TEST(test_patterns__a_change_changes_what_they_made) {
    char ids[3][ID], keys[3][ID];
    must(tp_gate_set(pool.a, "tenant-*", 1, TP_GATE_BLOCK, NULL));
    put_behind("tenant-1", NULL, 3, ids);
    must(tp_gate_set(pool.a, "tenant-*", 2, TP_GATE_PASS, NULL));
    must(tpi_gates_mend(pool.a));
    expect_through("tenant-1", 2);
    operate(TP_ACTION_SKIP, "pending");
    put_behind(NULL, "k", 3, keys);
    sql_run(pool.eye,
            "UPDATE tp_gate SET pattern = NULL WHERE name = '=k'"); /* as libraries of version 8 make it */
    must(tp_gate_set(pool.a, "=", 1, TP_GATE_PASS, NULL));
    fail_for_good(keys[0]);
    expect_through("=k", 1);
    expect(TP_MISUSE, tp_gate_set(pool.a, "tenant-*", 0, TP_GATE_BLOCK, NULL));
    expect(TP_MISUSE, tp_gate_set(pool.a, "te*nant-*", 1, TP_GATE_BLOCK, NULL));
    tp_new_task task = behind("tenant-*");
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
}

/* Its gate is kept until what its tasks held is back. */
TEST(test_patterns__one_with_tokens_keeps_a_gate_until_they_are_back) {
    tp_gate_options to = {.size = sizeof to, .tokens = 2, .period_ms = PERIOD};
    char ids[3][ID];
    must(tp_gate_set_with(pool.a, "tenant-*", &to, NULL));
    put_behind("tenant-1", NULL, 1, ids);
    complete(ids[0]);
    put_behind("tenant-1", NULL, 2, ids + 1);
    expect_through("tenant-1", 1);
    operate(TP_ACTION_SKIP, "pending");
    maintain();
    expect_number(count_of("tp_gate WHERE name = 'tenant-1'"), 1);
    advance(PERIOD + PART);
    maintain();
    expect_number(count_of("tp_gate WHERE name = 'tenant-1'"), 0);
}

/* The many of one were there first. */
TEST(test_patterns__a_tenant_with_many_tasks_starves_none_with_few) {
    enum { MANY = 60, FEW_OF_B = 5 };
    char a[MANY][ID], b[FEW_OF_B][ID];
    size_t done = 0;
    must(tp_gate_set(pool.a, "tenant-*", 2, TP_GATE_BLOCK, NULL));
    put_behind("tenant-a", NULL, MANY, a);
    put_behind("tenant-b", NULL, FEW_OF_B, b);
    while (count_of("tp_finished WHERE gate = 'tenant-b'") < FEW_OF_B) {
        make_due();
        tp_batch *batch = claim_up_to(pool.a, 1);
        for (size_t i = 0; i < tp_batch_count(batch); i++, done++)
            must(tp_complete(pool.a, tp_batch_task(batch, i)));
        sure(done <= 4 * FEW_OF_B, "after %zu tasks not all of the few are done", done);
    }
}

TEST(test_patterns__two_who_make_a_gate_at_once_make_one) {
    struct aside aside;
    tp_new_task first = behind("tenant-1"), second = behind("tenant-1");
    must(tp_gate_set(pool.a, "tenant-*", 1, TP_GATE_BLOCK, NULL));
    must(tp_begin(pool.a));
    must(tp_enqueue(pool.a, &first));
    start_blocked(&aside, pool.b, enqueue_call, &second);
    must(tp_commit(pool.a));
    must(aside_end(&aside));
    expect_through("tenant-1", 1);
    expect_waits(second.id);
}
