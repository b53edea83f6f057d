/* What operators write over and wipe out: each edit is done and recorded once, and of an erasure each chunk.
 */
#include <inttypes.h>
#include <stdio.h>

#include "faults/operation.h"

/* ---- tp_edit ------------------------------------------------------------------------------------------- */

/* As an application would, with one struct for all its tries. */
static tp_status edit(struct work *work, int32_t retry) {
    static tp_edit_request request;
    if (work->calls <= 1) request = (tp_edit_request)TP_EDIT_INIT;
    request.fields = TP_EDIT_PARAMS | TP_EDIT_DEDUP_KEY;
    request.params = "new";
    request.dedup_key = work->key;
    request.retry = retry;
    return tp_edit(work->conn, work->ids[0], &request, "ann", "because");
}

static tp_status move(struct work *work) {
    static tp_edit_request request;
    if (work->calls <= 1) request = (tp_edit_request)TP_EDIT_INIT;
    request.fields = TP_EDIT_SHARD | TP_EDIT_PRIORITY | TP_EDIT_DUE_AT | TP_EDIT_DEADLINE_AT;
    request.shard = 3;
    request.priority = -7;
    request.due_at = LONG_AGO * 2;
    request.deadline_at = LONG_AGO * 3;
    return tp_edit(work->conn, work->ids[0], &request, "ann", "because");
}

static void is_moved(struct work *work) {
    want_events_of_all(work, "edited", 1);
    want_task(work, 0, "pending", "pending", 0);
    want_number(sql_number(pool.eye,
                           "SELECT COUNT(*) FROM tp_pending WHERE id = '%s' AND shard = 3 AND priority = -7 "
                           "AND due_at = %" PRId64,
                           work->ids[0], LONG_AGO * 2),
                1);
    want_number(sql_number(pool.eye,
                           "SELECT COUNT(*) FROM tp_cancel WHERE task_id = '%s' AND due_at = %" PRId64,
                           work->ids[0], LONG_AGO * 3),
                1);
}

CALL(edit_only, edit(work, 0))
CALL(edit_and_retry, edit(work, 1))

static void has_new_content(const struct work *work, const char *in) {
    want_events_of_all(work, "edited", 1);
    want_number(
        sql_number(pool.eye,
                   "SELECT COUNT(*) FROM tp_%s WHERE id = '%s' AND dedup_key = '%s' AND params LIKE 'new'",
                   in, work->ids[0], work->key),
        1);
}

static void is_edited(struct work *work) {
    has_new_content(work, "pending");
    want_task(work, 0, "pending", "failed", 1);
    want_events_of_all(work, "retried", 0);
}

static void is_edited_where_it_is(struct work *work) {
    has_new_content(work, "failed");
    want_all(work, "failed", "failed", 1);
}

static void is_edited_and_retried(struct work *work) {
    has_new_content(work, "pending");
    want_task(work, 0, "pending", "pending", 0);
    want_events_of_all(work, "retried", 1);
}

/* ---- tp_erase ------------------------------------------------------------------------------------------ */

/* Two are done and one gave up, each with a key in the ledger. */
static void three_to_erase(struct work *work) {
    char key[TP_KEY_MAX + 1];
    work_claimed(work, 3);
    for (size_t i = 0; i < 3; i++) {
        snprintf(key, sizeof key, "%s/%d", work->key, (int)i);
        sql_run(pool.eye, "UPDATE tp_pending SET biz_key = '%s' WHERE id = '%s'", work->key, work->ids[i]);
        must(tp_once(pool.b, key, work->tasks[i]));
    }
    must(tp_once(pool.b, work->key, NULL));
    must(tp_complete_many(pool.b, work->tasks, 2, NULL));
    expect(TP_EXHAUSTED, tp_give_up(pool.b, work->tasks[2], "no money"));
}

static void one_still_open(struct work *work) {
    three_to_erase(work);
    tp_new_task *task = work_fresh(work);
    task->biz_key = work->key;
    must(tp_enqueue(pool.b, task));
    work_note_made(work);
}

static tp_status erase(struct work *work, size_t open) {
    tp_erased erased = TP_ERASED_INIT;
    erased.open = (size_t)(int64_t)MARK;
    tp_status status = tp_erase(work->conn, work->key, "ann", "because", 0, &erased);
    want_untouched_number(status, erased.open);
    if (status == TP_OK) want_number(erased.open, open);
    return status;
}

CALL(erase_all, erase(work, 0))
CALL(erase_none, erase(work, 1))

static tp_status erased_or_not(const struct work *work) {
    const struct snapshot *now = &work->now;
    bool left = snapshot_count(now, "finished", NULL, "") || snapshot_count(now, "failed", NULL, "") ||
                snapshot_count(now, "once", NULL, "");
    return left ? TP_OK : TP_NONE;
}

STEP(expect_no_task, work->id_count = 0)

/* A record stands beside what it says, in one transaction: so of two pools there are two, whatever was asked
 * again. */
static void is_erased(struct work *work) {
    expect_no_task(work);
    want_number(erased_or_not(work), TP_NONE);
    want_number(snapshot_count(&work->now, "history", NULL, ""), 2);
    want_events_of_all(work, "erased", 2);
    want_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_history WHERE reason = "
                                     "'1 failed tasks, 1 events, 1 keys of the ledger: because'"),
                1);
    want_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_history WHERE reason = "
                                     "'2 finished tasks, 0 events, 3 keys of the ledger: because'"),
                1);
}

static const struct operation operations[] = {
    {"edit, of one that waits", TRAIT_SHARED, one_failed, edit_only, TP_OK, is_edited},
    {"edit, that moves", TRAIT_SHARED, one_put, move, TP_OK, is_moved},
    {"edit, of one that gave up", TRAIT_SHARED, one_given_up, edit_only, TP_OK, is_edited_where_it_is},
    {"edit and retry", TRAIT_SHARED, three_given_up, edit_and_retry, TP_OK, is_edited_and_retried},
    {"edit and retry, of one that waits", TRAIT_SHARED, one_failed, edit_and_retry, TP_OK,
     is_edited_and_retried},
    {"erase", TRAIT_SHARED | TRAIT_PIECEMEAL, three_to_erase, erase_all, TP_OK, is_erased, erased_or_not,
     .finish = expect_no_task},
    {"erase, one is open", TRAIT_SHARED, one_still_open, erase_none, TP_OK, nothing_changed},
};

OPERATION_GROUP(changes, test_faults__edits_and_erasures_are_done_once_whichever_call_fails, operations);
