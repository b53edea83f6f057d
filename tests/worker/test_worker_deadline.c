/* Deadlines of tasks that a worker has, of their own and of their handler, and handlers that run for too
 * long: who is told, what is not begun, and that nothing of a call whose lease is not renewed counts. */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "ops/conn.h"
#include "support/tasks.h"
#include "worker/canceller.h"
#include "worker/rig.h"
#include "worker/time_limit.h"

#define HOUR INT64_C(3600000)

enum { VERDICTS = TP_RUN_LATER + 1, SOON_MS = 20 };

/* ---- Given --------------------------------------------------------------------------------------------- */

static atomic_int told[VERDICTS]; /* tp_stop */
static atomic_bool goes_on;       /* handlers that were told wait for it */

static void begin(const tp_handler_options *options) {
    tpi_canceller_every_ms = SOON_MS;
    tpi_time_limit_grace_ms = SOON_MS;
    rig_extend_often();
    for (int i = 0; i < VERDICTS; i++)
        atomic_store(&told[i], TP_STOP_NONE);
    atomic_store(&goes_on, false);
    rig.options = options;
}

static void end(tp_worker *worker) {
    rig_stop(worker);
    tpi_time_limit_grace_ms = 5000;
}

/* Params: the verdict. */
static tp_verdict until_told(tp_run *run, void *arg) {
    int verdict = tp_run_task(run)->params[0] - '0';
    tp_stop cause = TP_STOP_NONE;
    (void)arg;
    atomic_fetch_add(&rig.runs, 1);
    for (int i = 0; cause == TP_STOP_NONE && i < 30000; i++) {
        rig_pause_10_ms();
        cause = tp_run_stop_cause(run, NULL);
    }
    atomic_store(&told[verdict], (int)cause);
    return rig_effect(run, (tp_verdict)verdict);
}

/* The same, but it goes on when it was told. */
static tp_verdict past_its_limit(tp_run *run, void *arg) {
    (void)arg;
    atomic_fetch_add(&rig.runs, 1);
    for (int i = 0; tp_run_stop_cause(run, NULL) != TP_STOP_TIME && i < 30000; i++)
        rig_pause_10_ms();
    atomic_store(&told[0], (int)tp_run_stop_cause(run, NULL));
    for (int i = 0; !atomic_load(&goes_on) && i < 30000; i++)
        rig_pause_10_ms();
    return rig_effect(run, TP_RUN_DONE);
}

static void await_count(int (*count)(void), int wanted) {
    for (int i = 0; count() != wanted && i < 30000; i++)
        rig_pause_10_ms();
    expect_number(count(), wanted);
}

static int runs(void) {
    return atomic_load(&rig.runs);
}

static int finished(void) {
    return rig_count("finished");
}

static int failed(void) {
    return rig_count("failed");
}

static void put_verdicts(int64_t deadline_ms, char (*ids)[TP_ID_SIZE]) {
    for (int i = 0; i < VERDICTS; i++) {
        char params[2] = {(char)('0' + i), '\0'};
        tp_new_task task = {
            .size = sizeof task, .handler = pool.handler, .params = params, .deadline_ms = deadline_ms};
        must(tp_enqueue(pool.a, &task));
        memcpy(ids[i], task.id, TP_ID_SIZE);
    }
}

/* ---- A task's own -------------------------------------------------------------------------------------- */

static void expect_decided(char (*ids)[TP_ID_SIZE], const char *words) {
    static const int kept[VERDICTS] = {[TP_RUN_DONE] = 1, [TP_RUN_SKIPPED] = 1};
    for (int i = 0; i < VERDICTS; i++) {
        expect_number(atomic_load(&told[i]), TP_STOP_DEADLINE);
        expect_row(ids[i], "finished", i == TP_RUN_DONE ? "done" : "skipped", 0);
        if (i != TP_RUN_DONE) assert_non_null(strstr(row_of(ids[i]).reason, words));
        expect_number(effects_of(ids[i]), kept[i]);
    }
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_cancel"), 0);
}

static void decide_by(const char *plan) {
    char ids[VERDICTS][TP_ID_SIZE];
    begin(NULL);
    put_verdicts(HOUR, ids);
    tp_worker *worker = rig_start_with(0, until_told, .plan = plan, .threads = VERDICTS);
    await_count(runs, VERDICTS);
    sql_run(pool.eye, "UPDATE tp_cancel SET due_at = 1000");
    await_count(finished, VERDICTS);
    end(worker);
    expect_decided(ids, "its deadline, 1970-01-01 00:00:01 UTC, had passed");
}

TEST(test_deadline__a_handler_is_told_and_decides_by_a_lease) {
    decide_by(NULL);
}

TEST(test_deadline__a_handler_is_told_and_decides_by_plan_hold) {
    rig_needs_hold();
    if (pool_on_sqlite()) skip(); /* while a transaction holds tasks nobody else writes */
    decide_by("hold");
}

TEST(test_deadline__one_that_passes_in_the_queue_is_not_begun) {
    char id[TP_ID_SIZE];
    begin(NULL);
    rig_put(1, "x");
    tp_new_task task = {.size = sizeof task, .handler = pool.handler, .priority = 1, .deadline_ms = HOUR};
    must(tp_enqueue(pool.a, &task));
    memcpy(id, task.id, sizeof id);
    tp_worker *worker = rig_start_with(0, rig_wait, .threads = 1, .queue = 5);
    rig_await_arrived(1);
    rig_await_queued(worker, 1);
    sql_run(pool.eye, "UPDATE tp_cancel SET due_at = 1000");
    rig_await_unwanted(worker, 1);
    gate_open(&rig.gate);
    rig_await(TP_EVENT_SKIPPED, 1);
    end(worker);
    expect_row(id, "finished", "skipped", 0);
    expect_number(runs(), 1);
}

/* ---- Its handler's ------------------------------------------------------------------------------------- */

static void late_by(const char *plan) {
    const tp_handler_options hour = {.size = sizeof hour, .deadline_ms = HOUR};
    char late[TP_ID_SIZE], lapsed[TP_ID_SIZE];
    begin(&hour);
    rig_put(1, "late");
    (void)rig_set_due(1000);
    rig_put(1, "in time");
    tp_new_task task = {.size = sizeof task, .handler = pool.handler, .params = "retried", .due_at = 1000};
    must(tp_enqueue(pool.a, &task));
    memcpy(lapsed, task.id, sizeof lapsed);
    sql_run(pool.eye,
            "UPDATE tp_pending SET state = 'failed', failures = 1, reason = 'once', due_at = %" PRId64
            " WHERE id = '%s'",
            sql_number(pool.eye, "SELECT created_at FROM tp_pending WHERE id = '%s'", lapsed), lapsed);
    sql_text(pool.eye, late, sizeof late, "SELECT id FROM tp_pending WHERE handler = '%s' AND due_at = 1000",
             pool.handler);
    tp_worker *worker = rig_start_with(0, rig_pay, .plan = plan, .threads = 2);
    await_count(finished, 3);
    end(worker);
    rig_expect(0, 3, 0, .effects = 2, .done = 2, .skipped = 1); /* of a retry the new time counts */
    expect_row(late, "finished", "skipped", 0);
    assert_non_null(strstr(row_of(late).reason, "its deadline, 3600000 ms after it was due, had passed"));
}

TEST(test_deadline__what_waited_for_longer_than_its_handlers_is_not_begun_by_a_lease) {
    late_by(NULL);
}

TEST(test_deadline__what_waited_for_longer_than_its_handlers_is_not_begun_by_plan_hold) {
    rig_needs_hold();
    late_by("hold");
}

TEST(test_deadline__a_handler_is_told_of_its_own) {
    const tp_handler_options short_one = {.size = sizeof short_one, .deadline_ms = 60000};
    char ids[VERDICTS][TP_ID_SIZE];
    int64_t now = 0;
    begin(&short_one);
    put_verdicts(0, ids);
    must(tpi_ask_now(pool.a, &now));
    (void)rig_set_due(now - 59000); /* begun in time, unless the machine is very busy */
    tp_worker *worker = rig_start_with(0, until_told, .threads = VERDICTS);
    await_count(finished, VERDICTS);
    end(worker);
    if (runs() < VERDICTS) return; /* it was: then all that is left is that they are skipped */
    expect_decided(ids, "its deadline, 60000 ms after it was due, had passed");
}

/* ---- Calls that last too long -------------------------------------------------------------------------- */

static const tp_handler_options at_once = {.size = sizeof(tp_handler_options), .run_limit_ms = 1};

static void expect_verdicts_count(const char *plan) {
    tp_handler_options options = at_once;
    char ids[VERDICTS][TP_ID_SIZE];
    options.retry = &rig_no_retries;
    begin(&options);
    put_verdicts(0, ids);
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE id = '%s'", ids[TP_RUN_LATER]); /* it would be for ever */
    tp_worker *worker = rig_start_with(0, until_told, .plan = plan, .threads = VERDICTS);
    await_count(finished, 2);
    await_count(failed, 1);
    end(worker);
    expect_row(ids[TP_RUN_DONE], "finished", "done", 0);
    expect_row(ids[TP_RUN_SKIPPED], "finished", "skipped", 0);
    expect_row(ids[TP_RUN_FAILED], "failed", "failed", 1);
    for (int i = 0; i < TP_RUN_LATER; i++)
        expect_number(atomic_load(&told[i]), TP_STOP_TIME);
    assert_true(rig_told(TP_EVENT_ERROR) >= 3);
}

TEST(test_time_limit__a_handler_is_told_and_its_verdict_counts) {
    expect_verdicts_count(NULL);
}

TEST(test_time_limit__a_handler_is_told_and_its_verdict_counts_by_plan_hold) {
    rig_needs_hold();
    expect_verdicts_count("hold");
}

static int told_of_time(void) {
    return atomic_load(&told[0]) == TP_STOP_TIME;
}

/* Until it was told, and its lease is not extended any more, but for an extension that was on its way. */
static void await_end_of_renewal(size_t extensions) {
    rig_await(TP_EVENT_ERROR, 2);
    await_count(told_of_time, 1);
    int seen = faults_seen(extensions);
    for (int i = 0; i < 60; i++)
        rig_pause_10_ms(); /* three times as long as between two of them */
    assert_in_range(faults_seen(extensions) - seen, 0, 1);
}

/* An extension may be on its way yet. */
static tp_batch *claim_when_lapsed(void) {
    tp_batch *batch = NULL;
    for (int i = 0; !batch && i < 30000; i++) {
        must(rig_advance(pool.b, RIG_LEASE_OVER_MS));
        batch = rig_claim(pool.b, 1);
        if (!batch) rig_pause_10_ms();
    }
    assert_non_null(batch);
    return batch;
}

/* Somebody else claims it when its lease has lapsed, and pays; what the call pays in its transaction comes
 * too late. */
TEST(test_time_limit__of_a_call_whose_lease_is_not_renewed_nothing_counts) {
    begin(&at_once);
    size_t extensions = faults_count("settle_extend");
    tp_worker *worker = rig_start_with(1, past_its_limit, .threads = 1);
    await_count(runs, 1);
    tp_worker_stop(worker); /* it claims no more; its handlers may end */
    await_end_of_renewal(extensions);
    tp_batch *batch = claim_when_lapsed();
    const tp_task *task = tp_batch_task(batch, 0);
    expect_number(task->failures, 1);
    must(tp_begin(pool.b));
    effect(pool.b, task->id);
    must(tp_complete(pool.b, task));
    must(tp_commit(pool.b));
    atomic_store(&goes_on, true);
    rig_await(TP_EVENT_LOST, 1);
    end(worker);
    expect_row(task->id, "finished", "done", 1);
    expect_number(effects_of(task->id), 1);
    tp_batch_free(batch);
}

static void make_due_what_was_put_back(void) {
    sql_run(pool.eye, "UPDATE tp_pending SET due_at = 1000 WHERE handler = '%s' AND state = 'pending'",
            pool.handler);
    rig_pause_10_ms();
}

/* Its own process puts it back for others, and runs it a second time when the first call has ended. */
TEST(test_time_limit__its_own_process_runs_it_again_only_when_the_call_has_ended) {
    begin(&at_once);
    size_t extensions = faults_count("settle_extend");
    tp_worker *worker = rig_start_with(1, past_its_limit, .threads = 2);
    await_end_of_renewal(extensions);
    for (int i = 0; rig_told(TP_EVENT_RELEASED) < 1 && i < 30000; i++) {
        must(rig_advance(pool.b, RIG_LEASE_OVER_MS)); /* an extension may be on its way yet */
        rig_pause_10_ms();
    }
    for (int i = 0; rig_told(TP_EVENT_RELEASED) < 3 && i < 30000; i++)
        make_due_what_was_put_back();
    expect_number(runs(), 1);
    atomic_store(&goes_on, true);
    for (int i = 0; finished() < 1 && i < 30000; i++)
        make_due_what_was_put_back();
    end(worker);
    rig_expect(0, 1, 0, .failures = 1, .effects = 1, .runs = 2, .done = 1, .lost = 1);
}

TEST(test_time_limit__options_that_make_no_sense_are_refused) {
    tp_worker *worker = NULL;
    tp_handler_options options = TP_HANDLER_INIT;
    must(tp_worker_open(pool.env, NULL, &worker));
    options.deadline_ms = -1;
    expect(TP_MISUSE, tp_worker_handle_by(worker, "a", rig_done, NULL, &options));
    options = (tp_handler_options)TP_HANDLER_INIT;
    options.run_limit_ms = TP_DURATION_MAX + 1;
    expect(TP_MISUSE, tp_worker_handle_by(worker, "a", rig_done, NULL, &options));
    options.size = 3;
    expect(TP_MISUSE, tp_worker_handle_by(worker, "a", rig_done, NULL, &options));
    must(tp_worker_handle_by(worker, "a", rig_done, NULL, NULL));
    tp_worker_close(worker);
}
