/* The worker; see scene.h. Whatever fails, each task comes to its end once, and what its handler wrote
 * through the task's own transaction is there once. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "faults/scene.h"

enum { STEPS = 40 };

static const int64_t quick_delays[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const tp_retry quick = {.size = sizeof(tp_retry), .delays_ms = quick_delays, .count = 10};
static const tp_retry no_retry = {.size = sizeof(tp_retry), .delays_ms = quick_delays, .count = 0};

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
    bool paid = sql_try(conn, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', '%s')", tp_run_task(run)->id,
                        pool.handler);
    return paid ? TP_RUN_DONE : TP_RUN_FAILED;
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

static tp_verdict leave_out(tp_run *run, void *arg) {
    (void)arg;
    tp_run_reason(run, "left out");
    return TP_RUN_SKIPPED;
}

static int hear_alert(const tp_task *task, const char *text, void *arg) {
    (void)task;
    (void)text;
    (void)arg;
    atomic_fetch_add(&alerts, 1);
    return 0;
}

/* ---- Workers ------------------------------------------------------------------------------------------- */

static tp_worker_options options_of(const struct scene *scene) {
    tp_worker_options o = TP_WORKER_INIT;
    o.threads = 2;
    o.batch = 10;
    o.poll_ms = 10;
    o.retry = &quick;
    o.plan = scene->plan;
    return o;
}

/* As many workers are known at each try. */
static void open_worker(struct scene *scene, const tp_worker_options *o, tp_handler_fn fn) {
    sql_run(pool.eye, "DELETE FROM tp_worker");
    must(tp_worker_open(pool.env, o, &scene->worker));
    must(tp_worker_handle(scene->worker, pool.handler, fn, NULL));
}

static void arrange_stepping(struct scene *scene, tp_handler_fn fn) {
    tp_worker_options o = options_of(scene);
    atomic_store(&alerts, 0);
    scene_put(scene, 2, "x");
    open_worker(scene, &o, fn);
}

static void arrange_done(struct scene *scene) {
    arrange_stepping(scene, done);
}

static void arrange_paying(struct scene *scene) {
    arrange_stepping(scene, pay);
}

static void arrange_skipping(struct scene *scene) {
    arrange_stepping(scene, leave_out);
}

static void arrange_reading(struct scene *scene) {
    static char text[20001];
    memset(text, 'x', sizeof text - 1);
    scene_put(scene, 1, text);
    arrange_stepping(scene, read);
}

static void arrange_giving_up(struct scene *scene) {
    tp_worker_options o = options_of(scene);
    o.retry = &no_retry;
    o.on_alert = hear_alert;
    atomic_store(&alerts, 0);
    scene_put(scene, 2, "x");
    open_worker(scene, &o, break_down);
}

static void arrange_schedule(struct scene *scene) {
    tp_worker_options o = options_of(scene);
    tp_schedule schedule = TP_SCHEDULE_INIT;
    schedule.name = scene->name;
    schedule.rule = "every 1h";
    schedule.handler = pool.handler;
    must(tp_schedule_add(pool.b, &schedule));
    must(tp_test_advance(pool.eye, 3610000));
    o.schedules = 1;
    open_worker(scene, &o, pay);
}

static void forget_schedule(struct scene *scene) {
    (void)scene;
    (void)sql_try(pool.eye, "DELETE FROM tp_schedule");
}

/* ---- Steps --------------------------------------------------------------------------------------------- */

static tp_status step(struct scene *scene) {
    size_t handled = (size_t)(int64_t)MARK;
    tp_status status = tp_worker_step(scene->worker, &handled);
    return status;
}

static int open_tasks(void) {
    return (int)rows_in("pending", pool.handler);
}

/* Steps on until nothing is open: retries and leases are made due, as time would. */
static void step_to_the_end(struct scene *scene) {
    for (int i = 0; i < STEPS && open_tasks(); i++) {
        must(tp_test_advance(pool.eye, 61000));
        tp_status status = step(scene);
        if (status < TP_OK) fail_msg("step: %s", tp_last_error()->text);
    }
    expect_number(open_tasks(), 0);
}

static void judge_settled(struct scene *scene, tp_status answer) {
    (void)answer;
    step_to_the_end(scene);
    expect_number(rows_in("finished", pool.handler), scene->count);
    for (size_t i = 0; i < scene->count; i++)
        expect_number(row_of(scene->id[i]).copies, 1);
}

static void check_paid(const struct scene *scene) {
    for (size_t i = 0; i < scene->count; i++)
        expect_number(effects_of(scene->id[i]), 1);
}

static void judge_paid(struct scene *scene, tp_status answer) {
    judge_settled(scene, answer);
    check_paid(scene);
}

static void judge_given_up(struct scene *scene, tp_status answer) {
    (void)answer;
    step_to_the_end(scene);
    expect_number(rows_in("failed", pool.handler), scene->count);
    for (int i = 0; i < 3 && atomic_load(&alerts) < (int)scene->count; i++) {
        must(tp_test_advance(pool.eye, 61000));
        if (step(scene) < TP_OK) fail_msg("step: %s", tp_last_error()->text);
    }
    if (atomic_load(&alerts) < (int)scene->count) fail_msg("%d alerts", atomic_load(&alerts));
}

/* Firing has a time of its own in the worker: the session asks as well, so that nothing has to be waited for.
 */
static void judge_fired(struct scene *scene, tp_status answer) {
    size_t fired = 0;
    (void)answer;
    must(tp_schedule_fire(scene->conn, &fired, NULL));
    forget_schedule(scene);
    step_to_the_end(scene);
    expect_number(rows_in("finished", pool.handler), 1);
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_fx WHERE note = '%s'", pool.handler), 1);
}

/* ---- Open and start ------------------------------------------------------------------------------------ */

static tp_status open_and_close(struct scene *scene) {
    tp_worker_options o = options_of(scene);
    tp_worker *worker = UNTOUCHED(tp_worker);
    tp_status status = tp_worker_open(pool.env, &o, &worker);
    expect_untouched(status, worker);
    if (status != TP_OK) return status;
    status = tp_worker_handle(worker, pool.handler, done, NULL);
    tp_worker_close(worker);
    return status;
}

static void nothing_more(struct scene *scene, tp_status answer) {
    (void)scene;
    expect_number(answer, TP_OK);
}

/* A worker that could not start is closed, and another one is opened. */
static tp_status work(struct scene *scene) {
    tp_worker *worker = scene->worker;
    scene->worker = NULL;
    if (!worker) {
        tp_worker_options o = options_of(scene);
        o.drain = 1;
        open_worker(scene, &o, pay);
        worker = scene->worker;
        scene->worker = NULL;
    }
    tp_status status = tp_worker_start(worker);
    if (status == TP_OK) status = tp_worker_join(worker);
    tp_worker_close(worker);
    return status;
}

static void arrange_work(struct scene *scene) {
    tp_worker_options o = options_of(scene);
    o.drain = 1;
    scene_put(scene, 4, "x");
    open_worker(scene, &o, pay);
}

static void judge_worked(struct scene *scene, tp_status answer) {
    expect_number(answer, TP_OK);
    expect_number(open_tasks(), 0);
    expect_number(rows_in("finished", pool.handler), scene->count);
    check_paid(scene);
}

#define STEP_OF(name, plan)                                                                                  \
    {"tp_worker_step" name ", done",                                                                         \
     plan,                                                                                                   \
     ACT_CALLS | ACT_OWN_SESSIONS,                                                                           \
     arrange_done,                                                                                           \
     step,                                                                                                   \
     judge_settled,                                                                                          \
     NULL},                                                                                                  \
        {"tp_worker_step" name ", own transaction",                                                          \
         plan,                                                                                               \
         ACT_CALLS | ACT_OWN_SESSIONS,                                                                       \
         arrange_paying,                                                                                     \
         step,                                                                                               \
         judge_paid,                                                                                         \
         NULL},                                                                                              \
        {"tp_worker_step" name ", skipped",                                                                  \
         plan,                                                                                               \
         ACT_CALLS | ACT_OWN_SESSIONS,                                                                       \
         arrange_skipping,                                                                                   \
         step,                                                                                               \
         judge_settled,                                                                                      \
         NULL},                                                                                              \
        {"tp_worker_step" name ", long params",                                                              \
         plan,                                                                                               \
         ACT_CALLS | ACT_OWN_SESSIONS,                                                                       \
         arrange_reading,                                                                                    \
         step,                                                                                               \
         judge_settled,                                                                                      \
         NULL},                                                                                              \
    {                                                                                                        \
        "tp_worker_step" name ", failed, alerts", plan, ACT_CALLS | ACT_OWN_SESSIONS, arrange_giving_up,     \
            step, judge_given_up, NULL                                                                       \
    }

const struct act scenes_of_workers[] = {
    {"tp_worker_open", NULL, 0, NULL, open_and_close, nothing_more, NULL},
    STEP_OF("", NULL),
    STEP_OF(" by hold", "hold"),
    {"tp_worker_step, schedules", NULL, ACT_CALLS | ACT_OWN_SESSIONS, arrange_schedule, step, judge_fired,
     forget_schedule},
    {"tp_worker_start to join", NULL, ACT_THREADS, arrange_work, work, judge_worked, NULL},
    {"tp_worker_start to join by hold", "hold", ACT_THREADS, arrange_work, work, judge_worked, NULL},
    {NULL, NULL, 0, NULL, NULL, NULL, NULL}};
