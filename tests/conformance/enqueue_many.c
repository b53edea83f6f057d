/* Putting many tasks: all or none, set by set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

enum { FEW = 5, MANY = 2500 };

static void fill(tp_new_task *tasks, size_t count) {
    for (size_t i = 0; i < count; i++)
        tasks[i] = task_new("x");
}

/* Task 3 of 5 is bad: nothing may be written, and the text says which. */
static void expect_none_of_five(tp_new_task tasks[FEW], tp_status status) {
    size_t inserted = 77;
    expect(status, tp_enqueue_many(pool.a, tasks, FEW, &inserted));
    expect_text("task 3 of 5");
    expect_number(inserted, 77);
    expect_number(rows_in("pending", pool.handler), 0);
}

static void test_enqueue_many__one_bad_task_keeps_all_out(void **state) {
    static char long_params[TP_PARAMS_MAX + 2], long_key[TP_KEY_MAX + 2];
    tp_new_task tasks[FEW];
    (void)state;
    memset(long_params, 'p', TP_PARAMS_MAX + 1);
    memset(long_key, 'k', TP_KEY_MAX + 1);
    fill(tasks, FEW), tasks[2].handler = NULL;
    expect_none_of_five(tasks, TP_MISUSE);
    fill(tasks, FEW), tasks[2].handler = "bad name";
    expect_none_of_five(tasks, TP_MISUSE);
    fill(tasks, FEW), tasks[2].params = "broken \xc3";
    expect_none_of_five(tasks, TP_MISUSE);
    fill(tasks, FEW), tasks[2].params = long_params;
    expect_none_of_five(tasks, TP_TOOBIG);
    fill(tasks, FEW), tasks[2].biz_key = long_key;
    expect_none_of_five(tasks, TP_TOOBIG);
    fill(tasks, FEW), tasks[2].priority = -40000;
    expect_none_of_five(tasks, TP_MISUSE);
}

static void test_enqueue_many__of_none_is_done_at_once(void **state) {
    size_t inserted = 5;
    (void)state;
    must(tp_enqueue_many(pool.a, NULL, 0, &inserted));
    expect_number(inserted, 0);
    expect(TP_MISUSE, tp_enqueue_many(pool.a, NULL, 1, &inserted));
}

static void test_enqueue_many__counts_what_was_new(void **state) {
    enum { TASKS = 10 };
    tp_new_task open = task_new("x"), tasks[TASKS];
    char keys[3][TP_KEY_MAX];
    size_t inserted = 0;
    (void)state;
    for (int i = 0; i < 3; i++)
        snprintf(keys[i], sizeof keys[i], "%s.%d", pool.handler, i);
    for (int i = 0; i < 2; i++) {
        open = task_new("x");
        open.dedup_key = keys[i];
        must(tp_enqueue(pool.a, &open));
    }
    fill(tasks, TASKS);
    tasks[1].dedup_key = keys[0]; /* open already */
    tasks[4].dedup_key = keys[1]; /* open already */
    tasks[6].dedup_key = keys[2]; /* new */
    tasks[9].dedup_key = keys[2]; /* the same again */
    tasks[3] = open;              /* there already */
    must(tp_enqueue_many(pool.a, tasks, TASKS, &inserted));
    expect_number(inserted, TASKS - 4);
    expect_number(rows_in("pending", pool.handler), 2 + TASKS - 4);
    expect_number(row_of(tasks[6].id).copies, 1);
    expect_number(row_of(tasks[9].id).copies, 0);
    must(tp_enqueue_many(pool.a, tasks, TASKS, NULL));
    expect_number(rows_in("pending", pool.handler), 2 + TASKS - 4);
}

/* Sets of tasks that are all new, and sets in which one may be there. */
static void test_enqueue_many__passes_over_a_key_that_is_there_in_any_set(void **state) {
    static tp_new_task tasks[MANY];
    tp_new_task open = task_new("x");
    size_t inserted = 0;
    (void)state;
    open.dedup_key = "open";
    must(tp_enqueue(pool.eye, &open));
    for (size_t at = 0; at < MANY; at += MANY - 1) {
        fill(tasks, MANY);
        tasks[at].dedup_key = "open";
        must(tp_begin(pool.a));
        must(tp_enqueue_many(pool.a, tasks, MANY, &inserted));
        must(tp_commit(pool.a));
        expect_number(inserted, MANY - 1);
    }
    expect_number(rows_in("pending", pool.handler), 2 * (MANY - 1) + 1);
}

static void test_enqueue_many__writes_every_field(void **state) {
    tp_new_task tasks[3];
    tp_batch *batch = NULL;
    (void)state;
    fill(tasks, 3);
    tasks[1].params = "the second";
    tasks[1].biz_key = "order-2";
    tasks[1].shard = 12;
    tasks[1].priority = -7;
    tasks[1].max_failures = 6;
    tasks[1].due_at = LONG_AGO + 5;
    tasks[2].due_at = 0;
    tasks[2].delay_ms = 60000;
    must(tp_enqueue_many(pool.a, tasks, 3, NULL));
    must(tp_show(pool.eye, tasks[1].id, &batch));
    const tp_task *task = tp_batch_task(batch, 0);
    assert_string_equal(task->params, "the second");
    assert_string_equal(task->biz_key, "order-2");
    assert_string_equal(task->state, "pending");
    expect_number(task->shard, 12);
    expect_number(task->priority, -7);
    expect_number(task->max_failures, 6);
    expect_number(task->due_at, LONG_AGO + 5);
    tp_batch_free(batch);
    batch = NULL;
    must(tp_show(pool.eye, tasks[2].id, &batch));
    task = tp_batch_task(batch, 0);
    expect_number(task->max_failures, 0);
    assert_in_range(task->due_at - task->created_at, 59900, 60100);
    tp_batch_free(batch);
}

/* Pages through the pool; the tasks must come as they were put. */
static void expect_in_order(const tp_new_task *tasks, size_t count) {
    size_t seen = 0;
    char after[ID] = "";
    while (seen < count) {
        tp_list_request request = TP_LIST_INIT;
        tp_batch *batch = NULL;
        request.handler = pool.handler;
        request.limit = 1000;
        request.after_id = *after ? after : NULL;
        must(tp_list(pool.eye, &request, &batch));
        for (size_t i = 0; i < tp_batch_count(batch); i++, seen++) {
            const tp_task *task = tp_batch_task(batch, i);
            assert_string_equal(task->id, tasks[seen].id);
            assert_string_equal(task->params, tasks[seen].params);
            memcpy(after, task->id, ID);
        }
        tp_batch_free(batch);
    }
    expect_number(seen, count);
}

static void test_enqueue_many__takes_thousands_and_keeps_their_order(void **state) {
    static char params[MANY][16];
    tp_new_task *tasks = calloc(MANY, sizeof *tasks);
    size_t inserted = 0;
    (void)state;
    assert_non_null(tasks);
    fill(tasks, MANY);
    for (int i = 0; i < MANY; i++) {
        snprintf(params[i], sizeof params[i], "no %d", i);
        tasks[i].params = params[i];
    }
    must(tp_enqueue_many(pool.a, tasks, MANY, &inserted));
    expect_number(inserted, MANY);
    expect_number(rows_in("pending", pool.handler), MANY);
    expect_in_order(tasks, MANY);
    free(tasks);
}

static void test_enqueue_many__is_one_transaction(void **state) {
    tp_new_task *tasks = calloc(MANY, sizeof *tasks);
    (void)state;
    assert_non_null(tasks);
    fill(tasks, MANY);
    must(tp_begin(pool.a));
    must(tp_enqueue_many(pool.a, tasks, MANY, NULL));
    expect_number(rows_in("pending", pool.handler), 0);
    must(tp_rollback(pool.a));
    expect_number(rows_in("pending", pool.handler), 0);
    free(tasks);
}

/* Another session is about to insert the last task's dedup_key, so that the last set must wait for it and
 * gives up (SQLite: all must). What the sets before have written goes with it; asked again, everything comes.
 */
static void test_enqueue_many__a_failure_in_the_last_set_takes_all_back(void **state) {
    enum { TASKS = 1100 };
    tp_new_task *tasks = calloc(TASKS, sizeof *tasks), rival = task_new("x");
    struct pool_guest guest = pool_guest_open();
    size_t inserted = 42;
    (void)state;
    assert_non_null(tasks);
    fill(tasks, TASKS);
    tasks[TASKS - 1].dedup_key = rival.dedup_key = pool.handler;
    must(tp_begin(pool.b));
    must(tp_enqueue(pool.b, &rival));
    expect_may_retry(tp_enqueue_many(guest.conn, tasks, TASKS, &inserted));
    expect_number(inserted, 42);
    expect_number(rows_in("pending", pool.handler), 0);
    must(tp_rollback(pool.b));
    must(tp_enqueue_many(guest.conn, tasks, TASKS, &inserted));
    expect_number(inserted, TASKS);
    expect_number(rows_in("pending", pool.handler), TASKS);
    pool_guest_close(&guest);
    free(tasks);
}

/* One by one and together; by key the same row always has the same shard. */
static void test_enqueue_many__are_spread_over_shards(void **state) {
    enum { TASKS = 60, SHARDS = 4 };
    static tp_new_task tasks[TASKS];
    char keys[TASKS][16];
    (void)state;
    for (int how = TP_SHARDING_KEY; how <= TP_SHARDING_RANDOM; how++) {
        for (int i = 0; i < TASKS; i++) {
            tasks[i] = task_new("x");
            snprintf(keys[i], sizeof keys[i], "order %d", i);
            tasks[i].biz_key = keys[i];
            tasks[i].sharding = (tp_sharding)how;
            tasks[i].shards = SHARDS;
        }
        must(tp_enqueue(pool.a, &tasks[0]));
        must(tp_enqueue_many(pool.a, tasks + 1, TASKS - 1, NULL));
        for (int shard = 1; shard <= SHARDS; shard++) {
            int64_t count =
                sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pending WHERE handler = '%s' AND shard = %d",
                           pool.handler, shard);
            int64_t by_key = 0;
            for (int i = 0; i < TASKS; i++)
                by_key += tp_shard_of(keys[i], SHARDS) == shard;
            if (how == TP_SHARDING_KEY) expect_number(count, by_key);
            if (how == TP_SHARDING_ROUND_ROBIN) expect_number(count, TASKS / SHARDS);
            if (how == TP_SHARDING_RANDOM) assert_true(count > 0 && count < TASKS * 2 / 3);
        }
        sql_run(pool.eye, "DELETE FROM tp_pending");
    }
    tasks[0].shard = 1;
    expect(TP_MISUSE, tp_enqueue(pool.a, &tasks[0]));
    expect(TP_MISUSE, tp_enqueue_many(pool.a, tasks, TASKS, NULL));
    expect_number(rows_in("pending", pool.handler), 0);
}

/* ---- A race for a key ---------------------------------------------------------------------------------- */

enum { BROUGHT = 3 };
struct bringing {
    tp_new_task tasks[BROUGHT];
    size_t inserted;
};

static tp_status bring_alone(tp_conn *conn, void *arg) {
    struct bringing *bringing = arg;
    return tp_enqueue_many(conn, bringing->tasks, BROUGHT, &bringing->inserted);
}

static tp_status bring_inside(tp_conn *conn, void *arg) {
    tp_status status = tp_begin(conn);
    return status == TP_OK ? bring_alone(conn, arg) : status;
}

/* What a hears that brings many, one with the key that b's transaction has brought, once that ends. */
static tp_status bring_meanwhile(struct bringing *bringing, tp_new_task *other, bool commit,
                                 tp_status (*call)(tp_conn *, void *)) {
    struct aside aside;
    *other = task_new("x");
    fill(bringing->tasks, BROUGHT);
    bringing->tasks[1].dedup_key = other->dedup_key = pool.handler;
    long session = session_number(pool.a);
    must(tp_begin(pool.b));
    must(tp_enqueue(pool.b, other));
    aside_start(&aside, pool.a, call, bringing);
    session_await_blocked(session, &aside);
    sure(!atomic_load(&aside.ended), "the second did not wait for the first: %s", aside.error);
    if (commit)
        must(tp_commit(pool.b));
    else
        must(tp_rollback(pool.b));
    return aside_end(&aside);
}

static void expect_all_but_one_in(const struct bringing *bringing, const tp_new_task *other) {
    expect_number(bringing->inserted, BROUGHT - 1);
    assert_string_equal(bringing->tasks[1].existing_id, other->id);
    expect_number(row_of(bringing->tasks[1].id).copies, 0);
    expect_number(rows_in("pending", pool.handler), BROUGHT);
}

static void test_enqueue_many__a_key_that_another_brings_meanwhile_is_there(void **state) {
    struct bringing bringing;
    tp_new_task other;
    (void)state;
    must(bring_meanwhile(&bringing, &other, false, bring_alone));
    expect_number(bringing.inserted, BROUGHT);
    sql_run(pool.eye, "DELETE FROM tp_pending");
    must(bring_meanwhile(&bringing, &other, true, bring_alone));
    expect_all_but_one_in(&bringing, &other);
}

/* Where the database tells the loser by an error, its transaction is to be rolled back and done again. */
static void test_enqueue_many__inside_a_transaction_it_may_be_a_conflict(void **state) {
    bool quiet = pool_on_sqlite() || strcmp(pool.entry, "postgres") == 0;
    struct bringing bringing;
    tp_new_task other;
    (void)state;
    must(bring_meanwhile(&bringing, &other, false, bring_inside));
    must(tp_commit(pool.a));
    expect_number(bringing.inserted, BROUGHT);
    sql_run(pool.eye, "DELETE FROM tp_pending");
    expect(quiet ? TP_OK : TP_CONFLICT, bring_meanwhile(&bringing, &other, true, bring_inside));
    if (!quiet) {
        expect(TP_CONFLICT, tp_commit(pool.a));
        must(bring_inside(pool.a, &bringing));
    }
    must(tp_commit(pool.a));
    expect_all_but_one_in(&bringing, &other);
}

THEME(enqueue_many, false, cmocka_unit_test(test_enqueue_many__one_bad_task_keeps_all_out),
      cmocka_unit_test(test_enqueue_many__of_none_is_done_at_once),
      cmocka_unit_test(test_enqueue_many__counts_what_was_new),
      cmocka_unit_test(test_enqueue_many__passes_over_a_key_that_is_there_in_any_set),
      cmocka_unit_test(test_enqueue_many__writes_every_field),
      cmocka_unit_test(test_enqueue_many__takes_thousands_and_keeps_their_order),
      cmocka_unit_test(test_enqueue_many__is_one_transaction),
      cmocka_unit_test(test_enqueue_many__a_failure_in_the_last_set_takes_all_back),
      cmocka_unit_test(test_enqueue_many__are_spread_over_shards),
      cmocka_unit_test(test_enqueue_many__a_key_that_another_brings_meanwhile_is_there),
      cmocka_unit_test(test_enqueue_many__inside_a_transaction_it_may_be_a_conflict));
