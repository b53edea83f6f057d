/* A settle is done once and under its token, whichever call fails. */
#include <stdio.h>
#include <string.h>

#include "faults/ops.h"

static const tp_retry never = {.size = sizeof never};

static void one(struct work *work) {
    work_claimed(work, 1);
}

static tp_status complete(struct work *work) {
    return tp_complete(work->conn, work->tasks[0]);
}

static tp_status skip_it(struct work *work) {
    return tp_skip(work->conn, work->tasks[0], "not wanted");
}

static tp_status fail_once(struct work *work) {
    return tp_fail(work->conn, work->tasks[0], "no money", NULL);
}

static tp_status fail_the_last(struct work *work) {
    return tp_fail(work->conn, work->tasks[0], "no money", &never);
}

static tp_status give_up(struct work *work) {
    return tp_give_up(work->conn, work->tasks[0], "no account");
}

static tp_status release(struct work *work) {
    return tp_release(work->conn, work->tasks[0], 5000);
}

static tp_status extend(struct work *work) {
    return tp_extend(work->conn, work->tasks[0], 3600000);
}

static void is_done(struct work *work) {
    want_task(work, 0, "finished", "done", 0);
    want_told_in_all(work, 0);
}

static void is_skipped(struct work *work) {
    want_task(work, 0, "finished", "skipped", 0);
    want_told_in_all(work, 0);
}

static void is_failed(struct work *work) {
    want_task(work, 0, "pending", "failed", 1);
    want_told(work, 0, "failed", 1);
    want_told_in_all(work, 1);
}

static void is_given_up(struct work *work) {
    want_task(work, 0, "failed", "failed", 1);
    want_told(work, 0, "gave-up", 1);
    want_told_in_all(work, 1);
}

static void is_released(struct work *work) {
    want_task(work, 0, "pending", "pending", 0);
    want_told_in_all(work, 0);
}

static int64_t due_of(const struct picture *picture, const char *id) {
    const struct picture_row *row = picture_task(picture, id);
    return row ? row->due_at : 0;
}

static void is_extended(struct work *work) {
    want_task(work, 0, "pending", "handling", 0);
    if (due_of(&work->now, work->ids[0]) < due_of(&work->before, work->ids[0]) + 3000000)
        wrong("the lease was not extended");
}

/* ---- Many of two claims -------------------------------------------------------------------------------- */

enum { MANY = 3 };

static void three(struct work *work) {
    work_claimed(work, MANY - 1);
    work_claimed(work, 1);
}

static tp_status judge_answers(tp_status status, const tp_status *answers) {
    for (int i = 0; i < MANY; i++) {
        if (status < TP_OK && answers[i] != TP_MISUSE) wrong("answer %d was touched by a failure", i);
        if (status == TP_OK && answers[i] != TP_OK) wrong("answer %d is %s", i, tp_status_name(answers[i]));
    }
    return status;
}

static tp_status complete_many(struct work *work) {
    tp_status answers[MANY] = {TP_MISUSE, TP_MISUSE, TP_MISUSE};
    return judge_answers(tp_complete_many(work->conn, work->tasks, MANY, answers), answers);
}

static tp_status extend_many(struct work *work) {
    tp_status answers[MANY] = {TP_MISUSE, TP_MISUSE, TP_MISUSE};
    return judge_answers(tp_extend_many(work->conn, work->tasks, MANY, 3600000, answers), answers);
}

static void are_done(struct work *work) {
    for (size_t i = 0; i < MANY; i++)
        want_task(work, i, "finished", "done", 0);
    want_told_in_all(work, 0);
}

static void are_extended(struct work *work) {
    for (size_t i = 0; i < MANY; i++) {
        want_task(work, i, "pending", "handling", 0);
        if (due_of(&work->now, work->ids[i]) < due_of(&work->before, work->ids[i]) + 3000000)
            wrong("lease %zu was not extended", i);
    }
}

static const struct operation operations[] = {
    {"complete", 0, one, complete, TP_OK, is_done, NULL, NULL},
    {"skip", TRAIT_VARIANT, one, skip_it, TP_OK, is_skipped, NULL, NULL},
    {"fail", 0, one, fail_once, TP_OK, is_failed, NULL, NULL},
    {"fail the last time", TRAIT_VARIANT, one, fail_the_last, TP_SPENT, is_given_up, NULL, NULL},
    {"give_up", 0, one, give_up, TP_SPENT, is_given_up, NULL, NULL},
    {"release", 0, one, release, TP_OK, is_released, NULL, NULL},
    {"extend", 0, one, extend, TP_OK, is_extended, NULL, NULL},
    {"complete_many", 0, three, complete_many, TP_OK, are_done, NULL, NULL},
    {"extend_many", TRAIT_PIECEMEAL, three, extend_many, TP_OK, are_extended, NULL, NULL},
};

static void test_faults__a_settle_is_done_once_whichever_call_fails(void **state) {
    (void)state;
    POINTS_RUN(operations);
}

FAULTS_GROUP(settle, cmocka_unit_test(test_faults__a_settle_is_done_once_whichever_call_fails));
