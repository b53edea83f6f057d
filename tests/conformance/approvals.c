/* What one person asks for and another approves: nothing is changed before, then exactly the rows that were
 * meant, once, or nothing; and nobody decides alone. */
#include <strings.h>

#include "base/uuid.h"
#include "conformance/rules.h"
#include "suite.h"
#include "support/faults.h"

THEME(approvals, ONCE);

enum { RETRY_MAX = 2 };

static tp_status set_eyes_of(tp_conn *conn, int on, int64_t retry_max, const char *who) {
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    eyes.on = on;
    eyes.retry_max = retry_max;
    return tp_four_eyes_set(conn, &eyes, who, "policy 9");
}

static tp_status set_eyes(tp_conn *conn, int on, const char *who) {
    return set_eyes_of(conn, on, RETRY_MAX, who);
}

static void switch_on(void) {
    must(set_eyes(pool.a, 1, "root"));
}

/* ---- Tasks and acts ------------------------------------------------------------------------------------ */

static void put_settled(const char *in, const char *biz_key, char id[ID]) {
    bool failed = strcmp(in, "failed") == 0;
    tpi_uuid_ordered(id);
    put_row(pool.eye, .in = in, .id = id, .state = failed ? "failed" : "done", .failures = failed ? 3 : 0,
            .reason = "no money", .biz_key = biz_key, .settled_at = LONG_AGO);
}

static void put_failed(size_t count, char (*ids)[ID]) {
    for (size_t i = 0; i < count; i++)
        put_settled("failed", NULL, ids[i]);
}

static tp_status ask(tp_action action, const char *in, const char *who, tp_operated *result) {
    tp_selection selection = selection_with(.pool = in, .why = "they said so");
    selection.who = who;
    return tp_operate(pool.a, action, &selection, result);
}

/* Ann asks; the id of what she asked for. */
static const char *asked(tp_action action, const char *in, size_t count) {
    static tp_operated result;
    result = (tp_operated)TP_OPERATED_INIT;
    expect(TP_REQUESTED, ask(action, in, "ann", &result));
    expect_number(result.done, count);
    return result.request_id;
}

static tp_status approve_by(tp_conn *conn, const char *id, const char *who) {
    return tp_approve(conn, id, who, "seen", NULL);
}

static void approved(const char *id, size_t count) {
    tp_operated result = TP_OPERATED_INIT;
    must(tp_approve(pool.b, id, "bob", "seen", &result));
    expect_number(result.done, count);
}

static const char *state_of(const char *id) {
    return text_of("state FROM tp_request WHERE id = '%s'", id);
}

static void expect_over(const char *id, const char *state) {
    assert_string_equal(state_of(id), state);
    expect_number(count_of("tp_request_row"), 0);
}

static int64_t said(const char *event) {
    return count_of("tp_history WHERE task_id IS NULL AND event = '%s'", event);
}

/* ---- Each act ------------------------------------------------------------------------------------------ */

TEST(test_approvals__a_skip_waits_and_is_carried_out_as_it_was_asked) {
    char ids[3][ID], later[1][ID];
    put_failed(3, ids);
    switch_on();
    const char *id = asked(TP_ACTION_SKIP, "failed", 3);
    for (int i = 0; i < 3; i++)
        expect_row(ids[i], "failed", "failed", 3);
    put_failed(1, later);
    approved(id, 3);
    for (int i = 0; i < 3; i++) {
        expect_row(ids[i], "finished", "skipped", 3);
        assert_string_equal(row_of(ids[i]).reason, "they said so; approved by bob");
        expect_number(
            count_of("tp_history WHERE task_id = '%s' AND event = 'skipped' AND who = 'ann'", ids[i]), 1);
    }
    expect_row(later[0], "failed", "failed", 3); /* nobody approved it */
    expect_over(id, "done");
    expect_number(said("asked"), 1);
    expect_number(
        count_of("tp_audit WHERE request_id = '%s' AND action IN ('asked', 'skipped') AND who = 'ann'", id),
        2);
    expect_number(count_of("tp_audit WHERE request_id = '%s' AND action = 'approved' AND who = 'bob'", id),
                  1);
    expect_number(count_of("tp_history WHERE event = 'approved' AND who = 'bob'"), 1);
}

TEST(test_approvals__a_retry_of_more_than_some_waits) {
    char ids[3][ID];
    tp_operated result = TP_OPERATED_INIT;
    put_failed(2, ids);
    switch_on();
    must(ask(TP_ACTION_RETRY, "failed", "ann", &result)); /* as many as RETRY_MAX */
    expect_number(result.done, 2);
    put_failed(3, ids);
    const char *id = asked(TP_ACTION_RETRY, "failed", 3);
    expect_row(ids[2], "failed", "failed", 3);
    approved(id, 3);
    expect_row(ids[2], "pending", "pending", 0);
}

TEST(test_approvals__a_retry_says_how_many_are_done_and_only_not_stored) {
    char ids[3][ID];
    for (size_t count = RETRY_MAX; count <= 3; count++) {
        tp_operated result = TP_OPERATED_INIT;
        put_failed(count, ids);
        expect_number(sql_run(pool.eye, "UPDATE tp_failed SET reason = '" TP_REASON_DONE "'"),
                      (int64_t)count);
        switch_on();
        expect(count > RETRY_MAX ? TP_REQUESTED : TP_OK, ask(TP_ACTION_RETRY, "failed", "ann", &result));
        expect_number(result.done, count);
        expect_number(result.unstored, count);
    }
}

/* Of five the first two are blocked by an open task. */
TEST(test_approvals__a_retry_of_few_retries_all_that_it_may) {
    char ids[5][ID], open[ID];
    const char *given[5];
    tp_operated result = TP_OPERATED_INIT;
    tp_selection selection = selection_with(.ids = given, .id_count = 5);
    for (int i = 0; i < 5; i++)
        given[i] = ids[i];
    tpi_uuid_ordered(open);
    put_row(pool.eye, .in = "pending", .id = open, .state = "pending", .dedup_key = "open");
    put_failed(5, ids);
    sql_run(pool.eye, "UPDATE tp_failed SET dedup_key = 'open' WHERE id IN ('%s', '%s')", ids[0], ids[1]);
    must(set_eyes_of(pool.a, 1, 100, "root"));
    must(tp_operate(pool.a, TP_ACTION_RETRY, &selection, &result));
    expect_number(result.done, 3);
    expect_number(result.passed, 2);
}

/* Of four the first two are too young. */
TEST(test_approvals__a_limit_of_a_purge_is_of_what_it_may_delete) {
    char ids[4][ID];
    const char *given[4];
    tp_operated result = TP_OPERATED_INIT;
    tp_selection selection =
        selection_with(.pool = "failed", .ids = given, .id_count = 4, .older_ms = 3600000, .limit = 2);
    put_failed(4, ids);
    for (int i = 0; i < 4; i++)
        given[i] = ids[i];
    sql_run(pool.eye, "UPDATE tp_failed SET settled_at = %lld WHERE id IN ('%s', '%s')",
            (long long)LONG_AGO * 2, ids[0], ids[1]);
    switch_on();
    expect(TP_REQUESTED, tp_operate(pool.a, TP_ACTION_PURGE, &selection, &result));
    expect_number(result.done, 2);
    approved(result.request_id, 2);
    for (int i = 0; i < 4; i++)
        expect_number(row_of(ids[i]).copies, i < 2);
}

TEST(test_approvals__a_purge_waits_whatever_it_deletes) {
    static const char *const pools[] = {"finished", "failed", "once", "history"};
    char id[ID];
    put_settled("finished", NULL, id);
    put_settled("failed", NULL, id);
    must(tp_once(pool.a, "a key", NULL));
    switch_on();
    for (size_t i = 0; i < LENGTH(pools); i++) {
        tp_selection selection = {.size = sizeof selection, .pool = pools[i], .who = "ann"};
        tp_operated result = TP_OPERATED_INIT;
        int64_t before = count_of("tp_%s", pools[i]);
        assert_true(before > 0);
        expect(TP_REQUESTED, tp_operate(pool.a, TP_ACTION_PURGE, &selection, &result));
        expect_number(result.done, before);
        approved(result.request_id, (size_t)before);
        if (i < 3) expect_number(count_of("tp_%s", pools[i]), 0);
        expect_over(result.request_id, "done");
    }
    expect_number(said("eyes"), 0);                          /* went with the history */
    expect_number(said("purged") + said("approved") > 1, 1); /* what came after it was asked stays */
}

TEST(test_approvals__an_edit_waits_and_its_content_goes_with_it) {
    char ids[1][ID];
    tp_edit_request edit = {.size = sizeof edit, .params = "secret", .fields = TP_EDIT_PARAMS, .retry = 1};
    put_failed(1, ids);
    switch_on();
    expect(TP_REQUESTED, tp_edit(pool.a, ids[0], &edit, "ann", "typing error"));
    expect(TP_REQUESTED, tp_edit(pool.a, ids[0], &edit, "ann", "typing error"));
    expect_number(count_of("tp_request"), 1);
    assert_string_equal(text_of("params FROM tp_request WHERE id = '%s'", edit.edit_id), "secret");
    expect_row(ids[0], "failed", "failed", 3);
    with(edit, params, "other", expect(TP_MISUSE, tp_edit(pool.a, ids[0], &given, "ann", "")));
    approved(edit.edit_id, 1);
    expect_row(ids[0], "pending", "pending", 0);
    assert_string_equal(task_shown(pool.b, ids[0])->params, "secret");
    must(tp_edit(pool.a, ids[0], &edit, "ann", "typing error"));
    expect_over(edit.edit_id, "done");
    expect_number(count_of("tp_request WHERE params IS NULL"), 1);
}

static void change_it(struct tpi_link *link, void *arg) {
    const char **where = arg;
    (void)link;
    sql_run(pool.eye, "UPDATE tp_%s SET params = 'its', modified_at = modified_at + 1 WHERE id = '%s'",
            where[0], where[1]);
}

/* A request is of the task as it was shown, not as it is some statements later. */
TEST(test_approvals__an_edit_of_a_task_that_changes_meanwhile_is_not_asked_for) {
    static const char *const pools[] = {"failed", "pending"};
    char ids[1][ID];
    put_failed(1, ids);
    switch_on();
    for (int p = 0; p < 2; p++) {
        const char *where[] = {pools[p], p ? put_one() : ids[0]};
        tp_edit_request edit = {.size = sizeof edit, .params = "mine", .fields = TP_EDIT_PARAMS};
        edit.modified_at = row_of(where[1]).modified_at;
        meet_call("meta_get", change_it, where);
        expect(TP_CONFLICT, tp_edit(pool.a, where[1], &edit, "ann", "typing error"));
        expect_text("was changed meanwhile");
        expect_number(count_of("tp_request") + count_of("tp_request_row"), p);
        edit.modified_at = row_of(where[1]).modified_at;
        expect(TP_REQUESTED, tp_edit(pool.a, where[1], &edit, "ann", "typing error"));
        must(tp_refuse(pool.b, edit.edit_id, "bob", "no"));
    }
}

TEST(test_approvals__a_move_waits_and_its_shard_and_deadline_go_with_it) {
    const char *id = put_one();
    tp_edit_request edit = {.size = sizeof edit,
                            .shard = -3,
                            .deadline_at = LONG_AGO * 3,
                            .fields = TP_EDIT_SHARD | TP_EDIT_PRIORITY | TP_EDIT_DEADLINE_AT};
    switch_on();
    expect(TP_REQUESTED, tp_edit(pool.a, id, &edit, "ann", "elsewhere"));
    expect(TP_REQUESTED, tp_edit(pool.a, id, &edit, "ann", "elsewhere"));
    with(edit, shard, 3, expect(TP_MISUSE, tp_edit(pool.a, id, &given, "ann", "elsewhere")));
    assert_string_equal(text_of("selection FROM tp_request WHERE id = '%s'", edit.edit_id) + 3 + ID - 1,
                        " shard=-3 deadline=3000000000000");
    with(edit, deadline_at, 0, expect(TP_MISUSE, tp_edit(pool.a, id, &given, "ann", "elsewhere")));
    expect_number(task_shown(pool.b, id)->deadline_at, 0);
    approved(edit.edit_id, 1);
    expect_number(task_shown(pool.b, id)->shard, -3);
    expect_number(task_shown(pool.b, id)->deadline_at, LONG_AGO * 3);
    must(tp_edit(pool.a, id, &edit, "ann", "elsewhere"));
    with(edit, shard, 3, expect(TP_MISUSE, tp_edit(pool.a, id, &given, "ann", "elsewhere")));
    expect_over(edit.edit_id, "done");
}

TEST(test_approvals__an_erasure_waits_and_keeps_no_key) {
    char id[ID];
    tp_erased erased = TP_ERASED_INIT;
    put_settled("finished", "person", id);
    put_settled("failed", "person", id);
    must(tp_once(pool.a, "person", NULL));
    switch_on();
    expect(TP_REQUESTED, tp_erase(pool.a, "person", "ann", "request 17", 0, &erased));
    expect_number(erased.finished + erased.failed, 2);
    expect_number(count_of("tp_finished WHERE biz_key = 'person'"), 1);
    approved(erased.request_id, 2);
    expect_number(count_of("tp_finished") + count_of("tp_failed") + count_of("tp_once"), 0);
    expect_over(erased.request_id, "done");
    expect_number(count_of("tp_request WHERE biz_key IS NULL AND selection IS NULL"), 1);
    must(tp_erase(pool.a, "person", "ann", "request 17", 0, &erased));
    tp_erased another = TP_ERASED_INIT;
    expect(TP_NONE, tp_erase(pool.a, "person", "ann", "request 17", 0, &another));
}

TEST(test_approvals__an_erasure_does_not_go_on_beside_new_tasks) {
    char id[ID];
    tp_erased first = TP_ERASED_INIT, second = TP_ERASED_INIT;
    put_settled("finished", "person", id);
    switch_on();
    expect(TP_REQUESTED, tp_erase(pool.a, "person", "ann", "", 0, &first));
    put_settled("finished", "person", id);
    expect(TP_STALE, approve_by(pool.b, first.request_id, "bob"));
    expect(TP_REQUESTED, tp_erase(pool.a, "person", "ann", "", 0, &second));
    enqueue(pool.a, .biz_key = "person");
    expect(TP_STALE, approve_by(pool.b, second.request_id, "bob"));
    expect_number(count_of("tp_finished WHERE biz_key = 'person'"), 2);
}

TEST(test_approvals__an_erasure_leaves_a_key_that_was_put_in_anew) {
    enum { TWICE = 2 };
    tp_erased asked_for[TWICE] = {TP_ERASED_INIT, TP_ERASED_INIT}, later = TP_ERASED_INIT;
    char id[ID];
    put_settled("finished", "other person", id);
    must(tp_once(pool.a, "person", NULL));
    sql_run(pool.eye, "UPDATE tp_once SET created_at = 1");
    switch_on();
    for (int i = 0; i < TWICE; i++)
        expect(TP_REQUESTED, tp_erase(pool.a, "person", "ann", "", 0, &asked_for[i]));
    expect(TP_REQUESTED, tp_erase(pool.a, "other person", "ann", "", 0, &later));
    approved(asked_for[0].request_id, 0);
    expect_number(count_of("tp_once"), 0);
    must(tp_once(pool.a, "person", NULL)); /* paid once more, now */
    must(tp_once(pool.a, "other person", NULL));
    expect(TP_STALE, approve_by(pool.b, asked_for[1].request_id, "bob"));
    expect(TP_STALE, approve_by(pool.b, later.request_id, "bob"));
    expect_number(count_of("tp_once"), 2);
}

TEST(test_approvals__settings_wait_and_so_does_the_end_of_four_eyes) {
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    int64_t kept = -1;
    must(tp_retention_set(pool.a, "finished", 0, "root"));
    switch_on();
    must(tp_four_eyes_get(pool.b, &eyes));
    assert_true(eyes.on && eyes.retry_max == RETRY_MAX && eyes.expire_ms == INT64_C(604800000));
    expect(TP_REQUESTED, tp_retention_set(pool.a, "finished", 1000, "root"));
    expect(TP_REQUESTED, tp_retention_set(pool.a, "finished", 1000, "root")); /* the same */
    expect_number(count_of("tp_request"), 1);
    must(tp_retention_get(pool.a, "finished", &kept));
    expect_number(kept, 0);
    char id[ID];
    snprintf(id, sizeof id, "%s", text_of("id FROM tp_request"));
    approved(id, 0);
    must(tp_retention_get(pool.a, "finished", &kept));
    expect_number(kept, 1000);
    must(tp_retention_set(pool.a, "finished", 1000, "root"));
    eyes = (tp_four_eyes)TP_FOUR_EYES_INIT;
    expect(TP_REQUESTED, tp_four_eyes_set(pool.a, &eyes, "root", "too slow"));
    expect(TP_REQUESTED, tp_four_eyes_set(pool.a, &eyes, "root", "too slow"));
    approved(eyes.request_id, 0);
    must(tp_four_eyes_get(pool.b, &eyes));
    assert_false(eyes.on);
    must(set_eyes(pool.a, 1, "root"));
    sql_run(pool.eye, "DELETE FROM tp_meta WHERE name = 'keep_finished'");
}

TEST(test_approvals__what_needs_nobody_else_goes_on) {
    char ids[1][ID];
    size_t deleted = 0;
    switch_on();
    put_failed(1, ids);
    tp_selection selection = selection_with(.pool = "failed", .dry_run = 1);
    tp_operated result = TP_OPERATED_INIT;
    must(tp_operate(pool.a, TP_ACTION_SKIP, &selection, &result));
    expect_number(result.done, 1);
    assert_string_equal(result.request_id, "");
    const tp_task *task = put_and_claim(pool.b);
    must(ask(TP_ACTION_RELEASE, "pending", "ann", &result));
    expect_number(result.done, 1);
    expect(TP_LOST, tp_complete(pool.b, task));
    must(tp_pause(pool.a, pool.handler, "ann", ""));
    must(tp_resume(pool.a, pool.handler, "ann"));
    sql_run(pool.eye, "INSERT INTO tp_meta (name, value) VALUES ('keep_failed', '1000')");
    must(tp_retention_apply(pool.a, 10, &deleted)); /* as a worker does */
    sql_run(pool.eye, "DELETE FROM tp_meta WHERE name = 'keep_failed'");
    expect_number(deleted, 1);
    expect_number(count_of("tp_request"), 0);
}

/* ---- Who decides --------------------------------------------------------------------------------------- */

TEST(test_approvals__nobody_approves_what_he_asked_for) {
    char ids[1][ID];
    put_failed(1, ids);
    switch_on();
    const char *id = asked(TP_ACTION_SKIP, "failed", 1);
    expect(TP_MISUSE, approve_by(pool.b, id, "ann"));
    expect_text("another person has to approve");
    expect(TP_MISUSE, approve_by(pool.b, id, "ANN"));
    expect(TP_MISUSE, approve_by(pool.b, id, "ann@another-host"));
    assert_true(tp_same_person("ann@desk", "Ann") && !tp_same_person("ann", "anna@desk"));
    assert_true(!tp_same_person(NULL, NULL));
    expect(TP_MISUSE, approve_by(pool.b, id, ""));
    expect_row(ids[0], "failed", "failed", 3);
    expect(TP_NONE, approve_by(pool.b, ids[0], "bob"));
    must(tp_refuse(pool.b, id, "ann", "not needed")); /* taken back */
    expect(TP_EXISTS, approve_by(pool.b, id, "bob"));
    expect_row(ids[0], "failed", "failed", 3);
    expect_over(id, "refused");
}

TEST(test_approvals__a_refusal_is_final_and_is_heard_by_who_asked) {
    char ids[1][ID];
    tp_operated result = TP_OPERATED_INIT;
    put_failed(1, ids);
    switch_on();
    expect(TP_REQUESTED, ask(TP_ACTION_SKIP, "failed", "ann", &result));
    must(tp_refuse(pool.b, result.request_id, "bob", "no"));
    must(tp_refuse(pool.b, result.request_id, "bob", "no")); /* asked again */
    expect(TP_EXISTS, tp_refuse(pool.b, result.request_id, "carl", "no"));
    expect(TP_EXISTS, approve_by(pool.b, result.request_id, "bob"));
    expect(TP_STALE, ask(TP_ACTION_SKIP, "failed", "ann", &result));
    expect_number(said("refused"), 1);
    expect_row(ids[0], "failed", "failed", 3);
}

TEST(test_approvals__what_nobody_decided_in_time_is_over) {
    char ids[1][ID];
    tp_operated result = TP_OPERATED_INIT;
    put_failed(1, ids);
    switch_on();
    expect(TP_REQUESTED, ask(TP_ACTION_SKIP, "failed", "ann", &result));
    sql_run(pool.eye, "UPDATE tp_request SET expires_at = 1");
    expect(TP_STALE, ask(TP_ACTION_SKIP, "failed", "ann", &result));
    expect(TP_EXISTS, approve_by(pool.b, result.request_id, "bob"));
    expect_over(result.request_id, "expired");
    expect_row(ids[0], "failed", "failed", 3);
    expect_number(said("expired"), 1);
}

TEST(test_approvals__what_a_later_version_asks_for_waits_for_one_that_knows_it) {
    char ids[2][ID], id[ID];
    put_failed(2, ids);
    switch_on();
    snprintf(id, sizeof id, "%s", asked(TP_ACTION_SKIP, "failed", 2));
    sql_run(pool.eye, "UPDATE tp_request SET act = 'postpone' WHERE id = '%s'", id);
    expect(TP_UNSUPPORTED, approve_by(pool.b, id, "bob"));
    expect_text("asks for 'postpone'");
    for (int i = 0; i < 2; i++)
        expect_row(ids[i], "failed", "failed", 3);
    sql_run(pool.eye, "UPDATE tp_request SET act = 'skip' WHERE id = '%s'", id);
    must(approve_by(pool.b, id, "bob"));
}

/* ---- The same rows ------------------------------------------------------------------------------------- */

TEST(test_approvals__one_row_that_changed_is_enough_to_leave_all_alone) {
    char ids[3][ID];
    put_failed(3, ids);
    switch_on();
    char id[ID];
    snprintf(id, sizeof id, "%s", asked(TP_ACTION_SKIP, "failed", 3));
    sql_run(pool.eye, "UPDATE tp_failed SET modified_at = modified_at + 1 WHERE id = '%s'", ids[1]);
    expect(TP_STALE, approve_by(pool.b, id, "bob"));
    for (int i = 0; i < 3; i++)
        expect_row(ids[i], "failed", "failed", 3);
    expect(TP_STALE, approve_by(pool.b, id, "bob")); /* asked again */
    expect(TP_EXISTS, approve_by(pool.b, id, "carl"));
    expect_over(id, "stale");
    expect_number(said("stale"), 1);
    expect_number(count_of("tp_history WHERE event = 'skipped'"), 0);
}

TEST(test_approvals__a_task_that_was_claimed_meanwhile_is_left_to_its_worker) {
    const char *put = put_one();
    switch_on();
    const char *id = asked(TP_ACTION_SKIP, "pending", 1);
    const tp_task *task = claim_this(pool.b, put);
    expect(TP_STALE, approve_by(pool.a, id, "bob"));
    must(tp_complete(pool.b, task));
}

TEST(test_approvals__rows_that_are_gone_or_whose_key_is_open_are_not_retried) {
    char ids[3][ID];
    put_failed(3, ids);
    sql_run(pool.eye, "UPDATE tp_failed SET dedup_key = 'mine' WHERE id = '%s'", ids[0]);
    switch_on();
    char id[ID];
    snprintf(id, sizeof id, "%s", asked(TP_ACTION_RETRY, "failed", 3));
    enqueue(pool.a, .dedup_key = "mine");
    expect(TP_STALE, approve_by(pool.b, id, "bob"));
    snprintf(id, sizeof id, "%s", asked(TP_ACTION_SKIP, "failed", 3));
    sql_run(pool.eye, "DELETE FROM tp_failed WHERE id = '%s'", ids[2]);
    expect(TP_STALE, approve_by(pool.b, id, "bob"));
    expect_row(ids[1], "failed", "failed", 3);
}

TEST(test_approvals__a_key_that_was_put_in_anew_stays_in_the_ledger) {
    enum { TWICE = 2 };
    char ids[TWICE][ID];
    must(tp_once(pool.a, "payment 1", NULL));
    must(tp_once(pool.a, "payment 2", NULL));
    sql_run(pool.eye, "UPDATE tp_once SET created_at = 1");
    switch_on();
    for (int i = 0; i < TWICE; i++) {
        tp_selection selection = {.size = sizeof selection, .pool = "once", .who = "ann"};
        tp_operated result = TP_OPERATED_INIT;
        expect(TP_REQUESTED, tp_operate(pool.a, TP_ACTION_PURGE, &selection, &result));
        snprintf(ids[i], ID, "%.36s", result.request_id);
    }
    approved(ids[0], 2);
    must(tp_once(pool.a, "payment 1", NULL)); /* paid once more, now */
    must(tp_once(pool.a, "payment 2", NULL));
    sql_run(pool.eye, "UPDATE tp_once SET created_at = 1 WHERE once_key = 'payment 2'");
    expect(TP_STALE, approve_by(pool.b, ids[1], "bob"));
    expect(TP_EXISTS, tp_once(pool.a, "payment 1", NULL));
    expect_number(count_of("tp_once"), 2);
}

TEST(test_approvals__a_long_reason_does_not_hide_who_approved) {
    char ids[1][ID], why[TP_REASON_MAX + 1];
    tp_operated result = TP_OPERATED_INIT;
    memset(why, 'x', TP_REASON_MAX);
    why[TP_REASON_MAX] = '\0';
    put_failed(1, ids);
    switch_on();
    tp_selection selection = selection_with(.pool = "failed", .why = why);
    selection.who = "ann";
    expect(TP_REQUESTED, tp_operate(pool.a, TP_ACTION_SKIP, &selection, &result));
    approved(result.request_id, 1);
    const char *reason = row_of(ids[0]).reason;
    expect_number(strlen(reason), TP_REASON_MAX);
    assert_string_equal(reason + TP_REASON_MAX - strlen("; approved by bob"), "; approved by bob");
}

TEST(test_approvals__who_holds_up_the_audit_leaves_the_request_waiting) {
    char ids[2][ID];
    tp_conn *guest = guest_session();
    (void)engine_limit_waits(guest, 1000);
    put_failed(2, ids);
    switch_on();
    const char *id = asked(TP_ACTION_SKIP, "failed", 2);
    must(tp_begin(pool.b));
    expect_number(sql_run(pool.b, "UPDATE tp_audit_head SET seq = seq"), 1);
    expect(TP_TIMEOUT, approve_by(guest, id, "bob"));
    must(tp_rollback(pool.b));
    assert_string_equal(state_of(id), "waiting");
    approved(id, 2);
}

/* What cannot be done now may be done later: the request is not out of date. */
TEST_AGAINST(rules_on_insert, test_approvals__what_the_owner_refuses_leaves_the_request_waiting) {
    char id[ID];
    rule_make(rule, "finished", "biz_key", "refused");
    put_settled("failed", "fine", id);
    put_settled("failed", "refused", id);
    switch_on();
    tp_operated result = TP_OPERATED_INIT;
    expect(TP_REQUESTED, ask(TP_ACTION_SKIP, "failed", "ann", &result));
    tp_status status = approve_by(pool.b, result.request_id, "bob");
    assert_true(status == TP_DB || status == TP_CONFLICT); /* where no error tells it from a rival */
    expect_number(count_of("tp_failed"), 2);
    assert_string_equal(state_of(result.request_id), "waiting");
    rule_lift();
    approved(result.request_id, 2);
}

TEST(test_approvals__more_than_a_chunk_is_one_transaction) {
    enum { MANY = 1103 };
    char(*ids)[ID] = memory(MANY, ID);
    put_failed(MANY, ids);
    switch_on();
    const char *id = asked(TP_ACTION_SKIP, "failed", MANY);
    lose_call("request_end", NULL, false);
    expect_may_retry(approve_by(pool.b, id, "bob"));
    must(tp_conn_reopen(pool.b));
    expect_number(count_of("tp_failed"), MANY);
    assert_string_equal(state_of(id), "waiting");
    approved(id, MANY);
    expect_number(count_of("tp_finished"), MANY);
    expect_number(count_of("tp_history WHERE event = 'skipped'"), MANY);
}

/* ---- A cancel of a task in hand ------------------------------------------------------------------------ */

static const tp_task *fail_soon(const tp_task *task) {
    static const int64_t soon[] = {1};
    static const tp_retry ladder = {.size = sizeof(tp_retry), .delays_ms = soon, .count = 1};
    must(tp_fail(pool.a, task, "no money", &ladder));
    row_make_due(task->id);
    return task;
}

static const tp_task *give_back(const tp_task *task) {
    must(tp_release(pool.a, task, 0));
    return task;
}

static const tp_task *release_by_hand(const tp_task *task) {
    tp_operated result = TP_OPERATED_INIT;
    must(ask(TP_ACTION_RELEASE, "pending", "carl", &result));
    expect_number(result.done, 1);
    return task;
}

static const tp_task *let_lapse(const tp_task *task) {
    row_make_due(task->id);
    return task;
}

static const tp_task *extend(const tp_task *task) {
    must(tp_extend(pool.a, task, 120000));
    return task;
}

static const tp_task *fail_and_try_again(const tp_task *task) {
    return claim_this(pool.a, fail_soon(task)->id);
}

static const tp_task *give_back_and_claim(const tp_task *task) {
    return claim_this(pool.a, give_back(task)->id);
}

static const tp_task *lapse_and_claim(const tp_task *task) {
    return claim_this(pool.a, let_lapse(task)->id);
}

static const tp_task *claim_and_give_back(const tp_task *task) {
    return give_back(give_back_and_claim(task));
}

static const tp_task *claim_and_release_by_hand(const tp_task *task) {
    return release_by_hand(give_back_and_claim(task));
}

static const tp_task *retry_by_hand(const tp_task *task) {
    tp_operated result = TP_OPERATED_INIT;
    fail_soon(task);
    must(ask(TP_ACTION_RETRY, "pending", "carl", &result));
    expect_number(result.done, 1);
    return task;
}

enum cancelled { ASKED_OF_RUN, SKIPPED_AT_ONCE, OF_ANOTHER_RUN, LEFT_ALONE };

static const struct meanwhile {
    const tp_task *(*happens)(const tp_task *task);
    enum cancelled is;
} meanwhiles[] = {
    {extend, ASKED_OF_RUN},
    {let_lapse, ASKED_OF_RUN},
    {give_back, SKIPPED_AT_ONCE},
    {fail_soon, SKIPPED_AT_ONCE},
    {release_by_hand, SKIPPED_AT_ONCE},
    {give_back_and_claim, OF_ANOTHER_RUN},
    {fail_and_try_again, OF_ANOTHER_RUN},
    {lapse_and_claim, OF_ANOTHER_RUN},
    {claim_and_give_back, LEFT_ALONE},
    {claim_and_release_by_hand, LEFT_ALONE},
    {retry_by_hand, LEFT_ALONE}, /* somebody wants it again */
};

/* Of the run that the approver was shown, or of what it gave back; never of a later run. */
TEST(test_approvals__a_cancel_of_a_task_in_hand_is_of_that_run) {
    for (size_t i = 0; i < LENGTH(meanwhiles); i++) {
        enum cancelled is = meanwhiles[i].is;
        empty_pool();
        const tp_task *task = put_and_claim(pool.a);
        switch_on();
        const char *id = asked(TP_ACTION_CANCEL, "pending", 1);
        task = meanwhiles[i].happens(task);
        expect(is < OF_ANOTHER_RUN ? TP_OK : TP_STALE, approve_by(pool.b, id, "bob"));
        if (is == OF_ANOTHER_RUN) expect_text("a run that began since it was asked for has task");
        if (is == LEFT_ALONE) expect_text("no longer as it was");
        expect_over(id, is < OF_ANOTHER_RUN ? "done" : "stale");
        expect_number(count_of("tp_cancel WHERE who = 'ann'"), is == ASKED_OF_RUN);
        expect_number(count_of("tp_finished WHERE state = 'skipped'"), is == SKIPPED_AT_ONCE);
        if (is == OF_ANOTHER_RUN) must(tp_complete(pool.a, task));
    }
}

/* Before version 9 no request noted the runs. */
TEST(test_approvals__a_cancel_that_an_older_version_asked_for_says_so) {
    put_and_claim(pool.a);
    switch_on();
    const char *id = asked(TP_ACTION_CANCEL, "pending", 1);
    sql_run(pool.eye, "DELETE FROM tp_request_row WHERE pool = 'run'");
    expect(TP_STALE, approve_by(pool.b, id, "bob"));
    expect_text("it was written by an older version");
    expect_text("ask anew");
    expect_over(id, "stale");
    expect_number(count_of("tp_cancel WHERE who = 'ann'"), 0);
}

/* A claim records that the one before it lapsed. */
TEST(test_approvals__a_cancel_is_of_a_run_that_follows_a_lapse) {
    const tp_task *task = lapse_and_claim(put_and_claim(pool.a));
    switch_on();
    const char *id = asked(TP_ACTION_CANCEL, "pending", 1);
    extend(task);
    approved(id, 1);
    expect_number(count_of("tp_cancel WHERE task_id = '%s'", task->id), 1);
}

/* Those of one claim share its token. */
TEST(test_approvals__a_cancel_of_many_runs_is_of_each) {
    enum { MANY = 3 };
    const tp_task *tasks[MANY];
    for (int i = 0; i < MANY; i++)
        put_one();
    const tp_batch *batch = claim_with(pool.a, .limit = MANY);
    for (size_t i = 0; i < MANY; i++)
        tasks[i] = tp_batch_task(batch, i);
    const tp_task *other = put_and_claim(pool.b);
    switch_on();
    const char *id = asked(TP_ACTION_CANCEL, "pending", MANY + 1);
    give_back(tasks[0]);
    extend(tasks[1]);
    approved(id, MANY + 1);
    expect_number(count_of("tp_cancel WHERE who = 'ann'"), MANY);
    expect_number(count_of("tp_cancel WHERE task_id = '%s'", other->id), 1);
    expect_number(count_of("tp_finished WHERE state = 'skipped'"), 1);
}

/* What nobody approved in time is ended by whoever asks next; one that somebody has locked is not his matter.
 */
TEST(test_approvals__what_is_overdue_does_not_stand_in_the_way_of_who_asks) {
    char ids[2][ID];
    put_failed(2, ids);
    switch_on();
    (void)asked(TP_ACTION_SKIP, "failed", 2);
    sql_run(pool.eye, "UPDATE tp_request SET expires_at = 1");
    faults_open();
    faults_clear();
    (void)faults_refuse("request_end", FAULTS_LOCKED, 0, 1);
    (void)asked(TP_ACTION_SKIP, "failed", 2);
    expect_number(count_of("tp_request WHERE state = 'waiting'"), 2);
}

/* ---- Two at once --------------------------------------------------------------------------------------- */

struct rival {
    const char *id;
    tp_status answer;
    struct aside aside;
};

static void approve_first(struct tpi_link *link, void *arg) {
    struct rival *rival = arg;
    (void)link;
    rival->answer = approve_by(pool.b, rival->id, "bob");
}

TEST(test_approvals__of_two_who_approve_at_once_one_carries_it_out) {
    char ids[1][ID];
    struct rival rival = {.answer = TP_NONE};
    put_failed(1, ids);
    switch_on();
    rival.id = asked(TP_ACTION_SKIP, "failed", 1);
    /* On SQLite the rival is the only writer before this one begins. */
    meet_call(pool_on_sqlite() ? "begin" : "request_run", approve_first, &rival);
    expect(TP_EXISTS, approve_by(pool.a, rival.id, "carl"));
    must(rival.answer);
    expect_number(events_of(ids[0], "skipped"), 1);
    expect_number(said("approved"), 1);
    assert_string_equal(text_of("decided_by FROM tp_request"), "bob");
}

static tp_status approve_call(tp_conn *conn, void *arg) {
    return approve_by(conn, arg, "bob");
}

static void start_second(struct tpi_link *link, void *arg) {
    struct rival *rival = arg;
    (void)link;
    start_blocked(&rival->aside, pool.b, approve_call, (char *)(uintptr_t)rival->id);
}

TEST(test_approvals__who_comes_second_waits_and_hears_that_it_is_done) {
    char ids[1][ID];
    struct rival rival = {.answer = TP_NONE};
    put_failed(1, ids);
    switch_on();
    rival.id = asked(TP_ACTION_SKIP, "failed", 1);
    meet_call("request_end", start_second, &rival);
    must(approve_by(pool.a, rival.id, "carl"));
    expect(TP_EXISTS, aside_end(&rival.aside));
    expect_number(events_of(ids[0], "skipped"), 1);
}

/* ---- Asked again --------------------------------------------------------------------------------------- */

TEST(test_approvals__a_request_asked_again_finds_itself) {
    char ids[1][ID];
    tp_operated result = TP_OPERATED_INIT;
    put_failed(1, ids);
    switch_on();
    lose_call("commit", "audit_add", true);
    expect_may_retry(ask(TP_ACTION_SKIP, "failed", "ann", &result));
    must(tp_conn_reopen(pool.a));
    expect(TP_REQUESTED, ask(TP_ACTION_SKIP, "failed", "ann", &result));
    expect_number(count_of("tp_request"), 1);
    expect_number(result.done, 1);
    expect(TP_MISUSE, ask(TP_ACTION_RETRY, "failed", "ann", &result));
    expect_text("is of something else");
    expect(TP_MISUSE, ask(TP_ACTION_SKIP, "failed", "bob", &result));
    approved(result.request_id, 1);
    sql_run(pool.eye, "DELETE FROM tp_meta WHERE name = 'four_eyes'");
    must(ask(TP_ACTION_SKIP, "failed", "ann", &result)); /* also when it is off */
    expect_number(result.done, 1);
    expect_number(count_of("tp_history WHERE event = 'skipped'"), 1);
}

TEST(test_approvals__an_approval_whose_answer_was_lost_finds_itself) {
    char ids[1][ID];
    put_failed(1, ids);
    switch_on();
    const char *id = asked(TP_ACTION_SKIP, "failed", 1);
    lose_call("commit", "audit_add", true);
    expect_may_retry(approve_by(pool.b, id, "bob"));
    must(tp_conn_reopen(pool.b));
    approved(id, 1);
    expect_number(events_of(ids[0], "skipped"), 1);
    expect(TP_EXISTS, approve_by(pool.b, id, "carl"));
}

/* ---- What the database does by itself ------------------------------------------------------------------ */

/* As a library does that knows no requests. */
static bool note_an_old_skip(const char *word) {
    char id[ID];
    tpi_uuid_ordered(id);
    return sql_try(pool.eye,
                   "INSERT INTO tp_history (id, event, who, created_at) VALUES ('%s', '%s', 'ann', 1)", id,
                   word);
}

TEST(test_approvals__the_database_refuses_older_libraries_while_it_is_on) {
    static const char *const words[] = {"skipped", "purged", "edited", "erased", "kept"};
    bool guarded = !pool_speaks("generic");
    for (size_t i = 0; i < LENGTH(words); i++)
        assert_true(note_an_old_skip(words[i]));
    switch_on();
    for (size_t i = 0; i < LENGTH(words); i++)
        assert_int_equal(note_an_old_skip(words[i]), !guarded);
    assert_true(note_an_old_skip("failed")); /* of a worker */
    assert_true(note_an_old_skip("retried"));
}

/* One that runs for good would let older libraries do as they like. */
TEST(test_approvals__nobody_can_put_in_a_request_that_does_not_wait) {
    static const char *const states[] = {"running", "done", "waiting"};
    for (size_t i = 0; i < LENGTH(states); i++) {
        char id[ID];
        tpi_uuid_ordered(id);
        bool put = sql_try(pool.eye,
                           "INSERT INTO tp_request (id, act, state, tasks, asked_by, created_at, expires_at) "
                           "VALUES ('%s', 'skip', '%s', 1, 'ann', 1, 1)",
                           id, states[i]);
        assert_int_equal(put, pool_speaks("generic") || strcmp(states[i], "waiting") == 0);
    }
}

TEST(test_approvals__a_setting_that_is_misspelt_is_not_taken_for_off) {
    char ids[1][ID];
    put_failed(1, ids);
    sql_run(pool.eye, "INSERT INTO tp_meta (name, value) VALUES ('four_eyes', 'yes')");
    tp_operated result = TP_OPERATED_INIT;
    expect(TP_DB, ask(TP_ACTION_SKIP, "failed", "ann", &result));
    expect(TP_DB, set_eyes(pool.a, 0, "ann"));
    expect_row(ids[0], "failed", "failed", 3);
}

/* ---- The list ------------------------------------------------------------------------------------------ */

struct seen {
    size_t count;
    char state[16], act[16], asked_by[16], decided_by[16];
};

static void see(const tp_request *request, void *arg) {
    struct seen *seen = arg;
    seen->count++;
    snprintf(seen->state, sizeof seen->state, "%s", request->state);
    snprintf(seen->act, sizeof seen->act, "%s", request->act);
    snprintf(seen->asked_by, sizeof seen->asked_by, "%s", request->asked_by);
    snprintf(seen->decided_by, sizeof seen->decided_by, "%s", request->decided_by);
}

TEST(test_approvals__the_list_says_who_asked_and_who_decided) {
    char ids[2][ID], id[ID];
    struct seen seen = {.count = 0};
    int64_t count = -1, oldest_at = -1;
    expect(TP_NONE, tp_request_each(pool.a, NULL, NULL, 0, see, &seen));
    must(tp_requests_waiting(pool.a, &count, &oldest_at));
    expect_number(count, 0);
    expect_number(oldest_at, 0);
    put_failed(2, ids);
    switch_on();
    snprintf(id, sizeof id, "%s", asked(TP_ACTION_SKIP, "failed", 2));
    asked(TP_ACTION_PURGE, "failed", 2);
    must(tp_request_each(pool.a, NULL, "waiting", 0, see, &seen));
    expect_number(seen.count, 2);
    must(tp_requests_waiting(pool.a, &count, &oldest_at));
    expect_number(count, 2);
    expect_number(oldest_at, sql_number(pool.eye, "SELECT MIN(created_at) FROM tp_request"));
    seen.count = 0;
    must(tp_request_each(pool.a, NULL, NULL, 1, see, &seen));
    expect_number(seen.count, 1);
    approved(id, 2);
    must(tp_request_each(pool.a, id, NULL, 0, see, &seen));
    assert_string_equal(seen.state, "done");
    assert_string_equal(seen.act, "skip");
    assert_string_equal(seen.asked_by, "ann");
    assert_string_equal(seen.decided_by, "bob");
    sql_run(pool.eye, "UPDATE tp_request SET expires_at = 1 WHERE state = 'waiting'");
    expect(TP_NONE, tp_request_each(pool.a, NULL, "waiting", 0, see, &seen));
    must(tp_requests_waiting(pool.a, &count, NULL));
    expect_number(count, 0);
    seen.count = 0;
    must(tp_request_each(pool.a, NULL, "expired", 0, see, &seen));
    expect_number(seen.count, 1);
}
