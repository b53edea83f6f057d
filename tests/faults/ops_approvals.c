/* What needs a second person: each request is written once, and carried out once and whole or not at all,
 * whichever call fails on the way. */
#include <stdio.h>
#include <string.h>

#include "faults/operation.h"

enum { DAY = 86400000 };

static char asked_id[40]; /* that pool.b asked for before */

/* ---- Setting ------------------------------------------------------------------------------------------- */

static tp_status set_eyes(tp_conn *conn, int on, tp_four_eyes *eyes) {
    eyes->on = on;
    return tp_four_eyes_set(conn, eyes, "root", "because");
}

static void eyes_on(struct work *work) {
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    (void)work;
    must(set_eyes(pool.b, 1, &eyes));
}

/* As an application would, with one struct for all its tries. */
static tp_status set_eyes_again(struct work *work, int on) {
    static tp_four_eyes eyes;
    if (work->calls <= 1) eyes = (tp_four_eyes)TP_FOUR_EYES_INIT;
    return set_eyes(work->conn, on, &eyes);
}

CALL(switch_on, set_eyes_again(work, 1))
CALL(ask_off, set_eyes_again(work, 0))

static tp_status get_eyes(struct work *work) {
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    eyes.retry_max = MARK;
    tp_status status = tp_four_eyes_get(work->conn, &eyes);
    want_untouched_number(status, eyes.retry_max);
    if (status == TP_OK) want_number(eyes.on, 1);
    return status;
}

static bool is_on(void) {
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    must(tp_four_eyes_get(pool.b, &eyes));
    return eyes.on;
}

static void is_switched_on(struct work *work) {
    want_number(is_on(), 1);
    want_events_of_all(work, "eyes", 1);
}

/* ---- Asking -------------------------------------------------------------------------------------------- */

static tp_status operate_with(struct work *work, tp_conn *conn, tp_action action, tp_operated *result) {
    tp_selection what = TP_SELECTION_INIT;
    if (action != TP_ACTION_PURGE) what.handler = pool.handler;
    (void)work;
    what.who = "ann";
    what.why = "because";
    return tp_operate(conn, action, &what, result);
}

static tp_status operate(struct work *work, tp_action action) {
    static tp_operated result;
    if (work->calls <= 1) result = (tp_operated)TP_OPERATED_INIT;
    tp_status status = operate_with(work, work->conn, action, &result);
    if (status == TP_REQUESTED) want_number(result.done, 3);
    return status;
}

CALL(ask_skip, operate(work, TP_ACTION_SKIP))
CALL(ask_retry, operate(work, TP_ACTION_RETRY))
CALL(ask_purge, operate(work, TP_ACTION_PURGE))
CALL(ask_cancel, operate(work, TP_ACTION_CANCEL))

static tp_status edit_with(struct work *work, tp_conn *conn, tp_edit_request *request) {
    request->fields = TP_EDIT_PARAMS;
    request->params = "new";
    request->retry = 1;
    return tp_edit(conn, work->ids[0], request, "ann", "because");
}

static tp_status ask_edit(struct work *work) {
    static tp_edit_request request;
    if (work->calls <= 1) request = (tp_edit_request)TP_EDIT_INIT;
    return edit_with(work, work->conn, &request);
}

static tp_status ask_erase(struct work *work) {
    static tp_erased erased;
    if (work->calls <= 1) erased = (tp_erased)TP_ERASED_INIT;
    return tp_erase(work->conn, work->key, "ann", "because", 0, &erased);
}

CALL(ask_retention, tp_retention_set(work->conn, "finished", DAY, "ann"))

#define PREPARED(name, tasks)                                                                                \
    static void name(struct work *work) {                                                                    \
        tasks(work);                                                                                         \
        eyes_on(work);                                                                                       \
    }
PREPARED(three_failed_eyes_on, three_given_up)
PREPARED(one_failed_eyes_on, one_given_up)
PREPARED(three_done_eyes_on, three_finished)

static void one_in_hand_eyes_on(struct work *work) {
    work_claimed(work, 1);
    work_put(work, 2);
    eyes_on(work);
}

static void three_of_a_person(struct work *work) {
    three_finished(work);
    sql_run(pool.eye, "UPDATE tp_finished SET biz_key = '%s'", work->key);
    must(tp_once(pool.b, work->key, NULL));
    eyes_on(work);
}

/* One request waits, about so many rows, and nothing else was changed. */
static void waits_for(struct work *work, int rows) {
    want_number(snapshot_count(&work->now, "request", NULL, "waiting"), 1);
    want_number(snapshot_count(&work->now, "request", NULL, NULL), 1);
    want_number(snapshot_count(&work->now, "of", NULL, NULL), rows);
    want_events_of_all(work, "asked", 1);
    want_number(is_on(), 1);
}

static void waits_failed(struct work *work) {
    waits_for(work, (int)work->id_count);
    want_all(work, "failed", "failed", 1);
}
static void waits_done(struct work *work) {
    waits_for(work, 3);
    want_all(work, "finished", "done", 0);
}
/* About the tasks, and the run of the first. */
static void waits_cancel(struct work *work) {
    waits_for(work, 3 + 1);
    want_task(work, 0, "pending", "handling", 0);
    want_events_of_all(work, "canceled", 0);
}
/* About the tasks, and their key in the ledger. */
static void waits_erasure(struct work *work) {
    waits_for(work, 3 + 1);
    want_all(work, "finished", "done", 0);
}
STEP(waits_setting, waits_for(work, 0))

/* ---- Approving ----------------------------------------------------------------------------------------- */

static void asked_for(tp_status status, const char *id) {
    expect(TP_REQUESTED, status);
    snprintf(asked_id, sizeof asked_id, "%s", id);
}

#define ASKED(name, prepare, action)                                                                         \
    static void name(struct work *work) {                                                                    \
        tp_operated result = TP_OPERATED_INIT;                                                               \
        prepare(work);                                                                                       \
        asked_for(operate_with(work, pool.b, action, &result), result.request_id);                           \
    }
ASKED(skip_is_asked, three_failed_eyes_on, TP_ACTION_SKIP)
ASKED(retry_is_asked, three_failed_eyes_on, TP_ACTION_RETRY)
ASKED(purge_is_asked, three_done_eyes_on, TP_ACTION_PURGE)

ASKED(cancel_is_asked, one_in_hand_eyes_on, TP_ACTION_CANCEL)

static void changed_since(struct work *work) {
    skip_is_asked(work);
    sql_run(pool.eye, "UPDATE tp_failed SET modified_at = modified_at + 1 WHERE id = '%s'", work->ids[1]);
}

static void edit_is_asked(struct work *work) {
    tp_edit_request request = TP_EDIT_INIT;
    one_failed_eyes_on(work);
    asked_for(edit_with(work, pool.b, &request), request.edit_id);
}

static void erase_is_asked(struct work *work) {
    tp_erased erased = TP_ERASED_INIT;
    three_of_a_person(work);
    asked_for(tp_erase(pool.b, work->key, "ann", "because", 0, &erased), erased.request_id);
}

static void off_is_asked(struct work *work) {
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    eyes_on(work);
    asked_for(set_eyes(pool.b, 0, &eyes), eyes.request_id);
}

static tp_status approve(struct work *work) {
    tp_operated result = TP_OPERATED_INIT;
    result.done = (size_t)(int64_t)MARK;
    tp_status status = tp_approve(work->conn, asked_id, "bob", "seen", &result);
    want_untouched_number(status == TP_OK ? TP_OK : TP_DB, result.done);
    return status;
}

CALL(refuse, tp_refuse(work->conn, asked_id, "bob", "no"))

static void is_over(struct work *work, const char *state) {
    want_number(snapshot_count(&work->now, "request", NULL, state), 1);
    want_number(snapshot_count(&work->now, "request", NULL, NULL), 1);
    want_number(snapshot_count(&work->now, "of", NULL, NULL), 0);
    want_events_of_all(work, strcmp(state, "done") == 0 ? "approved" : state, 1);
}

static void all_skipped(struct work *work) {
    is_over(work, "done");
    want_all(work, "finished", "skipped", 1);
    want_events_of_all(work, "skipped", 3);
}
static void all_retried(struct work *work) {
    is_over(work, "done");
    want_all(work, "pending", "pending", 0);
    want_events_of_all(work, "retried", 3);
}
static void two_skipped_one_asked(struct work *work) {
    is_over(work, "done");
    want_task(work, 0, "pending", "handling", 0);
    want_events_of_all(work, "cancel", 1);
    want_events_of_all(work, "canceled", 2);
}
static void is_edited(struct work *work) {
    is_over(work, "done");
    want_all(work, "pending", "pending", 0);
    want_events_of_all(work, "edited", 1);
    want_events_of_all(work, "retried", 1);
}
STEP(expect_no_task, work->id_count = 0)
static void all_purged(struct work *work) {
    is_over(work, "done");
    want_number(snapshot_count(&work->now, "finished", NULL, NULL), 0);
    want_events_of_all(work, "purged", 1);
}
static void all_erased(struct work *work) {
    is_over(work, "done");
    want_number(snapshot_count(&work->now, "finished", NULL, NULL), 0);
    want_number(snapshot_count(&work->now, "once", NULL, NULL), 0);
    want_events_of_all(work, "erased", 1);
}
static void is_off(struct work *work) {
    is_over(work, "done");
    want_number(is_on(), 0);
    want_events_of_all(work, "eyes", 2);
}
static void is_stale(struct work *work) {
    is_over(work, "stale");
    want_all(work, "failed", "failed", 1);
    want_events_of_all(work, "skipped", 0);
}
static void is_refused(struct work *work) {
    is_over(work, "refused");
    want_all(work, "failed", "failed", 1);
}

/* ---- Looking ------------------------------------------------------------------------------------------- */

static void see(const tp_request *request, void *arg) {
    struct work *work = arg;
    work->number += request->tasks;
}

static tp_status look(struct work *work) {
    work->number = 0;
    tp_status status = tp_request_each(work->conn, NULL, "waiting", 0, see, work);
    if (status == TP_OK) want_number(work->number, 3);
    return status;
}

static tp_status count_waiting(struct work *work) {
    int64_t count = MARK, oldest_at = 0;
    tp_status status = tp_requests_waiting(work->conn, &count, &oldest_at);
    want_untouched_number(status, count);
    if (status == TP_OK) want_number(count, 1);
    return status;
}

static const struct operation operations[] = {
    {"four_eyes_set", TRAIT_SHARED, NULL, switch_on, TP_OK, is_switched_on},
    {"four_eyes_get", 0, eyes_on, get_eyes, TP_OK, nothing_changed},
    {"ask: four eyes off", TRAIT_SHARED, eyes_on, ask_off, TP_REQUESTED, waits_setting},
    {"ask: retention", TRAIT_SHARED, eyes_on, ask_retention, TP_REQUESTED, waits_setting},
    {"ask: skip", TRAIT_SHARED, three_failed_eyes_on, ask_skip, TP_REQUESTED, waits_failed},
    {"ask: retry", TRAIT_SHARED | TRAIT_EXPENSIVE, three_failed_eyes_on, ask_retry, TP_REQUESTED,
     waits_failed},
    {"ask: purge", TRAIT_SHARED, three_done_eyes_on, ask_purge, TP_REQUESTED, waits_done},
    {"ask: cancel", TRAIT_SHARED, one_in_hand_eyes_on, ask_cancel, TP_REQUESTED, waits_cancel},
    {"ask: edit", TRAIT_SHARED, one_failed_eyes_on, ask_edit, TP_REQUESTED, waits_failed},
    {"ask: erase", TRAIT_SHARED, three_of_a_person, ask_erase, TP_REQUESTED, waits_erasure},
    {"approve: skip", TRAIT_SHARED, skip_is_asked, approve, TP_OK, all_skipped},
    {"approve: retry", TRAIT_SHARED | TRAIT_EXPENSIVE, retry_is_asked, approve, TP_OK, all_retried},
    {"approve: purge", TRAIT_SHARED, purge_is_asked, approve, TP_OK, all_purged, .finish = expect_no_task},
    {"approve: cancel", TRAIT_SHARED, cancel_is_asked, approve, TP_OK, two_skipped_one_asked},
    {"approve: edit", TRAIT_SHARED, edit_is_asked, approve, TP_OK, is_edited},
    {"approve: erase", TRAIT_SHARED, erase_is_asked, approve, TP_OK, all_erased, .finish = expect_no_task},
    {"approve: four eyes off", TRAIT_SHARED, off_is_asked, approve, TP_OK, is_off},
    {"approve, but changed", TRAIT_SHARED, changed_since, approve, TP_STALE, is_stale},
    {"refuse", TRAIT_SHARED, skip_is_asked, refuse, TP_OK, is_refused},
    {"request_each", 0, skip_is_asked, look, TP_OK, nothing_changed},
    {"requests_waiting", 0, skip_is_asked, count_waiting, TP_OK, nothing_changed},
};

OPERATION_GROUP(approvals, test_faults__requests_are_written_and_carried_out_once_whichever_call_fails,
                operations);
