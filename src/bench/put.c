/* See put.h. */
#include "put.h"

#include <stdlib.h>

#include "common/clocks.h"
#include "stops.h"

#define REOPEN_MS 5000 /* how long a lost database is waited for */

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
