/* New content for tasks that wait or failed: written once, only over what was read, and recorded; who asks
 * again hears what was done, and that other content was not. */
#include "base/uuid.h"
#include "suite.h"

THEME(edit, ONCE);

#define edit_with(...) ((tp_edit_request){.size = sizeof(tp_edit_request), __VA_ARGS__})

static tp_status edit(tp_conn *conn, const char *id, tp_edit_request *request) {
    return tp_edit(conn, id, request, "ann@desk", "because");
}

/* In this pool, after so many failures. */
static void put_failed(const char *in, int failures, char id[ID]) {
    tpi_uuid_ordered(id);
    put_row(pool.eye, .in = in, .id = id, .state = "failed", .failures = failures, .reason = "no account",
            .due_at = LONG_AGO * 2);
}

static const char *params_of(const char *id) {
    return task_shown(pool.b, id)->params;
}

/* One edit, with these words. */
static void expect_recorded(const char *id, const char *words) {
    expect_number(events_of(id, "edited"), 1);
    assert_string_equal(text_of("reason FROM tp_history WHERE task_id = '%s' AND event = 'edited'", id),
                        words);
}

/* ---- What is written ----------------------------------------------------------------------------------- */

TEST(test_edit__of_a_task_that_waits_for_a_retry_moves_its_time) {
    char id[ID];
    put_failed("pending", 2, id);
    tp_edit_request request =
        edit_with(.params = "new", .due_at = LONG_AGO + 5, .fields = TP_EDIT_PARAMS | TP_EDIT_DUE_AT);
    must(edit(pool.a, id, &request));
    expect_row(id, "pending", "failed", 2);
    expect_number(row_of(id).due_at, LONG_AGO + 5);
    expect_recorded(id, "params 1 -> 3 bytes, due_at 2000000000000 -> 1000000000005: because");
    const tp_task *task = claim_this(pool.b, id);
    assert_string_equal(task->params, "new");
    expect_number(task->failures, 2);
    must(tp_complete(pool.b, task));
}

TEST(test_edit__and_retry_of_a_task_that_waits_for_one_makes_it_due_and_counts_from_zero) {
    char id[ID];
    put_failed("pending", 2, id);
    tp_edit_request request =
        edit_with(.params = "new", .priority = -3, .fields = TP_EDIT_PARAMS | TP_EDIT_PRIORITY, .retry = 1);
    must(edit(pool.a, id, &request));
    expect_row(id, "pending", "pending", 0);
    expect_number(row_of(id).due_at, row_of(id).modified_at);
    expect_recorded(id, "params 1 -> 3 bytes, priority 0 -> -3, retry: because");
    expect_number(events_of(id, "retried"), 1);
    row_make_due(id);
    must(tp_complete(pool.b, claim_this(pool.b, id)));
    must(edit(pool.a, id, &request)); /* it has left the pool since */
    expect_row(id, "finished", "done", 0);
}

TEST(test_edit__of_a_task_that_waits_moves_it) {
    const char *moved = put_one(), *other = put_one();
    tp_edit_request request = edit_with(.shard = 3, .priority = -7, .due_at = LONG_AGO * 2,
                                        .fields = TP_EDIT_SHARD | TP_EDIT_PRIORITY | TP_EDIT_DUE_AT);
    must(edit(pool.a, moved, &request));
    must(edit(pool.b, moved, &request));
    expect_row(moved, "pending", "pending", 0);
    expect_recorded(moved, "priority 0 -> -7, shard 0 -> 3, due_at 1000000000000 -> 2000000000000: because");
    expect_number(task_shown(pool.b, moved)->shard, 3);
    expect_number(task_shown(pool.b, moved)->priority, -7);
    must(tp_complete(pool.b, claim_this(pool.b, other))); /* the moved one is not due */
    request = edit_with(.params = "new", .due_at = LONG_AGO, .fields = TP_EDIT_PARAMS | TP_EDIT_DUE_AT);
    must(edit(pool.a, moved, &request));
    const tp_task *task = claim_this(pool.b, moved);
    assert_string_equal(task->params, "new");
    must(tp_complete(pool.b, task));
    must(edit(pool.a, moved, &request));
    request.shard = 4;
    request.fields |= TP_EDIT_SHARD;
    expect(TP_MISUSE, edit(pool.a, moved, &request));
    expect_text("was done with other content");
}

/* ---- Deadlines ----------------------------------------------------------------------------------------- */

static tp_edit_request deadline_with(int64_t deadline_at, int32_t retry) {
    return edit_with(.deadline_at = deadline_at, .fields = TP_EDIT_DEADLINE_AT, .retry = retry);
}

static void expect_deadline(const char *id, int64_t deadline_at) {
    expect_number(task_shown(pool.b, id)->deadline_at, deadline_at);
    expect_number(count_of("tp_cancel WHERE task_id = '%s'", id), deadline_at ? 1 : 0);
}

static void refuse_deadline(const char *id, int64_t deadline_at, int32_t retry, const char *text) {
    tp_edit_request request = deadline_with(deadline_at, retry);
    expect(TP_MISUSE, edit(pool.a, id, &request));
    expect_text(text);
}

TEST(test_edit__gives_a_task_a_deadline_moves_that_and_takes_it_away) {
    const char *id = put_one();
    tp_edit_request request = deadline_with(LONG_AGO * 3, 0), other = deadline_with(LONG_AGO * 2, 0),
                    none = deadline_with(0, 0);
    must(edit(pool.a, id, &request));
    must(edit(pool.b, id, &request));
    expect_deadline(id, LONG_AGO * 3);
    expect_recorded(id, "deadline_at 0 -> 3000000000000: because");
    expect_number(count_of("tp_audit WHERE action = 'edited' AND changed = 1 AND subject = '%s'", id), 1);
    request.deadline_at++;
    expect(TP_MISUSE, edit(pool.a, id, &request));
    expect_text("was done with other content");
    must(edit(pool.a, id, &other));
    expect_deadline(id, LONG_AGO * 2);
    must(edit(pool.a, id, &none));
    expect_deadline(id, 0);
    must(tp_complete(pool.a, claim_this(pool.a, id)));
    expect_number(count_of("tp_audit WHERE action = 'edited' AND subject = '%s'", id), 3);
}

TEST(test_edit__of_a_failed_task_gives_its_retry_a_deadline) {
    char id[ID];
    put_failed("failed", 3, id);
    refuse_deadline(id, LONG_AGO * 3, 0, "a task of the failed pool has no deadline");
    tp_edit_request request = deadline_with(LONG_AGO * 3, 1);
    must(edit(pool.a, id, &request));
    expect_row(id, "pending", "pending", 0);
    expect_deadline(id, LONG_AGO * 3);
}

TEST(test_edit__refuses_a_deadline_that_cannot_be) {
    const char *id = put_one();
    struct row before = row_of(id);
    refuse_deadline(id, -1, 0, "no time of the years");
    refuse_deadline(id, TP_TIME_MAX + 1, 0, "no time of the years");
    refuse_deadline(id, before.due_at, 0, "it would never be begun");
    tp_edit_request moved = edit_with(.deadline_at = LONG_AGO * 2, .due_at = LONG_AGO * 2,
                                      .fields = TP_EDIT_DEADLINE_AT | TP_EDIT_DUE_AT);
    expect(TP_MISUSE, edit(pool.a, id, &moved));
    sql_run(pool.eye, "INSERT INTO tp_cancel (task_id, due_at, who, created_at) SELECT id, 0, 'ann', "
                      "created_at FROM tp_pending");
    refuse_deadline(id, LONG_AGO * 3, 0, "the end of the task was asked for");
    expect_same(id, &before);
    expect_number(task_shown(pool.b, id)->deadline_at, 0);
    expect_number(count_of("tp_cancel WHERE who = 'ann'"), 1);
}

TEST(test_edit__passes_over_the_deadline_of_an_earlier_task_with_its_id) {
    const char *id = put_one();
    tp_edit_request request = deadline_with(LONG_AGO * 3, 0);
    sql_run(pool.eye, "INSERT INTO tp_cancel (task_id, due_at, created_at) SELECT id, 1, 1 FROM tp_pending");
    expect_number(task_shown(pool.b, id)->deadline_at, 0);
    must(edit(pool.a, id, &request));
    expect_deadline(id, LONG_AGO * 3);
}

/* ---- What is left alone -------------------------------------------------------------------------------- */

TEST(test_edit__of_a_task_that_has_not_failed_is_no_retry) {
    const char *put = put_one();
    struct row before = row_of(put);
    tp_edit_request request = edit_with(.params = "new", .fields = TP_EDIT_PARAMS, .retry = 1);
    expect(TP_MISUSE, edit(pool.a, put, &request));
    expect_text("needs no retry");
    expect_same(put, &before);
}

TEST(test_edit__leaves_alone_what_is_in_hand_or_done) {
    const tp_task *held = put_and_claim(pool.b);
    tp_edit_request request = edit_with(.params = "new", .fields = TP_EDIT_PARAMS);
    expect(TP_MISUSE, edit(pool.a, held->id, &request));
    expect_text("only one that waits or failed can be edited");
    must(tp_complete(pool.b, held));
    request.edit_id[0] = '\0';
    expect(TP_MISUSE, edit(pool.a, held->id, &request));
    expect_number(count_of("tp_history WHERE event = 'edited'"), 0);
}

TEST(test_edit__does_not_take_an_open_tasks_dedup_key) {
    char id[ID];
    tp_edit_request request = edit_with(.dedup_key = "taken", .fields = TP_EDIT_DEDUP_KEY);
    enqueue(pool.a, .dedup_key = "taken");
    put_failed("pending", 1, id);
    struct row before = row_of(id);
    expect(TP_EXISTS, edit(pool.a, id, &request));
    expect_same(id, &before);
    expect_number(events_of(id, "edited"), 0);
}

static tp_status edit_call(tp_conn *conn, void *id) {
    tp_edit_request request = edit_with(.params = "new", .fields = TP_EDIT_PARAMS);
    return edit(conn, id, &request);
}

TEST(test_edit__waits_for_who_holds_the_task_and_leaves_it_alone) {
    struct aside aside;
    char id[ID];
    if (!pool_plan_possible("hold")) skip();
    task_put("x", id);
    must(tp_begin(pool.b));
    const tp_task *task = tp_batch_task(claim_with(pool.b, .limit = 1, .plan = "hold"), 0);
    start_blocked(&aside, pool.a, edit_call, id);
    must(tp_complete(pool.b, task));
    must(tp_commit(pool.b));
    expect(TP_CONFLICT, aside_end(&aside));
    expect(TP_MISUSE, edit_call(pool.a, id));
    expect_text("done in the finished pool");
    assert_string_equal(params_of(id), "x");
    expect_number(events_of(id, "edited"), 0);
}

/* ---- Asked again --------------------------------------------------------------------------------------- */

#define ALL_TEXTS (TP_EDIT_PARAMS | TP_EDIT_BIZ_KEY | TP_EDIT_DEDUP_KEY)
static const tp_edit_request good = {.size = sizeof(tp_edit_request),
                                     .params = "new",
                                     .biz_key = "order 7",
                                     .dedup_key = "once 7",
                                     .priority = 4,
                                     .max_failures = 9,
                                     .fields = ALL_TEXTS | TP_EDIT_PRIORITY | TP_EDIT_MAX_FAILURES};

/* The edit that was done, but for one field. */
#define refuses(done, field, value)                                                                          \
    with(done, field, value, {                                                                               \
        expect(TP_MISUSE, edit(pool.a, id, &given));                                                         \
        expect_text("was done with other content");                                                          \
    })

static void refuse_all_others(const char *id, tp_edit_request done) {
    refuses(done, params, "other");
    refuses(done, params, "newer");
    refuses(done, params, NULL);
    refuses(done, biz_key, "order 77");
    refuses(done, dedup_key, "");
    refuses(done, priority, 5);
    refuses(done, priority, -4);
    refuses(done, max_failures, 99);
    refuses(done, fields, TP_EDIT_PARAMS);
    refuses(done, retry, !done.retry);
    with(done, fields, done.fields | TP_EDIT_DUE_AT, {
        given.retry = 0;
        expect(TP_MISUSE, edit(pool.a, id, &given));
    });
}

static void try_again_in(const char *in, int32_t retry) {
    char id[ID];
    tp_edit_request done = good;
    done.retry = retry;
    put_failed(in, 2, id);
    must(edit(pool.a, id, &done));
    struct row before = row_of(id);
    must(edit(pool.b, id, &done));
    refuse_all_others(id, done);
    /* As long as what was written. */
    refuses(done, params, "old");
    refuses(done, biz_key, "order 8");
    refuses(done, dedup_key, "once 8");
    must(tp_edit(pool.b, id, &done, "bob@desk", "another reason"));
    expect_same(id, &before);
    expect_number(events_of(id, "edited"), 1);
    expect_number(events_of(id, "retried"), retry);
    sql_run(pool.eye, "DELETE FROM tp_%s WHERE id = '%s'", row_of(id).pool, id);
    must(edit(pool.b, id, &done)); /* it was purged */
    refuse_all_others(id, done);
}

TEST(test_edit__asked_again_is_done_once_and_other_content_is_refused) {
    for (int32_t retry = 0; retry < 2; retry++) {
        try_again_in("failed", retry);
        try_again_in("pending", retry);
    }
}

TEST(test_edit__asked_again_is_not_measured_by_what_was_written_over_it) {
    char id[ID];
    tp_edit_request first = good, second = edit_with(.params = "two", .fields = TP_EDIT_PARAMS);
    put_failed("failed", 2, id);
    must(edit(pool.a, id, &first));
    must(edit(pool.b, id, &second));
    must(edit(pool.a, id, &first));
    refuse_all_others(id, first);
    must(edit(pool.b, id, &second));
    refuses(second, params, "new");
    assert_string_equal(params_of(id), "two");
    expect_number(events_of(id, "edited"), 2);
}

TEST(test_edit__an_edit_id_is_of_one_task) {
    char ids[2][ID];
    tp_edit_request request = good;
    put_failed("failed", 2, ids[0]);
    put_failed("failed", 2, ids[1]);
    must(edit(pool.a, ids[0], &request));
    expect(TP_MISUSE, edit(pool.a, ids[1], &request));
    expect_text("of another task's edit");
    assert_string_equal(params_of(ids[1]), "x");
}

TEST(test_edit__asked_again_after_a_lost_answer_is_done_once) {
    bool more = true;
    for (int at = 0; more && at < 100; at++) {
        char id[ID];
        tp_edit_request request = edit_with(.params = "new", .fields = TP_EDIT_PARAMS, .retry = 1);
        put_failed(at & 2 ? "pending" : "failed", 2, id);
        lose_nth_call(at / 2, at & 1);
        tp_status status = edit(pool.a, id, &request);
        more = lost_nth_call() || at & 1;
        if (status < TP_OK) {
            must(tp_conn_reopen(pool.a));
            /* Until the server has noticed the end of the old session, which holds the row. */
            while ((status = edit(pool.a, id, &request)) < TP_OK && tp_status_may_retry(status)) {
            }
        }
        must(status);
        expect_row(id, "pending", "pending", 0);
        assert_string_equal(params_of(id), "new");
        expect_number(events_of(id, "edited"), 1);
        expect_number(events_of(id, "retried"), 1);
    }
    assert_false(more);
}

/* ---- Others at the same time --------------------------------------------------------------------------- */

/* What another session does after the edit has read the task, and before it writes. */
static struct {
    const char *id;
    tp_edit_request *request; /* NULL: a retry by selection */
    tp_status answer;
} rival;

static void act(struct tpi_link *link, void *arg) {
    tp_selection selection = selection_with(.ids = &rival.id, .id_count = 1);
    (void)link, (void)arg;
    rival.answer = rival.request ? edit(pool.b, rival.id, rival.request)
                                 : tp_operate(pool.b, TP_ACTION_RETRY, &selection, NULL);
}

static tp_status edit_against(const char *id, tp_edit_request *request, tp_edit_request *rivals) {
    rival.id = id;
    rival.request = rivals;
    rival.answer = TP_NONE;
    meet_call("find_keys", act, NULL);
    tp_status status = edit(pool.a, id, request);
    assert_string_equal(tp_status_name(rival.answer), "ok");
    return status;
}

TEST(test_edit__of_two_sessions_one_writes) {
    static const char *const pools[] = {"failed", "pending"};
    for (int p = 0; p < 2; p++) {
        char id[ID];
        tp_edit_request mine = good, its = edit_with(.params = "its", .fields = TP_EDIT_PARAMS);
        mine.retry = 1;
        put_failed(pools[p], 2, id);
        expect(TP_CONFLICT, edit_against(id, &mine, &its));
        expect_row(id, pools[p], "failed", 2);
        expect_recorded(id, "params 1 -> 3 bytes: because");
        assert_string_equal(params_of(id), "its");
        must(edit(pool.a, id, &mine));
        expect_row(id, "pending", "pending", 0);
        assert_string_equal(params_of(id), "new");
        sql_run(pool.eye, "DELETE FROM tp_pending WHERE id = '%s'", id); /* it has the dedup_key */
    }
}

/* Somebody else has corrected it while it was looked at. */
TEST(test_edit__of_a_task_that_changed_since_it_was_looked_at_writes_nothing) {
    static const char *const pools[] = {"failed", "pending"};
    for (int p = 0; p < 2; p++) {
        char id[ID];
        tp_edit_request its = edit_with(.params = "its", .fields = TP_EDIT_PARAMS);
        put_failed(pools[p], 2, id);
        tp_edit_request mine =
            edit_with(.params = "new", .fields = TP_EDIT_PARAMS, .modified_at = row_of(id).modified_at);
        must(edit(pool.b, id, &its));
        expect(TP_CONFLICT, edit(pool.a, id, &mine));
        assert_string_equal(params_of(id), "its");
        mine.modified_at = row_of(id).modified_at;
        must(edit(pool.a, id, &mine));
        must(edit(pool.a, id, &mine)); /* asked again it is done, though it has changed the task */
        assert_string_equal(params_of(id), "new");
        expect_number(events_of(id, "edited"), 2);
    }
}

TEST(test_edit__its_own_first_try_may_come_late) {
    char id[ID];
    tp_edit_request first = good;
    first.retry = 1;
    tpi_uuid_ordered(first.edit_id);
    tp_edit_request again = first, other = first;
    put_failed("failed", 2, id);
    must(edit_against(id, &again, &first));
    expect_row(id, "pending", "pending", 0);
    expect_number(events_of(id, "edited"), 1);
    expect_number(events_of(id, "retried"), 1);
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE id = '%s'", id);
    put_failed("failed", 2, id);
    tpi_uuid_ordered(other.edit_id);
    tp_edit_request late = other;
    late.params = "old";
    expect(TP_MISUSE, edit_against(id, &other, &late));
    expect_text("was done with other content");
}

TEST(test_edit__that_races_a_retry_writes_nothing) {
    static const char *const pools[] = {"failed", "pending"};
    for (int p = 0; p < 2; p++)
        for (int32_t retry = p ? 0 : 1; retry < 2; retry++) {
            char id[ID];
            tp_edit_request request = good;
            request.retry = retry;
            put_failed(pools[p], 2, id);
            sql_run(pool.eye, "UPDATE tp_%s SET dedup_key = '%s' WHERE id = '%s'", pools[p], id, id);
            tp_status status = edit_against(id, &request, NULL);
            assert_string_equal(tp_status_name(status), "conflict");
            expect_row(id, "pending", "pending", 0);
            assert_string_equal(params_of(id), "x");
            expect_number(events_of(id, "edited"), 0);
            expect_number(events_of(id, "retried"), 1);
        }
}
