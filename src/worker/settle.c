/* From a handler's verdict to the database's answer. A settle on its own is asked again until it is answered:
 * its token makes that harmless. A settle in the task's transaction is not, because the handler's writes went
 * with it: after any failure the transaction is ended, the database is asked what became of the claim, and if
 * that says "still held" nothing was committed and the handler is called again. */
#include "worker/worker.h"

#include "base/utf8.h"

struct settle {
    tp_verdict verdict;
    const tp_task *task;
    const char *reason; /* NULL: none */
    const tp_retry *retry;
    int64_t delay_ms;
};

static tp_status ask_settle(tp_conn *conn, void *arg) {
    const struct settle *settle = arg;
    switch (settle->verdict) {
    case TP_RUN_DONE:
        return tp_complete(conn, settle->task);
    case TP_RUN_SKIPPED:
        return tp_skip(conn, settle->task, settle->reason);
    case TP_RUN_LATER:
        return tp_release(conn, settle->task, settle->delay_ms);
    case TP_RUN_FAILED:
        break;
    }
    return tp_fail(conn, settle->task, settle->reason, settle->retry);
}

static tp_status ask_settled(tp_conn *conn, void *arg) {
    const struct tpi_item *item = arg;
    return tp_settled(conn, item->task);
}

static struct settle settle_of(const struct tp_run *run, tp_verdict verdict) {
    return (struct settle){.verdict = verdict,
                           .task = run->item->task,
                           .reason = run->reason[0] ? run->reason : NULL,
                           .retry = run->worker->options.retry,
                           .delay_ms = run->delay_ms};
}

static void tell(struct tp_run *run, tp_event event, const char *text) {
    tpi_notice_send(run->worker, event, run->item->task, text);
}

static void tell_settled(struct tp_run *run, tp_verdict verdict, tp_status status) {
    static const tp_event events[] = {
        [TP_RUN_DONE] = TP_EVENT_DONE,
        [TP_RUN_FAILED] = TP_EVENT_RETRY,
        [TP_RUN_SKIPPED] = TP_EVENT_SKIPPED,
        [TP_RUN_LATER] = TP_EVENT_RELEASED,
    };
    tell(run, status == TP_SPENT ? TP_EVENT_GAVE_UP : events[verdict], run->reason);
}

static void tell_lost(struct tp_run *run) {
    tell(run, TP_EVENT_LOST, "the claim had gone to another; the result is thrown away");
}

/* The last resort: the failure itself is written as the task's. If even that fails, the lease brings the task
 * back, and the lapse counts as the failure. */
static void fail_with_why(struct tp_run *run) {
    tpi_utf8_copy(run->why, run->reason, sizeof run->reason);
    struct settle settle = settle_of(run, TP_RUN_FAILED);
    tp_status status = tpi_line_ask(run->line, TPI_UNTIL_GRACE, ask_settle, &settle);
    if (status >= 0)
        tell_settled(run, TP_RUN_FAILED, status);
    else if (status == TP_LOST)
        tell_lost(run);
    else
        tell(run, TP_EVENT_ERROR, tp_last_error()->text);
}

/* Outside a transaction. */
static void settle_alone(struct tp_run *run, tp_verdict verdict) {
    struct settle settle = settle_of(run, verdict);
    tp_status status = tpi_line_ask(run->line, TPI_UNTIL_GRACE, ask_settle, &settle);
    if (status >= 0) {
        tell_settled(run, verdict, status);
    } else if (status == TP_LOST) {
        tell_lost(run);
    } else {
        tpi_run_remember(run);
        tell(run, TP_EVENT_ERROR, run->why);
        if (!tpi_line_hope(run->line, status)) fail_with_why(run);
    }
}

/* A session whose rollback failed may still be inside the transaction: it is not used again. */
static void roll_back(struct tp_run *run) {
    if (!run->in_transaction) return;
    run->in_transaction = false;
    if (run->line->broken) return;
    tp_status status = tp_rollback(run->line->conn);
    if (status == TP_OK) return;
    tpi_line_note(run->line, status);
    run->line->broken = true;
}

/* Nothing was committed and the claim is still ours. */
static bool call_again(struct tp_run *run) {
    tpi_trace(TPI_TRACE_WORKER, "run %d of task=%s came to nothing: %s", run->runs, run->item->task->id,
              run->why);
    if (run->runs >= TPI_RUNS_MAX) {
        fail_with_why(run);
        return false;
    }
    if (!tpi_worker_stopping(run->worker)) {
        tpi_item_resume(run->worker, run->item);
        tpi_line_pause(run->line, TPI_UNTIL_STOP);
        if (!tpi_worker_stopping(run->worker)) return !atomic_load(&run->item->lost);
        if (!tpi_item_settle(run->worker, run->item)) return false;
    }
    run->delay_ms = 0;
    settle_alone(run, TP_RUN_LATER);
    return false;
}

static tp_status write_and_commit(struct tp_run *run, tp_verdict verdict) {
    if (run->doomed) return run->trouble;
    struct settle settle = settle_of(run, verdict);
    tp_status status = ask_settle(run->line->conn, &settle);
    if (status == TP_OK) status = tp_commit(run->line->conn);
    if (status < 0) tpi_run_remember(run);
    tpi_line_note(run->line, status);
    return status;
}

/* True: call the handler again. */
static bool find_out(struct tp_run *run, tp_verdict verdict, tp_status failure) {
    tp_status known = tpi_line_ask(run->line, TPI_UNTIL_GRACE, ask_settled, run->item);
    if (known == TP_OK) {
        tell_settled(run, verdict, TP_OK);
    } else if (known == TP_LOST) {
        tell_lost(run);
    } else if (known == TP_NONE) {
        if (tp_status_may_retry(failure)) return call_again(run);
        tell(run, TP_EVENT_ERROR, run->why);
        fail_with_why(run);
    } else {
        tell(run, TP_EVENT_ERROR, tp_last_error()->text);
    }
    return false;
}

static bool settle_in_transaction(struct tp_run *run, tp_verdict verdict) {
    tp_status status = write_and_commit(run, verdict);
    if (status == TP_OK) {
        run->in_transaction = false;
        tell_settled(run, verdict, TP_OK);
        return false;
    }
    roll_back(run);
    if (status != TP_LOST) return find_out(run, verdict, status);
    tell_lost(run);
    return false;
}

bool tpi_settle_run(struct tp_run *run, tp_verdict verdict) {
    bool ours = tpi_item_settle(run->worker, run->item);
    bool keeps = verdict == TP_RUN_DONE || verdict == TP_RUN_SKIPPED;
    if (ours && keeps && run->in_transaction) return settle_in_transaction(run, verdict);
    roll_back(run);
    if (!ours) return false;
    /* It failed because the worker could not give it what it asked for: no failure of the task. */
    if (verdict == TP_RUN_FAILED && tp_status_may_retry(run->trouble)) return call_again(run);
    if (verdict == TP_RUN_FAILED && !run->reason[0]) tp_run_reason(run, "the handler gave no reason");
    settle_alone(run, verdict);
    return false;
}

bool tpi_settle_release(struct tpi_line *line, struct tpi_item *item) {
    struct settle settle = {.verdict = TP_RUN_LATER, .task = item->task};
    tp_status status = tpi_line_ask(line, TPI_UNTIL_GRACE, ask_settle, &settle);
    if (status >= 0)
        tpi_notice_send(line->worker, TP_EVENT_RELEASED, item->task, NULL);
    else if (status == TP_LOST)
        tpi_notice_send(line->worker, TP_EVENT_LOST, item->task, "the claim had gone to another");
    else
        tpi_notice_send(line->worker, TP_EVENT_ERROR, item->task, tp_last_error()->text);
    return !tpi_line_hope(line, status);
}
