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
    struct tpi_line *line;
    size_t count;
    struct tpi_item *items[TP_CLAIM_MAX];
    const tp_task *tasks[TP_CLAIM_MAX];
    tp_status answers[TP_CLAIM_MAX];
};

/* ---- The list ------------------------------------------------------------------------------------------ */

static char *copy_reason(const char *reason) {
    char cut[TP_REASON_MAX + 1];
    tpi_utf8_copy(reason ? reason : "", cut, sizeof cut);
    /* Without memory the reason is lost, not the settle. */
    return cut[0] ? strdup(cut) : NULL;
}

void tpi_outcome_set(struct tpi_item *item, tp_verdict verdict, const char *reason) {
    char *copy = copy_reason(reason);
    free(item->outcome.reason);
    item->outcome = (struct tpi_outcome){.verdict = verdict, .reason = copy};
}

/* In the thread that ran the handler; the lease is extended meanwhile. */
static void ask_delay(struct tpi_item *item) {
    const tp_retry *given = item->handler ? item->handler->retry : item->worker->options.retry;
    const tp_retry retry = tpi_retry_read(given);
    struct tpi_outcome *outcome = &item->outcome;
    int32_t failures = item->task->failures + 1;
    bool asks = outcome->verdict == TP_RUN_FAILED && !outcome->no_retry && retry.delay;
    if (!asks || failures >= tpi_retry_max(given, item->task->max_failures)) return;
    outcome->retry_ms = retry.delay(item->task, failures, outcome->reason ? outcome->reason : "", retry.arg);
    outcome->asked = true;
}

static void put(struct tpi_item *item) {
    struct tp_worker *worker = item->worker;
    int64_t soon = tpi_clock_mono_ms() + TPI_BACKOFF_BUSY_MS;
    pthread_mutex_lock(&worker->lock);
    if (worker->stopped_at && item->not_before > soon) item->not_before = soon;
    item->done = item->done || item->outcome.verdict == TP_RUN_DONE;
    tpi_list_push(&worker->settle_list, item);
    pthread_cond_signal(&worker->settle);
    pthread_mutex_unlock(&worker->lock);
}

void tpi_settler_hurry(struct tp_worker *worker) {
    for (struct tpi_item *item = worker->settle_list.first; item; item = item->next)
        item->not_before = 0;
}

void tpi_settler_hand(struct tpi_item *item, tp_verdict verdict, const char *reason, int64_t delay_ms,
                      bool no_retry) {
    tpi_outcome_set(item, verdict, reason);
    item->outcome.delay_ms = delay_ms;
    item->outcome.no_retry = no_retry;
    item->handed_at = tpi_clock_mono_ms();
    item->not_before = 0;
    item->tries = item->refusals = item->waits = 0;
    tpi_item_resume(item, false); /* its own thread may have tried to settle it before */
    ask_delay(item);
    put(item);
}

/* Under the lock. One that is to be asked again has waited when its time has come: it must not make the
 * others that come meanwhile go without waiting for each other. */
static int64_t first_waited(const struct tp_worker *worker) {
    int64_t first = INT64_MAX;
    for (const struct tpi_item *item = worker->settle_list.first; item; item = item->next) {
        int64_t at = item->not_before ? item->not_before : item->handed_at + worker->options.settle_ms;
        if (at < first) first = at;
    }
    return first;
}

/* Under the lock. When the first group may go: as soon as it is full, or has waited, or nothing that could
 * join it is under way. */
static int64_t group_due(const struct tp_worker *worker) {
    const struct tpi_list *list = &worker->settle_list;
    if (!list->count) return INT64_MAX;
    bool alone = list->count == worker->in_hand || worker->options.settle_count == 1;
    if (alone || list->count >= worker->options.settle_count || tpi_worker_stopping(worker)) return 0;
    return first_waited(worker);
}

/* Under the lock. When the first of them may be tried. */
static int64_t first_ready(const struct tp_worker *worker) {
    int64_t first = INT64_MAX;
    for (const struct tpi_item *item = worker->settle_list.first; item; item = item->next)
        if (item->not_before < first) first = item->not_before;
    return first;
}

/* Under the lock. */
static void take_ready(struct tp_worker *worker, struct group *group) {
    int64_t now = tpi_clock_mono_ms();
    size_t looked = worker->settle_list.count;
    group->count = 0;
    for (; looked && group->count < worker->options.settle_count; looked--) {
        struct tpi_item *item = tpi_list_pop(&worker->settle_list);
        if (item->not_before > now)
            tpi_list_push(&worker->settle_list, item);
        else
            group->items[group->count++] = item;
    }
}

/* False: nothing can come any more. */
static bool next_group(struct tp_worker *worker, struct group *group) {
    pthread_mutex_lock(&worker->lock);
    for (;;) {
        int64_t due = group_due(worker);
        int64_t ready = first_ready(worker);
        if (ready > due) due = ready;
        if (tpi_item_all_ended(worker) || due <= tpi_clock_mono_ms()) break;
        tpi_worker_wait(worker, &worker->settle, due);
    }
    take_ready(worker, group);
    bool more = group->count > 0;
    /* There is room for as many claims again. */
    pthread_cond_signal(&worker->claim);
    if (worker->holding) pthread_cond_broadcast(&worker->work);
    pthread_mutex_unlock(&worker->lock);
    return more;
}

/* ---- One ----------------------------------------------------------------------------------------------- */

/* Handlers are called again when a call was answered, or nothing is left to ask. */
static void note_answer(struct tpi_line *line, bool unanswered) {
    struct tp_worker *worker = line->worker;
    pthread_mutex_lock(&worker->lock);
    bool back = worker->unanswered && !unanswered;
    worker->unanswered = unanswered;
    if (back) pthread_cond_broadcast(&worker->work);
    pthread_mutex_unlock(&worker->lock);
}

static tp_status try_settle(struct tpi_line *line, tpi_ask_fn ask, void *arg) {
    tp_status status = tpi_line_try(line, ask, arg);
    note_answer(line, line->broken || status == TP_UNWRITABLE);
    return status;
}

/* What is done and was refused is written as done, if the database takes that by now. When the claim is gone,
 * an earlier try that was not heard may have written it as failed. */
static tp_status ask_one(tp_conn *conn, void *arg) {
    struct tpi_item *item = arg;
    if (item->done && item->last_resort) {
        tp_status status = tp_complete(conn, item->task);
        if (status >= 0) tpi_outcome_set(item, TP_RUN_DONE, NULL);
        if (status >= 0 || tp_status_may_retry(status)) return status;
    }
    return tpi_verdict_write(conn, item, &item->outcome);
}

static bool out_of_patience(const struct tpi_item *item) {
    bool waits = !item->worker->step && !tpi_worker_stopping(item->worker);
    return !waits && tpi_worker_grace_over(item->worker, item->handed_at);
}

/* When this process has claimed the task again, and has not heard so, what is done must be known to it until
 * it has, however long that takes. Back into the list meanwhile. */
static bool awaits_claim(struct tpi_line *line, struct tpi_item *item) {
    if (!item->done || atomic_load(&item->passed_on) || out_of_patience(item)) return false;
    tp_status status = tpi_owner_ask(line, item);
    if (status != TP_OK && !tpi_line_hope(line, status)) return false;
    int64_t wait_ms = item->waits++ < WAITS_SOON ? WAIT_MS : TPI_BACKOFF_BUSY_MS;
    item->not_before = tpi_clock_mono_ms() + wait_ms;
    tpi_item_resume(item, true); /* the keeper cannot say that it is lost */
    put(item);
    return true;
}

static void finish(struct tpi_line *line, struct tpi_item *item, tp_status status) {
    if (status == TP_LOST && awaits_claim(line, item)) return;
    if (status == TP_LOST)
        tpi_verdict_tell_lost(item);
    else
        tpi_verdict_tell(item, &item->outcome, status);
    tpi_item_end(item);
}

/* With words before it when the handler must not be called again for it. */
static void tell_error(const struct tpi_item *item, const char *of_done, const char *text) {
    char whole[2 * TPI_TEXT_SIZE];
    snprintf(whole, sizeof whole, "%s%s", item->done ? of_done : "", text);
    tpi_notify_send(item->worker, TP_EVENT_ERROR, item->task, whole);
}

static void give_up(struct tpi_item *item, const char *text) {
    tpi_verdict_dropped(item, text);
    tpi_item_end(item);
}

/* Back into the list; the keeper minds it meanwhile. */
static void ask_later(struct tpi_line *line, struct tpi_item *item) {
    int64_t last = item->last_resort ? TPI_BACKOFF_REFUSED_MS : TPI_BACKOFF_BUSY_MS;
    int64_t most = TPI_BACKOFF_FIRST_MS << (item->tries < 10 ? item->tries : 10);
    if (most > last) most = last;
    bool told =
        ++item->tries == TPI_COMPLAIN_AFTER || (item->last_resort && item->tries % TPI_REMIND_EVERY == 0);
    if (told && !line->broken)
        tell_error(
            item, "done, but that cannot be stored; it is asked again until it can: ", tp_last_error()->text);
    item->not_before = line->broken ? 0 : tpi_clock_mono_ms() + most / 2 + tpi_line_random(line, most / 2);
    tpi_item_resume(item, line->broken);
    put(item);
}

/* The last resort: the failure itself is written as the task's. What is done must not be done again because
 * that cannot be stored, so it goes to the failed pool, where a person finds it. When that is refused too the
 * claim is kept, and asked for until somebody mends the database. */
static void fail_with(struct tpi_item *item, const char *text) {
    static const char of_done[] = "done, but the database refuses to store that: ";
    char whole[sizeof of_done + TPI_TEXT_SIZE];
    bool no_retry = item->done || item->outcome.no_retry;
    snprintf(whole, sizeof whole, "%s%s", item->done ? of_done : "", text);
    tpi_outcome_set(item, TP_RUN_FAILED, whole);
    item->outcome.no_retry = no_retry;
    tell_error(item, of_done, text);
    item->last_resort = true;
    item->not_before = 0;
    tpi_item_resume(item, false);
    put(item);
}

static void heard_failure(struct tpi_line *line, struct tpi_item *item, tp_status status) {
    char text[TPI_TEXT_SIZE];
    tpi_utf8_copy(tp_last_error()->text, text, sizeof text);
    bool refused = !tpi_line_hope(line, status), late = out_of_patience(item);
    if (refused) item->refusals++;
    if (refused && !item->last_resort && (late || item->refusals >= TPI_REFUSALS_MAX))
        fail_with(item, text);
    else if (late)
        give_up(item, text);
    else
        ask_later(line, item);
}

/* False: the database gave no answer. */
static bool settle_one(struct tpi_line *line, struct tpi_item *item) {
    if (!tpi_item_settle(item)) {
        tpi_item_end(item);
        return true;
    }
    tp_status status = try_settle(line, ask_one, item);
    bool answered = status >= 0 || status == TP_LOST;
    if (answered)
        finish(line, item, status);
    else
        heard_failure(line, item, status);
    return answered;
}

/* ---- Many ---------------------------------------------------------------------------------------------- */

static tp_status ask_many(tp_conn *conn, void *arg) {
    struct group *group = arg;
    return tp_complete_many(conn, group->tasks, group->count, group->answers);
}

/* Leaves in the group the completions that are to go together; settles the others. */
static void settle_singles(struct group *group) {
    size_t kept = 0;
    for (size_t i = 0; i < group->count; i++) {
        struct tpi_item *item = group->items[i];
        if (item->outcome.verdict == TP_RUN_DONE && !item->tries)
            group->items[kept++] = item;
        else
            (void)settle_one(group->line, item);
    }
    group->count = kept;
}

/* Leaves in the group those whose claim is not known to be lost. */
static void take_over(struct group *group) {
    size_t kept = 0;
    for (size_t i = 0; i < group->count; i++) {
        struct tpi_item *item = group->items[i];
        if (tpi_item_settle(item))
            group->items[kept++] = item;
        else
            tpi_item_end(item);
    }
    group->count = kept;
    for (size_t i = 0; i < kept; i++) {
        group->tasks[i] = group->items[i]->task;
        group->answers[i] = TP_OK;
    }
}

/* Not tried: back into the list as it was. */
static void put_off(struct tpi_line *line, struct tpi_item *item) {
    if (out_of_patience(item)) {
        give_up(item, tp_last_error()->text);
        return;
    }
    item->not_before = line->broken ? 0 : tpi_clock_mono_ms() + TPI_BACKOFF_FIRST_MS;
    put(item);
}

/* Each may wait for a lock as long as the session lets it, so when several in a row get no answer it is not
 * one task's trouble, and the others are not tried for now. The keeper minds those that wait. */
static void settle_each(struct group *group) {
    unsigned misses = 0;
    for (size_t i = 0; i < group->count; i++)
        tpi_item_resume(group->items[i], false);
    for (size_t i = 0; i < group->count; i++) {
        if (misses >= TPI_MISSES_MAX || group->line->broken)
            put_off(group->line, group->items[i]);
        else
            misses = settle_one(group->line, group->items[i]) ? 0 : misses + 1;
    }
}

static void settle_together(struct group *group) {
    take_over(group);
    if (group->count == 0) return;
    tp_status status = try_settle(group->line, ask_many, group);
    tpi_trace(TPI_TRACE_WORKER, "settle %zu: %s", group->count, tp_status_name(status));
    bool answered = status >= 0 || status == TP_LOST;
    if (!answered && !group->line->broken) {
        settle_each(group);
        return;
    }
    for (size_t i = 0; i < group->count; i++) {
        if (answered)
            finish(group->line, group->items[i], group->answers[i]);
        else
            heard_failure(group->line, group->items[i], status);
    }
}

static bool settles_wait(struct tp_worker *worker) {
    pthread_mutex_lock(&worker->lock);
    bool wait = worker->settle_list.count > 0;
    pthread_mutex_unlock(&worker->lock);
    return wait;
}

static void settle_group(struct group *group) {
    settle_singles(group);
    if (group->count == 1)
        (void)settle_one(group->line, group->items[0]);
    else
        settle_together(group);
    if (!settles_wait(group->line->worker)) note_answer(group->line, false);
    if (group->line->broken) tpi_line_pause(group->line, TPI_UNTIL_GRACE);
}

void tpi_settler_run_down(struct tpi_line *line) {
    struct group *group = calloc(1, sizeof *group);
    if (!group) return;
    group->line = line;
    while (line->worker->settle_list.count && next_group(line->worker, group))
        settle_group(group);
    free(group);
}

void *tpi_settler_main(void *arg) {
    struct tpi_line line;
    struct group group = {.line = &line, .count = 0};
    tpi_line_init(&line, arg, "settler");
    while (next_group(arg, &group))
        settle_group(&group);
    tpi_line_close(&line);
    return NULL;
}
