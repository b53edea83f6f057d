/* Design D: check, lock without waiting, check again, handle, move: three pools, and a hot table that stays
 * small. Where a database cannot lock a row (generic), the same with compare and set. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/uuid.h"
#include "origins/origins.h"

DESIGN(three_pools,
       {"old_items", "id VARCHAR(36) NOT NULL PRIMARY KEY, item_key VARCHAR(40), data VARCHAR(200), "
                     "to_process INTEGER NOT NULL, status VARCHAR(8) NOT NULL, fails INTEGER NOT NULL, "
                     "reason VARCHAR(200)"});

/* Three failures at most, the next try at once. */
static const int64_t soon[] = {0, 0};
static const tp_retry three_times = {.size = sizeof three_times, .delays_ms = soon, .count = 2};

static const char *plan(void) {
    return pool_plan_possible("row") ? "row" : "cas";
}

static tp_batch *take_items(tp_conn *conn, size_t limit) {
    return take(conn, "item", plan(), limit);
}

static void expect_retry_or_spent(tp_status status) {
    assert_true(status == TP_OK || status == TP_EXHAUSTED);
}

static void handle(tp_conn *conn, const tp_task *task) {
    if (strcmp(task->params, "not wanted") == 0)
        must(tp_skip(conn, task, "not to be processed"));
    else if (strcmp(task->params, "bad") == 0)
        expect_retry_or_spent(tp_fail(conn, task, "no such account", &three_times));
    else
        must(tp_complete(conn, task));
}

static size_t handle_all(tp_conn *conn) {
    tp_batch *batch = take_items(conn, 100);
    size_t count = tp_batch_count(batch);
    for (size_t i = 0; i < count; i++)
        handle(conn, tp_batch_task(batch, i));
    tp_batch_free(batch);
    return count;
}

TEST(test_pools__done_and_not_wanted_go_to_the_finished_pool) {
    char good[ID], not_wanted[ID];
    put_task("item", "good", good);
    put_task("item", "not wanted", not_wanted);
    expect_number(handle_all(pool.a), 2);
    expect_row(good, "finished", "done", 0);
    expect_row(not_wanted, "finished", "skipped", 0);
    assert_string_equal(row_of(not_wanted).reason, "not to be processed");
    expect_number(count_of("pending"), 0);
    expect_sound_pools();
}

TEST(test_pools__what_is_tried_again_stays_pending_and_the_third_failure_moves_it) {
    char id[ID];
    put_task("item", "bad", id);
    for (int failures = 1; failures <= 2; failures++) {
        expect_number(handle_all(pool.a), 1);
        advance(2000);
        expect_row(id, "pending", "failed", failures);
        assert_string_equal(row_of(id).reason, "no such account");
        expect_sound_pools();
    }
    expect_number(handle_all(pool.a), 1);
    expect_row(id, "failed", "failed", 3);
    assert_string_equal(row_of(id).reason, "no such account");
    expect_number(handle_all(pool.a), 0);
    expect_sound_pools();
}

TEST(test_pools__a_task_may_say_itself_that_three_are_enough) {
    tp_new_task task = task_new("bad");
    task.handler = "item";
    task.max_failures = 3;
    must(tp_enqueue(pool.a, &task));
    for (int failures = 1; failures <= 3; failures++) {
        tp_batch *batch = take_items(pool.a, 1);
        expect(failures < 3 ? TP_OK : TP_EXHAUSTED, tp_fail(pool.a, tp_batch_task(batch, 0), "no", NULL));
        tp_batch_free(batch);
        if (failures < 3) row_make_due(task.id);
    }
    expect_row(task.id, "failed", "failed", 3);
}

TEST(test_pools__no_task_is_ever_in_two) {
    static const char *const params[] = {"good", "bad", "not wanted"};
    char ids[12][ID];
    for (int i = 0; i < 12; i++)
        put_task("item", params[i % 3], ids[i]);
    for (int round = 0; round < 3; round++) {
        advance(2000); /* generic clocks may have whole seconds only */
        handle_all(round % 2 ? pool.b : pool.a);
        expect_sound_pools();
        expect_number(count_of("pending") + count_of("finished") + count_of("failed"), 12);
    }
    expect_number(count_of("pending"), 0);
    expect_number(count_of("finished"), 8);
    expect_number(count_of("failed"), 4);
}

/* How long that takes: a lock that was waited for in vain is passed over, too. */
static int64_t pass_over(void) {
    char free_one[ID];
    put_task("item", "good", free_one);
    int64_t began = tpi_clock_mono_ms();
    tp_batch *batch = take_items(pool.a, 10);
    int64_t ms = tpi_clock_mono_ms() - began;
    expect_number(tp_batch_count(batch), 1);
    assert_true(batch_holds(batch, free_one));
    complete_all(pool.a, batch);
    return ms;
}

TEST(test_pools__a_row_that_another_session_holds_is_passed_over_without_waiting) {
    enum { LIMIT_MS = 5000, AT_ONCE_MS = 2000, TRIES = 5 };
    char held[ID];
    int64_t ms = LIMIT_MS;
    if (!pool_plan_possible("row") || pool_on_sqlite()) skip();
    pool_empty();
    put_task("item", "good", held);
    pool_measure();
    (void)engine_limit_waits(pool.a, LIMIT_MS);
    must(tp_begin(pool.b));
    sql_run(pool.b, "SELECT id FROM tp_pending WHERE id = '%s' FOR UPDATE", held);
    for (int i = 0; i < TRIES && ms > AT_ONCE_MS; i++)
        ms = pass_over();
    must(tp_rollback(pool.b));
    must(tp_conn_reopen(pool.a));
    assert_in_range(ms, 0, AT_ONCE_MS);
    tp_batch *batch = take_items(pool.a, 10);
    assert_true(batch_holds(batch, held));
    complete_all(pool.a, batch);
}

struct claiming {
    tp_batch *batch;
    int limit; /* 0: 500 */
};

static tp_status claim_many(tp_conn *conn, void *arg) {
    struct claiming *claiming = arg;
    const char *handler = "item";
    tp_claim_request request = {
        .size = sizeof request, .handlers = &handler, .handler_count = 1, .plan = plan()};
    request.limit = (size_t)(claiming->limit ? claiming->limit : 500);
    request.lease_ms = 10 * 60 * 1000; /* a slow claim stops before its first leases have run down */
    return tp_claim(conn, &request, &claiming->batch);
}

/* Another takes the last of 500 after the claim's check and before its lock: the claim goes from task to
 * task, and the first is marked when the other comes. False: the other came too late. */
static bool taken_between_check_and_lock(void) {
    enum { MANY = 500 };
    struct claiming claiming = {0};
    struct aside aside;
    struct sql_row last;
    put_tasks("item", MANY, NULL);
    assert_true(
        sql_row(pool.eye, &last, "SELECT CAST(MAX(CAST(id AS CHAR(36))) AS CHAR(36)) FROM tp_pending"));
    aside_start(&aside, pool.a, claim_many, &claiming);
    while (!atomic_load(&aside.ended) && count_where("pending", "state = 'handling'") == 0)
        continue;
    bool in_time = sql_run(pool.b,
                           "UPDATE tp_pending SET state = 'handling', due_at = 9000000000000, "
                           "owner = '0191e0a0-0000-7000-8000-00000000d001' "
                           "WHERE id = '%s' AND state = 'pending'",
                           last.cell[0]) == 1;
    must(aside_end(&aside));
    if (in_time) {
        expect_number(tp_batch_count(claiming.batch), MANY - 1);
        assert_false(batch_holds(claiming.batch, last.cell[0]));
    }
    tp_batch_free(claiming.batch);
    return in_time;
}

TEST(test_pools__the_check_is_made_again_under_the_lock) {
    bool shown = false;
    for (int try = 0; try < 40 && !shown; try++) {
        sql_run(pool.eye, "DELETE FROM tp_pending");
        shown = taken_between_check_and_lock();
    }
    assert_true(shown);
}

/* Claims and completes until nothing is left, and never hears of a conflict; says how many it had. */
ROLE(items) {
    int had = 0;
    child_say("ready");
    child_wait_for_go();
    for (;;) {
        struct claiming claiming = {.limit = 10};
        tp_status status = claim_many(pool.a, &claiming);
        for (size_t i = 0; i < tp_batch_count(claiming.batch) && status == TP_OK; i++, had++)
            status = tp_complete(pool.a, tp_batch_task(claiming.batch, i));
        tp_batch_free(claiming.batch);
        if (status == TP_OK) continue;
        if (status != TP_NONE) child_say("%s", tp_last_error()->text);
        child_say("%d", had);
        return status != TP_NONE;
    }
}

TEST(test_pools__processes_share_the_items_out_without_a_deadlock) {
    enum { PROCESSES = 3, ITEMS = 150 };
    struct child children[PROCESSES];
    put_tasks("item", ITEMS, NULL);
    start_together(children, PROCESSES, "items", NULL);
    expect_number(end_together(children, PROCESSES), ITEMS);
    expect_number(count_of("finished"), ITEMS);
}

/* Transactions ended since: a statement outside of any is one by itself. */
static uint64_t transactions(const tp_counters *before) {
    const tp_counters *now = tp_conn_counters(pool.a);
    uint64_t commits = now->commits - before->commits;
    return commits ? commits : now->statements - before->statements;
}

TEST(test_pools__every_task_is_a_transaction_of_its_own) {
    if (!pool_plan_possible("row")) skip();
    put_tasks("item", 10, NULL);
    tp_counters before = *tp_conn_counters(pool.a);
    tp_batch *batch = take_items(pool.a, 10);
    expect_number(tp_batch_count(batch), 10);
    assert_true(transactions(&before) >= 10);
    before = *tp_conn_counters(pool.a);
    complete_all(pool.a, batch);
    expect_number(transactions(&before), 10);
}

/* Many rounds: the hot table holds one round's tasks, and a claim costs what it cost in the first. */
TEST(test_pools__the_hot_table_stays_small_and_claims_stay_cheap) {
    enum { ROUNDS = 25, ITEMS = 20 };
    uint64_t first = 0, first_asked = 0;
    for (int round = 0; round < ROUNDS; round++) {
        put_tasks("item", ITEMS, NULL);
        expect_number(count_of("pending"), ITEMS);
        int64_t began = tpi_clock_mono_ms();
        uint64_t before = tp_conn_counters(pool.a)->statements;
        expect_number(handle_all(pool.a), ITEMS);
        uint64_t cost = tp_conn_counters(pool.a)->statements - before;
        /* Once a second: who is paused? And by the generic dialect sometimes: how late is it? */
        uint64_t seconds = (uint64_t)(tpi_clock_mono_ms() - began) / 1000 + 1;
        uint64_t asked = seconds * (pool_on_generic() ? 2 : 1);
        if (round == 1) first = cost; /* the first may have asked what later ones know */
        if (round == 1) first_asked = asked;
        if (round > 1) assert_in_range(cost, first - first_asked, first + asked);
        expect_number(count_of("pending"), 0);
    }
    expect_number(count_of("finished"), ROUNDS * ITEMS);
}

static void old_row(int id, const char *status, int wanted, int fails) {
    sql_run(pool.eye,
            "INSERT INTO tp_old_items (id, item_key, data, to_process, status, fails, reason) "
            "VALUES ('%d', 'item-%d', 'data-%d', %d, '%s', %d, 'why-%d')",
            id, id, id, wanted, status, fails, id);
}

TEST(test_pools__old_rows_move_over_and_back) {
    old_row(1, "pending", 1, 0);
    old_row(2, "failed", 1, 2);
    old_row(3, "handling", 1, 0);
    old_row(4, "pending", 0, 0);
    run_block("three_pools.move");
    expect_number(count_where("old_items", "id IN ('3', '4')"), 2);
    expect_number(count_of("old_items"), 2);
    expect_number(count_where("pending", "biz_key = 'item-1' AND state = 'pending' AND max_failures = 3"), 1);
    expect_number(count_where("pending", "biz_key = 'item-2' AND state = 'failed' AND failures = 2 AND "
                                         "reason = 'why-2'"),
                  1);
    run_block("three_pools.move");
    expect_number(count_of("pending"), 2);
    expect_sound_pools();
    run_block("three_pools.back");
    expect_number(count_of("pending"), 0);
    expect_number(count_where("old_items", "item_key = 'item-2' AND status = 'failed' AND fails = 2"), 1);
    run_block("three_pools.move");
    expect_number(handle_all(pool.a), 2);
    expect_number(count_of("finished"), 2);
}
