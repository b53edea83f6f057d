/* One call of a handler, and what it may ask of its run, in its own thread. */
#include "worker/handler_run.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/trace.h"
#include "base/utf8.h"
#include "core/retry.h"

/* ---- The call ---------------------------------------------------------------------------------------- */

/* Clears what a call that is to be made again left behind. */
static void reset(struct tp_run *run) {
    run->trouble = TP_OK;
    run->doomed = false;
    run->no_retry = false;
    run->delay_ms = 0;
    run->reason[0] = '\0';
    run->why[0] = '\0';
}

bool tpi_run_is_exhausted(struct tpi_runs *runs, const struct tpi_job *job) {
    const tp_task *task = job->task;
    if (!tpi_reason_holder(task->reason)) return false;
    const tp_retry retry = tpi_retry_read(job->handler ? job->handler->retry : NULL);
    if (!retry.delay || retry.on_lapse != TP_LAPSE_RETRY) return false;
    atomic_fetch_add(&runs->running, 1);
    bool exhausted = retry.delay(task, task->failures, task->reason, retry.arg) < 0;
    atomic_fetch_sub(&runs->running, 1);
    return exhausted;
}

tp_verdict tpi_run_call(struct tp_run *run) {
    const struct tpi_handler *handler = run->job->handler;
    reset(run);
    tpi_trace(TPI_TRACE_WORKER, "run task=%s handler=%s", run->job->task->id, run->job->task->handler);
    run->calls++;
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

/* ---- What it may ask --------------------------------------------------------------------------------- */

const tp_task *tp_run_task(const tp_run *run) {
    return run->job->task;
}

int tp_run_should_stop(const tp_run *run) {
    return tpi_lifetime_stopping(run->runs->life) || tp_run_lost(run);
}

int tp_run_lost(const tp_run *run) {
    return atomic_load(&tpi_job_newest(run->job)->lost);
}

void tp_run_no_retry(tp_run *run) {
    run->no_retry = true;
}

void tp_run_delay(tp_run *run, int64_t delay_ms) {
    run->delay_ms = delay_ms > 0 ? delay_ms : 0;
}

void tpi_run_remember(struct tp_run *run) {
    tpi_utf8_copy(tp_last_error()->text, run->why, sizeof run->why);
}

/* Often another program's words, in whatever encoding: they must not keep the task from being settled. */
void tp_run_reason(tp_run *run, const char *reason) {
    tpi_utf8_copy(reason ? reason : "", run->reason, sizeof run->reason);
}

/* Inside the transaction a failure is final: what the handler wrote is gone with it. */
static tp_status ask(struct tp_run *run, tpi_ask_fn fn) {
    tp_status status;
    if (run->in_transaction) {
        status = tpi_session_call(run->session, fn, run);
    } else {
        status = tpi_session_ask(run->session, TPI_UNTIL_STOP, fn, run);
    }
    if (status >= 0) return status;
    run->trouble = status;
    run->doomed = run->in_transaction;
    tpi_run_remember(run);
    return status;
}

static tp_status ask_params(tp_conn *conn, void *arg) {
    struct tp_run *run = arg;
    size_t length;
    return tp_task_params(conn, tpi_job_newest(run->job)->task, &run->params, &length);
}

/* In the task's transaction over its connection; else over the one that all handlers share, so that reading
 * costs none of one's own. */
static tp_status read_params(struct tp_run *run) {
    struct tpi_runs *runs = run->runs;
    if (run->in_transaction) return ask(run, ask_params);
    struct tpi_session *own = run->session;
    pthread_mutex_lock(&runs->reader_lock);
    run->session = &runs->reader;
    tp_status status = ask(run, ask_params);
    run->session = own;
    pthread_mutex_unlock(&runs->reader_lock);
    return status;
}

tp_status tp_run_params(tp_run *run, const char **params, size_t *length) {
    if (!run || !params) return tpi_error(TP_MISUSE, "tp_run_params: run and params must not be NULL");
    if (!run->params) run->params = run->job->task->params;
    tp_status status = run->params ? TP_OK : read_params(run);
    if (status != TP_OK) return status;
    *params = run->params;
    if (length) *length = strlen(run->params);
    return TP_OK;
}

static tp_status ask_begin(tp_conn *conn, void *arg) {
    (void)arg;
    return tp_begin(conn);
}

tp_status tp_run_conn(tp_run *run, tp_conn **conn) {
    if (!run || !conn) return tpi_error(TP_MISUSE, "tp_run_conn: run and conn must not be NULL");
    run->asked = true;
    if (!run->in_transaction) {
        tp_status status = ask(run, ask_begin);
        if (status != TP_OK) return status;
        run->in_transaction = true;
    }
    *conn = run->session->conn;
    return TP_OK;
}
