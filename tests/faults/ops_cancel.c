/* A cancelled task is skipped once and recorded once, or its worker is asked once, whichever call fails; and
 * the answer says what became of it. */
#include <string.h>

#include "faults/operation.h"
#include "ops/for_workers.h"

#define INSIDE (TRAIT_TRANSACTION | TRAIT_SETTLES)

static const int64_t one_minute[] = {60000};
static const tp_retry one_retry = {.size = sizeof one_retry, .delays_ms = one_minute, .count = 1};

/* ---- Given --------------------------------------------------------------------------------------------- */

static void ask(struct work *work, size_t i) {
    tp_cancelled answer = TP_CANCELLED_INIT;
    must(tp_cancel(pool.b, work->ids[i], "ann", "because", &answer));
    want_number(answer.answer, TP_CANCEL_ASKED);
}

/* The first of three is in hand. */
static void one_in_hand(struct work *work) {
    work_claimed(work, 1);
    work_put(work, 2);
}

static void asked(struct work *work) {
    work_claimed(work, 1);
    ask(work, 0);
}

static void asked_and_lapsed(struct work *work) {
    work_lapsed(work, 1);
    ask(work, 0);
    work->request = claim_request(5);
}

static void asked_and_failed(struct work *work) {
    asked(work);
    must(tp_fail(pool.b, work->tasks[0], "no money", &one_retry));
}

/* ---- Calls --------------------------------------------------------------------------------------------- */

static tp_status cancel(struct work *work) {
    tp_cancelled answer = TP_CANCELLED_INIT;
    answer.answer = (tp_cancel_answer)MARK;
    tp_status status = tp_cancel(work->conn, work->ids[0], "ann", "because", &answer);
    want_untouched_number(status, (int32_t)answer.answer);
    work->number = status == TP_OK ? (int64_t)answer.answer : MARK;
    return status;
}

static tp_status cancel_all(struct work *work) {
    tp_selection all = TP_SELECTION_INIT;
    tp_operated result = TP_OPERATED_INIT;
    all.handler = pool.handler;
    all.who = "ann";
    all.why = "because";
    tp_status status = tp_operate(work->conn, TP_ACTION_CANCEL, &all, &result);
    if (status == TP_OK) want_number(result.asked, 1);
    return status;
}

static void see(const char *id, const char *who, const char *why, void *arg) {
    struct work *work = arg;
    work->number += strcmp(id, work->ids[0]) == 0 && strcmp(who, "ann") == 0 && strcmp(why, "because") == 0;
}

static tp_status look(struct work *work) {
    const char *ids[] = {work->ids[0]};
    work->number = 0;
    return tpi_cancel_look(work->conn, ids, 1, see, work);
}

static const struct tpi_cancel_end skipped = {"ann", "because", "cancelled by ann: because", NULL};
static const struct tpi_cancel_end done = {"ann", "because", NULL, NULL};
CALL(settle_skipped, tpi_cancel_settle(work->conn, work->tasks[0], &skipped))
CALL(settle_done, tpi_cancel_settle(work->conn, work->tasks[0], &done))

/* ---- What must be there -------------------------------------------------------------------------------- */

static int requests(const struct work *work) {
    return snapshot_count(&work->now, "cancel", NULL, "ann");
}

static void first_is_skipped(struct work *work, int failures) {
    want_task(work, 0, "finished", "skipped", failures);
    want_events(work, 0, "canceled", 1);
    want_number(requests(work), 0);
}

static void is_skipped(struct work *work) {
    first_is_skipped(work, 0);
    want_number(work->number, TP_CANCEL_SKIPPED);
    want_acts(work, "canceled", 1);
}

static void first_is_asked(struct work *work) {
    want_task(work, 0, "pending", "handling", 0);
    want_events(work, 0, "cancel", 1);
    want_acts(work, "cancel", 1);
    want_number(requests(work), 1);
}

static void is_asked(struct work *work) {
    first_is_asked(work);
    want_number(work->number, TP_CANCEL_ASKED);
}

static void two_skipped_one_asked(struct work *work) {
    first_is_asked(work);
    for (size_t i = 1; i < 3; i++) {
        want_task(work, i, "finished", "skipped", 0);
        want_events(work, i, "canceled", 1);
    }
    want_acts(work, "canceled", 2);
}

STEP(ends_skipped, first_is_skipped(work, 0))

static void lapse_is_skipped(struct work *work) {
    first_is_skipped(work, 1);
    want_lapses(work, 1);
}

static void failure_is_skipped(struct work *work) {
    first_is_skipped(work, 1);
    want_events(work, 0, "failed", 1);
}

static void is_done(struct work *work) {
    want_task(work, 0, "finished", "done", 0);
    want_events(work, 0, "canceled", 0);
    want_number(requests(work), 0);
}

static void one_was_seen(struct work *work) {
    want_number(work->number, 1);
    nothing_changed(work);
}

static const struct operation operations[] = {
    {"cancel", 0, one_put, cancel, TP_OK, is_skipped},
    {"cancel, in hand", 0, one_claimed, cancel, TP_OK, is_asked},
    {"cancel, some in hand", TRAIT_PIECEMEAL, one_in_hand, cancel_all, TP_OK, two_skipped_one_asked},
    {"claim of what is cancelled", TRAIT_PIECEMEAL, asked_and_lapsed, claim_nothing, TP_NONE,
     lapse_is_skipped},
    {"cancel_settle, skipped", 0, asked, settle_skipped, TP_OK, ends_skipped},
    {"cancel_settle, skipped in a transaction", INSIDE, asked, settle_skipped, TP_OK, ends_skipped},
    {"cancel_settle, done", 0, asked, settle_done, TP_OK, is_done},
    {"cancel_sweep", TRAIT_PIECEMEAL, asked_and_failed, sweep_cancelled, TP_OK, failure_is_skipped},
    {"cancel_look", 0, asked, look, TP_OK, one_was_seen},
};

OPERATION_GROUP(cancel, test_faults__a_cancel_is_done_once_whichever_call_fails, operations);
