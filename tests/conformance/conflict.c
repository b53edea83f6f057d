/* Locks and deadlocks: an answer that says asking again may help, and nothing half-written. */
#include <sched.h>

#include "suite.h"

THEME(conflict, ONCE);

/* A session that gives up waiting soon, with two tasks in its hands. */
struct bench {
    tp_conn *guest;
    const tp_task *one, *two;
    struct row one_before, two_before;
};

static struct bench bench_open(void) {
    struct bench bench = {.guest = guest_session()};
    task_put_many(2, NULL);
    tp_batch *batch = claim(bench.guest, 2);
    bench.one = tp_batch_task(batch, 0);
    bench.two = tp_batch_task(batch, 1);
    bench.one_before = row_of(bench.one->id);
    bench.two_before = row_of(bench.two->id);
    return bench;
}

static void expect_untouched(const struct bench *bench) {
    expect_same(bench->one->id, &bench->one_before);
    expect_same(bench->two->id, &bench->two_before);
}

/* Another session's transaction holds the row (SQLite: the whole file). */
static void hold_row(const char *id) {
    must(tp_begin(pool.b));
    expect_number(sql_run(pool.b, "UPDATE tp_pending SET shard = shard + 1 WHERE id = '%s'", id), 1);
}

TEST(test_conflict__a_settle_that_meets_a_lock_times_out_and_can_be_asked_again) {
    struct bench bench = bench_open();
    hold_row(bench.one->id);
    for (int i = 0; i < SETTLES; i += 2) /* complete, fail, extend */
        expect_may_retry(settles[i].call(bench.guest, bench.one));
    must(tp_rollback(pool.b));
    expect_untouched(&bench);
    must(tp_complete(bench.guest, bench.one));
    must(tp_complete(bench.guest, bench.two));
}

TEST(test_conflict__inside_a_transaction_a_timeout_ends_it_all) {
    if (pool_on_sqlite()) return; /* its one writer is met at tp_begin already: the next test */
    struct bench bench = bench_open();
    hold_row(bench.two->id);
    must(tp_begin(bench.guest));
    effect(bench.guest, bench.one->id);
    must(tp_complete(bench.guest, bench.one));
    expect_may_retry(tp_complete(bench.guest, bench.two));
    expect(TP_CONFLICT, tp_commit(bench.guest));
    must(tp_rollback(pool.b));
    expect_untouched(&bench);
    expect_number(effects_of(bench.one->id), 0);
}

TEST(test_conflict__sqlites_one_writer_is_met_at_begin) {
    if (!pool_on_sqlite()) return;
    struct bench bench = bench_open();
    must(tp_begin(pool.b));
    expect_may_retry(tp_begin(bench.guest));
    must(tp_rollback(pool.b));
    must(tp_begin(bench.guest));
    must(tp_complete(bench.guest, bench.one));
    must(tp_commit(bench.guest));
}

struct cross {
    const char *id; /* the row that the session reaches for */
    const tp_task *task;
};

/* What the session in the thread reaches for second: by a settle ... */
static tp_status reach_by_settle(tp_conn *conn, void *arg) {
    return tp_complete(conn, ((struct cross *)arg)->task);
}

/* ... or by a statement of the application's own. */
static tp_status reach_by_sql(tp_conn *conn, void *arg) {
    const char *id = ((struct cross *)arg)->id;
    return sql_try(conn, "UPDATE tp_pending SET shard = shard + 1 WHERE id = '%s'", id) ? TP_OK : TP_CONFLICT;
}

struct outcome {
    tp_status reached, committed;
};

/* True: a, whose transaction stands until it is rolled back on some databases, ended first. */
static bool first_ends(struct aside *a, struct aside *b) {
    while (!atomic_load(&a->ended) && !atomic_load(&b->ended))
        sched_yield();
    return atomic_load(&a->ended);
}

/* Session a completes task one and reaches for two's row; b holds two's row and reaches for one's. b has more
 * to lose, so that databases that choose choose a. Gives what a's reach and its commit answered; b is rolled
 * back. */
static struct outcome deadlock(struct bench *bench, tp_status (*reach)(tp_conn *, void *)) {
    struct cross of_a = {bench->two->id, bench->two}, of_b = {bench->one->id, bench->one};
    struct aside a, b;
    struct outcome outcome;
    must(tp_begin(bench->guest));
    effect(bench->guest, bench->one->id);
    must(tp_complete(bench->guest, bench->one));
    hold_row(bench->two->id);
    for (int i = 0; i < 40; i++)
        effect(pool.b, "b");
    start_blocked(&a, bench->guest, reach, &of_a);
    aside_start(&b, pool.b, reach_by_sql, &of_b);
    bool was_chosen = first_ends(&a, &b);
    if (!was_chosen) {
        (void)!aside_end(&b);
        must(tp_rollback(pool.b));
    }
    outcome.reached = aside_end(&a);
    outcome.committed = tp_commit(bench->guest);
    if (was_chosen) {
        (void)!aside_end(&b);
        must(tp_rollback(pool.b));
    }
    return outcome;
}

static struct bench bench_for_deadlock(void) {
    struct bench bench = bench_open();
    (void)engine_limit_waits(bench.guest, 20000);
    return bench;
}

TEST(test_conflict__a_deadlock_stores_all_or_nothing) {
    if (pool_on_sqlite()) return; /* one lock cannot be crossed */
    struct bench bench = bench_for_deadlock();
    struct outcome outcome = deadlock(&bench, reach_by_settle);
    if (outcome.reached == TP_OK) {
        must(outcome.committed);
        expect_row(bench.one->id, "finished", "done", 0);
        expect_row(bench.two->id, "finished", "done", 0);
    } else {
        expect_may_retry(outcome.reached);
        expect(TP_CONFLICT, outcome.committed);
        expect_untouched(&bench);
    }
    expect_number(effects_of(bench.one->id), outcome.reached == TP_OK);
}

/* The deadlock strikes a statement that the library does not see, and some drivers then report success for a
 * commit of nothing. */
TEST(test_conflict__a_deadlock_in_the_applications_statement_is_not_committed_over) {
    if (pool_on_sqlite() || !pool_driver()->tx_probe) skip(); /* nobody but the application can know */
    struct bench bench = bench_for_deadlock();
    struct outcome outcome = deadlock(&bench, reach_by_sql);
    if (outcome.reached == TP_OK) must(outcome.committed);
    if (outcome.committed == TP_OK) { /* or the statement alone was rolled back */
        expect_row(bench.one->id, "finished", "done", 0);
    } else {
        expect_untouched(&bench);
        expect(TP_CONFLICT, outcome.committed);
    }
    expect_number(effects_of(bench.one->id), outcome.committed == TP_OK);
}
