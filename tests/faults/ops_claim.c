/* A claim takes each task once and gives its caller all that it took, by every plan. */
#include <string.h>

#include "faults/operation.h"
#include "ops/for_workers.h"

static size_t claimed(const struct work *work) {
    size_t count = 0;
    for (size_t b = 0; b < work->batch_count; b++)
        count += tp_batch_count(work->batches[b]);
    return count;
}

static tp_status claim_some(struct work *work) {
    tp_batch *batch = UNTOUCHED(tp_batch);
    work->request.plan = work->plan;
    tp_status status = tp_claim(work->conn, &work->request, &batch);
    if (status != TP_OK) want_untouched(TP_DB, batch);
    if (status == TP_OK) work->batches[work->batch_count++] = batch;
    return status;
}

/* Until all have been claimed: the answer of a claim that had failed gives only what it took. What another
 * session is said to hold is passed over once. */
static tp_status claim_all(struct work *work) {
    tp_status status = TP_OK;
    int passes = way_is_anothers() ? 1 : 0;
    while (status >= TP_OK && claimed(work) < work->id_count) {
        status = claim_some(work);
        if (status == TP_NONE && passes-- <= 0) return TP_NONE;
    }
    bool one_is_enough = work->calls == 1 && (way_is_allocation() || !has_failed());
    if (status == TP_OK && one_is_enough) want_number(work->batch_count, 1);
    return status;
}

static void judge_claimed(struct work *work) {
    want_number(claimed(work), work->id_count);
    for (size_t i = 0; i < work->id_count; i++) {
        int copies = 0;
        for (size_t b = 0; b < work->batch_count; b++)
            copies += batch_holds(work->batches[b], work->ids[i]);
        want_number(copies, 1);
    }
}

static void are_claimed(struct work *work) {
    judge_claimed(work);
    want_all(work, "pending", "handling", 0);
    want_events_in_all(work, 0);
}

/* As if the answer of the claim had been lost. */
static void answer_lost(struct work *work) {
    work_claimed(work, 3);
    memcpy(work->request.token, work->tasks[0]->owner, TP_ID_SIZE);
    tp_batch_free(work->batches[--work->batch_count]);
    memset(work->tasks, 0, sizeof work->tasks);
}

/* ---- Lapsed leases ------------------------------------------------------------------------------------- */

/* Somebody's leases have lapsed; the third task is new. */
static void two_lapsed_and_one(struct work *work) {
    work_lapsed(work, 2);
    work_put(work, 1);
}

static void lapses_are_counted(struct work *work) {
    judge_claimed(work);
    want_task(work, 0, "pending", "handling", 1);
    want_task(work, 1, "pending", "handling", 1);
    want_task(work, 2, "pending", "handling", 0);
    want_lapses(work, 2);
    want_number(snapshot_count(&work->now, "history", NULL, ""),
                snapshot_count(&work->now, "history", NULL, "lapsed"));
}

/* What is said to be another session's, or cannot be written, is passed over once. */
static tp_status claim_without_retry(struct work *work) {
    bool may_pass_over = way_is_anothers() || way_is_permanent();
    work->request.retry = &no_retry;
    tp_status status = claim_some(work);
    return status == TP_NONE && may_pass_over ? claim_some(work) : status;
}

/* Tasks whose failure was a lapse before: the reason is put together anew. */
static void lapsed_before(struct work *work) {
    tp_batch *batch = NULL;
    work_lapsed(work, 2);
    must(tp_claim(pool.b, &work->request, &batch));
    for (size_t i = 0; i < 2; i++)
        must(tp_release(pool.b, tp_batch_task(batch, i), 0));
    tp_batch_free(batch);
    work->request = claim_request(10);
    for (size_t i = 0; i < 2; i++)
        row_make_due(work->ids[i]);
}

static void lapsed_once(struct work *work) {
    judge_claimed(work);
    want_all(work, "pending", "handling", 1);
    want_lapses(work, 2);
}

/* ---- What the process has done, and could not store ---------------------------------------------------- */

static tp_batch *done_before; /* by a claim whose lease has lapsed */

static void done_and_lapsed(struct work *work) {
    const char *params = NULL;
    char id[TP_ID_SIZE];
    task_put(long_text(20000), id);
    work_take(work, 1);
    must(tp_task_params(pool.b, work->tasks[0], &params, NULL));
    done_before = work->batches[--work->batch_count];
    work->tasks[0] = NULL;
    row_make_due(work->ids[0]);
}

static void forget_done(struct work *work) {
    (void)work;
    tp_batch_free(done_before);
    done_before = NULL;
}

static enum tpi_known known_by_content(const tp_env *env, const tp_task *task) {
    (void)env;
    switch (tpi_content_compare(tp_batch_task(done_before, 0), task)) {
    case TPI_CONTENT_SAME:
        return TPI_KNOWN_DONE;
    case TPI_CONTENT_UNREAD:
        return TPI_KNOWN_RUNS;
    case TPI_CONTENT_OTHER:
        break;
    }
    return TPI_KNOWN_NOTHING;
}

static tp_status claim_what_is_done(struct work *work) {
    tp_batch *batch = UNTOUCHED(tp_batch);
    work->request.plan = work->plan;
    work->request.retry = &no_retry;
    tp_status status = tpi_claim_known(work->conn, &work->request, NULL, known_by_content, &batch);
    if (status == TP_OK) work->batches[work->batch_count++] = batch;
    bool may_pass_over = way_is_anothers() || way_is_permanent();
    return status == TP_NONE && may_pass_over ? TP_OK : status;
}

/* It was its last try, and is not taken for failed: but where what it is cannot be read. */
static void is_given_out(struct work *work) {
    if (way_is_permanent() && snapshot_count(&work->now, "failed", NULL, "")) return;
    if (way_is_anothers() && !work->batch_count) return;
    judge_claimed(work);
    want_all(work, "pending", "handling", 1);
    want_lapses(work, 1);
}

static const struct operation operations[] = {
    {"claim", TRAIT_EACH_PLAN | TRAIT_PIECEMEAL, three_put, claim_all, TP_OK, are_claimed},
    {"claim in order", TRAIT_EACH_PLAN | TRAIT_PIECEMEAL | TRAIT_EXPENSIVE, three_in_order, claim_all, TP_OK,
     are_claimed},
    {"claim, asked again", TRAIT_EACH_PLAN | TRAIT_PIECEMEAL, answer_lost, claim_all, TP_OK, are_claimed},
    {"claim, two lapsed", TRAIT_EACH_PLAN | TRAIT_PIECEMEAL, two_lapsed_and_one, claim_all, TP_OK,
     lapses_are_counted},
    {"claim, the last lapse", TRAIT_EACH_PLAN | TRAIT_PIECEMEAL | TRAIT_EXPENSIVE, two_lapsed,
     claim_without_retry, TP_NONE, lapses_gave_up},
    {"claim, lapsed before", TRAIT_EACH_PLAN | TRAIT_PIECEMEAL | TRAIT_EXPENSIVE, lapsed_before, claim_all,
     TP_OK, lapsed_once},
    {"claim, known to be done", TRAIT_EACH_PLAN | TRAIT_PIECEMEAL | TRAIT_EXPENSIVE, done_and_lapsed,
     claim_what_is_done, TP_OK, is_given_out, .clear = forget_done},
};

OPERATION_GROUP(claim, test_faults__a_claim_loses_and_doubles_nothing_whichever_call_fails, operations);
