/* What workers write about what they did, and how they are asked to end. */
#include "ops/for_workers.h"
#include "worker/rig.h"

#include <unistd.h>

#include "worker/worker.h"

enum { HOUR_MS = 60 * 60 * 1000, DAY_MS = 24 * HOUR_MS };

static int set_up(void **state) {
    tpi_heartbeat_every_ms = 100;
    tpi_tally_every_ms = 60000;
    return rig_set_up(state);
}

#define ACTIVITY_TEST(name) TEST_BETWEEN(name, set_up, rig_tear_down)

static void add(const tp_activity *row, void *arg) {
    tp_activity *sum = arg;
    sum->done += row->done;
    sum->failed += row->failed;
    sum->gave_up += row->gave_up;
    sum->skipped += row->skipped;
    sum->released += row->released;
    sum->lost += row->lost;
    for (size_t i = 0; i < TP_HISTOGRAM_BUCKETS; i++) {
        sum->wait.counts[i] += row->wait.counts[i];
        sum->run.counts[i] += row->run.counts[i];
    }
    if (row->wait.max_ms > sum->wait.max_ms) sum->wait.max_ms = row->wait.max_ms;
    if (row->run.max_ms > sum->run.max_ms) sum->run.max_ms = row->run.max_ms;
    sum->wait.sum_ms += row->wait.sum_ms;
    sum->run.sum_ms += row->run.sum_ms;
}

static int64_t count(const tp_histogram *times) {
    int64_t all = 0;
    for (size_t i = 0; i < TP_HISTOGRAM_BUCKETS; i++)
        all += times->counts[i];
    return all;
}

static tp_activity done_by(int by_worker) {
    tp_activity sum = {0};
    tp_activity_request request = TP_ACTIVITY_INIT;
    request.handler = pool.handler;
    request.since = 1;
    request.bucket_ms = DAY_MS;
    request.by_worker = by_worker;
    tp_status status = tp_activity_each(pool.a, &request, add, &sum);
    if (status < TP_OK) must(status);
    return sum;
}

static tp_verdict by_params(tp_run *run, void *arg) {
    const char *params = tp_run_task(run)->params;
    (void)arg;
    if (strcmp(params, "skip") == 0) return TP_RUN_SKIPPED;
    if (strcmp(params, "fail") == 0) return tp_run_task(run)->failures ? TP_RUN_DONE : TP_RUN_FAILED;
    if (strcmp(params, "give up") == 0) tp_run_no_retry(run);
    return strcmp(params, "give up") == 0 ? TP_RUN_FAILED : TP_RUN_DONE;
}

/* Also the last minute, which is written at the stop. */
ACTIVITY_TEST(test_activity__is_counted_by_what_became_of_tasks) {
    rig_put(3, "x");
    rig_put(2, "skip");
    rig_put(1, "fail");
    rig_put(1, "give up");
    must(rig_advance(pool.a, 3000000)); /* so long they have waited */
    rig_run(0, by_params);
    tp_activity sum = done_by(0);
    expect_number(sum.done, 4);
    expect_number(sum.skipped, 2);
    expect_number(sum.failed, 1);
    expect_number(sum.gave_up, 1);
    expect_number(sum.lost, 0);
    expect_number(count(&sum.run), 8);
    expect_number(count(&sum.wait), 8);
    expect_number(sum.wait.counts[8], 7); /* more than ten minutes; the retry was due at once */
    assert_true(sum.wait.max_ms >= 2998000 && sum.wait.sum_ms >= 7 * INT64_C(2998000));
    tp_activity each = done_by(1);
    expect_number(each.done, 4);
}

/* The answer of the commit is lost, or the write is refused for a while: nothing is lost, nothing counts
 * twice. */
ACTIVITY_TEST(test_activity__is_written_once_whatever_fails) {
    for (int i = 0; i < 3; i++) {
        tpi_tally_every_ms = 200; /* rows come soon */
        tp_activity before = done_by(0);
        size_t added = faults_count("activity_add");
        if (i == 0)
            faults_refuse("activity_add", FAULTS_FULL, 0, 3);
        else
            faults_lose((struct faults_aim){.statement = "commit", .after = "activity_add"},
                        i == 1 ? TPI_FAULT_ANSWER_LOST : TPI_FAULT_NOT_SENT, 0, 1);
        tp_worker *worker = rig_start(5, rig_done);
        rig_await(TP_EVENT_DONE, 5 * (i + 1));
        rig_await_seen(added, i == 0 ? 4 : 2); /* a row that is there need not come to a second commit */
        rig_stop(worker);
        faults_clear();
        tp_activity sum = done_by(0);
        expect_number(sum.done - before.done, 5);
        expect_number(count(&sum.run) - count(&before.run), 5);
    }
}

static size_t seen_rows;
static void see_worker(const tp_worker_row *row, void *arg) {
    tp_worker_row *out = arg;
    *out = *row;
    seen_rows++;
}

static struct {
    char owner[TP_ID_SIZE];
    int count, known;
    int64_t wanted_at, claimed_at, now;
} running;
static void see_running(const tp_running *row, void *arg) {
    (void)arg;
    memcpy(running.owner, row->owner, sizeof running.owner);
    running.count++;
    running.known += row->worker && row->worker->pid == (int32_t)getpid();
    running.wanted_at = row->wanted_at;
    running.claimed_at = row->claimed_at;
    running.now = row->now;
}

static void await_running(int count) {
    tp_running_request request = TP_RUNNING_INIT;
    request.handler = pool.handler;
    for (int i = 0; i < 30000; i++) {
        memset(&running, 0, sizeof running);
        tp_status status = tp_running_each(pool.a, &request, see_running, NULL);
        if (status < TP_OK) must(status);
        if (running.count == count && running.known == count) return;
        rig_pause_10_ms();
    }
    fail_msg("%d tasks run, of %d the worker is known", running.count, running.known);
}

ACTIVITY_TEST(test_running__a_task_leads_to_its_worker) {
    tp_worker_row row = {0};
    int64_t time = 0;
    rig_put(2, "x");
    int64_t due_at = INT64_C(1000000000000);
    expect_number(rig_set_due(due_at), 2);
    tp_worker *worker = rig_start(0, rig_wait);
    rig_await_arrived(2);
    await_running(2);
    expect_number(running.wanted_at, due_at);
    must(tp_token_time(running.owner, &time));
    expect_number(running.claimed_at, time);
    seen_rows = 0;
    must(tp_worker_of(pool.a, running.owner, see_worker, &row));
    assert_true(seen_rows >= 1);
    expect(TP_MISUSE, tp_token_time("00000000-0000-4000-8000-000000000001", &time));
    rig_stop(worker);
    expect_number(rig_count_where("finished", "due_at = 1000000000000"), 2);
    must(tp_worker_of(pool.a, running.owner, see_worker, &row));
    expect(TP_NONE, tp_worker_of(pool.a, "00000000-0000-7000-8000-000000000001", see_worker, &row));
}

ACTIVITY_TEST(test_drain__a_marked_worker_ends_by_itself_and_a_later_one_does_not) {
    size_t asked = 0;
    tp_worker *worker = rig_start_with(1, rig_wait, .name = pool.handler);
    rig_await_arrived(1);
    expect(TP_NONE, tp_drain(pool.a, "no such host", "tester@desk", &asked));
    expect(TP_MISUSE, tp_drain(pool.a, pool.handler, NULL, NULL));
    tp_status status = TP_NONE;
    for (int i = 0; i < 30000 && (status == TP_NONE || status == TP_CONFLICT); i++, rig_pause_10_ms())
        status = tp_drain(pool.a, pool.handler, "tester@desk", &asked);
    expect(TP_OK, status);
    expect_number(asked, 1);
    rig_await(TP_EVENT_DRAIN, 1);
    rig_expect_told(TP_EVENT_DRAIN, "tester@desk");
    for (int i = 0; !atomic_load(&worker->life.stop_asked) && i < 30000; i++)
        rig_pause_10_ms(); /* it tells first */
    rig_put(1, "later");
    gate_open(&rig.gate);
    rig_finish(worker);
    expect_number(rig_count("pending"), 1);
    expect(TP_NONE, tp_drain(pool.a, pool.handler, "tester@desk", NULL));
    rig_run(0, rig_done);
    expect_number(rig_count("pending"), 0);
}

ACTIVITY_TEST(test_drain__a_stepped_worker_sees_it_too) {
    size_t asked = 0;
    rig_put(1, "x");
    expect_number(rig_set_due(1000), 1); /* where the clock has no fraction of a second it may be due later */
    tp_worker *worker = rig_open_with(rig_done, .name = pool.handler);
    rig_step(worker, 1);
    rig_put(1, "x");
    must(tp_drain(pool.a, pool.handler, "tester@desk", &asked));
    expect_number(asked, 1);
    atomic_store(&worker->heartbeat.due, 0);
    rig_step(worker, 0);
    rig_close(worker);
    expect_number(rig_count("pending"), 1);
}

ACTIVITY_TEST(test_activity__is_deleted_after_its_time) {
    int64_t keep = 0;
    size_t deleted = 0;
    rig_run(1, rig_done);
    must(tp_retention_get(pool.a, "activity", &keep));
    expect_number(keep, 30 * (int64_t)DAY_MS);
    must(rig_advance(pool.a, 29 * (int64_t)DAY_MS));
    must(tp_retention_apply(pool.a, 100, &deleted));
    expect_number(deleted, 0);
    expect_number(done_by(0).done, 1);
    must(rig_advance(pool.a, 2 * (int64_t)DAY_MS));
    must(tp_retention_apply(pool.a, 100, &deleted));
    assert_true(deleted >= 1);
    expect_number(done_by(0).done, 0);
}

/* ---- Rolled up ----------------------------------------------------------------------------------------- */

static const char *const workers[] = {"0190c3a2-7b1e-7000-8000-000000000001",
                                      "0190c3a2-7b1e-7000-8000-000000000002"};

/* What one of two workers did in a minute, with other figures in each. */
static void write_minute(int64_t minute, int worker) {
    tp_activity row = {.since = minute, .handler = pool.handler};
    int64_t *const counts[] = {&row.done, &row.failed, &row.gave_up, &row.skipped, &row.released, &row.lost};
    int64_t number = minute / 60000 % 60 + 1 + worker;
    memcpy(row.worker, workers[worker], TP_ID_SIZE);
    for (size_t i = 0; i < COUNT(counts); i++)
        *counts[i] = number + (int64_t)i;
    for (size_t i = 0; i < TP_HISTOGRAM_BUCKETS; i++) {
        row.wait.counts[i] = number * 3 + (int64_t)i;
        row.run.counts[i] = number * 5 + (int64_t)i;
    }
    row.wait.sum_ms = number * 1000;
    row.wait.max_ms = number * 100;
    row.run.sum_ms = number * 2000;
    row.run.max_ms = number * 200;
    must(tpi_activity_write(pool.a, &row, 1));
}

static void roll_all_up(tp_conn *conn) {
    int64_t since[TPI_ROLLUP_LEVELS] = {0};
    tp_status status = TP_OK;
    while (status == TP_OK || status == TP_CONFLICT)
        status = tpi_activity_roll_up(conn, since);
    expect(TP_NONE, status);
}

/* Begins an hour three days ago, in which both workers did something in three minutes. */
static int64_t write_hour(void) {
    static const int minutes[] = {0, 1, 59};
    (void)sql_run(pool.eye, "DELETE FROM tp_activity");
    int64_t now = 0;
    must(tp_now(pool.a, &now));
    int64_t hour = now / HOUR_MS * HOUR_MS - 3 * (int64_t)DAY_MS;
    for (size_t i = 0; i < 2 * COUNT(minutes); i++)
        write_minute(hour + minutes[i / 2] * 60000, i % 2);
    return hour;
}

static void expect_same(tp_activity before) {
    tp_activity sum = done_by(0);
    assert_memory_equal(&sum, &before, sizeof sum);
}

static int rows_of(int64_t minute) {
    char condition[64];
    snprintf(condition, sizeof condition, "minute = %lld", (long long)minute);
    return rig_count_where("activity", condition);
}

ACTIVITY_TEST(test_rollup__makes_a_row_of_an_hour_and_keeps_the_sums) {
    int64_t hour = write_hour();
    tp_activity before = done_by(0);
    roll_all_up(pool.a);
    expect_same(before);
    expect_number(rows_of(hour + 60), 2);
    expect_number(rig_count("activity"), 2);
    write_minute(hour + 120000, 1); /* so late that its hour has been rolled up: it stays as it is */
    tp_activity later = done_by(0);
    expect_number(later.done, before.done + 4);
    roll_all_up(pool.a);
    expect_same(later);
    expect_number(rig_count("activity"), 3);
}

/* Each minute is in one of them, and the later of the two has those of the first. */
ACTIVITY_TEST(test_rollup__makes_rows_of_ten_minutes_first_and_of_what_is_new_none) {
    int64_t hour = write_hour() + 2 * (int64_t)DAY_MS;
    for (int i = 0; i < 20; i++)
        write_minute(hour + i * 60000, 0);
    write_minute(hour + DAY_MS - 5 * HOUR_MS, 0); /* of less than six hours ago */
    tp_activity before = done_by(0);
    roll_all_up(pool.a);
    expect_same(before);
    expect_number(rows_of(hour + 10), 1);
    expect_number(rows_of(hour + 600010), 1);
    expect_number(rig_count("activity"), 2 + 2 + 1);
    must(rig_advance(pool.a, 2 * (int64_t)DAY_MS));
    roll_all_up(pool.a);
    expect_same(before);
    expect_number(rows_of(hour - 2 * (int64_t)DAY_MS + 60), 1);
    expect_number(rig_count("activity"), 2 + 1 + 1);
}

/* By a connection that is met. */
static void roll_all_up_aside(void) {
    tp_conn *conn = NULL;
    must(tp_conn_open(pool.env, &conn));
    roll_all_up(conn);
    tp_conn_close(conn);
}

static void roll_up_first(struct tpi_link *link, void *arg) {
    (void)link, (void)arg;
    roll_all_up(pool.b);
}

/* Between the count and the sum, where the database lets two write at once. */
ACTIVITY_TEST(test_rollup__of_two_who_do_it_at_once_one_does) {
    int64_t hour = write_hour();
    tp_activity before = done_by(0);
    faults_at(.statement = pool_on_sqlite() ? "activity_rollup_find" : "activity_rollup_add",
              .meet = roll_up_first, .times = 1);
    roll_all_up_aside();
    expect_number(faults_all_hits(), 1);
    faults_clear();
    expect_same(before);
    expect_number(rows_of(hour + 60), 2);
    expect_number(rig_count("activity"), 2);
}

static void write_late(struct tpi_link *link, void *arg) {
    (void)link;
    sql_run(
        pool.eye,
        "INSERT INTO tp_activity SELECT minute + 60000, worker, handler, done, failed, gave_up, skipped, "
        "released, lost, wait_sum, wait_max, wait_0, wait_1, wait_2, wait_3, wait_4, wait_5, wait_6, "
        "wait_7, wait_8, wait_9, run_sum, run_max, run_0, run_1, run_2, run_3, run_4, run_5, run_6, run_7, "
        "run_8, run_9 FROM tp_activity WHERE minute = %lld AND handler = '%s'",
        (long long)*(int64_t *)arg, pool.handler);
}

/* Between the sum and the deletion: nothing is deleted that was not summed. */
ACTIVITY_TEST(test_rollup__waits_for_another_time_when_a_worker_writes_late) {
    int64_t hour = write_hour(), minute = hour + 60000;
    int64_t before = done_by(0).done;
    faults_at(.statement = pool_on_sqlite() ? "activity_rollup_find" : "activity_rollup_delete",
              .meet = write_late, .arg = &minute, .times = 1);
    roll_all_up_aside();
    expect_number(faults_all_hits(), 1);
    faults_clear();
    expect_number(done_by(0).done, before + 2 + 3);
    roll_all_up(pool.a);
    expect_number(done_by(0).done, before + 2 + 3);
    expect_number(rig_count("activity"), 2);
}

/* The worker does so by itself, and goes on after a lost commit. */
ACTIVITY_TEST(test_rollup__is_done_by_workers_also_after_a_lost_commit) {
    int64_t hour = write_hour();
    tp_activity before = done_by(0);
    faults_lose((struct faults_aim){.statement = "commit", .after = "activity_rollup_delete"},
                TPI_FAULT_ANSWER_LOST, 0, 1);
    tp_worker *worker = rig_start(0, rig_done);
    for (int tries = 0; rows_of(hour + 60) < 2 && tries < 30000; tries++)
        rig_pause_10_ms();
    rig_stop(worker);
    faults_clear();
    expect_same(before);
    expect_number(rig_count("activity"), 2);
}
