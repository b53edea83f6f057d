/* Enqueues, claims and completes tasks for the measures. See measure.h. */
#include <time.h>

#include "bench/measure/measure.h"
#include "support/check.h"
#include "support/pool.h"

void put_tasks(const char *handler, size_t count) {
    static tp_new_task tasks[TP_CLAIM_MAX];
    for (size_t left = count, some; left; left -= some) {
        some = left < TP_CLAIM_MAX ? left : TP_CLAIM_MAX;
        for (size_t i = 0; i < some; i++) {
            tasks[i] = (tp_new_task)TP_NEW_TASK_INIT;
            tasks[i].handler = handler;
            tasks[i].params = "{\"order\":4711}";
        }
        must(tp_enqueue_many(pool.a, tasks, some, NULL));
    }
}

void claim_tasks(struct claimed *claimed, tp_claim_request *request) {
    must(tp_claim(pool.a, request, &claimed->batch));
    claimed->count = tp_batch_count(claimed->batch);
    for (size_t i = 0; i < claimed->count; i++)
        claimed->task[i] = tp_batch_task(claimed->batch, i);
}

void complete_tasks(struct claimed *claimed, size_t first) {
    size_t count = claimed->count - first;
    if (count == 1)
        must(tp_complete(pool.a, claimed->task[first]));
    else
        must(tp_complete_many(pool.a, claimed->task + first, count, NULL));
    tp_batch_free(claimed->batch);
}

size_t take_tasks(const char *handler, const char *plan, size_t limit) {
    static struct claimed claimed;
    const char *const handlers[] = {handler};
    tp_claim_request request = TP_CLAIM_INIT;
    bool holds = plan && pool_plan_holds(plan);
    request.handlers = handlers;
    request.handler_count = 1;
    request.limit = limit;
    request.plan = plan;
    if (holds) must(tp_begin(pool.a));
    claim_tasks(&claimed, &request);
    complete_tasks(&claimed, 0);
    if (holds) must(tp_commit(pool.a));
    return claimed.count;
}

double seconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
