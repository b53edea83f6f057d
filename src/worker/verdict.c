/* From a handler's verdict to its settle. One in the task's own transaction is settled here and now, by the
 * thread that ran it; all others go to the completer, with their tokens, so that asking again is harmless.
 * The first kind is not: after any failure the transaction is ended, the database is asked what became of the
 * claim, and if that says "still held" nothing was committed and the handler is called again. */
#include "worker/dispatcher.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "ops/tx_lost.h"
#include "worker/watchdog.h"

/* What the policy's delay answered before, in the handler's thread. */
static int64_t say_again(const tp_task *task, int32_t failures, const char *reason, void *arg) {
    const struct tpi_outcome *outcome = arg;
    (void)task;
    (void)failures;
    (void)reason;
    return outcome->retry_ms;
}

tp_status tpi_verdict_write(tp_conn *conn, const struct tpi_job *job, const struct tpi_outcome *outcome) {
    const char *reason = outcome->reason && outcome->reason[0] ? outcome->reason : NULL;
    const tp_retry *retry = job->handler ? job->handler->retry : job->worker->options.retry;
    switch (outcome->verdict) {
    case TP_RUN_DONE:
        return tp_complete(conn, job->task);
    case TP_RUN_SKIPPED:
        return tp_skip(conn, job->task, reason);
    case TP_RUN_LATER:
        return tp_release(conn, job->task, outcome->delay_ms);
    case TP_RUN_FAILED:
        break;
    }
    if (job->counted && outcome->no_retry) {
        tp_task task = *job->task; /* by a lease: no task of plan hold may be copied */
        task.failures--;
        return tp_give_up(conn, &task, reason);
    }
    if (outcome->no_retry) return tp_give_up(conn, job->task, reason);
    const tp_retry said = {.size = sizeof said, .delay = say_again, .arg = (void *)(uintptr_t)outcome};
    if (outcome->asked) retry = &said;
    return tp_fail(conn, job->task, reason, retry);
}

/* ---- Telling ----------------------------------------------------------------------------------------- */

static void count(struct tp_worker *worker, tp_verdict verdict) {
    atomic_uint_fast64_t *counts[] = {
        [TP_RUN_DONE] = &worker->counts.done,
        [TP_RUN_FAILED] = &worker->counts.failed,
        [TP_RUN_SKIPPED] = &worker->counts.skipped,
        [TP_RUN_LATER] = &worker->counts.released,
    };
    atomic_fetch_add(counts[verdict], 1);
}

void tpi_record_settled(struct tpi_job *job, const struct tpi_outcome *outcome, tp_status status) {
    static const tp_event events[] = {
        [TP_RUN_DONE] = TP_EVENT_DONE,
        [TP_RUN_FAILED] = TP_EVENT_RETRY,
        [TP_RUN_SKIPPED] = TP_EVENT_SKIPPED,
        [TP_RUN_LATER] = TP_EVENT_RELEASED,
    };
    bool gave_up = status == TP_SPENT;
    count(job->worker, outcome->verdict);
    tpi_notify_send(&job->worker->notify, gave_up ? TP_EVENT_GAVE_UP : events[outcome->verdict], job->task,
                    outcome->reason);
    if (gave_up) tpi_alerter_wake(job->worker);
}

/* An operator is to see from it alone whether something may have been done twice. */
void tpi_record_lost(struct tpi_job *job, const char *text) {
    char whole[TPI_TEXT_SIZE];
    snprintf(whole, sizeof whole, "%s; %s", text,
             atomic_load(&job->started)
                 ? "its handler was called here: what it does outside the database may come twice"
                 : "its handler was not called here");
    atomic_fetch_add(&job->worker->counts.lost, 1);
    tpi_notify_send(&job->worker->notify, TP_EVENT_LOST, job->task, whole);
}

void tpi_record_dropped(const struct tpi_job *job, const char *text) {
    char whole[2 * TPI_TEXT_SIZE];
    snprintf(whole, sizeof whole, "%s%s",
             job->done ? "it is done, but that could not be stored, so it will be done again: " : "", text);
    tpi_notify_send(&job->worker->notify, TP_EVENT_ERROR, job->task, whole);
}

void tpi_record_lost_settle(struct tpi_job *job) {
    if (!atomic_exchange(&job->lost, true))
        tpi_record_lost(job, "the claim had gone to another; the result is thrown away");
}

static void record_error(struct tp_run *run, const char *text) {
    tpi_notify_send(&run->worker->notify, TP_EVENT_ERROR, run->job->task, text);
}

/* ---- In the task's transaction ----------------------------------------------------------------------- */

static tp_status ask_settled(tp_conn *conn, void *arg) {
    const struct tpi_job *job = arg;
    return tp_settled(conn, job->task);
}

static enum tpi_next submit(struct tp_run *run, tp_verdict verdict) {
    tpi_completer_submit(run->job, verdict, run->reason, run->delay_ms, run->no_retry);
    return TPI_RUN_SUBMITTED;
}

/* The failure itself is written as the task's. */
static enum tpi_next fail_with_why(struct tp_run *run) {
    tpi_completer_submit(run->job, TP_RUN_FAILED, run->why, 0, false);
    return TPI_RUN_SUBMITTED;
}

/* The worker is to stop. */
static enum tpi_next put_back(struct tp_run *run) {
    tpi_completer_submit(run->job, TP_RUN_LATER, NULL, 0, false);
    return TPI_RUN_SUBMITTED;
}

static void roll_back(struct tp_run *run) {
    if (run->in_transaction) tpi_session_roll_back(run->session);
    run->in_transaction = false;
}

static tp_status ask_extend(tp_conn *conn, void *arg) {
    const struct tpi_job *job = arg;
    return tp_extend(conn, job->task, job->worker->options.lease_ms);
}

/* What took the transaction away may have lasted longer than the lease: then the database says whose the
 * claim is. */
static enum tpi_next begin_again(struct tp_run *run) {
    int64_t asked_ms = tpi_clock_mono_ms();
    if (atomic_load(&run->job->lost)) return TPI_RUN_ENDED;
    if (tpi_job_start(run->job)) return TPI_RUN_AGAIN;
    tp_status status = tpi_session_ask(run->session, TPI_UNTIL_STOP, ask_extend, run->job);
    if (status == TP_OK) {
        tpi_lease_extended(run->job, asked_ms);
        return TPI_RUN_AGAIN;
    }
    if (status == TP_LOST) {
        tpi_record_lost_settle(run->job);
        return TPI_RUN_ENDED;
    }
    if (tpi_lifetime_stopping(&run->worker->life)) return put_back(run);
    tpi_run_remember(run);
    return fail_with_why(run);
}

/* Nothing was committed and the claim is still ours. */
static enum tpi_next call_again(struct tp_run *run) {
    tpi_trace(TPI_TRACE_WORKER, "run %d of task=%s came to nothing: %s", run->runs, run->job->task->id,
              run->why[0] ? run->why : run->reason);
    if (run->runs >= TPI_RUNS_MAX) return fail_with_why(run);
    if (!tpi_lifetime_stopping(&run->worker->life)) {
        tpi_job_resume(run->job, false);
        tpi_session_pause(run->session, TPI_UNTIL_STOP);
        if (!tpi_lifetime_stopping(&run->worker->life)) return begin_again(run);
    }
    return put_back(run);
}

static struct tpi_outcome outcome_of(struct tp_run *run, tp_verdict verdict) {
    return (struct tpi_outcome){.verdict = verdict, .reason = run->reason};
}

static tp_status write_and_commit(struct tp_run *run, tp_verdict verdict) {
    if (run->doomed) return run->trouble;
    struct tpi_outcome outcome = outcome_of(run, verdict);
    tpi_watchdog_begin(run->session->who);
    tp_status status = tpi_verdict_write(run->session->conn, run->job, &outcome);
    if (status == TP_OK) status = tp_commit(run->session->conn);
    tpi_watchdog_end();
    if (status < 0) tpi_run_remember(run);
    tpi_session_note(run->session, status);
    return status;
}

static enum tpi_next record_committed(struct tp_run *run, tp_verdict verdict) {
    tpi_session_note_run(run->session, false);
    struct tpi_outcome outcome = outcome_of(run, verdict);
    tpi_record_settled(run->job, &outcome, TP_OK);
    return TPI_RUN_ENDED;
}

static enum tpi_next find_out(struct tp_run *run, tp_verdict verdict, tp_status failure) {
    tp_status known = tpi_session_ask(run->session, TPI_UNTIL_GRACE, ask_settled, run->job);
    if (known == TP_OK) return record_committed(run, verdict);
    if (known == TP_LOST) {
        tpi_record_lost_settle(run->job);
    } else if (known == TP_NONE) {
        if (tp_status_may_retry(failure)) return call_again(run);
        record_error(run, run->why);
        return fail_with_why(run);
    } else {
        record_error(run, tp_last_error()->text);
    }
    return TPI_RUN_ENDED;
}

static enum tpi_next settle_in_transaction(struct tp_run *run, tp_verdict verdict) {
    if (!tpi_job_settle(run->job)) {
        roll_back(run);
        return TPI_RUN_ENDED;
    }
    tp_status status = write_and_commit(run, verdict);
    if (status == TP_OK) {
        run->in_transaction = false;
        return record_committed(run, verdict);
    }
    roll_back(run);
    if (status != TP_LOST) return find_out(run, verdict, status);
    tpi_record_lost_settle(run->job);
    return TPI_RUN_ENDED;
}

static tp_status ask_lost(tp_conn *conn, void *arg) {
    (void)arg;
    return tpi_tx_lost(conn);
}

/* What another session found out meanwhile counts for this one too. */
bool tpi_verdict_tx_lost(struct tpi_session *session) {
    return tpi_session_call(session, ask_lost, NULL) != TP_OK || tpi_session_is_outdated(session);
}

/* Is it the transaction that failed, and not the handler? Rolls back. What a handler's own statement met in a
 * database that cannot be written is seen by writing over the same session. */
static bool failed_with_transaction(struct tp_run *run) {
    bool lost = tpi_verdict_tx_lost(run->session);
    roll_back(run);
    if (lost) return true;
    tp_status status = tpi_session_try(run->session, ask_extend, run->job);
    return status == TP_DISCONNECTED || status == TP_UNWRITABLE;
}

enum tpi_next tpi_verdict_settle(struct tp_run *run, tp_verdict verdict) {
    bool keeps = verdict == TP_RUN_DONE || verdict == TP_RUN_SKIPPED;
    if (keeps && run->in_transaction) return settle_in_transaction(run, verdict);
    if (run->in_transaction && verdict == TP_RUN_FAILED) {
        tpi_session_note_run(run->session, true);
        bool may_go_on = !run->doomed && !run->no_retry && run->runs < TPI_RUNS_MAX;
        if (may_go_on && failed_with_transaction(run)) return call_again(run);
    }
    roll_back(run);
    /* It failed because the worker could not give it what it asked for: no failure of the task. */
    if (verdict == TP_RUN_FAILED && tp_status_may_retry(run->trouble)) return call_again(run);
    if (verdict == TP_RUN_FAILED && !run->reason[0])
        tpi_utf8_copy("the handler gave no reason", run->reason, sizeof run->reason);
    return submit(run, verdict);
}
