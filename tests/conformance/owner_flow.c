/* Groups, results, steps, progress and cancel: against rules of the application's own on their tables, and on
 * a session that has become read-only. What is refused is said, nothing is half written, and when the rule is
 * gone the same call does it. Gates: gates_by_hand.c. */
#include "conformance/rules.h"
#include "ops/conn.h"
#include "support/engine.h"

THEME(owner_flow, ONCE);

/* ---- Rules of the application's own -------------------------------------------------------------------- */

/* Are the other rows of the table taken? */
static bool takes_others(const struct rule *rule) {
    return !rule->refuses_all && strncmp(rule->name, "foreign key", 11) != 0;
}

static void open_group_against(const struct rule *rule) {
    if (rule->seeded) must(tp_group_open(pool.a, "first", TP_GROUP_ALL_DONE, NULL));
    rule_make_over(rule, "group", rule->seeded ? "rule" : "name", "refused");
    for (int i = 0; i < 2; i++)
        expect_refused(tp_group_open(pool.a, "refused", TP_GROUP_ALL_DONE, NULL));
    if (takes_others(rule)) must(tp_group_open(pool.a, "fine", TP_GROUP_ALL_ENDED, NULL));
    must(tp_begin(pool.a));
    effect(pool.a, pool.handler);
    tp_status inside = tp_group_open(pool.a, "refused", TP_GROUP_ALL_DONE, NULL);
    /* There an index of the application's own cannot be told from another session that opens the group. */
    assert_true(inside == TP_DB || (rule->seeded && inside == TP_CONFLICT));
    expect(TP_CONFLICT, tp_commit(pool.a));
    rule_lift();
    must(tp_group_open(pool.a, "refused", TP_GROUP_ALL_DONE, NULL));
}

enum { TOLERANCE_MS = 60000 };

static void join_group_against(const struct rule *rule) {
    tp_new_task inside = task_with(.group = "refused"), after = task_with(.after = "refused");
    must(tp_group_open(pool.a, "refused", TP_GROUP_ALL_DONE, NULL));
    if (rule->seeded) (void)enqueue(pool.a, .group = "refused");
    rule_make_over(rule, "group_task", "group_name", "refused");
    for (int i = 0; i < 2; i++) {
        expect_refused(tp_enqueue(pool.a, &inside));
        expect_refused(tp_enqueue(pool.a, &after));
        expect_refused(tp_enqueue_many(pool.a, &inside, 1, NULL));
    }
    expect_number(count_of("tp_pending"), rule->seeded);
    expect_number(count_of("tp_group_task"), rule->seeded);
    rule_lift();
    must(tp_enqueue(pool.a, &inside));
    must(tp_enqueue(pool.a, &after));
}

/* What waited for a group, and by the clock of the session that claims is perhaps not due yet. */
static void claim_released(const char *id) {
    int64_t now = 0;
    must(tp_now(pool.eye, &now));
    assert_true(row_of(id).due_at <= now + TOLERANCE_MS);
    row_make_due(id);
    claim_this(pool.a, id);
}

/* The group that a rule keeps is said, and the others end. */
static void end_group_against(const struct rule *rule) {
    size_t ended = 0;
    tp_new_task after = task_with(.after = "refused"), other = task_with(.after = "fine");
    must(tp_group_open(pool.a, "refused", TP_GROUP_ALL_DONE, NULL));
    must(tp_group_open(pool.a, "fine", TP_GROUP_ALL_DONE, NULL));
    must(tp_enqueue(pool.a, &after));
    must(tp_enqueue(pool.a, &other));
    rule_make_over(rule, "group", "name", "refused");
    for (int i = 0; i < 2; i++)
        expect_refused(tp_group_close(pool.a, "refused"));
    rule_lift();
    must(tp_group_close(pool.a, "refused"));
    must(tp_group_close(pool.a, "fine"));
    rule_make_over(rule, "group", "name", "refused");
    expect_refused(tp_groups_end(pool.a, &ended));
    claim_released(other.id);
    rule_lift();
    must(tp_groups_end(pool.a, &ended));
    claim_released(after.id);
}

TEST(test_owner_flow__a_group_that_a_rule_refuses_is_an_error_and_holds_up_no_other) {
    rule_for_each(&rules_on_insert, open_group_against);
    rule_for_each(&rules_on_insert, join_group_against);
    rule_for_each(&rules_on_update, end_group_against);
}

/* What waits for a group is a row of the pool, which a rule may keep. */
TEST_AGAINST(rules_on_update, test_owner_flow__what_waits_for_a_group_and_is_kept_is_said) {
    size_t ended = 0;
    tp_new_task after = task_with(.after = "group", .biz_key = "refused");
    must(tp_group_open(pool.a, "group", TP_GROUP_ALL_DONE, NULL));
    must(tp_enqueue(pool.a, &after));
    must(tp_group_close(pool.a, "group"));
    rule_make_over(rule, "pending", "biz_key", "refused");
    expect_refused(tp_groups_end(pool.a, &ended));
    expect_number(count_of("tp_group WHERE state = 'over'"), 0);
    rule_lift();
    must(tp_groups_end(pool.a, &ended));
    claim_released(after.id);
}

/* A result is written into the finished row. */
TEST_AGAINST(rules_on_update, test_owner_flow__a_result_that_is_refused_leaves_the_task_claimed) {
    tp_new_task new = enqueue(pool.a, .biz_key = "refused");
    const tp_task *task = claim_this(pool.a, new.id);
    rule_make_over(rule, "finished", "biz_key", "refused");
    for (int i = 0; i < 2; i++)
        expect_refused(tp_complete_with(pool.a, task, "receipt"));
    must(tp_begin(pool.a));
    effect(pool.a, task->id);
    expect_refused_inside(tp_complete_with(pool.a, task, "receipt"));
    expect(TP_CONFLICT, tp_commit(pool.a));
    expect_number(effects_of(task->id), 0);
    expect_row(task->id, "pending", "handling", 0);
    rule_lift();
    must(tp_complete_with(pool.a, task, "receipt"));
    assert_string_equal(task_shown(pool.eye, task->id)->result, "receipt");
}

TEST_AGAINST(rules_on_insert, test_owner_flow__a_step_that_is_refused_is_not_done) {
    const tp_task *task = put_and_claim(pool.a);
    if (rule->seeded) must(tp_step_add(pool.a, put_and_claim(pool.a), "refused", NULL, 60000));
    rule_make_over(rule, "step", "step", "refused");
    for (int i = 0; i < 2; i++)
        expect_refused(tp_step_add(pool.a, task, "refused", NULL, 60000));
    must(tp_begin(pool.a));
    effect(pool.a, task->id);
    expect_refused_inside(tp_step_add(pool.a, task, "refused", NULL, 60000));
    expect(TP_CONFLICT, tp_commit(pool.a));
    expect_number(effects_of(task->id), 0);
    if (takes_others(rule)) must(tp_step_add(pool.a, task, "fine", NULL, 60000));
    rule_lift();
    must(tp_step_add(pool.a, task, "refused", NULL, 60000));
}

TEST_AGAINST(rules_on_insert, test_owner_flow__progress_that_is_refused_is_no_fault_of_the_task) {
    const tp_task *task = put_and_claim(pool.a);
    if (rule->seeded) must(tp_progress_set(pool.a, put_and_claim(pool.a), 1, "refused"));
    rule_make_over(rule, "progress", "message", "refused");
    expect_refused(tp_progress_set(pool.a, task, 1, "refused"));
    if (takes_others(rule)) must(tp_progress_set(pool.a, task, 1, "fine"));
    must(tp_complete(pool.a, task));
}

TEST_AGAINST(rules_on_insert, test_owner_flow__a_cancel_that_is_refused_leaves_the_task_in_hand) {
    tp_cancelled became = TP_CANCELLED_INIT;
    const tp_task *task = put_and_claim(pool.a);
    if (rule->seeded) must(tp_cancel(pool.a, put_and_claim(pool.a)->id, "refused", NULL, &became));
    rule_make_over(rule, "cancel", "who", "refused");
    for (int i = 0; i < 2; i++)
        expect_refused(tp_cancel(pool.a, task->id, "refused", NULL, &became));
    expect_number(count_of("tp_cancel WHERE task_id = '%s'", task->id), 0);
    expect_number(events_of(task->id, "cancel"), 0);
    rule_lift();
    must(tp_cancel(pool.a, task->id, "refused", NULL, &became));
    expect_number(became.answer, TP_CANCEL_ASKED);
    must(tp_complete(pool.a, task));
}

/* ---- A session that only reads ------------------------------------------------------------------------- */

struct flow {
    tp_new_task inside, after;
    const tp_task *task, *cancelled;
};

static tp_status put_inside(tp_conn *conn, struct flow *flow) {
    return tp_enqueue(conn, &flow->inside);
}

static tp_status put_after(tp_conn *conn, struct flow *flow) {
    return tp_enqueue(conn, &flow->after);
}

static tp_status open_group(tp_conn *conn, struct flow *flow) {
    (void)flow;
    return tp_group_open(conn, "new", TP_GROUP_ALL_DONE, NULL);
}

static tp_status close_group(tp_conn *conn, struct flow *flow) {
    (void)flow;
    return tp_group_close(conn, "group");
}

static tp_status end_groups(tp_conn *conn, struct flow *flow) {
    (void)flow;
    return tp_groups_end(conn, NULL);
}

static tp_status cancel_group(tp_conn *conn, struct flow *flow) {
    (void)flow;
    return tp_group_cancel(conn, "open", "tester", NULL, NULL);
}

static tp_status add_step(tp_conn *conn, struct flow *flow) {
    return tp_step_add(conn, flow->task, "charge", "receipt", 60000);
}

static tp_status set_progress(tp_conn *conn, struct flow *flow) {
    return tp_progress_set(conn, flow->task, 40, "half");
}

static tp_status complete_with(tp_conn *conn, struct flow *flow) {
    return tp_complete_with(conn, flow->task, "receipt");
}

static tp_status cancel_task(tp_conn *conn, struct flow *flow) {
    tp_cancelled became = TP_CANCELLED_INIT;
    return tp_cancel(conn, flow->cancelled->id, "tester", NULL, &became);
}

/* Each is made on a session of which nobody knew that it only reads, and again when it writes. */
TEST(test_owner_flow__on_a_session_that_only_reads_nothing_is_written) {
    tp_status (*const calls[])(tp_conn *, struct flow *) = {
        put_inside,   put_after, open_group,   close_group,   end_groups,
        cancel_group, add_step,  set_progress, complete_with, cancel_task};
    if (!engine->read_only) not_tried("a session that becomes read-only");
    if (!engine->read_only) return;
    must(tp_group_open(pool.a, "group", TP_GROUP_ALL_DONE, NULL));
    must(tp_group_open(pool.a, "open", TP_GROUP_ALL_DONE, NULL));
    must(tp_group_open(pool.a, "ends", TP_GROUP_ALL_DONE, NULL));
    must(tp_group_close(pool.a, "ends"));
    struct flow flow = {task_with(.group = "group"), task_with(.after = "group"), put_and_claim(pool.a),
                        put_and_claim(pool.a)};
    tp_conn *guest = guest_session();
    for (size_t i = 0; i < LENGTH(calls); i++) {
        (void)sql_raw(guest->store.link.dbc, "%s", engine->read_only);
        expect_may_retry(calls[i](guest, &flow));
        must(tp_conn_reopen(guest));
        must(calls[i](guest, &flow));
    }
    expect_number(count_of("tp_pending WHERE state = 'pending'"), 2);
    expect_row(flow.task->id, "finished", "done", 0);
    expect_number(count_of("tp_step"), 1);
    expect_number(count_of("tp_cancel"), 1);
    expect_number(count_of("tp_group WHERE state = 'over'"), 1);
}
