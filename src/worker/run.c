/* One job's run, in an executor's thread: the calls of its handler, what the handler may ask, and what
 * follows from its verdict. A settle in the task's own transaction is made here and now; all others go to the
 * completer, with their tokens, so that asking again is harmless. The first kind is not: after any failure
 * the transaction is ended, the database is asked what became of the claim, and if that says "still held"
 * nothing was committed and the handler is called again. */
#include "worker/run.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/trace.h"
#include "base/utf8.h"
#include "core/retry.h"
#include "ops/for_workers.h"
#include "worker/hooks.h"
#include "worker/outcome.h"
#include "worker/stop_cause.h"
#include "worker/time_limit.h"
#include "worker/watchdog.h"

/* ---- The call ---------------------------------------------------------------------------------------- */

/* Clears what a call that is to be made again left behind. */
static void reset(struct tp_run *run) {
    run->trouble = TP_OK;
    tpi_result_unref(run->result);
    run->result = NULL;
    run->doomed = false;
    run->no_retry = false;
    run->steps = 0;
    run->delay_ms = 0;
    run->reason_noted = false;
    run->reason[0] = '\0';
    run->why[0] = '\0';
}

struct tpi_result *tpi_run_take_result(struct tp_run *run) {
    struct tpi_result *result = run->result;
    run->result = NULL;
    return result;
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
    tpi_time_limit_waited(run->job);
    if (tpi_run_is_unwanted(run)) return TP_RUN_SKIPPED;
    if (!handler) {
        tp_run_reason(run, "this worker has no handler of that name");
        return TP_RUN_FAILED;
    }
    int64_t began = tpi_clock_mono_ms();
    struct tpi_tally *tally = run->runs->record->tally;
    if (run->calls == 1)
        tpi_tally_wait(tally, handler->name, run->job->waited_ms + began - run->job->claimed_ms);
    int64_t took = -1;
    tp_verdict verdict;
    tpi_job_called(run->job, began);
    if (run->runs->hook_count) {
        verdict = tpi_hooks_call(run, &took);
    } else {
        verdict = handler->fn(run, handler->arg);
        took = tpi_clock_mono_ms() - began;
    }
    tpi_job_called(run->job, 0);
    if (run->session->conn) tpi_conn_guard(run->session->conn, false);
    if (took >= 0) tpi_tally_run(tally, handler->name, took);
    if ((unsigned)verdict <= TP_RUN_LATER) return verdict;
    snprintf(run->reason, sizeof run->reason, "the handler returned %d, which is no tp_verdict",
             (int)verdict);
    return TP_RUN_FAILED;
}

/* ---- What it may ask --------------------------------------------------------------------------------- */

const tp_task *tp_run_task(const tp_run *run) {
    return run->job->task;
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

enum { READER_MS = 1000 };

/* False: another has it for so long that it may hang. */
static bool take_reader(struct tpi_runs *runs) {
    int64_t until = tpi_clock_mono_ms() + READER_MS;
    pthread_mutex_lock(&runs->reader_lock);
    while (runs->reading && tpi_clock_mono_ms() < until)
        tpi_signal_wait(&runs->reader_free, until);
    bool took = !runs->reading;
    runs->reading = true;
    pthread_mutex_unlock(&runs->reader_lock);
    return took;
}

static void give_reader(struct tpi_runs *runs) {
    pthread_mutex_lock(&runs->reader_lock);
    runs->reading = false;
    tpi_signal_one(&runs->reader_free);
    pthread_mutex_unlock(&runs->reader_lock);
}

/* In the task's transaction over its connection; else over the one that all handlers share, so that reading
 * costs none of one's own while that answers. */
static tp_status read_params(struct tp_run *run) {
    if (run->in_transaction || !take_reader(run->runs)) return ask(run, ask_params);
    struct tpi_session *own = run->session;
    run->session = &run->runs->reader;
    tp_status status = ask(run, ask_params);
    run->session = own;
    give_reader(run->runs);
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
    if (run->in_step) {
        run->step_fault = TP_MISUSE;
        return tpi_error(TP_MISUSE, "tp_run_conn: not in a step, which was given its connection");
    }
    run->asked = true;
    if (!run->in_transaction) {
        tp_status status = ask(run, ask_begin);
        if (status != TP_OK) return status;
        run->in_transaction = true;
    }
    tpi_conn_guard(run->session->conn, true);
    *conn = run->session->conn;
    return TP_OK;
}

enum { CALLS_MAX = 3 }; /* of a handler for one claim when its transaction is rolled back */

/* What became of a handler's call. ENDED: the job is over; SUBMITTED: the completer has it. */
enum next { RUN_AGAIN, RUN_ENDED, RUN_SUBMITTED };

/* ---- In the task's transaction ----------------------------------------------------------------------- */

/* FAILED: the failure itself is written as the task's. LATER: the worker is to stop. */
static enum next submit_apart(struct tp_run *run, tp_verdict verdict) {
    const char *reason = verdict == TP_RUN_FAILED ? run->why : NULL;
    tpi_completer_submit(run->runs->completer, run->job, verdict, reason, 0, false);
    return RUN_SUBMITTED;
}

static void roll_back(struct tp_run *run) {
    if (run->in_transaction) tpi_session_roll_back(run->session);
    run->in_transaction = false;
}

static tp_status ask_extend(tp_conn *conn, void *arg) {
    const struct tpi_job *job = arg;
    return tp_extend(conn, job->task, job->jobs->options->lease_ms);
}

/* What took the transaction away may have lasted longer than the lease: then the database says whose the
 * claim is. */
static enum next begin_again(struct tp_run *run) {
    int64_t asked_ms = tpi_clock_boot_ms();
    if (atomic_load(&run->job->lost)) return RUN_ENDED;
    if (tpi_job_start(run->job)) return RUN_AGAIN;
    tp_status status = tpi_session_ask(run->session, TPI_UNTIL_STOP, ask_extend, run->job);
    if (status == TP_OK) {
        tpi_lease_extended(run->job, asked_ms);
        return RUN_AGAIN;
    }
    if (status == TP_LOST) {
        tpi_record_lost_settle(run->runs->record, run->job);
        return RUN_ENDED;
    }
    if (tpi_lifetime_stopping(run->runs->life)) return submit_apart(run, TP_RUN_LATER);
    tpi_run_remember(run);
    return submit_apart(run, TP_RUN_FAILED);
}

/* Nothing was committed and the claim is still ours. */
static enum next call_again(struct tp_run *run) {
    tpi_trace(TPI_TRACE_WORKER, "run %d of task=%s came to nothing: %s", run->calls, run->job->task->id,
              run->why[0] ? run->why : run->reason);
    if (run->calls >= CALLS_MAX) return submit_apart(run, TP_RUN_FAILED);
    if (!tpi_lifetime_stopping(run->runs->life)) {
        tpi_job_resume(run->job, false);
        tpi_session_pause(run->session, TPI_UNTIL_STOP);
        if (!tpi_lifetime_stopping(run->runs->life)) return begin_again(run);
    }
    return submit_apart(run, TP_RUN_LATER);
}

static tp_status write_and_commit(struct tp_run *run, tp_verdict verdict) {
    if (run->doomed) return run->trouble;
    struct tpi_outcome outcome = {.verdict = verdict, .reason = run->reason};
    tpi_watchdog_begin(run->session->who);
    tp_status status = tpi_outcome_write(run->session->conn, run->job, &outcome);
    if (status == TP_OK) status = tp_commit(run->session->conn);
    tpi_watchdog_end();
    if (status < 0) tpi_run_remember(run);
    tpi_session_note(run->session, status);
    return status;
}

static enum next record_committed(struct tp_run *run, tp_verdict verdict) {
    tpi_session_note_run(run->session, false);
    struct tpi_outcome outcome = {.verdict = verdict, .reason = run->reason};
    tpi_record_settled(run->runs->record, run->job, &outcome, TP_OK);
    return RUN_ENDED;
}

static enum next find_out(struct tp_run *run, tp_verdict verdict, tp_status failure) {
    switch (tpi_outcome_find(run->session, run->job->task, false, failure)) {
    case TPI_FATE_STORED:
        return record_committed(run, verdict);
    case TPI_FATE_LOST:
        tpi_record_lost_settle(run->runs->record, run->job);
        return RUN_ENDED;
    case TPI_FATE_OPEN:
        return call_again(run);
    case TPI_FATE_REFUSED:
        tpi_record_error(run->runs->record, run->job->task, run->why);
        return submit_apart(run, TP_RUN_FAILED);
    case TPI_FATE_UNKNOWN:
        break;
    }
    tpi_record_unknown(run->runs->record, run->job->task, tp_last_error()->text);
    return RUN_ENDED;
}

static enum next settle_in_transaction(struct tp_run *run, tp_verdict verdict) {
    if (!tpi_job_settle(run->job)) {
        roll_back(run);
        return RUN_ENDED;
    }
    tp_status status = write_and_commit(run, verdict);
    if (status == TP_OK) {
        run->in_transaction = false;
        return record_committed(run, verdict);
    }
    roll_back(run);
    if (status != TP_LOST) return find_out(run, verdict, status);
    tpi_record_lost_settle(run->runs->record, run->job);
    return RUN_ENDED;
}

static tp_status ask_lost(tp_conn *conn, void *arg) {
    (void)arg;
    return tpi_tx_lost(conn);
}

/* What another session found out meanwhile counts for this one too. */
bool tpi_run_tx_lost(struct tpi_session *session) {
    return tpi_session_call(session, ask_lost, NULL) != TP_OK || tpi_session_is_outdated(session);
}

/* What the handler's own statement met in a database that cannot be written is seen by writing over the same
 * session. */
bool tpi_run_failed_with_transaction(struct tp_run *run) {
    bool lost = tpi_run_tx_lost(run->session);
    roll_back(run);
    if (lost) return true;
    tp_status status = tpi_session_try(run->session, ask_extend, run->job);
    return status == TP_DISCONNECTED || status == TP_UNWRITABLE;
}

static enum next settle(struct tp_run *run, tp_verdict verdict) {
    bool keeps = verdict == TP_RUN_DONE || verdict == TP_RUN_SKIPPED;
    if (tpi_run_heeds(run, verdict)) {
        roll_back(run);
        tpi_completer_submit(run->runs->completer, run->job, TP_RUN_SKIPPED, run->reason, 0, false);
        return RUN_SUBMITTED;
    }
    if (keeps && run->in_transaction) return settle_in_transaction(run, verdict);
    if (run->in_transaction && verdict == TP_RUN_FAILED) {
        tpi_session_note_run(run->session, true);
        bool may_go_on = !run->doomed && !run->no_retry && run->calls < CALLS_MAX;
        if (may_go_on && tpi_run_failed_with_transaction(run)) return call_again(run);
    }
    roll_back(run);
    /* It failed because the worker could not give it what it asked for: no failure of the task. */
    if (verdict == TP_RUN_FAILED && tp_status_may_retry(run->trouble)) return call_again(run);
    if (verdict == TP_RUN_FAILED && !run->reason[0])
        tpi_utf8_copy("the handler gave no reason", run->reason, sizeof run->reason);
    tpi_completer_submit(run->runs->completer, run->job, verdict, run->reason, run->delay_ms, run->no_retry);
    return RUN_SUBMITTED;
}

/* ---- From its call to its settle ---------------------------------------------------------------------- */

void tpi_run_job(struct tpi_runs *runs, struct tpi_session *session, struct tpi_job *job) {
    struct tp_run run = {.runs = runs, .session = session, .job = job};
    enum next next = RUN_ENDED;
    bool lost = atomic_load(&job->lost);
    job->settle.counted = !lost && tpi_run_is_exhausted(runs, job);
    if (job->settle.counted) {
        tpi_completer_submit(runs->completer, job, TP_RUN_FAILED, job->task->reason, 0, true);
        return;
    }
    if (!lost && !tpi_job_start(job)) {
        tpi_completer_submit(runs->completer, job, TP_RUN_LATER,
                             "its lease was over before its handler was called", 0, false);
        return;
    }
    if (!lost) {
        do {
            atomic_fetch_add(&runs->running, 1);
            tpi_job_run(run.job);
            tp_verdict verdict = tpi_run_call(&run);
            run.job = tpi_job_ran(run.job, verdict == TP_RUN_DONE && !run.in_transaction,
                                  tpi_run_take_result(&run));
            atomic_fetch_sub(&runs->running, 1);
            tp_task_params_free(run.job->task);
            run.params = NULL;
            next = settle(&run, verdict);
        } while (next == RUN_AGAIN);
    }
    tpi_texts_free(&run.results);
    tpi_progress_done(runs->progress, &run.progress);
    if (next == RUN_ENDED) tpi_job_end(run.job);
}
