/* How tasks flow through a worker: the queue and what is done when it is full, threads that come and go,
 * wake-ups, groups of settles, tasks that are in flight already, the stop's deadline. */
#include "worker/rig.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ops/conn.h"

enum { NEVER_MS = 3600000 };

/* ---- Wake-ups ------------------------------------------------------------------------------------------ */

static void put_one_and_await(int told) {
    rig_put(1, "x");
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, told));
}

static void test_wake__an_enqueue_in_this_process_is_claimed_at_once(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    tp_new_task task = TP_NEW_TASK_INIT;
    /* Clocks that sessions carry on are apart by as much as an answer took: to the claimer it may not be due
     * yet. */
    bool carried = strncmp(pool.entry, "generic", strlen("generic")) == 0;
    o.poll_ms = carried ? 100 : NEVER_MS;
    size_t claims = faults_add((struct faults_aim){.statement = "claim_lanes"});
    tp_worker *worker = rig_start(&o, rig_done);
    assert_true(faults_wait_seen(claims, 1));
    put_one_and_await(1);
    put_one_and_await(2);
    task.handler = pool.handler;
    must(tp_begin(pool.a));
    must(tp_enqueue(pool.a, &task));
    must(tp_commit(pool.a));
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 3));
    rig_stop_and_finish(worker);
}

/* ---- The queue ----------------------------------------------------------------------------------------- */

static void test_queue__when_it_is_full_the_claimer_runs_the_next_task(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    o.threads = 1;
    o.queue = 2;
    rig_put(6, "x");
    tp_worker *worker = rig_start(&o, rig_wait);
    assert_true(gate_wait_arrived(&rig.gate, 2));
    tp_worker_info info = rig_info(worker);
    expect_number(info.threads, 1);
    expect_number(info.running, 2);
    if (info.claimed > 3) fail_msg("%d tasks were claimed, with room for 3", (int)info.claimed);
    gate_open(&rig.gate);
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 6));
    rig_stop_and_finish(worker);
    rig_expect(0, 6, 0);
}

static void test_queue__abort_puts_back_what_finds_no_room(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    o.threads = 1;
    o.queue = 2;
    o.when_full = TP_FULL_ABORT;
    o.poll_ms = NEVER_MS;
    /* Until the thread is there, for the count below, and until the tasks are due by every session's clock.
     */
    o.initial_delay_ms = pool_on_generic() ? 1500 : 300;
    rig_put(10, "x");
    tp_worker *worker = rig_start(&o, rig_wait);
    assert_true(watch_wait(&rig.watch, TP_EVENT_RELEASED, 7));
    assert_true(gate_wait_arrived(&rig.gate, 1));
    expect_number(rig_count_state("pending", "pending"), 7);
    expect_number(rig_count_state("pending", "handling"), 3);
    gate_open(&rig.gate);
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 3));
    rig_stop_and_finish(worker);
    rig_expect(7, 3, 0);
    expect_number(rig_failures("pending"), 0);
    expect_number(rig_told(TP_EVENT_CLAIMED), 10);
}

static void test_threads__come_with_the_tasks_and_go_when_idle(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    o.threads = 1;
    o.threads_max = 4;
    o.keep_alive_ms = 100;
    rig_put(6, "x");
    tp_worker *worker = rig_start(&o, rig_wait);
    assert_true(gate_wait_arrived(&rig.gate, 4));
    expect_number(rig_info(worker).threads, 4);
    gate_open(&rig.gate);
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 6));
    const struct timespec pause = {.tv_sec = 0, .tv_nsec = 10000000};
    for (int tries = 0; rig_info(worker).threads > 1 && tries < 30000; tries++)
        nanosleep(&pause, NULL);
    expect_number(rig_info(worker).threads, 1);
    rig_put(6, "x"); /* and they come again */
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 12));
    rig_stop_and_finish(worker);
}

/* ---- Connections and counts ---------------------------------------------------------------------------- */

static void test_look__shows_the_state_and_few_connections(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    o.threads = 8;
    tp_worker *worker = rig_open(&o, rig_wait, NULL);
    assert_string_equal(rig_info(worker).state, "open");
    rig_put(8, "x");
    must(tp_worker_start(worker));
    assert_true(gate_wait_arrived(&rig.gate, 8));
    assert_string_equal(rig_info(worker).state, "running");
    expect_number(rig_info(worker).running, 8);
    expect_number(rig_info(worker).connections, 1);
    gate_open(&rig.gate);
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 8));
    tp_worker_info info = rig_info(worker);
    expect_number(info.claimed, 8);
    expect_number(info.done, 8);
    expect_number(info.connections, 2); /* the claimer's and the settler's */
    tp_worker_stop(worker);
    must(tp_worker_join(worker));
    assert_string_equal(rig_info(worker).state, "ended");
    expect_number(rig_info(worker).connections, 0);
    rig_finish(worker);
}

/* ---- Groups -------------------------------------------------------------------------------------------- */

static void test_settle__completions_go_together(void **state) {
    (void)state;
    tp_worker_options o = rig_options();
    o.batch = 100;
    o.settle_ms = 2000;
    o.settle_count = 25;
    rig_put(100, "x");
    size_t many = faults_add((struct faults_aim){.statement = "move_finished_many"});
    size_t single = faults_add((struct faults_aim){.statement = "move_finished"});
    rig_finish(rig_start(&o, rig_done));
    rig_expect(0, 100, 0);
    expect_number(rig_told(TP_EVENT_DONE), 100);
    int settles = faults_seen(single) + faults_seen(many);
    if (settles > 50) fail_msg("100 tasks took %d settles", settles);
}

static void test_settle__a_group_whose_answer_is_lost_is_asked_again(void **state) {
    (void)state;
    bool in_two = (pool.eye->store.caps & TPI_CAP_MOVE_IN_TWO) != 0;
    tp_worker_options o = rig_options();
    o.batch = 40;
    o.settle_ms = 2000;
    rig_put(40, "x");
    size_t aim = faults_add((struct faults_aim){.statement = in_two ? "commit" : "move_finished_many",
                                                .after = in_two ? "move_delete_many" : NULL,
                                                .fault = TPI_FAULT_ANSWER_LOST,
                                                .kind = FAULTS_DEAD,
                                                .times = 1});
    rig_finish(rig_start(&o, rig_done));
    expect_number(faults_hits(aim), 1);
    rig_expect(0, 40, 0);
    expect_number(rig_failures("finished"), 0);
    expect_number(rig_told(TP_EVENT_DONE), 40);
    expect_number(rig_told(TP_EVENT_LOST), 0);
    expect_number(atomic_load(&rig.runs), 40);
}

static void test_settle__a_group_that_cannot_be_written_goes_one_by_one(void **state) {
    (void)state;
    tp_worker_options o = rig_options();
    o.settle_ms = 2000;
    rig_put(10, "x");
    size_t aim = faults_add((struct faults_aim){.statement = "move_finished_many",
                                                .fault = TPI_FAULT_NOT_SENT,
                                                .kind = FAULTS_PERMANENT,
                                                .times = 1000});
    /* Three end at once while others wait: a group. */
    tp_worker *worker = rig_start(&o, rig_wait);
    assert_true(gate_wait_arrived(&rig.gate, 3));
    assert_true(watch_wait(&rig.watch, TP_EVENT_CLAIMED, 10));
    gate_open(&rig.gate);
    rig_finish(worker);
    if (faults_hits(aim) < 1) fail_msg("there was no group");
    rig_expect(0, 10, 0);
    expect_number(rig_failures("finished"), 0);
    expect_number(rig_told(TP_EVENT_ERROR), 0);
}

static tp_verdict be_robbed_first(tp_run *run, void *arg) {
    (void)arg;
    if (atomic_fetch_add(&rig.runs, 1) == 0) return rig_steal(tp_run_task(run)) ? TP_RUN_DONE : TP_RUN_FAILED;
    return TP_RUN_DONE;
}

static void test_settle__a_lost_claim_in_a_group_leaves_the_others_done(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    o.threads = 1;
    o.settle_ms = 2000;
    rig_put(5, "x");
    tp_worker *worker = rig_start(&o, be_robbed_first);
    assert_true(watch_wait(&rig.watch, TP_EVENT_LOST, 1));
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 4));
    rig_stop_and_finish(worker);
    rig_expect(1, 4, 0);
}

/* ---- Verdicts and policies ----------------------------------------------------------------------------- */

static tp_verdict fail_for_good(tp_run *run, void *arg) {
    (void)arg;
    tp_run_no_retry(run);
    tp_run_reason(run, "no such employee");
    return TP_RUN_FAILED;
}

static void test_no_retry__goes_to_the_failed_pool_at_once(void **state) {
    (void)state;
    rig_put(2, "x");
    rig_run(fail_for_good);
    rig_expect(0, 0, 2);
    expect_number(rig_failures("failed"), 2);
    expect_number(rig_told(TP_EVENT_GAVE_UP), 2);
    expect_number(rig_told(TP_EVENT_RETRY), 0);
}

static void test_handle_with__gives_a_handler_its_own_policy(void **state) {
    (void)state;
    const tp_retry none = {.size = sizeof(tp_retry), .delays_ms = NULL, .count = 0};
    tp_worker_options o = rig_options();
    tp_worker *worker = rig_open(&o, rig_done, NULL);
    char other[sizeof pool.handler];
    memcpy(other, pool.handler, sizeof other);
    pool.handler[0] = 'y';
    must(tp_worker_handle_with(worker, pool.handler, rig_fail, NULL, &none));
    rig_put(2, "x");
    must(tp_worker_start(worker));
    rig_finish(worker);
    rig_expect(0, 0, 2);
    expect_number(rig_failures("failed"), 2);
}

/* ---- In flight ----------------------------------------------------------------------------------------- */

/* In its transaction when arg is not NULL. */
static tp_verdict outlive_the_lease(tp_run *run, void *arg) {
    atomic_fetch_add(&rig.runs, 1);
    gate_pass(&rig.gate);
    if (tp_run_lost(run)) return TP_RUN_FAILED;
    return arg ? rig_effect(run, TP_RUN_DONE) : TP_RUN_DONE;
}

static void goes_on_under_the_third_claim(void *pays) {
    tp_worker_options o = rig_options();
    o.lease_ms = 60000;
    rig_put(1, "x");
    tp_worker *worker = rig_open(&o, outlive_the_lease, pays);
    must(tp_worker_start(worker));
    assert_true(gate_wait_arrived(&rig.gate, 1));
    for (int i = 2; i <= 3; i++) {
        must(tp_test_advance(pool.a, 61000));
        assert_true(watch_wait(&rig.watch, TP_EVENT_CLAIMED, i));
    }
    gate_open(&rig.gate);
    rig_finish(worker);
    expect_number(atomic_load(&rig.runs), 1);
    expect_number(rig_told(TP_EVENT_LOST) + rig_told(TP_EVENT_RELEASED), 0);
    expect_number(rig_told(TP_EVENT_DONE), 1);
    rig_expect(0, 1, 0);
    expect_number(rig_failures("finished"), 2); /* the lapses */
}

static void test_flight__a_task_whose_lease_lapsed_here_is_not_run_beside_itself(void **state) {
    (void)state;
    goes_on_under_the_third_claim(NULL);
}

static void test_flight__what_such_a_task_pays_is_settled_with_its_last_claim(void **state) {
    (void)state;
    goes_on_under_the_third_claim(&rig);
    expect_number(rig_effects(), 1);
}

static void await_second_claim(struct tpi_link *link, void *arg) {
    (void)link;
    (void)arg;
    watch_wait(&rig.watch, TP_EVENT_CLAIMED, 2);
}

static tp_verdict put_back_once(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    return atomic_fetch_add(&rig.runs, 1) ? TP_RUN_DONE : TP_RUN_LATER;
}

/* The release is stored, and its answer is not here yet. */
static void test_flight__a_task_put_back_is_taken_again_while_its_settle_has_no_answer(void **state) {
    (void)state;
    size_t aim = faults_add((struct faults_aim){
        .statement = "settle_release", .function = "SQLRowCount", .times = 1, .meet = await_second_claim});
    tp_worker_options o = rig_options();
    o.lease_ms = 6000;
    rig_put(1, "x");
    rig_finish(rig_start(&o, put_back_once));
    expect_number(faults_hits(aim), 1);
    expect_number(atomic_load(&rig.runs), 2);
    expect_number(rig_told(TP_EVENT_CLAIMED), 2);
    expect_number(rig_told(TP_EVENT_RELEASED), 1);
    expect_number(rig_told(TP_EVENT_LOST), 0);
    rig_expect(0, 1, 0);
}

/* ---- The stop's deadline ------------------------------------------------------------------------------- */

static const struct timespec pause_20_ms = {.tv_sec = 0, .tv_nsec = 20000000};

/* The deadline is over, so a join only looks whether the handlers have ended. */
static tp_status join_in_time(tp_worker *worker) {
    tp_status status = tp_worker_join(worker);
    for (int tries = 0; status == TP_TIMEOUT && tries < 15000; tries++) {
        nanosleep(&pause_20_ms, NULL);
        status = tp_worker_join(worker);
    }
    return status;
}

static bool claimable_again(void) {
    tp_claim_request request = TP_CLAIM_INIT;
    tp_batch *batch = NULL;
    request.handlers = pool.handlers;
    request.handler_count = 1;
    for (int tries = 0; tries < 15000; tries++) {
        if (tp_claim(pool.b, &request, &batch) == TP_OK) break;
        nanosleep(&pause_20_ms, NULL);
    }
    bool got = batch != NULL;
    tp_batch_free(batch);
    return got;
}

static void test_stop__past_its_deadline_lets_the_leases_go_and_may_be_joined_again(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    o.lease_ms = 600;
    o.stop_ms = 200;
    rig_put(1, "x");
    tp_worker *worker = rig_start(&o, rig_wait);
    assert_true(gate_wait_arrived(&rig.gate, 1));
    tp_worker_stop(worker);
    expect(TP_TIMEOUT, tp_worker_join(worker));
    expect(TP_TIMEOUT, tp_worker_join(worker));
    assert_string_equal(rig_info(worker).state, "stopping");
    pool.handlers[0] = pool.handler;
    assert_true(claimable_again());
    gate_open(&rig.gate);
    must(join_in_time(worker));
    rig_finish(worker);
    expect_number(rig_count("finished"), 0);
    expect_number(rig_told(TP_EVENT_DONE), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RIG_TEST(test_wake__an_enqueue_in_this_process_is_claimed_at_once),
        RIG_TEST(test_queue__when_it_is_full_the_claimer_runs_the_next_task),
        RIG_TEST(test_queue__abort_puts_back_what_finds_no_room),
        RIG_TEST(test_threads__come_with_the_tasks_and_go_when_idle),
        RIG_TEST(test_look__shows_the_state_and_few_connections),
        RIG_TEST(test_flight__a_task_put_back_is_taken_again_while_its_settle_has_no_answer),
        RIG_TEST(test_settle__completions_go_together),
        RIG_TEST(test_settle__a_group_whose_answer_is_lost_is_asked_again),
        RIG_TEST(test_settle__a_group_that_cannot_be_written_goes_one_by_one),
        RIG_TEST(test_settle__a_lost_claim_in_a_group_leaves_the_others_done),
        RIG_TEST(test_no_retry__goes_to_the_failed_pool_at_once),
        RIG_TEST(test_handle_with__gives_a_handler_its_own_policy),
        RIG_TEST(test_flight__a_task_whose_lease_lapsed_here_is_not_run_beside_itself),
        RIG_TEST(test_flight__what_such_a_task_pays_is_settled_with_its_last_claim),
        RIG_TEST(test_stop__past_its_deadline_lets_the_leases_go_and_may_be_joined_again),
    };
    rig_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rig_end();
    return failed;
}
