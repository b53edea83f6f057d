/* Counts what became of tasks, for tp_worker_about, and sends it to the owner as events. A task that reached
 * the failed pool also wakes the alerter. */
#include "worker/record.h"

#include <stdio.h>

#include "base/ended.h"

void tpi_record_error(struct tpi_record *record, const tp_task *task, const char *text) {
    tpi_notify_send(record->notify, TP_EVENT_ERROR, task, text);
}

void tpi_record_claimed(struct tpi_record *record, size_t count) {
    atomic_fetch_add(&record->counts.claimed, count);
}

void tpi_record_put_back(struct tpi_record *record, const tp_task *task, const char *why) {
    atomic_fetch_add(&record->counts.released, 1);
    tpi_tally_outcome(record->tally, task->handler, TPI_TALLY_RELEASED);
    tpi_notify_send(record->notify, TP_EVENT_RELEASED, task, why);
}

static void count(struct tpi_record *record, tp_verdict verdict) {
    atomic_uint_fast64_t *counts[] = {
        [TP_RUN_DONE] = &record->counts.done,
        [TP_RUN_FAILED] = &record->counts.failed,
        [TP_RUN_SKIPPED] = &record->counts.skipped,
        [TP_RUN_LATER] = &record->counts.released,
    };
    atomic_fetch_add(counts[verdict], 1);
}

void tpi_record_settled(struct tpi_record *record, const struct tpi_job *job,
                        const struct tpi_outcome *outcome, tp_status status) {
    static const tp_event events[] = {
        [TP_RUN_DONE] = TP_EVENT_DONE,
        [TP_RUN_FAILED] = TP_EVENT_RETRY,
        [TP_RUN_SKIPPED] = TP_EVENT_SKIPPED,
        [TP_RUN_LATER] = TP_EVENT_RELEASED,
    };
    static const enum tpi_tally_outcome outcomes[] = {
        [TP_RUN_DONE] = TPI_TALLY_DONE,
        [TP_RUN_FAILED] = TPI_TALLY_FAILED,
        [TP_RUN_SKIPPED] = TPI_TALLY_SKIPPED,
        [TP_RUN_LATER] = TPI_TALLY_RELEASED,
    };
    bool gave_up = status == TP_EXHAUSTED;
    if (gave_up || outcome->verdict == TP_RUN_DONE || outcome->verdict == TP_RUN_SKIPPED)
        tpi_ended_notify(job->task->id);
    tpi_tally_outcome(record->tally, job->task->handler,
                      gave_up ? TPI_TALLY_GAVE_UP : outcomes[outcome->verdict]);
    count(record, outcome->verdict);
    tpi_notify_send(record->notify, gave_up ? TP_EVENT_GAVE_UP : events[outcome->verdict], job->task,
                    outcome->reason);
    if (gave_up) tpi_alerter_wake(record->alerter);
}

static void record_lost(struct tpi_record *record, const tp_task *task, const char *text) {
    atomic_fetch_add(&record->counts.lost, 1);
    tpi_tally_outcome(record->tally, task->handler, TPI_TALLY_LOST);
    tpi_notify_send(record->notify, TP_EVENT_LOST, task, text);
}

/* An operator is to see from it alone whether something may have been done twice. */
void tpi_record_lost(struct tpi_record *record, const struct tpi_job *job, const tp_task *task,
                     const char *text) {
    char whole[TPI_TEXT_SIZE];
    snprintf(whole, sizeof whole, "%s; %s", text,
             atomic_load(&job->started)
                 ? "its handler was called here: what it does outside the database may come twice"
                 : "its handler was not called here");
    record_lost(record, task, whole);
}

void tpi_record_lost_unstarted(struct tpi_record *record, const tp_task *task) {
    record_lost(record, task, "the claim had gone to another before the task could be put back");
}

void tpi_record_unstored(struct tpi_record *record, const tp_task *task, const char *words,
                         const char *text) {
    char whole[2 * TPI_TEXT_SIZE];
    snprintf(whole, sizeof whole, "%s: %s", words, text);
    atomic_fetch_add(&record->counts.unstored, 1);
    tpi_record_error(record, task, whole);
}

void tpi_record_unknown(struct tpi_record *record, const tp_task *task, const char *text) {
    tpi_record_unstored(record, task,
                        "whether its transaction was stored is not known; if it stays open, nothing of it is",
                        text);
}

void tpi_record_dropped(struct tpi_record *record, const struct tpi_job *job, const char *text) {
    const char *words = "it was not begun here, and could not be put back";
    if (atomic_load(&job->started)) words = "it is not done, and what became of it could not be stored";
    if (job->done) words = "it is done, but no answer says that this is stored, so it may be done again";
    tpi_record_unstored(record, job->task, words, text);
}

void tpi_record_lost_settle(struct tpi_record *record, struct tpi_job *job) {
    if (!atomic_exchange(&job->lost, true))
        tpi_record_lost(record, job, job->task, "the claim had gone to another; the result is thrown away");
}
