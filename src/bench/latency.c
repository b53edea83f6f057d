/* How long a task waits for its handler. One task at a time, so that no queue is measured; pauses between
 * them at random, so that they are not in step with a worker's polling. Read next: bench_worker.h,
 * worker_processes.h. */
#include "bench.h"

#include <stdlib.h>

#include "bench_worker.h"
#include "calls.h"
#include "common/clocks.h"
#include "results.h"
#include "shared.h"
#include "worker_processes.h"

#define WARM_UP 10  /* tasks that are not counted */
#define LEAST   10  /* samples, however long they take */
#define POLL_MS 100 /* how late it is seen that nobody will come */

/* The worker runs in this process, or in the first of the others. */
struct watch {
    struct bench *bench;
    bool same_process;
    tp_worker *worker;
    struct waits {
        double *all;     /* from before the enqueue to the handler, ms */
        double *enqueue; /* the enqueue by itself */
        double *after;   /* from its return to the handler; none when that was faster */
    } waits;
    int64_t taken;
    uint32_t random;
};

static bool has_failed(struct watch *watch, enum cli_exit *code) {
    if (watch->same_process) return bench_worker_trouble(code);
    return bench_processes_failed(watch->bench, code);
}

/* Each value from half of it to twice is as likely as the others. */
static void pause_between(struct watch *watch) {
    int64_t us = watch->bench->set->pause_ms * 1000;

    if (us == 0) return;
    watch->random = watch->random * 1664525U + 1013904223U;
    us = us / 2 + (int64_t)((double)us * 1.5 * (double)(watch->random >> 8) / (double)(1U << 24));
    clock_sleep_us(us);
}

static enum cli_exit take_sample(struct watch *watch, int64_t at) {
    tp_new_task task;
    enum cli_exit code = EXIT_DONE;
    double picked = 0;
    double asked, answered;
    tp_status status;

    bench_task_init(watch->bench, &task);
    bench_shared_forget_picks(watch->bench->shared);
    asked = bench_now();
    status = tp_enqueue(watch->bench->conn, &task);
    answered = bench_now();
    watch->bench->put_in++;
    if (status < 0) return bench_put_failed(watch->bench, &task, 1, status);
    while (picked <= 0 && !bench_stops() && !has_failed(watch, &code))
        picked = bench_shared_await_pick(watch->bench->shared, POLL_MS);
    watch->waits.all[at] = (picked - asked) * 1e3;
    watch->waits.enqueue[at] = (answered - asked) * 1e3;
    watch->waits.after[at] = picked > answered ? (picked - answered) * 1e3 : 0;
    return picked > 0 || code != EXIT_DONE ? code : EXIT_INTERRUPTED;
}

static enum cli_exit take_samples(struct watch *watch) {
    int64_t most_ms = watch->bench->set->samples_ms;
    int64_t until = most_ms ? clock_ms() + most_ms : INT64_MAX;
    enum cli_exit code = EXIT_DONE;

    for (int64_t i = -WARM_UP; i < watch->bench->set->samples && code == EXIT_DONE; i++) {
        if (i >= LEAST && clock_ms() >= until) break;
        code = take_sample(watch, i < 0 ? 0 : i);
        watch->taken = i + 1;
        if (code == EXIT_DONE) pause_between(watch);
    }
    return code;
}

/* The smallest value that so many percent do not exceed. */
static double percentile(const double *sorted, int64_t count, int64_t percent) {
    return sorted[(count * percent + 99) / 100 - 1];
}

static void add_result(struct watch *watch, enum bench_measure measure, const char *plan) {
    struct bench_result *result = bench_result_new(watch->bench, measure, plan);
    const struct waits *waits = &watch->waits;
    size_t count = (size_t)watch->taken;

    bench_sort(waits->all, count);
    bench_sort(waits->enqueue, count);
    bench_sort(waits->after, count);
    result->tasks = watch->taken;
    bench_figure(result, FIGURE_P50, percentile(waits->all, watch->taken, 50));
    bench_figure(result, FIGURE_P95, percentile(waits->all, watch->taken, 95));
    bench_figure(result, FIGURE_P99, percentile(waits->all, watch->taken, 99));
    bench_figure(result, FIGURE_MAX, waits->all[count - 1]);
    bench_figure(result, FIGURE_ENQUEUE_P50, percentile(waits->enqueue, watch->taken, 50));
    bench_figure(result, FIGURE_AFTER_P50, percentile(waits->after, watch->taken, 50));
    bench_figure(result, FIGURE_AFTER_P99, percentile(waits->after, watch->taken, 99));
}

static enum cli_exit watch_here(struct watch *watch, const char *plan) {
    enum cli_exit code =
        bench_worker_start(watch->bench, watch->bench->env, plan, bench_pickup, watch->bench, &watch->worker);

    if (code == EXIT_DONE) code = take_samples(watch);
    tp_worker_close(watch->worker);
    return code;
}

static enum cli_exit watch_there(struct watch *watch, const char *plan) {
    enum cli_exit code = bench_processes_watch(watch->bench, plan);
    enum cli_exit ended;

    if (code != EXIT_DONE) return code;
    code = take_samples(watch);
    ended = bench_processes_watch_end(watch->bench);
    return code == EXIT_DONE ? ended : code;
}

enum cli_exit bench_latency(struct bench *bench, const char *plan, bool same_process) {
    struct watch watch = {.bench = bench, .same_process = same_process, .random = 1};
    size_t samples = (size_t)bench->set->samples;
    enum cli_exit code;

    watch.waits.all = cli_must(calloc(samples, sizeof(double)));
    watch.waits.enqueue = cli_must(calloc(samples, sizeof(double)));
    watch.waits.after = cli_must(calloc(samples, sizeof(double)));
    code = same_process ? watch_here(&watch, plan) : watch_there(&watch, plan);
    if (code == EXIT_DONE) add_result(&watch, same_process ? BENCH_LATENCY_SAME : BENCH_LATENCY, plan);
    free(watch.waits.all);
    free(watch.waits.enqueue);
    free(watch.waits.after);
    return code;
}
