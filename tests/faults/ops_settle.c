/* A settle is done once and under its token. */
#include "faults/operation.h"
#include "ops/for_workers.h"

#define INSIDE (TRAIT_TRANSACTION | TRAIT_SETTLES)

static const int64_t one_minute[] = {60000};
static const tp_retry one_retry = {.size = sizeof one_retry, .delays_ms = one_minute, .count = 1};

CALL(complete, tp_complete(work->conn, work->tasks[0]))
CALL(complete_with, tp_complete_with(work->conn, work->tasks[0], "paid"))
CALL(skip_it, tp_skip(work->conn, work->tasks[0], reason_like_a_lapse))
CALL(fail_once, tp_fail(work->conn, work->tasks[0], long_reason, &one_retry))
CALL(fail_like_a_lapse, tp_fail(work->conn, work->tasks[0], reason_like_a_lapse, &one_retry))
CALL(fail_the_last, tp_fail(work->conn, work->tasks[0], long_reason, &no_retry))
CALL(give_up, tp_give_up(work->conn, work->tasks[0], long_reason))
CALL(release, tp_release(work->conn, work->tasks[0], 60000))
CALL(extend, tp_extend(work->conn, work->tasks[0], 3600000))

/* Its lease has lapsed, and another has claimed it. */
static void one_of_another(struct work *work) {
    work_claimed(work, 1);
    row_make_due(work->ids[0]);
    work->batches[work->batch_count++] = claim(pool.b, 1);
}

static tp_status complete_lost(struct work *work) {
    tp_status status = complete(work);
    return status == TP_LOST ? TP_NONE : status;
}

static void is_skipped(struct work *work) {
    want_task(work, 0, "finished", "skipped", 0);
    want_events_in_all(work, 0);
}

static void is_failed(struct work *work) {
    want_task(work, 0, "pending", "failed", 1);
    want_events(work, 0, "failed", 1);
    want_events_in_all(work, 1);
}

static void is_given_up(struct work *work) {
    want_task(work, 0, "failed", "failed", 1);
    want_events(work, 0, "gave-up", 1);
    want_events_in_all(work, 1);
}

static void is_released(struct work *work) {
    want_task(work, 0, "pending", "pending", 0);
    want_events_in_all(work, 0);
}

static int64_t due_of(const struct snapshot *snapshot, const char *id) {
    const struct snapshot_row *row = snapshot_task(snapshot, id);
    return row ? row->due_at : 0;
}

static void are_extended(struct work *work) {
    want_all(work, "pending", "handling", 0);
    for (size_t i = 0; i < work->id_count; i++)
        if (due_of(&work->now, work->ids[i]) < due_of(&work->before, work->ids[i]) + 3000000)
            wrong("lease %zu was not extended", i);
}

/* ---- Many of two claims -------------------------------------------------------------------------------- */

enum { MANY = 3 };

static tp_status judge_answers(tp_status status, const tp_status *answers) {
    for (int i = 0; i < MANY; i++) {
        want_untouched_number(status, answers[i]);
        if (status == TP_OK) want_number(answers[i], TP_OK);
    }
    return status;
}

static tp_status complete_many(struct work *work) {
    tp_status answers[MANY] = {(tp_status)MARK, (tp_status)MARK, (tp_status)MARK};
    return judge_answers(tp_complete_many(work->conn, work->tasks, MANY, answers), answers);
}

static tp_status extend_many(struct work *work) {
    tp_status answers[MANY] = {(tp_status)MARK, (tp_status)MARK, (tp_status)MARK};
    return judge_answers(tpi_extend_many(work->conn, work->tasks, MANY, 3600000, answers), answers);
}

/* Also one and many. */
static void are_done(struct work *work) {
    want_all(work, "finished", "done", 0);
    want_events_in_all(work, 0);
}

static void have_results(struct work *work) {
    are_done(work);
    for (size_t i = 0; i < work->id_count; i++)
        want_number(snapshot_count(&work->now, "result", work->ids[i], "paid"), i != 1);
}

static tp_status complete_many_with(struct work *work) {
    static const char *const results[MANY] = {"paid", NULL, "paid"};
    tp_status answers[MANY] = {(tp_status)MARK, (tp_status)MARK, (tp_status)MARK};
    return judge_answers(tpi_complete_many(work->conn, work->tasks, results, MANY, answers), answers);
}

static void one_of_three_lost(struct work *work) {
    three_claimed(work);
    must(tp_release(pool.b, work->tasks[1], 0));
}

static tp_status complete_but_one(struct work *work) {
    tp_status answers[MANY] = {(tp_status)MARK, (tp_status)MARK, (tp_status)MARK};
    tp_status status = tp_complete_many(work->conn, work->tasks, MANY, answers);
    if (status != TP_LOST) return judge_answers(status, answers);
    want_number(answers[0], TP_OK);
    want_number(answers[1], TP_LOST);
    want_number(answers[2], TP_OK);
    return TP_NONE;
}

static void are_done_but_one(struct work *work) {
    want_task(work, 0, "finished", "done", 0);
    want_task(work, 1, "pending", "pending", 0);
    want_task(work, 2, "finished", "done", 0);
}

static void one_of_three_done(struct work *work) {
    three_claimed(work);
    must(tp_complete(pool.b, work->tasks[1]));
}

/* ---- Steps and progress -------------------------------------------------------------------------------- */

CALL(add_step, tp_step_add(work->conn, work->tasks[0], "charge", "receipt", 3600000))
CALL(set_progress, tp_progress_set(work->conn, work->tasks[0], 42, "half"))

static tp_status ask_cause(struct work *work) {
    tp_stop cause = TP_STOP_FORCE_INT;
    tp_status status = tp_stop_cause(work->conn, work->tasks[0], &cause, NULL);
    want_number(cause, status == TP_OK ? TP_STOP_NONE : TP_STOP_FORCE_INT);
    return status;
}

static void see_nothing(const tp_step_row *step, void *arg) {
    (void)step, (void)arg;
}

/* As an application asks that does not know what became of its commit. */
static tp_status find_or_add_step(struct work *work) {
    tp_status status = tp_step_find(work->conn, work->tasks[0], "charge", see_nothing, NULL);
    return status == TP_NONE ? add_step(work) : status;
}

static void is_recorded(struct work *work) {
    are_extended(work);
    want_number(snapshot_count(&work->now, "step", work->ids[0], "charge"), 1);
}

static tp_status recorded_or_not(const struct work *work) {
    return snapshot_count(&work->now, "step", work->ids[0], "charge") ? TP_EXISTS : TP_OK;
}

static const struct operation operations[] = {
    {"step_add", 0, one_claimed, add_step, TP_OK, is_recorded, recorded_or_not},
    {"step_find, step_add, in a transaction", TRAIT_TRANSACTION, one_claimed, find_or_add_step, TP_OK,
     is_recorded},
    {"progress_set", 0, one_claimed, set_progress, TP_OK, nothing_changed},
    {"stop_cause", 0, one_claimed, ask_cause, TP_OK, nothing_changed},
    {"complete", 0, one_claimed, complete, TP_OK, are_done},
    {"complete, done before", 0, one_finished, complete, TP_OK, are_done},
    {"complete, lost", 0, one_of_another, complete_lost, TP_NONE, nothing_changed},
    {"complete, in a transaction", INSIDE, one_claimed, complete, TP_OK, are_done},
    {"complete_with", 0, one_claimed, complete_with, TP_OK, have_results},
    {"complete_with, in a transaction", INSIDE, one_claimed, complete_with, TP_OK, have_results},
    {"complete_many, with results", 0, three_claimed, complete_many_with, TP_OK, have_results},
    {"skip", TRAIT_EXPENSIVE, one_claimed, skip_it, TP_OK, is_skipped},
    {"fail", 0, one_claimed, fail_once, TP_OK, is_failed},
    {"fail, with a reason like a lapse", TRAIT_EXPENSIVE, one_claimed, fail_like_a_lapse, TP_OK, is_failed},
    {"fail, in a transaction", INSIDE, one_claimed, fail_once, TP_OK, is_failed},
    {"fail the last time", TRAIT_EXPENSIVE, one_claimed, fail_the_last, TP_EXHAUSTED, is_given_up},
    {"give_up", 0, one_claimed, give_up, TP_EXHAUSTED, is_given_up},
    {"release", 0, one_claimed, release, TP_OK, is_released},
    {"release, in a transaction", INSIDE, one_claimed, release, TP_OK, is_released},
    {"extend", 0, one_claimed, extend, TP_OK, are_extended},
    {"complete_many", 0, three_claimed, complete_many, TP_OK, are_done},
    {"complete_many, in a transaction", INSIDE, three_claimed, complete_many, TP_OK, are_done},
    {"complete_many, one lost", 0, one_of_three_lost, complete_but_one, TP_NONE, are_done_but_one},
    {"complete_many, some done before", 0, one_of_three_done, complete_many, TP_OK, are_done},
    {"extend_many", TRAIT_PIECEMEAL, three_claimed, extend_many, TP_OK, are_extended},
};

OPERATION_GROUP(settle, test_faults__a_settle_is_done_once_whichever_call_fails, operations);
