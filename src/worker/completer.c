/* The thread that settles what was not settled in its task's transaction, on one connection: completions in
 * groups, everything else one by one. A settle names id and token, so it is asked again until it is answered.
 * What keeps a group from being written is looked for by settling each alone; a task that somebody's lock
 * holds waits its turn without holding up the others. */
#include "worker/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "core/retry.h"

/* Looks for a claim of this process that is not taken in yet: the first are that far apart, the others more.
 */
enum { WAIT_MS = 200, WAITS_SOON = 50 };

struct group {
    struct tpi_session *session;
    size_t count;
    struct tpi_job *jobs[TP_CLAIM_MAX];
    const tp_task *tasks[TP_CLAIM_MAX];
    tp_status answers[TP_CLAIM_MAX];
};

/* ---- The list ---------------------------------------------------------------------------------------- */

static char *copy_reason(const char *reason) {
    char cut[TP_REASON_MAX + 1];
    tpi_utf8_copy(reason ? reason : "", cut, sizeof cut);
    /* Without memory the reason is lost, not the settle. */
    return cut[0] ? strdup(cut) : NULL;
}

void tpi_outcome_set(struct tpi_job *job, tp_verdict verdict, const char *reason) {
    char *copy = copy_reason(reason);
    free(job->outcome.reason);
    job->outcome = (struct tpi_outcome){.verdict = verdict, .reason = copy};
}

/* In the thread that ran the handler; the lease is extended meanwhile. */
static void ask_delay(struct tpi_job *job) {
    const tp_retry *given = job->handler ? job->handler->retry : job->worker->options.retry;
    const tp_retry retry = tpi_retry_read(given);
    struct tpi_outcome *outcome = &job->outcome;
    int32_t failures = job->task->failures + 1;
    bool asks = outcome->verdict == TP_RUN_FAILED && !outcome->no_retry && retry.delay;
    if (!asks || failures >= tpi_retry_max(given, job->task->max_failures)) return;
    outcome->retry_ms = retry.delay(job->task, failures, outcome->reason ? outcome->reason : "", retry.arg);
    outcome->asked = true;
}

static void put(struct tpi_job *job) {
    struct tp_worker *worker = job->worker;
    int64_t soon = tpi_clock_mono_ms() + TPI_BACKOFF_BUSY_MS;
    pthread_mutex_lock(&worker->life.lock);
    if (worker->life.stopped_at && job->not_before > soon) job->not_before = soon;
    job->done = job->done || job->outcome.verdict == TP_RUN_DONE;
    tpi_list_push(&worker->settle_list, job);
    tpi_signal_one(&worker->settle);
    pthread_mutex_unlock(&worker->life.lock);
}

void tpi_completer_hurry(struct tp_worker *worker) {
    for (struct tpi_job *job = worker->settle_list.first; job; job = job->next)
        job->not_before = 0;
}

void tpi_completer_submit(struct tpi_job *job, tp_verdict verdict, const char *reason, int64_t delay_ms,
                          bool no_retry) {
    tpi_outcome_set(job, verdict, reason);
    job->outcome.delay_ms = delay_ms;
    job->outcome.no_retry = no_retry;
    job->submitted_at = tpi_clock_mono_ms();
    job->not_before = 0;
    job->tries = job->refusals = job->waits = 0;
    tpi_job_resume(job, false); /* its own thread may have tried to settle it before */
    ask_delay(job);
    put(job);
}

/* Under the lock. One that is to be asked again has waited when its time has come: it must not make the
 * others that come meanwhile go without waiting for each other. */
static int64_t first_waited(const struct tp_worker *worker) {
    int64_t first = INT64_MAX;
    for (const struct tpi_job *job = worker->settle_list.first; job; job = job->next) {
        int64_t at = job->not_before ? job->not_before : job->submitted_at + worker->options.settle_ms;
        if (at < first) first = at;
    }
    return first;
}

/* Under the lock. When the first group may go: as soon as it is full, or has waited, or nothing that could
 * join it is under way. */
static int64_t group_due(const struct tp_worker *worker) {
    const struct tpi_list *list = &worker->settle_list;
    if (!list->count) return INT64_MAX;
    bool alone = list->count == worker->life.in_progress || worker->options.settle_count == 1;
    if (alone || list->count >= worker->options.settle_count || tpi_lifetime_stopping(&worker->life))
        return 0;
    return first_waited(worker);
}

/* Under the lock. When the first of them may be tried. */
static int64_t first_ready(const struct tp_worker *worker) {
    int64_t first = INT64_MAX;
    for (const struct tpi_job *job = worker->settle_list.first; job; job = job->next)
        if (job->not_before < first) first = job->not_before;
    return first;
}

/* Under the lock. */
static void take_ready(struct tp_worker *worker, struct group *group) {
    int64_t now = tpi_clock_mono_ms();
    size_t looked = worker->settle_list.count;
    group->count = 0;
    for (; looked && group->count < worker->options.settle_count; looked--) {
        struct tpi_job *job = tpi_list_pop(&worker->settle_list);
        if (job->not_before > now)
            tpi_list_push(&worker->settle_list, job);
        else
            group->jobs[group->count++] = job;
    }
}

/* False: nothing can come any more. */
static bool next_group(struct tp_worker *worker, struct group *group) {
    pthread_mutex_lock(&worker->life.lock);
    for (;;) {
        int64_t due = group_due(worker);
        int64_t ready = first_ready(worker);
        if (ready > due) due = ready;
        if (tpi_lifetime_over(&worker->life) || due <= tpi_clock_mono_ms()) break;
        tpi_signal_wait(&worker->life, &worker->settle, due);
    }
    take_ready(worker, group);
    bool more = group->count > 0;
    /* There is room for as many claims again. */
    tpi_signal_one(&worker->claim);
    if (worker->holding) tpi_signal_all(&worker->work);
    pthread_mutex_unlock(&worker->life.lock);
    return more;
}

/* ---- One --------------------------------------------------------------------------------------------- */

/* Handlers are called again when a call was answered, or nothing is left to ask. */
static void note_answer(struct tpi_session *session, bool unanswered) {
    struct tp_worker *worker = session->sessions->worker;
    pthread_mutex_lock(&worker->life.lock);
    bool back = worker->unanswered && !unanswered;
    worker->unanswered = unanswered;
    if (back) tpi_signal_all(&worker->work);
    pthread_mutex_unlock(&worker->life.lock);
}

static tp_status try_settle(struct tpi_session *session, tpi_ask_fn ask, void *arg) {
    tp_status status = tpi_session_try(session, ask, arg);
    note_answer(session, session->broken || status == TP_UNWRITABLE);
    return status;
}

/* What is done and was refused is written as done, if the database takes that by now. When the claim is gone,
 * an earlier try that was not heard may have written it as failed. */
static tp_status ask_one(tp_conn *conn, void *arg) {
    struct tpi_job *job = arg;
    if (job->done && job->last_resort) {
        tp_status status = tp_complete(conn, job->task);
        if (status >= 0) tpi_outcome_set(job, TP_RUN_DONE, NULL);
        if (status >= 0 || tp_status_may_retry(status)) return status;
    }
    return tpi_verdict_write(conn, job, &job->outcome);
}

static bool is_past_deadline(const struct tpi_job *job) {
    bool waits = !job->worker->step && !tpi_lifetime_stopping(&job->worker->life);
    return !waits && tpi_lifetime_grace_over(&job->worker->life, job->submitted_at);
}

/* When this process has claimed the task again, and has not heard so, what is done must be known to it until
 * it has, however long that takes. Back into the list meanwhile. */
static bool awaits_claim(struct tpi_session *session, struct tpi_job *job) {
    if (!job->done || atomic_load(&job->passed_on) || is_past_deadline(job)) return false;
    tp_status status = tpi_owner_ask(session, job);
    if (status != TP_OK && !tpi_session_may_retry(session, status)) return false;
    int64_t wait_ms = job->waits++ < WAITS_SOON ? WAIT_MS : TPI_BACKOFF_BUSY_MS;
    job->not_before = tpi_clock_mono_ms() + wait_ms;
    tpi_job_resume(job, true); /* the lease renewer cannot say that it is lost */
    put(job);
    return true;
}

static void finish(struct tpi_session *session, struct tpi_job *job, tp_status status) {
    if (status == TP_LOST && awaits_claim(session, job)) return;
    if (status == TP_LOST)
        tpi_record_lost_settle(job);
    else
        tpi_record_settled(job, &job->outcome, status);
    tpi_job_end(job);
}

/* With words before it when the handler must not be called again for it. */
static void record_error(const struct tpi_job *job, const char *of_done, const char *text) {
    char whole[2 * TPI_TEXT_SIZE];
    snprintf(whole, sizeof whole, "%s%s", job->done ? of_done : "", text);
    tpi_notify_send(&job->worker->notify, TP_EVENT_ERROR, job->task, whole);
}

static void give_up(struct tpi_job *job, const char *text) {
    tpi_record_dropped(job, text);
    tpi_job_end(job);
}

/* Back into the list; the lease renewer minds it meanwhile. */
static void ask_later(struct tpi_session *session, struct tpi_job *job) {
    int64_t most_ms = job->last_resort ? TPI_BACKOFF_REFUSED_MS : TPI_BACKOFF_BUSY_MS;
    bool due_to_report =
        ++job->tries == TPI_COMPLAIN_AFTER || (job->last_resort && job->tries % TPI_REMIND_EVERY == 0);
    if (due_to_report && !session->broken)
        record_error(
            job, "done, but that cannot be stored; it is asked again until it can: ", tp_last_error()->text);
    job->not_before =
        session->broken ? 0 : tpi_clock_mono_ms() + tpi_session_backoff_ms(session, job->tries, most_ms);
    tpi_job_resume(job, session->broken);
    put(job);
}

/* The last resort: the failure itself is written as the task's. What is done must not be done again because
 * that cannot be stored, so it goes to the failed pool, where a person finds it. When that is refused too the
 * claim is kept, and asked for until somebody mends the database. */
static void fail_with(struct tpi_job *job, const char *text) {
    static const char of_done[] = "done, but the database refuses to store that: ";
    char whole[sizeof of_done + TPI_TEXT_SIZE];
    bool no_retry = job->done || job->outcome.no_retry;
    snprintf(whole, sizeof whole, "%s%s", job->done ? of_done : "", text);
    tpi_outcome_set(job, TP_RUN_FAILED, whole);
    job->outcome.no_retry = no_retry;
    record_error(job, of_done, text);
    job->last_resort = true;
    job->not_before = 0;
    tpi_job_resume(job, false);
    put(job);
}

static void heard_failure(struct tpi_session *session, struct tpi_job *job, tp_status status) {
    char text[TPI_TEXT_SIZE];
    tpi_utf8_copy(tp_last_error()->text, text, sizeof text);
    bool refused = !tpi_session_may_retry(session, status), late = is_past_deadline(job);
    if (refused) job->refusals++;
    if (refused && !job->last_resort && (late || job->refusals >= TPI_REFUSALS_MAX))
        fail_with(job, text);
    else if (late)
        give_up(job, text);
    else
        ask_later(session, job);
}

/* False: the database gave no answer. */
static bool settle_one(struct tpi_session *session, struct tpi_job *job) {
    if (!tpi_job_settle(job)) {
        tpi_job_end(job);
        return true;
    }
    tp_status status = try_settle(session, ask_one, job);
    bool answered = status >= 0 || status == TP_LOST;
    if (answered)
        finish(session, job, status);
    else
        heard_failure(session, job, status);
    return answered;
}

/* ---- Many -------------------------------------------------------------------------------------------- */

static tp_status ask_many(tp_conn *conn, void *arg) {
    struct group *group = arg;
    return tp_complete_many(conn, group->tasks, group->count, group->answers);
}

/* Leaves in the group the completions that are to go together; settles the others. */
static void settle_singles(struct group *group) {
    size_t kept = 0;
    for (size_t i = 0; i < group->count; i++) {
        struct tpi_job *job = group->jobs[i];
        if (job->outcome.verdict == TP_RUN_DONE && !job->tries)
            group->jobs[kept++] = job;
        else
            (void)settle_one(group->session, job);
    }
    group->count = kept;
}

/* Leaves in the group those whose claim is not known to be lost. */
static void take_over(struct group *group) {
    size_t kept = 0;
    for (size_t i = 0; i < group->count; i++) {
        struct tpi_job *job = group->jobs[i];
        if (tpi_job_settle(job))
            group->jobs[kept++] = job;
        else
            tpi_job_end(job);
    }
    group->count = kept;
    for (size_t i = 0; i < kept; i++) {
        group->tasks[i] = group->jobs[i]->task;
        group->answers[i] = TP_OK;
    }
}

/* Not tried: back into the list as it was. */
static void put_off(struct tpi_session *session, struct tpi_job *job) {
    if (is_past_deadline(job)) {
        give_up(job, tp_last_error()->text);
        return;
    }
    job->not_before = session->broken ? 0 : tpi_clock_mono_ms() + TPI_BACKOFF_FIRST_MS;
    put(job);
}

/* Each may wait for a lock as long as the session lets it, so when several in a row get no answer it is not
 * one task's trouble, and the others are not tried for now. The lease renewer minds those that wait. */
static void settle_each(struct group *group) {
    unsigned misses = 0;
    for (size_t i = 0; i < group->count; i++)
        tpi_job_resume(group->jobs[i], false);
    for (size_t i = 0; i < group->count; i++) {
        if (misses >= TPI_MISSES_MAX || group->session->broken)
            put_off(group->session, group->jobs[i]);
        else
            misses = settle_one(group->session, group->jobs[i]) ? 0 : misses + 1;
    }
}

static void settle_together(struct group *group) {
    take_over(group);
    if (group->count == 0) return;
    tp_status status = try_settle(group->session, ask_many, group);
    tpi_trace(TPI_TRACE_WORKER, "settle %zu: %s", group->count, tp_status_name(status));
    bool answered = status >= 0 || status == TP_LOST;
    if (!answered && !group->session->broken) {
        settle_each(group);
        return;
    }
    for (size_t i = 0; i < group->count; i++) {
        if (answered)
            finish(group->session, group->jobs[i], group->answers[i]);
        else
            heard_failure(group->session, group->jobs[i], status);
    }
}

static bool settles_wait(struct tp_worker *worker) {
    pthread_mutex_lock(&worker->life.lock);
    bool wait = worker->settle_list.count > 0;
    pthread_mutex_unlock(&worker->life.lock);
    return wait;
}

static void settle_group(struct group *group) {
    settle_singles(group);
    if (group->count == 1)
        (void)settle_one(group->session, group->jobs[0]);
    else
        settle_together(group);
    if (!settles_wait(group->session->sessions->worker)) note_answer(group->session, false);
    if (group->session->broken) tpi_session_pause(group->session, TPI_UNTIL_GRACE);
}

void tpi_completer_run_down(struct tpi_session *session) {
    struct group *group = calloc(1, sizeof *group);
    if (!group) return;
    group->session = session;
    while (session->sessions->worker->settle_list.count && next_group(session->sessions->worker, group))
        settle_group(group);
    free(group);
}

void *tpi_completer_main(void *arg) {
    struct tpi_session session;
    struct group group = {.session = &session, .count = 0};
    tpi_session_init(&session, &((struct tp_worker *)arg)->sessions, "settler");
    while (next_group(arg, &group))
        settle_group(&group);
    tpi_session_close(&session);
    return NULL;
}
