/* Design C: flag and worker column. The claim UPDATE, done, failed and put back; three ways to lock; and the
 * experiment with two sessions. */
#include "origins/origins.h"

DESIGN(worker_column,
       {"old_jobs", "id VARCHAR(36) NOT NULL PRIMARY KEY, name VARCHAR(40), flag INTEGER NOT NULL, "
                    "worker VARCHAR(40)"});

static const int64_t soon[] = {0, 0, 0};
static const tp_retry at_once = {.size = sizeof at_once, .delays_ms = soon, .count = 3};

TEST(test_jobs__are_claimed_done_or_put_back_for_another_worker) {
    static const char *const job = "job";
    tp_claim_request request = TP_CLAIM_INIT;
    tp_batch *batch = NULL;
    if (!pool_plan_possible("batch")) skip();
    put_tasks("job", 3, "job-%d");
    request.handlers = &job;
    request.handler_count = 1;
    request.limit = 2;
    tp_conn *conn = pool.a;
    request.plan = "batch";
    must(tp_claim(conn, &request, &batch));
    must(tp_complete(conn, tp_batch_task(batch, 0)));
    must(tp_fail(conn, tp_batch_task(batch, 1), "printer on fire", &at_once));
    const char *failed = tp_batch_task(batch, 1)->id;
    expect_row(tp_batch_task(batch, 0)->id, "finished", "done", 0);
    expect_row(failed, "pending", "failed", 1);
    assert_string_equal(row_of(failed).reason, "printer on fire");
    tp_batch *other = take(pool.b, "job", "batch", 5);
    expect_number(tp_batch_count(other), 2);
    assert_true(batch_holds(other, failed));
    assert_string_not_equal(row_of(failed).owner, tp_batch_task(batch, 0)->owner);
    complete_all(pool.b, other);
    expect_row(failed, "finished", "done", 1);
    tp_batch_free(batch);
    expect_sound_pools();
}

/* Three jobs, two workers: one is done, one fails and is done by the other worker, the third goes to the
 * other worker while the first still has its own (where a lock is held, it is passed over; SQLite has one
 * writer, there the other's turn comes after). */
static void same_scenario(const char *plan) {
    bool holds = strcmp(plan, "hold") == 0;
    tp_batch *theirs = NULL;
    if (!pool_plan_possible(plan)) return;
    put_tasks(plan, 3, NULL);
    if (holds) must(tp_begin(pool.a));
    tp_batch *mine = take(pool.a, plan, plan, 2);
    expect_number(tp_batch_count(mine), 2);
    if (!holds) theirs = take(pool.b, plan, plan, 3);
    must(tp_complete(pool.a, tp_batch_task(mine, 0)));
    must(tp_fail(pool.a, tp_batch_task(mine, 1), "no", &at_once));
    if (holds && !pool_on_sqlite()) {
        must(tp_begin(pool.b));
        theirs = take(pool.b, plan, plan, 3);
        complete_so_many(pool.b, theirs, 1);
        must(tp_commit(pool.b));
        theirs = NULL;
    }
    if (holds) must(tp_commit(pool.a));
    if (theirs) complete_so_many(pool.b, theirs, 1);
    advance(2000); /* generic clocks may have whole seconds only */
    if (holds) must(tp_begin(pool.b));
    theirs = take(pool.b, plan, plan, 3);
    assert_true(batch_holds(theirs, tp_batch_task(mine, 1)->id));
    complete_all(pool.b, theirs);
    if (holds) must(tp_commit(pool.b));
    expect_number(rows_in("finished", plan), 3);
    expect_row(tp_batch_task(mine, 1)->id, "finished", "done", 1);
    tp_batch_free(mine);
}

TEST(test_jobs__a_lock_held_while_the_task_runs) {
    if (!pool_plan_possible("hold")) skip();
    same_scenario("hold");
}

TEST(test_jobs__a_token_in_the_row) {
    if (!pool_plan_possible("batch")) skip();
    same_scenario("batch");
}

TEST_AS(test_jobs__a_version_compared_and_set, same_scenario("cas"))

/* With the lock held, nothing of it is to be seen before the commit, and nothing is left of it after a
 * rollback: no mark, no failure. */
TEST(test_jobs__a_held_task_is_as_it_was_when_its_transaction_ends_badly) {
    char id[ID];
    if (!pool_plan_possible("hold")) skip();
    task_put("x", id);
    struct row before = row_of(id);
    must(tp_begin(pool.a));
    tp_batch *batch = take(pool.a, pool.handler, "hold", 1);
    expect_number(tp_batch_count(batch), 1);
    effect(pool.a, id);
    must(tp_complete(pool.a, tp_batch_task(batch, 0)));
    tp_batch_free(batch);
    if (!pool_on_sqlite()) expect_same(id, &before);
    must(tp_rollback(pool.a));
    expect_same(id, &before);
    expect_number(effects_of(id), 0);
}

static tp_status take_by_update(tp_conn *conn, void *worker) {
    return sql_try(conn, "UPDATE tp_old_jobs SET worker = '%s' WHERE id = '1' AND worker IS NULL",
                   (const char *)worker)
               ? TP_OK
               : TP_DB;
}

/* B updates the row, then A does, and waits; B ends its transaction; who has the row? */
static void two_sessions(tp_status (*end)(tp_conn *), const char *winner) {
    struct aside aside;
    struct sql_row row;
    sql_run(pool.eye, "DELETE FROM tp_old_jobs");
    sql_run(pool.eye, "INSERT INTO tp_old_jobs (id, name, flag) VALUES ('1', 'x', 0)");
    long session = session_number(pool.a);
    must(tp_begin(pool.b));
    must(take_by_update(pool.b, "B"));
    aside_start(&aside, pool.a, take_by_update, "A");
    session_await_blocked(session, &aside);
    bool waited = !atomic_load(&aside.ended);
    must(end(pool.b));
    must(aside_end(&aside));
    assert_true(waited);
    assert_true(sql_row(pool.eye, &row, "SELECT worker FROM tp_old_jobs WHERE id = '1'"));
    assert_string_equal(row.cell[0], winner);
}

TEST_AS(test_jobs__the_second_update_waits_and_finds_the_row_taken, two_sessions(tp_commit, "B"))
TEST_AS(test_jobs__the_second_update_waits_and_takes_what_was_rolled_back, two_sessions(tp_rollback, "A"))

/* What all three ways rely on: a transaction sees what others committed since it began. SQLite's writer has
 * the whole database, so nobody can commit meanwhile. */
TEST(test_jobs__transactions_read_what_is_committed_now) {
    if (pool_on_sqlite()) skip();
    sql_run(pool.eye, "INSERT INTO tp_old_jobs (id, name, flag) VALUES ('1', 'x', 0)");
    must(tp_begin(pool.a));
    expect_number(sql_number(pool.a, "SELECT flag FROM tp_old_jobs WHERE id = '1'"), 0);
    must(tp_begin(pool.b));
    sql_run(pool.b, "UPDATE tp_old_jobs SET flag = 1 WHERE id = '1'");
    expect_number(sql_number(pool.a, "SELECT flag FROM tp_old_jobs WHERE id = '1'"), 0);
    must(tp_commit(pool.b));
    expect_number(sql_number(pool.a, "SELECT flag FROM tp_old_jobs WHERE id = '1'"), 1);
    must(tp_rollback(pool.a));
}

static void see_finding(const tp_finding *finding, void *arg) {
    int *seen = arg;
    (*seen)++;
    if (!finding->ok) print_error("doctor: %s: %s\n", finding->name, finding->text);
}

TEST(test_jobs__the_doctor_makes_the_experiment) {
    int bad = -1, seen = 0;
    must(tp_doctor(pool.env, see_finding, &seen, &bad));
    expect_number(bad, 0);
    assert_true(seen >= 3);
}

static void old_row(int id, int flag, const char *worker) {
    sql_run(pool.eye, "INSERT INTO tp_old_jobs (id, name, flag, worker) VALUES ('%d', 'job-%d', %d, %s)", id,
            id, flag, worker);
}

TEST(test_jobs__old_rows_move_over_and_back) {
    old_row(1, 0, "NULL");
    old_row(2, -1, "NULL");
    old_row(3, 0, "'somebody'");
    old_row(4, 1, "'somebody'");
    run_block("worker_column.move");
    expect_number(count_of("old_jobs"), 2);
    expect_number(count_where("old_jobs", "worker = 'somebody'"), 2);
    expect_number(count_where("pending", "biz_key = 'job-1' AND state = 'pending' AND failures = 0"), 1);
    expect_number(count_where("pending", "biz_key = 'job-2' AND state = 'failed' AND failures = 1"), 1);
    run_block("worker_column.move");
    expect_number(count_of("pending"), 2);
    expect_sound_pools();
    tp_batch *batch = take(pool.a, "job", NULL, 1);
    run_block("worker_column.back");
    expect_number(count_of("pending"), 1); /* the one that is handled stays */
    complete_all(pool.a, batch);
    expect_number(count_where("old_jobs", "worker IS NULL AND flag < 1"), 1);
}
