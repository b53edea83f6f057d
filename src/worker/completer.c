/* The thread that settles tasks which were not settled in their own transaction, on one connection:
 * completions in groups, everything else one by one. A settle names id and token, so it is repeated until it
 * is answered. When a group cannot be written, its tasks are settled one by one to find the reason; a task
 * that is locked by somebody waits without delaying the others. */
#include "worker/completer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/trace.h"
#include "base/utf8.h"
#include "ops/for_workers.h"
#include "worker/outcome.h"

/* Polls for a claim of this process that is not taken in yet: the first are that far apart, the others more.
 */
enum { WAIT_MS = 200, WAITS_SOON = 50 };

enum {
    REFUSED_MS = 30000, /* the longest pause of a settle that is refused in every form */
    REMIND_EVERY = 20,  /* tries of such a settle, about ten minutes */
    REFUSALS_MAX = 5,   /* of one settle, by a rule of the database, before it is written otherwise */
};

struct group {
    struct tpi_completer *completer;
    struct tpi_session *session;
    size_t count;
    struct tpi_job *jobs[TP_CLAIM_MAX];
    const tp_task *tasks[TP_CLAIM_MAX];
    const char *results[TP_CLAIM_MAX];
    tp_status answers[TP_CLAIM_MAX];
};

/* ---- The list ---------------------------------------------------------------------------------------- */

static void put(struct tpi_completer *completer, struct tpi_job *job) {
    int64_t soon = tpi_clock_mono_ms() + TPI_BACKOFF_BUSY_MS;
    pthread_mutex_lock(&completer->lock);
    if (atomic_load(&completer->life->stopped_at) && job->settle.not_before > soon)
        job->settle.not_before = soon;
    tpi_list_push(&completer->list, job);
    tpi_queue_set_unsettled(completer->queue, completer->list.count);
    tpi_signal_one(&completer->submitted);
    pthread_mutex_unlock(&completer->lock);
}

void tpi_completer_wake(struct tpi_completer *completer) {
    pthread_mutex_lock(&completer->lock);
    tpi_signal_one(&completer->submitted);
    pthread_mutex_unlock(&completer->lock);
}

void tpi_completer_hurry(struct tpi_completer *completer) {
    pthread_mutex_lock(&completer->lock);
    for (struct tpi_job *job = completer->list.first; job; job = job->next)
        job->settle.not_before = 0;
    pthread_mutex_unlock(&completer->lock);
}

void tpi_completer_submit(struct tpi_completer *completer, struct tpi_job *job, tp_verdict verdict,
                          const char *reason, int64_t delay_ms, bool no_retry) {
    tpi_outcome_set(job, verdict, reason);
    job->settle.outcome.delay_ms = delay_ms;
    job->settle.outcome.no_retry = no_retry;
    job->settle.submitted_at = tpi_clock_mono_ms();
    job->settle.not_before = 0;
    job->settle.tries = job->settle.refusals = job->settle.waits = 0;
    tpi_job_resume(job, false); /* its own thread may have tried to settle it before */
    tpi_outcome_ask_delay(job);
    if (verdict == TP_RUN_DONE) tpi_job_mark_done(job);
    put(completer, job);
}

void tpi_completer_release_queue(struct tpi_completer *completer) {
    struct tpi_job *job;
    while ((job = tpi_queue_take_unstarted(completer->queue)) != NULL)
        tpi_completer_submit(completer, job, TP_RUN_LATER, NULL, 0, false);
}

/* Under the lock. When the first group may go: as soon as it is full, or has waited, or nothing that could
 * join it is under way; but not before one of them may be tried. One that is to be asked again has waited
 * when its time has come: it must not make the others that come meanwhile go without waiting for each other.
 */
static int64_t group_due(const struct tpi_completer *completer) {
    const struct tpi_list *list = &completer->list;
    int64_t ready = INT64_MAX, waited = INT64_MAX;
    for (const struct tpi_job *job = list->first; job; job = job->next) {
        int64_t at = job->settle.not_before;
        if (at < ready) ready = at;
        if (!at) at = job->settle.submitted_at + completer->options->settle_ms;
        if (at < waited) waited = at;
    }
    bool alone = list->count == atomic_load(&completer->life->in_progress);
    bool full = list->count >= completer->options->settle_count;
    bool waits = !alone && !full && !tpi_lifetime_stopping(completer->life);
    return waits && waited > ready ? waited : ready;
}

/* Under the lock. */
static void take_ready(struct tpi_completer *completer, struct group *group) {
    int64_t now = tpi_clock_mono_ms();
    size_t looked = completer->list.count;
    group->count = 0;
    for (; looked && group->count < completer->options->settle_count; looked--) {
        struct tpi_job *job = tpi_list_pop(&completer->list);
        if (job->settle.not_before > now)
            tpi_list_push(&completer->list, job);
        else
            group->jobs[group->count++] = job;
    }
}

/* False: nothing can come any more. */
static bool next_group(struct tpi_completer *completer, struct group *group) {
    pthread_mutex_lock(&completer->lock);
    for (;;) {
        int64_t due = group_due(completer);
        if (tpi_lifetime_over(completer->life) || due <= tpi_clock_mono_ms()) break;
        tpi_signal_wait(&completer->submitted, due);
    }
    take_ready(completer, group);
    bool more = group->count > 0;
    tpi_queue_set_unsettled(completer->queue, completer->list.count);
    pthread_mutex_unlock(&completer->lock);
    return more;
}

/* ---- One --------------------------------------------------------------------------------------------- */

static tp_status try_settle(struct group *group, tpi_ask_fn ask, void *arg) {
    tp_status status = tpi_session_try(group->session, ask, arg);
    bool unanswered = group->session->broken || status == TP_UNWRITABLE;
    tpi_queue_set_unanswered(group->completer->queue, unanswered);
    return status;
}

/* What is done and was refused is written as done, if the database takes that by now. When the claim is gone,
 * an earlier try that was not heard may have written it as failed. */
static tp_status ask_one(tp_conn *conn, void *arg) {
    struct tpi_job *job = arg;
    if (job->done && job->settle.last_resort) {
        tp_status status = tp_complete_with(conn, job->task, tpi_result_text(job->result));
        if (status >= 0) tpi_outcome_set(job, TP_RUN_DONE, NULL);
        if (status >= 0 || tp_status_may_retry(status)) return status;
    }
    return tpi_outcome_write(conn, job, &job->settle.outcome);
}

static bool is_past_deadline(const struct group *group, const struct tpi_job *job) {
    struct tpi_lifetime *life = group->completer->life;
    bool waits = !life->stepping && !tpi_lifetime_stopping(life);
    return !waits && tpi_lifetime_grace_over(life, job->settle.submitted_at);
}

/* When this process has claimed the task again, and has not heard so, what is done must be known to it until
 * it has, however long that takes. Back into the list meanwhile. */
static bool awaits_claim(struct group *group, struct tpi_job *job) {
    if (!job->done || atomic_load(&job->passed_on) || is_past_deadline(group, job)) return false;
    tp_status status = tpi_outcome_ask_owner(group->session, job->task);
    if (status != TP_OK && !tpi_session_may_retry(group->session, status)) return false;
    int64_t wait_ms = job->settle.waits++ < WAITS_SOON ? WAIT_MS : TPI_BACKOFF_BUSY_MS;
    job->settle.not_before = tpi_clock_mono_ms() + wait_ms;
    tpi_job_resume(job, true); /* the lease renewer cannot say that it is lost */
    put(group->completer, job);
    return true;
}

static void finish(struct group *group, struct tpi_job *job, tp_status status) {
    if (status == TP_LOST && awaits_claim(group, job)) return;
    if (status == TP_LOST)
        tpi_record_lost_settle(group->completer->record, job);
    else
        tpi_record_settled(group->completer->record, job, &job->settle.outcome, status);
    tpi_job_end(job);
}

/* With words before it when the handler must not be called again for it. */
static void record_error(const struct group *group, const struct tpi_job *job, const char *of_done,
                         const char *text) {
    char whole[2 * TPI_TEXT_SIZE];
    snprintf(whole, sizeof whole, "%s%s", job->done ? of_done : "", text);
    tpi_record_error(group->completer->record, job->task, whole);
}

static void give_up(const struct group *group, struct tpi_job *job, const char *text) {
    tpi_record_dropped(group->completer->record, job, text);
    tpi_job_end(job);
}

/* Back into the list; the lease renewer minds it meanwhile. */
static void ask_later(struct group *group, struct tpi_job *job) {
    int64_t most_ms = job->settle.last_resort ? REFUSED_MS : TPI_BACKOFF_BUSY_MS;
    bool due_to_report = ++job->settle.tries == TPI_COMPLAIN_AFTER ||
                         (job->settle.last_resort && job->settle.tries % REMIND_EVERY == 0);
    if (due_to_report && !group->session->broken)
        record_error(group, job, "done, but that cannot be stored; it is asked again until it can: ",
                     tp_last_error()->text);
    job->settle.not_before =
        group->session->broken
            ? 0
            : tpi_clock_mono_ms() + tpi_session_backoff_ms(group->session, job->settle.tries, most_ms);
    tpi_job_resume(job, group->session->broken);
    put(group->completer, job);
}

/* The last resort: the failure itself is written as the task's. What is done must not be done again because
 * that cannot be stored, so it goes to the failed pool, where a person finds it. When that is refused too the
 * claim is kept, and asked for until somebody mends the database. */
static void fail_with(const struct group *group, struct tpi_job *job, const char *text) {
    char whole[sizeof TP_REASON_DONE + TPI_TEXT_SIZE];
    bool no_retry = job->done || job->settle.outcome.no_retry;
    snprintf(whole, sizeof whole, "%s%s", job->done ? TP_REASON_DONE : "", text);
    tpi_outcome_set(job, TP_RUN_FAILED, whole);
    job->settle.outcome.no_retry = no_retry;
    record_error(group, job, TP_REASON_DONE, text);
    job->settle.last_resort = true;
    job->settle.not_before = 0;
    tpi_job_resume(job, false);
    put(group->completer, job);
}

static void heard_failure(struct group *group, struct tpi_job *job, tp_status status) {
    char text[TPI_TEXT_SIZE];
    tpi_utf8_copy(tp_last_error()->text, text, sizeof text);
    bool refused = !tpi_session_may_retry(group->session, status), late = is_past_deadline(group, job);
    if (refused) job->settle.refusals++;
    if (refused && !job->settle.last_resort && (late || job->settle.refusals >= REFUSALS_MAX))
        fail_with(group, job, text);
    else if (late)
        give_up(group, job, text);
    else
        ask_later(group, job);
}

/* False: the database gave no answer. */
static bool settle_one(struct group *group, struct tpi_job *job) {
    if (!tpi_job_settle(job)) {
        tpi_record_lost_settle(group->completer->record, job);
        tpi_job_end(job);
        return true;
    }
    tp_status status = try_settle(group, ask_one, job);
    bool answered = status >= 0 || status == TP_LOST;
    if (answered)
        finish(group, job, status);
    else
        heard_failure(group, job, status);
    return answered;
}

/* ---- Many -------------------------------------------------------------------------------------------- */

static tp_status ask_many(tp_conn *conn, void *arg) {
    struct group *group = arg;
    return tpi_complete_many(conn, group->tasks, group->results, group->count, group->answers);
}

/* Leaves in the group the completions that are to go together; settles the others. */
static void settle_singles(struct group *group) {
    size_t kept = 0;
    for (size_t i = 0; i < group->count; i++) {
        struct tpi_job *job = group->jobs[i];
        if (job->settle.outcome.verdict == TP_RUN_DONE && !job->settle.tries &&
            !atomic_load(&job->stop_notice))
            group->jobs[kept++] = job;
        else
            (void)settle_one(group, job);
    }
    group->count = kept;
}

/* Leaves in the group those whose claim is not known to be lost. */
static void take_over(struct group *group) {
    size_t kept = 0;
    for (size_t i = 0; i < group->count; i++) {
        struct tpi_job *job = group->jobs[i];
        if (tpi_job_settle(job)) {
            group->jobs[kept++] = job;
        } else {
            tpi_record_lost_settle(group->completer->record, job);
            tpi_job_end(job);
        }
    }
    group->count = kept;
    for (size_t i = 0; i < kept; i++) {
        group->tasks[i] = group->jobs[i]->task;
        group->results[i] = tpi_result_text(group->jobs[i]->result);
        group->answers[i] = TP_OK;
    }
}

/* Not tried: back into the list as it was. */
static void put_off(struct group *group, struct tpi_job *job) {
    if (is_past_deadline(group, job)) {
        give_up(group, job, tp_last_error()->text);
        return;
    }
    job->settle.not_before = group->session->broken ? 0 : tpi_clock_mono_ms() + TPI_BACKOFF_FIRST_MS;
    put(group->completer, job);
}

/* Each may wait for a lock as long as the session lets it, so when several in a row get no answer it is not
 * one task's trouble, and the others are not tried for now. The lease renewer minds those that wait. */
static void settle_each(struct group *group) {
    unsigned misses = 0;
    for (size_t i = 0; i < group->count; i++)
        tpi_job_resume(group->jobs[i], false);
    for (size_t i = 0; i < group->count; i++) {
        if (misses >= TPI_MISSES_MAX || group->session->broken)
            put_off(group, group->jobs[i]);
        else
            misses = settle_one(group, group->jobs[i]) ? 0 : misses + 1;
    }
}

static void settle_together(struct group *group) {
    take_over(group);
    if (group->count == 0) return;
    tp_status status = try_settle(group, ask_many, group);
    tpi_trace(TPI_TRACE_WORKER, "settle %zu: %s", group->count, tp_status_name(status));
    bool answered = status >= 0 || status == TP_LOST;
    if (!answered && !group->session->broken) {
        settle_each(group);
        return;
    }
    for (size_t i = 0; i < group->count; i++) {
        if (answered)
            finish(group, group->jobs[i], group->answers[i]);
        else
            heard_failure(group, group->jobs[i], status);
    }
}

static void settle_group(struct group *group) {
    struct tpi_completer *completer = group->completer;
    settle_singles(group);
    if (group->count == 1)
        (void)settle_one(group, group->jobs[0]);
    else
        settle_together(group);
    pthread_mutex_lock(&completer->lock);
    bool nothing_left = completer->list.count == 0;
    pthread_mutex_unlock(&completer->lock);
    if (nothing_left) tpi_queue_set_unanswered(completer->queue, false);
    if (group->session->broken) tpi_session_pause(group->session, TPI_UNTIL_GRACE);
}

void tpi_completer_run_down(struct tpi_completer *completer, struct tpi_session *session) {
    struct group *group = calloc(1, sizeof *group);
    if (!group) return;
    group->completer = completer;
    group->session = session;
    while (completer->list.count && next_group(completer, group))
        settle_group(group);
    free(group);
}

void *tpi_completer_main(void *arg) {
    struct tpi_completer *completer = arg;
    struct tpi_session session;
    struct group group = {.completer = completer, .session = &session, .count = 0};
    tpi_session_init(&session, completer->sessions, "completer");
    while (next_group(completer, &group))
        settle_group(&group);
    tpi_session_close(&session);
    return NULL;
}
