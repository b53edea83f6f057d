/* Single steps, when a worker polls and when it ends by itself, and what it does besides its tasks:
 * schedules, old rows, tasks of workers that died. */
#include <limits.h>

#include "worker/rig.h"

/* Where the database has no clock of milliseconds, sessions differ by a second at most. */
enum { NEVER_MS = 3600000, CLOCKS_DIFFER_MS = 2000 };

TEST(test_step__does_all_of_it_once_without_threads) {
    rig_put(12, "x");
    must(rig_advance(pool.a, CLOCKS_DIFFER_MS));
    tp_worker *worker = rig_open(rig_pay);
    rig_step(worker, 10 /* a batch */);
    rig_step(worker, 2);
    rig_step(worker, 0);
    expect(TP_MISUSE, tp_worker_start(worker));
    rig_expect_paid(12);
    tp_worker_stop(worker);
    expect(TP_NONE, tp_worker_step(worker, NULL));
    rig_finish(worker);
}

TEST(test_step__follows_the_ladder_as_time_is_let_pass) {
    rig_put(1, "x");
    tp_worker *worker = rig_open_with(rig_fail, .retry = NULL /* 1, 5, 20 minutes */);
    static const int64_t minutes[] = {1, 5, 20};
    must(rig_advance(pool.a, CLOCKS_DIFFER_MS));
    for (int i = 0; i < 3; i++) {
        rig_step(worker, 1);
        must(rig_advance(pool.a, minutes[i] * 60000 - 30000));
        rig_step(worker, 0);
        must(rig_advance(pool.a, 30000 + CLOCKS_DIFFER_MS));
    }
    rig_step(worker, 1);
    rig_expect(0, 0, 1, .failures = 4);
    rig_stop(worker);
}

TEST(test_schedules__are_fired_by_a_worker_that_is_to) {
    tp_schedule schedule = {
        .size = sizeof schedule, .name = pool.handler, .handler = pool.handler, .rule = "every 1h"};
    must(tp_schedule_add(pool.a, &schedule));
    tp_worker *idle = rig_open(rig_done);
    must(rig_advance(pool.a, 3600000 + CLOCKS_DIFFER_MS));
    rig_step(idle, 0);
    tp_worker *worker = rig_open_with(rig_done, .schedules = 1);
    rig_step(worker, 1);
    rig_step(worker, 0);
    rig_stop(idle);
    rig_stop(worker);
    /* The fired task wakes the worker that runs, which polls when it is due. */
    must(rig_advance(pool.a, 3600000 + CLOCKS_DIFFER_MS));
    worker = rig_start_with(0, rig_done, .schedules = 1, .poll_ms = NEVER_MS);
    rig_await(TP_EVENT_DONE, 2);
    rig_stop(worker);
    must(tp_schedule_remove(pool.a, pool.handler));
}

/* Of these are 18, 2, 1 and 1 in eight seconds of a worker at rest: its polls, which are half a second apart
 * less a tenth, and its duties. */
enum { A_POLL = 1, A_FIRE = 1, A_HEARTBEAT = 5, A_CLEANING = 14, FEWER_THAN = 5 * 8 };
_Static_assert(18 * A_POLL + 2 * A_FIRE + A_HEARTBEAT + A_CLEANING < FEWER_THAN,
               "an idle worker asks too much");

static atomic_bool polled;

/* Connecting is no part of it. */
MEANS(is_asked_at_rest) {
    if (!link->statement || strcmp(function, "SQLEndTran") == 0) return false;
    if (strcmp(link->statement, "claim_lanes") == 0) atomic_store(&polled, true);
    return atomic_load(&polled) && faults_executes(link->statement, function);
}

/* Counted by polls, so that a machine that is slow, in which more duties come between two, does not matter.
 */
TEST(test_schedules__an_idle_worker_with_them_asks_fewer_than_five_statements_a_second) {
    enum { POLLS = 80 /* in more than the second after which pauses were read again */ };
    tp_schedule schedule = {
        .size = sizeof schedule, .name = pool.handler, .handler = pool.handler, .rule = "every 1h"};
    atomic_store(&polled, false);
    must(tp_retention_set(pool.a, "finished", 0, "test"));
    must(tp_schedule_add(pool.a, &schedule));
    size_t asked = faults_at(.fits = is_asked_at_rest), polls = faults_count("claim_lanes");
    size_t pauses = faults_count("pause_list"), fires = faults_count("schedule_wait");
    size_t heartbeats = faults_count("worker_update"), cleanings = faults_count("cancel_due");
    tp_worker *worker = rig_start_with(0, rig_done, .schedules = 1);
    rig_await_seen(polls, POLLS);
    rig_stop(worker);
    assert_in_range(faults_seen(pauses), 0, 1);
    int most = faults_seen(polls) * A_POLL + faults_seen(fires) * A_FIRE +
               faults_seen(heartbeats) * A_HEARTBEAT + faults_seen(cleanings) * A_CLEANING;
    assert_in_range(faults_seen(asked), POLLS, most);
    must(tp_schedule_remove(pool.a, pool.handler));
}

TEST(test_maintenance__settled_rows_past_their_time_are_deleted_by_the_worker) {
    must(tp_retention_set(pool.a, "finished", 60000, "test"));
    tp_worker *worker = rig_start(3, rig_done);
    rig_await(TP_EVENT_DONE, 3);
    rig_stop(worker);
    rig_expect(0, 3, 0);
    must(rig_advance(pool.a, RIG_LEASE_OVER_MS));
    worker = rig_start(0, rig_done);
    for (int tries = 0; rig_count("finished") && tries < 30000; tries++)
        rig_pause_10_ms();
    rig_stop(worker);
    must(tp_retention_set(pool.a, "finished", 0, "test"));
    rig_expect(0, 0, 0);
}

TEST(test_on_lapse__is_a_policy_of_each_handler) {
    tp_retry skips = *RIG_DELAYS(1000);
    tp_batch *batch = NULL;
    skips.on_lapse = TP_LAPSE_SKIP;
    char first[sizeof pool.handler];
    memcpy(first, pool.handler, sizeof first);
    tp_worker *worker = rig_open(rig_done);
    rig_put(1, "x");
    pool.handler[0] = 'w';
    must(tp_worker_handle_with(worker, pool.handler, rig_done, NULL, &skips));
    rig_put(1, "x");
    const char *both[] = {first, pool.handler};
    tp_claim_request request = {.size = sizeof request, .handlers = both, .handler_count = 2};
    must(rig_advance(pool.a, CLOCKS_DIFFER_MS));
    must(tp_claim(pool.b, &request, &batch)); /* by one that dies */
    expect_number(tp_batch_count(batch), 2);
    tp_batch_free(batch);
    must(rig_advance(pool.a, RIG_LEASE_OVER_MS));
    tp_status status = tp_worker_step(worker, NULL);
    if (status < TP_OK) must(status);
    expect_number(rig_count_state("finished", "skipped"), 1);
    memcpy(pool.handler, first, sizeof first);
    expect_number(rig_count_state("finished", "done"), 1);
    rig_expect(.failures = 1);
    rig_stop(worker);
}

/* By the clock of every session, however roughly it is known. */
static const int64_t long_ago = 1000000000000;

/* A worker that polls at once while tasks come, and after a while once an hour. */
static tp_worker *start_warm(const char *plan) {
    return rig_start_with(0, rig_done, .plan = plan, .hot_ms = 1, .poll_ms = NEVER_MS);
}

/* As if another process had put it: nothing wakes the worker for it, and its longest pause is an hour. */
static void find_the_next(const char *plan) {
    rig_put_one(.delay_ms = NEVER_MS);
    tp_worker *worker = start_warm(plan);
    rig_put(1, "x");
    rig_await(TP_EVENT_DONE, 1);
    expect_number(rig_set_due(long_ago), 1);
    rig_await(TP_EVENT_DONE, 2);
    rig_stop(worker);
    rig_expect(0, 2, 0);
}

TEST_AS(test_pace__after_a_task_the_next_is_found_without_a_wake, find_the_next(NULL))

TEST(test_pace__with_plan_hold_too) {
    if (pool_plan_possible("hold")) find_the_next("hold");
}

/* Nobody was in this process to be woken for the first. */
static void find_the_next_after_polling(const char *plan) {
    rig_put_one(.delay_ms = NEVER_MS);
    rig_put_one(.due_at = long_ago);
    tp_worker *worker = start_warm(plan);
    rig_await(TP_EVENT_DONE, 1);
    expect_number(rig_set_due(long_ago), 1);
    rig_await(TP_EVENT_DONE, 2);
    rig_stop(worker);
}

TEST_AS(test_pace__after_a_task_found_by_polling_the_next_is_found_too, find_the_next_after_polling(NULL))

TEST(test_pace__with_plan_hold_it_is_found_too) {
    if (pool_plan_possible("hold")) find_the_next_after_polling("hold");
}

/* One who put in a task for later may put in more, perhaps from elsewhere. */
static void poll_again(const char *plan) {
    size_t polls = faults_count("claim_lanes");
    size_t begins = faults_count("begin");
    tp_worker *worker = start_warm(plan);
    assert_true(plan ? faults_wait_seen(begins, 1) : faults_wait_seen(polls, 1));
    rig_put_one(.delay_ms = NEVER_MS);
    rig_await_seen(polls, faults_seen(polls) + 8);
    rig_stop(worker);
}

TEST_AS(test_pace__after_a_wake_that_found_nothing_it_polls_again_soon, poll_again(NULL))

TEST(test_pace__after_a_wake_plan_hold_polls_again_soon) {
    if (pool_plan_possible("hold")) poll_again("hold");
}

/* The wake says which tasks came, and the claim takes those alone; what came from elsewhere must not wait for
 * the next pause, which here is an hour. */
static void find_the_others(const char *plan) {
    rig_put_one(.delay_ms = NEVER_MS, .priority = 5);
    size_t claims = faults_count(plan ? "begin" : "claim_lanes");
    tp_worker *worker = rig_start_with(0, rig_done, .plan = plan, .poll_ms = NEVER_MS);
    rig_await_seen(claims, 1);
    expect_number(rig_set_due(long_ago), 1);
    rig_put_one(.due_at = long_ago);
    rig_await(TP_EVENT_DONE, 2);
    rig_stop(worker);
    rig_expect(0, 2, 0);
}

TEST_AS(test_pace__a_wake_for_some_tasks_leaves_no_others_behind, find_the_others(NULL))

TEST(test_pace__a_wake_with_plan_hold_leaves_none_either) {
    if (pool_plan_possible("hold")) find_the_others("hold");
}

/* A worker with more urgent tasks than it has room for is woken for a less urgent one. */
static atomic_int urgent_begun, begun_before_other;

HANDLER(note_order) {
    int none = -1;
    if (tp_run_task(run)->priority == 0)
        atomic_fetch_add(&urgent_begun, 1);
    else
        atomic_compare_exchange_strong(&begun_before_other, &none, atomic_load(&urgent_begun));
    return rig_wait(run, arg);
}

TEST(test_pace__a_wake_lets_nothing_go_before_more_urgent_tasks) {
    atomic_store(&urgent_begun, 0);
    atomic_store(&begun_before_other, -1);
    tp_worker *worker = rig_start_with(12, note_order, .threads = 1, .queue = 2);
    rig_await_arrived(2);
    rig_put_one(.priority = 5);
    gate_open(&rig.gate);
    rig_await(TP_EVENT_DONE, 13);
    rig_stop(worker);
    /* Three more were claimed with the last at most: one runs, two wait. */
    if (atomic_load(&begun_before_other) < 9)
        fail_msg("only %d of 12 more urgent tasks went first", atomic_load(&begun_before_other));
}

TEST(test_pace__plan_hold_begins_no_transaction_while_nothing_comes) {
    if (!pool_plan_possible("hold")) return;
    size_t polls = faults_count("claim_lanes");
    size_t begins = faults_at(.statement = "begin", .after = "claim_lanes"); /* maintenance polls nothing */
    tp_worker *worker = rig_start_with(0, rig_done, .plan = "hold", .poll_ms = 1);
    rig_await_seen(polls, 20);
    int begun = faults_seen(begins);
    rig_stop(worker);
    assert_in_range(begun, 0, 3);
}

TEST(test_drain__of_a_worker_with_shards_waits_for_none_of_the_others) {
    static const int32_t mine[] = {1, 2};
    rig_put_one(.delay_ms = NEVER_MS, .shard = 3);
    rig_put_one(.delay_ms = NEVER_MS, .shard = 2);
    tp_worker *worker = rig_start_with(0, rig_done, .drain = 1, .shards = mine, .shard_count = 2);
    size_t polls = faults_count("claim_lanes");
    rig_await_seen(polls, 4);
    assert_string_not_equal(rig_info(worker).state, "ended");
    expect_number(rig_set_due(long_ago), 2);
    rig_await(TP_EVENT_DONE, 1);
    rig_finish(worker);
    rig_expect(1, 1, 0);
}
