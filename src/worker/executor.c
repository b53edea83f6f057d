/* A thread that takes tasks from the queue and calls their handlers. What the verdict leads to is in
 * verdict.c. */
#include "worker/transaction.h"

#include <stdio.h>
#include <string.h>

#include "core/retry.h"

/* Clears what a call that is to be made again left behind. */
static void reset(struct tp_run *run) {
    run->trouble = TP_OK;
    run->doomed = false;
    run->no_retry = false;
    run->delay_ms = 0;
    run->reason[0] = '\0';
    run->why[0] = '\0';
}

bool tpi_executor_is_exhausted(const struct tpi_job *job) {
    const tp_task *task = job->task;
    if (!tpi_reason_holder(task->reason)) return false;
    const tp_retry retry = tpi_retry_read(job->handler ? job->handler->retry : NULL);
    if (!retry.delay || retry.on_lapse != TP_LAPSE_RETRY) return false;
    tpi_executor_count(job->worker, 1);
    bool exhausted = retry.delay(task, task->failures, task->reason, retry.arg) < 0;
    tpi_executor_count(job->worker, -1);
    return exhausted;
}

tp_verdict tpi_executor_call(struct tp_run *run) {
    const struct tpi_handler *handler = run->job->handler;
    reset(run);
    tpi_trace(TPI_TRACE_WORKER, "run task=%s handler=%s", run->job->task->id, run->job->task->handler);
    run->runs++;
    if (!handler) {
        tp_run_reason(run, "this worker has no handler of that name");
        return TP_RUN_FAILED;
    }
    tp_verdict verdict = handler->fn(run, handler->arg);
    if ((unsigned)verdict <= TP_RUN_LATER) return verdict;
    snprintf(run->reason, sizeof run->reason, "the handler returned %d, which is no tp_verdict",
             (int)verdict);
    return TP_RUN_FAILED;
}

void tpi_executor_count(struct tp_worker *worker, int change) {
    pthread_mutex_lock(&worker->life.lock);
    worker->running += (size_t)change;
    pthread_mutex_unlock(&worker->life.lock);
}

void tpi_executor_run(struct tpi_session *session, struct tpi_job *job) {
    struct tp_run run = {.worker = session->sessions->worker, .session = session, .job = job};
    enum tpi_next next = TPI_RUN_ENDED;
    bool lost = atomic_load(&job->lost);
    job->counted = !lost && tpi_executor_is_exhausted(job);
    if (job->counted) {
        tpi_completer_submit(job, TP_RUN_FAILED, job->task->reason, 0, true);
        return;
    }
    if (!lost && !tpi_job_start(job)) {
        tpi_completer_submit(job, TP_RUN_LATER, "its lease was over before its handler was called", 0, false);
        return;
    }
    if (!lost) {
        do {
            tpi_executor_count(session->sessions->worker, 1);
            tpi_job_run(run.job);
            tp_verdict verdict = tpi_executor_call(&run);
            run.job = tpi_job_ran(run.job, verdict == TP_RUN_DONE && !run.in_transaction);
            tpi_executor_count(session->sessions->worker, -1);
            tp_task_params_free(run.job->task);
            run.params = NULL;
            next = tpi_verdict_settle(&run, verdict);
        } while (next == TPI_RUN_AGAIN);
    }
    if (next == TPI_RUN_ENDED) tpi_job_end(run.job);
}

void *tpi_executor_main(void *arg) {
    struct tpi_session session;
    bool ended = false;
    tpi_session_init(&session, &((struct tp_worker *)arg)->sessions, "runner");
    while (!ended) {
        if (tpi_poller_cycle(&session)) continue;
        struct tpi_job *job = tpi_queue_pop(arg, &ended);
        if (job) tpi_executor_run(&session, job);
        tpi_session_drop(&session);
    }
    tpi_session_close(&session);
    return NULL;
}
