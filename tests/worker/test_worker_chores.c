/* Single steps, when a worker looks for tasks and when it ends by itself, and what it does besides its tasks:
 * schedules, old rows, tasks of workers that died. */
#include "worker/rig.h"

#include <string.h>
#include <time.h>

/* Where the database has no clock of milliseconds, sessions differ by a second at most. */
enum { NEVER_MS = 3600000, CLOCKS_DIFFER_MS = 2000 };

/* ---- Single steps -------------------------------------------------------------------------------------- */

static void test_step__does_all_of_it_once_without_threads(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    size_t handled = 99;
    rig_put(12, "x");
    must(tp_test_advance(pool.a, CLOCKS_DIFFER_MS));
    tp_worker *worker = rig_open(&o, rig_pay, NULL);
    must(tp_worker_step(worker, &handled));
    expect_number(handled, 10); /* a batch */
    must(tp_worker_step(worker, &handled));
    expect_number(handled, 2);
    expect(TP_NONE, tp_worker_step(worker, &handled));
    expect_number(handled, 0);
    expect(TP_MISUSE, tp_worker_start(worker));
    rig_expect_paid(12);
    tp_worker_stop(worker);
    expect(TP_NONE, tp_worker_step(worker, NULL));
    rig_finish(worker);
}

static void test_step__follows_the_ladder_as_time_is_let_pass(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    size_t handled = 0;
    o.retry = NULL; /* 1, 5, 20 minutes */
    rig_put(1, "x");
    tp_worker *worker = rig_open(&o, rig_fail, NULL);
    static const int64_t minutes[] = {1, 5, 20};
    must(tp_test_advance(pool.a, CLOCKS_DIFFER_MS));
    for (int i = 0; i < 3; i++) {
        must(tp_worker_step(worker, &handled));
        expect_number(handled, 1);
        must(tp_test_advance(pool.a, minutes[i] * 60000 - 30000));
        expect(TP_NONE, tp_worker_step(worker, &handled));
        must(tp_test_advance(pool.a, 30000 + CLOCKS_DIFFER_MS));
    }
    must(tp_worker_step(worker, &handled));
    rig_expect(0, 0, 1);
    expect_number(rig_failures("failed"), 4);
    tp_worker_stop(worker);
    rig_finish(worker);
}

/* ---- Chores -------------------------------------------------------------------------------------------- */

static void test_schedules__are_fired_by_a_worker_that_is_to(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    tp_schedule schedule = TP_SCHEDULE_INIT;
    size_t handled = 0;
    schedule.name = pool.handler;
    schedule.handler = pool.handler;
    schedule.rule = "every 1h";
    must(tp_schedule_add(pool.a, &schedule));
    tp_worker *idle = rig_open(&o, rig_done, NULL);
    must(tp_test_advance(pool.a, 3600000 + CLOCKS_DIFFER_MS));
    expect(TP_NONE, tp_worker_step(idle, NULL));
    o.schedules = 1;
    tp_worker *worker = rig_open(&o, rig_done, NULL);
    must(tp_worker_step(worker, &handled));
    expect_number(handled, 1);
    expect(TP_NONE, tp_worker_step(worker, &handled));
    tp_worker_stop(idle);
    rig_finish(idle);
    tp_worker_stop(worker);
    rig_finish(worker);
    o.poll_ms = NEVER_MS; /* the fired task wakes the worker that runs, which looks when it is due */
    must(tp_test_advance(pool.a, 3600000 + CLOCKS_DIFFER_MS));
    worker = rig_start(&o, rig_done);
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 2));
    rig_stop_and_finish(worker);
    must(tp_schedule_remove(pool.a, pool.handler));
}

static void test_house__settled_rows_past_their_time_are_deleted_by_the_worker(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    const struct timespec pause = {.tv_sec = 0, .tv_nsec = 20000000};
    rig_put(3, "x");
    must(tp_retention_set(pool.a, "finished", 60000, "test"));
    tp_worker *worker = rig_start(&o, rig_done);
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 3));
    rig_stop_and_finish(worker);
    rig_expect(0, 3, 0);
    must(tp_test_advance(pool.a, 61000));
    worker = rig_start(&o, rig_done);
    for (int tries = 0; rig_count("finished") && tries < 15000; tries++)
        nanosleep(&pause, NULL);
    rig_stop_and_finish(worker);
    must(tp_retention_set(pool.a, "finished", 0, "test"));
    rig_expect(0, 0, 0);
}

/* ---- Crash policies ------------------------------------------------------------------------------------ */

static void test_on_lapse__is_a_policy_of_each_handler(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    tp_claim_request request = TP_CLAIM_INIT;
    tp_batch *batch = NULL;
    tp_retry skips = TP_RETRY_INIT;
    skips.delays_ms = (const int64_t[]){1000};
    skips.count = 1;
    skips.on_lapse = TP_LAPSE_SKIP;
    char first[sizeof pool.handler];
    memcpy(first, pool.handler, sizeof first);
    tp_worker *worker = rig_open(&o, rig_done, NULL);
    rig_put(1, "x");
    pool.handler[0] = 'w';
    must(tp_worker_handle_with(worker, pool.handler, rig_done, NULL, &skips));
    rig_put(1, "x");
    const char *both[] = {first, pool.handler};
    request.handlers = both;
    request.handler_count = 2;
    must(tp_test_advance(pool.a, CLOCKS_DIFFER_MS));
    must(tp_claim(pool.b, &request, &batch)); /* by one that dies */
    expect_number(tp_batch_count(batch), 2);
    tp_batch_free(batch);
    must(tp_test_advance(pool.a, 62000));
    tp_status status = tp_worker_step(worker, NULL);
    if (status < TP_OK) must(status);
    expect_number(rig_count_state("finished", "skipped"), 1);
    memcpy(pool.handler, first, sizeof first);
    expect_number(rig_count_state("finished", "done"), 1);
    expect_number(rig_failures("finished"), 1);
    tp_worker_stop(worker);
    rig_finish(worker);
}

/* ---- Looking for tasks --------------------------------------------------------------------------------- */

/* By the clock of every session, however roughly it is known. */
static const int64_t long_ago = 1000000000000;

static int64_t make_due(void) {
    return sql_run(pool.eye, "UPDATE tp_pending SET due_at = %lld WHERE handler = '%s'", (long long)long_ago,
                   pool.handler);
}

static void put_due(void) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = pool.handler;
    task.due_at = long_ago;
    must(tp_enqueue(pool.a, &task));
}

static void put_for_later(int32_t shard, int32_t priority) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = pool.handler;
    task.delay_ms = NEVER_MS;
    task.shard = shard;
    task.priority = priority;
    must(tp_enqueue(pool.a, &task));
}

/* Looks at once while tasks come, and after a while once an hour. */
static tp_worker_options warm(const char *plan) {
    tp_worker_options o = rig_undrained();
    o.plan = plan;
    o.hot_ms = 1;
    o.poll_ms = NEVER_MS;
    return o;
}

/* As if another process had put it: nothing wakes the worker for it, and its longest pause is an hour. */
static void find_the_next(const char *plan) {
    tp_worker_options o = warm(plan);
    put_for_later(0, 0);
    tp_worker *worker = rig_start(&o, rig_done);
    rig_put(1, "x");
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 1));
    expect_number(make_due(), 1);
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 2));
    rig_stop_and_finish(worker);
    rig_expect(0, 2, 0);
}

static void test_pace__after_a_task_the_next_is_found_without_a_wake(void **state) {
    (void)state;
    find_the_next(NULL);
}

static void test_pace__with_plan_hold_too(void **state) {
    (void)state;
    if (pool_plan_possible("hold")) find_the_next("hold");
}

/* Nobody was in this process to be woken for the first. */
static void find_the_next_after_looking(const char *plan) {
    tp_worker_options o = warm(plan);
    put_for_later(0, 0);
    put_due();
    tp_worker *worker = rig_start(&o, rig_done);
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 1));
    expect_number(make_due(), 1);
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 2));
    rig_stop_and_finish(worker);
}

static void test_pace__after_a_task_found_by_looking_the_next_is_found_too(void **state) {
    (void)state;
    find_the_next_after_looking(NULL);
}

static void test_pace__with_plan_hold_it_is_found_too(void **state) {
    (void)state;
    if (pool_plan_possible("hold")) find_the_next_after_looking("hold");
}

/* One who put in a task for later may put in more, perhaps from elsewhere. */
static void look_again(const char *plan) {
    tp_worker_options o = warm(plan);
    size_t looks = faults_add((struct faults_aim){.statement = "claim_lanes"});
    size_t begins = faults_add((struct faults_aim){.statement = "begin"});
    tp_worker *worker = rig_start(&o, rig_done);
    assert_true(plan ? faults_wait_seen(begins, 1) : faults_wait_seen(looks, 1));
    put_for_later(0, 0);
    assert_true(faults_wait_seen(looks, faults_seen(looks) + 8));
    rig_stop_and_finish(worker);
}

static void test_pace__after_a_wake_that_found_nothing_it_looks_again_soon(void **state) {
    (void)state;
    look_again(NULL);
}

static void test_pace__after_a_wake_plan_hold_looks_again_soon(void **state) {
    (void)state;
    if (pool_plan_possible("hold")) look_again("hold");
}

/* The wake says which tasks came, and the claim takes those alone; what came from elsewhere must not wait for
 * the next pause, which here is an hour. */
static void find_the_others(const char *plan) {
    tp_worker_options o = rig_undrained();
    o.plan = plan;
    o.poll_ms = NEVER_MS;
    put_for_later(0, 5);
    bool holds = plan && strcmp(plan, "hold") == 0;
    const char *claim = holds ? "begin" : "claim_lanes";
    size_t claims = faults_add((struct faults_aim){.statement = claim});
    tp_worker *worker = rig_start(&o, rig_done);
    assert_true(faults_wait_seen(claims, 1));
    expect_number(make_due(), 1);
    put_due();
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 2));
    rig_stop_and_finish(worker);
    rig_expect(0, 2, 0);
}

static void test_pace__a_wake_for_some_tasks_leaves_no_others_behind(void **state) {
    (void)state;
    find_the_others(NULL);
}

static void test_pace__a_wake_with_plan_hold_leaves_none_either(void **state) {
    (void)state;
    if (pool_plan_possible("hold")) find_the_others("hold");
}

/* A worker with more urgent tasks than it has room for is woken for a less urgent one. */
static atomic_int urgent_begun, begun_before_other;

static tp_verdict note_order(tp_run *run, void *arg) {
    int none = -1;
    if (tp_run_task(run)->priority == 0)
        atomic_fetch_add(&urgent_begun, 1);
    else
        atomic_compare_exchange_strong(&begun_before_other, &none, atomic_load(&urgent_begun));
    return rig_wait(run, arg);
}

static void put_less_urgent(void) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = pool.handler;
    task.priority = 5;
    must(tp_enqueue(pool.a, &task));
}

static void test_pace__a_wake_lets_nothing_go_before_more_urgent_tasks(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    o.threads = 1;
    o.queue = 2;
    atomic_store(&urgent_begun, 0);
    atomic_store(&begun_before_other, -1);
    rig_put(12, "x");
    tp_worker *worker = rig_start(&o, note_order);
    assert_true(gate_wait_arrived(&rig.gate, 2));
    put_less_urgent();
    gate_open(&rig.gate);
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 13));
    rig_stop_and_finish(worker);
    /* Three more were claimed with the last at most: one runs, two wait. */
    if (atomic_load(&begun_before_other) < 9)
        fail_msg("only %d of 12 more urgent tasks went first", atomic_load(&begun_before_other));
}

static void test_pace__plan_hold_begins_no_transaction_while_nothing_comes(void **state) {
    (void)state;
    if (!pool_plan_possible("hold")) return;
    tp_worker_options o = rig_undrained();
    o.plan = "hold";
    o.poll_ms = 1;
    size_t looks = faults_add((struct faults_aim){.statement = "claim_lanes"});
    size_t begins = faults_add((struct faults_aim){.statement = "begin"});
    tp_worker *worker = rig_start(&o, rig_done);
    assert_true(faults_wait_seen(looks, 20));
    assert_in_range(faults_seen(begins), 0, 3);
    rig_stop_and_finish(worker);
}

static void test_drain__of_a_worker_with_shards_waits_for_none_of_the_others(void **state) {
    static const int32_t mine[] = {1, 2};
    (void)state;
    tp_worker_options o = rig_options();
    o.shards = mine;
    o.shard_count = 2;
    put_for_later(3, 0);
    put_for_later(2, 0);
    tp_worker *worker = rig_start(&o, rig_done);
    size_t looks = faults_add((struct faults_aim){.statement = "claim_lanes"});
    assert_true(faults_wait_seen(looks, 4));
    assert_string_not_equal(rig_info(worker).state, "ended");
    expect_number(make_due(), 2);
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 1));
    rig_finish(worker);
    rig_expect(1, 1, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RIG_TEST(test_step__does_all_of_it_once_without_threads),
        RIG_TEST(test_step__follows_the_ladder_as_time_is_let_pass),
        RIG_TEST(test_schedules__are_fired_by_a_worker_that_is_to),
        RIG_TEST(test_house__settled_rows_past_their_time_are_deleted_by_the_worker),
        RIG_TEST(test_on_lapse__is_a_policy_of_each_handler),
        RIG_TEST(test_pace__after_a_task_the_next_is_found_without_a_wake),
        RIG_TEST(test_pace__with_plan_hold_too),
        RIG_TEST(test_pace__after_a_task_found_by_looking_the_next_is_found_too),
        RIG_TEST(test_pace__with_plan_hold_it_is_found_too),
        RIG_TEST(test_pace__after_a_wake_that_found_nothing_it_looks_again_soon),
        RIG_TEST(test_pace__after_a_wake_plan_hold_looks_again_soon),
        RIG_TEST(test_pace__a_wake_for_some_tasks_leaves_no_others_behind),
        RIG_TEST(test_pace__a_wake_with_plan_hold_leaves_none_either),
        RIG_TEST(test_pace__a_wake_lets_nothing_go_before_more_urgent_tasks),
        RIG_TEST(test_pace__plan_hold_begins_no_transaction_while_nothing_comes),
        RIG_TEST(test_drain__of_a_worker_with_shards_waits_for_none_of_the_others),
    };
    rig_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rig_end();
    return failed;
}
