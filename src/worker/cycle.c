/* How plan hold settles what it ran: with the effects, in one transaction; what was rolled back has left no
 * trace, so it is settled by a fresh claim of that very task. See cycle.h; read transaction.c first. */
#include "worker/cycle.h"
#include "ops/for_workers.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "worker/outcome.h"

enum { NEW_JOB_TRIES = 10 };

/* Completions that come before the last task, or with it, go together. */
static size_t leading_done(const struct tpi_cycle *cycle) {
    size_t count = 0;
    while (count < cycle->ran && cycle->jobs[count]->settle.outcome.verdict == TP_RUN_DONE &&
           !atomic_load(&cycle->jobs[count]->stop_notice))
        count++;
    return count;
}

static tp_status ask_settle(tp_conn *conn, void *arg) {
    struct tpi_cycle *cycle = arg;
    const tp_task *tasks[TPI_GROUP_MAX];
    const char *results[TPI_GROUP_MAX];
    size_t done = leading_done(cycle);
    tp_status status = TP_OK;
    for (size_t i = 0; i < done; i++) {
        tasks[i] = cycle->jobs[i]->task;
        results[i] = tpi_result_text(cycle->jobs[i]->result);
    }
    if (done == 1)
        status = tp_complete_with(conn, tasks[0], results[0]);
    else if (done > 1)
        status = tpi_complete_many(conn, tasks, results, done, NULL);
    for (size_t i = done; i < cycle->ran && status >= 0; i++) {
        status = tpi_outcome_write(conn, cycle->jobs[i], &cycle->jobs[i]->settle.outcome);
        cycle->jobs[i]->exhausted = status == TP_EXHAUSTED;
    }
    cycle->commits = status >= 0;
    if (status >= 0) status = tpi_commit_begin(conn);
    cycle->session->begun = status == TP_OK;
    return status;
}

static void record(struct tpi_cycle *cycle, size_t i, size_t end) {
    for (; i < end; i++)
        tpi_record_settled(cycle->part->record, cycle->jobs[i], &cycle->jobs[i]->settle.outcome,
                           cycle->jobs[i]->exhausted ? TP_EXHAUSTED : TP_OK);
}

/* ---- After a rollback -------------------------------------------------------------------------------- */

struct reclaim {
    struct tpi_cycle *cycle;
    const tp_task *task;
};

/* What the handler's own statement met in a database that cannot be written is seen here. */
static tp_status ask_again(tp_conn *conn, void *arg) {
    struct reclaim *reclaim = arg;
    tp_status status = tpi_claim_held(conn, reclaim->task, reclaim->cycle->part->options->lease_ms);
    if (status == TP_DISCONNECTED || status == TP_UNWRITABLE) reclaim->cycle->lost = true;
    return status;
}

/* Whoever claimed the task meanwhile would call its handler again, and nobody would count that: so what the
 * database refuses is asked again too. */
static tp_status claim_again(struct tpi_cycle *cycle, struct tpi_job *held, int64_t *asked_ms) {
    struct reclaim reclaim = {cycle, held->task};
    bool reported = false;
    for (;;) {
        *asked_ms = tpi_clock_boot_ms();
        tp_status status = tpi_session_ask(cycle->session, TPI_UNTIL_GRACE, ask_again, &reclaim);
        if (status >= 0 || status == TP_LOST || cycle->part->life->stepping ||
            tpi_lifetime_stopping(cycle->part->life))
            return status;
        if (!reported) tpi_record_error(cycle->part->record, held->task, tp_last_error()->text);
        reported = true;
        tpi_session_pause(cycle->session, TPI_UNTIL_STOP);
    }
}

/* The last one failed, and by what is known now the transaction is to blame. */
static bool is_to_run_again(const struct tpi_cycle *cycle, size_t i) {
    const struct tpi_outcome *outcome = &cycle->jobs[i]->settle.outcome;
    return cycle->lost && cycle->asked && i + 1 == cycle->ran && outcome->verdict == TP_RUN_FAILED &&
           !outcome->no_retry;
}

/* Another claim of this process has what is done. */
static bool is_passed_on(const struct tpi_cycle *cycle, struct tpi_job *held) {
    if (!held->done || !atomic_load(&held->passed_on)) return false;
    tpi_record_lost_settle(cycle->part->record, held); /* unless that one settles it */
    return true;
}

/* What is claimed by a lease now: the completer writes what became of it, or it is run again. */
static void hand_on(struct tpi_cycle *cycle, size_t i, struct tpi_job *job) {
    const struct tpi_job *held = cycle->jobs[i];
    const struct tpi_outcome *outcome = &held->settle.outcome;
    struct tpi_completer *completer = cycle->part->completer;
    atomic_store(&job->started, atomic_load(&held->started));
    if (job->done) {
        tpi_completer_submit(completer, job, TP_RUN_DONE, NULL, 0, false);
    } else if (!is_to_run_again(cycle, i)) {
        const struct tpi_stop_notice *notice = atomic_load(&held->stop_notice);
        if (notice) tpi_job_notify_stop(job, notice->who, notice->why);
        job->settle.counted = held->settle.counted;
        tpi_completer_submit(completer, job, outcome->verdict, outcome->reason, outcome->delay_ms,
                             outcome->no_retry);
    } else if (tpi_lifetime_stopping(cycle->part->life)) {
        tpi_completer_submit(completer, job, TP_RUN_LATER, NULL, 0, false);
    } else {
        tpi_run_job(cycle->part->runs, cycle->session, job);
    }
}

/* Nobody else settles it before its lease lapses, and its handler is called again then: memory is waited for,
 * which others free. */
static tp_status new_job(struct tpi_cycle *cycle, size_t i, int64_t asked_ms, struct tpi_job **job) {
    tp_status status = TP_NOMEM;
    for (int tries = 0; tries < NEW_JOB_TRIES && status == TP_NOMEM; tries++) {
        if (tries) tpi_session_pause(cycle->session, TPI_UNTIL_STOP);
        status = tpi_job_new(cycle->part->jobs, cycle->batch, i, asked_ms, job);
    }
    return status;
}

/* Claims the task anew, by a lease, and lets the completer write what became of it, or runs it again by that
 * lease, so that one that loses its transaction each time is counted in the end. */
bool tpi_cycle_settle_apart(struct tpi_cycle *cycle, size_t i) {
    struct tpi_job *held = cycle->jobs[i], *job = NULL;
    int64_t asked_ms = 0;
    if (is_passed_on(cycle, held)) return false;
    tp_status status = claim_again(cycle, held, &asked_ms);
    if (status == TP_EXISTS) record(cycle, i, i + 1);
    if (status == TP_EXISTS || (status != TP_OK && is_passed_on(cycle, held))) return status == TP_EXISTS;
    if (cycle->refused && i + 1 == cycle->ran) tpi_outcome_set(held, TP_RUN_FAILED, cycle->why);
    /* The completer finds out whether it is a claim of this process that has what is done. */
    bool kept = status == TP_OK || (status == TP_LOST && held->done);
    if (kept) status = new_job(cycle, held->hold_at, asked_ms, &job);
    if (status == TP_LOST)
        tpi_record_lost_settle(cycle->part->record, held);
    else if (status != TP_OK)
        tpi_record_dropped(cycle->part->record, held, tp_last_error()->text);
    else if (job)
        hand_on(cycle, i, job);
    return false;
}

/* The last one's effects are gone with the transaction; those before it had none in it, and are done. True:
 * the transaction turned out to be stored. */
static bool settle_all_apart(struct tpi_cycle *cycle, bool last_too) {
    bool stored = false;
    for (size_t i = 0; i + (last_too ? 0 : 1) < cycle->ran; i++)
        stored = tpi_cycle_settle_apart(cycle, i) || stored;
    return stored;
}

/* The commit, or something before it, failed. Nothing was stored, unless the database says otherwise. */
static void find_out(struct tpi_cycle *cycle, tp_status failure) {
    struct tpi_job *last = cycle->jobs[cycle->ran - 1];
    /* Of several the first is done, and stays so; the last may be given back, and taken by another since. */
    enum tpi_fate fate = tpi_outcome_find(cycle->session, cycle->jobs[0]->task, true, failure);
    if (fate == TPI_FATE_STORED) {
        record(cycle, 0, cycle->ran);
        return;
    }
    bool asked = cycle->asked;
    if (asked && fate == TPI_FATE_UNKNOWN)
        tpi_utf8_copy(tp_last_error()->text, cycle->why, sizeof cycle->why);
    if (asked && fate == TPI_FATE_REFUSED) {
        /* Where no other task was written it would fail for ever, and nobody would count it. */
        bool own = cycle->claimed == 1 && !tpi_batch_moved(cycle->batch);
        tpi_record_error(cycle->part->record, own ? last->task : NULL, cycle->why);
        asked = !own && tpi_lifetime_stopping(cycle->part->life);
        cycle->refused = !asked;
        cycle->lost = !own;
    }
    /* With its effects gone, one that may pass is as it was before, and is run again by whoever claims it. */
    bool stored = settle_all_apart(cycle, !asked);
    if (!asked) return;
    tpi_session_pause(cycle->session, TPI_UNTIL_STOP);
    /* Nobody has claimed it anew here, so a commit that ended since is seen by this alone. */
    bool once_more = cycle->ran == 1 && fate != TPI_FATE_REFUSED;
    if (once_more && !tpi_lifetime_stopping(cycle->part->life))
        fate = tpi_outcome_find(cycle->session, last->task, true, failure);
    if (stored || fate == TPI_FATE_STORED)
        record(cycle, cycle->ran - 1, cycle->ran);
    else if (fate == TPI_FATE_UNKNOWN)
        tpi_record_unknown(cycle->part->record, last->task, cycle->why);
    else if (once_more && cycle->commits && failure == TP_DISCONNECTED)
        tpi_record_error(cycle->part->record, last->task,
                         "its commit got no answer; it is run again unless it was stored");
}

void tpi_cycle_settle(struct tpi_cycle *cycle) {
    struct tpi_job *last = cycle->jobs[cycle->ran - 1];
    tp_verdict verdict = last->settle.outcome.verdict;
    bool keeps = verdict == TP_RUN_DONE || verdict == TP_RUN_SKIPPED;
    if (cycle->asked) tpi_session_note_run(cycle->session, verdict == TP_RUN_FAILED);
    if (cycle->doomed || cycle->apart || (cycle->asked && !keeps)) {
        cycle->lost = tpi_run_tx_lost(cycle->session);
        tpi_session_roll_back(cycle->session);
        (void)settle_all_apart(cycle, true);
        return;
    }
    tp_status status = tpi_session_call(cycle->session, ask_settle, cycle);
    if (status >= 0) {
        record(cycle, 0, cycle->ran);
        return;
    }
    tpi_utf8_copy(tp_last_error()->text, cycle->why, sizeof cycle->why);
    tpi_session_roll_back(cycle->session);
    find_out(cycle, status);
}
