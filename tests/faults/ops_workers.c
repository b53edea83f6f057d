/* Whatever fails, a worker brings each task to its end once, and what its handler wrote through the task's
 * own transaction is there once. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "faults/operation.h"

enum { STEPS = 40 };

static const int64_t quick_delays[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const tp_retry quick = {.size = sizeof(tp_retry), .delays_ms = quick_delays, .count = 10};

static atomic_int alerts;

/* ---- Handlers ------------------------------------------------------------------------------------------ */

static tp_verdict done(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    return TP_RUN_DONE;
}

static tp_verdict pay(tp_run *run, void *arg) {
    tp_conn *conn = NULL;
    (void)arg;
    tp_run_reason(run, "no connection");
    if (tp_run_conn(run, &conn) != TP_OK) return TP_RUN_FAILED;
    bool paid = sql_try(conn, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', 'x')", tp_run_task(run)->id);
    return paid ? TP_RUN_DONE : TP_RUN_FAILED;
}

static tp_status charge(tp_run *run, tp_conn *conn, void *arg) {
    (void)arg;
    if (!sql_try(conn, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', 'x')", tp_run_task(run)->id))
        return TP_DB;
    return tp_run_step_result(run, "charged");
}

static tp_status book(tp_run *run, tp_conn *conn, void *arg) {
    (void)run;
    return tp_once(conn, arg, NULL);
}

static tp_verdict pay_in_steps(tp_run *run, void *arg) {
    const char *result = NULL;
    char key[80];
    (void)arg;
    snprintf(key, sizeof key, "booked %s", tp_run_task(run)->id);
    tp_run_reason(run, "not all steps are done");
    if (tp_run_step(run, "charge", charge, NULL, &result) != TP_OK) return TP_RUN_FAILED;
    if (strcmp(result, "charged") != 0) return TP_RUN_SKIPPED;
    return tp_run_step(run, "book", book, key, NULL) == TP_OK ? TP_RUN_DONE : TP_RUN_FAILED;
}

static tp_verdict give_back(tp_run *run, void *arg) {
    (void)arg;
    tp_run_progress(run, 50, "half");
    return tp_run_result(run, "paid") == TP_OK ? TP_RUN_DONE : TP_RUN_FAILED;
}

static tp_verdict read(tp_run *run, void *arg) {
    const char *params = NULL;
    size_t length = 0;
    (void)arg;
    if (tp_run_params(run, &params, &length) != TP_OK) return TP_RUN_FAILED;
    return length == 20000 ? TP_RUN_DONE : TP_RUN_SKIPPED;
}

static tp_verdict break_down(tp_run *run, void *arg) {
    (void)arg;
    tp_run_reason(run, "no money");
    return TP_RUN_FAILED;
}

/* What asked for its connection is rolled back, and settled by a claim of its own. */
static tp_verdict break_down_apart(tp_run *run, void *arg) {
    tp_conn *conn = NULL;
    return tp_run_conn(run, &conn) == TP_OK ? break_down(run, arg) : TP_RUN_FAILED;
}

static tp_verdict skip_it(tp_run *run, void *arg) {
    (void)arg;
    tp_run_reason(run, "left out");
    return TP_RUN_SKIPPED;
}

static int count_alert(const tp_task *task, const char *text, void *arg) {
    (void)task;
    (void)text;
    (void)arg;
    atomic_fetch_add(&alerts, 1);
    return 0;
}

static int count_alert_group(const tp_batch *tasks, void *arg) {
    (void)arg;
    atomic_fetch_add(&alerts, (int)tp_batch_count(tasks));
    return 0;
}

/* ---- Workers ------------------------------------------------------------------------------------------- */

static tp_worker_options options_of(const struct work *work) {
    tp_worker_options o = TP_WORKER_INIT;
    o.threads = 2;
    o.batch = 10;
    o.poll_ms = 10;
    o.retry = &quick;
    o.plan = work->plan;
    return o;
}

/* As many workers are known at each try. */
static void open_worker(struct work *work, const tp_worker_options *o, tp_handler_fn fn) {
    sql_run(pool.eye, "DELETE FROM tp_worker");
    must(tp_worker_open(pool.env, o, &work->worker));
    must(tp_worker_handle(work->worker, pool.handler, fn, NULL));
}

static void prepare_two(struct work *work, tp_handler_fn fn) {
    tp_worker_options o = options_of(work);
    work_put(work, 2);
    open_worker(work, &o, fn);
}

STEP(two_to_do, prepare_two(work, done))
STEP(two_to_pay, prepare_two(work, pay))
STEP(two_to_give_back, prepare_two(work, give_back))
STEP(two_to_break_down_apart, prepare_two(work, break_down_apart))
STEP(two_to_skip, prepare_two(work, skip_it))
STEP(two_to_pay_in_steps, prepare_two(work, pay_in_steps))

static void three_to_read(struct work *work) {
    work_put_long(work, 20000);
    prepare_two(work, read);
}

static void prepare_to_fail(struct work *work, tp_worker_options o) {
    o.retry = &no_retry;
    atomic_store(&alerts, 0);
    work_put(work, 2);
    open_worker(work, &o, break_down);
}

static void two_that_fail(struct work *work) {
    tp_worker_options o = options_of(work);
    o.on_alert = count_alert;
    prepare_to_fail(work, o);
}

static void two_that_fail_for_a_group(struct work *work) {
    tp_worker_options o = options_of(work);
    o.on_alert_group = count_alert_group;
    prepare_to_fail(work, o);
}

static void one_planned(struct work *work) {
    tp_worker_options o = options_of(work);
    tp_schedule schedule = TP_SCHEDULE_INIT;
    schedule.name = work->key;
    schedule.rule = "every 1h";
    schedule.handler = pool.handler;
    must(tp_schedule_add(pool.b, &schedule));
    must(tp_test_advance(pool.eye, 3610000));
    o.schedules = 1;
    open_worker(work, &o, pay);
}

/* ---- Steps --------------------------------------------------------------------------------------------- */

CALL(step, tp_worker_step(work->worker, NULL))

/* What it did is no answer: a step that found nothing says so. */
static tp_status first_step(struct work *work) {
    tp_status status = step(work);
    return status == TP_NONE ? TP_OK : status;
}

static void step_a_minute_later(struct work *work) {
    must(tp_test_advance(pool.eye, 61000));
    if (step(work) < TP_OK) wrong("step: %s", tp_last_error()->text);
}

/* Steps on until nothing is open: retries and leases are made due, as time would. */
static void step_to_the_end(struct work *work) {
    for (int i = 0; i < STEPS && rows_in("pending", pool.handler); i++)
        step_a_minute_later(work);
}

static void are_done(struct work *work) {
    for (size_t i = 0; i < work->id_count; i++)
        want_number(snapshot_count(&work->now, "finished", work->ids[i], ""), 1);
}

static void have_results(struct work *work) {
    are_done(work);
    for (size_t i = 0; i < work->id_count; i++)
        want_number(snapshot_count(&work->now, "result", work->ids[i], "paid"), 1);
}

static void are_paid(struct work *work) {
    are_done(work);
    for (size_t i = 0; i < work->id_count; i++)
        want_effects(work, i, 1);
}

/* A key of the ledger that is there before its step would make that fail for ever. */
static void are_paid_in_steps(struct work *work) {
    are_paid(work);
    for (size_t i = 0; i < work->id_count; i++) {
        want_number(snapshot_count(&work->now, "finished", work->ids[i], "done"), 1);
        want_number(snapshot_count(&work->now, "step", work->ids[i], "charge"), 1);
        want_number(snapshot_count(&work->now, "step", work->ids[i], "book"), 1);
    }
    want_number(snapshot_count(&work->now, "once", "", ""), work->id_count);
}

static void step_until_alerted(struct work *work) {
    step_to_the_end(work);
    for (int i = 0; i < 5 && atomic_load(&alerts) < (int)work->id_count; i++)
        step_a_minute_later(work);
}

static void are_given_up(struct work *work) {
    for (size_t i = 0; i < work->id_count; i++)
        want_number(snapshot_count(&work->now, "failed", work->ids[i], ""), 1);
    if (atomic_load(&alerts) < (int)work->id_count) wrong("%d alerts", atomic_load(&alerts));
}

/* Each failed as often as its handler says, and no lease lapsed. */
static void step_and_make_due(struct work *work) {
    for (int i = 0; i < 2; i++) {
        sql_run(pool.eye, "UPDATE tp_pending SET due_at = 1 WHERE state = 'pending'");
        if (step(work) < TP_OK) wrong("step: %s", tp_last_error()->text);
    }
}

static void have_no_lease(struct work *work) {
    for (size_t i = 0; i < work->id_count; i++)
        want_number(sql_number(pool.eye,
                               "SELECT COUNT(*) FROM tp_pending WHERE id = '%s' AND state = 'failed'",
                               work->ids[i]),
                    1);
}

/* Firing has a time of its own in the worker: the session asks as well, so that nothing has to be waited for.
 */
static void fire_and_step(struct work *work) {
    size_t fired = 0;
    /* Waits for a lost session, whose schedule is passed over. */
    sql_run(pool.eye, "UPDATE tp_schedule SET name = name");
    must(tp_schedule_fire(pool.b, &fired, NULL));
    sql_run(pool.eye, "DELETE FROM tp_schedule");
    step_to_the_end(work);
    work_note_made(work);
    want_number(work->id_count, 1);
}

/* ---- Open and start ------------------------------------------------------------------------------------ */

static tp_status open_and_close(struct work *work) {
    tp_worker_options o = options_of(work);
    tp_worker *worker = UNTOUCHED(tp_worker);
    tp_status status = tp_worker_open(pool.env, &o, &worker);
    want_untouched(status, worker);
    if (status != TP_OK) return status;
    status = tp_worker_handle_by(worker, pool.handler, done, NULL, NULL);
    tp_worker_close(worker);
    return status;
}

static void open_draining(struct work *work) {
    tp_worker_options o = options_of(work);
    o.drain = 1;
    open_worker(work, &o, pay);
}

static void four_to_pay(struct work *work) {
    work_put(work, 4);
    open_draining(work);
}

/* A worker that could not start is closed, and another one is opened. */
static tp_status start_to_join(struct work *work) {
    if (!work->worker) open_draining(work);
    tp_worker *worker = work->worker;
    work->worker = NULL;
    tp_status status = tp_worker_start(worker);
    if (status == TP_OK) status = tp_worker_join(worker);
    tp_worker_close(worker);
    return status;
}

/* Each task and alert is a transaction of its own. */
#define STEPPED (TRAIT_SESSIONS | TRAIT_PIECEMEAL | TRAIT_ALSO_HOLD)
/* Other threads call too, so no two runs are alike, and which call is the k-th says nothing. */
#define THREADS (TRAIT_SESSIONS | TRAIT_ALLOCATIONS | TRAIT_ALSO_HOLD | TRAIT_EXPENSIVE)

static const struct operation operations[] = {
    {"worker_open", TRAIT_ALLOCATIONS, NULL, open_and_close, TP_OK, nothing_changed}, /* calls no driver */
    {"worker_step, done", STEPPED, two_to_do, first_step, TP_OK, are_done, .finish = step_to_the_end},
    {"worker_step, own transaction", STEPPED, two_to_pay, first_step, TP_OK, are_paid,
     .finish = step_to_the_end},
    {"worker_step, steps", TRAIT_SESSIONS | TRAIT_PIECEMEAL, two_to_pay_in_steps, first_step, TP_OK,
     are_paid_in_steps, .finish = step_to_the_end},
    {"worker_step, results", STEPPED, two_to_give_back, first_step, TP_OK, have_results,
     .finish = step_to_the_end},
    {"worker_step, skipped", STEPPED | TRAIT_EXPENSIVE, two_to_skip, first_step, TP_OK, are_done,
     .finish = step_to_the_end},
    {"worker_step, long params", STEPPED | TRAIT_EXPENSIVE, three_to_read, first_step, TP_OK, are_done,
     .finish = step_to_the_end},
    {"worker_step, failed, alerts", STEPPED, two_that_fail, first_step, TP_OK, are_given_up,
     .finish = step_until_alerted},
    {"worker_step, failed, an alert for all", STEPPED | TRAIT_EXPENSIVE, two_that_fail_for_a_group,
     first_step, TP_OK, are_given_up, .finish = step_until_alerted},
    {"worker_step, failed, by a claim of its own", TRAIT_SESSIONS | TRAIT_PIECEMEAL | TRAIT_ALLOCATIONS,
     two_to_break_down_apart, first_step, TP_OK, have_no_lease, .plan = "hold", .finish = step_and_make_due},
    {"worker_step, schedules", TRAIT_SESSIONS | TRAIT_PIECEMEAL, one_planned, first_step, TP_OK, are_paid,
     .finish = fire_and_step},
    {"worker_start to join", THREADS, four_to_pay, start_to_join, TP_OK, are_paid},
};

OPERATION_GROUP(workers, test_faults__a_worker_ends_each_task_once_whichever_call_fails, operations);
