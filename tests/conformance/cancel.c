/* Cancelling: what waits is skipped at once, what is in hand ends as who has it says, and whatever becomes of
 * him: it is done, or it is skipped and not tried again. Each answer says exactly what became of the task. */
#include "base/uuid.h"
#include "ops/for_workers.h"
#include "ops/pause.h"
#include "suite.h"

THEME(cancel, EACH_PLAN_AND_HOLD);

static const int64_t soon[] = {1, 1};
static const tp_retry at_once = {.size = sizeof(tp_retry), .delays_ms = soon, .count = LENGTH(soon)};

/* ---- Given --------------------------------------------------------------------------------------------- */

static bool holds(void) {
    return pool_plan_holds(pool.plan ? pool.plan : "");
}

/* Nobody can ask beside a transaction that holds tasks where only one may write. */
static bool one_writer(void) {
    return pool_on_sqlite();
}

static tp_cancelled cancelled(tp_conn *conn, const char *id) {
    tp_cancelled answer = TP_CANCELLED_INIT;
    tp_status status = tp_cancel(conn, id, "ann", "wrong amount", &answer);
    expect(answer.answer == TP_CANCEL_UNKNOWN ? TP_NONE : TP_OK, status);
    return answer;
}

#define expect_answer(conn, id, wanted, words)                                                               \
    do {                                                                                                     \
        tp_cancelled got = cancelled((conn), (id));                                                          \
        expect_number(got.answer, (wanted));                                                                 \
        assert_string_equal(got.state, (words));                                                             \
    } while (0)

static void expect_skipped(const char *id, int failures) {
    expect_row(id, "finished", "skipped", failures);
    assert_non_null(strstr(row_of(id).reason, "cancelled by ann: wrong amount"));
    expect_number(events_of(id, "canceled"), 1);
    assert_string_equal(text_of("who FROM tp_history WHERE task_id = '%s' AND event = 'canceled'", id),
                        "ann");
    expect_number(count_of("tp_cancel"), 0);
}

/* A claim that knows what was asked until now finds nothing. */
static void expect_not_claimed(tp_conn *conn) {
    tpi_pause_forget(conn);
    if (holds()) must(tp_begin(conn));
    expect_nothing(conn);
    if (holds()) must(tp_commit(conn));
}

/* Claimed by a lease, whatever the plan. */
static const tp_task *leased(const char *id) {
    tp_batch *batch =
        claim_with(pool.a, .limit = 1, .plan = holds() ? tp_conn_about(pool.a)->leased_plan : pool.plan);
    const tp_task *task = tp_batch_task(batch, 0);
    assert_string_equal(task->id, id);
    return task;
}

/* ---- What waits ---------------------------------------------------------------------------------------- */

TEST_ONCE(test_cancel__what_waits_is_skipped_with_who_and_why_and_asked_again_answers_the_same) {
    const char *id = put_one();
    expect_answer(pool.b, id, TP_CANCEL_SKIPPED, "skipped");
    expect_skipped(id, 0);
    expect_answer(pool.b, id, TP_CANCEL_SKIPPED, "skipped");
    expect_answer(pool.a, id, TP_CANCEL_SKIPPED, "skipped");
    expect_skipped(id, 0);
    expect_number(count_of("tp_audit WHERE action = 'canceled' AND subject = '%s' AND who = 'ann'", id), 1);
    expect_nothing(pool.a);
}

TEST_ONCE(test_cancel__what_waits_for_a_retry_is_skipped) {
    const char *id = put_one();
    must(tp_fail(pool.a, leased(id), "no money", &at_once));
    expect_answer(pool.b, id, TP_CANCEL_SKIPPED, "skipped");
    expect_skipped(id, 1);
}

TEST_ONCE(test_cancel__comes_too_late_for_what_has_ended_and_says_how) {
    const char *done = put_one();
    must(tp_complete(pool.a, leased(done)));
    expect_answer(pool.b, done, TP_CANCEL_LATE, "done");
    const char *failed = put_one();
    expect(TP_EXHAUSTED, tp_give_up(pool.a, leased(failed), "no account"));
    expect_answer(pool.b, failed, TP_CANCEL_LATE, "failed");
    expect_row(done, "finished", "done", 0);
    expect_row(failed, "failed", "failed", 1);
    char unknown[ID];
    tpi_uuid_ordered(unknown);
    expect_answer(pool.b, unknown, TP_CANCEL_UNKNOWN, "");
    expect_number(count_of("tp_cancel"), 0);
    expect_number(count_of("tp_audit WHERE subject = '%s' OR subject = '%s'", done, failed), 0);
}

TEST_ONCE(test_cancel__takes_a_selection_as_skip_does) {
    tp_operated result = TP_OPERATED_INIT;
    char ids[4][ID];
    task_put_many(4, ids);
    const tp_task *task = leased(ids[0]);
    tp_selection all = selection_with(.why = "wrong text");
    all.dry_run = 1;
    must(tp_operate(pool.b, TP_ACTION_CANCEL, &all, &result));
    expect_number(result.done, 3);
    expect_number(result.asked, 1);
    expect_row(ids[1], "pending", "pending", 0);
    expect_number(count_of("tp_cancel"), 0);
    all.dry_run = 0;
    must(tp_operate(pool.b, TP_ACTION_CANCEL, &all, &result));
    expect_number(result.done, 3);
    expect_number(result.asked, 1);
    expect_number(result.passed, 0);
    for (int i = 1; i < 4; i++)
        expect_row(ids[i], "finished", "skipped", 0);
    must(tp_operate(pool.b, TP_ACTION_CANCEL, &all, &result));
    expect_number(result.done, 0);
    expect_number(result.asked, 1);
    expect_number(events_of(ids[0], "cancel"), 1); /* asked again is not asked anew */
    must(tp_complete(pool.a, task));
    all.pool = "failed";
    expect(TP_MISUSE, tp_operate(pool.b, TP_ACTION_CANCEL, &all, &result));
}

/* ---- What is in hand ----------------------------------------------------------------------------------- */

TEST_ONCE(test_cancel__of_a_task_in_hand_is_a_request_and_what_was_done_nevertheless_is_done) {
    const char *id = put_one();
    const tp_task *task = leased(id);
    expect_answer(pool.b, id, TP_CANCEL_ASKED, "handling");
    expect_answer(pool.b, id, TP_CANCEL_ASKED, "handling");
    expect_number(events_of(id, "cancel"), 1);
    expect_number(count_of("tp_audit WHERE action = 'cancel' AND subject = '%s'", id), 1);
    must(tp_complete(pool.a, task));
    expect_row(id, "finished", "done", 0);
    expect_answer(pool.b, id, TP_CANCEL_LATE, "done");
    size_t done = 0;
    must(tpi_cancel_sweep(pool.b, 100, &done));
    expect_number(done, 1);
    expect_number(count_of("tp_cancel"), 0);
    expect_row(id, "finished", "done", 0);
}

TEST_ONCE(test_cancel__what_was_done_nevertheless_has_its_result) {
    const char *id = put_one();
    const tp_task *task = leased(id);
    expect_answer(pool.b, id, TP_CANCEL_ASKED, "handling");
    must(tpi_cancel_settle(pool.a, task, &(struct tpi_cancel_end){"ann", "wrong amount", NULL, "42"}));
    expect_row(id, "finished", "done", 0);
    assert_string_equal(text_of("result FROM tp_finished WHERE id = '%s'", id), "42");
    expect_number(count_of("tp_cancel"), 0);
}

TEST(test_cancel__one_whose_worker_died_is_skipped_at_the_next_claim_and_not_run) {
    const char *id = put_one();
    (void)leased(id);
    expect_not_claimed(pool.a); /* from here on it knows of nothing for a second */
    expect_answer(pool.b, id, TP_CANCEL_ASKED, "handling");
    tpi_pause_hint(false);
    row_make_due(id);
    if (holds()) must(tp_begin(pool.a));
    expect_nothing(pool.a);
    if (holds()) must(tp_commit(pool.a));
    expect_skipped(id, 1);
    assert_non_null(strstr(row_of(id).reason, "whether it was done is not known"));
    expect_number(events_of(id, "lapsed"), 1);
}

TEST(test_cancel__one_that_failed_or_was_put_back_is_not_run_again) {
    const char *failed = put_one();
    const tp_task *task = leased(failed);
    expect_answer(pool.b, failed, TP_CANCEL_ASKED, "handling");
    must(tp_fail(pool.a, task, "no money", &at_once));
    row_make_due(failed);
    expect_not_claimed(pool.a);
    expect_skipped(failed, 1);
    const char *put_back = put_one();
    task = leased(put_back);
    expect_answer(pool.b, put_back, TP_CANCEL_ASKED, "handling");
    must(tp_release(pool.a, task, 0));
    row_make_due(put_back);
    expect_not_claimed(pool.b);
    expect_skipped(put_back, 0);
}

/* The claim knows of no request. On a machine so slow that a second is over by then it does. */
static void expect_not_run(tp_conn *conn) {
    tpi_pause_hint(false);
    expect_number(tpi_pause_unwanted(conn), 0);
    if (holds()) must(tp_begin(conn));
    tp_status status = try_claim_with(conn, .limit = 1);
    if (holds()) must(tp_commit(conn));
    expect(TP_NONE, status);
}

static void know_by_now(tp_conn *conn) {
    tpi_pause_forget(conn);
    must(tpi_pause_refresh(conn));
}

TEST(test_cancel__one_that_was_given_up_at_once_is_not_run_where_nobody_has_heard_of_it) {
    const char *failed = put_one();
    const tp_task *task = leased(failed);
    know_by_now(pool.b);
    expect_answer(pool.a, failed, TP_CANCEL_ASKED, "handling");
    must(tp_fail(pool.a, task, "no money", &at_once));
    row_make_due(failed);
    expect_not_run(pool.b);
    expect_skipped(failed, 1);
    const char *put_back = put_one();
    task = leased(put_back);
    know_by_now(pool.b);
    expect_answer(pool.a, put_back, TP_CANCEL_ASKED, "handling");
    must(tp_release(pool.a, task, 0));
    expect_not_run(pool.b);
    row_make_due(put_back);
    expect_not_claimed(pool.b);
    expect_skipped(put_back, 0);
}

TEST(test_cancel__leaves_the_others_of_a_claim_alone) {
    enum { MANY = 5 };
    char ids[MANY][ID];
    task_put_many(MANY, ids);
    for (int i = 0; i < MANY; i++) {
        const tp_task *task = leased(ids[i]);
        if (i % 2) expect_answer(pool.b, ids[i], TP_CANCEL_ASKED, "handling");
        must(tp_release(pool.a, task, 0));
        sql_run(pool.eye, "UPDATE tp_pending SET due_at = %" PRId64 " WHERE id = '%s'", INT64_C(9) * LONG_AGO,
                ids[i]);
    }
    sql_run(pool.eye, "UPDATE tp_pending SET due_at = %" PRId64 " WHERE handler = '%s'", LONG_AGO,
            pool.handler);
    tpi_pause_forget(pool.a);
    if (holds()) must(tp_begin(pool.a));
    tp_batch *batch = claim_up_to(pool.a, MANY);
    expect_count(batch, 3);
    for (size_t i = 0; i < 3; i++)
        must(tp_complete(pool.a, tp_batch_task(batch, i)));
    if (holds()) must(tp_commit(pool.a));
    for (int i = 0; i < MANY; i++)
        expect_row(ids[i], "finished", i % 2 ? "skipped" : "done", 0);
}

TEST_ONCE(test_cancel__of_one_that_a_transaction_holds_is_a_request) {
    if (!pool_plan_possible("hold") || one_writer()) skip();
    const char *id = put_one();
    must(tp_begin(pool.a));
    (void)claim_with(pool.a, .limit = 1, .plan = "hold");
    expect_answer(pool.b, id, TP_CANCEL_ASKED, "handling");
    must(tp_rollback(pool.a));
    tpi_pause_forget(pool.a);
    must(tp_begin(pool.a));
    expect(TP_NONE, try_claim_with(pool.a, .limit = 1, .plan = "hold"));
    must(tp_commit(pool.a));
    expect_skipped(id, 0);
}

TEST_ONCE(test_cancel__is_forgotten_when_a_person_wants_the_task_again) {
    const char *id = put_one();
    const tp_task *task = leased(id);
    expect_answer(pool.b, id, TP_CANCEL_ASKED, "handling");
    expect(TP_EXHAUSTED, tp_give_up(pool.a, task, "no account"));
    tp_selection all = selection_with(.pool = "failed");
    must(tp_operate(pool.b, TP_ACTION_RETRY, &all, NULL));
    expect_number(count_of("tp_cancel"), 0);
    row_make_due(id);
    must(tp_complete(pool.a, leased(id)));
}

TEST_ONCE(test_cancel__is_not_about_a_later_task_of_the_same_id) {
    const char *id = put_one();
    const tp_task *task = leased(id);
    expect_answer(pool.b, id, TP_CANCEL_ASKED, "handling");
    must(tp_complete(pool.a, task));
    sql_run(pool.eye, "UPDATE tp_cancel SET created_at = created_at - 60000");
    sql_run(pool.eye, "DELETE FROM tp_finished WHERE id = '%s'", id);
    tp_new_task again = task_with(.params = "x");
    task_set_id(&again, id);
    must(tp_enqueue(pool.a, &again));
    tpi_pause_forget(pool.a);
    task = leased(id);
    expect_answer(pool.b, id, TP_CANCEL_ASKED, "handling"); /* anew */
    expect_number(events_of(id, "cancel"), 2);
    must(tp_complete(pool.a, task));
}

/* ---- Rivals -------------------------------------------------------------------------------------------- */

static const tp_task *met_task;

static void claim_it(struct tpi_link *link, void *arg) {
    const char *handlers[] = {pool.handler};
    tp_claim_request request = request_with(.limit = 1, .handlers = handlers, .plan = NULL);
    static tp_batch *batch;
    (void)link;
    (void)arg;
    must(tp_claim(pool.a, &request, &batch));
    at_end((void (*)(void *))tp_batch_free, batch);
    met_task = tp_batch_task(batch, 0);
}

static void complete_it(struct tpi_link *link, void *arg) {
    (void)link;
    (void)arg;
    must(tp_complete(pool.a, met_task));
}

static const char *write_of_a_skip(void) {
    return (pool.a->store.caps & TPI_CAP_SKIP) ? "operate_lock_pending" : "operate_touch_pending";
}

TEST_ONCE(test_cancel__a_claim_that_comes_in_between_is_told) {
    if (one_writer()) skip(); /* the cancel has the lock by then */
    const char *id = put_one();
    meet_call(write_of_a_skip(), claim_it, NULL);
    expect_answer(pool.b, id, TP_CANCEL_ASKED, "handling");
    must(tp_complete(pool.a, met_task));
    expect_row(id, "finished", "done", 0);
}

TEST_ONCE(test_cancel__a_settle_that_comes_in_between_is_seen) {
    if (one_writer()) skip();
    const char *id = put_one();
    met_task = leased(id);
    meet_call("cancel_change", complete_it, NULL);
    expect_answer(pool.b, id, TP_CANCEL_LATE, "done");
    expect_number(count_of("tp_cancel"), 0);
    expect_number(count_of("tp_audit WHERE subject = '%s'", id), 0);
}

static void put_it_back(struct tpi_link *link, void *arg) {
    (void)link;
    (void)arg;
    must(tp_release(pool.a, met_task, 0));
}

TEST_ONCE(test_cancel__one_that_is_put_back_in_between_is_skipped) {
    if (one_writer()) skip();
    const char *id = put_one();
    met_task = leased(id);
    meet_call("cancel_change", put_it_back, NULL);
    expect_answer(pool.b, id, TP_CANCEL_SKIPPED, "skipped");
    expect_row(id, "finished", "skipped", 0);
    expect_number(count_of("tp_cancel"), 0);
}

/* ---- Maintenance, gates, four eyes --------------------------------------------------------------------- */

static void want_it_again(struct tpi_link *link, void *arg) {
    tp_selection all = selection_with(.pool = NULL);
    (void)link;
    (void)arg;
    must(tp_operate(pool.a, TP_ACTION_RETRY, &all, NULL));
}

TEST_ONCE(test_cancel__maintenance_leaves_what_a_person_wanted_again_meanwhile) {
    if (one_writer()) skip(); /* it has the lock by then */
    const char *id = put_one();
    const tp_task *task = leased(id);
    size_t done = 0;
    expect_answer(pool.b, id, TP_CANCEL_ASKED, "handling");
    must(tp_fail(pool.a, task, "no money", &at_once));
    meet_call("operate_select_pending", want_it_again, NULL);
    must(tpi_cancel_sweep(pool.b, 100, &done));
    expect_number(done, 0);
    expect_row(id, "pending", "pending", 0);
    expect_number(count_of("tp_cancel"), 0);
}

TEST_ONCE(test_cancel__maintenance_ends_what_waits_and_removes_what_is_left) {
    enum { MANY = 4 };
    char ids[MANY][ID];
    size_t done = 0;
    task_put_many(MANY, ids);
    for (int i = 0; i < MANY; i++) {
        const tp_task *task = leased(ids[i]);
        expect_answer(pool.b, ids[i], TP_CANCEL_ASKED, "handling");
        if (i == 0) must(tp_complete(pool.a, task));
        if (i == 1) must(tp_fail(pool.a, task, "no money", NULL));
        if (i == 2) must(tp_release(pool.a, task, 60000));
    }
    must(tpi_cancel_sweep(pool.b, 100, &done));
    expect_number(done, 3);
    expect_row(ids[0], "finished", "done", 0);
    expect_row(ids[1], "finished", "skipped", 1);
    expect_row(ids[2], "finished", "skipped", 0);
    expect_row(ids[3], "pending", "handling", 0);
    assert_string_equal(row_of(ids[1]).reason, "cancelled by ann: wrong amount");
    expect_number(events_of(ids[1], "canceled"), 1);
    expect_number(count_of("tp_cancel"), 1); /* of what is in hand */
    expect_number(count_of("tp_audit WHERE action = 'canceled' AND subject = '%s'", ids[1]), 0);
    must(tpi_cancel_sweep(pool.b, 100, &done));
    expect_number(done, 0);
}

TEST_ONCE(test_cancel__lets_the_next_through_a_gate) {
    char ids[3][ID];
    for (int i = 0; i < 3; i++) {
        tp_new_task task = task_with(.order_key = "account 7");
        must(tp_enqueue(pool.a, &task));
        memcpy(ids[i], task.id, ID);
    }
    expect_answer(pool.b, ids[1], TP_CANCEL_SKIPPED, "skipped"); /* it waited at the gate */
    expect_answer(pool.b, ids[0], TP_CANCEL_SKIPPED, "skipped"); /* it was let through */
    row_make_due(ids[2]);
    must(tp_complete(pool.a, leased(ids[2])));
    expect_number(count_of("tp_gate_task"), 0);
}

TEST_ONCE(test_cancel__one_behind_a_gate_whose_worker_died_lets_the_next_through) {
    char ids[2][ID];
    for (int i = 0; i < 2; i++) {
        tp_new_task task = task_with(.order_key = "account 8");
        must(tp_enqueue(pool.a, &task));
        memcpy(ids[i], task.id, ID);
    }
    row_make_due(ids[0]);
    (void)leased(ids[0]);
    expect_answer(pool.b, ids[0], TP_CANCEL_ASKED, "handling");
    row_make_due(ids[0]);
    /* The same claim takes the next, unless the clock that is carried on says that it is due later. */
    tp_claim_request request = request_with(.limit = 1);
    tp_batch *batch = NULL;
    if (claim_into(pool.b, &request, &batch) == TP_NONE) row_make_due(ids[1]);
    must(tp_complete(pool.b, batch ? tp_batch_task(batch, 0) : claim_this(pool.b, ids[1])));
    expect_skipped(ids[0], 1);
    expect_row(ids[1], "finished", "done", 0);
    expect_number(count_of("tp_gate_task"), 0);
}

static void switch_eyes_on(void) {
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    eyes.on = 1;
    must(tp_four_eyes_set(pool.a, &eyes, "root", "policy 9"));
}

TEST_ONCE(test_cancel__needs_a_second_person_where_four_eyes_is_on) {
    tp_cancelled answer = TP_CANCELLED_INIT;
    const char *waits = put_one();
    switch_eyes_on();
    expect(TP_REQUESTED, tp_cancel(pool.b, waits, "ann", "wrong amount", &answer));
    expect(TP_REQUESTED, tp_cancel(pool.b, waits, "ann", "wrong amount", &answer));
    expect_row(waits, "pending", "pending", 0);
    expect(TP_MISUSE, tp_approve(pool.b, answer.request_id, "ann", NULL, NULL));
    must(tp_approve(pool.b, answer.request_id, "bob", "seen", NULL));
    expect_row(waits, "finished", "skipped", 0);
    must(tp_cancel(pool.b, waits, "ann", "wrong amount", &answer));
    expect_number(answer.answer, TP_CANCEL_SKIPPED);
    const char *held = put_one();
    const tp_task *task = leased(held);
    answer = (tp_cancelled)TP_CANCELLED_INIT;
    expect(TP_REQUESTED, tp_cancel(pool.b, held, "ann", "wrong amount", &answer));
    expect_number(count_of("tp_cancel"), 0);
    must(tp_extend(pool.a, task, 120000)); /* as its worker does */
    must(tp_approve(pool.b, answer.request_id, "bob", "seen", NULL));
    expect_number(count_of("tp_cancel WHERE who = 'ann'"), 1);
    must(tp_complete(pool.a, task));
}

/* ---- What it costs ------------------------------------------------------------------------------------- */

static int looks;

static void count_look(struct tpi_link *link, void *arg) {
    (void)link;
    (void)arg;
    looks++;
}

TEST(test_cancel__costs_a_claim_no_statement_while_nothing_is_cancelled) {
    const char *id = put_one();
    looks = 0;
    meet_call("cancel_among", count_look, NULL);
    tpi_pause_forget(pool.a);
    tpi_pause_hint(false); /* of the tests before */
    if (holds()) must(tp_begin(pool.a));
    must(tp_complete(pool.a, claim_this(pool.a, id)));
    if (holds()) must(tp_commit(pool.a));
    expect_number(looks, 0);
}

TEST_ONCE(test_cancel__refuses_what_it_cannot_do) {
    tp_cancelled answer = TP_CANCELLED_INIT;
    const char *id = put_one();
    expect(TP_MISUSE, tp_cancel(pool.a, NULL, "ann", NULL, &answer));
    expect(TP_MISUSE, tp_cancel(pool.a, "no uuid", "ann", NULL, &answer));
    expect(TP_MISUSE, tp_cancel(pool.a, id, NULL, NULL, &answer));
    expect(TP_MISUSE, tp_cancel(pool.a, id, "ann", NULL, NULL));
    with(answer, size, 3, expect(TP_MISUSE, tp_cancel(pool.a, id, "ann", NULL, &given)));
    must(tp_begin(pool.a));
    expect(TP_MISUSE, tp_cancel(pool.a, id, "ann", NULL, &answer));
    must(tp_rollback(pool.a));
    expect_row(id, "pending", "pending", 0);
}
