/* How tasks flow through a worker: the queue and what is done when it is full, threads that come and go,
 * wake-ups, groups of settles, tasks that are in flight already, the stop's deadline. */
#include "worker/rig.h"

#include "ops/conn.h"
#include "worker/worker.h"

enum { NEVER_MS = 3600000 };

static void put_one_and_await(int told) {
    rig_put(1, "x");
    rig_await(TP_EVENT_DONE, told);
}

TEST(test_wake__an_enqueue_in_this_process_is_claimed_at_once) {
    /* Clocks that sessions carry on are apart by as much as an answer took: to the claimer it may not be due
     * yet. */
    bool carried = strncmp(pool.entry, "generic", strlen("generic")) == 0;
    size_t claims = faults_count("claim_lanes");
    tp_worker *worker = rig_start_with(0, rig_done, .poll_ms = carried ? 100 : NEVER_MS);
    rig_await_seen(claims, 1);
    put_one_and_await(1);
    put_one_and_await(2);
    must(tp_begin(pool.a));
    rig_put_one(.priority = 0);
    must(tp_commit(pool.a));
    rig_await(TP_EVENT_DONE, 3);
    rig_stop(worker);
}

/* It has room for one, too. */
MEET(await_idle_thread) {
    tp_worker *worker = arg;
    bool idle = false;
    for (int i = 0; !idle && i < 30000; i++) {
        pthread_mutex_lock(&worker->queue.lock);
        idle = worker->queue.idle == 1;
        pthread_mutex_unlock(&worker->queue.lock);
        if (!idle) rig_pause_10_ms();
    }
}

TEST(test_queue__when_it_is_full_one_more_thread_helps) {
    size_t polls = faults_count("claim_lanes");
    tp_worker *worker = rig_start_with(0, rig_wait, .threads = 1, .queue = 2, .keep_alive_ms = 100);
    await_idle_thread(NULL, worker);
    rig_await_seen(polls, faults_seen(polls) + 2); /* the next claim takes that thread's room, too */
    rig_put(6, "x");
    rig_await_arrived(2);
    tp_worker_info info = rig_info(worker);
    expect_number(info.threads, 2);
    expect_number(info.running, 2);
    if (info.claimed > 4) fail_msg("%d tasks were claimed, with room for 4", (int)info.claimed);
    gate_open(&rig.gate);
    rig_await(TP_EVENT_DONE, 6);
    for (int tries = 0; rig_info(worker).threads > 1 && tries < 30000; tries++)
        rig_pause_10_ms();
    expect_number(rig_info(worker).threads, 1);
    rig_stop(worker);
    rig_expect(0, 6, 0);
}

/* The first calls, each held by a gate of its own. */
static struct held {
    pthread_t thread;
    struct gate gate;
} held[3];

static pthread_t claimer;

MEET(note_claimer) {
    claimer = pthread_self();
}

HANDLER(be_held) {
    int n = atomic_fetch_add(&rig.runs, 1);
    if (n >= 3) return TP_RUN_DONE;
    held[n].thread = pthread_self();
    gate_pass(&held[n].gate);
    return TP_RUN_DONE;
}

/* Gives the one that is left: the claimer's, if it runs one, else the last. */
static struct held *release_all_but_one(void) {
    struct held *left = &held[2];
    for (int i = 0; i < 3; i++) {
        assert_true(gate_wait_arrived(&held[i].gate, 1));
        if (pthread_equal(held[i].thread, claimer)) left = &held[i];
    }
    for (int i = 0; i < 3; i++)
        if (&held[i] != left) gate_open(&held[i].gate);
    return left;
}

static void put_what_is_due_now(void) {
    tp_schedule schedule = {
        .size = sizeof schedule, .name = pool.handler, .handler = pool.handler, .rule = "every 1h"};
    must(tp_schedule_add(pool.a, &schedule));
    rig_put(1, "x");
    must(rig_advance(pool.a, 3600000));
}

TEST(test_queue__a_task_that_runs_for_long_when_it_is_full_holds_up_nothing_else) {
    enum { TASKS = 20 };
    for (int i = 0; i < 3; i++)
        gate_init(&held[i].gate);
    rig_put(TASKS, "x");
    tp_worker *worker = rig_open_with(be_held, .threads = 2, .queue = 4, .schedules = 1);
    faults_at(.statement = rig_claim_statement(), .times = 1, .meet = note_claimer);
    must(tp_worker_start(worker));
    struct held *left = release_all_but_one();
    rig_await(TP_EVENT_DONE, TASKS - 1);
    put_what_is_due_now();
    rig_await(TP_EVENT_DONE, TASKS + 1);
    gate_open(&left->gate);
    rig_await(TP_EVENT_DONE, TASKS + 2);
    rig_stop(worker);
    must(tp_schedule_remove(pool.a, pool.handler));
    rig_expect(0, TASKS + 2, 0, .runs = TASKS + 2);
}

TEST(test_queue__abort_puts_back_what_finds_no_room) {
    rig_put(10, "x");
    (void)rig_set_due(1000); /* by every session's clock */
    tp_worker *worker =
        rig_open_with(rig_wait, .threads = 1, .queue = 2, .when_full = TP_FULL_ABORT, .poll_ms = NEVER_MS);
    faults_at(.statement = rig_claim_statement(), .times = 1, .meet = await_idle_thread, .arg = worker);
    must(tp_worker_start(worker));
    rig_await(TP_EVENT_RELEASED, 7);
    rig_await_arrived(1);
    expect_number(rig_count_state("pending", "pending"), 7);
    expect_number(rig_count_state("pending", "handling"), 3);
    gate_open(&rig.gate);
    rig_await(TP_EVENT_DONE, 3);
    rig_stop(worker);
    rig_expect(7, 3, 0, .failures = 0, .claimed = 10);
}

TEST(test_threads__come_with_the_tasks_and_go_when_idle) {
    tp_worker *worker = rig_start_with(6, rig_wait, .threads = 1, .threads_max = 4, .keep_alive_ms = 100);
    rig_await_arrived(4);
    expect_number(rig_info(worker).threads, 4);
    gate_open(&rig.gate);
    rig_await(TP_EVENT_DONE, 6);
    for (int tries = 0; rig_info(worker).threads > 1 && tries < 30000; tries++)
        rig_pause_10_ms();
    expect_number(rig_info(worker).threads, 1);
    rig_put(6, "x"); /* and they come again */
    rig_await(TP_EVENT_DONE, 12);
    rig_stop(worker);
}

TEST(test_about__shows_the_state_and_few_connections) {
    int64_t heartbeat_ms = tpi_heartbeat_every_ms;
    rig_look_for_no_cancels();
    tpi_heartbeat_every_ms = NEVER_MS; /* a late one takes another connection */
    tp_worker *worker =
        rig_open_with(rig_wait, .threads = 8, .lease_ms = 600000 /* an extension takes another */);
    assert_string_equal(rig_info(worker).state, "open");
    rig_put(8, "x");
    must(tp_worker_start(worker));
    rig_await_arrived(8);
    assert_string_equal(rig_info(worker).state, "running");
    expect_number(rig_info(worker).running, 8);
    expect_number(rig_info(worker).connections, 1);
    gate_open(&rig.gate);
    rig_await(TP_EVENT_DONE, 8);
    tp_worker_info info = rig_info(worker);
    expect_number(info.claimed, 8);
    expect_number(info.done, 8);
    expect_number(info.connections, 2); /* the claimer's and the completer's */
    tp_worker_stop(worker);
    must(tp_worker_join(worker));
    assert_string_equal(rig_info(worker).state, "ended");
    expect_number(rig_info(worker).connections, 0);
    rig_finish(worker);
    tpi_heartbeat_every_ms = heartbeat_ms;
}

TEST(test_settle__completions_go_together) {
    size_t many = faults_count("move_finished_many");
    size_t single = faults_count("move_finished");
    rig_run_with(100, rig_done, .batch = 100, .settle_ms = 2000, .settle_count = 25);
    rig_expect(0, 100, 0, .done = 100);
    int settles = faults_seen(single) + faults_seen(many);
    if (settles > 50) fail_msg("100 tasks took %d settles", settles);
}

TEST(test_settle__a_group_whose_answer_is_lost_is_asked_again) {
    bool in_two = (pool.eye->store.caps & TPI_CAP_MOVE_IN_TWO) != 0;
    struct faults_aim settle = {.statement = in_two ? "commit" : "move_finished_many",
                                .after = in_two ? "move_delete_many" : NULL};
    faults_lose(settle, TPI_FAULT_ANSWER_LOST, 0, 1);
    rig_run_with(40, rig_done, .batch = 40, .settle_ms = 2000);
    rig_expect(0, 40, 0, .failures = 0, .runs = 40, .done = 40, .lost = 0, .hits = 1);
}

TEST(test_settle__a_group_that_cannot_be_written_goes_one_by_one) {
    size_t aim = faults_refuse("move_finished_many", FAULTS_PERMANENT, 0, 1000);
    /* Three end at once while others wait: a group. */
    tp_worker *worker = rig_start_with(10, rig_wait, .drain = 1, .settle_ms = 2000);
    rig_await_arrived(3);
    rig_await(TP_EVENT_CLAIMED, 10);
    rig_let_finish(worker);
    if (faults_hits(aim) < 1) fail_msg("there was no group");
    rig_expect(0, 10, 0, .failures = 0, .errors = 0);
}

HANDLER(be_robbed_first) {
    if (atomic_fetch_add(&rig.runs, 1) == 0) return rig_steal(tp_run_task(run)) ? TP_RUN_DONE : TP_RUN_FAILED;
    return TP_RUN_DONE;
}

TEST(test_settle__a_lost_claim_in_a_group_leaves_the_others_done) {
    tp_worker *worker = rig_start_with(5, be_robbed_first, .threads = 1, .settle_ms = 2000);
    rig_await(TP_EVENT_LOST, 1);
    rig_await(TP_EVENT_DONE, 4);
    rig_stop(worker);
    rig_expect(1, 4, 0);
}

TEST(test_no_retry__goes_to_the_failed_pool_at_once) {
    rig_run(2, rig_fail_for_good);
    rig_expect(0, 0, 2, .failures = 2, .retried = 0, .gave_up = 2);
}

TEST(test_handle_with__gives_a_handler_its_own_policy) {
    tp_worker *worker = rig_open_with(rig_done, .drain = 1);
    pool.handler[0] = 'y';
    must(tp_worker_handle_with(worker, pool.handler, rig_fail, NULL, &rig_no_retries));
    rig_put(2, "x");
    must(tp_worker_start(worker));
    rig_finish(worker);
    rig_expect(0, 0, 2, .failures = 2);
}

/* In its transaction when arg is not NULL. */
HANDLER(outlive_the_lease) {
    atomic_fetch_add(&rig.runs, 1);
    gate_pass(&rig.gate);
    if (tp_run_lost(run)) return TP_RUN_FAILED;
    return arg ? rig_effect(run, TP_RUN_DONE) : TP_RUN_DONE;
}

/* The lease is so long that no extension comes between a lapse and the claim. */
static void goes_on_under_the_third_claim(void *pays) {
    enum { LEASE_MS = 600000 };
    rig.arg = pays;
    size_t polls = faults_count("claim_lanes");
    tp_worker *worker = rig_start_with(1, outlive_the_lease, .drain = 1, .lease_ms = LEASE_MS);
    rig_await_arrived(1);
    for (int i = 2; i <= 3; i++) {
        must(rig_advance(pool.a, LEASE_MS + 30000));
        rig_await(TP_EVENT_CLAIMED, i);
        /* Who polls again has dealt with what was claimed. */
        assert_true(faults_wait_seen(polls, faults_seen(polls) + 1));
    }
    rig_let_finish(worker);
    rig_expect(0, 1, 0, .failures = 2 /* the lapses */, .runs = 1, .done = 1, .released = 0, .lost = 0);
}

TEST_AS(test_in_flight__a_task_whose_lease_lapsed_here_is_not_run_beside_itself,
        goes_on_under_the_third_claim(NULL))

TEST(test_in_flight__what_such_a_task_pays_is_settled_with_its_last_claim) {
    goes_on_under_the_third_claim(&rig);
    rig_expect(.effects = 1);
}

MEET(await_second_claim) {
    watch_wait(&rig.watch, TP_EVENT_CLAIMED, 2);
}

HANDLER(put_back_once) {
    return atomic_fetch_add(&rig.runs, 1) ? TP_RUN_DONE : TP_RUN_LATER;
}

/* The release is stored, and its answer is not here yet. */
TEST(test_in_flight__a_task_put_back_is_taken_again_while_its_settle_has_no_answer) {
    faults_at(.statement = "settle_release", .function = "SQLRowCount", .times = 1,
              .meet = await_second_claim);
    rig_run(1, put_back_once);
    rig_expect(0, 1, 0, .runs = 2, .claimed = 2, .released = 1, .lost = 0, .hits = 1);
}

/* Of the worker below. */
static struct gate lost;
static atomic_bool stepped;

static void wait_when_lost(tp_event event, const tp_task *task, const char *text, void *arg) {
    (void)task;
    (void)text;
    (void)arg;
    if (event == TP_EVENT_LOST) gate_pass(&lost);
}

HANDLER(wait_and_fail) {
    (void)rig_wait(run, arg);
    return TP_RUN_FAILED;
}

/* A step may find nothing yet: the task's time has just come. */
static void *step_and_close(void *worker) {
    do
        (void)!tp_worker_step(worker, NULL);
    while (!atomic_load(&rig.runs));
    atomic_store(&stepped, true);
    tp_worker_close(worker);
    return NULL;
}

/* The second worker says to the first that its claim is lost, while that steps and is closed. */
TEST(test_in_flight__a_worker_that_steps_outlives_what_another_says_of_its_task) {
    tp_worker *stepping = NULL;
    pthread_t thread;
    gate_init(&lost);
    atomic_store(&stepped, false);
    rig_put(1, "x");
    must(tp_worker_open(pool.env, &RIG_OPTIONS(.drain = 0, .on_event = wait_when_lost), &stepping));
    must(tp_worker_handle(stepping, pool.handler, wait_and_fail, NULL));
    pthread_create(&thread, NULL, step_and_close, stepping);
    rig_await_arrived(1);
    tp_worker *other = rig_start(0, rig_done);
    sql_run(pool.eye,
            "UPDATE tp_pending SET state = 'pending', owner = NULL, due_at = 0 WHERE handler = '%s'",
            pool.handler);
    assert_true(gate_wait_arrived(&lost, 1));
    gate_open(&rig.gate);
    for (int i = 0; !atomic_load(&stepped) && i < 30000; i++)
        rig_pause_10_ms();
    for (int i = 0; i < 30; i++)
        rig_pause_10_ms(); /* the close begins */
    gate_open(&lost);
    pthread_join(thread, NULL);
    rig_await(TP_EVENT_RELEASED, 1);
    rig_stop(other);
    rig_expect(1, 0, 0, .runs = 1);
    rig_delete_pending();
}

/* The deadline is over, so a join only looks whether the handlers have ended. */
static tp_status join_in_time(tp_worker *worker) {
    tp_status status = tp_worker_join(worker);
    for (int tries = 0; status == TP_TIMEOUT && tries < 30000; tries++) {
        rig_pause_10_ms();
        status = tp_worker_join(worker);
    }
    return status;
}

/* An extension may be on its way yet. */
static bool claimable_again(void) {
    tp_batch *batch = NULL;
    for (int tries = 0; !batch && tries < 30000; tries++) {
        must(rig_advance(pool.b, RIG_LEASE_OVER_MS));
        batch = rig_claim(pool.b, 1);
        if (!batch) rig_pause_10_ms();
    }
    bool got = batch != NULL;
    tp_batch_free(batch);
    return got;
}

TEST(test_stop__past_its_deadline_lets_the_leases_go_and_may_be_joined_again) {
    rig_extend_often();
    size_t extensions = faults_count("settle_extend");
    tp_worker *worker = rig_start_with(1, rig_wait, .stop_ms = 200);
    rig_await_arrived(1);
    rig_await_seen(extensions, 1);
    tp_worker_stop(worker);
    expect(TP_TIMEOUT, tp_worker_join(worker));
    expect(TP_TIMEOUT, tp_worker_join(worker));
    for (int i = 0; !atomic_load(&worker->life.abandoned) && i < 30000; i++)
        rig_pause_10_ms(); /* the joins do not wait for the thread that says so to the renewer */
    int seen = faults_seen(extensions);
    for (int i = 0; i < 60; i++)
        rig_pause_10_ms(); /* three times as long as between two of them */
    assert_in_range(faults_seen(extensions) - seen, 0, 1);
    assert_string_equal(rig_info(worker).state, "stopping");
    assert_true(claimable_again());
    gate_open(&rig.gate);
    must(join_in_time(worker));
    rig_finish(worker);
    rig_expect(.finished = 0, .done = 0);
}
