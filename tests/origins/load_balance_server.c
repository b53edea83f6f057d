/* Design E, the server: 10 to 50 threads, a queue of 1000, what happens when it is full, and tasks that are
 * in progress for longer than a scan. */
#include <time.h>

#include "base/clock.h"
#include "origins/load_balance.h"
#include "origins/origins.h"
#include "support/faults.h"

enum { QUEUE = 1000, THREADS = 50 };

static const int32_t numbers[] = {1, 2, 3, 4, 5};

ALERT(mail_somebody) {
    return 0;
}

static tp_worker_options server_options(void) {
    tp_worker_options options = WORKER_OPTIONS(.drain = 0);
    options.batch = 1000;
    options.shards = numbers;
    options.shard_count = 5;
    options.threads = 10;
    options.threads_max = 50;
    options.queue = 1000;
    options.keep_alive_ms = 300000;
    options.when_full = TP_FULL_ABORT;
    options.pace = TP_PACE_RATE;
    options.poll_ms = 60000;
    options.initial_delay_ms = 10000;
    options.on_alert = mail_somebody;
    return options;
}

/* 1,200 tasks that wait at the gate, and a server that polls without pauses. */
static tp_worker *start_server(tp_full when_full) {
    tp_worker_options options = server_options();
    put_spread("mail", 1200, TP_SHARDING_ROUND_ROBIN, 5);
    options.when_full = when_full;
    options.initial_delay_ms = 0;
    options.poll_ms = 20;
    options.drain = 1;
    tp_worker *worker = worker_by(&options, "mail", wait_at_gate);
    must(tp_worker_start(worker));
    return worker;
}

static void finish_server(tp_worker *worker) {
    gate_open(&scene.gate);
    must(tp_worker_join(worker));
    expect_number(count_where("finished", "state = 'done' AND failures = 0"), look(worker).done);
    expect_number(count_of("pending"), 0);
}

TEST(test_server__fifty_threads_and_a_full_queue_and_one_more_helps) {
    tp_worker *worker = start_server(TP_FULL_CALLER_RUNS);
    await_arrived(THREADS + 1);
    await(look(worker).queued + look(worker).running >= QUEUE);
    expect_in_hand(look(worker), QUEUE, THREADS, 1);
    finish_server(worker);
}

/* No thread more helps; what there is no room for stays or goes back, and that is no failure. */
TEST(test_server__with_abort_the_rest_stays_in_the_database) {
    tp_worker *worker = start_server(TP_FULL_ABORT);
    await_arrived(THREADS);
    put_spread("mail", 5, TP_SHARDING_ROUND_ROBIN, 5); /* wakes it up */
    await(look(worker).queued + look(worker).running >= QUEUE);
    expect_in_hand(look(worker), QUEUE, THREADS, 0);
    assert_true(count_where("pending", "state = 'pending' AND failures = 0") >= 1205 - QUEUE - THREADS);
    finish_server(worker);
}

TEST(test_server__takes_its_handlers_and_numbers_only) {
    tp_worker_options options = server_options();
    put_spread("mail", 20, TP_SHARDING_ROUND_ROBIN, 10);
    put_spread("fax", 20, TP_SHARDING_ROUND_ROBIN, 10);
    expect_number(step_all(worker_by(&options, "mail", count_and_do)), 10);
    expect_number(count_where("finished", "handler = 'mail' AND shard <= 5"), 10);
    expect_number(count_where("pending", "handler = 'mail' AND shard > 5"), 10);
    expect_number(count_where("pending", "handler = 'fax'"), 20);
}

/* The mail server runs on while tasks of a new kind come and find their own server. */
TEST(test_server__a_new_handler_needs_no_restart_of_others) {
    tp_worker *mail = worker_for("mail", count_and_do), *fax = worker_for("fax", count_and_do);
    must(tp_worker_start(mail));
    put_tasks("fax", 3, NULL);
    put_tasks("mail", 2, NULL);
    await_done(2);
    expect_number(rows_in("pending", "fax"), 3);
    expect_number(step_all(fax), 3);
    put_tasks("mail", 2, NULL);
    await_done(7);
    expect_number(rows_in("finished", "mail"), 4);
    expect_number(rows_in("finished", "fax"), 3);
    assert_string_equal(look(mail).state, "running");
}

/* Its lease lapses by the database's clock, and scans go on; it is in hand all the same. */
TEST(test_server__a_slow_task_is_not_dispatched_again) {
    tp_worker *worker = worker_with("slow", wait_at_gate, .threads = 3);
    must(tp_worker_handle(worker, "mail", count_and_do, NULL));
    must(tp_worker_start(worker));
    put_tasks("slow", 1, NULL);
    await_arrived(1);
    for (int scan = 1; scan <= 3; scan++) {
        advance(65000);
        put_tasks("mail", 1, NULL);
        await_done(scan);
    }
    expect_number(scene.gate.arrived, 1);
    gate_open(&scene.gate); /* the call ends under the last of its claims */
    await(count_where("finished", "handler = 'slow' AND state = 'done'") == 1);
}

enum { SCANS = 6, SLOW_MS = 250, POLL_MS = 400, EARLY_MS = 40 /* a scan may come a tenth early */ };

static struct {
    atomic_int count;
    int64_t at[SCANS];
} scans;

/* The first statement of a scan: notes the time, and makes it a slow one. */
MEET(slow_scan) {
    static const struct timespec slow = {.tv_nsec = SLOW_MS * 1000000};
    int number = atomic_load(&scans.count);
    if (number < SCANS) scans.at[number] = tpi_clock_mono_ms();
    atomic_store(&scans.count, number + 1);
    nanosleep(&slow, NULL);
}

/* A scan that finds nothing is one of these. */
static const char *const first_statements[] = {"claim_lanes", "claim_candidates", "claim_batch", "claim_pick",
                                               "claim_skip"};

/* From the second scan to the sixth: the first has more to do. At a fixed rate none comes before its time,
 * however late others were. */
static int64_t four_scans(tp_pace pace) {
    faults_clear();
    for (size_t i = 0; i < COUNT(first_statements); i++)
        faults_at(.statement = first_statements[i], .times = 1000, .meet = slow_scan);
    atomic_store(&scans.count, 0);
    tp_worker *worker = worker_with("mail", count_and_do, .pace = pace, .poll_ms = POLL_MS);
    int64_t began = tpi_clock_mono_ms();
    must(tp_worker_start(worker));
    await(atomic_load(&scans.count) >= SCANS);
    worker_close(worker);
    faults_clear();
    assert_true(scans.at[SCANS - 1] - began >= (SCANS - 1) * (POLL_MS - EARLY_MS));
    return scans.at[SCANS - 1] - scans.at[1];
}

TEST(test_server__scans_at_a_fixed_rate_however_long_they_take) {
    int64_t best = INT64_MAX;
    for (int try = 0; try < 30 && best >= 4 * (POLL_MS + SLOW_MS - EARLY_MS); try++) {
        int64_t took = four_scans(TP_PACE_RATE);
        if (took < best) best = took;
    }
    assert_true(best < 4 * (POLL_MS + SLOW_MS - EARLY_MS));
}

TEST_AS(test_server__scans_a_fixed_delay_after_the_last_has_ended,
        assert_true(four_scans(TP_PACE_DELAY) >= 4 * (POLL_MS + SLOW_MS - EARLY_MS)))

TEST(test_server__begins_after_its_initial_delay) {
    enum { INITIAL_MS = 150 };
    put_tasks("mail", 1, NULL);
    tp_worker *worker = worker_with("mail", count_and_do, .initial_delay_ms = INITIAL_MS);
    int64_t began = tpi_clock_mono_ms();
    must(tp_worker_start(worker));
    await_done(1);
    assert_true(tpi_clock_mono_ms() - began >= INITIAL_MS);
}
