/* Deadlines: what is of no use any more is not begun, whatever it waits for, and what is in hand ends as who
 * has it says. Never is skipped what was done, or what a person wants again. */
#include <inttypes.h>

#include "base/uuid.h"
#include "ops/for_workers.h"
#include "ops/pause.h"
#include "suite.h"

THEME(deadline, EACH_PLAN_AND_HOLD);

#define HOUR  INT64_C(3600000)
#define PAST  (LONG_AGO + 1)
#define AHEAD (INT64_C(3000000000000)) /* of what was due long ago, in 2096 */

static const int64_t soon[] = {1, 1};
static const tp_retry at_once = {.size = sizeof(tp_retry), .delays_ms = soon, .count = LENGTH(soon)};

/* ---- Given --------------------------------------------------------------------------------------------- */

static bool holds(void) {
    return pool_plan_holds(pool.plan ? pool.plan : "");
}

static int64_t now_of(tp_conn *conn) {
    int64_t now = 0;
    must(tpi_ask_now(conn, &now));
    return now;
}

static int64_t deadline_of(const char *id) {
    return sql_number(pool.eye, "SELECT due_at FROM tp_cancel WHERE task_id = '%s' AND who IS NULL", id);
}

static void let_pass(const char *id) {
    sql_run(pool.eye, "UPDATE tp_cancel SET due_at = %" PRId64 " WHERE task_id = '%s'", PAST, id);
    tpi_pause_forget(pool.a);
    tpi_pause_forget(pool.b);
}

/* put(.deadline_ms = HOUR): puts a task with these fields, and gives its id. */
#define put(...) put_task(task_with(__VA_ARGS__))
static const char *put_task(tp_new_task task) {
    char *id = memory(1, ID);
    must(tp_enqueue(pool.a, &task));
    memcpy(id, task.id, ID);
    return id;
}

static const char *put_for_an_hour(void) {
    return put(.deadline_at = now_of(pool.eye) + HOUR);
}

static void expect_past(const char *id, int failures) {
    expect_row(id, "finished", "skipped", failures);
    assert_non_null(strstr(row_of(id).reason, "its deadline, 2001-09-09 01:46:40 UTC, had passed"));
    expect_number(events_of(id, "canceled"), 1);
    expect_number(count_of("tp_cancel WHERE task_id = '%s'", id), 0);
}

static void expect_none_claimed(tp_conn *conn) {
    if (holds()) must(tp_begin(conn));
    expect_nothing(conn);
    if (holds()) must(tp_commit(conn));
}

/* Claimed by a lease, whatever the plan. */
static const tp_task *leased(const char *id) {
    row_make_due(id);
    tp_batch *batch =
        claim_with(pool.a, .limit = 1, .plan = holds() ? tp_conn_about(pool.a)->leased_plan : pool.plan);
    const tp_task *task = tp_batch_task(batch, 0);
    assert_string_equal(task->id, id);
    return task;
}

static void sweep(size_t wanted) {
    size_t done = 0;
    must(tpi_cancel_sweep(pool.b, 100, &done));
    expect_number(done, wanted);
}

/* ---- Who has claimed it can ask ------------------------------------------------------------------------ */

static void expect_cause(const tp_task *task, tp_stop wanted, const char *words) {
    tp_stop cause = TP_STOP_FORCE_INT;
    char text[TP_REASON_MAX + 1] = "?";
    must(tp_stop_cause(pool.a, task, &cause, text));
    expect_number(cause, wanted);
    assert_string_equal(text, words);
}

TEST(test_stop_cause__is_none_while_a_task_is_held_and_lost_when_it_is_not) {
    put_one();
    if (holds()) must(tp_begin(pool.a));
    const tp_task *task = tp_batch_task(claim_up_to(pool.a, 1), 0);
    expect_cause(task, TP_STOP_NONE, "");
    must(tp_complete(pool.a, task));
    if (holds()) must(tp_commit(pool.a));
    expect_cause(task, TP_STOP_LOST, "the claim is no longer held");
}

TEST_ONCE(test_stop_cause__is_lost_when_another_claimed_it_or_it_was_given_back) {
    const char *id = put_one();
    const tp_task *lapsed = leased(id);
    row_make_due(id);
    const tp_task *anew = claim_this(pool.b, id);
    expect_cause(lapsed, TP_STOP_LOST, "the claim is no longer held");
    expect_cause(anew, TP_STOP_NONE, "");
    must(tp_release(pool.b, anew, 0));
    expect_cause(anew, TP_STOP_LOST, "the claim is no longer held");
}

TEST_ONCE(test_stop_cause__is_a_cancel_or_a_deadline_that_has_passed) {
    tp_cancelled answer = TP_CANCELLED_INIT;
    const tp_task *late = leased(put_for_an_hour()), *unwanted = leased(put_one());
    expect_cause(late, TP_STOP_NONE, "");
    let_pass(late->id);
    expect_cause(late, TP_STOP_DEADLINE, "its deadline, 2001-09-09 01:46:40 UTC, had passed");
    must(tp_cancel(pool.b, unwanted->id, "ann", "paid", &answer));
    expect_cause(unwanted, TP_STOP_CANCELLED, "cancelled by ann: paid");
    must(tp_complete(pool.a, unwanted));
    must(tp_complete(pool.a, late));
}

TEST_ONCE(test_stop_cause__refuses_what_was_not_claimed) {
    tp_stop cause = TP_STOP_FORCE_INT;
    const char *id = put_one();
    expect(TP_MISUSE, tp_stop_cause(pool.a, NULL, &cause, NULL));
    expect(TP_MISUSE, tp_stop_cause(pool.a, task_shown(pool.a, id), &cause, NULL));
    expect(TP_MISUSE, tp_stop_cause(pool.a, leased(id), NULL, NULL));
    expect_number(cause, TP_STOP_FORCE_INT);
}

/* ---- What waits ---------------------------------------------------------------------------------------- */

TEST(test_deadline__what_is_past_it_is_skipped_and_what_is_not_is_done) {
    const char *past = put(.deadline_at = PAST);
    const char *ahead = put_for_an_hour();
    const char *without = put_one();
    const char *ids[] = {past, ahead, without};
    expect_number(count_of("tp_cancel"), 2);
    for (int i = 0; i < 3; i++)
        row_make_due(ids[i]);
    tpi_pause_forget(pool.a);
    if (holds()) must(tp_begin(pool.a));
    tp_batch *batch = claim_up_to(pool.a, 3);
    expect_count(batch, 2);
    for (size_t i = 0; i < 2; i++)
        must(tp_complete(pool.a, tp_batch_task(batch, i)));
    if (holds()) must(tp_commit(pool.a));
    expect_past(past, 0);
    expect_row(ahead, "finished", "done", 0);
    expect_row(without, "finished", "done", 0);
    let_pass(ahead);
    sweep(1);
    expect_row(ahead, "finished", "done", 0);
    expect_number(count_of("tp_cancel"), 0);
}

TEST_ONCE(test_deadline__maintenance_skips_what_waits_for_whatever_and_leaves_what_is_in_hand) {
    const char *later = put(.delay_ms = 60000, .deadline_ms = AHEAD);
    const char *first = put(.order_key = "account 7", .deadline_ms = AHEAD);
    const char *waits = put(.order_key = "account 7", .deadline_ms = AHEAD);
    const char *last = put(.order_key = "account 7");
    const tp_task *task = leased(first);
    let_pass(later);
    let_pass(first);
    let_pass(waits);
    sweep(2);
    expect_past(later, 0);
    expect_past(waits, 0);
    expect_row(first, "pending", "handling", 0);
    must(tp_complete(pool.a, task));
    expect_row(first, "finished", "done", 0);
    sweep(1);
    must(tp_complete(pool.a, leased(last))); /* the gate went on */
    expect_number(count_of("tp_gate_task"), 0);
}

TEST_ONCE(test_deadline__a_claim_that_skips_lets_the_next_through_its_gate) {
    const char *first = put(.order_key = "account 8", .deadline_at = PAST);
    const char *next = put(.order_key = "account 8");
    row_make_due(first);
    tpi_pause_forget(pool.a);
    tp_claim_request request = request_with(.limit = 1);
    tp_batch *batch = NULL;
    if (claim_into(pool.a, &request, &batch) == TP_NONE) row_make_due(next);
    must(tp_complete(pool.a, batch ? tp_batch_task(batch, 0) : claim_this(pool.a, next)));
    expect_past(first, 0);
    expect_row(next, "finished", "done", 0);
    expect_number(count_of("tp_gate_task"), 0);
}

TEST_ONCE(test_deadline__counts_as_an_end_in_its_group) {
    must(tp_group_open(pool.a, "wages", TP_GROUP_ALL_DONE, NULL));
    const char *past = put(.group = "wages", .deadline_at = PAST);
    const char *after = put(.after = "wages", .deadline_ms = AHEAD);
    must(tp_group_close(pool.a, "wages"));
    row_make_due(past);
    tpi_pause_forget(pool.a);
    expect_nothing(pool.a);
    expect_past(past, 0);
    must(tp_complete(pool.a, leased(after)));
}

/* A session learns once a second whether anything is past its deadline, and when the first will be. All by
 * the claimer's own clock: where the client carries clocks on, two of them may be a second apart. */
TEST(test_deadline__that_comes_while_a_session_believes_in_none_is_obeyed) {
    int64_t at = now_of(pool.a) + 150;
    const char *id = put(.deadline_at = at);
    row_make_due(id);
    tpi_pause_forget(pool.a);
    tpi_pause_hint(false);
    must(tpi_pause_refresh(pool.a)); /* from here on nothing is read again for a second */
    while (now_of(pool.a) < at + 50)
        continue;
    expect_none_claimed(pool.a);
    expect_row(id, "finished", "skipped", 0);
}

static void make_old(struct tpi_link *link, void *arg) {
    (void)link;
    (void)arg;
    pool.a->pauses->read_at -= HOUR;
}

/* As if the claim had waited for a lock meanwhile. */
TEST(test_deadline__that_comes_while_a_claim_is_under_way_is_obeyed) {
    tpi_pause_forget(pool.a);
    must(tpi_pause_refresh(pool.a));
    const char *id = put(.deadline_ms = 1);
    sql_run(pool.eye, "UPDATE tp_cancel SET due_at = %" PRId64 " WHERE task_id = '%s'", PAST, id);
    row_make_due(id);
    tpi_pause_hint(false);
    if (holds()) must(tp_begin(pool.a));
    meet_call(NULL, make_old, NULL);
    expect_nothing(pool.a);
    if (holds()) must(tp_commit(pool.a));
    expect_past(id, 0);
}

/* ---- What is in hand ----------------------------------------------------------------------------------- */

TEST(test_deadline__that_passes_in_hand_leaves_done_what_is_done_and_tries_nothing_again) {
    const char *done = put_for_an_hour();
    const tp_task *task = leased(done);
    let_pass(done);
    must(tp_complete(pool.a, task));
    expect_row(done, "finished", "done", 0);
    sweep(1);
    const char *failed = put_for_an_hour();
    task = leased(failed);
    let_pass(failed);
    must(tp_fail(pool.a, task, "no money", &at_once));
    row_make_due(failed);
    expect_none_claimed(pool.a);
    expect_past(failed, 1);
    assert_non_null(strstr(row_of(failed).reason, "; it had failed before: no money"));
    const char *released = put_for_an_hour();
    task = leased(released);
    let_pass(released);
    must(tp_release(pool.a, task, 0));
    row_make_due(released);
    expect_none_claimed(pool.b);
    expect_past(released, 0);
    const char *lapsed = put_for_an_hour();
    (void)leased(lapsed);
    let_pass(lapsed);
    row_make_due(lapsed);
    expect_none_claimed(pool.b);
    expect_past(lapsed, 1);
    assert_non_null(strstr(row_of(lapsed).reason, "lease lapsed, whether it was done is not known"));
}

TEST_ONCE(test_deadline__settles_of_a_run_that_was_told_say_what_became_of_it) {
    const char *done = put_for_an_hour(), *skipped = put_for_an_hour();
    const tp_task *task = leased(done);
    let_pass(done);
    must(tpi_cancel_settle(pool.a, task, &(struct tpi_cancel_end){"", "then,", NULL, "42"}));
    expect_row(done, "finished", "done", 0);
    assert_string_equal(text_of("result FROM tp_finished WHERE id = '%s'", done), "42");
    task = leased(skipped);
    let_pass(skipped);
    must(tpi_cancel_settle(pool.a, task,
                           &(struct tpi_cancel_end){"", "then,", "its deadline had passed", NULL}));
    expect_row(skipped, "finished", "skipped", 0);
    expect_number(events_of(skipped, "canceled"), 1);
    expect_number(count_of("tp_cancel"), 0);
}

TEST_ONCE(test_deadline__of_what_is_in_hand_gives_way_to_a_cancel) {
    tp_cancelled answer = TP_CANCELLED_INIT;
    const char *id = put_for_an_hour();
    const tp_task *task = leased(id);
    must(tp_cancel(pool.b, id, "ann", "wrong amount", &answer));
    expect_number(answer.answer, TP_CANCEL_ASKED);
    must(tp_release(pool.a, task, 0));
    row_make_due(id);
    tpi_pause_forget(pool.a);
    expect_nothing(pool.a);
    assert_non_null(strstr(row_of(id).reason, "cancelled by ann: wrong amount"));
}

/* ---- A person wants it again ----------------------------------------------------------------------------
 */

static void fail_for_good(const char *id) {
    expect(TP_EXHAUSTED, tp_give_up(pool.a, leased(id), "no account"));
}

TEST_ONCE(test_deadline__that_has_passed_is_taken_away_by_a_retry_and_one_ahead_stays) {
    const char *past = put_for_an_hour(), *ahead = put_for_an_hour(), *waits = put_for_an_hour();
    fail_for_good(past);
    fail_for_good(ahead);
    must(tp_fail(pool.a, leased(waits), "no money", &at_once));
    let_pass(past);
    let_pass(waits);
    int64_t deadline = deadline_of(ahead);
    tp_selection all = selection_with(.why = "pay it all the same");
    must(tp_operate(pool.b, TP_ACTION_RETRY, &all, NULL));
    expect_number(count_of("tp_cancel"), 1);
    assert_true(deadline_of(ahead) == deadline);
    must(tp_complete(pool.a, leased(past)));
    must(tp_complete(pool.a, leased(waits)));
    let_pass(ahead);
    row_make_due(ahead);
    expect_nothing(pool.a);
    expect_past(ahead, 0);
}

TEST_ONCE(test_deadline__that_has_passed_is_taken_away_by_an_edit_that_retries) {
    tp_edit_request edit = TP_EDIT_INIT;
    const char *id = put_for_an_hour();
    fail_for_good(id);
    let_pass(id);
    edit.params = "y";
    edit.fields = TP_EDIT_PARAMS;
    edit.retry = 1;
    must(tp_edit(pool.b, id, &edit, "ann", "again"));
    expect_number(count_of("tp_cancel"), 0);
    must(tp_complete(pool.a, leased(id)));
}

TEST_ONCE(test_deadline__of_what_failed_for_good_is_swept_and_the_task_stays_for_a_person) {
    const char *id = put_for_an_hour();
    fail_for_good(id);
    let_pass(id);
    sweep(1);
    expect_row(id, "failed", "failed", 1);
    expect_number(count_of("tp_cancel"), 0);
}

/* ---- Where it is seen ---------------------------------------------------------------------------------- */

static int64_t listed(const char *id, tp_list_request request) {
    tp_batch *batch = NULL;
    request.size = sizeof request;
    must(list_into(pool.a, &request, &batch));
    for (size_t i = 0; i < tp_batch_count(batch); i++)
        if (strcmp(tp_batch_task(batch, i)->id, id) == 0) return tp_batch_task(batch, i)->deadline_at;
    fail_msg("%s is not listed", id);
    return 0;
}

/* By each way that a list may go: by ids, by a key, by the last change, of one pool or of all. */
static void expect_listed(const char *id, int64_t wanted) {
    const char *in[] = {row_of(id).pool, "all"}, *ids[] = {id};
    for (size_t i = 0; i < LENGTH(in); i++) {
        expect_number(listed(id, (tp_list_request){.pool = in[i]}), wanted);
        expect_number(listed(id, (tp_list_request){.pool = in[i], .biz_key = "listed"}), wanted);
        expect_number(listed(id, (tp_list_request){.pool = in[i], .since = 1}), wanted);
        expect_number(listed(id, (tp_list_request){.pool = in[i], .ids = ids, .id_count = 1}), wanted);
    }
}

TEST_ONCE(test_deadline__is_in_every_list_until_the_task_has_ended) {
    const int64_t due = INT64_C(4102444800000);
    const char *with = put(.biz_key = "listed", .due_at = due, .deadline_ms = 5);
    const char *without = put(.biz_key = "listed", .due_at = due);
    const char *done = put(.biz_key = "listed", .deadline_at = due);
    const char *asked = put(.biz_key = "listed", .due_at = due);
    sql_run(pool.eye,
            "INSERT INTO tp_cancel (task_id, due_at, who, created_at) SELECT id, 0, 'ann', created_at "
            "FROM tp_pending WHERE id = '%s'",
            asked);
    expect_listed(with, due + 5);
    expect_listed(without, 0);
    expect_listed(asked, 0);
    expect_listed(done, due);
    must(tp_complete(pool.a, claim_this(pool.a, done)));
    expect_listed(done, 0);
}

/* ---- When it is ---------------------------------------------------------------------------------------- */

static void expect_deadline(const char *id, int64_t wanted) {
    if (deadline_of(id) != wanted)
        fail_msg("the deadline is %" PRId64 ", not %" PRId64, deadline_of(id), wanted);
}

TEST_ONCE(test_deadline__in_ms_counts_from_when_the_task_is_first_due) {
    const int64_t due = INT64_C(4102444800000);
    expect_deadline(put(.due_at = due, .deadline_ms = 5000), due + 5000);
    expect_deadline(put(.due_at = due, .deadline_at = due + 1), due + 1);
    const char *delayed = put(.delay_ms = 60000, .deadline_ms = 5000);
    expect_deadline(delayed, row_of(delayed).due_at + 5000);
    const char *at_gate = put(.due_at = due, .order_key = "account 9", .deadline_ms = 7);
    expect_deadline(at_gate, due + 7);
    const char *waits = put(.due_at = due, .order_key = "account 9", .deadline_ms = 8);
    expect_deadline(waits, due + 8);
    must(tp_group_open(pool.a, "wages", TP_GROUP_ALL_DONE, NULL));
    expect_deadline(put(.due_at = due, .after = "wages", .deadline_ms = 9), due + 9);
}

TEST_ONCE(test_deadline__of_many_that_are_put_in_at_once_is_each_ones_own) {
    enum { MANY = 700 };
    tp_new_task *tasks = memory(MANY, sizeof *tasks);
    size_t inserted = 0;
    for (int64_t i = 0; i < MANY; i++) {
        tasks[i] = task_with(.params = "x", .due_at = 1000 * (i + 1));
        if (i % 10 > 2) tasks[i].deadline_ms = 10 + i / 100;
        if (i == 5) tasks[i].order_key = "account 5";
        if (i == 6) tasks[i].dedup_key = "key 6";
    }
    must(tp_enqueue_many(pool.a, tasks, MANY, &inserted));
    expect_number(inserted, MANY);
    expect_number(count_of("tp_cancel"), MANY / 10 * 7);
    for (int64_t i = 0; i < MANY; i += 23)
        if (i % 10 > 2) expect_deadline(tasks[i].id, 1000 * (i + 1) + 10 + i / 100);
    /* Asked again: all are there, and nothing is written. */
    must(tp_enqueue_many(pool.a, tasks, MANY, &inserted));
    expect_number(inserted, 0);
    expect_number(count_of("tp_cancel"), MANY / 10 * 7);
}

static int calls;

static void count_call(struct tpi_link *link, void *arg) {
    (void)link;
    (void)arg;
    calls++;
}

TEST_ONCE(test_deadline__costs_nothing_when_there_is_none) {
    enum { MANY = 50 };
    tp_new_task tasks[MANY];
    calls = 0;
    meet_call("deadline_add", count_call, NULL);
    fill(tasks, MANY);
    must(tp_enqueue_many(pool.a, tasks, MANY, NULL));
    (void)put_one();
    expect_number(calls, 0);
    for (int i = 0; i < MANY; i++)
        tasks[i] = task_with(.params = "x", .deadline_ms = HOUR);
    meet_call("deadline_add", count_call, NULL);
    must(tp_enqueue_many(pool.a, tasks, MANY, NULL));
    expect_number(calls, 1); /* for all of them */
}

/* ---- Asked again, and changed -------------------------------------------------------------------------- */

TEST_ONCE(test_deadline__is_written_with_its_task_or_not_at_all) {
    tp_new_task task = task_with(.deadline_ms = HOUR);
    must(tp_begin(pool.a));
    must(tp_enqueue(pool.a, &task));
    must(tp_rollback(pool.a));
    expect_number(count_of("tp_cancel"), 0);
    must(tp_enqueue(pool.a, &task)); /* asked again after that */
    expect_number(count_of("tp_cancel"), 1);
    expect(TP_EXISTS, tp_enqueue(pool.a, &task));
    expect_number(count_of("tp_cancel"), 1);
    with(task, deadline_ms, 1, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
}

TEST_ONCE(test_deadline__another_one_under_the_same_id_is_other_content) {
    const char *id = put(.deadline_at = now_of(pool.eye) + HOUR);
    tp_new_task same = task_with(.deadline_at = deadline_of(id)), other = task_with(.deadline_at = PAST);
    task_set_id(&same, id);
    expect(TP_EXISTS, tp_enqueue(pool.b, &same));
    task_set_id(&other, id);
    expect(TP_MISUSE, tp_enqueue(pool.b, &other));
    assert_non_null(strstr(tp_last_error()->text, "another deadline"));
    expect_number(count_of("tp_cancel"), 1);
}

TEST_ONCE(test_deadline__of_a_purged_task_is_not_that_of_a_later_one_of_its_id) {
    const char *id = put_for_an_hour();
    must(tp_complete(pool.a, leased(id)));
    sql_run(pool.eye, "DELETE FROM tp_finished WHERE id = '%s'", id);
    sql_run(pool.eye, "UPDATE tp_cancel SET due_at = %" PRId64 ", created_at = created_at - 60000", PAST);
    tp_new_task without = task_with(.params = "x"), with_one = task_with(.deadline_ms = HOUR);
    task_set_id(&without, id);
    must(tp_enqueue(pool.a, &without));
    tpi_pause_forget(pool.a);
    must(tp_complete(pool.a, leased(id)));
    sql_run(pool.eye, "DELETE FROM tp_finished WHERE id = '%s'", id);
    task_set_id(&with_one, id);
    must(tp_enqueue(pool.a, &with_one));
    expect_deadline(id, row_of(id).due_at + HOUR);
    expect_number(count_of("tp_cancel"), 1);
}

static tp_new_task replacing(int64_t due_at, int64_t deadline_at) {
    return task_with(.params = "y", .dedup_key = "order 7", .due_at = due_at, .deadline_at = deadline_at,
                     .on_duplicate = TP_DUPLICATE_REPLACE);
}

TEST_ONCE(test_deadline__of_a_task_that_is_replaced_is_the_new_ones) {
    const int64_t due = INT64_C(4102444800000);
    const char *id = put(.dedup_key = "order 7", .due_at = due, .deadline_at = due + 1);
    tp_new_task with_one = replacing(due + 10, due + 20), without = replacing(due + 30, 0),
                anew = replacing(due + 30, due + 40), push = replacing(due + 50, due + 60);
    must(tp_enqueue(pool.b, &with_one));
    assert_string_equal(with_one.existing_id, id);
    expect_deadline(id, due + 20);
    must(tp_enqueue(pool.b, &with_one)); /* asked again: it was done */
    expect_deadline(id, due + 20);
    must(tp_enqueue(pool.b, &without));
    expect_number(count_of("tp_cancel"), 0);
    must(tp_enqueue(pool.b, &anew));
    expect_deadline(id, due + 40);
    push.on_duplicate = TP_DUPLICATE_PUSH_BACK;
    must(tp_enqueue(pool.b, &push));
    expect_number(row_of(id).due_at, due + 50);
    expect_deadline(id, due + 40); /* of the new one nothing but the time is taken */
}

/* From when the new one would be due, whatever the one that is there waits for. */
TEST_ONCE(test_deadline__of_what_waits_at_a_gate_begins_when_it_is_replaced) {
    tp_new_task gated = task_with(.params = "x", .dedup_key = "order 7", .order_key = "account 1"),
                next = task_with(.params = "x", .dedup_key = "order 8", .order_key = "account 1"),
                with_one = replacing(0, 0);
    must(tp_enqueue(pool.a, &gated));
    must(tp_enqueue(pool.a, &next));
    sql_run(pool.eye, "UPDATE tp_pending SET wanted_at = %" PRId64, PAST);
    with_one.dedup_key = "order 8";
    with_one.deadline_ms = HOUR;
    must(tp_now(pool.eye, &with_one.due_at));
    must(tp_enqueue(pool.b, &with_one));
    assert_string_equal(with_one.existing_id, next.id);
    expect_deadline(next.id, with_one.due_at + HOUR);
}

/* Its new content would be skipped with the old one. */
TEST_ONCE(test_deadline__what_is_cancelled_is_not_replaced) {
    tp_cancelled answer = TP_CANCELLED_INIT;
    const char *id = put(.dedup_key = "order 7");
    const tp_task *task = leased(id);
    must(tp_cancel(pool.b, id, "ann", "wrong amount", &answer));
    expect_number(answer.answer, TP_CANCEL_ASKED);
    must(tp_fail(pool.a, task, "no money", &at_once));
    tp_new_task with_one = replacing(LONG_AGO, PAST);
    expect(TP_EXISTS, tp_enqueue(pool.b, &with_one));
    assert_string_equal(with_one.existing_id, id);
    expect_number(count_of("tp_cancel WHERE who = 'ann'"), 1);
    row_make_due(id);
    tpi_pause_forget(pool.a);
    expect_nothing(pool.a);
    assert_non_null(strstr(row_of(id).reason, "cancelled by ann: wrong amount"));
}

/* ---- What it cannot be --------------------------------------------------------------------------------- */

TEST_ONCE(test_deadline__refuses_what_makes_no_sense) {
    tp_new_task task = task_with(.params = "x");
    const int64_t due = INT64_C(4102444800000);
    with(task, deadline_ms, -1, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    with(task, deadline_at, -1, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    with(task, deadline_ms, TP_DURATION_MAX + 1, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    with(task, deadline_at, TP_TIME_MAX + 1, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    task.due_at = due;
    with(task, deadline_at, due, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    task.deadline_ms = 1;
    with(task, deadline_at, due + 1, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    expect_number(count_of("tp_pending"), 0);
    struct loan loan = lent(SQL_AUTOCOMMIT_ON);
    expect(TP_MISUSE, tp_enqueue(loan.conn, &task));
    assert_non_null(strstr(tp_last_error()->text, "deadline"));
    expect_number(count_of("tp_pending"), 0);
}

TEST_ONCE(test_deadline__goes_with_a_lent_transaction) {
    struct loan loan = lent(SQL_AUTOCOMMIT_OFF);
    tp_new_task undone = task_with(.deadline_ms = HOUR), done = task_with(.deadline_ms = HOUR);
    must(tp_enqueue(loan.conn, &undone));
    loan_end(&loan, SQL_ROLLBACK);
    expect_number(count_of("tp_cancel"), 0);
    must(tp_enqueue(loan.conn, &done));
    loan_end(&loan, SQL_COMMIT);
    expect_deadline(done.id, row_of(done.id).due_at + HOUR);
}
