/* The handler threads: each takes jobs from the queue and runs them, or, while the worker holds, claims for
 * itself. They come when jobs wait, and go when they have been idle for long. */
#include "worker/executor.h"

#include "worker/verdict.h"

static void *execute(void *arg) {
    struct tpi_executors *executors = arg;
    struct tpi_session session;
    struct tpi_hold hold = {.session = &session};
    bool ended = false;
    tpi_session_init(&session, executors->sessions, "executor");
    while (!ended) {
        if (tpi_poller_cycle(executors->poller, &hold)) continue;
        struct tpi_job *job = tpi_queue_pop(executors->queue, &ended);
        if (job) tpi_verdict_run(executors->runs, &session, job);
        tpi_session_drop(&session);
    }
    tpi_session_close(&session);
    return NULL;
}

bool tpi_executors_add(struct tpi_executors *executors) {
    if (!tpi_queue_add_executor(executors->queue)) return false;
    if (tpi_threads_start(executors->threads, execute, executors) == TP_OK) return true;
    tpi_queue_remove_executor(executors->queue);
    return false;
}
