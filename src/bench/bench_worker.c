/* Runs one worker in this process and measures it. See bench_worker.h. */
#include "bench_worker.h"

#include <stdatomic.h>
#include <stdio.h>

#include "common/clocks.h"
#include "results.h"
#include "shared.h"

#define SETTLE_IN_MS 300 /* before an idle worker is measured */

/* ---- The worker -------------------------------------------------------------------------------------- */

/* One worker at a time in a process; written by its events, read when lost is set. */
static struct {
    atomic_bool lost;
    char text[512];
} trouble;

static void on_event(tp_event event, const tp_task *task, const char *text, void *arg) {
    (void)task;
    (void)arg;
    if (event == TP_EVENT_ERROR) cli_warn("%s", text);
    if (event != TP_EVENT_OFFLINE || atomic_load(&trouble.lost)) return;
    snprintf(trouble.text, sizeof trouble.text, "%s", text);
    atomic_store(&trouble.lost, true);
}

bool bench_worker_trouble(enum cli_exit *code) {
    if (!atomic_load(&trouble.lost)) return false;
    *code = cli_fail(EXIT_UNREACHABLE, "%s", trouble.text);
    return true;
}

static tp_status open_worker(struct bench *bench, tp_env *env, const char *plan, tp_worker **worker) {
    const struct bench_settings *set = bench->set;
    tp_worker_options options = TP_WORKER_INIT;

    options.plan = plan;
    options.threads = (int)set->threads;
    options.batch = (size_t)set->batch;
    options.settle_count = (size_t)set->group;
    options.queue = (size_t)set->queue;
    options.hot_ms = set->hot_ms;
    options.poll_ms = set->poll_ms;
    options.idle_ms = set->idle_ms;
    options.name = bench->handler;
    options.on_event = on_event;
    return tp_worker_open(env, &options, worker);
}

enum cli_exit bench_worker_start(struct bench *bench, tp_env *env, const char *plan, tp_handler_fn fn,
                                 void *arg, tp_worker **worker) {
    tp_status status;

    atomic_store(&trouble.lost, false);
    status = open_worker(bench, env, plan, worker);
    if (status == TP_OK) status = tp_worker_handle(*worker, bench->handler, fn, arg);
    if (status == TP_OK) status = tp_worker_start(*worker);
    return status == TP_OK ? EXIT_DONE : cli_fail_tp(status);
}

/* As an application would, it reads the parameters; then it does nothing. */
static tp_verdict do_nothing(tp_run *run, void *arg) {
    const struct bench *bench = arg;
    const char *params;
    size_t length;
    tp_conn *conn;

    if (tp_run_params(run, &params, &length) != TP_OK) return TP_RUN_LATER;
    if (bench->set->transactions && tp_run_conn(run, &conn) != TP_OK) return TP_RUN_LATER;
    return TP_RUN_DONE;
}

tp_verdict bench_pickup(tp_run *run, void *arg) {
    const struct bench *bench = arg;

    (void)run;
    bench_shared_picked(bench->shared);
    return TP_RUN_DONE;
}

/* ---- Life -------------------------------------------------------------------------------------------- */

static void set_done(struct bench *bench, tp_worker *worker) {
    tp_worker_info info = TP_WORKER_INFO_INIT;

    if (tp_worker_about(worker, &info) != TP_OK) return;
    bench_shared_set_done(bench->shared, (int64_t)info.done);
}

/* Zero when it cannot be had. */
static tp_counters work_of(tp_worker *worker) {
    tp_counters work = TP_COUNTERS_INIT;

    return tp_worker_counters(worker, &work) == TP_OK ? work : (tp_counters)TP_COUNTERS_INIT;
}

void bench_live(struct bench *bench, tp_env *env, const char *plan, struct bench_share *share) {
    tp_worker *worker = NULL;

    share->code = bench_worker_start(bench, env, plan, do_nothing, bench, &worker);
    share->begin = bench_now();
    share->cpu_us = -bench_cpu_us();
    while (share->code == EXIT_DONE && !bench_stops() && !bench_worker_trouble(&share->code)) {
        set_done(bench, worker);
        if (bench_shared_done(bench->shared) >= bench->set->tasks) break;
        bench_shared_rest(bench->shared);
    }
    share->end = bench_now();
    share->cpu_us += bench_cpu_us();
    tp_worker_stop(worker);
    if (worker && tp_worker_join(worker) == TP_OK) share->work = work_of(worker);
    tp_worker_close(worker);
}

/* ---- Idle -------------------------------------------------------------------------------------------- */

/* False: the user, or the worker, ended it. */
static bool wait_ms(int64_t ms, enum cli_exit *code) {
    int64_t until = clock_ms() + ms;

    while (clock_ms() < until && !bench_stops() && !bench_worker_trouble(code))
        clock_sleep(until - clock_ms() < 100 ? until - clock_ms() : 100);
    return *code == EXIT_DONE && !bench_stops();
}

static enum cli_exit watch_idle(struct bench *bench, const char *plan, tp_worker *worker) {
    enum cli_exit code = EXIT_DONE;
    struct bench_cost cost = {0};
    tp_counters work;

    if (!wait_ms(SETTLE_IN_MS, &code)) return code == EXIT_DONE ? EXIT_INTERRUPTED : code;
    work = work_of(worker);
    bench_work_add(&cost.work, &work, true);
    cost.cpu_us = -bench_cpu_us();
    cost.seconds = -bench_now();
    if (!wait_ms(bench->set->idle_time_ms, &code)) return code == EXIT_DONE ? EXIT_INTERRUPTED : code;
    cost.seconds += bench_now();
    cost.cpu_us += bench_cpu_us();
    work = work_of(worker);
    bench_work_add(&cost.work, &work, false);

    struct bench_result *result = bench_result_new(bench, BENCH_IDLE, plan);
    bench_figure(result, FIGURE_SECONDS, cost.seconds);
    bench_figure(result, FIGURE_IDLE_STATEMENTS, (double)cost.work.statements / cost.seconds);
    bench_figure(result, FIGURE_IDLE_TRIPS, (double)cost.work.round_trips / cost.seconds);
    bench_figure(result, FIGURE_IDLE_CPU, cost.cpu_us / cost.seconds);
    return EXIT_DONE;
}

enum cli_exit bench_idle(struct bench *bench, const char *plan) {
    tp_worker *worker = NULL;
    enum cli_exit code = bench_worker_start(bench, bench->env, plan, do_nothing, bench, &worker);

    if (code == EXIT_DONE) code = watch_idle(bench, plan, worker);
    tp_worker_close(worker);
    return code;
}
