/* Design E: handlers, load balance numbers, a scan of the first 1000, a retry ladder and an alert. The server
 * with its thread pool is in load_balance_server.c, the retries in load_balance_retries.c. */
#include <inttypes.h>

#include "origins/load_balance.h"
#include "origins/origins.h"

DESIGN(load_balance, {"old_tasks", "task_id VARCHAR(36) NOT NULL PRIMARY KEY, due_date TIMESTAMP NOT NULL, "
                                   "task_handler VARCHAR(64), load_balance_num INTEGER DEFAULT 0 NOT NULL, "
                                   "task_params VARCHAR(400), retry_count INTEGER DEFAULT 0 NOT NULL, "
                                   "retry_reason VARCHAR(200)"});

TEST(test_tasks__producers_only_insert) {
    if (pool_on_generic()) skip(); /* no defaults: producers give every column */
    run_block("load_balance.produce");
    run_block("load_balance.produce");
    expect_number(count_where("pending", "handler = 'mail' AND shard = 3 AND state = 'pending'"), 2);
    sql_run(pool.a, "INSERT INTO tp_pending (handler) VALUES ('mail')");
    expect_number(count_where("pending", "shard = 0 AND failures = 0"), 1);
    tp_batch *batch = take(pool.a, "mail", NULL, 10);
    complete_so_many(pool.a, batch, 3);
}

void put_spread(const char *handler, size_t count, tp_sharding spread, int shards) {
    tp_new_task *tasks = calloc(count, sizeof *tasks);
    char(*keys)[32] = calloc(count, sizeof *keys);
    assert_true(tasks && keys);
    for (size_t i = 0; i < count; i++) {
        tasks[i] = task_new("x");
        snprintf(keys[i], sizeof keys[i], "customer-%zu", i / 2);
        tasks[i].handler = handler;
        tasks[i].biz_key = keys[i];
        tasks[i].sharding = spread;
        tasks[i].shards = shards;
    }
    must(tp_enqueue_many(pool.eye, tasks, count, NULL));
    free(tasks);
    free(keys);
}

/* Rows of each of the ten shards. */
static void expect_shards(int least, int most) {
    for (int shard = 1; shard <= 10; shard++) {
        int64_t count = sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pending WHERE shard = %d", shard);
        assert_in_range(count, least, most);
    }
    sql_run(pool.eye, "DELETE FROM tp_pending");
}

TEST(test_tasks__spread_evenly_over_ten_numbers) {
    put_spread("mail", 600, TP_SHARDING_ROUND_ROBIN, 10);
    expect_shards(60, 60);
    put_spread("mail", 600, TP_SHARDING_RANDOM, 10);
    expect_shards(25, 110);
    put_spread("mail", 600, TP_SHARDING_KEY, 10);
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM (SELECT biz_key FROM tp_pending "
                                       "GROUP BY biz_key HAVING COUNT(DISTINCT shard) > 1) torn"),
                  0);
    expect_shards(25, 110);
}

TEST(test_tasks__a_scan_takes_the_first_1000_of_2500) {
    put_tasks("mail", 2500, NULL);
    sql_run(pool.eye, "UPDATE tp_pending SET due_at = due_at - 1 WHERE shard = 0");
    put_tasks("mail", 1, NULL); /* due after all the others */
    tp_batch *batch = take(pool.a, "mail", NULL, 1000);
    expect_number(tp_batch_count(batch), 1000);
    expect_number(count_where("pending", "state = 'handling'"), 1000);
    expect_number(count_where("pending", "state = 'pending' AND due_at = 1000000000000"), 1);
    tp_batch_free(batch);
}

static size_t claim_of(const char *const *handlers, size_t handler_count, const int32_t *shards,
                       size_t shard_count) {
    tp_claim_request request = {.size = sizeof request,
                                .handlers = handlers,
                                .handler_count = handler_count,
                                .shards = shards,
                                .shard_count = shard_count};
    tp_batch *batch = NULL;
    tp_status status = tp_claim(pool.a, &request, &batch);
    if (status != TP_NONE) must(status);
    size_t count = tp_batch_count(batch);
    for (size_t i = 0; i < count; i++)
        must(tp_release(pool.a, tp_batch_task(batch, i), 0));
    tp_batch_free(batch);
    return count;
}

/* Three handlers, three shards, a task of each pair. */
TEST(test_tasks__scale_out_by_handler_by_number_or_by_both) {
    static const char *const handlers[] = {"mail", "fax", "letter"};
    static const int32_t shards[] = {1, 2, 3};
    for (int i = 0; i < 9; i++) {
        tp_new_task task = task_new("x");
        task.handler = handlers[i / 3];
        task.shard = shards[i % 3];
        must(tp_enqueue(pool.a, &task));
    }
    expect_number(claim_of(handlers, 3, NULL, 0), 9);
    expect_number(claim_of(handlers, 2, NULL, 0), 6);
    expect_number(claim_of(handlers, 3, shards, 2), 6);
    expect_number(claim_of(handlers, 2, shards + 1, 2), 4);
    expect_number(claim_of(handlers + 2, 1, shards + 2, 1), 1);
}

/* Once a minute, 1000 at most: 1.44 million a day for each server. */
TEST(test_tasks__a_scan_each_minute_handles_1000_a_minute) {
    static const size_t expected[] = {1000, 400};
    put_tasks("mail", 1400, NULL);
    tp_worker *worker = worker_with("mail", count_and_do, .batch = 1000);
    for (int scan = 0; scan < 2; scan++) {
        size_t handled = 0;
        must(tp_worker_step(worker, &handled));
        expect_number(handled, expected[scan]);
    }
    expect_number(count_of("finished"), 1400);
}

/* Success need not be kept; what failed is. */
TEST(test_tasks__done_rows_are_kept_as_long_as_said) {
    enum { DAY_MS = 86400000 };
    size_t deleted = 0;
    must(tp_retention_set(pool.a, "finished", DAY_MS, "test"));
    put_tasks("mail", 3, NULL);
    complete_all(pool.a, take(pool.a, "mail", NULL, 3));
    must(tp_retention_apply(pool.a, 100, &deleted));
    expect_number(deleted, 0);
    expect_number(count_of("finished"), 3);
    advance(DAY_MS + 2000);
    must(tp_retention_apply(pool.a, 100, &deleted));
    expect_number(deleted, 3);
    expect_number(count_of("finished"), 0);
    must(tp_retention_set(pool.a, "finished", 0, "test"));
}

/* Takes tasks and stays until it is killed. */
ROLE(consumer) {
    tp_batch *batch = NULL;
    if (try_to_take(pool.a, "mail", NULL, 20, &batch) != TP_OK) return 1;
    child_say("%zu", tp_batch_count(batch));
    child_wait_for_go();
    return 0;
}

TEST(test_tasks__a_consumer_that_is_down_loses_nothing) {
    put_tasks("mail", 40, NULL);
    struct child consumer = child_start("consumer", NULL);
    child_expect(&consumer, "20");
    child_kill(&consumer);
    put_tasks("mail", 20, NULL); /* producers go on */
    advance(2 * 24 * 60 * 60000);
    expect_number(step_all(worker_for("mail", count_and_do)), 60);
    expect_number(atomic_load(&scene.runs), 60);
    expect_number(count_where("finished", "failures = 1"), 20);
    expect_number(count_where("finished", "failures = 0"), 40);
    expect_number(count_of("failed"), 0);
}

/* Doubles the rows there are, with ids of their own. */
static void double_backlog(void) {
    sql_run(pool.eye,
            "INSERT INTO tp_pending (id, handler, due_at, created_at, modified_at) SELECT %s, handler, "
            "due_at, created_at, modified_at FROM tp_pending",
            fresh_id());
}

static int64_t handler_reads(const char *which) {
    struct sql_row row;
    assert_true(sql_row(pool.a, &row, "SHOW SESSION STATUS LIKE 'Handler_read_%s'", which));
    return strtoll(row.cell[1], NULL, 10);
}

/* Rows that session a has read; 0 where the database does not tell. */
static int64_t rows_read(void) {
    if (pool_on_mariadb()) return handler_reads("next") + handler_reads("rnd_next");
    if (pool_on_oracle()) not_tried("rows that a claim reads");
    if (!pool_on_postgres()) return 0;
    sql_run(pool.a, "SELECT pg_stat_force_next_flush()");
    sql_run(pool.eye, "SELECT pg_stat_force_next_flush()"); /* its own reads must not be told of later */
    return sql_number(pool.eye,
                      "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = "
                      "lower('tp_pending')");
}

struct cost {
    uint64_t statements;
    int64_t rows;
};

static struct cost cost_of_one(void) {
    struct cost before = {tp_conn_counters(pool.a)->statements, rows_read()};
    tp_batch *batch = take(pool.a, "mail", NULL, 50);
    struct cost cost = {tp_conn_counters(pool.a)->statements - before.statements, rows_read() - before.rows};
    complete_so_many(pool.a, batch, 50);
    return cost;
}

/* With 20,000 due tasks a claim of 50 takes the statements that it took with 300, and reads no more rows than
 * it needs. Once a second a claim also looks which handlers are paused, and what the time is. */
TEST(test_tasks__a_long_outages_backlog_does_not_slow_the_scan) {
    enum { BACKLOG = 20000, ROWS = 400, LOOKS = 2 };
    put_tasks("mail", 300, NULL);
    pool_measure();
    struct cost small = cost_of_one();
    while (count_of("pending") < BACKLOG)
        double_backlog();
    pool_measure();
    struct cost large = cost_of_one();
    assert_in_range(large.statements, 0, small.statements + LOOKS);
    if (!pool_on_generic()) /* which reads the list of all that is due */
        assert_in_range(large.rows, 0, ROWS);
}

static void old_row(int id, const char *handler, int shard, int failures) {
    sql_run(pool.eye,
            "INSERT INTO tp_old_tasks (task_id, due_date, task_handler, load_balance_num, task_params, "
            "retry_count, retry_reason) VALUES ('0191E0A0-0000-7000-8000-00000000E%03d', "
            "%s'2001-09-09 01:46:40', '%s', %d, 'data-%d', %d, 'why-%d')",
            id, pool_on_sqlite() ? "" : "TIMESTAMP ", handler, shard, id, failures, id);
}

TEST(test_tasks__old_rows_move_over_and_back) {
    static const char first[] = "0191e0a0-0000-7000-8000-00000000e001";
    old_row(1, "mail", 0, 0);
    old_row(2, "mail", 7, 2);
    old_row(3, "fax", 7, 0);
    run_block("load_balance.move");
    expect_number(count_of("old_tasks"), 1);
    expect_row(first, "pending", "pending", 0);
    expect_number(row_of(first).due_at, LONG_AGO);
    expect_row("0191e0a0-0000-7000-8000-00000000e002", "pending", "failed", 2);
    expect_number(count_where("pending", "shard = 7 AND reason = 'why-2'"), 1);
    run_block("load_balance.move");
    expect_number(count_of("pending"), 2);
    expect_sound_pools();
    run_block("load_balance.back");
    expect_number(count_of("pending"), 0);
    expect_number(count_where("old_tasks", "task_handler = 'mail' AND load_balance_num = 7 AND "
                                           "retry_count = 2 AND retry_reason = 'why-2'"),
                  1);
}
