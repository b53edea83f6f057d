/* Plan hold: each handler thread claims for itself, in a transaction of its own that keeps the tasks locked
 * while their handlers run; effects, settles and moves commit together. There is no lease and nothing to
 * extend. One idle thread at a time polls (executor.c), so that idle ones cost no claims. Handlers that never
 * ask for the connection are run in groups; one that does is the last of its group. What is rolled back
 * leaves no trace, so a failure there is written after a fresh claim of that very task. A process that dies
 * leaves none either: while one that held is known to have died lately, tasks are claimed by leases, so that
 * the one that killed it is counted (heartbeat.c). */
#include "worker/transaction.h"
#include "ops/for_workers.h"
#include "worker/in_flight.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/utf8.h"
#include "worker/outcome.h"
#include "worker/stop_cause.h"
#include "worker/watchdog.h"

/* A group holds its locks until its last handler is done, so it grows only while that is soon. What the
 * database takes does not count: with smaller groups it would have more to do. */
enum { GROUP_MAX = TP_CLAIM_MAX, GROUP_MS = 50 };

struct cycle {
    struct tpi_transactions *part;
    struct tpi_hold *hold;
    struct tpi_session *session;
    tp_batch *batch;
    int64_t took_ms;   /* the handlers */
    size_t claimed;    /* tasks */
    size_t count, ran; /* of these, in progress here by this claim, and those whose handler was called */
    struct tpi_job *jobs[GROUP_MAX];
    bool whole;  /* all in it ran */
    bool asked;  /* the last that ran used the connection */
    bool apart;  /* it failed without running, which is to be written by a claim of its own */
    bool doomed; /* and something failed in it */
    bool lost;   /* the transaction failed, through no fault of the handler */
    char why[TPI_TEXT_SIZE];
};

/* ---- Claiming ---------------------------------------------------------------------------------------- */

struct asking {
    struct tpi_claiming claiming;
    struct tpi_session *session;
    tp_batch *batch;
    size_t limit;
};

static tp_status ask_hold(tp_conn *conn, void *arg) {
    struct asking *asking = arg;
    tp_claim_request *request = &asking->claiming.request;
    request->plan = "hold";
    request->limit = asking->limit;
    request->token[0] = '\0'; /* a transaction that is gone holds nothing */
    bool begun = asking->session->begun;
    asking->session->begun = false;
    tp_status status = begun ? TP_OK : tp_begin(conn);
    if (status == TP_OK)
        status = tpi_claim_known(conn, request, &asking->claiming.known, tpi_in_flight_known, &asking->batch);
    return status;
}

static tp_status ask_commit(tp_conn *conn, void *arg) {
    (void)arg;
    return tp_commit(conn);
}

/* Ends what a claim without tasks began. One of lapsed leases may have moved some on, so it is committed when
 * all went well. A session that is lost may still have its locks while nobody closes it. */
static tp_status give_back(struct tpi_session *session, tp_status status) {
    char text[TPI_TEXT_SIZE];
    tp_status committed = status == TP_NONE ? tpi_session_call(session, ask_commit, NULL) : status;
    if (committed == TP_OK) return status;
    tpi_utf8_copy(tp_last_error()->text, text, sizeof text);
    tpi_session_roll_back(session);
    return tpi_error(committed, "%s", text);
}

/* Begins the transaction; TP_NONE: nothing due, and none is open. */
static tp_status claim(struct cycle *cycle) {
    struct asking asking = {.session = cycle->session, .limit = cycle->hold->group ? cycle->hold->group : 1};
    tpi_claiming_init(&asking.claiming, cycle->part->claims);
    asking.claiming.known = cycle->hold->arrival;
    cycle->hold->arrival.handler = NULL;
    tp_status status = tpi_session_try(cycle->session, ask_hold, &asking);
    if (status == TP_OK) {
        cycle->batch = asking.batch;
        cycle->claimed = tp_batch_count(cycle->batch);
        return TP_OK;
    }
    return give_back(cycle->session, status);
}

/* What it claimed is in progress from here on. A task may be so already: its lock was lost, or its lease
 * lapsed, while its handler runs or waits. It is left to that, and free again when this transaction ends. */
static void take_in(struct cycle *cycle) {
    tp_status status = TP_OK;
    for (size_t i = 0; i < cycle->claimed && (status == TP_OK || status == TP_EXISTS); i++) {
        status = tpi_job_hold(cycle->part->jobs, cycle->batch, i, &cycle->jobs[cycle->count]);
        if (status == TP_OK) cycle->count++;
    }
    tpi_record_claimed(cycle->part->record, cycle->count);
}

/* ---- Running ----------------------------------------------------------------------------------------- */

static void keep_outcome(struct tpi_job *job, const struct tp_run *run, tp_verdict verdict) {
    job->settle.outcome = (struct tpi_outcome){.verdict = verdict,
                                               .no_retry = run->no_retry,
                                               .delay_ms = run->delay_ms,
                                               .reason = run->reason[0] ? strdup(run->reason) : NULL};
}

/* What it asked for failed inside the transaction: that is no failure of the task, unless it will not pass.
 * What it wrote there is undone, whatever its verdict; one that wrote nothing has done what it says. */
static tp_verdict judge_doomed(struct tp_run *run, tp_verdict verdict) {
    bool undone = run->asked && (verdict == TP_RUN_DONE || verdict == TP_RUN_SKIPPED);
    bool may_pass = tp_status_may_retry(run->trouble);
    if (may_pass && (undone || verdict == TP_RUN_FAILED)) return TP_RUN_LATER;
    if (!undone) return verdict;
    tpi_utf8_copy(run->why, run->reason, sizeof run->reason);
    return TP_RUN_FAILED;
}

/* False: it is the last of this transaction. What is done without the transaction is known to the process:
 * should the session be lost, whoever takes the task does not call its handler. */
static bool run_one(struct cycle *cycle, struct tpi_job *job) {
    struct tp_run run = {.runs = cycle->part->runs,
                         .session = cycle->session,
                         .job = job,
                         .in_transaction = true,
                         .held = true};
    bool before = job->done;
    cycle->apart = job->settle.counted = !before && tpi_run_is_exhausted(cycle->part->runs, job);
    if (job->settle.counted) {
        tpi_utf8_copy(job->task->reason, run.reason, sizeof run.reason);
        run.no_retry = true;
        keep_outcome(job, &run, TP_RUN_FAILED);
        (void)tpi_job_settle(job);
        return false;
    }
    atomic_fetch_add(&cycle->part->runs->running, 1);
    atomic_store(&job->started, true);
    tp_verdict verdict = before ? TP_RUN_DONE : tpi_run_call(&run);
    atomic_fetch_sub(&cycle->part->runs->running, 1);
    if (verdict == TP_RUN_FAILED && !run.reason[0])
        tpi_utf8_copy("the handler gave no reason", run.reason, sizeof run.reason);
    if (run.doomed) verdict = judge_doomed(&run, verdict);
    if (tpi_run_heeds(&run, verdict)) {
        verdict = TP_RUN_SKIPPED;
        cycle->apart = run.asked;
    }
    if (run.doomed) tpi_utf8_copy(run.why, cycle->why, sizeof cycle->why);
    keep_outcome(job, &run, verdict);
    cycle->asked = run.asked;
    cycle->doomed = run.doomed;
    struct tpi_result *result = before ? tpi_result_ref(job->result) : tpi_run_take_result(&run);
    (void)tpi_job_ran(job, verdict == TP_RUN_DONE && !run.asked, result);
    tpi_progress_done(run.runs->progress, &run.progress);
    (void)tpi_job_settle(job);
    return verdict == TP_RUN_DONE && !run.asked && !run.doomed;
}

static void run_all(struct cycle *cycle) {
    bool more = true;
    for (size_t i = 0; i < cycle->count && more && !tpi_lifetime_stopping(cycle->part->life); i++) {
        tpi_notify_send(cycle->part->notify, TP_EVENT_CLAIMED, cycle->jobs[i]->task, NULL);
        more = run_one(cycle, cycle->jobs[i]);
        cycle->ran++;
    }
    cycle->whole = cycle->ran == cycle->count;
    /* What was not run is free when the transaction ends; what was done under an earlier claim is kept. */
    size_t kept = cycle->ran;
    for (size_t i = cycle->ran; i < cycle->count; i++) {
        if (cycle->jobs[i]->done)
            cycle->jobs[kept++] = cycle->jobs[i];
        else
            tpi_job_end(cycle->jobs[i]);
    }
    cycle->count = kept;
}

/* A whole group that never asked and did not take long: the next may be larger. */
static void learn(struct cycle *cycle) {
    size_t given = cycle->part->options->settle_count, most = given < GROUP_MAX ? given : GROUP_MAX;
    size_t group = cycle->hold->group ? cycle->hold->group : 1;
    if (cycle->asked)
        group = 1;
    else if (cycle->took_ms > GROUP_MS)
        group = (group + 1) / 2;
    else if (cycle->whole && cycle->claimed == group)
        group = group * 2 < most ? group * 2 : most;
    cycle->hold->group = group;
}

void tpi_transaction_leave(struct tpi_session *session) {
    if (session->begun) tpi_session_roll_back(session);
    session->begun = false;
}

/* ---- Settling ---------------------------------------------------------------------------------------- */

/* Completions that come before the last task, or with it, go together. */
static size_t leading_done(const struct cycle *cycle) {
    size_t count = 0;
    while (count < cycle->ran && cycle->jobs[count]->settle.outcome.verdict == TP_RUN_DONE &&
           !atomic_load(&cycle->jobs[count]->stop_notice))
        count++;
    return count;
}

static tp_status ask_settle(tp_conn *conn, void *arg) {
    struct cycle *cycle = arg;
    const tp_task *tasks[GROUP_MAX];
    const char *results[GROUP_MAX];
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
    if (status >= 0) status = tpi_commit_begin(conn);
    cycle->session->begun = status == TP_OK;
    return status;
}

static void record(struct cycle *cycle, size_t i, size_t end) {
    for (; i < end; i++)
        tpi_record_settled(cycle->part->record, cycle->jobs[i], &cycle->jobs[i]->settle.outcome,
                           cycle->jobs[i]->exhausted ? TP_EXHAUSTED : TP_OK);
}

/* ---- After a rollback -------------------------------------------------------------------------------- */

struct reclaim {
    struct cycle *cycle;
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
static tp_status claim_again(struct cycle *cycle, struct tpi_job *held, int64_t *asked_ms) {
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
static bool is_to_run_again(const struct cycle *cycle, size_t i) {
    const struct tpi_outcome *outcome = &cycle->jobs[i]->settle.outcome;
    return cycle->lost && cycle->asked && i + 1 == cycle->ran && outcome->verdict == TP_RUN_FAILED &&
           !outcome->no_retry;
}

/* Another claim of this process has what is done. */
static bool is_passed_on(const struct cycle *cycle, struct tpi_job *held) {
    if (!held->done || !atomic_load(&held->passed_on)) return false;
    tpi_record_lost_settle(cycle->part->record, held); /* unless that one settles it */
    return true;
}

/* Claims the task anew, by a lease, and lets the completer write what became of it, or runs it again by that
 * lease, so that one that loses its transaction each time is counted in the end. */
static void settle_apart(struct cycle *cycle, size_t i) {
    struct tpi_job *held = cycle->jobs[i], *job = NULL;
    int64_t asked_ms = 0;
    if (is_passed_on(cycle, held)) return;
    tp_status status = claim_again(cycle, held, &asked_ms);
    if (status == TP_EXISTS) record(cycle, i, i + 1);
    if (status == TP_EXISTS || (status != TP_OK && is_passed_on(cycle, held))) return;
    /* The completer finds out whether it is a claim of this process that has what is done. */
    bool kept = status == TP_OK || (status == TP_LOST && held->done);
    if (kept) status = tpi_job_new(cycle->part->jobs, cycle->batch, held->hold_at, asked_ms, &job);
    if (status == TP_LOST)
        tpi_record_lost_settle(cycle->part->record, held);
    else if (status != TP_OK)
        tpi_record_dropped(cycle->part->record, held, tp_last_error()->text);
    else if (!job)
        return;
    else if (job->done)
        tpi_completer_submit(cycle->part->completer, job, TP_RUN_DONE, NULL, 0, false);
    else if (is_to_run_again(cycle, i)) {
        if (tpi_lifetime_stopping(cycle->part->life))
            tpi_completer_submit(cycle->part->completer, job, TP_RUN_LATER, NULL, 0, false);
        else
            tpi_run_job(cycle->part->runs, cycle->session, job);
    } else {
        const struct tpi_stop_notice *notice = atomic_load(&held->stop_notice);
        if (notice) tpi_job_notify_stop(job, notice->who, notice->why);
        job->settle.counted = held->settle.counted;
        tpi_completer_submit(cycle->part->completer, job, held->settle.outcome.verdict,
                             held->settle.outcome.reason, held->settle.outcome.delay_ms,
                             held->settle.outcome.no_retry);
    }
}

/* The last one's effects are gone with the transaction; those before it had none in it, and are done. */
static void settle_all_apart(struct cycle *cycle, bool last_too) {
    for (size_t i = 0; i + 1 < cycle->ran; i++)
        settle_apart(cycle, i);
    if (last_too) settle_apart(cycle, cycle->ran - 1);
}

/* The commit, or something before it, failed. Nothing was stored, unless the database says otherwise. */
static void find_out(struct cycle *cycle, tp_status failure) {
    struct tpi_job *last = cycle->jobs[cycle->ran - 1];
    /* Of several the first is done, and stays so; the last may be given back, and taken by another since. */
    enum tpi_fate fate = tpi_outcome_find(cycle->session, cycle->jobs[0]->task, true, failure);
    if (fate == TPI_FATE_STORED) {
        record(cycle, 0, cycle->ran);
        return;
    }
    bool asked = cycle->asked;
    if (asked && fate == TPI_FATE_UNKNOWN)
        tpi_record_unstored(cycle->part->record, last->task, tp_last_error()->text);
    if (asked && fate == TPI_FATE_REFUSED) {
        /* Where no other task was written it would fail for ever, and nobody would count it. */
        bool own = cycle->claimed == 1 && !tpi_batch_moved(cycle->batch);
        tpi_record_error(cycle->part->record, own ? last->task : NULL, cycle->why);
        asked = !own && tpi_lifetime_stopping(cycle->part->life);
        if (!asked) tpi_outcome_set(last, TP_RUN_FAILED, cycle->why);
        cycle->lost = !own;
    }
    /* With its effects gone, one that may pass is as it was before, and is run again by whoever claims it. */
    settle_all_apart(cycle, !asked);
    if (asked) tpi_session_pause(cycle->session, TPI_UNTIL_STOP);
}

static void settle(struct cycle *cycle) {
    struct tpi_job *last = cycle->jobs[cycle->ran - 1];
    tp_verdict verdict = last->settle.outcome.verdict;
    bool keeps = verdict == TP_RUN_DONE || verdict == TP_RUN_SKIPPED;
    if (cycle->asked) tpi_session_note_run(cycle->session, verdict == TP_RUN_FAILED);
    if (cycle->doomed || cycle->apart || (cycle->asked && !keeps)) {
        cycle->lost = tpi_run_tx_lost(cycle->session);
        tpi_session_roll_back(cycle->session);
        settle_all_apart(cycle, true);
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

tp_status tpi_transaction_once(struct tpi_transactions *transactions, struct tpi_hold *hold, size_t *ran) {
    struct cycle cycle = {.part = transactions, .hold = hold, .session = hold->session};
    *ran = 0;
    tp_status status = claim(&cycle);
    if (status != TP_OK) return status;
    take_in(&cycle);
    bool took = cycle.count > 0;
    if (took) transactions->claimed(transactions->arg, hold);
    int64_t began = tpi_clock_mono_ms();
    run_all(&cycle);
    cycle.took_ms = tpi_clock_mono_ms() - began;
    if (cycle.ran)
        settle(&cycle);
    else
        tpi_session_roll_back(hold->session);
    learn(&cycle);
    for (size_t i = cycle.ran; i < cycle.count; i++)
        if (cycle.jobs[i]->done) settle_apart(&cycle, i);
    for (size_t i = 0; i < cycle.count; i++)
        tpi_job_end(cycle.jobs[i]);
    tp_batch_free(cycle.batch);
    *ran = cycle.ran;
    return took ? TP_OK : TP_NONE;
}
