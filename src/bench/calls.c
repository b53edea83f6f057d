/* See calls.h. Read next: results.h, which says what a measure costs. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "common/clocks.h"
#include "results.h"
#include "shared.h"

#define REOPEN_MS  5000 /* how long a lost database is waited for */
#define SETTLE_MAX 1000

/* ---- Putting tasks in ---------------------------------------------------------------------------------- */

tp_status bench_reopen(struct bench *bench) {
    int64_t until = clock_ms() + REOPEN_MS;
    tp_status status;

    while ((status = tp_conn_reopen(bench->conn)) < 0 && clock_ms() < until && bench_stops() < 2)
        clock_sleep(200);
    return status;
}

void bench_task_init(const struct bench *bench, tp_new_task *task) {
    const tp_new_task init = TP_NEW_TASK_INIT;

    *task = init;
    task->handler = bench->handler;
    task->params = bench->params;
    task->priority = bench->priority;
}

enum cli_exit bench_put_failed(struct bench *bench, tp_new_task *tasks, size_t count, tp_status status) {
    enum cli_exit code = cli_fail_tp(status);
    size_t inserted = 0;

    if (status == TP_DISCONNECTED && bench_reopen(bench) == TP_OK)
        (void)!tp_enqueue_many(bench->conn, tasks, count, &inserted);
    return code;
}

static enum cli_exit put_some(struct bench *bench, tp_new_task *tasks, size_t count,
                              struct bench_cost *cost) {
    size_t inserted = 0;
    tp_status status;

    for (size_t i = 0; i < count; i++)
        bench_task_init(bench, &tasks[i]);
    if (cost) bench_cost_begin(cost, bench->conn);
    status = tp_enqueue_many(bench->conn, tasks, count, &inserted);
    if (cost) bench_cost_end(cost, bench->conn);
    /* Without an answer they may be there. */
    bench->put_in += (int64_t)count;
    return status < 0 ? bench_put_failed(bench, tasks, count, status) : EXIT_DONE;
}

enum cli_exit bench_put(struct bench *bench, int64_t count, struct bench_cost *cost) {
    tp_new_task *tasks = cli_must(calloc((size_t)bench->set->put, sizeof *tasks));
    enum cli_exit code = EXIT_DONE;

    while (count > 0 && code == EXIT_DONE && !bench_stops()) {
        int64_t some = count < bench->set->put ? count : bench->set->put;

        code = put_some(bench, tasks, (size_t)some, cost);
        count -= some;
    }
    free(tasks);
    return code == EXIT_DONE && bench_stops() ? EXIT_INTERRUPTED : code;
}

/* ---- Enqueue ----------------------------------------------------------------------------------------- */

enum cli_exit bench_enqueue_many(struct bench *bench) {
    struct bench_cost cost = {0};
    enum cli_exit code = bench_put(bench, bench->set->tasks, &cost);

    if (code == EXIT_DONE)
        bench_cost_figures(bench_result_new(bench, BENCH_ENQUEUE_MANY, NULL), bench->set->tasks, &cost);
    return code;
}

enum cli_exit bench_enqueue_one(struct bench *bench) {
    struct bench_cost cost = {0};

    for (int64_t i = 0; i < bench->set->singles && !bench_stops(); i++) {
        tp_new_task task;
        tp_status status;

        bench_task_init(bench, &task);
        bench_cost_begin(&cost, bench->conn);
        status = tp_enqueue(bench->conn, &task);
        bench_cost_end(&cost, bench->conn);
        bench->put_in++;
        if (status < 0) return bench_put_failed(bench, &task, 1, status);
    }
    if (bench_stops()) return EXIT_INTERRUPTED;
    bench_cost_figures(bench_result_new(bench, BENCH_ENQUEUE_ONE, NULL), bench->set->singles, &cost);
    return EXIT_DONE;
}

/* ---- Claim and settle -------------------------------------------------------------------------------- */

struct measurement {
    struct bench *bench;
    const char *plan;
    bool hold; /* claim and settles of a batch are one transaction */
    tp_batch *batch;
    int64_t taken;
    struct bench_cost claim, settle;
};

/* What did not come with the claim is read, as a handler would. */
static tp_status read_params(struct measurement *work) {
    tp_status status = TP_OK;

    for (size_t i = 0; i < tp_batch_count(work->batch) && status >= 0; i++) {
        const tp_task *task = tp_batch_task(work->batch, i);
        const char *params;
        size_t length;

        if (task->params) continue;
        status = tp_task_params(work->bench->conn, task, &params, &length);
        tp_task_params_free(task);
    }
    return status;
}

static tp_status claim(struct measurement *work) {
    tp_claim_request request = TP_CLAIM_INIT;
    const char *handlers[1] = {work->bench->handler};
    tp_status status = TP_OK;

    request.handlers = handlers;
    request.handler_count = 1;
    request.limit = (size_t)work->bench->set->batch;
    request.plan = work->plan;
    bench_cost_begin(&work->claim, work->bench->conn);
    if (work->hold) status = tp_begin(work->bench->conn);
    if (status == TP_OK) status = tp_claim(work->bench->conn, &request, &work->batch);
    if (status == TP_OK) status = read_params(work);
    bench_cost_end(&work->claim, work->bench->conn);
    return status;
}

static tp_status settle(struct measurement *work) {
    size_t count = tp_batch_count(work->batch);
    size_t group = (size_t)work->bench->set->group;
    const tp_task *tasks[SETTLE_MAX];
    tp_status status = TP_OK;

    for (size_t at = 0, some; at < count && status >= 0; at += some) {
        some = count - at < group ? count - at : group;
        for (size_t i = 0; i < some; i++)
            tasks[i] = tp_batch_task(work->batch, at + i);
        if (some == 1)
            status = tp_complete(work->bench->conn, tasks[0]);
        else
            status = tp_complete_many(work->bench->conn, tasks, some, NULL);
    }
    if (status == TP_OK && work->hold) status = tp_commit(work->bench->conn);
    return status;
}

/* TP_NONE: all are done. */
static tp_status take_batch(struct measurement *work) {
    tp_status status = claim(work);

    if (status == TP_OK) {
        work->taken += (int64_t)tp_batch_count(work->batch);
        bench_cost_begin(&work->settle, work->bench->conn);
        status = settle(work);
        bench_cost_end(&work->settle, work->bench->conn);
    }
    return status;
}

static enum cli_exit take_all(struct measurement *work) {
    tp_status status = TP_OK;
    enum cli_exit code = EXIT_DONE;

    while (status == TP_OK && work->taken < work->bench->set->tasks && !bench_stops()) {
        status = take_batch(work);
        if (status < 0) code = cli_fail_tp(status);
        /* After a failure the transaction is over; one without tasks is ended too. */
        if (status != TP_OK && work->hold && tp_rollback(work->bench->conn) < 0 && code == EXIT_DONE)
            code = cli_fail_tp(TP_DB);
        tp_batch_free(work->batch);
        work->batch = NULL;
    }
    if (code == EXIT_DONE && status == TP_NONE)
        return cli_fail(EXIT_DATABASE,
                        "%lld of %lld tasks could be claimed; somebody takes or changes tasks of handler %s",
                        (long long)work->taken, (long long)work->bench->set->tasks, work->bench->handler);
    return code == EXIT_DONE && bench_stops() ? EXIT_INTERRUPTED : code;
}

enum cli_exit bench_claim_and_settle(struct bench *bench, const char *plan) {
    struct measurement work = {.bench = bench, .plan = plan, .hold = strcmp(plan, "hold") == 0};
    enum cli_exit code = bench_put(bench, bench->set->tasks, NULL);

    if (code == EXIT_DONE) code = take_all(&work);
    if (code != EXIT_DONE) return code;
    if (bench->set->wanted[BENCH_CLAIM])
        bench_cost_figures(bench_result_new(bench, BENCH_CLAIM, plan), work.taken, &work.claim);
    if (bench->set->wanted[BENCH_SETTLE])
        bench_cost_figures(bench_result_new(bench, BENCH_SETTLE, plan), work.taken, &work.settle);
    return EXIT_DONE;
}
