/* Plan hold: each handler thread claims for itself, in a transaction of its own that keeps the tasks locked
 * while their handlers run; effects, settles and moves commit together. There is no lease and nothing to
 * extend. One idle thread at a time looks for tasks, so that idle ones cost no claims. Handlers that never
 * ask for the connection are run in groups; one that does is the last of its group. What is rolled back
 * leaves no trace, so a failure there is written after a fresh claim of that very task. A process that dies
 * leaves none either: while one that held is known to have died lately, tasks are claimed by leases, so that
 * the one that killed it is counted (house.c). */
#include "worker/claimer.h"

#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "worker/flight.h"
#include "worker/lookout.h"

/* A group holds its locks until its last handler is done, so it grows only while that is soon. What the
 * database takes does not count: with smaller groups it would have more to do. */
enum { GROUP_MAX = TP_CLAIM_MAX, GROUP_MS = 50 };

struct turn {
    struct tp_worker *worker;
    struct tpi_line *line;
    tp_batch *batch;
    int64_t took_ms;   /* the handlers */
    size_t claimed;    /* tasks */
    size_t count, ran; /* of these, in hand here by this claim, and those whose handler was called */
    struct tpi_item *items[GROUP_MAX];
    bool whole;  /* all in it ran */
    bool asked;  /* the last that ran used the connection */
    bool apart;  /* it failed without running, which is to be written by a claim of its own */
    bool doomed; /* and something failed in it */
    bool lost;   /* the transaction failed, through no fault of the handler */
    char why[TPI_TEXT_SIZE];
};

/* ---- Claiming ------------------------------------------------------------------------------------------ */

struct asking {
    struct tpi_claiming claiming;
    struct tpi_line *line;
    tp_batch *batch;
    size_t limit;
};

static tp_status ask_hold(tp_conn *conn, void *arg) {
    struct asking *asking = arg;
    tp_claim_request *request = &asking->claiming.request;
    request->plan = "hold";
    request->limit = asking->limit;
    request->token[0] = '\0'; /* a transaction that is gone holds nothing */
    bool begun = asking->line->begun;
    asking->line->begun = false;
    tp_status status = begun ? TP_OK : tp_begin(conn);
    if (status == TP_OK) status = tp_claim(conn, request, &asking->batch);
    return status;
}

/* Ends what a claim without tasks began. One of lapsed leases may have moved some on, so it is committed when
 * all went well. A session that is lost may still have its locks while nobody closes it. */
static tp_status give_back(struct tpi_line *line, tp_status status) {
    char text[TPI_TEXT_SIZE];
    tpi_utf8_copy(tp_last_error()->text, text, sizeof text);
    tpi_lookout_begin(line->who);
    bool committed = status == TP_NONE && tp_commit(line->conn) == TP_OK;
    tpi_lookout_end();
    if (!committed) tpi_line_roll_back(line);
    return status < 0 ? tpi_error(status, "%s", text) : status;
}

/* Begins the transaction; TP_NONE: nothing due, and none is open. */
static tp_status claim(struct turn *turn) {
    struct asking asking = {.line = turn->line, .limit = turn->line->hold_group ? turn->line->hold_group : 1};
    tpi_claiming_init(&asking.claiming, turn->worker);
    tpi_claiming_know(&asking.claiming, &turn->line->arrival);
    turn->line->arrival.handler = NULL;
    tp_status status = tpi_line_try(turn->line, ask_hold, &asking);
    if (status == TP_OK) {
        turn->batch = asking.batch;
        turn->claimed = tp_batch_count(turn->batch);
        return TP_OK;
    }
    return give_back(turn->line, status);
}

/* What it claimed is in hand from here on. A task may be so already: its lock was lost, or its lease lapsed,
 * while its handler runs or waits. It is left to that, and free again when this transaction ends. */
static void take_in(struct turn *turn) {
    tp_status status = TP_OK;
    for (size_t i = 0; i < turn->claimed && (status == TP_OK || status == TP_EXISTS); i++) {
        status = tpi_item_hold(turn->worker, turn->batch, i, &turn->items[turn->count]);
        if (status == TP_OK) turn->count++;
    }
    atomic_fetch_add(&turn->worker->counts.claimed, turn->count);
}

/* ---- Running ------------------------------------------------------------------------------------------- */

static void keep_outcome(struct tpi_item *item, const struct tp_run *run, tp_verdict verdict) {
    item->outcome = (struct tpi_outcome){.verdict = verdict,
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
static bool run_one(struct turn *turn, struct tpi_item *item) {
    struct tp_run run = {
        .worker = turn->worker, .line = turn->line, .item = item, .in_transaction = true, .held = true};
    bool before = item->done;
    turn->apart = item->counted = !before && tpi_runner_is_spent(item);
    if (item->counted) {
        tpi_utf8_copy(item->task->reason, run.reason, sizeof run.reason);
        run.no_retry = true;
        keep_outcome(item, &run, TP_RUN_FAILED);
        (void)tpi_item_settle(item);
        return false;
    }
    tpi_runner_count(turn->worker, 1);
    atomic_store(&item->started, true);
    tp_verdict verdict = before ? TP_RUN_DONE : tpi_runner_call(&run);
    tpi_runner_count(turn->worker, -1);
    if (verdict == TP_RUN_FAILED && !run.reason[0])
        tpi_utf8_copy("the handler gave no reason", run.reason, sizeof run.reason);
    if (run.doomed) verdict = judge_doomed(&run, verdict);
    if (run.doomed) tpi_utf8_copy(run.why, turn->why, sizeof turn->why);
    keep_outcome(item, &run, verdict);
    turn->asked = run.asked;
    turn->doomed = run.doomed;
    (void)tpi_item_ran(item, verdict == TP_RUN_DONE && !run.asked);
    (void)tpi_item_settle(item);
    return verdict == TP_RUN_DONE && !run.asked && !run.doomed;
}

/* What has no turn in this transaction is anybody's when that ends. What of it was done under an earlier
 * claim is kept. */
static void let_go_of_rest(struct turn *turn) {
    size_t kept = turn->ran;
    for (size_t i = turn->ran; i < turn->count; i++) {
        if (turn->items[i]->done)
            turn->items[kept++] = turn->items[i];
        else
            tpi_item_end(turn->items[i]);
    }
    turn->count = kept;
}

static void run_all(struct turn *turn) {
    bool more = true;
    for (size_t i = 0; i < turn->count && more && !tpi_worker_stopping(turn->worker); i++) {
        tpi_notify_send(turn->worker, TP_EVENT_CLAIMED, turn->items[i]->task, NULL);
        more = run_one(turn, turn->items[i]);
        turn->ran++;
    }
    turn->whole = turn->ran == turn->count;
    let_go_of_rest(turn);
}

/* A whole group that never asked and did not take long: the next may be larger. */
static void learn(struct turn *turn) {
    size_t most = turn->worker->options.settle_count;
    size_t group = turn->line->hold_group ? turn->line->hold_group : 1;
    if (most > GROUP_MAX) most = GROUP_MAX;
    if (turn->asked)
        group = 1;
    else if (turn->took_ms > GROUP_MS)
        group = (group + 1) / 2;
    else if (turn->whole && turn->claimed == group)
        group = group * 2 < most ? group * 2 : most;
    turn->line->hold_group = group;
}

void tpi_hold_leave(struct tpi_line *line) {
    if (line->begun) tpi_line_roll_back(line);
    line->begun = false;
}

/* ---- Settling ------------------------------------------------------------------------------------------ */

/* Completions that come before the last task, or with it, go together. */
static size_t leading_done(const struct turn *turn) {
    size_t count = 0;
    while (count < turn->ran && turn->items[count]->outcome.verdict == TP_RUN_DONE)
        count++;
    return count;
}

static tp_status ask_settle(tp_conn *conn, void *arg) {
    struct turn *turn = arg;
    const tp_task *tasks[GROUP_MAX];
    size_t done = leading_done(turn);
    tp_status status = TP_OK;
    for (size_t i = 0; i < done; i++)
        tasks[i] = turn->items[i]->task;
    if (done == 1)
        status = tp_complete(conn, tasks[0]);
    else if (done > 1)
        status = tp_complete_many(conn, tasks, done, NULL);
    for (size_t i = done; i < turn->ran && status >= 0; i++) {
        status = tpi_verdict_write(conn, turn->items[i], &turn->items[i]->outcome);
        turn->items[i]->hold_spent = status == TP_SPENT;
    }
    if (status >= 0) status = tp_commit_begin(conn);
    turn->line->begun = status == TP_OK;
    return status;
}

static void tell(struct turn *turn) {
    for (size_t i = 0; i < turn->ran; i++)
        tpi_verdict_tell(turn->items[i], &turn->items[i]->outcome,
                         turn->items[i]->hold_spent ? TP_SPENT : TP_OK);
}

/* ---- After a rollback ---------------------------------------------------------------------------------- */

struct again {
    struct turn *turn;
    const tp_task *task;
};

/* What the handler's own statement met in a database that cannot be written is seen here. */
static tp_status ask_again(tp_conn *conn, void *arg) {
    struct again *again = arg;
    tp_status status = tp_claim_held(conn, again->task, again->turn->worker->options.lease_ms);
    if (status == TP_DISCONNECTED || status == TP_UNWRITABLE) again->turn->lost = true;
    return status;
}

/* Whoever claimed the task meanwhile would call its handler again, and nobody would count that: so what the
 * database refuses is asked again too. */
static tp_status claim_again(struct turn *turn, struct tpi_item *held, int64_t *asked_ms) {
    struct again again = {turn, held->task};
    bool told = false;
    for (;;) {
        *asked_ms = tpi_clock_mono_ms();
        tp_status status = tpi_line_ask(turn->line, TPI_UNTIL_GRACE, ask_again, &again);
        if (status >= 0 || status == TP_LOST || turn->worker->step || tpi_worker_stopping(turn->worker))
            return status;
        if (!told) tpi_notify_send(turn->worker, TP_EVENT_ERROR, held->task, tp_last_error()->text);
        told = true;
        tpi_line_pause(turn->line, TPI_UNTIL_STOP);
    }
}

/* The last one failed, and by what is known now the transaction is to blame. */
static bool is_to_run_again(const struct turn *turn, size_t i) {
    const struct tpi_outcome *outcome = &turn->items[i]->outcome;
    return turn->lost && turn->asked && i + 1 == turn->ran && outcome->verdict == TP_RUN_FAILED &&
           !outcome->no_retry && !tpi_worker_stopping(turn->worker);
}

/* Another claim of this process has what is done. */
static bool is_passed_on(const struct tpi_item *held) {
    return held->done && atomic_load(&held->passed_on);
}

/* Claims the task anew, by a lease, and lets the settler write what became of it, or runs it again by that
 * lease, so that one that loses its transaction each time is counted in the end. */
static void settle_apart(struct turn *turn, size_t i) {
    struct tpi_item *held = turn->items[i];
    struct tpi_item *item = NULL;
    int64_t asked_ms = 0;
    if (is_passed_on(held)) return;
    tp_status status = claim_again(turn, held, &asked_ms);
    if (status != TP_OK && is_passed_on(held)) return;
    /* The settler finds out whether it is a claim of this process that has what is done. */
    bool kept = status == TP_OK || (status == TP_LOST && held->done);
    if (kept) status = tpi_item_new(turn->worker, turn->batch, held->hold_at, asked_ms, &item);
    if (status == TP_LOST)
        tpi_verdict_tell_lost(held);
    else if (status != TP_OK)
        tpi_verdict_dropped(held, tp_last_error()->text);
    else if (!item)
        return;
    else if (item->done)
        tpi_settler_hand(item, TP_RUN_DONE, NULL, 0, false);
    else if (is_to_run_again(turn, i))
        tpi_runner_run(turn->line, item);
    else {
        item->counted = held->counted;
        tpi_settler_hand(item, held->outcome.verdict, held->outcome.reason, held->outcome.delay_ms,
                         held->outcome.no_retry);
    }
}

/* The last one's effects are gone with the transaction; those before it had none in it, and are done. */
static void settle_all_apart(struct turn *turn, bool last_too) {
    for (size_t i = 0; i + 1 < turn->ran; i++)
        settle_apart(turn, i);
    if (last_too) settle_apart(turn, turn->ran - 1);
}

static tp_status ask_settled(tp_conn *conn, void *arg) {
    return tp_settled(conn, arg);
}

/* The commit, or something before it, failed. Nothing was stored, unless the database says otherwise. */
static void find_out(struct turn *turn, tp_status failure) {
    struct tpi_item *last = turn->items[turn->ran - 1];
    tp_task *task = (tp_task *)(uintptr_t)last->task;
    if (tpi_line_ask(turn->line, TPI_UNTIL_GRACE, ask_settled, task) == TP_OK) {
        tell(turn);
        return;
    }
    bool asked = turn->asked;
    if (asked && !tp_status_may_retry(failure)) {
        /* It would fail for ever, and nobody would count it. */
        tpi_notify_send(turn->worker, TP_EVENT_ERROR, last->task, turn->why);
        tpi_outcome_set(last, TP_RUN_FAILED, turn->why);
        asked = false;
    }
    /* With its effects gone, one that may pass is as it was before, and is run again by whoever claims it. */
    settle_all_apart(turn, !asked);
    if (asked) tpi_line_pause(turn->line, TPI_UNTIL_STOP);
}

static void settle(struct turn *turn) {
    struct tpi_item *last = turn->items[turn->ran - 1];
    tp_verdict verdict = last->outcome.verdict;
    bool keeps = verdict == TP_RUN_DONE || verdict == TP_RUN_SKIPPED;
    if (turn->asked) tpi_line_note_run(turn->line, verdict == TP_RUN_FAILED);
    if (turn->doomed || turn->apart || (turn->asked && !keeps)) {
        turn->lost = tpi_verdict_tx_lost(turn->line);
        tpi_line_roll_back(turn->line);
        settle_all_apart(turn, true);
        return;
    }
    tp_status status = tpi_line_call(turn->line, ask_settle, turn);
    if (status >= 0) {
        tell(turn);
        return;
    }
    tpi_utf8_copy(tp_last_error()->text, turn->why, sizeof turn->why);
    tpi_line_roll_back(turn->line);
    find_out(turn, status);
}

static void end_all(struct turn *turn) {
    for (size_t i = turn->ran; i < turn->count; i++)
        if (turn->items[i]->done) settle_apart(turn, i);
    for (size_t i = 0; i < turn->count; i++)
        tpi_item_end(turn->items[i]);
    tp_batch_free(turn->batch);
}

tp_status tpi_hold_once(struct tpi_line *line, size_t *ran) {
    struct turn turn = {.worker = line->worker, .line = line};
    *ran = 0;
    tp_status status = claim(&turn);
    if (status != TP_OK) return status;
    take_in(&turn);
    bool took = turn.count > 0;
    if (took) tpi_hold_pass(line, true);
    int64_t began = tpi_clock_mono_ms();
    run_all(&turn);
    turn.took_ms = tpi_clock_mono_ms() - began;
    if (turn.ran)
        settle(&turn);
    else
        tpi_line_roll_back(line);
    learn(&turn);
    end_all(&turn);
    *ran = turn.ran;
    return took ? TP_OK : TP_NONE;
}
