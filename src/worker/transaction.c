/* Plan hold: each handler thread claims for itself, in a transaction of its own that keeps the tasks locked
 * while their handlers run; effects, settles and moves commit together. There is no lease and nothing to
 * extend. One idle thread at a time polls (executor.c), so that idle ones cost no claims. Handlers that never
 * ask for the connection are run in groups; one that does is the last of its group. A process that dies
 * leaves no trace: while one that held is known to have died lately, tasks are claimed by leases, so that the
 * one that killed it is counted (heartbeat.c). Read next: cycle.c, which settles. */
#include "ops/for_workers.h"
#include "worker/cycle.h"
#include "worker/in_flight.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/utf8.h"
#include "worker/outcome.h"
#include "worker/stop_cause.h"
#include "worker/watchdog.h"

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
static tp_status claim(struct tpi_cycle *cycle) {
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
static void take_in(struct tpi_cycle *cycle) {
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
static bool run_one(struct tpi_cycle *cycle, struct tpi_job *job) {
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

static void run_all(struct tpi_cycle *cycle) {
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
static void learn(struct tpi_cycle *cycle) {
    size_t most = cycle->part->options->settle_count;
    size_t group = cycle->hold->group ? cycle->hold->group : 1;
    if (most > TPI_GROUP_MAX) most = TPI_GROUP_MAX;
    if (cycle->asked)
        group = 1;
    else if (cycle->took_ms > TPI_GROUP_MS)
        group = (group + 1) / 2;
    else if (cycle->whole && cycle->claimed == group)
        group = group * 2 < most ? group * 2 : most;
    cycle->hold->group = group;
    cycle->hold->alone = cycle->hold->rested && cycle->claimed == 1;
    cycle->hold->rested = false;
}

/* So that who takes tasks one by one claims one: some databases have a quicker statement for that. */
void tpi_transaction_none_due(struct tpi_hold *hold) {
    if (hold->alone) hold->group = 1;
    hold->rested = true;
}

void tpi_transaction_leave(struct tpi_session *session) {
    if (session->begun) tpi_session_roll_back(session);
    session->begun = false;
}

tp_status tpi_transaction_once(struct tpi_transactions *transactions, struct tpi_hold *hold, size_t *ran) {
    struct tpi_cycle cycle = {.part = transactions, .hold = hold, .session = hold->session};
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
        tpi_cycle_settle(&cycle);
    else
        tpi_session_roll_back(hold->session);
    learn(&cycle);
    /* What is left was done under earlier claims. */
    if (cycle.ran < cycle.count) tpi_transaction_leave(hold->session);
    for (size_t i = cycle.ran; i < cycle.count; i++)
        (void)tpi_cycle_settle_apart(&cycle, i);
    for (size_t i = 0; i < cycle.count; i++)
        tpi_job_end(cycle.jobs[i]);
    tp_batch_free(cycle.batch);
    *ran = cycle.ran;
    return took ? TP_OK : TP_NONE;
}
