/* What a settle writes, the one call that writes it, and how to find out what became of a task when that
 * call failed or got no answer. The same for jobs under a lease and under plan hold, in the task's
 * transaction or in one of the settle's own. */
#include "worker/outcome.h"
#include "ops/for_workers.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/uuid.h"
#include "core/retry.h"

void tpi_outcome_set(struct tpi_job *job, tp_verdict verdict, const char *reason) {
    char cut[TP_REASON_MAX + 1];
    tpi_utf8_copy(reason ? reason : "", cut, sizeof cut);
    free(job->settle.outcome.reason);
    /* Without memory the reason is lost, not the settle. */
    job->settle.outcome = (struct tpi_outcome){.verdict = verdict, .reason = cut[0] ? strdup(cut) : NULL};
}

/* In the thread that ran the handler; the lease is extended meanwhile. */
void tpi_outcome_ask_delay(struct tpi_job *job) {
    const tp_retry *given = job->handler ? job->handler->retry : job->jobs->options->retry;
    const tp_retry retry = tpi_retry_read(given);
    struct tpi_outcome *outcome = &job->settle.outcome;
    int32_t there = job->task->failures, failures = there < INT32_MAX ? there + 1 : INT32_MAX;
    bool asks = outcome->verdict == TP_RUN_FAILED && !outcome->no_retry && retry.delay;
    if (!asks || failures >= tpi_retry_max(given, job->task->max_failures)) return;
    outcome->retry_ms = retry.delay(job->task, failures, outcome->reason ? outcome->reason : "", retry.arg);
    outcome->asked = true;
}

/* What the policy's delay answered before, in the handler's thread. */
static int64_t say_again(const tp_task *task, int32_t failures, const char *reason, void *arg) {
    const struct tpi_outcome *outcome = arg;
    (void)task;
    (void)failures;
    (void)reason;
    return outcome->retry_ms;
}

tp_status tpi_outcome_write(tp_conn *conn, const struct tpi_job *job, const struct tpi_outcome *outcome) {
    const char *reason = outcome->reason && outcome->reason[0] ? outcome->reason : NULL;
    const tp_retry *retry = job->handler ? job->handler->retry : job->jobs->options->retry;
    const struct tpi_stop_notice *notice = atomic_load(&job->stop_notice);
    bool skips = outcome->verdict == TP_RUN_SKIPPED;
    if (notice && (skips || outcome->verdict == TP_RUN_DONE)) {
        struct tpi_cancel_end end = {.who = notice->who, .why = notice->why};
        if (skips) end.reason = reason ? reason : "";
        if (!skips) end.result = tpi_result_text(job->result);
        return tpi_cancel_settle(conn, job->task, &end);
    }
    switch (outcome->verdict) {
    case TP_RUN_DONE:
        return tp_complete_with(conn, job->task, tpi_result_text(job->result));
    case TP_RUN_SKIPPED:
        return tp_skip(conn, job->task, reason);
    case TP_RUN_LATER:
        return tp_release(conn, job->task, outcome->delay_ms);
    case TP_RUN_FAILED:
        break;
    }
    if (job->settle.counted && outcome->no_retry) {
        tp_task task = *job->task; /* by a lease: no task of plan hold may be copied */
        task.failures--;
        return tp_give_up(conn, &task, reason);
    }
    if (outcome->no_retry) return tp_give_up(conn, job->task, reason);
    const tp_retry said = {.size = sizeof said, .delay = say_again, .arg = (void *)(uintptr_t)outcome};
    if (outcome->asked) retry = &said;
    return tp_fail(conn, job->task, reason, retry);
}

/* ---- What became of it ------------------------------------------------------------------------------- */

static tp_status ask_settled(tp_conn *conn, void *arg) {
    return tp_settled(conn, arg);
}

enum tpi_fate tpi_outcome_find(struct tpi_session *session, const tp_task *task, bool held,
                               tp_status failure) {
    tp_status known = tpi_session_ask(session, TPI_UNTIL_GRACE, ask_settled, (void *)(uintptr_t)task);
    if (known == TP_OK) return TPI_FATE_STORED;
    if (!held && known == TP_LOST) return TPI_FATE_LOST;
    if (known != TP_NONE && known != TP_LOST) return TPI_FATE_UNKNOWN;
    return tp_status_may_retry(failure) ? TPI_FATE_OPEN : TPI_FATE_REFUSED;
}

/* A claim's token ends in digits of the process that made it. */
static tp_status ask_owner(tp_conn *conn, void *arg) {
    const char *id = arg;
    const size_t digits = strlen(tpi_uuid_process());
    tp_batch *batch = NULL;
    tp_status status = tp_show(conn, id, &batch);
    if (status != TP_OK) return status;
    const tp_task *now = tp_batch_task(batch, 0);
    size_t length = strlen(now->owner);
    bool ours = strcmp(now->state, "handling") == 0 && length > digits &&
                strcmp(now->owner + length - digits, tpi_uuid_process()) == 0;
    tp_batch_free(batch);
    return ours ? TP_OK : TP_NONE;
}

tp_status tpi_outcome_ask_owner(struct tpi_session *session, const tp_task *task) {
    return tpi_session_try(session, ask_owner, (void *)(uintptr_t)task->id);
}
